"""What judging everything is expected to say, beside a ranking: from the labels that were asked for."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.expect.expect import Expected, expect


def expected_of(data: EvalSet, selection: Selection | None, aspect: str) -> Expected:
    """Return what judging everything is expected to say, from every label that was asked for."""
    labels = data.truth(aspect)
    if selection is not None:
        rows = np.unique(data.positions(selection.items))
        kept = np.full(labels.shape, np.nan)
        kept[rows] = np.where(asked_models(data, selection, rows), labels[rows], np.nan)
        labels = kept
    return expect(data, labels, aspect=aspect)


def asked_models(data: EvalSet, selection: Selection, rows: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Return which models each item is to be judged on."""
    if selection.models is None:
        return np.ones((len(rows), len(data.models)), bool)
    asked = np.zeros((len(rows), len(data.models)), bool)
    places = np.searchsorted(rows, data.positions(selection.items))
    for place, names in zip(places, selection.models, strict=True):
        asked[place] |= np.array([names is None or name in names for name in data.models])
    return asked
