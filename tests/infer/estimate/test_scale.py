from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError
from sparingly.base.stats.proportion import proportion_interval
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.sample import sample_from_arrays
from sparingly.infer.estimate.scale import (
    ScoreValues,
    betting_interval,
    bounded_pairs,
    bounded_scores,
    empirical_bernstein,
    hoeffding_serfling,
    values_of,
)

SCORES = np.random.default_rng(0).beta(2, 3, (60, 2))
SAMPLE = sample_from_arrays(SCORES, size=300)


def test_hoeffding_and_bernstein_around_the_mean() -> None:
    bounded = bounded_scores(SAMPLE, "set", (0.0, 1.0), 0.95, 0)
    assert bounded is not None
    low, high = bounded("hoeffding")
    half = hoeffding_serfling(60, 300, 1.0)
    assert low == pytest.approx(np.maximum(SCORES.mean(axis=0) - half, 0.0))
    assert high == pytest.approx(SCORES.mean(axis=0) + half)
    low, _ = bounded("bernstein")
    half_each = empirical_bernstein(SCORES.std(axis=0), 60, 1.0)
    assert low == pytest.approx(np.maximum(SCORES.mean(axis=0) - half_each, 0.0))


def test_betting_takes_the_scores_in_an_order_that_hangs_on_the_seed_alone() -> None:
    first, again, other = (bounded_scores(SAMPLE, "set", (0.0, 1.0), 0.95, seed) for seed in (1, 1, 2))
    assert first is not None
    assert again is not None
    assert other is not None
    assert first("betting")[0].tolist() == again("betting")[0].tolist()
    assert first("betting")[0].tolist() != other("betting")[0].tolist()
    in_order = betting_interval(SCORES, 300, 0.0, 1.0)
    assert first("betting")[0] == pytest.approx(in_order.low, abs=0.05)


