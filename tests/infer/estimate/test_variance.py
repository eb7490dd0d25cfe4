from __future__ import annotations

from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import JudgedSample, difference_form, sample_from_arrays
from sparingly.infer.estimate.variance import ScoreErrors, nearest_covariance, set_errors
from tests.infer.estimate.samples import all_samples, population, uniform_sample


def errors_of(sample: JudgedSample, predicted: Floats | None = None) -> ScoreErrors:
    return set_errors(sample, difference_form(sample, predicted))


def test_simple_random_sample_has_the_textbook_covariance() -> None:
    scores = population(40)
    rows = list(range(0, 40, 4))
    found = errors_of(uniform_sample(scores, rows))
    assert found.covariance == pytest.approx((1 - 10 / 40) * np.cov(scores[rows].T) / 10)
    assert (found.freedom, found.units) == (9.0, 10.0)


def test_predictions_leave_the_covariance_of_the_residuals() -> None:
    scores = population(40)
    rows, told = list(range(0, 40, 4)), population(40, seed=9)
    found = errors_of(uniform_sample(scores, rows), told)
    assert found.covariance == pytest.approx((1 - 10 / 40) * np.cov((scores - told)[rows].T) / 10)


def test_every_sample_counted_the_variance_has_no_bias() -> None:
    scores = population()
    samples = [sample_from_arrays(seen) for seen in all_samples(scores, 3)]
    means = np.array([difference_form(sample).scores(sample) for sample in samples])
    true = np.cov(means.T, ddof=0)
    assert np.mean([errors_of(sample).covariance for sample in samples], axis=0) == pytest.approx(true)


def test_strata_add_up() -> None:
    # Σ (N_h/N)²(1 − f_h)s_h²/n_h with 3 of 6 and 4 of 24.
    scores = population(30)
    first, second = [0, 2, 5], [6, 11, 20, 29]
    seen = np.full_like(scores, np.nan)
    seen[first + second] = scores[first + second]
    strata = np.where(np.arange(30) < 6, "small", "large")
    found = errors_of(sample_from_arrays(seen, np.where(np.arange(30) < 6, 0.5, 1 / 6), strata=strata))
    expected = (6 / 30) ** 2 * 0.5 * np.cov(scores[first].T) / 3
    expected += (24 / 30) ** 2 * (1 - 1 / 6) * np.cov(scores[second].T) / 4
    assert found.covariance == pytest.approx(expected)
    assert found.freedom == 5.0


def test_documents_count_as_drawn() -> None:
    # Four of ten documents of three items: (1 − f)·s²(document means)/4.
    scores, documents = population(30), np.arange(30) // 3
    drawn = [1, 4, 5, 9]
    seen = np.where(np.isin(documents, drawn)[:, None], scores, np.nan)
    found = errors_of(sample_from_arrays(seen, 0.4, units=documents))
    means = np.array([scores[documents == code].mean(axis=0) for code in drawn])
    assert found.covariance == pytest.approx(0.6 * np.cov(means.T) / 4)
    assert (found.freedom, found.units) == (3.0, 4.0)


def test_documents_of_different_lengths_by_hand() -> None:
    # Totals of residuals from the mean 2: −1 − 1 = −2 and 2, each for two documents of four.
    sample = sample_from_arrays([1.0, 1.0, 4.0], 0.5, 6, units=["a", "a", "b"])
    found = errors_of(sample)
    # z = −4, 4; the first document has two thirds of the weight, so c = .5·3 and .5·1.5; N = 6 and N̂ = 6.
    assert found.covariance[0, 0] == pytest.approx((1.5 * 16 + 0.75 * 16) / 36)


def test_unequal_chances_by_hand() -> None:
    # z = e/π = −6, 6 for scores 1 and 5 (mean 2.33), weights 2 and 1 … with π = 1/2 and 1 for the last.
    sample = sample_from_arrays([1.0, 4.0, 5.0], [0.5, 0.5, 1.0], 5)
    mean = (2 * 1 + 2 * 4 + 5) / 5
    z = np.array([2 * (1 - mean), 2 * (4 - mean)])
    # The certain item has no part in it: c = .5·2/1, centre = mean of the two.
    expected = ((z - z.mean()) ** 2).sum() / 25
    assert errors_of(sample).covariance[0, 0] == pytest.approx(expected)
    assert errors_of(sample).units == 2.0


def test_everything_judged_leaves_no_error() -> None:
    found = errors_of(sample_from_arrays(population()))
    assert not found.covariance.any()
    assert found.units == 0.0


