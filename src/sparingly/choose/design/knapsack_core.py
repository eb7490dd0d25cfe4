"""The search for the best knapsack around the border between what is taken and what is left.

Starting from the *prefix* (the densest items that fit), an item at a time is allowed to change sides, in
the order of its loss |v − λc|: what changing its side costs in the linear relaxation, where λ is the density
at the border. A *state* is a set of changes with its room (budget not yet spent, negative while overspent)
and its gain over the prefix. States that another one beats in room and gain are dropped (Nemhauser and
Ullmann 1969), and so are states whose relaxation cannot beat the best set so far (the core of Balas and
Zemel 1980, grown as in Pisinger 1997). All states of a step are handled as arrays.

If states have to be cut because there are too many, the best of what they could have reached is kept as the
bound, so the bound stays proven.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask

_MOST_STATES = 50_000
_MOST_WORK = 5_000_000
_TRIFLE = 1e-13


@dataclass(frozen=True)
class Prefix:
    """Items in order of density, of which the first ``count`` are taken; the budget does not hold them all.

    ``spent`` is the cost of the taken ones as the exact sum of a few numbers, so that the cost of a set near
    the prefix can be summed without summing it all again.
    """

    values: Floats
    costs: Floats
    budget: float
    count: int
    spent: list[float]

    @cached_property
    def room(self) -> float:
        """What the prefix leaves of the budget, a trifle for rounding included."""
        return self.room_after(())

    @property
    def trifle(self) -> float:
        """What sums over many items may be wrong by."""
        return _TRIFLE * self.budget

    @cached_property
    def density(self) -> float:
        """The value per cost λ of the first item that is not taken."""
        return float(self.values[self.count] / self.costs[self.count])

    @property
    def relaxed_gain(self) -> float:
        """What any set can gain over the prefix at most: the room filled at density λ (Dantzig's bound)."""
        return self.density * self.room

    def losses(self) -> Floats:
        """Return |v − λc|, what moving an item to the other side loses in the relaxation."""
        return np.abs(self.values - self.density * self.costs)

    def gain(self, changes: Sequence[int]) -> float:
        """Return the value that the set gains over the prefix when these items change sides."""
        return math.fsum(self._signed(self.values, changes))

    def room_after(self, changes: Sequence[int]) -> float:
        """Return what is left of the budget when these items change sides, a trifle for rounding included.

        The trifle keeps every set that ``fits`` within reach of searches and below bounds, however their
        sums round; whether a set really fits is for ``fits`` to say.
        """
        return -math.fsum([-self.budget, -self.trifle, *self.spent, *self._signed(self.costs, changes)])

    def fits(self, changes: Sequence[int]) -> bool:
        """Tell whether the correctly rounded cost is within the budget when these items change sides."""
        return math.fsum([*self.spent, *self._signed(self.costs, changes)]) <= self.budget

    def _signed(self, amounts: Floats, changes: Sequence[int]) -> list[float]:
        items = np.asarray(changes, np.int64)
        signed: list[float] = np.where(items < self.count, -amounts[items], amounts[items]).tolist()
        return signed


def exact_sum(amounts: Floats) -> float:
    """Return the correctly rounded sum, whatever the order of the amounts."""
    return math.fsum(amounts.tolist())


def exact_parts(amounts: Floats) -> list[float]:
    """Return a few numbers whose sum is the amounts' sum without any rounding."""
    terms = amounts.tolist()
    parts: list[float] = []
    while (part := math.fsum([*terms, *(-known for known in parts)])) != 0.0:
        parts.append(part)
    return parts


@dataclass(frozen=True)
class _Steps:
    """The items that may change sides, in the order in which they are tried, and what bounds the rest."""

    items: Ints
    rooms: Floats  # what a change adds to the room
    gains: Floats  # what it adds to the value
    losses: Floats  # least loss among the items still to come; one entry more than there are items
    buys: Floats  # highest density among those that can still be added
    sells: Floats  # lowest density among those that can still be removed


@dataclass
class _Front:
    """The states that are left, by falling room and rising gain, and the way each came about."""

    rooms: Floats
    gains: Floats
    overspent: Mask  # known not to fit, though the room alone does not tell
    best: float
    found: list[int] | None = None
    cut: float = -math.inf
    work: int = 0
    trail: list[NDArray[np.int32]] = field(default_factory=list)
    sizes: list[int] = field(default_factory=list)


def search(prefix: Prefix, to_beat: float, deadline: float) -> tuple[list[int] | None, float]:
    """Look for a set that gains more over the prefix than the best one known so far.

    Returns the positions that change sides in the best set found (none when nothing better was found), and
    an upper bound on the gain of any set, equal to the best gain when the search was complete.
    """
    steps = _steps(prefix, to_beat)
    limit = prefix.relaxed_gain
    front = _Front(np.array([prefix.room]), np.zeros(1), np.zeros(1, np.bool_), to_beat)
    for step in range(len(steps.items)):
        if front.rooms.size == 0 or steps.losses[step] >= limit - front.best:
            break
        if front.work > _MOST_WORK or time.perf_counter() > deadline:
            front.cut = max(front.cut, float(_reachable(front, steps, step, prefix.density).max()))
            break
        _branch(front, steps, step)
        _keep_best(front, prefix, steps)
        _prune(front, steps, step + 1, prefix.density)
    return front.found, max(front.best, front.cut)


def _steps(prefix: Prefix, to_beat: float) -> _Steps:
    loss = prefix.losses()
    free = np.flatnonzero(loss < prefix.relaxed_gain - to_beat)
    items = free[np.argsort(loss[free], kind="stable")]
    values, costs, taken = prefix.values[items], prefix.costs[items], items < prefix.count
    sign = np.where(taken, 1.0, -1.0)
    with np.errstate(over="ignore"):
        density = values / costs
    return _Steps(
        items,
        sign * costs,
        -sign * values,
        np.append(loss[items], np.inf),
        np.append(np.maximum.accumulate(np.where(taken, 0.0, density)[::-1])[::-1], 0.0),
        np.append(np.minimum.accumulate(np.where(taken, density, np.inf)[::-1])[::-1], np.inf),
    )


def _branch(front: _Front, steps: _Steps, step: int) -> None:
    """Let the step's item change sides in every state, and drop the states that another one beats."""
    rooms = np.concatenate([front.rooms, front.rooms + steps.rooms[step]])
    gains = np.concatenate([front.gains, front.gains + steps.gains[step]])
    overspent = np.concatenate([front.overspent, np.zeros(len(front.rooms), np.bool_)])
    front.work += len(rooms)
    order = np.argsort(-rooms, kind="stable")
    rooms, gains = rooms[order], gains[order]
    beaten = np.zeros(len(order), np.bool_)
    beaten[1:] = gains[1:] <= np.maximum.accumulate(gains)[:-1]
    kept = np.flatnonzero(~beaten)
    front.sizes.append(len(front.rooms))
    front.rooms, front.gains, front.overspent = rooms[kept], gains[kept], overspent[order[kept]]
    front.trail.append(order[kept].astype(np.int32))


def _keep_best(front: _Front, prefix: Prefix, steps: _Steps) -> None:
    """Remember the best state that fits, if it beats the best set so far.

    Gains rise along the front, so it is the last one with room for which the exact sum of costs fits, too;
    that sum is asked once for each state.
    """
    low = int(np.searchsorted(front.gains, front.best, side="right"))
    high = int(np.searchsorted(-front.rooms, 0.0, side="right"))
    for state in low + np.flatnonzero(~front.overspent[low:high])[::-1]:
        changes = _changes(front, steps, int(state))
        if prefix.fits(changes):
            front.best, front.found = float(front.gains[state]), changes
            return
        front.overspent[state] = True


def _changes(front: _Front, steps: _Steps, state: int) -> list[int]:
    """Follow a state back to the prefix, collecting the items that changed sides."""
    changed = []
    for step in range(len(front.trail) - 1, -1, -1):
        origin = int(front.trail[step][state])
        if origin >= front.sizes[step]:
            changed.append(int(steps.items[step]))
            origin -= front.sizes[step]
        state = origin
    return changed


def _reachable(front: _Front, steps: _Steps, step: int, density: float) -> Floats:
    """Bound the gain of whatever a state can still become by changing at least one more item.

    Two bounds hold, and the lower one counts: the relaxation at λ less the least loss still to come; and
    room that is left bought at the best density still to be had (room overspent sold at the worst).
    """
    rate = np.where(front.rooms >= 0, steps.buys[step], steps.sells[step])
    with np.errstate(invalid="ignore"):
        traded = np.where(front.rooms == 0, 0.0, front.rooms * rate)
    reach: Floats = front.gains + np.minimum(density * front.rooms - steps.losses[step], traded)
    return reach


def _prune(front: _Front, steps: _Steps, step: int, density: float) -> None:
    """Drop the states that cannot beat the best set, and the least promising ones of too many."""
    reach = _reachable(front, steps, step, density)
    kept = np.flatnonzero(reach > front.best)
    if len(kept) > _MOST_STATES:
        by_promise = kept[np.argpartition(-reach[kept], _MOST_STATES)]
        front.cut = max(front.cut, float(reach[by_promise[_MOST_STATES:]].max()))
        kept = np.sort(by_promise[:_MOST_STATES])
    front.rooms, front.gains, front.overspent = front.rooms[kept], front.gains[kept], front.overspent[kept]
    front.trail[-1] = front.trail[-1][kept]
