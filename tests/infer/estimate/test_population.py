from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.sample import JudgedSample, difference_form, sample_from_arrays
from sparingly.infer.estimate.variance import ONE_DOCUMENT, ScoreErrors, population_errors, set_errors
from tests.infer.estimate.samples import population, uniform_sample


def errors_of(sample: JudgedSample, predicted: Floats | None = None) -> ScoreErrors:
    return population_errors(sample, difference_form(sample, predicted))


@pytest.mark.parametrize("n", [5, 20, 40])
def test_a_uniform_sample_speaks_of_the_population_as_if_the_set_were_not_there(n: int) -> None:
    scores = population(40)
    rows = list(range(n))
    found = errors_of(uniform_sample(scores, rows))
    assert found.covariance == pytest.approx(np.cov(scores[rows].T) / n)
    assert (found.freedom, found.units) == (n - 1.0, float(n))


def test_it_is_that_of_the_set_plus_that_of_the_items() -> None:
    # With predictions: (1 − f)·S²(y − f)/n and S_y²/N; S_y² is learned from Σ(f − f̄)² + 2Σ(f − f̄)e/π + Σe²/π.
    scores, told = population(60, 1), population(60, 1, seed=4)
    sample = uniform_sample(scores, list(range(30)))
    linear = difference_form(sample, told)
    found = population_errors(sample, linear).covariance[0, 0]
    e = scores[:30, 0] - told[:30, 0]
    e = e - e.mean()
    f = told[:, 0] - told[:, 0].mean()
    spread = (f**2).sum() + 2 * (f[:30] * e).sum() * 2 + (e**2).sum() * 2
    items = spread / 60**2 * 30 / 29
    assert found == pytest.approx(set_errors(sample, linear).covariance[0, 0] + items, rel=0.02)


def test_whole_documents_are_the_units_of_the_population() -> None:
    # Everything judged: the variance of a mean of 10 documents of 3 items.
    scores, documents = population(30), np.arange(30) // 3
    found = errors_of(sample_from_arrays(scores, documents=documents))
    means = scores.reshape(10, 3, 3).mean(axis=1)
    assert found.covariance == pytest.approx(np.cov(means.T) / 10)
    assert found.freedom == 9.0


def test_items_of_one_document_that_are_alike_count_less() -> None:
    drawn = np.random.default_rng(0)
    alike = np.repeat(drawn.normal(size=50), 4)[:, None]
    seen = np.where(drawn.permutation(200)[:, None] < 100, alike, np.nan)
    documents = np.arange(200) // 4
    clustered, alone = (
        errors_of(sample_from_arrays(seen, documents=documents)),
        errors_of(sample_from_arrays(seen)),
    )
    # Four equal items a document: the set's mean has the variance of 50 draws, not of 200.
    assert clustered.covariance[0, 0] > 1.5 * alone.covariance[0, 0]


def test_one_document_is_no_sample_of_documents() -> None:
    scores = population(20)
    found = errors_of(sample_from_arrays(scores, documents=np.zeros(20)))
    assert found.covariance == pytest.approx(np.cov(scores.T) / 20)
    assert found.notes == (ONE_DOCUMENT,)


def test_models_with_draws_of_their_own_still_share_the_items() -> None:
    # Models that are equal: over the population their scores go up and down with the items of the set.
    column = population(40, 1)
    scores = np.column_stack([column, column])
    own = replace(sample_from_arrays(scores), unit_by_model=np.arange(80).reshape(40, 2))
    found = errors_of(own)
    assert found.covariance[0, 1] == pytest.approx(column.var(ddof=1) / 40)


