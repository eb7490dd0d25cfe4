"""Intervals around scores and differences, and what the guard makes of them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.errors import UsageError, listing
from sparingly.base.levels import check_level
from sparingly.infer.estimate import guard
from sparingly.infer.estimate.bootstrap import skewness, studentised_quantiles
from sparingly.infer.estimate.guard import BETTING, BOOTSTRAP, NONE, Outcome, T
from sparingly.infer.estimate.sample import Floats, Mask, Rows

Interval = Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"]
EXACT = "exact"
Bounded = Callable[[str], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Spread:
    """What intervals are made of, for scores or for differences.

    Attributes:
        names: What every number is of.
        centre: The scores or differences.
        errors: Their standard errors.
        shape: units × numbers: what every unit contributes.
        stratum: One code per unit.
        units: The number of units that errors are learned from.
        freedom: Degrees of freedom.
        whole: Whether nothing is left to chance.
        drawn: What the units are, in words.
    """

    names: Sequence[str]
    centre: Floats
    errors: Floats
    shape: Floats
    stratum: Rows
    units: float
    freedom: float
    whole: bool
    drawn: str = "drawn units"


@dataclass(frozen=True, eq=False)
class Intervals:
    """Low and high ends (NaN where withheld), the kind of each interval, and what was done to them."""

    low: Floats
    high: Floats
    kinds: tuple[str, ...]
    outcome: Outcome
    notes: tuple[str, ...] = ()


def find_intervals(
    spread: Spread, level: float, interval: Interval, seed: int, bounded: Bounded | None = None
) -> Intervals:
    """Return intervals of one level: the named ones, or (``auto``) those that the guard lets through.

    Args:
        spread: What the intervals are of.
        level: How often they are to hold the truth.
        interval: ``auto``, or one kind for all.
        seed: The seed of the bootstrap.
        bounded: Returns an interval of a kind that assumes only the scale; None where there is none.
    """
    check_level(level)
    if spread.whole:
        # A model that nobody judged has no score.
        kinds = tuple(NONE if np.isnan(score) else EXACT for score in spread.centre)
        outcome = Outcome(printed=kinds.count(EXACT), withheld=kinds.count(NONE))
        return Intervals(spread.centre, spread.centre, kinds, outcome)
    if interval == "auto":
        return _guarded(spread, level, seed, bounded)
    if interval == NONE:
        return _withheld(len(spread.centre))
    if interval in (T, BOOTSTRAP):
        return _asked(spread, level, interval, seed)
    if bounded is None:
        raise UsageError(
            f"A {interval} interval needs scale=(lowest, highest), and holds for the plain mean of a uniform "
            "sample of single items only."
        )
    low, high = bounded(interval)
    return Intervals(low, high, (interval,) * len(low), Outcome(printed=len(low)))


def t_interval(spread: Spread, level: float) -> tuple[Floats, Floats]:
    """Return μ̂ ± t·se with the quantile of Student's distribution at the degrees of freedom."""
    half = student(level, spread.freedom) * spread.errors
    return spread.centre - half, spread.centre + half


