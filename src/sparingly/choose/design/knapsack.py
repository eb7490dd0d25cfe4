"""The best set of items that fits a budget of cost: the 0-1 knapsack problem.

maximise Σ v_i x_i   subject to   Σ c_i x_i ≤ B,   x_i ∈ {0, 1}      (Zouhar et al. 2025, eq. 2)

Items are ordered by density v/c. The *prefix* is the longest run from the densest item on that fits; with
λ the density of the item after it, λB + Σ max(0, v_i − λc_i) is the optimum of the linear relaxation
(Dantzig 1957) and bounds every set's value from above. A set is built by taking, densest first, whatever
still fits, and by exchanging single items; ``knapsack_core`` then looks for the best set around the prefix
and usually proves it best. The answer therefore never is worse than greedy and never depends on a solver
having found something in time; the gap to the proven bound tells how much a longer search could gain.

No draw, no clock (but for a safety limit) and no solver tolerance enters the result, so the same numbers
in the same order give the same set on every machine.
"""

from __future__ import annotations

import math
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError

# --- A bound on the value of a knapsack from the number of items in it ----------------------------
# Where values follow costs closely (a utility that grows with length, and costs that do too), the linear
# relaxation is far above every real set, because it takes a fraction of an item. But a set holds a whole
# number of items: either at most k or at least k + 1, k being the size of the relaxation's prefix. Each half
# is bounded by its Lagrangian relaxation,
#
# at most k:      min over μ ≥ 0 of   μk + R(v − μ)
# at least k + 1: min over μ ≥ 0 of  −μ(k + 1) + R(v + μ)
#
# with R the fractional knapsack's value (Martello and Toth 1997 bound strongly correlated problems likewise).
# Every μ gives a valid bound, so the minimum need not be found exactly.


_GOLDEN = (5**0.5 - 1) / 2
_HALVINGS = 40
# Sums over many items round; a bound has to be on the safe side of that.
_SAFE = 1 + 1e-12


def bound_by_count(values: Floats, costs: Floats, room: float, prefix: int) -> float:
    """Return an upper bound on the value of any set that fits, given how many items the relaxation takes."""
    at_most = _least(values, costs, room, prefix, sign=1.0)
    if np.sort(costs)[: prefix + 1].sum() > room * _SAFE:
        return at_most * _SAFE
    at_least = _least(values, costs, room, prefix + 1, sign=-1.0)
    return max(at_most, at_least) * _SAFE


