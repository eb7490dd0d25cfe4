"""Intervals around scores and differences: from the sample, from proportions, from the scale, or none."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError, listing
from sparingly.base.levels import check_level
from sparingly.infer.estimate.tails import Reach, Tails, reach_of

# --- when an interval may be printed ---
# The limits come from simulation (``benchmarks/default_coverage.py``): from 10 units on, intervals with
# corrected tails (``tails``) hold the truth in 94 % of draws or more, where three models or more tell what
# rare judgements are like. With fewer models a side on which a few units lie far out is not printed below
# 30 units.


# How to say which scores there can be.
SCALE_HINT = "the scale of the scores (--scale LOW,HIGH)"
# Fewer units teach no error; from ENOUGH on both sides are printed, however few models there are.
FEWEST_UNITS, ENOUGH_UNITS = 10, 30
FEW_MODELS, MOST_SKEW = 2, 0.4
T, BOOTSTRAP, BETTING, NONE = "t", "bootstrap", "betting", "none"
EXACT, BOUND, PROPORTION = "exact", "bound", "proportion"


@dataclass(frozen=True)
class IntervalOutcome:
    """How many intervals were printed, and what became of the others.

    Attributes:
        printed: Intervals with both ends.
        bounds: Intervals with one end, because the data do not support the other.
        withheld: Scores without an interval.
        fallen_back: Scores that fell back to the weighted mean.
    """

    printed: int = 0
    bounds: int = 0
    withheld: int = 0
    fallen_back: int = 0

    @property
    def total(self) -> int:
        """The number of scores."""
        return self.printed + self.bounds + self.withheld

    def shares(self) -> dict[str, float]:
        """Return every number as a share of the scores."""
        return {name: value / max(self.total, 1) for name, value in vars(self).items()}

    def __str__(self) -> str:
        """Return the outcome in one line."""
        parts = ", ".join(f"{value} {name.replace('_', ' ')}" for name, value in vars(self).items() if value)
        return f"intervals: {parts or 'none'}"


def why_withheld(units: float, unit_name: str) -> str:
    """Say why scores have no interval; ``drawn`` says what the units are."""
    if units < FEWEST_UNITS:
        count = math.floor(units)
        subject = f"1 {unit_name.removesuffix('s')} is" if count == 1 else f"{count} {unit_name} are"
        return f"{subject} too few to learn an error from, {FEWEST_UNITS} are needed"
    return f"all judgements are the same, and further ones may not be; {SCALE_HINT} would give one"


# --- the rescaled bootstrap ---


DRAWS = 1999
# So many numbers are held at once.
_BLOCK = 2_000_000


def studentised_quantiles(
    shape: Floats, stratum: Ints, level: float, seed: int, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """Return the low and the high quantile of t* = T*/√V* for every column of units × columns.

    Units are drawn again with replacement within their strata, T* is the sum of their deviations and V* its
    variance from the same draw. The deviations carry √(1 − π), the finite-population factor, so that T* has
    the variance of the actual draw (Rao and Wu 1988). Studentising corrects for skewness: the interval
    [μ̂ − t*_high·se, μ̂ − t*_low·se] leans towards the long tail. Infinite where too few units differ.
    """
    generator = rng.generator(seed, "bootstrap")
    groups = [np.flatnonzero(stratum == code) for code in np.unique(stratum)]
    low, high = np.empty(shape.shape[1]), np.empty(shape.shape[1])
    seeds = [int(part) for part in generator.integers(0, 2**62, len(groups))]
    width = max(1, _BLOCK // draws)
    for start in range(0, shape.shape[1], width):
        columns = slice(start, start + width)
        low[columns], high[columns] = _quantiles(shape[:, columns], groups, seeds, level, draws)
    return low, high


def _quantiles(
    shape: Floats, groups: list[Ints], seeds: list[int], level: float, draws: int
) -> tuple[Floats, Floats]:
    total, variance = np.zeros((draws, shape.shape[1])), np.zeros((draws, shape.shape[1]))
    for rows, seed in zip(groups, seeds, strict=True):
        _add_stratum(total, variance, shape[rows] - shape[rows].mean(axis=0), seed)
    # A draw in which no two units differ tells nothing of its own error.
    flat = variance <= 1e-12 * (shape**2).sum(axis=0)
    still = np.abs(total) <= 1e-9 * np.sqrt((shape**2).sum(axis=0))
    root = np.sqrt(np.where(flat, 1.0, variance))
    ratio = np.where(flat, np.where(still, 0.0, np.copysign(np.inf, total)), total / root)
    ratio.sort(axis=0)
    place = max(int((1.0 - level) / 2.0 * (draws + 1)), 1)
    return ratio[place - 1], ratio[draws - place]


def _add_stratum(total: Floats, variance: Floats, deviation: Floats, seed: int) -> None:
    """Add what the draws of one stratum give to the sums and their variances."""
    count = len(deviation)
    if count < 2:
        return
    generator = np.random.Generator(np.random.PCG64(seed))
    squared = deviation**2
    step = max(1, _BLOCK // count)
    for start in range(0, len(total), step):
        block = slice(start, min(start + step, len(total)))
        counts = generator.multinomial(count, np.full(count, 1.0 / count), size=block.stop - start)
        times = counts.astype(np.float64)
        sums = times @ deviation
        total[block] += sums
        variance[block] += (times @ squared - sums**2 / count) * (count / (count - 1.0))


def skewness(shape: Floats) -> Floats:
    """Return the skewness of every column of units × columns; NaN where all units are the same.

    G₁ = √(n(n−1))/(n−2) · (Σd³/n)/(Σd²/n)^{3/2} with d from the columns' means.
    """
    count = len(shape)
    if count < 3:
        return np.full(shape.shape[1], np.nan)
    deviation = shape - shape.mean(axis=0)
    second = (deviation**2).mean(axis=0)
    third = (deviation**3).mean(axis=0)
    spread = second > 1e-18 * np.maximum((shape**2).mean(axis=0), 1e-300)
    ratio = np.divide(third, second**1.5, out=np.full(len(second), np.nan), where=spread & (second > 0))
    return np.asarray(ratio * np.sqrt(count * (count - 1.0)) / (count - 2.0))


# --- intervals ---


Interval = Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"]
BoundedInterval = Callable[[str], tuple[Floats, Floats]]
# Low and high ends at a level, of scores that are proportions.
ProportionInterval = Callable[[float], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class IntervalBasis:
    """What intervals are made of, for scores or for differences.

    Attributes:
        names: What every number is of.
        centre: The scores or differences.
        errors: Their standard errors.
        shape: units × numbers: what every unit contributes.
        counts: The number of units behind every number.
        tails: What single judgements are like over all models.
        stratum: One code per unit.
        units: The number of units that errors are learned from.
        freedom: Degrees of freedom.
        complete: Whether nothing is left to chance.
        unit_name: What the units are, in words.
        scale: The lowest and the highest value that there can be; None where it is not known.
        proportions: Returns intervals of proportions; None where scores are no proportions.
        exact: Which numbers are known without error, where not all are.
        supported: Whether it is known what was not seen on either side, so that no side is withheld.
    """

    names: Sequence[str]
    centre: Floats
    errors: Floats
    shape: Floats
    counts: Floats
    tails: Tails
    stratum: Ints
    units: float
    freedom: float
    complete: bool
    unit_name: str = "drawn units"
    scale: tuple[float, float] | None = None
    proportions: ProportionInterval | None = None
    exact: Mask | None = None
    supported: bool = False

    @property
    def reach(self) -> Reach:
        """What the ends of intervals are made of."""
        return reach_of(self.errors, self.shape, self.counts, self.freedom, self.tails)


@dataclass(frozen=True, eq=False)
class IntervalSet:
    """Low and high ends (NaN where withheld), the kind of each interval, and what was done to them."""

    low: Floats
    high: Floats
    kinds: tuple[str, ...]
    outcome: IntervalOutcome
    notes: tuple[str, ...] = ()


def find_intervals(
    spread: IntervalBasis, level: float, interval: Interval, seed: int, bounded: BoundedInterval | None = None
) -> IntervalSet:
    """Return intervals of one level: the named ones, or (``auto``) those that coverage tests support.

    Args:
        spread: What the intervals are of.
        level: How often they are to hold the truth.
        interval: ``auto``, or one kind for all.
        seed: The seed of the bootstrap.
        bounded: Returns an interval of a kind that assumes only the scale; None where there is none.
    """
    check_level(level)
    if spread.complete:
        # A model that nobody judged has no score.
        return _one_kind(spread, spread.centre, spread.centre, ~np.isnan(spread.centre), EXACT)
    if interval == "auto":
        return _supported_intervals(spread, level, bounded)
    if interval == NONE:
        missing = np.full(len(spread.centre), np.nan)
        return _one_kind(spread, missing, missing, np.zeros(len(missing), bool), NONE)
    if interval in (T, BOOTSTRAP):
        return _requested_kind(spread, level, interval, seed)
    if bounded is None:
        raise UsageError(
            f"A {interval} interval needs {SCALE_HINT}, and holds for the plain mean of a uniform "
            "sample of single items only."
        )
    low, high = bounded(interval)
    return _one_kind(spread, low, high, np.ones(len(low), bool), interval)


def student(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's distribution; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2.0)) if freedom > 0 else float("nan")


def t_interval(spread: IntervalBasis, level: float) -> tuple[Floats, Floats]:
    """Return μ̂ ± t·se with the quantile of Student's distribution at the degrees of freedom."""
    half = student(level, spread.freedom) * spread.errors
    return spread.centre - half, spread.centre + half


