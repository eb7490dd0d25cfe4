"""The light learner: n-grams or an embedding, and a few numbers of the surface, by ridge or boosting.

û(x) = a + s(x)·β + Σ_k (1/√n_k) Σ_g w_k[h(g)], where s are the standardised numbers of the surface, k is
characters or words, and g runs over the n_k n-grams of the text (Zouhar et al. 2025, eq. 10, with a lighter
predictor than the paper's). The weights w come from a ridge on the main directions of the weighted n-grams.
With boosting, trees take the surface features and the prediction of the ridge.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.lazy import sparse
from sparingly.choose.distil.text_features import (
    WORD_BITS,
    Spans,
    blocks,
    character_ngrams,
    places,
    surface,
    word_ngrams,
    word_rarity,
)
from sparingly.signals.embed.tfidf import singular_axes
from sparingly.signals.predict.regressors import RidgeFit, fit_ridge

if TYPE_CHECKING:
    pass

Singles = NDArray[np.float32]

_TREES, _RATE, _DEPTH, _SAMPLE, _LEAF = 150, 0.05, 3, 0.5, 20
BITS = 16
_AXES = 128
_FIT_TEXTS = 4096
_FEWEST_WITH = 2


@dataclass(frozen=True, eq=False)
class LinearWeights:
    """The weights of the ridge, for K utilities; with vectors there are none of n-grams."""

    rarity: Singles  # how rare a word of every place is
    centre: Floats  # mean and standard deviation of every number of the surface
    spread: Floats
    surface: Floats  # K × numbers of the surface
    characters: Singles | None  # K × places of character n-grams
    words: Singles | None  # K × places of words and pairs of words
    vectors: Floats | None  # K × dimensions of the embedding
    intercepts: Floats

    def standard(self, spans: Spans) -> Floats:
        """Return the numbers of the surface, standardised."""
        return np.asarray((surface(spans, self.rarity) - self.centre) / self.spread)

    def predict(self, spans: Spans, standard: Floats, vectors: Floats | None) -> Floats:
        """Return texts × utilities, the same whatever other texts are in the block."""
        predictions = np.repeat(self.intercepts[None, :], len(standard), axis=0)
        for place in range(standard.shape[1]):
            # Column by column: a matrix product rounds differently for blocks of different sizes.
            predictions += standard[:, place, None] * self.surface[:, place]
        if self.vectors is not None and vectors is not None:
            predictions += np.stack([(vectors * weights).sum(axis=1) for weights in self.vectors], axis=1)
            return predictions
        for weights, parts in ((self.characters, character_ngrams(spans)), (self.words, word_ngrams(spans))):
            if weights is not None:
                at, roots = places(parts.hashes, BITS), np.sqrt(np.maximum(parts.counts, 1))
                sums = [spans.sums(row[at].astype(np.float64), parts.counts) for row in weights]
                predictions += np.stack([column / roots for column in sums], axis=1)
        return predictions


@dataclass(frozen=True, eq=False)
class LightFit:
    """The fitted learner: the ridge and, with boosting, trees for every utility."""

    linear: LinearWeights
    trees: tuple[BoostedTrees, ...] = ()

    @property
    def dimensions(self) -> int | None:
        """The length of the vectors that predictions need; None if texts are enough."""
        return None if self.linear.vectors is None else int(self.linear.vectors.shape[1])

    def predict(self, texts: Sequence[str], vectors: Floats | None = None) -> Floats:
        """Return texts × utilities."""
        predictions = np.empty((len(texts), len(self.linear.intercepts)))
        for rows, spans in blocks(texts):
            predictions[rows] = self.predict_block(spans, None if vectors is None else vectors[rows])
        return predictions

    def predict_block(self, spans: Spans, vectors: Floats | None = None) -> Floats:
        """Return texts × utilities for a block."""
        standard = self.linear.standard(spans)
        ridge_values = self.linear.predict(spans, standard, vectors)
        if not self.trees:
            return ridge_values
        columns = [
            trees.predict(np.column_stack([standard, ridge_values[:, place]]))
            for place, trees in enumerate(self.trees)
        ]
        return np.stack(columns, axis=1)


def fit_light(
    texts: Sequence[str], targets: Floats, vectors: Floats | None, boosting: bool, seed: int
) -> LightFit:
    """Learn targets (texts × utilities, NaN where unknown) from distinct texts, which stand in order."""
    word_counts = np.zeros(1 << WORD_BITS, np.int64)
    for _, spans in blocks(texts):
        pairs = np.unique((spans.word_texts << WORD_BITS) | places(spans.words, WORD_BITS))
        word_counts += np.bincount(pairs & ((1 << WORD_BITS) - 1), minlength=len(word_counts))
    rare = word_rarity(word_counts, len(texts))
    shape = np.concatenate([surface(spans, rare) for _, spans in blocks(texts)])
    centre, spread = shape.mean(axis=0), shape.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    standard = (shape - centre) / spread
    width = standard.shape[1]
    inside, axes, columns, rarity = (
        _ngram_directions(texts) if vectors is None else (vectors, None, None, None)
    )
    # Scaled so that the total variance of these columns is that of the surface's.
    variance = float(inside.var(axis=0).sum()) if inside.size else 0.0
    size = (1.0 / np.sqrt(variance) if variance > 0 else 1.0) * np.sqrt(width)
    x = np.hstack([standard, inside * size])
    ridges = [_ridge(x, column) for column in targets.T]
    slopes = np.stack([ridge.coefficients for ridge in ridges])
    inner = slopes[:, width:] * size
    weights = np.zeros((len(slopes), 2 << BITS), np.float32)
    if axes is not None:
        weights[:, columns] = (inner @ axes.T) * rarity
    linear = LinearWeights(
        rarity=rare,
        centre=centre,
        spread=spread,
        surface=slopes[:, :width],
        characters=weights[:, : 1 << BITS] if vectors is None else None,
        words=weights[:, 1 << BITS :] if vectors is None else None,
        vectors=None if vectors is None else inner,
        intercepts=np.array([ridge.intercepts[0] for ridge in ridges]),
    )
    trees: list[BoostedTrees] = []
    for ridge, column in zip(ridges, targets.T, strict=True) if boosting else ():
        # Trees learn from the ridge's predictions of texts that were left out.
        present = ~np.isnan(column)
        ridge_values = column[present] - ridge.left_out[:, 0]
        features = np.column_stack([standard[present], ridge_values])
        trees.append(fit_trees(features, column[present], seed))
    return LightFit(linear, tuple(trees))


def _ridge(x: Floats, target: Floats) -> RidgeFit:
    present = ~np.isnan(target)
    return fit_ridge(x[present, None, :], target[present, None], np.ones((int(present.sum()), 1)))


def _ngram_directions(texts: Sequence[str]) -> tuple[Floats, Floats, Ints, Floats]:
    """Return texts along the main directions of the n-grams that at least two of them have.

    And what turns slopes on the directions into weights of n-grams: the axes, the places, and the rarity
    that n-grams are weighted by.
    """
    counts = _counts(texts)
    with_one = np.bincount(counts.indices, minlength=counts.shape[1])
    columns = np.flatnonzero(with_one >= _FEWEST_WITH)
    rarity = 1.0 + np.log((1.0 + len(texts)) / (1.0 + with_one[columns]))
    if not len(columns):
        return np.zeros((len(texts), 0)), np.zeros((0, 0)), columns, rarity
    weighted = counts[:, columns]
    weighted.data = weighted.data * rarity[weighted.indices]
    # Directions are fitted to texts that a hash of their content chooses.
    keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
    rows = np.sort(sorted(range(len(texts)), key=keys.__getitem__)[:_FIT_TEXTS])
    axes = singular_axes(weighted[rows], _AXES)
    return np.asarray(weighted @ axes), axes, columns, rarity


def _counts(texts: Sequence[str]) -> sparse.csr_array:
    """Count n-grams: texts × places of characters, then of words, by the root of their number in the text."""
    parts = []
    for _, spans in blocks(texts):
        sides = []
        for hashes, counts in (character_ngrams(spans), word_ngrams(spans)):
            data = np.repeat(1.0 / np.sqrt(np.maximum(counts, 1)), counts)
            ends = np.concatenate([[0], np.cumsum(counts)])
            side = sparse.csr_array((data, places(hashes, BITS), ends), shape=(len(counts), 1 << BITS))
            side.sum_duplicates()
            sides.append(side)
        parts.append(sparse.hstack(sides, format="csr"))
    return sparse.csr_array(sparse.vstack(parts, format="csr"))


@dataclass(frozen=True, eq=False)
class BoostedTrees:
    """The sum of many small trees as plain arrays: learned by scikit-learn, saved and applied without it.

    The nodes of the trees lie one after the other. A text goes left where its feature is at most the
    threshold; a leaf points at itself.
    """

    feature: NDArray[np.int32]
    threshold: Floats
    left: NDArray[np.int32]
    right: NDArray[np.int32]
    value: Floats  # what a leaf adds
    roots: NDArray[np.int32]  # the first node of every tree
    start: float  # what all trees add to

    def predict(self, x: Floats) -> Floats:
        """Return the sum for every row of features."""
        # scikit-learn looks at features in single precision.
        single_precision = x.astype(np.float32).astype(np.float64)
        total = np.full(len(x), self.start)
        rows = np.arange(len(x))
        for root in self.roots.tolist():
            node = np.full(len(x), root, np.int32)
            for _ in range(_DEPTH):
                goes_left = single_precision[rows, self.feature[node]] <= self.threshold[node]
                node = np.where(goes_left, self.left[node], self.right[node])
            total += self.value[node]
        return total


def fit_trees(x: Floats, y: Floats, seed: int) -> BoostedTrees:
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
    trees: list[Any] = [estimator.tree_ for estimator in learner.estimators_[:, 0]]
    sizes = np.array([tree.node_count for tree in trees])
    roots = np.cumsum(sizes) - sizes
    first = np.repeat(roots, sizes)
    left_children = np.concatenate([tree.children_left for tree in trees])
    right = np.concatenate([tree.children_right for tree in trees])
    is_leaf, itself = left_children < 0, np.arange(len(left_children))
    return BoostedTrees(
        feature=np.where(is_leaf, 0, np.concatenate([tree.feature for tree in trees])).astype(np.int32),
        threshold=np.where(is_leaf, 0.0, np.concatenate([tree.threshold for tree in trees])),
        left=np.where(is_leaf, itself, left_children + first).astype(np.int32),
        right=np.where(is_leaf, itself, right + first).astype(np.int32),
        value=np.where(is_leaf, np.concatenate([tree.value[:, 0, 0] for tree in trees]), 0.0) * _RATE,
        roots=roots.astype(np.int32),
        start=float(y.mean()),
    )
