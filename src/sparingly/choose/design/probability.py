"""Inclusion probabilities: under a count or a cost, and how far a pilot supports unequal ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.rng import round_to_range

Spend = Literal["at_most", "on_average"]

# A cost of nothing would ask for infinitely much: it counts as this share of the dearest.
_FREE = 1e-9


def inclusion_probabilities(
    size: Floats,
    n: float | None = None,
    *,
    tau: float,
    floor: float = 0.0,
    cap: float = 1.0,
    costs: Floats | None = None,
    budget: float | None = None,
) -> Floats:
    """Return π_i = min(cap, (1 − τ)·f + τ·κ·s_i/√c_i): a part for everyone, and a part by size.

    s_i is the size, standing for √v_i, the root of the expected squared residual: any utility that is 0 or
    more. f = n/N and Σ_i π_i = n; with costs f = B/Σ_i c_i and Σ_i c_i π_i = B, κ such that both parts add up
    (Neyman 1934; Deville and Tillé 1998 for the cap). Units at the cap stay there and the others are raised
    in proportion; a floor lifts those below it. No unit gets less than (1 − τ)·f, so the variance of a mean
    is at most (1/(1 − τ) − f)/(1 − f) times that of a uniform draw, however bad the sizes are.

    ``budget`` is the expected cost B, in place of the number of units ``n``; with ``n``, sizes are divided by
    the roots of the costs all the same.
    """
    _check_shares(tau, floor, cap)
    shape = _shape(size, tau, costs)
    if (n is None) == (budget is None):
        raise UsageError("Give either the number of units or a budget of costs, not both.")
    if budget is None:
        return _water_fill(shape, np.ones(len(shape)), float(n or 0.0), floor, cap)
    if costs is None:
        raise UsageError("A budget of costs needs the cost of every unit.")
    return _water_fill(shape, np.asarray(costs, np.float64), budget, floor, cap)


def affordable_probabilities(
    size: Floats,
    costs: Floats,
    limit: float,
    *,
    tau: float,
    floor: float = 0.0,
    cap: float = 1.0,
    spend: Spend = "at_most",
    in_order: bool = True,
) -> Floats:
    """Return probabilities of the largest whole number of units that a limit of cost affords.

    With ``at_most`` no draw exceeds the limit, with ``on_average`` their expected cost does not. ``in_order``
    tells how the draw keeps the cost near its expectation, see ``greatest_cost``.
    """
    _check_shares(tau, floor, cap)
    if cap == 1.0 and limit >= costs.sum() * (1.0 - 1e-12):
        return np.ones(len(costs))
    shape, unit_charges, total = _shape(size, tau, costs), np.ones(len(costs)), float(costs.sum())

    def count_at(cost: float) -> int:
        inside = min(max(cost, floor * total), cap * total)
        return int(np.floor(_water_fill(shape, costs, inside, floor, cap).sum() + 1e-9)) if inside > 0 else 0

    def fits(count: int) -> bool:
        chances = _water_fill(shape, unit_charges, float(count), floor, cap)
        cost = costs @ chances if spend == "on_average" else greatest_cost(chances, costs, in_order=in_order)
        return bool(cost <= limit * (1.0 + 1e-9))

    # Surely affordable, and surely not: in between, more units can only cost more.
    fewest = max(1, int(np.ceil(floor * len(costs) - 1e-9)))
    low = max(fewest, count_at(limit - float(np.ptp(costs))))
    high = max(low, count_at(limit)) + 1
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if fits(middle) else (low, middle)
    if low > fewest or fits(low):
        return _water_fill(shape, unit_charges, float(low), floor, cap)
    if floor > 0.0:
        raise UsageError(
            f"The budget of {limit:g} is too small for the floor {floor:g} of the probabilities: lower it."
        )
    if spend == "on_average":
        raise UsageError(f"The budget of {limit:g} is less than one unit costs on average.")
    raise UsageError(
        f"The most expensive unit costs {costs.max():g}, more than the budget of {limit:g}, and a draw "
        "gives every "
        "unit a positive probability. Raise the budget, put expensive units on the never-select list, or "
        "let the budget hold on average only: spend=on_average."
    )


def greatest_cost(chances: Floats, costs: Floats, *, in_order: bool) -> float:
    """Return the most that a draw of Σ π units can cost.

    Along a list with the dearest first (``in_order``), the first k units give at most ⌈V_k⌉, V the running
    sum of π: so the m-th unit is no dearer than the first one at which V exceeds m − 1. A draw that keeps the
    expected cost until two units are left is off by at most what two costs differ by.
    """
    total = float(chances.sum())
    if in_order:
        order = np.argsort(-costs, kind="stable")
        cumulative = np.cumsum(chances[order])
        places = np.searchsorted(cumulative, np.arange(np.ceil(total - 1e-6)) + 1e-9, side="right")
        return float(costs[order][np.minimum(places, len(costs) - 1)].sum())
    loose = costs[chances < 1.0 - 1e-9]
    certain = float(costs[chances >= 1.0 - 1e-9].sum())
    dearest = certain + float(np.sort(loose)[::-1][: round(total) - (len(costs) - len(loose))].sum())
    return min(dearest, float(costs @ chances) + (float(np.ptp(loose)) if len(loose) else 0.0))


def sizes_of(utility: Floats) -> Floats:
    """Return utilities as sizes: moved up to 0 where some are below it, with the mean where there is none.

    They lose their last bits, which differ between machines.
    """
    finite = utility[~np.isnan(utility)]
    if not len(finite):
        raise DataError(
            "The utility is missing everywhere, so it cannot say what is more likely to be drawn."
        )
    if np.isinf(finite).any():
        raise DataError(
            "The utility is infinite somewhere, so it cannot say what is more likely to be drawn."
        )
    low, spread = float(finite.min()), float(np.ptp(finite))
    if spread == 0.0:
        return np.ones(len(utility))
    above = round_to_range(utility) * 1e-9 * spread
    sizes = above if low < 0.0 else above + low
    return np.where(np.isnan(sizes), np.nanmean(sizes), sizes)


def _check_shares(tau: float, floor: float, cap: float) -> None:
    if not 0.0 <= tau <= 1.0:
        raise UsageError(f"tau is a share from 0 (equal probabilities) to 1 (utility alone), not {tau:g}.")
    if not 0.0 <= floor <= cap <= 1.0 or cap == 0.0:
        raise UsageError(
            f"Floor and cap of inclusion probabilities lie between 0 and 1, the floor at most at the cap; "
            f"they are {floor:g} and {cap:g}."
        )


def _shape(size: Floats, tau: float, costs: Floats | None) -> Floats:
    """Return what the probabilities are proportional to before caps and floors, 1 for a uniform draw."""
    sizes = np.asarray(size, np.float64)
    if not (np.isfinite(sizes) & (sizes >= 0.0)).all():
        raise UsageError("Sizes are finite numbers, 0 or more.")
    if costs is None:
        weights, root = np.ones(len(sizes)), np.ones(len(sizes))
    else:
        weights = np.asarray(costs, np.float64)
        if not (np.isfinite(weights) & (weights >= 0.0)).all() or not weights.sum() > 0.0:
            raise UsageError("Costs are finite numbers, 0 or more, and not all of them are 0.")
        root = np.sqrt(np.maximum(weights, _FREE * weights.max()))
    # Scaled first, so that very small and very large sizes neither vanish nor overflow.
    scaled = sizes / (sizes.max(initial=0.0) or 1.0)
    spent = float((weights * scaled / root).sum())
    if spent == 0.0:
        return np.ones(len(sizes))
    return np.asarray((1.0 - tau) + tau * scaled / root * float(weights.sum()) / spent)


def _water_fill(shape: Floats, weights: Floats, total: float, floor: float, cap: float) -> Floats:
    """Return π = min(cap, max(floor, t·shape)) with t such that Σ weight·π is the total."""
    if floor == 0.0 and (shape == 0.0).any():
        raise UsageError(
            f"{int((shape == 0.0).sum())} of {len(shape)} units would never be drawn, and nothing could be "
            "said of them: lower tau, or give a floor."
        )
    low, high = floor * float(weights.sum()), cap * float(weights[shape > 0].sum())
    high += floor * float(weights[shape == 0].sum())
    if not low - 1e-9 <= total <= high * (1 + 1e-12) or total <= 0.0:
        raise UsageError(
            f"A budget of {total:g} cannot be met: with the floor {floor:g} and the cap {cap:g} of the "
            f"inclusion probabilities it lies between {low:g} and {high:g}."
        )
    chances = np.clip(_level(shape, weights, total, floor, cap) * shape, floor, cap)
    # Running sums are off in their last digits: what is missing goes to the probabilities in between.
    inner = (chances > floor) & (chances < cap)
    inner_total = float((weights * chances)[inner].sum())
    missing = total - float((weights * chances).sum())
    if inner_total <= 0.0 or abs(missing) <= 1e-14 * total:
        return chances
    chances[inner] *= 1.0 + missing / inner_total
    return np.clip(chances, floor, cap)


def _level(shape: Floats, weights: Floats, total: float, floor: float, cap: float) -> float:
    """Return t at which Σ weight·min(cap, max(floor, t·shape)), a broken line in t, reaches the total."""
    positive = shape > 0.0
    rising = (weights * shape)[positive]
    bends = np.concatenate([floor / shape[positive], cap / shape[positive]])
    order = np.argsort(bends, kind="stable")
    bends, slopes = bends[order], np.cumsum(np.concatenate([rising, -rising])[order])
    heights = np.cumsum(np.maximum(slopes[:-1], 0.0) * np.diff(bends)) + floor * float(weights.sum())
    place = int(np.searchsorted(heights, total))
    if place >= len(heights) or slopes[place] <= 0.0:
        return float(bends[place])
    below = floor * float(weights.sum()) if place == 0 else float(heights[place - 1])
    return float(bends[place] + (total - below) / slopes[place])


# --- whether a pilot supports unequal probabilities, and how unequal ---
# The variance of a mean goes with Σ e²/π. On a pilot it is estimated for any design by Σ_pilot
# e²/(π_pilot·π), so designs can be compared before they are used (Neyman 1934 for the best π). A pilot is
# small and its residuals are noisy: τ above 0 is taken only where it is clearly better than equal
# probabilities.


TAUS = tuple(step / 10 for step in range(9))
# Judged items that a pilot needs, and the correlation across the models of an item that predictions need.
FEWEST, MIN_CORRELATION = 40, 0.3
# What must be saved at least, and how sure of saving anything one must be.
_WORTH, _SURE = 0.95, 1.64


def remaining_variance(squares: Floats, size: Floats, tau: float) -> tuple[float, float]:
    """Return the share of the variance that a τ leaves on a pilot, and its standard error.

    Σ e²/(π_pilot·π(τ)) over that with equal probabilities, π(τ) ∝ 1 − τ + τ·s. ``squares`` are the squared
    residuals of the judged items over the pilot's probabilities, ``size`` their sizes as shares of the mean
    size of all items.
    """
    ratio = 1.0 / (1.0 - tau + tau * size)
    total = float(squares.sum())
    share = float((squares * ratio).sum()) / total
    return share, float(np.sqrt((squares**2 * (ratio - share) ** 2).sum())) / total


@dataclass(frozen=True, eq=False)
class PilotEvidence:
    """What a pilot says of unequal probabilities; see ``remaining_variance`` for squares and sizes."""

    tau: float  # the share by size that the pilot supports; 0 where none is
    judged: int  # items
    correlation: float  # cross-fitted, of prediction and score across the models of an item
    best: float  # the τ that leaves least of the variance, supported or not
    squares: Floats
    size: Floats

    def note(self, tau: float, pilot: str) -> str:
        """Say why a draw has its τ; ``pilot`` says how the judged items were drawn."""
        if self.judged < FEWEST:
            too_few = f"{self.judged} judged items, not {FEWEST}"
            return f"the pilot is too small to earn unequal probabilities: {too_few}."
        if tau or self.tau:
            how = "is what the pilot earned" if tau == self.tau else "was given"
            judged, text = f"{self.judged} judged items, {pilot}", self._variance_text(tau)
            return f"tau {tau:g} {how}: on {judged}, it leaves {text} of the variance."
        if self.correlation < MIN_CORRELATION:
            why = (
                f"within items, predictions and scores correlate by {self.correlation:.2f} only, "
                f"not {MIN_CORRELATION}"
            )
        elif self.best == 0.0:
            why = "by this utility, none leaves less of the variance"
        else:
            why = f"at best (tau {self.best:g}) they leave {self._variance_text(self.best)} of the variance"
        return f"the pilot of {self.judged} judged items earns no unequal probabilities: {why}."

    def _variance_text(self, tau: float) -> str:
        if not self.squares.any():
            return "all"
        share, error = remaining_variance(self.squares, self.size, tau)
        return f"{share:.0%} ± {error:.0%}"


def tau_from_pilot(squares: Floats, size: Floats, correlation: float) -> PilotEvidence:
    """Return the τ that leaves least of the variance on a pilot, 0 where it is not clearly better.

    See ``remaining_variance`` for the arguments; ``correlation`` is that within items.
    """
    shares = (
        {tau: remaining_variance(squares, size, tau) for tau in TAUS} if squares.any() else {0.0: (1.0, 0.0)}
    )
    best = min(shares, key=lambda tau: shares[tau][0])
    share, error = shares[best]
    is_supported = (
        len(squares) >= FEWEST
        and correlation >= MIN_CORRELATION
        and share <= _WORTH
        and share + _SURE * error < 1.0
    )
    return PilotEvidence(best if is_supported else 0.0, len(squares), correlation, best, squares, size)