def bootstrap_interval(spread: IntervalBasis, level: float, seed: int) -> tuple[Floats, Floats]:
    """Return [μ̂ − t*_high·se, μ̂ − t*_low·se] by the studentised bootstrap."""
    if not len(spread.shape):
        missing = np.full(len(spread.centre), np.nan)
        return missing, missing
    start, end = studentised_quantiles(spread.shape, spread.stratum, level, seed)
    return spread.centre - end * spread.errors, spread.centre - start * spread.errors


def _requested_kind(spread: IntervalBasis, level: float, interval: str, seed: int) -> IntervalSet:
    """Return intervals of one kind for all, with a note where they are shorter than coverage supports."""
    low, high = t_interval(spread, level) if interval == T else bootstrap_interval(spread, level, seed)
    has_interval = np.isfinite(low) & np.isfinite(high)
    below, above = spread.reach.halves(level)
    short = has_interval & (high - low < 0.9 * (below + above))
    names = [name for name, doubtful in zip(spread.names, short, strict=True) if doubtful]
    units = f"{int(spread.units)} {spread.unit_name}"
    note = f"{interval} intervals may be too narrow with {units}: {listing(names, 3)}."
    return _one_kind(spread, low, high, has_interval, interval, (note,) if names else ())


def _supported_intervals(spread: IntervalBasis, level: float, bounded: BoundedInterval | None) -> IntervalSet:
    """Return intervals of proportions or with corrected tails, a bound where one side is not supported.

    Where nothing can be learned from the sample, the scale alone gives an interval where it can.
    """
    if spread.proportions is not None:
        low, high = spread.proportions(level)
        return _one_kind(spread, low, high, np.isfinite(low) & np.isfinite(high), PROPORTION)
    exact = np.zeros(len(spread.centre), bool) if spread.exact is None else spread.exact
    below, above = spread.reach.halves(level)
    has_interval = (below > 0) & (above > 0) & (spread.units >= FEWEST_UNITS) & (spread.freedom > 0) & ~exact
    low, high = spread.centre - below, spread.centre + above
    cut_low, cut_high = unsupported(spread, has_interval)
    if spread.scale is not None:
        low, high, has_interval = _inside_scale(
            spread, spread.scale, (low, high), has_interval, (cut_low, cut_high), level
        )
        cut_low = cut_high = np.zeros(len(low), bool)
    single = _one_sided(spread, level, cut_low | cut_high)
    low = np.where(cut_low, np.nan, np.where(cut_high, single[0], low))
    high = np.where(cut_high, np.nan, np.where(cut_low, single[1], high))
    low, high = (np.where(exact, spread.centre, np.where(has_interval, end, np.nan)) for end in (low, high))
    from_scale = ~has_interval & ~exact & ~np.isnan(spread.centre) & (bounded is not None)
    if bounded is not None and from_scale.any():
        low, high = (
            np.where(from_scale, end, sample_end)
            for end, sample_end in zip(bounded(BETTING), (low, high), strict=True)
        )
    kinds = tuple(
        EXACT if is_exact else BETTING if by_scale else NONE if not has_ends else BOUND if is_bound else T
        for is_exact, by_scale, has_ends, is_bound in zip(
            exact, from_scale, has_interval, cut_low | cut_high, strict=True
        )
    )
    return IntervalSet(low, high, kinds, _outcome(kinds), _notes(spread, kinds, cut_low))


