from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.published.irt import IrtFit, Priors, fisher_information, fit_irt
from sparingly.published.irt.utility import Irt
from tests.published.irt.simulated import simulate, with_gaps

SCORES = with_gaps(simulate(Priors(), 60, 6, 1).scores, 0.1, 2)


def made(scores: Floats = SCORES) -> EvalSet:
    items = [f"i{row:03d}" for row in range(len(scores))]
    models = [f"m{place}" for place in range(scores.shape[1])]
    return EvalSet.from_arrays(items, models, metrics={"score": scores})


def values(method: Irt, data: EvalSet) -> Floats:
    return method.resolve(data).values(data)


FIT = fit_irt(SCORES)


@pytest.mark.parametrize(
    ("method", "expected"),
    [
        (Irt(), FIT.discrimination * FIT.difficulty),
        (Irt(utility="difficulty"), FIT.difficulty),
        (Irt(utility="discrimination"), FIT.discrimination),
        (Irt(utility="feasibility"), FIT.feasibility),
        (Irt(utility="information"), fisher_information(FIT)),
        (Irt(utility="information", information="exact"), fisher_information(FIT, "exact")),
    ],
)
def test_utilities_are_those_of_the_fit(method: Irt, expected: Floats) -> None:
    np.testing.assert_array_equal(values(method, made()), expected)


@pytest.mark.parametrize(
    ("method", "fit"),
    [
        (Irt(fit="map"), fit_irt(SCORES, method="map")),
        (Irt(response="binary"), fit_irt(SCORES, response="binary")),
        (
            Irt(response="binary", threshold=0.3, fit="map"),
            fit_irt(SCORES, response="binary", threshold=0.3, method="map"),
        ),
    ],
)
def test_parameters_choose_the_fit(method: Irt, fit: IrtFit) -> None:
    np.testing.assert_array_equal(values(method, made()), fit.discrimination * fit.difficulty)
    assert not np.allclose(values(method, made()), values(Irt(), made()))


def test_hard_telling_items_come_first() -> None:
    ability = np.linspace(-1, 1, 8)
    hard, easy, flat = 1.2, -1.2, 0.0
    curves = np.stack(
        [
            1 / (1 + np.exp(-slope * (ability - difficulty)))
            for slope, difficulty in [(3.0, hard), (3.0, easy), (0.05, flat)]
            for _ in range(20)
        ]
    )
    noisy = curves + np.random.default_rng(1).normal(0, 0.02, curves.shape)
    chosen = sparingly.select(made(noisy), "irt", 15)
    assert all(int(item[1:]) < 20 for item in chosen.items)
    informative = sparingly.select(made(noisy), "irt:utility=discrimination", 30)
    assert all(int(item[1:]) < 40 for item in informative.items)


def test_a_set_without_scores_has_no_utilities() -> None:
    assert np.isnan(values(Irt(), made(np.full((4, 3), np.nan)))).all()


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("irt:threshold=0.5", r"use it with response=binary\.$"),
        ("irt:information=exact", r"is for utility=information\.$"),
    ],
)
def test_parameters_that_would_be_ignored_are_refused(text: str, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        sparingly.select(made(), text, 3)


def test_unknown_utility_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r'"discriminability"\. Did you mean discrimination'):
        sparingly.select(made(), "irt:utility=discriminability", 3)


@pytest.mark.shared_data
@pytest.mark.parametrize("fit", ["map", "variational"])
def test_difficulty_follows_the_metric_on_published_scores(shared_data: Path, fit: str) -> None:
    data = sparingly.load(shared_data / "wmt23_ende.jsonl.gz")
    means = data.metrics["MetricX-23"].mean(axis=1)
    method = sparingly.base.registry.parse_method(f"irt:metric=MetricX-23,utility=difficulty,fit={fit}")
    assert isinstance(method, Irt)
    assert np.corrcoef(values(method, data), -means)[0, 1] > 0.7
