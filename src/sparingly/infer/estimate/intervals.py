"""Intervals around scores and differences: from the sample, from proportions, from the scale, or none.

When an interval is printed was decided by simulation (``benchmarks/default_coverage.py``): from 10 units on,
intervals with corrected tails contain the truth in 94 % of draws or more, where three models or
more show what rare judgements are like. With fewer models, a side on which a few units lie far out is not
printed below 30 units.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.checks import check_level
from sparingly.base.errors import UsageError, listing
from sparingly.base.lazy import special
from sparingly.base.syntax import either

if TYPE_CHECKING:
    from sparingly.infer.estimate.variance import ScoreErrors

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
    """What intervals are made of, for scores or for differences."""

    names: Sequence[str]  # what every number is of
    centre: Floats  # the scores or differences
    errors: Floats  # their standard errors
    shape: Floats  # units × numbers: what every unit contributes
    counts: Floats  # the number of units behind every number
    tails: Tails  # the tails of single judgements over all models
    stratum: Ints  # one code per unit
    # The number of units that errors are learned from, and what they are, in words.
    units: float
    freedom: Floats  # degrees of freedom of every number
    complete: bool  # whether everything was judged, so that there is no error
    unit_name: str = "drawn units"
    # The lowest and the highest possible value; None where it is not known.
    scale: tuple[float, float] | None = None
    # Returns intervals of proportions; None where scores are no proportions.
    proportions: ProportionInterval | None = None
    exact: Mask | None = None  # which numbers are known without error, where not all are
    # Whether the scale tells what unseen judgements can be, so that no side is withheld.
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
    return IntervalSet(low, high, kinds, outcome_of(kinds), notes)


def outcome_of(kinds: tuple[str, ...]) -> IntervalOutcome:
    """Count intervals by their kind."""
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
    return IntervalSet(low, high, kinds, outcome_of(kinds), _notes(basis, kinds, cut_low))


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


# --- how far a score may lie from its estimate on either side: Student's interval, corrected for tails ---
# A handful of judgements seldom holds the rare large errors that a long tail is made of, and then says
# that there are none. Two corrections bring intervals back to their level; both are in closed form, so
# that a p-value is the level at which the interval begins to hold 0:
#
# * Each side gets the errors that were not seen. To the variance of the score are added κ squared
#   deviations of a judgement on that side, as they are over all models: V_side = V + κ·(1 − f)·m_side/n².
#   Other models' rare errors tell what this model's may be like: one part of κ grows with the kurtosis of
#   all models' judgements (0 where they are no longer-tailed than normal ones), the other where few models
#   tell it.
# * The quantile of Student's distribution is moved by the skewness of the studentised mean of a sample
#   without replacement. With λ = γ/√n and ρ = λ·√(1 − f), T has the mean −ρ/2 and the third cumulant λ(1 −
#   2f)/√(1 − f) − 3ρ, so its quantile lies at q − ρ/2 + (λ(1 − 2f)/√(1 − f) − 3ρ)(q² − 1)/6 (Cornish and
#   Fisher 1938; Hall 1992, section 2.6; Babu and Singh 1985 for finite populations). The skewness is the
#   model's own, as far as it is more than chance gives a normal sample, or that of all models, whichever
#   reaches farther; a side is never shortened.
#
# Constants were chosen on uniform draws from all public sets, no family left out;
# ``benchmarks/default_coverage.py`` shows how often intervals hold on thirteen of them and on made ones.

# κ = UNSEEN·w + UNSEEN_ALONE/M squared deviations, for M models that are judged on the same scale; w goes
# from 0 at the kurtosis of normal judgements to 1 where it is LONG more.
UNSEEN, UNSEEN_ALONE = 6.0, 14.0
NORMAL, LONG = 3.0, 6.0
# The correction for skewness counts SKEW + SKEW_ALONE/M times: few judgements show too little skewness.
SKEW, SKEW_ALONE = 1.25, 1.25
# Of two-valued scores it is known what was not seen: an item on which one of two models passes, either way.
DISCORDANT = 2.0
# A model that spreads more than so many times as far as the middle one is counted as if it did not.
_MOST_SPREAD = 100.0
# A sample of almost everything leaves a skewness of its few unjudged items that cannot be learned.
_MOST_OF_SET = 0.98


@dataclass(frozen=True, eq=False)
class Tails:
    """The tails of single judgements on either side, over all models (or pairs of models)."""

    low: float  # the mean of squared deviations below the centre, of one judgement
    high: float  # the same above the centre
    skew: float  # the skewness γ of a judgement
    kurtosis: float  # the kurtosis of a judgement; 3 for normal ones
    models: int  # the number of models it is learned from
    fraction: float = 0.0  # the share f of the set that is judged; 0 for inputs like these

    @property
    def unseen(self) -> float:
        """κ, how many squared deviations are added on either side."""
        return UNSEEN * min(max((self.kurtosis - NORMAL) / LONG, 0.0), 1.0) + UNSEEN_ALONE / self.models

    @property
    def weight(self) -> float:
        """How many times the correction for skewness counts."""
        return SKEW + SKEW_ALONE / self.models

    @property
    def chance(self) -> float:
        """How many standard errors of a skewness are subtracted as noise: none with one or two models."""
        return max(1.0 - 2.0 / self.models, 0.0)

    @property
    def unsampled(self) -> float:
        """1 − f, the share of the set that is not judged."""
        return 1.0 - min(self.fraction, _MOST_OF_SET)


def score_tails(errors: ScoreErrors) -> Tails:
    """Return the tails of judgements over all models, from what every unit contributes to every score."""
    single = _single(errors)
    total = max(float(errors.counts.sum()), 1.0)
    low, high = ((np.clip(single, *ends) ** 2).sum() / total for ends in ((None, 0.0), (0.0, None)))
    squared, models = float(low + high), max(errors.shape.shape[1], 1)
    skew = float((single**3).sum()) / total / squared**1.5 if squared > 0 else 0.0
    kurtosis = _kurtosis(float((single**4).sum()) / total, squared)
    return Tails(float(low), float(high), skew, kurtosis, models, errors.fraction)


def pair_tails(errors: ScoreErrors, floor: float = 0.0) -> Tails:
    """Return the tails of differences of two judgements over all pairs of models: the same on both sides.

    ``floor`` is the least that is added to the sum of squared differences, where the scale tells it.
    """
    single = _single(errors)
    models, root = single.shape[1], np.sqrt(np.maximum(errors.counts, 1.0))
    products = single.T @ single / (root[:, None] * root)
    if models < 2:
        return Tails(0.0, 0.0, 0.0, NORMAL, 1, errors.fraction)
    # The means over all pairs j < k of (c_uj − c_uk)² and (c_uj − c_uk)⁴, of one judgement each; the second
    # from sums of powers of every unit.
    pairs = models * (models - 1.0) / 2.0
    squared = float(models * np.trace(products) - products.sum()) / pairs
    first, second, third, fourth = (((single / np.sqrt(root)) ** power).sum(axis=1) for power in (1, 2, 3, 4))
    fourths = float((models * fourth - 4.0 * first * third + 3.0 * second**2).sum()) / pairs
    tails = Tails(squared, squared, 0.0, _kurtosis(fourths, squared), models, errors.fraction)
    reach = max(tails.low, floor * tails.unsampled / tails.unseen)
    return replace(tails, low=reach, high=reach)


def _single(errors: ScoreErrors) -> Floats:
    """Return what single judgements contribute, units × models; another order of magnitude is cut down.

    A model whose judgements spread a hundred times as far as the middle one's (a slip of the pen, another
    scale) tells nothing of what the others' may be like.
    """
    single = errors.shape * errors.counts
    spread = np.sqrt((single**2).sum(axis=0) / np.maximum(errors.counts, 1.0))
    varied = np.sort(spread[spread > 0])
    limit = _MOST_SPREAD * varied[(len(varied) - 1) // 2] if len(varied) else 0.0
    return single * np.where(spread > limit, limit / np.where(spread > 0, spread, 1.0), 1.0)


def own_skewness(shape: Floats) -> Floats:
    """Return the skewness of the sum of every column, Σc³/(Σc²)^{3/2}: γ/√n; 0 where nothing varies."""
    second, third = (shape**2).sum(axis=0), (shape**3).sum(axis=0)
    return np.asarray(np.divide(third, second**1.5, out=np.zeros_like(third), where=second > 0))


def _kurtosis(fourth: float, second: float) -> float:
    return fourth / second**2 if second > 0 else NORMAL


@dataclass(frozen=True, eq=False)
class Reach:
    """What the ends of intervals are made of, for scores or for differences.

    ``skew`` is γ/√n of each number's own contributions, ``counts`` the number n of units behind it, and
    ``tails`` what judgements are like over all models.
    """

    errors: Floats
    skew: Floats
    counts: Floats
    freedom: Floats | float
    tails: Tails

    def side_errors(self) -> tuple[Floats, Floats]:
        """Return the standard errors towards the low and the high side, √(V + κ·m_side/n²)."""
        # The contributions behind the tails carry √(1 − π) already.
        unseen = self.tails.unseen / np.maximum(self.counts, 1.0) ** 2
        low, high = (np.sqrt(self.errors**2 + unseen * part) for part in (self.tails.low, self.tails.high))
        return low, high

    def halves(self, level: float, *, one_sided: bool = False) -> tuple[Floats, Floats]:
        """Return how far the low and the high end lie from the estimate."""
        quantile = student_quantile(self.freedom, level if one_sided else 0.5 + level / 2.0)
        low, high = self.side_errors()
        usual = self._usual_quantile
        # Beyond the usual level the expansion is not trusted: both ends grow in proportion from there.
        beyond, inner = np.maximum(quantile / usual, 1.0), np.minimum(quantile, usual)
        return (
            beyond * (inner + self._shift(inner, 1.0)) * low,
            beyond * (inner + self._shift(inner, -1.0)) * high,
        )

    def p_values(self, centre: Floats) -> Floats:
        """Return two-sided p-values of a difference of 0: 1 less the level whose interval just reaches it.

        The interval's end towards 0 lies at (q + w·max(0, A + B(q² − 1)))·se, which grows with q (in
        proportion beyond the level of 95 %): the root of the quadratic is the quantile at which it meets 0,
        and 2·P(t > q) the p-value. NaN without an error.
        """
        finite = np.isfinite(self.freedom)
        low, high = self.side_errors()
        error = np.where(centre > 0, low, high)
        errors_away = ratio(np.abs(centre), error, np.nan)
        # For a positive difference the low end decides.
        side = np.where(centre > 0, 1.0, -1.0)
        usual = self._usual_quantile
        moved = usual + np.where(centre > 0, self._shift(usual, 1.0), self._shift(usual, -1.0))
        # The quantile at which the moved one equals the distance: the least over the possible shifts.
        reaching = errors_away
        for first, second in self._shifts():
            start, bend = side * (first - second), np.where(side * second > 1e-12, side * second, np.nan)
            root = np.sqrt(np.maximum(1.0 + 4.0 * bend * (errors_away - start), 0.0)) - 1.0
            reaching = np.fmin(reaching, np.maximum(root / (2.0 * bend), 0.0))
        reaching = np.where(np.isnan(errors_away), np.nan, reaching)
        quantile = np.where(errors_away > moved, errors_away * usual / moved, reaching)
        tail = np.where(
            finite, special.stdtr(np.where(finite, self.freedom, 1.0), -quantile), special.ndtr(-quantile)
        )
        return np.asarray(np.minimum(2.0 * tail, 1.0))

    @property
    def _usual_quantile(self) -> Floats:
        """The quantile of the usual level, 95 % on both sides."""
        return student_quantile(self.freedom, 0.975)

    def _shifts(self) -> list[tuple[Floats, Floats]]:
        """Return A and B of the shift w·(A + B(q² − 1)) by the own skewness and by that of all models."""
        unsampled, fraction = self.tails.unsampled, 1.0 - self.tails.unsampled
        counts = np.maximum(self.counts, 1.0)
        # The skewness of a normal sample has a standard error of √(6/n), so that of its sum has √6/n.
        beyond = np.maximum(np.abs(self.skew) - self.tails.chance * math.sqrt(6.0) / counts, 0.0)
        shifts = []
        for skew in (np.sign(self.skew) * beyond, self.tails.skew / np.sqrt(counts)):
            joint = skew * math.sqrt(unsampled)
            third = skew * (1.0 - 2.0 * fraction) / math.sqrt(unsampled) - 3.0 * joint
            shifts.append((-joint / 2.0 * self.tails.weight, third / 6.0 * self.tails.weight))
        return shifts

    def _shift(self, quantile: Floats, side: float) -> Floats:
        """Return by how much the quantile is moved outwards at the low (1) or the high (−1) end."""
        moved = [side * (first + second * (quantile**2 - 1.0)) for first, second in self._shifts()]
        return np.maximum(np.maximum(moved[0], moved[1]), 0.0)


def student_quantile(freedom: Floats | float, tail: float) -> Floats:
    """Return the quantile of Student's distribution, the normal one's for infinite degrees of freedom."""
    finite = np.isfinite(freedom)
    return np.where(finite, special.stdtrit(np.where(finite, freedom, 1.0), tail), special.ndtri(tail))