def test_single_units_of_strata_are_joined_with_like_ones() -> None:
    # Strata of one drawn unit each; lengths 1, 1, 2, 2: the two short and the two long documents are pairs.
    scores = np.array([1.0, 3.0, 2.0, 2.0, 6.0, 6.0])
    documents, chance = ["a", "b", "c", "c", "d", "d"], 0.5
    sample = sample_from_arrays(scores, chance, 12, units=documents, strata=documents)
    mean = scores.mean()
    z = np.array([1 - mean, 3 - mean, 2 * (2 - mean), 2 * (6 - mean)]) / chance
    pairs = (z[0] - z[1]) ** 2 + (z[2] - z[3]) ** 2
    assert errors_of(sample).covariance[0, 0] == pytest.approx(0.5 * pairs / 144)
    assert errors_of(sample).freedom == 2.0


def test_one_lonely_unit_joins_the_smallest_stratum() -> None:
    strata = ["a", "a", "a", "b", "b", "c"]
    sample = sample_from_arrays(np.arange(6.0), 0.5, 12, strata=strata)
    joined = sample_from_arrays(np.arange(6.0), 0.5, 12, strata=["a", "a", "a", "b", "b", "b"])
    assert errors_of(sample).covariance == pytest.approx(errors_of(joined).covariance)


def test_missing_cells_share_only_what_both_models_have() -> None:
    scores = population(40, 2)
    seen = np.full_like(scores, np.nan)
    seen[:10, 0], seen[5:15, 1] = scores[:10, 0], scores[5:15, 1]
    sample = sample_from_arrays(seen, 0.25)
    assert (sample.draw == 0.25).all()
    found = errors_of(sample)
    for model, rows in ((0, slice(0, 10)), (1, slice(5, 15))):
        assert found.covariance[model, model] == pytest.approx(0.75 * scores[rows, model].var(ddof=1) / 10)
    shared = (scores[5:10] - [scores[:10, 0].mean(), scores[5:15, 1].mean()]).prod(axis=1).sum()
    assert found.covariance[0, 1] == pytest.approx(0.75 * shared / 10 / 9)


def test_missing_by_chance_has_the_right_variance_on_average() -> None:
    # Items drawn 3 of 5, then every model left out of one drawn item by itself: the exact covariance by
    # enumeration, and the mean of the estimated one.
    scores = population(5, 2)
    means, estimated = [], []
    for chosen in combinations(range(5), 3):
        for first in chosen:
            for second in chosen:
                seen = np.full_like(scores, np.nan)
                seen[list(chosen)] = scores[list(chosen)]
                seen[first, 0] = seen[second, 1] = np.nan
                sample = _drawn_three(seen)
                means.append(difference_form(sample).scores(sample))
                estimated.append(errors_of(sample).covariance)
    true, mean = np.cov(np.array(means).T, ddof=0), np.mean(estimated, axis=0)
    assert np.diag(mean) == pytest.approx(np.diag(true), rel=0.02)
    assert mean[0, 1] == pytest.approx(true[0, 1], rel=0.35)


def _drawn_three(seen: Floats) -> JudgedSample:
    sample = sample_from_arrays(seen, 0.4)
    return replace(sample, draw=np.full(len(sample.rows), 0.6))


def test_models_with_draws_of_their_own_share_nothing() -> None:
    scores = population(20, 2)
    shared = sample_from_arrays(scores[:10], size=20)
    own = replace(shared, unit_by_model=np.arange(20).reshape(10, 2))
    together, apart = errors_of(shared), errors_of(own)
    assert apart.covariance[0, 1] == 0.0
    assert np.diag(apart.covariance) == pytest.approx(np.diag(together.covariance))
    first, second = np.array([0]), np.array([1])
    assert apart.of_pairs(first, second)[0] == pytest.approx(np.sqrt(np.diag(apart.covariance).sum()))
    assert (apart.of_pairs(first, second)[1] ** 2).sum() == pytest.approx(apart.covariance.trace())


def test_two_phases_of_simple_random_samples_are_one() -> None:
    scores = population(12)
    once = sample_from_arrays(scores, 0.25, 48)
    twice = replace(once, pool=np.full(12, 0.5))
    # Pool units are counted where something of them was drawn; exactly the same up to n/(n − 1).
    assert errors_of(twice).covariance == pytest.approx(errors_of(once).covariance, rel=1e-9)


def test_a_stratified_second_phase_leaves_the_first_ones_error() -> None:
    scores = np.repeat(np.arange(4.0), 3)
    strata = np.repeat(np.arange(4), 3)
    sample = replace(sample_from_arrays(scores, 0.25, 48, strata=strata), pool=np.full(12, 0.5))
    # Within strata nothing varies: what is left is half of Σ(e/π)²·n/(n − 1)/N².
    z = (scores - 1.5) / 0.25
    assert errors_of(sample).covariance[0, 0] == pytest.approx(0.5 * (z**2).sum() * 12 / 11 / 48**2)


