"""What is badly over- or under-represented: by more than a factor of two, and not by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.data.describe.representation_shares import Share

FACTOR, CHANCE = 2.0, 0.001


@dataclass(frozen=True)
class Leaning:
    """A group of which a selection has far too much or far too little.

    Attributes:
        by: What the group is a group of, such as domain.
        group: The group.
        ratio: Its share of the selection over its share of the set.
        p_value: How likely a random draw of as many items is as far off, either way.
        text: A sentence for people.
    """

    by: str
    group: str
    ratio: float
    p_value: float
    text: str


def leanings(kinds: Mapping[str, tuple[Share, ...]]) -> tuple[Leaning, ...]:
    """Return the groups that are badly represented, the least likely first.

    A group counts when its share is more than doubled or less than halved *and* a random draw of as many
    items would hardly do that: twice the smaller tail of the hypergeometric distribution, times the number of
    groups looked at (Bonferroni), below 0.001. Small selections miss small groups by chance; that is no sign.
    """
    looked_at = sum(map(len, kinds.values()))
    found = [
        _leaning(by, share, float(chance))
        for by, group in kinds.items()
        for share, chance in zip(group, _chances(group), strict=True)
        if not 1 / FACTOR <= share.ratio <= FACTOR and chance * looked_at < CHANCE
    ]
    return tuple(sorted(found, key=lambda one: one.p_value))


def _chances(group: tuple[Share, ...]) -> NDArray[np.float64]:
    """Return the two-sided p-value of every group's number of selected items."""
    from scipy.stats import hypergeom

    if not group:
        return np.empty(0)
    items, selected = (np.array([getattr(share, name) for share in group]) for name in ("items", "selected"))
    drawn = hypergeom(items.sum(), items, selected.sum())
    return np.asarray(np.minimum(1.0, 2.0 * np.minimum(drawn.cdf(selected), drawn.sf(selected - 1))))


def _leaning(by: str, share: Share, chance: float) -> Leaning:
    how = "over" if share.ratio > 1 else "under"
    text = (
        f"{by}, {share.group}: badly {how}-represented, {100 * share.selected_share:.1f} % of the chosen "
        f"against {100 * share.full_share:.1f} % of the set."
    )
    return Leaning(by, share.group, share.ratio, chance, text)
