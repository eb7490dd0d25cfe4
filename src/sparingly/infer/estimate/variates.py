"""Metrics as variates: found by their names and standardised on the whole set."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.length import LENGTHS, length_metric


def known_metrics(data: EvalSet) -> tuple[str, ...]:
    """Return the metrics that there are: those of the set, and the lengths of the texts that it has."""
    lengths = [name for name, text in LENGTHS.items() if text in data.fields and name not in data.metrics]
    return (*data.metrics, *lengths)


def checked_metrics(data: EvalSet, names: Iterable[str]) -> tuple[str, ...]:
    """Return the names of metrics, all that there are when none is given."""
    known = known_metrics(data)
    if not known:
        raise MissingDataError("The evaluation set has no metrics and no texts whose length could be one.")
    wanted = tuple(names) or known
    for name in wanted:
        if name not in known:
            raise UnknownNameError("metric", name, known)
    return wanted


def metric_fields(data: EvalSet, names: Iterable[str]) -> frozenset[str]:
    """Return the fields that metrics are read from."""
    return frozenset(fields.metric(name) if name in data.metrics else LENGTHS[name] for name in names)


def metric_scores(data: EvalSet, name: str) -> Floats:
    """Return a metric's scores, items × models."""
    return data.metrics[name] if name in data.metrics else length_metric(data, name)


def standardised(scores: Floats) -> Floats:
    """Return scores with mean 0 and variance 1 for each model over the whole set, 0 where one is missing."""
    there = ~np.isnan(scores)
    count = np.maximum(there.sum(axis=0), 1)
    mean = np.where(there, scores, 0.0).sum(axis=0) / count
    away = np.where(there, scores - mean, 0.0)
    spread = np.sqrt((away**2).sum(axis=0) / count)
    varies = spread > 1e-12 * (1.0 + np.abs(mean))
    return np.asarray(np.divide(away, spread, out=np.zeros_like(away), where=varies))


def variates_of(data: EvalSet, names: Iterable[str]) -> Floats:
    """Return standardised metrics as metrics × items × models."""
    return np.stack([standardised(metric_scores(data, name)) for name in names])
