from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.arrays import Floats
from sparingly.base.rng import keys_of
from sparingly.signals.predict.features import Features, prepare_features
from sparingly.signals.predict.predict import cross_fit, deal_folds
from sparingly.signals.predict.regressors import Neighbours, Regressor, Ridge, TrainingData
from tests.signals.predict.simulated import labels_of, scored

NAMES = [f"item {place}" for place in range(60)]
KEYS = keys_of(NAMES)
PLAIN = Features()


@given(st.integers(0, 2**31), st.integers(2, 7), st.integers(7, 60))
def test_items_are_dealt_evenly(seed: int, folds: int, count: int) -> None:
    labelled = np.arange(60) < count
    fold = deal_folds(KEYS, np.arange(60), labelled, folds, seed)
    assert (fold[~labelled] == -1).all()
    sizes = np.bincount(fold[labelled], minlength=folds)
    assert len(sizes) == folds
    assert sizes.max() - sizes.min() <= 1


@given(st.permutations(range(60)), st.permutations(range(12)), st.booleans())
def test_neither_the_order_of_items_nor_the_numbers_of_groups_matter(
    order: list[int], numbers: list[int], grouped: bool
) -> None:
    groups = np.arange(60) // 5 if grouped else np.arange(60)
    renamed = np.array(numbers)[groups] if grouped else np.array(order)
    labelled = np.arange(60) % 3 > 0
    fold = deal_folds(KEYS, groups, labelled, 5, 7)
    again = deal_folds(KEYS[order], renamed[order], labelled[order], 5, 7)
    assert (again == fold[order]).all()


def test_groups_stay_together_and_labels_are_spread() -> None:
    groups = np.repeat(np.arange(9), [20, 10, 9, 6, 5, 4, 3, 2, 1])
    labelled = np.arange(60) != 59
    fold = deal_folds(KEYS, groups, labelled, 3, 0)
    for group in range(9):
        assert len(set(fold[groups == group])) == 1
    assert fold[59] == -1
    assert set(fold) == {-1, 0, 1, 2}


def test_another_seed_deals_otherwise() -> None:
    one, other = (deal_folds(KEYS, np.arange(60), np.ones(60, bool), 5, seed) for seed in (0, 1))
    assert (one != other).any()


@pytest.mark.parametrize("regressor", [Neighbours(1), Ridge()])
def test_estimate_is_unbiased_over_all_samples_and_folds(regressor: Regressor) -> None:
    """N⁻¹ [Σ_all f + (N/n) Σ_S (y − f)] with held-out f, however much a regressor learns by heart."""
    data, scores = scored(items=7, models=2)
    table = prepare_features(data, Features(lengths=False))
    estimates = []
    for sample in combinations(range(7), 4):
        for first in combinations(sample, 2):
            fold = np.full(7, -1, np.int64)
            fold[list(sample)] = 1
            fold[list(first)] = 0
            labels = labels_of(scores, list(sample))
            f = cross_fit(regressor, table, labels, np.where(np.isnan(labels), 0.0, 1.0), fold, 0).held_out
            estimates.append(f.mean(axis=0) + np.nanmean(labels - f, axis=0))
    assert np.mean(estimates, axis=0) == pytest.approx(scores.mean(axis=0))


@dataclass(frozen=True)
class Total:
    """Predicts the weight of what it has seen, the same for all."""

    value: float = 0.0
    text: str = "total"
    features: Features = PLAIN
    parameters: float | None = None

    def fit(self, training: TrainingData) -> Total:
        return Total(float(training.weights.sum()))

    def predict(self, x: Floats) -> Floats:
        return np.full(x.shape[:2], self.value)


def test_everywhere_is_the_mean_of_fold_models_by_their_share_of_labels() -> None:
    data, scores = scored(items=6, models=3)
    fold = np.array([0, 0, 0, 1, 1, -1])
    labels = labels_of(scores, fold >= 0)
    labels[0, 1] = np.nan
    labels[:, 2] = np.nan
    weights = np.where(np.isnan(labels), 0.0, 1.0)
    weights[3] *= 4.0
    found = cross_fit(Total(), prepare_features(data, PLAIN), labels, weights, fold, 0)
    # Fold 0 weighs 3 and 2, fold 1 weighs 5 and 5, in the labels of the first two models; the third has none.
    assert found.held_out[:, 0].tolist() == pytest.approx([10, 10, 10, 5, 5, found.everywhere[5, 0]])
    first, second, third = (3 * 10 + 5 * 5) / 8, (2 * 10 + 5 * 5) / 7, (5 * 10 + 10 * 5) / 15
    assert found.everywhere == pytest.approx(np.broadcast_to([first, second, third], (6, 3)))
    assert found.parameters is None
