from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.estimators import Split, nearest_mean, neighbour_predictions
from sparingly.infer.estimate.sample import sample_from_arrays


def test_nearest_by_brute_force() -> None:
    drawn = np.random.default_rng(0)
    variates, rows, scores = drawn.normal(size=(2, 30)), np.arange(0, 30, 2), drawn.normal(size=15)
    found = nearest_mean(variates, rows, scores, 4)
    for item in range(30):
        distance = ((variates[:, rows] - variates[:, item, None]) ** 2).sum(axis=0)
        assert found[item] == pytest.approx(scores[np.argsort(distance)[:4]].mean())
    assert nearest_mean(variates, rows[:3], scores[:3], 25) == pytest.approx(np.full(30, scores[:3].mean()))


def test_judged_items_are_predicted_from_the_other_folds() -> None:
    variates = np.array([[[0.0], [0.1], [5.0], [5.1], [0.05]]])
    sample = sample_from_arrays([[1.0], [2.0], [8.0], [9.0], [np.nan]])
    use = np.array([True, False, True, False])
    splits = [Split(~use, use), Split(use, ~use)]
    found = neighbour_predictions(sample, variates, splits, 1)[:, 0]
    # Item 4 is nearest to 0 in one half and to 1 in the other: (1 + 2)/2.
    assert found == pytest.approx([2.0, 1.0, 9.0, 8.0, 1.5])
