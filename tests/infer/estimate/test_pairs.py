from __future__ import annotations

import numpy as np
import pytest
from scipy.special import stdtrit

import sparingly
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.result import Estimate

FIRST, SECOND = np.array([0]), np.array([1])


def deviation(found: Estimate) -> float:
    assert found.pairs is not None
    return float(found.pairs.deviations(FIRST, SECOND)[0])


def test_deviation_of_a_plain_sample() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    assert deviation(estimate_scores(scores, size=80)) == pytest.approx(
        (scores[:, 0] - scores[:, 1]).std(ddof=1)
    )


def test_items_count_for_as_many_as_they_stand_for() -> None:
    # Differences 0, 0, 3 that stand for 1, 1 and 4 items: mean 2, variance (4 + 4 + 4)/6 · 3/2 = 3.
    scores = np.array([[1.0, 1.0], [2.0, 2.0], [5.0, 2.0]])
    found = estimate_scores(scores, [1.0, 1.0, 0.25], size=6)
    assert deviation(found) == pytest.approx(np.sqrt(3.0))


def test_only_items_with_both_models_tell() -> None:
    scores = np.array([[1.0, 0.0], [4.0, 0.0], [9.0, np.nan], [np.nan, 9.0]])
    assert deviation(estimate_scores(scores, size=8)) == pytest.approx(np.sqrt(4.5))
    alone = np.array([[1.0, np.nan], [2.0, np.nan], [np.nan, 1.0], [np.nan, 4.0]])
    assert np.isnan(deviation(estimate_scores(alone, size=8)))


def test_importance_counts_twice() -> None:
    scores = np.array([[1.0, 0.0], [0.0, 0.0], [0.0, 0.0], [3.0, 0.0]])
    weights = np.array([1.0, 1.0, 1.0, 5.0])
    found = estimate_scores(scores, weights=weights)
    w = weights / weights.mean()
    away = scores[:, 0] - w @ scores[:, 0] / 4
    assert deviation(found) == pytest.approx(np.sqrt((w**2 @ away**2) / 4 * 4 / 3))


def test_a_pair_is_decided_just_where_its_interval_leaves_0_out() -> None:
    rng = np.random.default_rng(0)
    for n in (12, 16, 20, 40):
        for _ in range(20):
            scores = np.full((400, 2), np.nan)
            scores[:n] = rng.random((n, 2)) < rng.random(2)
            scores[0] = 1.0
            found = estimate_scores(scores, target="population")
            pair = found.differences()[0]
            outside = pair.low > 1e-12 or pair.high < -1e-12
            assert outside == bool(found.pair_p_values()[0, 1] < 0.05), (n, pair)


def test_all_pass_against_all_fail_is_a_difference() -> None:
    scores = np.full((400, 2), np.nan)
    scores[:12] = [1.0, 0.0]
    found = estimate_scores(scores, target="population")
    assert found.difference("model 0", "model 1").low > 0
    assert found.pair_p_values()[0, 1] < 0.001


def two_judged_on_everything(size: int = 100) -> tuple[Floats, Floats]:
    """Return scores and probabilities: two models judged on all items, a third on about a quarter."""
    draw = np.random.default_rng(0)
    scores = draw.normal(size=(size, 1)) + draw.normal(size=(size, 3)) + [0.0, 0.3, 1.0]
    scores[draw.random(size) > 0.25, 2] = np.nan
    return scores, np.repeat([[1.0, 1.0, 0.25]], size, axis=0)


def test_two_fully_judged_models_differ_exactly_over_this_set() -> None:
    scores, chance = two_judged_on_everything()
    found = estimate_scores(scores, chance)
    assert found.intervals[:2] == ("exact", "exact")
    assert found.low[:2].tolist() == found.high[:2].tolist() == found.scores[:2].tolist()
    pair = found.difference("model 0", "model 1")
    assert pair.interval == "exact"
    assert pair.low == pair.high == pair.difference
    assert found.pair_p_values()[0, 1] == 0.0
    # The third model's error is learned from its own items alone, whatever else is known exactly.
    single = estimate_scores(scores[:, 2:], chance[:, 2:])
    assert found.standard_errors[2] == pytest.approx(single.standard_errors[0])
    other = found.difference("model 0", "model 2")
    assert other.high - other.low < 1.5 * (single.high[0] - single.low[0])


