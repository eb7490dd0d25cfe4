from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import pearsonr

from sparingly.base.arrays import Floats
from sparingly.signals.predict.predict import pooled_correlation, within_correlation

NAN = float("nan")


def test_pooled_correlation_takes_the_means_of_models_out() -> None:
    draw = np.random.default_rng(0)
    labels, predicted = draw.normal(size=(2, 12, 3))
    labels[0, 0] = NAN
    expected_y, expected_f = [], []
    for model in range(3):
        there = ~np.isnan(labels[:, model])
        expected_y.append(labels[there, model] - labels[there, model].mean())
        expected_f.append(predicted[there, model] - predicted[there, model].mean())
    expected = pearsonr(np.concatenate(expected_y), np.concatenate(expected_f)).statistic
    assert pooled_correlation(labels, predicted) == pytest.approx(expected)
    moved = np.array([0.0, 50.0, 9.0])
    assert pooled_correlation(labels + moved, predicted - 3.0 * moved) == pytest.approx(expected)


def test_within_correlation_is_the_mean_over_items() -> None:
    labels = np.array([[1.0, 2.0, 3.0], [5.0, NAN, 1.0], [2.0, 2.0, 2.0], [1.0, NAN, NAN], [1.0, 2.0, 4.0]])
    predicted = np.array(
        [[2.0, 1.0, 4.0], [3.0, 9.0, 2.0], [1.0, 2.0, 3.0], [1.0, 2.0, 3.0], [6.0, 6.0, 6.0]]
    )
    first = pearsonr(labels[0], predicted[0]).statistic
    # The second item is in order, the last is predicted flat, and the others order nothing.
    assert within_correlation(labels, predicted) == pytest.approx((first + 1.0 + 0.0) / 3)


@pytest.mark.parametrize("labels", [np.full((3, 2), 0.1), np.array([[1.0, NAN], [NAN, 2.0]])])
def test_nothing_to_order(labels: Floats) -> None:
    predicted = np.arange(labels.size, dtype=float).reshape(labels.shape)
    assert within_correlation(labels, predicted) == 0.0
    assert pooled_correlation(labels, predicted) == 0.0
