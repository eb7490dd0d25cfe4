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
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.choose.design.knapsack_core import Prefix, exact_parts, exact_sum, search
from sparingly.choose.design.knapsack_count import bound_by_count

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
