"""A set as it was before some of its judgements came in."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Mask
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences, Ratings


def reveal(data: EvalSet, cells: Mask, compared: Mask | None = None) -> EvalSet:
    """Return the set with the scores and ratings of some cells, and with some of its preferences.

    What people said of references stays: it was not asked about the models.

    Args:
        data: The set with all that is judged.
        cells: items × models: whose scores and ratings can be seen.
        compared: Which rows of ``data.preferences`` can be seen; None for no row.
    """
    rows, columns = data.places_in_store
    stored: Mask = np.zeros((len(data.store.items), len(data.store.models)), bool)
    stored[np.ix_(rows, columns)] = cells
    ratings, preferences = data.store.ratings, data.preferences
    store = replace(
        data.store,
        aspects={name: _seen(scores, stored) for name, scores in data.store.aspects.items()},
        ratings=ratings.take(_rated(ratings, stored)),
        preferences=_preferred(preferences, rows, columns, compared),
    )
    return replace(data, store=store)


def _seen(scores: Floats, cells: Mask) -> Floats:
    seen = np.where(cells, scores, np.nan)
    seen.flags.writeable = False
    return seen


def _rated(ratings: Ratings, cells: Mask) -> Mask:
    """Return which ratings are of cells that can be seen, or of references."""
    models = cells.shape[1]
    reference = ratings.model >= models
    return np.asarray(reference | cells[ratings.item, np.minimum(ratings.model, models - 1)])


def _preferred(
    preferences: Preferences, rows: NDArray[np.int64], columns: NDArray[np.int64], seen: Mask | None
) -> Preferences:
    if seen is None or not seen.any():
        return Preferences()
    kept = preferences.take(seen)
    return kept.take(
        np.ones(len(kept), bool),
        item=rows[kept.item].astype(np.int32),
        first=columns[kept.first].astype(np.int32),
        second=columns[kept.second].astype(np.int32),
    )
