"""What every estimator must keep, each promise a function of the estimator's text."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.estimators import as_estimator
from sparingly.infer.estimate.result import Estimate
from tests.contracts.made import made_set

Check = Callable[[str], None]
CHECKS: dict[str, Check] = {}
# Enough for estimators that do without predictions below thirty.
JUDGED = 36
# Draws of all kinds, with one item or several of a document.
FEWER = 24
DRAWS = (
    "uniform",
    "systematic",
    "pivotal:utility=(metric_var)",
    "local_pivotal",
    "cube",
    "stratified:by=domain",
    "documents",
    "snippets",
)
# These take a metric for a score as it stands, or hang on the level of the scores, and say so.
OF_THEIR_OWN_SCALE = ("power=", "covariance=published", "form=horvitz_thompson")


def check(function: Check) -> Check:
    CHECKS[function.__name__] = function
    return function


def estimated(text: str, data: EvalSet, aspect: str = "overall", seed: int = 3) -> Estimate:
    chosen = select(data, "uniform", JUDGED, seed=5)
    return estimate(data, chosen, aspect, estimator=text, seed=seed)


@check
def same_seed_same_answer(text: str) -> None:
    first, again = (estimated(text, made_set()).to_dict() for _ in range(2))
    assert first == again


@check
def order_in_the_file_does_not_matter(text: str) -> None:
    first, shuffled = estimated(text, made_set()), estimated(text, made_set(shuffled=8))
    assert shuffled.models == first.models
    np.testing.assert_allclose(shuffled.scores, first.scores, rtol=1e-9)
    np.testing.assert_allclose(shuffled.covariance, first.covariance, rtol=1e-6, atol=1e-12)
    np.testing.assert_allclose(shuffled.low, first.low, rtol=1e-6, atol=1e-9)
    assert str(shuffled.signature) == str(first.signature)


@check
def everything_judged_is_the_mean_of_everything(text: str) -> None:
    data = made_set()
    found = estimate(data, None, "overall", estimator=text)
    weights = data.columns["weight"]
    assert found.scores == pytest.approx(weights @ data.aspects["overall"] / weights.sum())
    assert not found.covariance.any()
    assert set(found.intervals) == {"exact"}


@check
def shifted_and_scaled_scores_shift_and_scale_the_estimate(text: str) -> None:
    if any(part in text for part in OF_THEIR_OWN_SCALE):
        return
    data = made_set()
    moved = data.with_aspect("moved", 40.0 + 0.5 * data.aspects["overall"])
    plain, other = estimated(text, data), estimated(text, moved, "moved")
    assert other.scores == pytest.approx(40.0 + 0.5 * plain.scores)
    assert other.covariance == pytest.approx(0.25 * plain.covariance, abs=1e-12)
    assert other.low == pytest.approx(40.0 + 0.5 * plain.low)


@check
def the_population_is_less_certain_than_the_set(text: str) -> None:
    """Of every score, and of every difference or other contrast, by every draw and with gaps."""
    data = made_set()
    missing = np.random.default_rng(4).random(data.shape) < 0.15
    gappy = data.with_aspect("overall", np.where(missing, np.nan, data.aspects["overall"]))
    for draw in DRAWS:
        for judged in (data, gappy):
            chosen = select(data, draw, JUDGED if draw == "uniform" else FEWER, seed=5)
            of_set, of_all = (
                estimate(judged, chosen, "overall", estimator=text, target=target, interval="t").covariance
                for target in ("set", "population")
            )
            added = np.linalg.eigvalsh(of_all - of_set)
            assert added.min() >= -1e-9 * np.diag(of_all).max(), draw
            assert (np.diag(of_all) > np.diag(of_set)).all(), draw


@check
def the_covariance_is_one(text: str) -> None:
    found = estimated(text, made_set())
    assert found.covariance == pytest.approx(found.covariance.T)
    assert np.linalg.eigvalsh(found.covariance).min() > -1e-12
    assert found.standard_errors == pytest.approx(np.sqrt(np.diag(found.covariance)))


@check
def what_it_reads_is_all_that_it_reads(text: str) -> None:
    data = made_set()
    method = as_estimator(text).resolve(data)
    shown = {*method.reads(data), "aspect:overall", "column:document", "column:weight"}
    assert method.reads(data) <= set(data.fields)
    assert bool(method.needs) <= bool(method.reads(data))
    first, bare = estimated(text, data), estimated(text, data.only(shown))
    assert bare.to_dict() == first.to_dict()


@check
def labels_of_other_items_do_not_matter(text: str) -> None:
    data = made_set()
    rows = data.positions(select(data, "uniform", JUDGED, seed=5).items)
    seen = np.full(data.shape, np.nan)
    seen[rows] = data.aspects["overall"][rows]
    hidden = data.with_aspect("overall", seen)
    assert estimated(text, hidden).scores.tolist() == estimated(text, data).scores.tolist()
