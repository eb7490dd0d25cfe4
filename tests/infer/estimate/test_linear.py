from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.infer.estimate.sample import difference_form, restrict_to, sample_from_arrays
from tests.infer.estimate.samples import all_samples, population


def test_weighted_mean_by_hand() -> None:
    # 1/π = 2 and 4: (2·10 + 4·1)/6 = 4; over N = 10 items (2·10 + 4·1)/10 = 2.4.
    sample = sample_from_arrays([10.0, 1.0], [0.5, 0.25], 10)
    assert difference_form(sample).scores(sample) == pytest.approx([4.0])
    assert difference_form(sample, exact=True).scores(sample) == pytest.approx([2.4])


def test_predictions_by_hand() -> None:
    # Mean prediction 2.5; missed by 1 and 3 on the judged items, which weigh 2 and 4: 2.5 + 14/6.
    sample = sample_from_arrays([2.0, np.nan, np.nan, 7.0], [0.5, 0.5, 0.5, 0.25])
    linear = difference_form(sample, np.array([[1.0], [2.0], [3.0], [4.0]]))
    assert linear.scores(sample) == pytest.approx([2.5 + 14 / 6])
    assert linear.residual[:, 0] / sample.probability[:, 0] == pytest.approx(
        np.array([2.0, 4.0]) * (np.array([1.0, 3.0]) - 14 / 6) * 4 / 6
    )


@pytest.mark.parametrize("n", [2, 3, 5])
def test_every_sample_counted_the_mean_has_no_bias(n: int) -> None:
    scores = population()
    predictions = scores**2 + 1.0
    plain, told = [], []
    for seen in all_samples(scores, n):
        sample = sample_from_arrays(seen)
        plain.append(difference_form(sample).scores(sample))
        told.append(difference_form(sample, predictions).scores(sample))
    assert np.mean(plain, axis=0) == pytest.approx(scores.mean(axis=0))
    assert np.mean(told, axis=0) == pytest.approx(scores.mean(axis=0))


def test_horvitz_thompson_has_no_bias_with_unequal_chances() -> None:
    # A design of three samples of size 2 from 4 items, drawn with chances .5, .3 and .2.
    scores = population(4)
    design = {(0, 1): 0.5, (0, 2): 0.3, (2, 3): 0.2}
    chances = [sum(p for chosen, p in design.items() if item in chosen) for item in range(4)]
    expected = np.zeros(3)
    for chosen, p in design.items():
        seen = np.full_like(scores, np.nan)
        seen[list(chosen)] = scores[list(chosen)]
        sample = sample_from_arrays(seen, chances)
        expected += p * difference_form(sample, exact=True).scores(sample)
    assert expected == pytest.approx(scores.mean(axis=0))


def test_importance_changes_what_is_estimated() -> None:
    scores, weights = population(), np.arange(1.0, 8.0)
    sample = sample_from_arrays(scores, weights=weights)
    truth = weights @ scores / weights.sum()
    assert difference_form(sample).scores(sample) == pytest.approx(truth)
    assert difference_form(sample, scores * 2).scores(sample) == pytest.approx(truth)


@given(st.floats(-50, 50), st.floats(0.1, 10), st.booleans())
def test_shifting_and_scaling_all_scores_does_the_same_to_the_estimate(
    shift: float, scale: float, with_predictions: bool
) -> None:
    scores, chances = population(), np.linspace(0.2, 0.9, 7)
    told = np.cumsum(scores, axis=0) if with_predictions else None
    seen = np.where(np.arange(7)[:, None] % 2 == 0, scores, np.nan)
    before, after = sample_from_arrays(seen, chances), sample_from_arrays(shift + scale * seen, chances)
    first = difference_form(before, told)
    second = difference_form(after, None if told is None else shift + scale * told)
    assert second.scores(after) == pytest.approx(shift + scale * first.scores(before))
    assert second.residual == pytest.approx(scale * first.residual, abs=1e-9)


def test_a_model_without_judgements_has_no_score() -> None:
    sample = sample_from_arrays([[1.0, np.nan], [2.0, np.nan]])
    scores = difference_form(sample).scores(sample)
    assert scores[0] == 1.5
    assert np.isnan(scores[1])


def test_parts_add_up_to_the_whole() -> None:
    scores = population(30)
    inside = np.arange(30) % 3 == 0
    sample = sample_from_arrays(scores)
    linear = difference_form(sample, scores[::-1].copy())
    parts = [restrict_to(sample, linear, mask) for mask in (inside, ~inside)]
    means = [form.scores(within) for within, form in parts]
    assert means[0] == pytest.approx(scores[inside].mean(axis=0))
    assert means[0] / 3 + means[1] * 2 / 3 == pytest.approx(scores.mean(axis=0))