def unsupported(spread: IntervalBasis, has_interval: Mask) -> tuple[Mask, Mask]:
    """Say where the low or the high side rests on too few judgements of too few models.

    With one or two models and under 30 units, a skewness of more than 0.4·√n is the work of one or two units:
    how much more there is on that side cannot be learned from them.
    """
    nowhere = np.zeros(len(has_interval), bool)
    if spread.supported or spread.tails.models > FEW_MODELS or spread.units >= ENOUGH_UNITS:
        return nowhere, nowhere
    own_skew, pooled_skew = spread.reach.skew, spread.tails.skew / np.sqrt(np.maximum(spread.counts, 1.0))
    low = has_interval & (np.minimum(own_skew, pooled_skew) < -MOST_SKEW)
    high = has_interval & (np.maximum(own_skew, pooled_skew) > MOST_SKEW) & ~low
    return low, high


def _one_sided(spread: IntervalBasis, level: float, needed_for: Mask) -> tuple[Floats, Floats]:
    """Return ends of one-sided bounds, where any are wanted."""
    if not needed_for.any():
        return spread.centre, spread.centre
    below, above = spread.reach.halves(level, one_sided=True)
    return spread.centre - below, spread.centre + above


def _inside_scale(
    spread: IntervalBasis,
    scale: tuple[float, float],
    ends: tuple[Floats, Floats],
    has_interval: Mask,
    unsupported_sides: tuple[Mask, Mask],
    level: float,
) -> tuple[Floats, Floats, Mask]:
    """Return ends inside the scale; where a side cannot be learned, as far as unseen judgements may reach.

    n judgements leave at most u = 1 − ((1 − level)/2)^{1/n} of all unseen with that confidence: the end is
    (1 − u)·end + u·(end of the scale), also where all judgements are the same.
    """
    lowest, highest = scale
    unseen = (1.0 - ((1.0 - level) / 2.0) ** (1.0 / np.maximum(spread.counts, 1.0))) * spread.tails.unsampled
    flat = ~has_interval & (spread.errors == 0) & (spread.units >= FEWEST_UNITS)
    low, high = (np.where(flat, spread.centre, end) for end in ends)
    low = np.where(unsupported_sides[0] | flat, (1.0 - unseen) * low + unseen * lowest, low)
    high = np.where(unsupported_sides[1] | flat, (1.0 - unseen) * high + unseen * highest, high)
    return np.clip(low, lowest, highest), np.clip(high, lowest, highest), has_interval | flat


