from __future__ import annotations

import math
from itertools import combinations
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.rng import keys_of
from sparingly.base.stats.pairs import pair_indices
from sparingly.bench.replay import (
    ReplayOutcome,
    estimate_outcome,
    expected_p_values,
    intervals_over_set,
    measure,
    own_outcome,
    standardised_bias,
    t_p_values,
    tied_accuracy,
)
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.agreement import FullSet


def full_of(values: Floats) -> FullSet:
    return FullSet(values, keys_of([f"i{place}" for place in range(len(values))]))


def brute_tied(scores: Floats, truth: Floats, tied: list[bool]) -> float:
    """The best share over all thresholds, counted pair by pair."""
    pairs = list(combinations(range(len(scores)), 2))
    apart = [scores[one] - scores[other] for one, other in pairs]
    best = 0.0
    for threshold in [0.0, *map(abs, apart)]:
        hits = 0
        for (one, other), gap, both in zip(pairs, apart, tied, strict=True):
            called = abs(gap) <= threshold
            hits += both if called else (not both and gap * (truth[one] - truth[other]) > 0)
        best = max(best, hits / len(pairs))
    return best


@given(st.integers(0, 500), st.integers(2, 6), st.booleans())
def test_tied_accuracy_is_the_best_over_all_thresholds(seed: int, models: int, coarse: bool) -> None:
    generator = np.random.default_rng(seed)
    values = generator.normal(size=(12, models)) + np.arange(models) * 0.4
    full = full_of(values)
    scores = generator.integers(0, 4, models).astype(float) if coarse else values[:5].mean(axis=0)
    tied = (2.0 * np.minimum(full.p_values, 1.0 - full.p_values) >= 0.05).tolist()
    assert tied_accuracy(scores, full) == pytest.approx(brute_tied(scores, full.means, tied))


def test_the_full_set_agrees_with_itself() -> None:
    values = np.random.default_rng(1).normal(size=(40, 5)) + np.arange(5)
    full = full_of(values)
    found = measure(own_outcome(full.means, full.p_values), full)
    assert found["soft_pairwise_accuracy"] == 1.0
    assert found["pairwise_accuracy"] == 1.0
    assert found["kendall_b"] == pytest.approx(1.0)
    assert found["top1_match"] == 1.0
    assert found["rank_changes"] == 0
    assert found["mean_absolute_error"] == 0.0
    assert found["bias"] == 0.0
    assert (found["intervals"], found["covered"], found["width"]) == (0, None, None)
    assert found["pairs"] == 10
    assert found["wrong_sign"] == 0


def test_bias_is_in_deviations_of_the_models() -> None:
    truth = np.array([1.0, 2.0, 3.0])
    assert standardised_bias(truth + 0.5, truth) == pytest.approx(0.5)
    assert standardised_bias(np.array([1.5, np.nan, 3.5]), truth) == pytest.approx(0.5)
    assert math.isnan(standardised_bias(truth, np.ones(3)))


def test_coverage_and_wrong_signs_are_counted() -> None:
    full = full_of(np.array([[3.0, 2.0, 1.0], [3.0, 2.0, 1.0]]))
    outcome = ReplayOutcome(
        scores=np.array([1.0, 2.0, 0.0]),
        p_values=np.array([0.9, 0.1, 0.1]),
        two_sided=np.array([0.01, 0.01, 0.2]),
        low=np.array([0.0, 1.0, np.nan]),
        high=np.array([2.0, 2.0, np.nan]),
    )
    found = measure(outcome, full)
    assert (found["intervals"], found["covered"], found["width"]) == (2, 1, 1.5)
    assert (found["significant"], found["wrong_sign"]) == (2, 1)


def test_intervals_of_a_population_estimate_are_those_over_the_set() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "uniform", 80, seed=2)
    for estimator in ("weighted_mean", "greg"):
        how: dict[str, Any] = {"estimator": estimator, "seed": 3}
        over_set = sparingly.estimate(data, chosen, "overall", target="set", **how)
        other = sparingly.estimate(data, chosen, "overall", target="population", interval="none", **how)
        low, high = intervals_over_set(other)
        assert np.array_equal(low, over_set.low)
        assert np.array_equal(high, over_set.high)


def test_expected_p_values_are_those_of_the_estimate_and_go_below_thirty_items() -> None:
    data = load_invented()
    for count in (60, 20):
        chosen = sparingly.select(data, "uniform", count, seed=2)
        found = sparingly.estimate(data, chosen, "overall", estimator="weighted_mean")
        shown, expected = found.full_set_p(), expected_p_values(found)
        assert np.isfinite(expected).all()
        assert np.isnan(shown).all() if count < 30 else np.allclose(shown, expected)


def test_significance_is_that_of_the_ranking() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "uniform", 80, seed=2)
    found = sparingly.estimate(
        data, chosen, "overall", estimator="weighted_mean", target="population", interval="none"
    )
    ranking = sparingly.rank(data, chosen, "overall", estimator="weighted_mean")
    order = [found.models.index(model.model) for model in ranking.models]
    place = np.argsort(order)
    first, second = pair_indices(len(order))
    assert np.allclose(t_p_values(found), ranking.p_values[np.ix_(place, place)][first, second])
    outcome = estimate_outcome(found, np.full(len(first), 0.5))
    assert np.array_equal(outcome.scores, found.scores)


def test_too_few_items_tell_nothing_apart() -> None:
    data = load_invented()
    chosen = sparingly.select(data, "uniform", 2, seed=2)
    found = sparingly.estimate(
        data, chosen, "overall", estimator="weighted_mean", target="population", interval="none"
    )
    assert (t_p_values(found) == 1.0).all()
