from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.sample import difference_form, sample_from_arrays
from sparingly.infer.plan.power import document_effects, intraclass_correlation, item_covariance, pair_total


def test_spread_of_a_uniform_sample_is_its_covariance() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 3))
    sample = sample_from_arrays(scores, size=100)
    found = item_covariance(sample, difference_form(sample).residual)
    np.testing.assert_allclose(found, np.cov(scores.T))


def test_spread_is_weighed_by_one_over_the_chances() -> None:
    """The items of which half are drawn stand for twice as many as those that are all drawn."""
    scores = np.array([0.0, 2.0, 10.0, 12.0, 14.0])
    sample = sample_from_arrays(
        np.append(scores, [np.nan] * 3), np.array([1.0, 1.0, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5])
    )
    found = item_covariance(sample, difference_form(sample).residual, parameters=0.0)
    whole = np.array([0.0, 2.0, 10.0, 10.0, 12.0, 12.0, 14.0, 14.0])
    assert found[0, 0] == pytest.approx(whole.var())


def test_models_that_were_never_judged_together_share_nothing() -> None:
    scores = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, 5.0], [np.nan, 9.0]])
    sample = sample_from_arrays(scores)
    found = item_covariance(sample, difference_form(sample).residual)
    assert found[0, 1] == 0.0
    assert (np.diag(found) > 0).all()


def test_alike_by_hand() -> None:
    codes = np.array([0, 0, 1, 1])
    assert intraclass_correlation(np.array([[1.0], [1.0], [5.0], [5.0]]), codes) == 1.0
    # MSB = 4, MSW = 1, m₀ = 2: (4 − 1)/(4 + 1).
    values = np.array([[0.0], [np.sqrt(2.0)], [2.0], [2 + np.sqrt(2.0)]])
    assert intraclass_correlation(values, codes) == pytest.approx(3 / 5)
    assert intraclass_correlation(np.array([[1.0], [5.0], [1.0], [5.0]]), codes) == 0.0
    assert intraclass_correlation(np.ones((4, 2)), codes) == 0.0


def clustered(seed: int = 0) -> tuple[np.ndarray, np.ndarray]:
    """100 documents of 4 items; half the variance of what models share lies between them, and no more."""
    drawn = np.random.default_rng(seed)
    codes = np.repeat(np.arange(100), 4)
    shared = drawn.normal(size=(100, 1))[codes] + drawn.normal(size=(400, 1))
    return codes, shared + drawn.normal(size=(400, 3))


def test_documents_raise_what_models_share_and_not_their_differences() -> None:
    codes, scores = clustered()
    sample = sample_from_arrays(scores, documents=codes)
    residual = difference_form(sample).residual
    spread = item_covariance(sample, residual)
    found = document_effects(sample, residual, spread)
    assert found is not None
    assert found.length == 4.0
    # The mean over three models has the variance 1 + 1 + 1/3, of which 1 lies between documents.
    assert found.shared == pytest.approx(1 + 3 * 1 / (2 + 1 / 3), abs=0.25)
    assert found.differences == pytest.approx(1.0, abs=0.15)
    raised = found.raised(spread)
    assert np.trace(raised) / np.trace(spread) == pytest.approx(found.scores)
    assert pair_total(raised) / pair_total(spread) == pytest.approx(found.differences)
    assert raised.mean() / spread.mean() == pytest.approx(found.shared)


def test_the_variance_of_drawn_documents_is_as_predicted() -> None:
    codes, scores = clustered(1)
    sample = sample_from_arrays(scores, documents=codes)
    residual = difference_form(sample).residual
    found = document_effects(sample, residual, item_covariance(sample, residual))
    assert found is not None
    drawn = np.random.default_rng(2)
    means = [scores[np.isin(codes, drawn.permutation(100)[:20])].mean(axis=0) for _ in range(2000)]
    expected = found.raised(item_covariance(sample, residual)) * (1 / 80 - 1 / 400)
    np.testing.assert_allclose(np.cov(np.array(means).T), expected, rtol=0.15)


def test_too_little_is_known_of_documents() -> None:
    codes, scores = clustered()
    sample = sample_from_arrays(scores, documents=codes)
    few = sample.at(np.arange(0, 400, 4))
    residual = difference_form(few).residual
    assert document_effects(few, residual, np.eye(3)) is None
    without = sample_from_arrays(scores)
    assert document_effects(without, difference_form(without).residual, np.eye(3)) is None


def test_pair_total_by_hand() -> None:
    spread = np.array([[4.0, 1.0, 0.0], [1.0, 2.0, 0.5], [0.0, 0.5, 3.0]])
    assert pair_total(spread) == pytest.approx((4 + 2 - 2) + (4 + 3) + (2 + 3 - 1))
