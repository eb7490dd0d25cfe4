"""Boosted trees as plain arrays: learned by scikit-learn, kept and applied without it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

_TREES, _RATE, _DEPTH, _SAMPLE, _LEAF = 150, 0.05, 3, 0.5, 20


@dataclass(frozen=True, eq=False)
class Trees:
    """The sum of many small trees; their nodes lie one after the other, and a leaf points at itself.

    Attributes:
        feature: The feature that a node looks at.
        threshold: A text goes left where its feature is at most this.
        left: The node on the left.
        right: The node on the right.
        value: What a leaf adds.
        roots: The first node of every tree.
        start: What all trees add to.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Floats
    roots: NDArray[np.int32]
    start: float

    def predict(self, x: Floats) -> Floats:
        """Return the sum for every row of features."""
        # scikit-learn looks at features in single precision.
        seen = x.astype(np.float32).astype(np.float64)
        total = np.full(len(x), self.start)
        rows = np.arange(len(x))
        for root in self.roots.tolist():
            node = np.full(len(x), root, np.int32)
            for _ in range(_DEPTH):
                goes_left = seen[rows, self.feature[node]] <= self.threshold[node]
                node = np.where(goes_left, self.left[node], self.right[node])
            total += self.value[node]
        return total


def fit_trees(x: Floats, y: Floats, seed: int) -> Trees:
    """Learn trees of depth 3 that each see half of the rows (Friedman 2002)."""
    from sklearn.ensemble import GradientBoostingRegressor

    learner = GradientBoostingRegressor(
        n_estimators=_TREES,
        learning_rate=_RATE,
        max_depth=_DEPTH,
        subsample=_SAMPLE,
        min_samples_leaf=min(_LEAF, max(1, len(y) // 10)),
        random_state=seed % 2**32,
    ).fit(x, y)
    parts = [_nodes(tree.tree_) for tree in learner.estimators_[:, 0]]
    sizes = np.array([len(part[0]) for part in parts])
    roots = np.cumsum(sizes) - sizes
    feature, threshold, left, right, value = (
        np.concatenate([part[place] for part in parts]) for place in range(5)
    )
    moved = np.repeat(roots, sizes)
    return Trees(
        feature=feature.astype(np.int32),
        threshold=threshold,
        left=(left + moved).astype(np.int32),
        right=(right + moved).astype(np.int32),
        value=value * _RATE,
        roots=roots.astype(np.int32),
        start=float(y.mean()),
    )


def _nodes(tree: object) -> tuple[NDArray[np.float64], ...]:
    """Return feature, threshold, children and value of every node; a leaf has itself as both children."""
    names = ("feature", "threshold", "children_left", "children_right")
    feature, threshold, left, right = (np.array(getattr(tree, name), np.float64) for name in names)
    leaf, own = left < 0, np.arange(len(left), dtype=np.float64)
    value = np.array(getattr(tree, "value"), np.float64)[:, 0, 0]  # noqa: B009 - scikit-learn has no types
    return (
        np.where(leaf, 0, feature),
        np.where(leaf, 0.0, threshold),
        np.where(leaf, own, left),
        np.where(leaf, own, right),
        np.where(leaf, value, 0.0),
    )
