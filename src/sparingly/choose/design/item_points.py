"""Which metrics or texts place the items of a selector that looks at the set as a whole."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.choose.design.space import Space, metric_points, text_points
from sparingly.choose.design.whole_set import file_stamp, remembered
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import embedding_fields


def settled_metrics(data: EvalSet, metrics: tuple[str, ...], method: str) -> tuple[str, ...]:
    """Return the metrics that are named, or all of them."""
    for name in metrics:
        if name not in data.metrics:
            raise UnknownNameError("metric", name, data.metrics)
    if not len(data.metrics):
        raise MissingDataError(f"The method {method} needs metrics here, and the evaluation set has none.")
    return metrics or tuple(data.metrics)


def space_fields(space: Space, metrics: tuple[str, ...], embedding: str) -> frozenset[str]:
    """Return the fields that the points of a space are made of."""
    if space == "metrics":
        return frozenset(map(fields.metric, metrics))
    return embedding_fields(embedding, outputs=space != "source")


def space_points(data: EvalSet, space: Space, metrics: tuple[str, ...], embedding: str) -> Floats:
    """Return where the items lie (items × dimensions); what has no score or text lies in the middle."""
    if space == "metrics":
        for name in metrics:
            if name not in data.metrics:
                raise UnknownNameError("metric", name, data.metrics)
        return metric_points(data, metrics)
    key = ("points of a space", space, embedding, file_stamp(embedding))
    return remembered(data, key, lambda: text_points(data, space, embedding))


def scored_rows(data: EvalSet, metrics: tuple[str, ...], candidates: Ints) -> tuple[Ints, Ints]:
    """Return the candidates that have a score by some metric, and those that have none."""
    there = np.any([~np.isnan(data.metrics[name]).all(axis=1) for name in metrics], axis=0)
    return candidates[there[candidates]], candidates[~there[candidates]]
