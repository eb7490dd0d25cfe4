"""A bound on the value of a knapsack from the number of items in it.

Where values follow costs closely (a utility that grows with length, and costs that do too), the linear
relaxation is far above every real set, because it takes a fraction of an item. But a set holds a whole
number of items: either at most k or at least k + 1, k being the size of the relaxation's prefix. Each half
is bounded by its Lagrangian relaxation,

at most k:      min over μ ≥ 0 of   μk + R(v − μ)
at least k + 1: min over μ ≥ 0 of  −μ(k + 1) + R(v + μ)

with R the fractional knapsack's value (Martello and Toth 1997 bound strongly correlated problems likewise).
Every μ gives a valid bound, so the minimum need not be found exactly.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats

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
