"""Units to raters: a connected graph of shared units first, then whoever has least takes the next."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import UsageError


@dataclass(frozen=True)
class Unit:
    """What is handed out together: a name, and items in order."""

    name: str
    items: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many items it holds."""
        return len(self.items)


@dataclass(frozen=True, eq=False)
class Handed:
    """Who has which units, which of them two raters have, and which raters are connected by these."""

    units: Mapping[str, tuple[Unit, ...]]
    shared: frozenset[str]
    components: tuple[tuple[str, ...], ...]

    def of(self, rater: str) -> tuple[Unit, ...]:
        """Return the units of a rater."""
        return self.units[rater]


class _Table:
    """The raters' lists while they fill."""

    def __init__(self, raters: Sequence[str], limits: Mapping[str, float]) -> None:
        self.raters, self.limits = list(raters), limits
        self.loads = dict.fromkeys(raters, 0)
        self.units: dict[str, list[Unit]] = {name: [] for name in raters}
        self.together: dict[tuple[str, ...], int] = {}

    def with_room(self, size: int) -> list[str]:
        """Return the raters who can take so many items more, those with least first."""
        free = [name for name in self.raters if self.loads[name] + size <= self.limits[name]]
        return sorted(free, key=lambda name: self.loads[name])

    def give(self, unit: Unit, *raters: str) -> None:
        """Add a unit to the lists of raters."""
        for name in raters:
            self.loads[name] += unit.size
            self.units[name].append(unit)
        if len(raters) > 1:
            pair = tuple(sorted(raters))
            self.together[pair] = self.together.get(pair, 0) + 1

    def share(self, unit: Unit) -> None:
        """Give a unit to the two raters who have least; among equals to those who shared least."""
        free = self.with_room(unit.size)
        if len(free) < 2:
            raise _no_room(unit)
        first = free[0]
        second = min(
            free[1:],
            key=lambda name: (self.loads[name], self.together.get(tuple(sorted((first, name))), 0)),
        )
        self.give(unit, first, second)

    def alone(self, unit: Unit) -> None:
        """Give a unit to the rater who has least."""
        free = self.with_room(unit.size)
        if not free:
            raise _no_room(unit)
        self.give(unit, free[0])


def hand_out(
    units: Sequence[Unit], raters: Sequence[str], shared: int, limits: Mapping[str, float], seed: int
) -> Handed:
    """Hand out units, so many of them to two raters each.

    The first shared units make a chain through all raters, which is connected with one unit fewer than
    raters; the others go where least is. Then the rest, the largest first, each to the rater with least:
    loads then differ by at most the largest unit.
    """
    _check_room(units, shared, raters, limits)
    keys = rng.keys_of([unit.name for unit in units])
    drawn = [units[at] for at in np.argsort(rng.stream(keys, seed, "raters units"), kind="stable")]
    order = np.argsort(rng.stream(rng.keys_of(list(raters)), seed, "raters chain"), kind="stable")
    table = _Table([raters[at] for at in order], limits)
    twice, once = drawn[:shared], drawn[shared:]
    chain = list(pairwise(table.raters))
    for place, unit in enumerate(twice):
        pair = chain[place] if place < len(chain) else ()
        if pair and all(table.loads[name] + unit.size <= limits[name] for name in pair):
            table.give(unit, *pair)
        else:
            table.share(unit)
    for unit in sorted(once, key=lambda unit: -unit.size):
        table.alone(unit)
    return Handed(
        units={name: tuple(table.units[name]) for name in raters},
        shared=frozenset(unit.name for unit in twice),
        components=_components(raters, table.together),
    )


def _check_room(
    units: Sequence[Unit], shared: int, raters: Sequence[str], limits: Mapping[str, float]
) -> None:
    wanted = sum(unit.size for unit in units) * (1.0 + shared / len(units))
    room = sum(limits[name] for name in raters)
    if room < wanted:
        raise UsageError(
            f"The raters take {room:g} items together, and {wanted:.0f} are to be judged, shared ones twice: "
            "raise the load, name more raters, or choose fewer items."
        )


def _no_room(unit: Unit) -> UsageError:
    return UsageError(
        f'Nobody has room for "{unit.name}" with {unit.size} items: raise the load, name more raters, or '
        "lower the overlap."
    )


def _components(
    raters: Sequence[str], together: Mapping[tuple[str, ...], int]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of raters that are connected by shared units, largest first."""
    group = {name: name for name in raters}
    for one, other in together:
        old, new = group[one], group[other]
        group = {name: new if own == old else own for name, own in group.items()}
    found = [tuple(name for name in raters if group[name] == own) for own in sorted(set(group.values()))]
    return tuple(sorted(found, key=lambda names: (-len(names), names)))
