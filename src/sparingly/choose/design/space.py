"""Items as points: the spaces over which a draw can be spread."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError
from sparingly.choose.design.variables import scores_of, with_means
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.differences import filled_distances
from sparingly.signals.embed.evalset import embed_outputs, embed_sources

Space = Literal["metrics", "source", "output_mean", "difference"]
# Few: every further direction makes the search for neighbours slower.
_DOCUMENT_DIMENSIONS = 3


def metric_points(data: EvalSet, metrics: tuple[str, ...]) -> Floats:
    """Return the scores of all models by some metrics, every column with mean 0 and standard deviation 1."""
    columns = np.column_stack([scores_of(data, fields.metric(name)) for name in metrics])
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.asarray(centred / np.where(spread > 0, spread, 1.0))


def text_points(data: EvalSet, space: Space, embedding: str) -> Floats:
    """Return embeddings of the sources, mean embeddings of the outputs, or how far outputs lie apart.

    An item without texts lies in the middle.
    """
    if space == "source":
        vectors, there = embed_sources(data, embedding)
        return _in_the_middle(vectors, there)
    embedded = embed_outputs(data, embedding)
    counts = embedded.there.sum(axis=1)
    if space == "output_mean":
        means = embedded.vectors.sum(axis=1) / np.maximum(counts, 1)[:, None]
        return _in_the_middle(means, counts > 0)
    if len(data.models) < 2:
        raise DataError("Differences between outputs need two models, and there are fewer.")
    return _in_the_middle(filled_distances(*embedded), counts > 1)


def with_documents(points: Floats, document: Objects) -> Floats:
    """Return points with further coordinates in which the items of a document lie together.

    Every document has a place of its own at random, by its name alone; the places are spread as widely as the
    points are, where these differ at all. So items are near that are alike in both, and a spread draw takes
    its share of every document too. An item in no document lies in the middle.
    """
    named = np.array([name is not None for name in document])
    names, code = np.unique(document[named].astype(str), return_inverse=True)
    keys = rng.keys_of(list(names))
    places = np.column_stack(
        [rng.uniforms(keys, 0, f"document {axis}") for axis in range(_DOCUMENT_DIMENSIONS)]
    )
    further = np.zeros((len(document), _DOCUMENT_DIMENSIONS))
    further[named] = places[code] - places[code].mean(axis=0)
    spread, own = _spread(further), _spread(points)
    return np.hstack([points, further * (own / spread if spread > 0 and own > 0 else 1.0)])


def shares_documents(document: Objects) -> bool:
    """Whether there are several documents, and one of them has several items."""
    names = [name for name in document if name is not None]
    return 1 < len(set(names)) < len(names)


def _spread(points: Floats) -> float:
    """Return the root of the mean squared distance from the middle."""
    return float(np.sqrt(((points - points.mean(axis=0)) ** 2).sum(axis=1).mean()))


def _in_the_middle(vectors: Floats, there: NDArray[np.bool_]) -> Floats:
    return with_means(np.where(there[:, None], vectors, np.nan))


def principal(points: Floats, dimensions: int) -> Floats:
    """Return points in the few directions in which they vary most (all, where there are no more)."""
    if points.shape[1] <= dimensions:
        return points
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :dimensions]
    return np.asarray(centred @ axes)