def _least(values: Floats, costs: Floats, room: float, count: int, sign: float) -> float:
    """Minimise the convex Lagrangian bound over the price of an item by golden sections."""

    def bound(price: float) -> float:
        return sign * price * count + _fractional_value(values - sign * price, costs, room)

    low, high = 0.0, 2 * float(values.max())
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = bound(left), bound(right)
    best = min(bound(0.0), at_left, at_right)
    for _ in range(_HALVINGS):
        if at_left < at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = bound(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = bound(right)
        best = min(best, at_left, at_right)
    return best


def _fractional_value(values: Floats, costs: Floats, room: float) -> float:
    """Return the best value when items may be taken in part; items without value are left."""
    worth = values > 0
    values, costs = values[worth], costs[worth]
    density = values / costs
    order = np.argsort(-density)
    spent = np.cumsum(costs[order])
    if spent.size == 0 or spent[-1] <= room:
        return float(values.sum())
    whole = int(np.searchsorted(spent, room, side="right"))
    left = room - (spent[whole - 1] if whole else 0.0)
    return float(values[order[:whole]].sum() + left * density[order[whole]])


# --- The search for the best knapsack around the border between what is taken and what is left ----
# Starting from the *prefix* (the densest items that fit), an item at a time is allowed to change sides, in
# the order of its loss |v − λc|: what changing its side costs in the linear relaxation, where λ is the
# density at the border. A *state* is a set of changes with its room (budget not yet spent, negative while
# overspent) and its gain over the prefix. States that another one beats in room and gain are dropped
# (Nemhauser and Ullmann 1969), and so are states whose relaxation cannot beat the best set so far (the core
# of Balas and Zemel 1980, grown as in Pisinger 1997). All states of a step are handled as arrays.
#
# If states have to be cut because there are too many, the best of what they could have reached is kept as
# the bound, so the bound stays proven.


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


# --- The best set of items that fits a budget of cost: the 0-1 knapsack problem -------------------


_ROUNDING = 1e-12
_WORTH_BOUNDING = 1e-6
_MOST_UNDECIDED = 100_000
_EXCHANGES = 32
_EXCHANGED_ITEMS = 20_000


@dataclass(frozen=True)
class KnapsackResult:
    """A set that fits its budget, and a proof of how good it is.

    Attributes:
        chosen: which items are in the set.
        value: Σ of the chosen values.
        cost: Σ of the chosen costs, correctly rounded; at most the budget.
        bound: no set that fits has a higher value than this.
        gap: (bound − value) / bound, the largest share of value that a better set could add.
        proven: whether the set is known to be the best one (up to the rounding of sums).
    """

    chosen: Mask
    value: float
    cost: float
    bound: float
    gap: float
    proven: bool


def rescale(utilities: ArrayLike, floor: float = 0.1, spread: float = 0.5) -> Floats:
    """Map utilities to positive values, from ``floor`` for the least to ``floor + spread`` for the greatest.

    v = floor + spread · (u − min u) / (max u − min u). A knapsack needs positive values, and the floor
    decides the answer: the higher it is, the more a cheap item of low utility is worth (Zouhar et al. 2025,
    section 3, take 0.1 and 0.5). Equal utilities all become ``floor``.
    """
    values = np.asarray(utilities, np.float64)
    if not (math.isfinite(floor) and floor > 0):
        raise UsageError(f"The floor of rescaled utilities must be above 0, not {floor}.")
    if not (math.isfinite(spread) and spread >= 0):
        raise UsageError(f"The spread of rescaled utilities must be 0 or more, not {spread}.")
    if not np.isfinite(values).all():
        raise UsageError("Utilities must be finite numbers to be weighed against costs.")
    if values.size == 0 or values.max() == values.min():
        return np.full(values.shape, float(floor))
    scaled: Floats = floor + spread * ((values - values.min()) / (values.max() - values.min()))
    return scaled


def solve(values: ArrayLike, costs: ArrayLike, budget: float, *, time_limit: float = 10.0) -> KnapsackResult:
    """Choose the set of highest value whose cost fits the budget.

    A set fits when the correctly rounded sum of its costs (``math.fsum``) is at most the budget; a budget
    that a set spends exactly is fine. Items without cost are always taken. Items that cost more than the
    budget never are, and if that is every item, the set is empty.

    Args:
        values: what each item is worth; above 0 (see ``rescale``).
        costs: what each item costs; 0 or more.
        budget: what may be spent; 0 or more.
        time_limit: seconds after which the search for a better set ends, a safety that ordinary problems
            do not reach (the search is bounded by its amount of work).
    """
    worth, price = _checked(values, costs, budget)
    chosen = price == 0
    affordable = np.flatnonzero((price > 0) & (price <= budget))
    if exact_sum(price[affordable]) <= budget:
        chosen[affordable] = True
        return _result(chosen, worth, price, bound=0.0)
    ranked = affordable[_densest_first(worth[affordable], price[affordable])]
    # Powers of two change no sum and keep densities within the range of floating point.
    unit, coin = math.frexp(worth.max())[1], math.frexp(budget)[1]
    scaled = np.ldexp(worth[ranked], -unit), np.ldexp(price[ranked], -coin), math.ldexp(budget, -coin)
    taken, most = _best_set(*scaled, time.perf_counter() + time_limit)
    bound = math.ldexp(most, unit) + exact_sum(worth[chosen])
    chosen[ranked[taken]] = True
    return _result(chosen, worth, price, bound)


def _checked(values: ArrayLike, costs: ArrayLike, budget: float) -> tuple[Floats, Floats]:
    worth, price = np.asarray(values, np.float64), np.asarray(costs, np.float64)
    if worth.ndim != 1 or worth.shape != price.shape:
        raise UsageError(
            f"Values and costs must be lists of one length, not of shapes {worth.shape} and {price.shape}."
        )
    if not (np.isfinite(worth).all() and (worth > 0).all()):
        raise UsageError("Values must be finite and above 0; rescale utilities before weighing them by cost.")
    if not (np.isfinite(price).all() and (price >= 0).all()):
        raise UsageError("Costs must be finite and not negative.")
    if math.isnan(budget) or budget < 0:
        raise UsageError(f"The budget must be 0 or more, not {budget}.")
    return worth, price


def _densest_first(values: Floats, costs: Floats) -> Ints:
    # Ties by value and then by position, so that the caller's order of items settles what is left.
    with np.errstate(over="ignore"):
        return np.lexsort((-values, -(values / costs)))


def _best_set(values: Floats, costs: Floats, budget: float, deadline: float) -> tuple[Mask, float]:
    """Return the best set found among items in order of density, and an upper bound on any set's value."""
    prefix = _prefix_that_fits(values, costs, budget)
    changes = _exchanged(prefix, _filled(prefix))
    start = exact_sum(values[: prefix.count])
    if values.max() > start + prefix.gain(changes):
        # With the greedy set, the one item of highest value is worth at least half of the optimum.
        changes = [*range(prefix.count), int(np.argmax(values))]
    gain = prefix.gain(changes)
    bound = min(start + prefix.relaxed_gain, _value_of_most(values, costs, budget))
    if bound - start - gain > _ROUNDING * bound:
        better, most_gain = search(prefix, gain, deadline)
        changes = better or changes
        most_gain = min(most_gain, _most_gain_by_count(prefix, prefix.gain(changes), most_gain))
        bound = min(bound, start + most_gain)
    taken = np.arange(len(values)) < prefix.count
    taken[changes] ^= True
    return taken, bound


def _prefix_that_fits(values: Floats, costs: Floats, budget: float) -> Prefix:
    count = min(int(np.searchsorted(np.cumsum(costs), budget, side="right")), len(costs) - 1)
    step = 1
    while exact_sum(costs[:count]) > budget:
        count, step = max(count - step, 0), 2 * step
    return Prefix(values, costs, budget, count, exact_parts(costs[:count]))


def _filled(prefix: Prefix) -> list[int]:
    """Add to the prefix, densest first, whatever still fits."""
    room = prefix.room
    sure = 2 * prefix.trifle
    fitting = prefix.count + np.flatnonzero(prefix.costs[prefix.count :] <= room)
    added: list[int] = []
    for position, cost in zip(fitting.tolist(), prefix.costs[fitting].tolist(), strict=True):
        # The running subtraction rounds: near to nothing left, the exact sum decides.
        if cost <= room - sure or (cost <= room and prefix.fits([*added, position])):
            room -= cost
            added.append(position)
    return added


def _exchanged(prefix: Prefix, changes: list[int]) -> list[int]:
    """Exchange one item of the set for one outside it, best gain first, as long as that helps and fits.

    Only the items nearest to the border between taken and left are looked at, which keeps a round cheap.
    """
    near = np.argsort(prefix.losses(), kind="stable")[:_EXCHANGED_ITEMS]
    near = near[np.lexsort((near, prefix.costs[near]))]
    for _ in range(_EXCHANGES):
        taken = (near < prefix.count) ^ np.isin(near, changes)
        pair = _best_exchange(prefix, near[taken], near[~taken], prefix.room_after(changes))
        after = sorted(set(changes) ^ set(pair))
        if not pair or not prefix.fits(after):
            break
        changes = after
    return changes


def _best_exchange(prefix: Prefix, inside: Ints, outside: Ints, room: float) -> tuple[int, ...]:
    """Return the item to remove and the item to add (both lists by rising cost), or nothing if none gains."""
    if inside.size == 0 or outside.size == 0:
        return ()
    values, costs = prefix.values, prefix.costs
    reach = np.searchsorted(costs[outside], costs[inside] + room, side="right")
    partner = _running_argmax(values[outside])[np.maximum(reach - 1, 0)]
    gain = np.where(reach > 0, values[outside[partner]] - values[inside], -np.inf)
    best = int(np.argmax(gain))
    if gain[best] <= _ROUNDING * values[inside[best]]:
        return ()
    return int(inside[best]), int(outside[partner[best]])


def _running_argmax(values: Floats) -> Ints:
    top = np.maximum.accumulate(values)
    first = np.r_[True, top[1:] > top[:-1]]
    return np.maximum.accumulate(np.where(first, np.arange(len(values)), 0))


def _most_gain_by_count(prefix: Prefix, gain: float, known: float) -> float:
    """Bound what a set can gain over the prefix from the number of its items, where that is worth while.

    An item whose loss in the relaxation exceeds what is left to gain keeps its side in every better set, so
    only the others are looked at; ``known`` is the bound on the gain so far.
    """
    undecided = np.flatnonzero(prefix.losses() < prefix.relaxed_gain - gain)
    start = exact_sum(prefix.values[: prefix.count])
    if known - gain <= _WORTH_BOUNDING * (start + gain) or undecided.size > _MOST_UNDECIDED:
        return known
    values, costs = prefix.values[undecided], prefix.costs[undecided]
    inside = int(np.searchsorted(undecided, prefix.count))
    room = prefix.room + exact_sum(costs[:inside])
    return max(gain, bound_by_count(values, costs, room, inside) - exact_sum(values[:inside]))


def _value_of_most(values: Floats, costs: Floats, budget: float) -> float:
    """Bound a set by the highest values of as many items as fit at all: tight for equal values or costs."""
    cheapest_first = np.cumsum(np.sort(costs))
    # One rounding error too generous is still a bound; one too strict would not be.
    most = int(np.searchsorted(cheapest_first, budget * (1 + _ROUNDING), side="right"))
    return exact_sum(np.partition(values, -most)[-most:])


def _result(chosen: Mask, values: Floats, costs: Floats, bound: float) -> KnapsackResult:
    value, cost = exact_sum(values[chosen]), exact_sum(costs[chosen])
    proven = bound - value <= _ROUNDING * bound
    bound = value if proven else bound
    gap = 0.0 if proven else (bound - value) / bound
    return KnapsackResult(chosen, value, cost, bound, gap, proven)