def student(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's distribution; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2.0)) if freedom > 0 else float("nan")


def bootstrap_interval(
    spread: Spread, level: float, seed: int, factor: Floats | float = 1.0, wanted: Mask | None = None
) -> tuple[Floats, Floats]:
    """Return [μ̂ − t*_high·se, μ̂ − t*_low·se], each half widened by a factor; NaN where not wanted."""
    count = len(spread.centre)
    columns = np.arange(count) if wanted is None else np.flatnonzero(wanted)
    low, high = np.full(count, np.nan), np.full(count, np.nan)
    if len(columns) and len(spread.shape):
        start, end = studentised_quantiles(spread.shape[:, columns], spread.stratum, level, seed)
        error = (factor * spread.errors)[columns]
        low[columns] = spread.centre[columns] - end * error
        high[columns] = spread.centre[columns] - start * error
    return low, high


def _asked(spread: Spread, level: float, interval: str, seed: int) -> Intervals:
    """Return intervals of one kind for all, with a note on those that the guard would not print."""
    low, high = t_interval(spread, level) if interval == T else bootstrap_interval(spread, level, seed)
    held = np.isfinite(low) & np.isfinite(high)
    low, high = np.where(held, low, np.nan), np.where(held, high, np.nan)
    skew = skewness(spread.shape)
    good = guard.supports_t(spread.units, skew)
    if interval == BOOTSTRAP:
        good = guard.widening(spread.units, skew) == 1.0
    doubtful = [name for name, well in zip(spread.names, good, strict=True) if not well]
    few = f"{spread.units:g} {spread.drawn}"
    said = f"{interval} intervals may be too narrow with {few}: {listing(doubtful, 3)}."
    notes = (said,) if doubtful else ()
    kinds = tuple(interval if there else NONE for there in held)
    return Intervals(low, high, kinds, Outcome(int(held.sum()), withheld=int((~held).sum())), notes)


def _withheld(count: int) -> Intervals:
    nothing = np.full(count, np.nan)
    return Intervals(nothing, nothing, (NONE,) * count, Outcome(withheld=count))


def _guarded(spread: Spread, level: float, seed: int, bounded: Bounded | None) -> Intervals:
    """Return t where it holds, else the bootstrap, else what assumes only the scale, else nothing."""
    skew = skewness(spread.shape)
    plain = guard.supports_t(spread.units, skew) & (spread.errors > 0)
    factor = guard.widening(spread.units, skew)
    low, high = t_interval(spread, level)
    again = ~plain & (spread.errors > 0) & np.isfinite(factor)
    if again.any():
        # Student's interval is too short on the side of a long tail, the bootstrap's with few units that
        # differ: what either holds is kept.
        wide = bootstrap_interval(spread, level, seed, factor, again)
        low = np.where(plain, low, np.minimum(low, wide[0]))
        high = np.where(plain, high, np.maximum(high, wide[1]))
    again &= np.isfinite(low) & np.isfinite(high)
    lost = ~plain & ~again
    if bounded is not None and lost.any():
        instead = bounded(BETTING)
        low, high = np.where(lost, instead[0], low), np.where(lost, instead[1], high)
    low, high = (np.where(lost & (bounded is None), np.nan, end) for end in (low, high))
    rest = NONE if bounded is None else BETTING
    kinds = tuple(T if one else BOOTSTRAP if other else rest for one, other in zip(plain, again, strict=True))
    wider = again & (factor > 1.0)
    outcome = Outcome(
        printed=int(plain.sum() + again.sum() - wider.sum()),
        widened=int(wider.sum()),
        replaced=0 if bounded is None else int(lost.sum()),
        withheld=int(lost.sum()) if bounded is None else 0,
    )
    notes = (*_widened_notes(spread, factor[wider]), *_lost_notes(spread, lost, bounded is None))
    return Intervals(low, high, kinds, outcome, notes)


def _widened_notes(spread: Spread, factor: Floats) -> tuple[str, ...]:
    """Say how many intervals were widened, and by how much."""
    if not len(factor):
        return ()
    least, most = (f"{end - 1:.0%}" for end in (factor.min(), factor.max()))
    much = least if least == most else f"{least} to {most}"
    what = "1 interval is" if len(factor) == 1 else f"{len(factor)} intervals are"
    return (f"with {spread.units:g} {spread.drawn}, {what} widened by {much}.",)


def _lost_notes(spread: Spread, lost: Mask, withheld: bool) -> tuple[str, ...]:
    """Say which intervals were replaced or withheld, and why."""
    notes = []
    for same in (True, False):
        names = [
            name
            for name, gone, error in zip(spread.names, lost, spread.errors, strict=True)
            if gone and (error == 0) == same
        ]
        if names:
            what = "no interval" if withheld else "an interval from the scale alone"
            why = guard.why_withheld(spread.units, spread.drawn, not same)
            notes.append(f"{what} for {listing(names, 3)}: {why}.")
    return tuple(notes)