def test_a_spread_draw_is_more_exact_where_neighbours_are_alike() -> None:
    places = np.linspace(0.0, 1.0, 50)
    smooth = np.column_stack([np.sin(3 * places), np.random.default_rng(2).normal(size=50)])
    plain = errors_of(sample_from_arrays(smooth, 0.25, 200))
    spread = errors_of(sample_from_arrays(smooth, 0.25, 200, coordinates=places))
    assert spread.covariance[0, 0] < 0.02 * plain.covariance[0, 0]
    assert spread.covariance[1, 1] == pytest.approx(plain.covariance[1, 1], rel=0.35)


def test_a_balanced_draw_has_no_error_in_what_was_balanced() -> None:
    drawn = np.random.default_rng(3)
    x = drawn.normal(size=60)
    y = np.column_stack([2 * x + 1, x + drawn.normal(size=60)])
    plain = errors_of(sample_from_arrays(y, 0.25, 240))
    balanced = errors_of(sample_from_arrays(y, 0.25, 240, balance=np.column_stack([np.ones(60), x])))
    assert balanced.covariance[0, 0] == pytest.approx(0.0, abs=1e-20)
    residual = y[:, 1] - np.polyval(np.polyfit(x, y[:, 1], 1), x)
    assert balanced.covariance[1, 1] == pytest.approx(0.75 * (residual**2).sum() / 58 / 60)
    assert balanced.covariance[1, 1] < plain.covariance[1, 1]


def test_fitting_to_the_same_items_inflates() -> None:
    sample = sample_from_arrays(population(20), size=80)
    plain = set_errors(sample, difference_form(sample))
    fitted = set_errors(sample, difference_form(sample, parameters=3.0))
    assert fitted.covariance == pytest.approx(plain.covariance * 19 / 17)
    assert fitted.freedom == 17.0


def test_a_covariance_is_made_proper() -> None:
    wrong = np.array([[1.0, 2.0], [2.0, 1.0]])
    assert np.linalg.eigvalsh(nearest_covariance(wrong)).min() >= -1e-12
    right = np.array([[2.0, 1.0], [1.0, 2.0]])
    assert nearest_covariance(right) is right


def test_equal_models_differ_by_exactly_nothing() -> None:
    scores = population(20, 1)
    found = errors_of(sample_from_arrays(np.column_stack([scores, scores]), size=40))
    assert found.of_pairs(np.array([0]), np.array([1]))[0].tolist() == [0.0]


def test_a_whole_set_with_gaps_has_the_error_of_the_gaps() -> None:
    scores = population(40, 2)
    seen = scores.copy()
    seen[30:, 0] = np.nan
    sample = replace(sample_from_arrays(seen, np.array([[0.75, 1.0]])), draw=np.ones(40))
    found = errors_of(sample)
    assert found.covariance[0, 0] == pytest.approx(0.25 * scores[:30, 0].var(ddof=1) / 30)
    assert found.covariance[1, 1] == 0.0
    assert found.freedom == 29.0


def test_what_was_balanced_is_no_longer_there_to_learn_from() -> None:
    drawn = np.random.default_rng(5)
    scores, x = drawn.normal(size=(60, 2)), drawn.normal(size=(60, 19))
    found = errors_of(sample_from_arrays(scores, 0.25, 240, balance=x))
    # 19 variables and the constant.
    assert (found.units, found.freedom) == (40.0, 40.0)


def test_a_balanced_draw_with_more_variables_than_half_its_units_counts_as_a_plain_one() -> None:
    drawn = np.random.default_rng(5)
    scores, x = drawn.normal(size=(30, 2)), drawn.normal(size=(30, 15))
    plain = errors_of(sample_from_arrays(scores, 0.25, 120))
    found = errors_of(sample_from_arrays(scores, 0.25, 120, balance=x))
    assert found.covariance == pytest.approx(plain.covariance)
    assert (found.units, found.freedom) == (30.0, 29.0)


def test_errors_of_a_pool_of_documents_are_learned_from_documents() -> None:
    documents = np.repeat(np.arange(5), 8)
    scores = population(40)
    sample = replace(sample_from_arrays(scores, 0.1, 400), pool=np.full(40, 0.5), pool_unit=documents)
    found = errors_of(sample)
    assert (found.units, found.freedom, found.unit_name) == (5.0, 4.0, "units of the pool")
    assert found.shape.shape == (5, 3)
    items = errors_of(replace(sample, pool_unit=None)).shape
    assert found.shape == pytest.approx(np.add.reduceat(items, range(0, 40, 8), axis=0))
    assert sample.units.tolist() == [5, 5, 5]
    # A document that was in the pool for certain leaves its items to the second draw alone.
    certain = replace(sample, pool=np.where(documents == 0, 1.0, 0.5))
    assert errors_of(certain).units == 8.0 + 4.0
