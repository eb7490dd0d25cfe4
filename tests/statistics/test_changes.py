"""Errors of changes between two results, against repeated draws."""

from __future__ import annotations

from dataclasses import replace
from math import sqrt

import numpy as np
import pytest

import sparingly
from sparingly.base.rng import generator
from tests.infer.test_changes import made

pytestmark = pytest.mark.statistics


@pytest.mark.parametrize("n", [80, 200])
def test_errors_of_nested_results_are_those_of_repeated_draws(n: int) -> None:
    """Changes from 40 to n of 400 items spread over 4000 draws as predicted, within 5 % (4.5 errors)."""
    random = generator(7, "changes")
    values = random.normal(size=400)
    orders = [random.permutation(400) for _ in range(4000)]
    spread = np.std([values[order[:n]].mean() - values[order[:40]].mean() for order in orders])
    few = made([0.0], [values.std(ddof=1) * sqrt(1 / 40 - 1 / 400)], target="set", n=40, size=400)
    error = sparingly.changes(few, replace(few, n=n), nested=True).models[0].error
    assert error == pytest.approx(float(spread), rel=0.05)
