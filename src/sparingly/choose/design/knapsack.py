"""A good set of items that fits a budget of cost, and a bound on the best one: the 0-1 knapsack problem.

maximise Σ v_i x_i   subject to   Σ c_i x_i ≤ B,   x_i ∈ {0, 1}      (Zouhar et al. 2025, eq. 2)

Items are taken by density v/c, densest first, whatever still fits; then single items are exchanged as long as
that helps. With λ the density of the first item that does not fit, the value of those before it plus λ times
the room that they leave is the optimum of the linear relaxation (Dantzig 1957), which bounds every set. The
set falls short of it by less than one item, so by little where items are many.

No draw, no clock and no solver enters the result: the same numbers in the same order give the same set on
every machine.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError

_ROUNDING = 1e-12
_MOST_EXCHANGES, _NEAR_BORDER = 64, 10_000
# With no more items than this, sets that start from each of them are tried, too.
_FEW_ITEMS = 100


@dataclass(frozen=True)
class KnapsackResult:
    """A set that fits its budget, and how far it can be from the best one."""

    chosen: Mask
    value: float
    cost: float  # correctly rounded, at most the budget
    bound: float  # no set that fits has a higher value


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


def solve(values: ArrayLike, costs: ArrayLike, budget: float) -> KnapsackResult:
    """Choose a set of high value whose cost fits the budget.

    A set fits when the correctly rounded sum of its costs (``math.fsum``) is at most the budget; a budget
    that a set spends exactly is fine. Items without cost are always taken. Items that cost more than the
    budget never are, and if that is every item, the set is empty. Values are above 0 (see ``rescale``).
    """
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
    chosen = price == 0
    affordable = np.flatnonzero((price > 0) & (price <= budget))
    with np.errstate(over="ignore"):
        density = worth[affordable] / price[affordable]
    # Ties by value and then by position, so that the caller's order of items decides between equal ones.
    ranked = affordable[np.lexsort((-worth[affordable], -density))]
    free, inside = math.fsum(worth[chosen]), (worth[ranked], price[ranked])
    chosen[ranked[_best_set(*inside, budget)]] = True
    value = math.fsum(worth[chosen])
    bound = max(value, free + _upper_bound(*inside, budget))
    return KnapsackResult(chosen, value, math.fsum(price[chosen]), bound)


def _best_set(values: Floats, costs: Floats, budget: float) -> Ints:
    """Return the positions of a good set, the items given densest first."""
    order = np.arange(len(values))
    best = _greedy(order, costs, budget)
    if len(best) == len(values):
        return best
    # Greedy or the one item of highest value: the better is worth at least half of the optimum.
    firsts = order if len(order) <= _FEW_ITEMS else order[[int(np.argmax(values))]]
    starts = [best, *(_greedy(np.r_[first, np.delete(order, first)], costs, budget) for first in firsts)]
    improved = [_exchange(start, values, costs, budget) for start in starts]
    worth = np.array([math.fsum(values[solution]) for solution in improved])
    # The first of those that are best up to rounding.
    return improved[int(np.argmax(worth >= worth.max() * (1 - _ROUNDING)))]


def _greedy(order: Ints, costs: Floats, budget: float) -> Ints:
    """Take, in the given order, every item that still fits."""
    chosen, slack = order[:0], _ROUNDING * budget
    while len(order):
        room = budget - math.fsum(costs[chosen])
        order = order[costs[order] <= room + slack]
        count = int(np.searchsorted(np.cumsum(costs[order]), room + slack, side="right"))
        # Running sums round: the exact sum decides whether the last of them fits.
        while count and math.fsum([*costs[chosen], *costs[order[:count]]]) > budget:
            count -= 1
        chosen, order = np.r_[chosen, order[:count]], order[count + 1 :]
    return chosen


def _exchange(chosen: Ints, values: Floats, costs: Floats, budget: float) -> Ints:
    """Exchange one item of the set for one outside it, the best first, as long as that adds value.

    Only items near the border are looked at, which keeps a step cheap.
    """
    border = int(np.searchsorted(np.cumsum(costs), budget))
    near = np.arange(len(values))[max(0, border - _NEAR_BORDER) : border + _NEAR_BORDER]
    near = near[np.argsort(costs[near], kind="stable")]
    for _ in range(_MOST_EXCHANGES):
        mask = np.zeros(len(values), bool)
        mask[chosen] = True
        inside, outside = near[mask[near]], near[~mask[near]]
        if not (len(inside) and len(outside)):
            break
        room = budget * (1 - _ROUNDING) - math.fsum(costs[chosen])
        # The best item outside that costs at most so much, for every such cost.
        record = np.maximum.accumulate(values[outside])
        reach = np.searchsorted(costs[outside], costs[inside] + room, side="right") - 1
        gains = np.where(reach >= 0, record[reach] - values[inside], -np.inf)
        best = int(np.argmax(gains))
        if gains[best] <= _ROUNDING * values[inside[best]]:
            break
        mask[inside[best]] = False
        mask[outside[np.searchsorted(record, record[reach[best]])]] = True
        chosen = _greedy(np.r_[np.flatnonzero(mask), np.flatnonzero(~mask)], costs, budget)
    return chosen


def _upper_bound(values: Floats, costs: Floats, budget: float) -> float:
    """Bound the value of any set that fits, the items given densest first."""
    spent = np.cumsum(costs)
    count = int(np.searchsorted(spent, budget * (1 + _ROUNDING), side="right"))
    if count == len(values):
        return math.fsum(values)
    room = max(0.0, budget - (spent[count - 1] if count else 0.0))
    relaxed = math.fsum(values[:count]) + room * float(values[count] / costs[count])
    # Nor is any set worth more than the highest values of as many items as fit at all.
    count_that_fits = int(np.searchsorted(np.cumsum(np.sort(costs)), budget * (1 + _ROUNDING), side="right"))
    return float(min(relaxed * (1 + _ROUNDING), math.fsum(np.sort(values)[len(values) - count_that_fits :])))
