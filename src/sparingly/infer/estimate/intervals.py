"""Intervals around scores and differences: from the sample, from proportions, from the scale, or none."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError, listing
from sparingly.base.levels import check_level
from sparingly.infer.estimate import guard
from sparingly.infer.estimate.bootstrap import studentised_quantiles
from sparingly.infer.estimate.guard import BETTING, BOOTSTRAP, BOUND, EXACT, NONE, PROPORTION, Outcome, T
from sparingly.infer.estimate.tails import Reach, Tails, reach_of

Interval = Literal["auto", "t", "bootstrap", "betting", "hoeffding", "bernstein", "none"]
Bounded = Callable[[str], tuple[Floats, Floats]]
# Low and high ends at a level, of scores that are proportions.
Proportions = Callable[[float], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False)
class Spread:
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
        whole: Whether nothing is left to chance.
        drawn: What the units are, in words.
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
    whole: bool
    drawn: str = "drawn units"
    scale: tuple[float, float] | None = None
    proportions: Proportions | None = None
    exact: Mask | None = None
    supported: bool = False

    @property
    def reach(self) -> Reach:
        """What the ends of intervals are made of."""
        return reach_of(self.errors, self.shape, self.counts, self.freedom, self.tails)


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
    """Return intervals of one level: the named ones, or (``auto``) those that coverage tests support.

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
        return _of_ends(spread, spread.centre, spread.centre, ~np.isnan(spread.centre), EXACT)
    if interval == "auto":
        return _supported(spread, level, bounded)
    if interval == NONE:
        nothing = np.full(len(spread.centre), np.nan)
        return _of_ends(spread, nothing, nothing, np.zeros(len(nothing), bool), NONE)
    if interval in (T, BOOTSTRAP):
        return _named(spread, level, interval, seed)
    if bounded is None:
        raise UsageError(
            f"A {interval} interval needs {guard.SCALE_HINT}, and holds for the plain mean of a uniform "
            "sample of single items only."
        )
    low, high = bounded(interval)
    return _of_ends(spread, low, high, np.ones(len(low), bool), interval)


def student(level: float, freedom: float) -> float:
    """Return the two-sided quantile of Student's distribution; NaN without degrees of freedom."""
    from scipy.special import stdtrit

    return float(stdtrit(freedom, 0.5 + level / 2.0)) if freedom > 0 else float("nan")


def t_interval(spread: Spread, level: float) -> tuple[Floats, Floats]:
    """Return μ̂ ± t·se with the quantile of Student's distribution at the degrees of freedom."""
    half = student(level, spread.freedom) * spread.errors
    return spread.centre - half, spread.centre + half


def bootstrap_interval(spread: Spread, level: float, seed: int) -> tuple[Floats, Floats]:
    """Return [μ̂ − t*_high·se, μ̂ − t*_low·se] by the studentised bootstrap."""
    if not len(spread.shape):
        nothing = np.full(len(spread.centre), np.nan)
        return nothing, nothing
    start, end = studentised_quantiles(spread.shape, spread.stratum, level, seed)
    return spread.centre - end * spread.errors, spread.centre - start * spread.errors


def _named(spread: Spread, level: float, interval: str, seed: int) -> Intervals:
    """Return intervals of one kind for all, with a note where they are shorter than coverage supports."""
    low, high = t_interval(spread, level) if interval == T else bootstrap_interval(spread, level, seed)
    there = np.isfinite(low) & np.isfinite(high)
    below, above = spread.reach.halves(level)
    short = there & (high - low < 0.9 * (below + above))
    names = [name for name, doubtful in zip(spread.names, short, strict=True) if doubtful]
    few = f"{int(spread.units)} {spread.drawn}"
    said = f"{interval} intervals may be too narrow with {few}: {listing(names, 3)}."
    return _of_ends(spread, low, high, there, interval, (said,) if names else ())


def _supported(spread: Spread, level: float, bounded: Bounded | None) -> Intervals:
    """Return intervals of proportions or with corrected tails, a bound where one side is not supported.

    Where nothing can be learned from the sample, the scale alone gives an interval where it can.
    """
    if spread.proportions is not None:
        low, high = spread.proportions(level)
        return _of_ends(spread, low, high, np.isfinite(low) & np.isfinite(high), PROPORTION)
    exact = np.zeros(len(spread.centre), bool) if spread.exact is None else spread.exact
    below, above = spread.reach.halves(level)
    there = (below > 0) & (above > 0) & (spread.units >= guard.LEAST) & (spread.freedom > 0) & ~exact
    low, high = spread.centre - below, spread.centre + above
    cut_low, cut_high = unsupported(spread, there)
    if spread.scale is not None:
        low, high, there = _within(spread, spread.scale, (low, high), there, (cut_low, cut_high), level)
        cut_low = cut_high = np.zeros(len(low), bool)
    single = _one_sided(spread, level, cut_low | cut_high)
    low = np.where(cut_low, np.nan, np.where(cut_high, single[0], low))
    high = np.where(cut_high, np.nan, np.where(cut_low, single[1], high))
    low, high = (np.where(exact, spread.centre, np.where(there, end, np.nan)) for end in (low, high))
    from_scale = ~there & ~exact & ~np.isnan(spread.centre) & (bounded is not None)
    if bounded is not None and from_scale.any():
        low, high = (
            np.where(from_scale, end, own) for end, own in zip(bounded(BETTING), (low, high), strict=True)
        )
    kinds = tuple(
        EXACT if sure else BETTING if only else NONE if not ok else BOUND if one else T
        for sure, only, ok, one in zip(exact, from_scale, there, cut_low | cut_high, strict=True)
    )
    return Intervals(low, high, kinds, _outcome(kinds), _notes(spread, kinds, cut_low))


