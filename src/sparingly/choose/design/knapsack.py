"""The best set of items that fits a budget of cost, and a bound on it: the 0-1 knapsack problem.

maximise Σ v_i x_i   subject to   Σ c_i x_i ≤ B,   x_i ∈ {0, 1}      (Zouhar et al. 2025, eq. 2)

Items are taken by density v/c, densest first, until one does not fit. The best set differs from that one by
few items, all close to this border. So changes are listed from the border outwards, one item more at a time
(take the next one outside, or leave out the next one inside), and only those stay that no other change beats
in both value and cost (Nemhauser and Ullmann 1969; Pisinger 1997). A change that cannot lead to anything
better is dropped: room is worth at most the density of the next item outside, and what is spent too much is
won back at no less than the density of the next item inside (Dantzig 1957). The highest value that a dropped
change could have led to bounds every set.

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
# A change is dropped, too, when it could add less than this share of the value.
_TOLERANCE = 1e-6
# Where thousands of items are alike the search ends here, and the bound says what may be missing.
_MOST_STEPS, _MOST_CHANGES, _MOST_EXCHANGES = 400, 3_000, 64


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
    best, bound = _best_set(*inside, budget)
    chosen[ranked[best]] = True
    value = math.fsum(worth[chosen])
    return KnapsackResult(chosen, value, math.fsum(price[chosen]), max(value, free + bound))


def _best_set(values: Floats, costs: Floats, budget: float) -> tuple[Ints, float]:
    """Return the positions of the best set, the items given densest first, and a bound on its value."""
    best = _greedy(np.arange(len(values)), costs, budget)
    if len(best) == len(values):
        return best, math.fsum(values)
    # Greedy or the one item of highest value: the better is worth at least half of the optimum.
    best = max(best, np.array([np.argmax(values)]), key=lambda chosen: math.fsum(values[chosen]))
    best = _exchange(best, values, costs, budget)
    worth = math.fsum(values[best])
    # No set is worth more than the highest values of as many items as fit at all.
    largest_count = int(np.searchsorted(np.cumsum(np.sort(costs)), budget * (1 + _ROUNDING), side="right"))
    bound = math.fsum(np.sort(values)[len(values) - largest_count :])
    border = int(np.searchsorted(np.cumsum(costs), budget, side="right"))
    start, room = math.fsum(values[:border]), budget - math.fsum(costs[:border])
    with np.errstate(over="ignore"):
        density = np.minimum(np.r_[math.inf, values / costs, 0.0], np.finfo(np.float64).max)
    # What every change adds to value and cost, cheapest first, what it can lead to, and where it comes from.
    gains, prices, reach, steps = np.zeros(1), np.zeros(1), np.full(1, math.inf), list[tuple[int, Ints]]()
    inside, outside, missed = border - 1, border, 0.0
    while len(reach) and len(steps) < _MOST_STEPS and worth * (1 + _ROUNDING) < bound:
        inwards = inside >= 0 and (len(steps) % 2 == 1 or outside == len(values))
        item, sign = (inside, -1.0) if inwards else (outside, 1.0)
        inside, outside = inside - inwards, outside + (not inwards)
        gains = np.r_[gains, gains + sign * values[item]]
        prices = np.r_[prices, prices + sign * costs[item]]
        frontier = np.lexsort((-gains, prices))
        record = np.maximum.accumulate(gains[frontier])
        frontier = frontier[np.r_[True, record[1:] > record[:-1]]]
        gains, prices = gains[frontier], prices[frontier]
        steps.append((item, frontier))
        # The dearest change that fits is the best; whether it does is for the exact sum to say.
        last = int(np.searchsorted(prices, room + _ROUNDING * budget, side="right")) - 1
        while last >= 0 and start + gains[last] > worth * (1 + _ROUNDING):
            changed = _trace(border, steps, last)
            if math.fsum(costs[changed]) <= budget:
                best, worth = changed, math.fsum(values[changed])
            last -= 1
        gap = room - prices
        with np.errstate(over="ignore"):
            reach = start + gains + np.minimum(gap * density[inside + 1], gap * density[outside + 1])
        alive = np.flatnonzero(reach > worth * (1 + _TOLERANCE))
        alive = np.sort(alive[np.argsort(-reach[alive], kind="stable")[:_MOST_CHANGES]])
        missed = max(missed, np.delete(reach, alive).max(initial=0.0))
        gains, prices, reach, steps[-1] = gains[alive], prices[alive], reach[alive], (item, frontier[alive])
    return best, min(bound, max(worth, missed, reach.max(initial=0.0)) * (1 + _ROUNDING))


def _trace(border: int, steps: list[tuple[int, Ints]], position: int) -> Ints:
    """Return the items before the border with those exchanged that led to a change."""
    exchanged = []
    for number in range(len(steps) - 1, -1, -1):
        item, origins = steps[number]
        position = int(origins[position])
        count = len(steps[number - 1][1]) if number else 1
        if position >= count:
            exchanged.append(item)
            position -= count
    return np.setxor1d(np.arange(border), np.array(exchanged, int))


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

    This finds what lies far from the border, as where values are costs and a little more.
    """
    mask = np.isin(np.arange(len(values)), chosen)
    by_cost = np.argsort(costs, kind="stable")
    for _ in range(_MOST_EXCHANGES):
        inside, outside = by_cost[mask[by_cost]], by_cost[~mask[by_cost]]
        room = budget * (1 - _ROUNDING) - math.fsum(costs[mask])
        # The best item outside that costs at most so much, for every such cost.
        record = np.maximum.accumulate(values[outside])
        reach = np.searchsorted(costs[outside], costs[inside] + room, side="right") - 1
        gains = np.where(reach >= 0, record[reach] - values[inside], -np.inf)
        best = int(np.argmax(gains))
        if gains[best] <= _ROUNDING * values[inside[best]]:
            break
        mask[inside[best]] = False
        mask[outside[np.searchsorted(record, record[reach[best]])]] = True
    return np.flatnonzero(mask)
