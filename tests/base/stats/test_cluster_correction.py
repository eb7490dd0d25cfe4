from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.stats.moments import cluster_correction


def test_it_is_that_of_the_full_matrix() -> None:
    drawn = np.random.default_rng(2)
    heft = drawn.gamma(2.0, 3.0, (12, 3))
    squares = heft * drawn.uniform(0.5, 1.5, (12, 3))
    factor, freedom = cluster_correction(heft, squares, 0.4)
    for column in range(3):
        root = np.sqrt(0.6 * squares[:, column] + 0.4 * heft[:, column] ** 2)
        away = np.eye(12) - heft[:, [column]] / heft[:, column].sum()
        matrix = root[:, None] * (away.T @ away) * root
        assert factor[column] == pytest.approx((root**2).sum() / np.trace(matrix))
        assert freedom[column] == pytest.approx(np.trace(matrix) ** 2 / np.trace(matrix @ matrix))


def test_equal_documents_and_too_few() -> None:
    factor, freedom = cluster_correction(np.full((8, 1), 5.0), np.full((8, 1), 5.0))
    assert (factor[0], freedom[0]) == pytest.approx((8 / 7, 7.0))
    one = np.array([[4.0], [0.0]])
    assert [float(part[0]) for part in cluster_correction(one, one)] == [1.0, 0.0]
