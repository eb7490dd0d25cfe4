"""Quotas: how much every group of sources gives, by a column, bands of length or utility, or clusters."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError, listing
from sparingly.base.rng import round_to_range
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.units import quotas
from sparingly.choose.pool.frame import Frame
from sparingly.choose.pool.scored import ScoredPool
from sparingly.choose.pool.spread import clusters_of

Quota = Literal["equal", "share"] | Mapping[str, int]

LENGTH, UTILITY, EMBEDDING = "length", "utility", "embedding"
MISSING = "(none)"


@dataclass(frozen=True, eq=False)
class Groups:
    """The groups of sources: their names, and the group of every source."""

    names: tuple[str, ...]
    of_row: Ints

    def totals(self, values: Floats) -> Floats:
        """Return the sum of a value over every group."""
        return np.bincount(self.of_row, values, minlength=len(self.names)).astype(np.float64)


def groups_of(pool: ScoredPool, frame: Frame, by: str | None, bands: int) -> Groups:
    """Return the groups by a kept column, or by bands of ``length`` or ``utility`` with as many sources each.

    Several, with commas between them, are crossed: ``domain,utility`` has the bands of every domain, with the
    same bounds in all of them. Sources of one value are in one band, so that there can be fewer bands than
    asked for. By ``embedding`` they are as many clusters of the sources' embeddings, of any size.
    """
    if by is None:
        return Groups(("",), np.zeros(len(frame), np.int64))
    return reduce(_crossed, (_grouped(pool, frame, name, bands) for name in names_of(by)))


def names_of(by: str | None) -> list[str]:
    """Return what groups are made by."""
    return [] if by is None else [name.strip() for name in by.split(",")]


def _crossed(one: Groups, other: Groups) -> Groups:
    """Return the groups that are one of each; those without a source are left out."""
    codes = one.of_row * len(other.names) + other.of_row
    used = np.flatnonzero(np.bincount(codes))
    pairs = [divmod(code, len(other.names)) for code in used.tolist()]
    names = tuple(f"{one.names[first]}, {other.names[second]}" for first, second in pairs)
    return Groups(names, np.searchsorted(used, codes))


def _grouped(pool: ScoredPool, frame: Frame, by: str, bands: int) -> Groups:
    if by in (LENGTH, UTILITY):
        return _bands(getattr(frame, by), by, bands)
    if by == EMBEDDING:
        return _clusters(clusters_of(pool, frame, bands))
    labels = pool.labels(by)
    if labels.null_count() == len(labels):
        raise UnknownNameError("kept column", by, _kept_names(pool), f"Bands are by {LENGTH} or {UTILITY}.")
    mine = labels.gather(frame.place).fill_null(MISSING)
    names = mine.unique().sort()
    codes = names.search_sorted(mine).to_numpy().astype(np.int64)
    return Groups(tuple(names.to_list()), codes)


def _bands(values: Floats, by: str, bands: int) -> Groups:
    if bands < 2:
        raise UsageError(f"There are 2 bands or more, not {bands}.")
    # Rounded, so that the last bits of a utility cannot move a source into another band.
    steps = round_to_range(values)
    edges = np.unique(np.quantile(steps, np.arange(1, bands) / bands, method="lower"))
    codes = np.searchsorted(edges, steps, side="left")
    used, of_row = np.unique(codes, return_inverse=True)
    spans = [(float(values[codes == code].min()), float(values[codes == code].max())) for code in used]
    width = len(str(len(used)))
    names = [f"{by} {place:0{width}d}: {low:g} to {high:g}" for place, (low, high) in enumerate(spans, 1)]
    return Groups(tuple(names), of_row.astype(np.int64))


def _clusters(codes: Ints) -> Groups:
    used, of_row = np.unique(codes, return_inverse=True)
    width = len(str(len(used)))
    names = tuple(f"{EMBEDDING} {place:0{width}d}" for place in range(1, len(used) + 1))
    return Groups(names, of_row.astype(np.int64))


def _kept_names(pool: ScoredPool) -> list[str]:
    import json

    some = pool.column("kept").to_series().head(1000)
    return sorted({name for text in some for name in json.loads(text)})


def shares_of(
    budget: Budget | None, frame: Frame, groups: Groups, quota: Quota, costs: Floats | None
) -> Floats:
    """Return what every group may give in all, in sources or in cost; anchors are part of it.

    Equal parts, or parts by size; what a small group cannot give goes to the others. Numbers by name are
    taken as they are, and groups that are not named give nothing.
    """
    sizes = groups.totals(np.ones(len(frame)))
    if isinstance(quota, Mapping):
        return _by_name(quota, groups, sizes)
    if budget is None:
        raise UsageError("Say how much may be judged: budget=1000, or a share such as 1%.")
    if budget.kind == "cost" and costs is not None:
        totals = groups.totals(costs)
        return quotas(budget.amount, totals, np.ones(len(sizes)) if quota == "equal" else totals, whole=False)
    count = budget.count_of(len(frame), "sources")
    return quotas(count, sizes, np.ones(len(sizes)) if quota == "equal" else sizes, whole=True)


def with_quota(frame: Frame, groups: Groups, quota: Quota) -> tuple[Frame, Groups, int]:
    """Leave out the groups that numbers by name do not name: they could not be drawn, nor spoken for."""
    if not isinstance(quota, Mapping):
        return frame, groups, 0
    for name, count in quota.items():
        if name not in groups.names:
            raise UnknownNameError("group", name, groups.names)
        if count < 1:
            raise UsageError(f"A group gives 1 or more sources, not {count}: leave out {name}.")
    named = np.array([name in quota for name in groups.names], bool)
    stays = named[groups.of_row] | frame.anchor
    return frame.take(stays), Groups(groups.names, groups.of_row[stays]), int((~stays).sum())


def _by_name(quota: Mapping[str, int], groups: Groups, sizes: Floats) -> Floats:
    wanted = np.array([float(quota.get(name, 0)) for name in groups.names])
    short = [name for name, most, size in zip(groups.names, wanted, sizes, strict=True) if most > size]
    if short:
        raise UsageError(f"There are fewer sources than the quota asks for in {listing(short)}.")
    return wanted


def after_anchors(
    given: Floats, frame: Frame, groups: Groups, costs: Floats | None, *, by_name: bool = False
) -> Floats:
    """Return what the groups give beside the anchors, which are taken for certain.

    An anchor counts towards the number of its group; with numbers by name, one of no named group is extra.
    """
    weights = np.ones(len(frame)) if costs is None else costs
    anchors = groups.totals(np.where(frame.anchor, weights, 0.0))
    if by_name:
        over = [groups.names[place] for place in np.flatnonzero((anchors > given) & (given > 0))]
        if over:
            raise UsageError(f"There are more anchors than the quota asks for in {listing(over)}.")
        return np.maximum(given - anchors, 0.0)
    left = float(given.sum() - anchors.sum())
    if left < 0:
        raise UsageError(f"The anchors alone take {anchors.sum():g} of the budget of {given.sum():g}.")
    free = groups.totals(np.where(frame.anchor, 0.0, weights))
    wanted = np.maximum(given - anchors, 0.0)
    if left == 0 or not wanted.any():
        return np.zeros(len(given))
    return quotas(left, np.where(wanted > 0, free, 0.0), wanted, whole=costs is None)
