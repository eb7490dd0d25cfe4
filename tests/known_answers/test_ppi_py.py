"""Prediction-powered means against ppi-python 0.2.3: every number by ``python tests/known_answers/peers.py``.

It takes the items that were not judged for a second sample, so that its λ is (1 − n/N) times ours, its
interval that of the target ``population``, with the normal distribution and variances divided by n.
"""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm, t

import sparingly
from sparingly.data.evalset import EvalSet
from tests.known_answers.tables import columns

THEIRS = {
    "ppi_tuned": 3.38644678379,
    "ppi_tuned_low": 2.92727637219,
    "ppi_tuned_high": 3.8456171954,
    "ppi_one": 3.6627,
    "ppi_one_low": 3.16226499392,
    "ppi_one_high": 4.16313500608,
    "ppi_half": 3.43035,
    "ppi_half_low": 2.97639022214,
    "ppi_half_high": 3.88430977786,
}


def data() -> EvalSet:
    items = columns("items.csv")
    seen = np.where(items["simple"] == 1, items["first"], np.nan)[:, None]
    names = [f"i{place:02d}" for place in range(60)]
    return EvalSet.from_arrays(names, ["a"], metrics={"x": items["x"][:, None]}, aspects={"good": seen})


@pytest.mark.parametrize(
    ("name", "estimator"),
    [
        ("tuned", "ppi:metric=x,guard=false"),
        ("one", "ppi:metric=x,power=1.5"),
        ("half", "ppi:metric=x,power=0.75"),
    ],
)
def test_means_and_intervals(name: str, estimator: str) -> None:
    found = sparingly.estimate(
        data(), None, "good", estimator=estimator, target="population", interval="t", level=0.9
    )
    assert found.scores[0] == pytest.approx(THEIRS[f"ppi_{name}"], rel=1e-9)
    theirs = (THEIRS[f"ppi_{name}_high"] - THEIRS[f"ppi_{name}_low"]) / 2 / norm.ppf(0.95)
    half = float(found.high[0] - found.low[0]) / 2
    assert half == pytest.approx(t.ppf(0.95, found.freedom) * found.standard_errors[0])
    # Variances divided by n − 1 instead of n, and S² from predictions and residuals instead of two samples.
    assert found.standard_errors[0] == pytest.approx(np.sqrt(20 / 19) * theirs, rel=0.02)
