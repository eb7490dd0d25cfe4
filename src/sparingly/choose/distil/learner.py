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
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.choose.distil.text_features import (
    WORD_BITS,
    Ragged,
    Spans,
    blocks,
    character_ngrams,
    places,
    surface,
    word_ngrams,
    word_rarity,
)
from sparingly.signals.embed.tfidf import singular_axes
from sparingly.signals.predict.ridge import RidgeFit, fit_ridge

if TYPE_CHECKING:
    from scipy.sparse import csr_array


Singles = NDArray[np.float32]

_TREES, _RATE, _DEPTH, _SAMPLE, _LEAF = 150, 0.05, 3, 0.5, 20
BITS = 16
_AXES = 128
_FIT_TEXTS = 4096
_FEWEST_WITH = 2


@dataclass(frozen=True, eq=False)
class LinearWeights:
    """The weights of the ridge, for K utilities.

    Attributes:
        rarity: How rare a word of every place is.
        centre: The mean of every number of the surface.
        spread: Its standard deviation.
        surface: K × numbers of the surface.
        characters: K × places, for character n-grams; None where texts are embedded.
        words: K × places, for words and pairs of words; None where texts are embedded.
        vectors: K × dimensions of the embedding; None where n-grams are used.
        intercepts: K.
    """

    rarity: Singles
    centre: Floats
    spread: Floats
    surface: Floats
    characters: Singles | None
    words: Singles | None
    vectors: Floats | None
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
                predictions += _weighted_sums(spans, parts, weights)
        return predictions


def _weighted_sums(spans: Spans, parts: Ragged, weights: Singles) -> Floats:
    place, roots = places(parts.hashes, BITS), np.sqrt(np.maximum(parts.counts, 1))
    columns = [spans.sums(row[place].astype(np.float64), parts.counts) / roots for row in weights]
    return np.stack(columns, axis=1)


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


class TrainingFeatures(NamedTuple):
    """The features of the training texts, and what turns slopes on them into weights of n-grams."""

    x: Floats
    size: float
    axes: Floats | None
    columns: NDArray[np.int64]
    rarity: Floats


def fit_light(
    texts: Sequence[str], targets: Floats, vectors: Floats | None, boosting: bool, seed: int
) -> LightFit:
    """Learn targets (texts × utilities, NaN where unknown) from distinct texts, which stand in order."""
    rare = _rarity_of_words(texts)
    shape = np.concatenate([surface(spans, rare) for _, spans in blocks(texts)])
    centre, spread = shape.mean(axis=0), shape.std(axis=0)
    spread = np.where(spread > 1e-9, spread, 1.0)
    standard = (shape - centre) / spread
    base = _ngram_base(texts) if vectors is None else _vector_base(vectors)
    size = base.size * np.sqrt(standard.shape[1])
    x = np.hstack([standard, base.x * size])
    ridges = [_ridge(x, column) for column in targets.T]
    slopes = np.stack([ridge.coefficients for ridge in ridges])
    width = standard.shape[1]
    inner = slopes[:, width:] * size
    weights = _ngram_weights(inner, base) if vectors is None else None
    linear = LinearWeights(
        rarity=rare,
        centre=centre,
        spread=spread,
        surface=slopes[:, :width],
        characters=None if weights is None else weights[:, : 1 << BITS],
        words=None if weights is None else weights[:, 1 << BITS :],
        vectors=None if vectors is None else inner,
        intercepts=np.array([ridge.intercepts[0] for ridge in ridges]),
    )
    if not boosting:
        return LightFit(linear)
    trees = [_trees(standard, ridge, column, seed) for ridge, column in zip(ridges, targets.T, strict=True)]
    return LightFit(linear, tuple(trees))


def _ridge(x: Floats, target: Floats) -> RidgeFit:
    present = ~np.isnan(target)
    return fit_ridge(x[present, None, :], target[present, None], np.ones((int(present.sum()), 1)))


def _trees(standard: Floats, ridge: RidgeFit, target: Floats, seed: int) -> BoostedTrees:
    """Learn trees from the ridge's predictions of texts that were left out."""
    present = ~np.isnan(target)
    ridge_values = target[present] - ridge.left_out[:, 0]
    return fit_trees(np.column_stack([standard[present], ridge_values]), target[present], seed)


def _rarity_of_words(texts: Sequence[str]) -> Singles:
    counts = np.zeros(1 << WORD_BITS, np.int64)
    for _, spans in blocks(texts):
        pairs = np.unique((spans.word_texts << WORD_BITS) | places(spans.words, WORD_BITS))
        counts += np.bincount(pairs & ((1 << WORD_BITS) - 1), minlength=len(counts))
    return word_rarity(counts, len(texts))


