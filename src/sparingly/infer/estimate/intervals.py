"""Intervals around scores and differences: from the sample, from proportions, from the scale, or none.

When an interval is printed was decided by simulation (``benchmarks/default_coverage.py``): from 10 units on,
intervals with corrected tails (``tails``) contain the truth in 94 % of draws or more, where three models or
more show what rare judgements are like. With fewer models, a side on which a few units lie far out is not
printed below 30 units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.checks import check_level
from sparingly.base.errors import UsageError, listing
from sparingly.base.syntax import either
from sparingly.infer.estimate.tails import Reach, Tails, own_skewness, student_quantile

# No error is learned from fewer units; from ENOUGH_UNITS on both sides are printed with any number of models.
FEWEST_UNITS, ENOUGH_UNITS = 10, 30
FEW_MODELS, MOST_SKEW = 2, 0.4
T, BOOTSTRAP, BETTING, NONE = "t", "bootstrap", "betting", "none"
EXACT, BOUND, PROPORTION = "exact", "bound", "proportion"

Interval = Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"]
# Low and high ends by the scale alone, of a kind.
BoundedInterval = Callable[[str], tuple[Floats, Floats]]
# Low and high ends at a level, of scores that are proportions.
ProportionInterval = Callable[[float], tuple[Floats, Floats]]


@dataclass(frozen=True)
class IntervalOutcome:
    """How many intervals have both ends, only the one that the data support, or none.

    ``fallen_back`` counts the scores that fell back to the weighted mean.
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


@dataclass(frozen=True, eq=False)
class IntervalBasis:
    """What intervals are made of, for scores or for differences.

    Attributes:
        names: What every number is of.
        centre: The scores or differences.
        errors: Their standard errors.
        shape: units × numbers: what every unit contributes.
        counts: The number of units behind every number.
        tails: The tails of single judgements over all models.
        stratum: One code per unit.
        units, unit_name: The number of units that errors are learned from, and what they are, in words.
        freedom: Degrees of freedom of every number.
        complete: Whether everything was judged, so that there is no error.
        scale: The lowest and the highest possible value; None where it is not known.
        proportions: Returns intervals of proportions; None where scores are no proportions.
        exact: Which numbers are known without error, where not all are.
        supported: Whether the scale tells what unseen judgements can be, so that no side is withheld.
    """

    names: Sequence[str]
    centre: Floats
    errors: Floats
    shape: Floats
    counts: Floats
    tails: Tails
    stratum: Ints
    units: float
    freedom: Floats
    complete: bool
    unit_name: str = "drawn units"
    scale: tuple[float, float] | None = None
    proportions: ProportionInterval | None = None
    exact: Mask | None = None
    supported: bool = False

    @property
    def reach(self) -> Reach:
        """What the ends of intervals are made of."""
        return Reach(self.errors, own_skewness(self.shape), self.counts, self.freedom, self.tails)


@dataclass(frozen=True, eq=False)
class IntervalSet:
    """Low and high ends (NaN where withheld), the kind of each interval, and how many there are of each."""

    low: Floats
    high: Floats
    kinds: tuple[str, ...]
    outcome: IntervalOutcome
    notes: tuple[str, ...] = ()


def find_intervals(
    basis: IntervalBasis, level: float, interval: Interval, seed: int, bounded: BoundedInterval | None = None
) -> IntervalSet:
    """Return intervals of one level: of the named kind, or (``auto``) those that coverage tests support.

    ``bounded`` returns intervals of a kind by the scale alone; None where there are none.
    """
    check_level(level)
    if basis.complete:
        # A model that nobody judged has no score.
        return _one_kind(basis.centre, basis.centre, ~np.isnan(basis.centre), EXACT)
    if interval == "auto":
        return _supported_intervals(basis, level, bounded)
    if interval == NONE:
        return _one_kind(basis.centre, basis.centre, np.zeros(len(basis.centre), bool), NONE)
    if interval in (T, BOOTSTRAP):
        return _sample_intervals(basis, level, interval, seed)
    if bounded is None:
        raise UsageError(
            f"A {interval} interval needs {_scale_hint()}, and holds for the plain mean of a uniform "
            "sample of single items only."
        )
    low, high = bounded(interval)
    return _one_kind(low, high, np.ones(len(low), bool), interval)