def unsupported(spread: Spread, there: Mask) -> tuple[Mask, Mask]:
    """Say where the low or the high side rests on too few judgements of too few models.

    With one or two models and under 30 units, a skewness of more than 0.4·√n is the work of one or two units:
    how much more there is on that side cannot be learned from them.
    """
    none = np.zeros(len(there), bool)
    if spread.supported or spread.tails.models > guard.FEW_MODELS or spread.units >= guard.ENOUGH:
        return none, none
    own, pooled = spread.reach.skew, spread.tails.skew / np.sqrt(np.maximum(spread.counts, 1.0))
    low = there & (np.minimum(own, pooled) < -guard.MOST_SKEW)
    high = there & (np.maximum(own, pooled) > guard.MOST_SKEW) & ~low
    return low, high


def _one_sided(spread: Spread, level: float, wanted: Mask) -> tuple[Floats, Floats]:
    """Return ends of one-sided bounds, where any are wanted."""
    if not wanted.any():
        return spread.centre, spread.centre
    below, above = spread.reach.halves(level, one_sided=True)
    return spread.centre - below, spread.centre + above


def _within(
    spread: Spread,
    scale: tuple[float, float],
    ends: tuple[Floats, Floats],
    there: Mask,
    cut: tuple[Mask, Mask],
    level: float,
) -> tuple[Floats, Floats, Mask]:
    """Return ends inside the scale; where a side cannot be learned, as far as unseen judgements may reach.

    n judgements leave at most u = 1 − ((1 − level)/2)^{1/n} of all unseen with that confidence: the end is
    (1 − u)·end + u·(end of the scale), also where all judgements are the same.
    """
    least, most = scale
    unseen = (1.0 - ((1.0 - level) / 2.0) ** (1.0 / np.maximum(spread.counts, 1.0))) * spread.tails.left
    flat = ~there & (spread.errors == 0) & (spread.units >= guard.LEAST)
    low, high = (np.where(flat, spread.centre, end) for end in ends)
    low = np.where(cut[0] | flat, (1.0 - unseen) * low + unseen * least, low)
    high = np.where(cut[1] | flat, (1.0 - unseen) * high + unseen * most, high)
    return np.clip(low, least, most), np.clip(high, least, most), there | flat


def _of_ends(
    spread: Spread, low: Floats, high: Floats, there: Mask, kind: str, notes: tuple[str, ...] = ()
) -> Intervals:
    """Return intervals of one kind where there are any."""
    kinds = tuple(kind if ok else NONE for ok in there)
    low, high = np.where(there, low, np.nan), np.where(there, high, np.nan)
    return Intervals(low, high, kinds, _outcome(kinds), notes)


def _outcome(kinds: tuple[str, ...]) -> Outcome:
    withheld, bounds = kinds.count(NONE), kinds.count(BOUND)
    return Outcome(printed=len(kinds) - withheld - bounds, bounds=bounds, withheld=withheld)


def _notes(spread: Spread, kinds: tuple[str, ...], cut_low: Mask) -> tuple[str, ...]:
    """Say which intervals are withheld on one or both sides, why, and how many more units would do."""
    notes = []
    for side, which in (("lower", cut_low), ("upper", ~cut_low)):
        names = [
            name for name, kind, one in zip(spread.names, kinds, which, strict=True) if kind == BOUND and one
        ]
        if names:
            units, more = int(spread.units), int(np.ceil(guard.ENOUGH - spread.units))
            notes.append(
                f"no {side} limit for {listing(names, 3)}: a few of the {units} {spread.drawn} lie "
                f"far from the rest, and there may be more; {more} more, or {guard.SCALE_HINT}, would do."
            )
    lost = [kind == NONE and not np.isnan(score) for kind, score in zip(kinds, spread.centre, strict=True)]
    missing = [name for name, gone in zip(spread.names, lost, strict=True) if gone]
    if missing:
        notes.append(
            f"no interval for {listing(missing, 3)}: {guard.why_withheld(spread.units, spread.drawn)}."
        )
    return tuple(notes)