def _vector_base(vectors: Floats) -> TrainingFeatures:
    empty = np.zeros(0)
    return TrainingFeatures(vectors, _size(vectors), None, empty.astype(np.int64), empty)


def _ngram_base(texts: Sequence[str]) -> TrainingFeatures:
    """Return the main directions of the n-grams that at least two texts have, weighted by their rarity."""
    counts = _counts(texts)
    with_one = np.bincount(counts.indices, minlength=counts.shape[1])
    columns = np.flatnonzero(with_one >= _FEWEST_WITH)
    rarity = 1.0 + np.log((1.0 + len(texts)) / (1.0 + with_one[columns]))
    if not len(columns):
        return TrainingFeatures(np.zeros((len(texts), 0)), 1.0, np.zeros((0, 0)), columns, rarity)
    weighted = counts[:, columns]
    weighted.data = weighted.data * rarity[weighted.indices]
    axes = singular_axes(weighted[_fit_rows(texts)], _AXES)
    x = np.asarray(weighted @ axes)
    return TrainingFeatures(x, _size(x), axes, columns, rarity)


def _size(x: Floats) -> float:
    """Return the factor that scales the total variance of all columns to 1."""
    spread = float(x.var(axis=0).sum()) if x.size else 0.0
    return 1.0 / np.sqrt(spread) if spread > 0 else 1.0


def _fit_rows(texts: Sequence[str]) -> NDArray[np.int64]:
    """Return the texts that the directions are fitted to, chosen by a hash of their content."""
    keys = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=16).digest() for text in texts]
    return np.sort(sorted(range(len(texts)), key=keys.__getitem__)[:_FIT_TEXTS])


def _counts(texts: Sequence[str]) -> csr_array:
    """Count n-grams: texts × places of characters, then of words, by the root of their number in the text."""
    from scipy.sparse import csr_array, hstack, vstack

    parts = []
    for _, spans in blocks(texts):
        sides = []
        for hashes, counts in (character_ngrams(spans), word_ngrams(spans)):
            data = np.repeat(1.0 / np.sqrt(np.maximum(counts, 1)), counts)
            ends = np.concatenate([[0], np.cumsum(counts)])
            side = csr_array((data, places(hashes, BITS), ends), shape=(len(counts), 1 << BITS))
            side.sum_duplicates()
            sides.append(side)
        parts.append(hstack(sides, format="csr"))
    return csr_array(vstack(parts, format="csr"))


def _ngram_weights(slopes: Floats, base: TrainingFeatures) -> Singles:
    """Return the weight of every place, from the slopes on the directions."""
    weights = np.zeros((len(slopes), 2 << BITS), np.float32)
    if base.axes is not None and base.axes.size:
        weights[:, base.columns] = (slopes @ base.axes.T) * base.rarity
    return weights


# Boosted trees as plain arrays: learned by scikit-learn, saved and applied without it


@dataclass(frozen=True, eq=False)
class BoostedTrees:
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
    parts = [_tree_nodes(tree.tree_) for tree in learner.estimators_[:, 0]]
    sizes = np.array([len(part[0]) for part in parts])
    roots = np.cumsum(sizes) - sizes
    feature, threshold, left, right, value = (
        np.concatenate([part[place] for part in parts]) for place in range(5)
    )
    moved = np.repeat(roots, sizes)
    return BoostedTrees(
        feature=feature.astype(np.int32),
        threshold=threshold,
        left=(left + moved).astype(np.int32),
        right=(right + moved).astype(np.int32),
        value=value * _RATE,
        roots=roots.astype(np.int32),
        start=float(y.mean()),
    )


def _tree_nodes(tree: object) -> tuple[NDArray[np.float64], ...]:
    """Return feature, threshold, children and value of every node; a leaf has itself as both children."""
    names = ("feature", "threshold", "children_left", "children_right")
    feature, threshold, left, right = (np.array(getattr(tree, name), np.float64) for name in names)
    leaf, self_index = left < 0, np.arange(len(left), dtype=np.float64)
    value = np.array(getattr(tree, "value"), np.float64)[:, 0, 0]  # noqa: B009 - scikit-learn has no types
    return (
        np.where(leaf, 0, feature),
        np.where(leaf, 0.0, threshold),
        np.where(leaf, self_index, left),
        np.where(leaf, self_index, right),
        np.where(leaf, value, 0.0),
    )
