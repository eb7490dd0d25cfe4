from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import JudgedSample, difference_form, sample_from_arrays
from sparingly.infer.estimate.variance import nonresponse_of, population_errors, set_errors
from tests.infer.estimate.samples import population


def drawn(seen: Floats, size: int, **how: Any) -> JudgedSample:
    """Rows that were all drawn, with the chance of every model by how many of them it was judged on."""
    answered = (~np.isnan(seen)).mean(axis=0)
    sample = sample_from_arrays(seen, answered[None] * len(seen) / size, size, **how)
    return replace(sample, draw=np.full(len(sample.rows), len(seen) / size))


def test_without_gaps_there_are_none() -> None:
    assert nonresponse_of(drawn(population(12), 40)) is None


def test_models_share_what_both_were_judged_on() -> None:
    # Given which items came of which model: cov = (n_jk/(n_j n_k) − 1/N)·S_jk, with S by the overlap.
    scores = population(20, 2)
    seen = scores.copy()
    seen[:6, 0], seen[7:12, 1] = np.nan, np.nan
    first, second, shared = np.r_[6:20], np.r_[0:7, 12:20], np.r_[6, 12:20]
    sample = drawn(seen, 50)
    found = set_errors(sample, difference_form(sample)).covariance
    assert found[0, 0] == pytest.approx((1 / 14 - 1 / 50) * scores[first, 0].var(ddof=1))
    assert found[1, 1] == pytest.approx((1 / 15 - 1 / 50) * scores[second, 1].var(ddof=1))
    both = scores[shared] - [scores[first, 0].mean(), scores[second, 1].mean()]
    spread = both.prod(axis=1).sum() / 9 * np.sqrt(14 / 13 * 15 / 14)
    assert found[0, 1] == pytest.approx((9 / (14 * 15) - 1 / 50) * spread)


def test_models_with_the_same_gaps_are_a_smaller_sample() -> None:
    scores = population(20, 3)
    seen = scores.copy()
    seen[12:, :2] = np.nan
    sample = drawn(seen, 50)
    found = set_errors(sample, difference_form(sample)).covariance
    smaller = sample_from_arrays(scores[:12, :2], size=50)
    assert found[:2, :2] == pytest.approx(set_errors(smaller, difference_form(smaller)).covariance)


def test_items_that_did_not_come_are_a_smaller_sample() -> None:
    scores = population(12, 2)
    smaller = sample_from_arrays(scores, size=50)
    came = replace(smaller, response_rate=np.full((12, 1), 0.6))
    for errors in (set_errors, population_errors):
        expected = errors(smaller, difference_form(smaller)).covariance
        assert errors(came, difference_form(came)).covariance == pytest.approx(expected)


def test_gaps_of_a_whole_set_of_documents_are_gaps_of_items() -> None:
    # All documents were drawn, so that only the gaps are left: no document's total is.
    scores = population(40, 2) + 5.0 * np.repeat(np.arange(10.0), 4)[:, None]
    seen = scores.copy()
    seen[np.arange(40) % 4 == 1, 0] = np.nan
    sample = drawn(seen, 40, units=np.repeat(np.arange(10), 4))
    found = set_errors(sample, difference_form(sample)).covariance
    there = scores[~np.isnan(seen[:, 0]), 0]
    assert found[0, 0] == pytest.approx(0.25 * there.var(ddof=1) / 30)
    assert found[1, 1] == found[0, 1] == 0.0


def test_a_spread_draw_does_not_spread_its_gaps() -> None:
    # Scores that a line tells: the draw along it leaves next to nothing, and the gaps leave everything.
    line = np.arange(60.0)
    scores = line[:, None] + np.zeros(2)
    seen = scores.copy()
    seen[np.random.default_rng(1).permutation(60)[:30], 0] = np.nan
    sample = drawn(seen, 120, coordinates=line[:, None])
    found = set_errors(sample, difference_form(sample)).standard_errors
    there = scores[~np.isnan(seen[:, 0]), 0]
    assert found[0] == pytest.approx(np.sqrt(0.5 * there.var(ddof=1) / 30), rel=0.02)
    assert found[1] < 0.1 * found[0]


def test_a_stratum_with_one_judgement_of_a_model_is_joined_with_others() -> None:
    scores = population(24, 2)
    seen = scores.copy()
    seen[::2, 0] = np.nan
    sample = drawn(seen, 96, strata=np.repeat(np.arange(12), 2))
    found = set_errors(sample, difference_form(sample)).standard_errors
    there = scores[1::2, 0]
    assert 0.5 < found[0] / (there.std(ddof=1) * np.sqrt(1 / 12 - 1 / 96)) < 1.5


def test_codes_of_the_pool_may_have_gaps() -> None:
    scores = population(12, 2)
    seen = scores.copy()
    seen[:4, 0] = np.nan
    whole = replace(drawn(seen, 60), pool=np.full(12, 0.5), pool_unit=np.repeat(np.arange(4), 3))
    far = replace(whole, pool_unit=np.repeat([3, 10, 40, 99], 3))
    for errors in (set_errors, population_errors):
        found = [errors(sample, difference_form(sample)).covariance for sample in (whole, far)]
        assert found[0] == pytest.approx(found[1])
        assert np.linalg.eigvalsh(found[0]).min() > 0