def student(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's distribution; NaN without degrees of freedom."""
    return float(student_quantile(freedom, 0.5 + level / 2.0)) if freedom > 0 else float("nan")


def why_withheld(units: float, unit_name: str) -> str:
    """Say why scores have no interval; ``unit_name`` is plural."""
    if units < FEWEST_UNITS:
        count = math.floor(units)
        subject = f"1 {unit_name.removesuffix('s')} is" if count == 1 else f"{count} {unit_name} are"
        return f"{subject} too few to learn an error from, {FEWEST_UNITS} are needed"
    return f"all judgements are the same, and further ones may not be; {_scale_hint()} would give one"


def _one_kind(
    low: Floats, high: Floats, has_interval: Mask, kind: str, notes: tuple[str, ...] = ()
) -> IntervalSet:
    kinds = tuple(kind if ok else NONE for ok in has_interval)
    low, high = np.where(has_interval, low, np.nan), np.where(has_interval, high, np.nan)
    return IntervalSet(low, high, kinds, _outcome(kinds), notes)


def _outcome(kinds: tuple[str, ...]) -> IntervalOutcome:
    withheld, bounds = kinds.count(NONE), kinds.count(BOUND)
    return IntervalOutcome(printed=len(kinds) - withheld - bounds, bounds=bounds, withheld=withheld)


# --- intervals by the sample alone, as named ---


def _sample_intervals(basis: IntervalBasis, level: float, interval: str, seed: int) -> IntervalSet:
    """Return t or bootstrap intervals, with a note where they are shorter than coverage supports.

    μ̂ ± t·se with the quantile of Student's distribution, or [μ̂ − t*_high·se, μ̂ − t*_low·se] with those of the
    studentised bootstrap.
    """
    start = end = np.full(len(basis.centre), np.nan)
    if interval == T:
        end = student_quantile(basis.freedom, 0.5 + level / 2.0)
        start = -end
    elif len(basis.shape):
        start, end = studentised_quantiles(basis.shape, basis.stratum, level, seed)
    low, high = basis.centre - end * basis.errors, basis.centre - start * basis.errors
    has_interval = np.isfinite(low) & np.isfinite(high)
    below, above = basis.reach.halves(level)
    short = has_interval & (high - low < 0.9 * (below + above))
    names = [name for name, is_short in zip(basis.names, short, strict=True) if is_short]
    units = f"{int(basis.units)} {basis.unit_name}"
    note = f"{interval} intervals may be too narrow with {units}: {listing(names, 3)}."
    return _one_kind(low, high, has_interval, interval, (note,) if names else ())


DRAWS = 1999
# The largest number of values held at once.
_BLOCK = 2_000_000


def studentised_quantiles(
    shape: Floats, stratum: Ints, level: float, seed: int, draws: int = DRAWS
) -> tuple[Floats, Floats]:
    """Return the low and the high quantile of t* = T*/√V* for every column of units × columns.

    Units are drawn again with replacement within their strata, T* is the sum of their deviations and V* its
    variance from the same draw. The deviations carry √(1 − π), the finite-population factor, so that T* has
    the variance of the actual draw (Rao and Wu 1988). Studentising corrects for skewness: the interval
    [μ̂ − t*_high·se, μ̂ − t*_low·se] extends towards the long tail. Infinite where too few units differ.
    """
    generator = rng.generator(seed, "bootstrap")
    groups = [np.flatnonzero(stratum == code) for code in np.unique(stratum)]
    low, high = np.empty(shape.shape[1]), np.empty(shape.shape[1])
    seeds = [int(part) for part in generator.integers(0, 2**62, len(groups))]
    width, place = max(1, _BLOCK // draws), max(int((1.0 - level) / 2.0 * (draws + 1)), 1)
    for start in range(0, shape.shape[1], width):
        columns = slice(start, start + width)
        part = shape[:, columns]
        total, variance = np.zeros((draws, part.shape[1])), np.zeros((draws, part.shape[1]))
        for rows, group_seed in zip(groups, seeds, strict=True):
            _add_stratum(total, variance, part[rows], group_seed)
        # A draw in which no two units differ has no error of its own.
        flat = variance <= 1e-12 * (part**2).sum(axis=0)
        still = np.abs(total) <= 1e-9 * np.sqrt((part**2).sum(axis=0))
        root = np.sqrt(np.where(flat, 1.0, variance))
        ratio = np.where(flat, np.where(still, 0.0, np.copysign(np.inf, total)), total / root)
        ratio.sort(axis=0)
        low[columns], high[columns] = ratio[place - 1], ratio[draws - place]
    return low, high


def _add_stratum(total: Floats, variance: Floats, shape: Floats, seed: int) -> None:
    """Add the draws of one stratum to the sums and their variances.

    Columns are summed one at a time: in a product of matrices the last bits of a column depend on how many
    others there are, and an interval must be the same whichever models stand beside it.
    """
    count = len(shape)
    if count < 2:
        return
    generator = np.random.Generator(np.random.PCG64(seed))
    deviations = [column - column.mean() for column in np.ascontiguousarray(shape.T)]
    step = max(1, _BLOCK // count)
    for start in range(0, len(total), step):
        block = slice(start, min(start + step, len(total)))
        counts = generator.multinomial(count, np.full(count, 1.0 / count), size=block.stop - start)
        times = counts.astype(np.float64)
        for column, deviation in enumerate(deviations):
            sums = times @ deviation
            total[block, column] += sums
            variance[block, column] += (times @ deviation**2 - sums**2 / count) * (count / (count - 1.0))


def _scale_hint() -> str:
    """Say how to name the range of the scores."""
    return f"the scale of the scores ({either('--scale LOW,HIGH', 'scale=(LOW, HIGH)')})"


# --- intervals that coverage tests support ---


def _supported_intervals(basis: IntervalBasis, level: float, bounded: BoundedInterval | None) -> IntervalSet:
    """Return intervals of proportions or with corrected tails, a bound where one side is not supported.

    Where nothing can be learned from the sample, the interval is by the scale alone, if there is one.
    """
    if basis.proportions is not None:
        low, high = basis.proportions(level)
        return _one_kind(low, high, np.isfinite(low) & np.isfinite(high), PROPORTION)
    exact = np.zeros(len(basis.centre), bool) if basis.exact is None else basis.exact
    below, above = basis.reach.halves(level)
    has_interval = (below > 0) & (above > 0) & (basis.units >= FEWEST_UNITS) & (basis.freedom > 0) & ~exact
    low, high = basis.centre - below, basis.centre + above
    cut_low, cut_high = unsupported(basis, has_interval)
    if basis.scale is not None:
        sides = (cut_low, cut_high)
        low, high, has_interval = _inside_scale(basis, basis.scale, (low, high), has_interval, sides, level)
        cut_low = cut_high = np.zeros(len(low), bool)
    is_bound = cut_low | cut_high
    if is_bound.any():
        below, above = basis.reach.halves(level, one_sided=True)
        low = np.where(cut_low, np.nan, np.where(cut_high, basis.centre - below, low))
        high = np.where(cut_high, np.nan, np.where(cut_low, basis.centre + above, high))
    low, high = (np.where(exact, basis.centre, np.where(has_interval, end, np.nan)) for end in (low, high))
    by_scale = ~has_interval & ~exact & ~np.isnan(basis.centre) & (bounded is not None)
    if bounded is not None and by_scale.any():
        lowest, highest = bounded(BETTING)
        low, high = np.where(by_scale, lowest, low), np.where(by_scale, highest, high)
    choices = np.select([exact, by_scale, ~has_interval, is_bound], [EXACT, BETTING, NONE, BOUND], T)
    kinds = tuple(str(kind) for kind in choices)
    return IntervalSet(low, high, kinds, _outcome(kinds), _notes(basis, kinds, cut_low))


def unsupported(basis: IntervalBasis, has_interval: Mask) -> tuple[Mask, Mask]:
    """Say where the low or the high side rests on too few judgements of too few models.

    With one or two models and under 30 units, one or two units make a skewness of more than 0.4·√n: how much
    more there is on that side cannot be learned from them.
    """
    if basis.supported or basis.tails.models > FEW_MODELS or basis.units >= ENOUGH_UNITS:
        return np.zeros(len(has_interval), bool), np.zeros(len(has_interval), bool)
    own, pooled = basis.reach.skew, basis.tails.skew / np.sqrt(np.maximum(basis.counts, 1.0))
    low = has_interval & (np.minimum(own, pooled) < -MOST_SKEW)
    high = has_interval & (np.maximum(own, pooled) > MOST_SKEW) & ~low
    return low, high


def _inside_scale(
    basis: IntervalBasis,
    scale: tuple[float, float],
    ends: tuple[Floats, Floats],
    has_interval: Mask,
    unsupported_sides: tuple[Mask, Mask],
    level: float,
) -> tuple[Floats, Floats, Mask]:
    """Return ends inside the scale; an unsupported side extends as far as unseen judgements may reach.

    With that confidence, at most u = 1 − ((1 − level)/2)^{1/n} of all judgements are unlike the n seen: the
    end is (1 − u)·end + u·(end of the scale), also where all judgements are the same.
    """
    lowest, highest = scale
    unseen = (1.0 - ((1.0 - level) / 2.0) ** (1.0 / np.maximum(basis.counts, 1.0))) * basis.tails.unsampled
    flat = ~has_interval & (basis.errors == 0) & (basis.units >= FEWEST_UNITS)
    low, high = (np.where(flat, basis.centre, end) for end in ends)
    low = np.where(unsupported_sides[0] | flat, (1.0 - unseen) * low + unseen * lowest, low)
    high = np.where(unsupported_sides[1] | flat, (1.0 - unseen) * high + unseen * highest, high)
    return np.clip(low, lowest, highest), np.clip(high, lowest, highest), has_interval | flat


def _notes(basis: IntervalBasis, kinds: tuple[str, ...], cut_low: Mask) -> tuple[str, ...]:
    """Say which intervals lack one or both ends, why, and how many more units would do."""
    notes, rows = [], list(zip(basis.names, kinds, basis.centre, cut_low, strict=True))
    for side, is_low in (("lower", True), ("upper", False)):
        names = [name for name, kind, _, low in rows if kind == BOUND and low == is_low]
        if names:
            units, more = int(basis.units), int(np.ceil(ENOUGH_UNITS - basis.units))
            notes.append(
                f"no {side} limit for {listing(names, 3)}: a few of the {units} {basis.unit_name} lie "
                f"far from the rest, and there may be more; {more} more, or {_scale_hint()}, would do."
            )
    # Models that were judged on fewer units than the others have reasons of their own.
    withheld: dict[str, list[str]] = {}
    for (name, kind, score, _), count in zip(rows, basis.counts, strict=True):
        if kind == NONE and not np.isnan(score):
            why = why_withheld(min(float(count), basis.units), basis.unit_name)
            withheld.setdefault(why, []).append(name)
    notes += [f"no interval for {listing(names, 3)}: {why}." for why, names in withheld.items()]
    return tuple(notes)