def _one_kind(
    spread: IntervalBasis,
    low: Floats,
    high: Floats,
    has_interval: Mask,
    kind: str,
    notes: tuple[str, ...] = (),
) -> IntervalSet:
    """Return intervals of one kind where there are any."""
    kinds = tuple(kind if ok else NONE for ok in has_interval)
    low, high = np.where(has_interval, low, np.nan), np.where(has_interval, high, np.nan)
    return IntervalSet(low, high, kinds, _outcome(kinds), notes)


def _outcome(kinds: tuple[str, ...]) -> IntervalOutcome:
    withheld, bounds = kinds.count(NONE), kinds.count(BOUND)
    return IntervalOutcome(printed=len(kinds) - withheld - bounds, bounds=bounds, withheld=withheld)


def _notes(spread: IntervalBasis, kinds: tuple[str, ...], cut_low: Mask) -> tuple[str, ...]:
    """Say which intervals are withheld on one or both sides, why, and how many more units would do."""
    notes = []
    for side, sides in (("lower", cut_low), ("upper", ~cut_low)):
        names = [
            name
            for name, kind, on_side in zip(spread.names, kinds, sides, strict=True)
            if kind == BOUND and on_side
        ]
        if names:
            units, more = int(spread.units), int(np.ceil(ENOUGH_UNITS - spread.units))
            notes.append(
                f"no {side} limit for {listing(names, 3)}: a few of the {units} {spread.unit_name} lie "
                f"far from the rest, and there may be more; {more} more, or {SCALE_HINT}, would do."
            )
    withheld = [
        kind == NONE and not np.isnan(score) for kind, score in zip(kinds, spread.centre, strict=True)
    ]
    missing = [name for name, is_missing in zip(spread.names, withheld, strict=True) if is_missing]
    if missing:
        notes.append(
            f"no interval for {listing(missing, 3)}: {why_withheld(spread.units, spread.unit_name)}."
        )
    return tuple(notes)