def test_over_inputs_like_these_two_fully_judged_models_have_a_test_of_their_own() -> None:
    scores, chance = two_judged_on_everything()
    mixed = estimate_scores(scores, chance, target="population")
    alone = estimate_scores(scores[:, :2], target="population")
    assert mixed.difference("model 0", "model 1").standard_error == pytest.approx(
        alone.difference("model 0", "model 1").standard_error
    )
    assert 0.05 < mixed.pair_p_values()[0, 1] < 1.25 * alone.pair_p_values()[0, 1]
    assert mixed.pairs is not None
    judged = float((~np.isnan(scores[:, 2])).sum())
    assert mixed.pairs.units.tolist() == [100.0, 100.0, judged]


def test_p_values_of_many_pairs_need_little_memory() -> None:
    import tracemalloc

    scores = np.random.default_rng(0).normal(size=(2_000, 60))
    found = estimate_scores(scores, size=8_000, target="population", interval="none")
    assert found.pairs is not None
    few = np.array([3, 17]), np.array([41, 59])
    tracemalloc.start()
    p_values = found.pair_p_values()
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    # All 1,770 pairs unit by unit are 28 MB, several times over.
    assert peak < 60e6
    alone = found.pairs.p_values(*few, found.scores[few[0]] - found.scores[few[1]])
    assert p_values[few] == pytest.approx(alone)


def with_judge(seed: int) -> tuple[EvalSet, EvalSet]:
    """Four models that pass 99 % of 1,000 items, with a judge that is wrong in 12 %, and without it."""
    draw = np.random.default_rng(seed)
    passed = (draw.random((1000, 4)) < 0.99).astype(np.float64)
    judge = np.where(draw.random(passed.shape) < 0.12, 1.0 - passed, passed)
    items, models = [f"{row:04d}" for row in range(1000)], list("abcd")
    return (
        EvalSet.from_arrays(items, models, aspects={"ok": passed}, metrics={"judge": judge}),
        EvalSet.from_arrays(items, models, aspects={"ok": passed}),
    )


@pytest.mark.parametrize("n", [12, 50])
def test_a_judge_does_not_widen_differences_of_pass_rates(n: int) -> None:
    wide: list[list[float]] = []
    for seed in range(8):
        both = []
        for data in with_judge(seed):
            found = sparingly.estimate(data, sparingly.select(data, budget=n, seed=seed), "ok")
            pairs = [found.difference("a", other) for other in "bcd"]
            both.append(float(np.mean([pair.high - pair.low for pair in pairs])))
            # The p-value belongs to the interval.
            p_values = found.pair_p_values()[0, 1:]
            assert [p < 0.05 for p in p_values] == [pair.low > 0 or pair.high < 0 for pair in pairs]
        wide.append(both)
    judged, plain = np.mean(wide, axis=0)
    # Other items are drawn where there is a judge: a few per cent are luck (1.16 to 1.3 before).
    assert judged <= 1.06 * plain


def test_a_model_with_fewer_labels_has_fewer_degrees_of_freedom() -> None:
    scores = np.random.default_rng(3).normal(size=(100, 3))
    scores[12:, 1] = np.nan
    found = estimate_scores(scores, size=10_000, target="population", interval="t")
    half = (found.high - found.low) / 2 / found.standard_errors
    assert half == pytest.approx(stdtrit([99, 11, 99], 0.975), rel=1e-3)
    pair = found.difference("model 2", "model 1")
    assert (pair.high - pair.low) / 2 / pair.standard_error == pytest.approx(stdtrit(11, 0.975), rel=1e-3)


def test_of_a_handful_of_labels_no_error_is_learned() -> None:
    scores = np.random.default_rng(3).normal(size=(100, 3))
    scores[3:, 1] = np.nan
    found = estimate_scores(scores, size=1000)
    assert found.intervals == ("t", "none", "t")
    assert np.isnan(found.standard_errors).tolist() == [False, True, False]
    assert any("3 drawn units are too few" in note for note in found.notes)