@pytest.mark.parametrize("unit", [1, 5])
def test_no_contrast_is_surer_of_the_population_than_of_the_set(unit: int) -> None:
    # Items of a document that differ more than items of two: sums of squares below the draw's.
    drawn = np.random.default_rng(5)
    for _ in range(20):
        scores = drawn.normal(size=(60, 3)) + 3.0 * np.tile([1.0, -1.0], 30)[:, None]
        keep = np.repeat(drawn.random(60 // unit) < 0.5, unit)
        seen = np.where(keep[:, None], scores, np.nan)
        sample = sample_from_arrays(seen, 0.5, documents=np.arange(60) // 5, units=np.arange(60) // unit)
        linear = difference_form(sample, drawn.normal(size=(60, 3)))
        added = population_errors(sample, linear).covariance - set_errors(sample, linear).covariance
        assert np.linalg.eigvalsh(added).min() >= -1e-12


def test_on_average_the_part_of_the_inputs_is_right_where_documents_differ() -> None:
    # 40 unequal documents, 30 of 100 hundredths of the variance theirs; 120 items drawn; truth known.
    drawn, found, missed = np.random.default_rng(8), [], []
    for _ in range(300):
        lengths = drawn.integers(4, 17, 40)
        document = np.repeat(np.arange(40), lengths)
        scores = np.sqrt(0.3) * drawn.normal(size=(40, 2))[document]
        scores = scores + np.sqrt(0.7) * drawn.normal(size=(len(document), 2))
        keep = drawn.permutation(len(document)) < 120
        sample = sample_from_arrays(np.where(keep[:, None], scores, np.nan), documents=document)
        linear = difference_form(sample)
        found.append(np.diag(population_errors(sample, linear).covariance))
        missed.append(linear.scores(sample) ** 2)
    # 600 squares, good to 6 %.
    assert np.mean(found) == pytest.approx(np.mean(missed), rel=0.12)


def test_horvitz_thompson_is_centred() -> None:
    # A uniform draw makes both forms the same mean, with the same error, however far the scores are from 0.
    scores = population(40) + 100.0
    sample = uniform_sample(scores, list(range(12)))
    exact, hajek = (difference_form(sample, exact=form) for form in (True, False))
    assert exact.scores(sample) == pytest.approx(hajek.scores(sample))
    ours = population_errors(sample, exact).covariance
    assert ours == pytest.approx(population_errors(sample, hajek).covariance)
    # By unequal chances its own error grows with the distance from 0; the part of the inputs does not.
    chances = np.linspace(0.2, 0.9, 12)
    parts = []
    for moved in (0.0, 1000.0):
        shifted = sample_from_arrays(scores[:12] + moved, chances, 40)
        form = difference_form(shifted, exact=True)
        parts.append(population_errors(shifted, form).covariance - set_errors(shifted, form).covariance)
    assert parts[1] == pytest.approx(parts[0], rel=1e-6)


def test_long_documents_leave_fewer_degrees_of_freedom() -> None:
    # Of equal documents G − 1; of one of half the weight and nine equal ones far fewer (by the full matrix).
    scores = population(90)
    assert errors_of(sample_from_arrays(scores, documents=np.arange(90) // 9)).freedom == pytest.approx(9.0)
    document = np.r_[np.zeros(45, int), 1 + np.arange(45) // 5]
    sizes = np.bincount(document).astype(float)
    vary, part = np.sqrt(0.7 * sizes + 0.3 * sizes**2), sizes / 90
    away = np.eye(10) - part[:, None]
    matrix = vary[:, None] * (away.T @ away) * vary
    known = np.trace(matrix) ** 2 / np.trace(matrix @ matrix)
    found = errors_of(sample_from_arrays(scores, documents=document))
    assert found.freedom == pytest.approx(known)
    assert known < 2.5
    plain = scores - scores.mean(axis=0)
    sums = np.array([plain[document == place].sum(axis=0) for place in range(10)]) / 90
    factor = (vary**2).sum() / np.trace(matrix)
    assert found.covariance == pytest.approx(factor * sums.T @ sums)


def test_ten_items_of_ten_documents_are_ten_units() -> None:
    drawn = np.random.default_rng(3)
    scores = np.where(drawn.permutation(100)[:, None] < 10, drawn.normal(size=(100, 2)), np.nan)
    found = errors_of(sample_from_arrays(scores, documents=np.arange(100) // 10))
    assert found.units == 10.0
    assert found.freedom < 9.0


def test_what_a_draw_was_balanced_on_is_no_longer_there_to_learn_from() -> None:
    drawn = np.random.default_rng(5)
    scores, x = drawn.normal(size=(60, 2)), drawn.normal(size=(60, 19))
    balanced = sample_from_arrays(scores, 0.25, 240, balance=x)
    found = population_errors(balanced, difference_form(balanced))
    # The constant and 19 variables: 60 − 20 degrees of freedom.
    assert (found.units, found.freedom) == (41.0, 40.0)
