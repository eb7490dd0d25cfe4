"""Items as points: the spaces over which a draw can be spread."""

from __future__ import annotations

from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import DataError
from sparingly.choose.design.variables import scores_of, with_means
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Floats
from sparingly.signals.embed.differences import filled_distances
from sparingly.signals.embed.evalset import embed_outputs, embed_sources

Space = Literal["metrics", "source", "output_mean", "difference"]


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


def _in_the_middle(vectors: Floats, there: NDArray[np.bool_]) -> Floats:
    return with_means(np.where(there[:, None], vectors, np.nan))


def principal(points: Floats, dimensions: int) -> Floats:
    """Return points in the few directions in which they vary most (all, where there are no more)."""
    if points.shape[1] <= dimensions:
        return points
    centred = points - points.mean(axis=0)
    axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1][:, :dimensions]
    return np.asarray(centred @ axes)
