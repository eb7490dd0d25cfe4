"""Margins of pairs of models from preferences: by how many more items one is preferred to the other.

An item's preference for A over B is 1, −1, 0 for a tie, or between them when it is soft. Several judgements
of one item and pair are averaged first, so that an item counts once however many people judged it. The mean
over items is the margin P_A − P_B of Ashury Tahan et al. 2024 (Label-Efficient Model Selection for Text
Generation, eq. 1): ties are in the denominator.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import pair_count
from sparingly.data.tables import Preferences

# A mean of votes smaller than this is rounding: the votes cancel.
CANCELLED = 1e-12


class Votes(NamedTuple):
    """What an item says of a pair of models (its place among ``numpy.triu_indices``), one vote each."""

    item: Ints
    pair: Ints
    value: Floats


def pair_margins_from_preferences(
    preferences: Preferences, models: int, rows: Ints | Sequence[int] | None = None
) -> Floats:
    """Return P_A − P_B for every pair of models (order of ``numpy.triu_indices``), from preferences.

    Judgements of one item and pair are averaged first, then items: one item, one vote, however many people
    judged it. NaN for a pair that nobody compared.

    Args:
        preferences: One row a comparison, soft ones too.
        models: The number of models.
        rows: The items to use; all of them by default.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo().with_preferences_from("overall", tie=2.0)
        >>> margins = sparingly.pair_margins_from_preferences(data.preferences, len(data.models))
        >>> bool((margins == sparingly.pair_margins(data.truth("overall"), tie=2.0)).all())
        True
    """
    return margins_and_counts(preferences, models, rows)[0]


def margins_and_counts(
    preferences: Preferences, models: int, rows: Ints | Sequence[int] | None
) -> tuple[Floats, Ints]:
    """Return the margin of every pair of models, and on how many items it rests."""
    votes = item_votes(preferences, models, rows)
    pairs = pair_count(models)
    counts = np.bincount(votes.pair, minlength=pairs).astype(np.int64)
    total = np.bincount(votes.pair, votes.value, pairs)
    margins = np.divide(total, counts, out=np.full(pairs, np.nan), where=counts > 0)
    return np.where(np.abs(margins) < CANCELLED, 0.0, margins), counts


def item_votes(preferences: Preferences, models: int, rows: Ints | Sequence[int] | None = None) -> Votes:
    """Return one vote for every item and pair that were judged: the mean of its judgements."""
    there = ~np.isnan(preferences.value) & (preferences.first != preferences.second)
    if rows is not None:
        there &= np.isin(preferences.item, np.asarray(rows, np.int64))
    first, second = preferences.first[there].astype(np.int64), preferences.second[there].astype(np.int64)
    value = np.where(first < second, 1.0, -1.0) * preferences.value[there]
    pair = pair_places(np.minimum(first, second), np.maximum(first, second), models)
    pairs = max(pair_count(models), 1)
    cells, place = np.unique(preferences.item[there].astype(np.int64) * pairs + pair, return_inverse=True)
    per_item = np.bincount(place, value, len(cells)) / np.bincount(place, minlength=len(cells))
    return Votes(cells // pairs, cells % pairs, per_item)


def pair_places(low: Ints, high: Ints, models: int) -> Ints:
    """Return the places of pairs (low < high) among (0, 1), (0, 2), …, (1, 2), ….

    All pairs that begin with a smaller model come before.
    """
    return low * (2 * models - low - 1) // 2 + high - low - 1