def test_a_population_has_no_end() -> None:
    of_set, of_all = (bounded_scores(SAMPLE, target, (0.0, 1.0), 0.95, 0) for target in ("set", "population"))
    assert of_set is not None
    assert of_all is not None
    assert (of_all("hoeffding")[1] > of_set("hoeffding")[1]).all()
    in_documents = sample_from_arrays(SCORES, documents=np.arange(60) // 2)
    assert bounded_scores(in_documents, "population", (0.0, 1.0), 0.95, 0) is None


def test_differences_reach_twice_as_far() -> None:
    pairs = bounded_pairs(SAMPLE, "set", (0.0, 1.0), 0.95, 0)
    assert pairs is not None
    low, high = pairs(np.array([0]), np.array([1]))("hoeffding")
    assert (high - low) / 2 == pytest.approx([hoeffding_serfling(60, 300, 2.0)])


def test_they_hold_for_uniform_samples_of_items_only() -> None:
    wrong = [
        sample_from_arrays(SCORES, strata=np.arange(60) // 30, size=60),
        sample_from_arrays(SCORES, units=np.arange(60) // 2),
        sample_from_arrays(SCORES, np.linspace(0.1, 1, 60), 300),
        sample_from_arrays(np.where(np.arange(120).reshape(60, 2) == 3, np.nan, SCORES)),
    ]
    for sample in wrong:
        assert bounded_scores(sample, "set", (0.0, 1.0), 0.95, 0) is None
        assert bounded_pairs(sample, "set", (0.0, 1.0), 0.95, 0) is None
    assert bounded_scores(SAMPLE, "set", None, 0.95, 0) is None


def test_scores_off_the_scale_are_refused() -> None:
    with pytest.raises(DataError, match=r"scale from 0 to 0\.5"):
        bounded_scores(SAMPLE, "set", (0.0, 0.5), 0.95, 0)


def labels(passed: int, of: int, size: int, models: int = 1) -> Floats:
    scores = np.full((size, models), np.nan)
    scores[:of] = 0.0
    scores[:passed] = 1.0
    return scores


def test_pass_rates_get_the_exact_interval_of_a_proportion() -> None:
    found = estimate_scores(labels(18, 20, 400), models=["bot"])
    assert found.intervals == ("proportion",)
    low, high = proportion_interval(18, 20, 400)
    assert (found.low[0], found.high[0]) == (low, high)
    assert "70." in found.interval_text(0)


@pytest.mark.parametrize(("passed", "text"), [(100, "at least 97.0 %"), (0, "at most 3.0 %")])
def test_labels_that_all_agree_are_a_bound_in_words(passed: int, text: str) -> None:
    scores = labels(passed, 100, 1000)
    found = estimate_scores(scores, target="population", scale=(0.0, 1.0))
    assert found.interval_text(0) == text
    assert 0.0 <= found.low[0] <= found.high[0] <= 1.0
    assert found.high[0] - found.low[0] > 0.03
    assert "±" not in str(found)


def test_scores_that_are_all_0_are_no_pass_rate_without_a_scale() -> None:
    assert estimate_scores(labels(0, 50, 100)).intervals == ("none",)
    assert values_of(np.zeros(50), None) == ScoreValues()


def test_wins_with_ties_are_proportions_and_stay_inside() -> None:
    scores = np.full((300, 1), np.nan)
    scores[:20, 0] = [1.0] * 17 + [0.5] * 3
    found = estimate_scores(scores)
    assert found.intervals == ("proportion",)
    assert 0.0 < found.low[0] < found.scores[0] < found.high[0] <= 1.0
    lost = estimate_scores(np.where(scores == 0.5, 0.0, scores))
    assert found.high[0] - found.low[0] < lost.high[0] - lost.low[0], "a tie is less uncertain than a loss"


def test_a_score_off_the_scale_is_one_sentence() -> None:
    with pytest.raises(DataError, match=r"The score 7 is not on the scale from 1 to 5\."):
        estimate_scores(np.array([[1.0], [7.0]] * 10), size=100, scale=(1.0, 5.0))


def test_differences_of_pass_rates_stay_inside_and_know_what_was_not_seen() -> None:
    scores = np.full((300, 2), np.nan)
    scores[:30] = 1.0
    found = estimate_scores(scores, models=["a", "b"])
    pair = found.difference("a", "b")
    assert pair.difference == 0.0
    assert -0.3 < pair.low < -0.03
    assert pair.high == pytest.approx(-pair.low)
    assert found.pair_p_values()[0, 1] == 1.0


def test_a_judge_narrows_the_interval_of_a_pass_rate_and_the_score_lies_inside() -> None:
    drawn = np.random.default_rng(0)
    widths = []
    for accuracy in (0.5, 0.9, 0.99):
        passed = (drawn.random((2000, 1)) < 0.85).astype(np.float64)
        judge = np.where(drawn.random((2000, 1)) < accuracy, passed, 1.0 - passed)
        scores = np.where(np.isin(np.arange(2000), drawn.permutation(2000)[:100])[:, None], passed, np.nan)
        data = EvalSet.from_arrays(
            [f"{place:04d}" for place in range(2000)], ["m"], metrics={"j": judge}, aspects={"q": scores}
        )
        found = sparingly.estimate(data)
        plain = sparingly.estimate(data, estimator="weighted_mean")
        assert found.low[0] <= found.scores[0] <= found.high[0]
        widths.append(float((found.high - found.low)[0] / (plain.high - plain.low)[0]))
    assert 0.95 < widths[0] < 1.1
    assert widths[1] < 0.95
    assert widths[2] < 0.8


def test_scores_that_are_all_1_say_that_they_are_taken_as_passes() -> None:
    note = "all scores are 1 and are taken as passes"
    assert any(note in text for text in estimate_scores(np.ones((20, 1))).notes)
    assert not any(note in text for text in estimate_scores(np.ones((20, 1)), scale=(0.0, 1.0)).notes)
