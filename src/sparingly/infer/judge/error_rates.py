"""How often a judge passes what people fail, and fails what they pass; slope and offset of graded scores.

The judge's verdicts are known of all N outputs, so that only one thing has to be learned from labels: how
many of those that it passed, and of those that it failed, are good. With N₁ passed and N₀ failed, p₁ and p₀
the shares of good ones among them,

    sensitivity = N₁p₁ / (N₁p₁ + N₀p₀),   specificity = N₀(1 − p₀) / (N₀(1 − p₀) + N₁(1 − p₁)).

The odds of each are (N₁/N₀)·(p₁/p₀), and so on: a ratio of two shares from separate samples. Its interval is
put together from the package's intervals of single proportions (Donner and Zou 2012, MOVER-R), which hold for
small counts; where labels were drawn with unequal probabilities or in clusters, within a verdict, they are
those of the effective sample size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError
from sparingly.base.lazy import special
from sparingly.base.stats.proportion import effective_proportion_interval, proportion_interval
from sparingly.infer.judge.labelled import LabelledOutputs


class Rate(NamedTuple):
    """A share, or a number, with the ends of its interval; NaN where it is unknown."""

    value: float
    low: float
    high: float


_UNKNOWN = Rate(float("nan"), float("nan"), float("nan"))


class RateArrays(NamedTuple):
    """Shares with the ends of their intervals, as arrays."""

    value: Floats
    low: Floats
    high: Floats

    @property
    def complement(self) -> RateArrays:
        """The same of what is left of one."""
        return RateArrays(1.0 - self.value, 1.0 - self.high, 1.0 - self.low)


@dataclass(frozen=True)
class ErrorRates:
    """How a judge errs on outputs that people pass or fail."""

    passes_bad: Rate  # the share of bad outputs that it passes, 1 − specificity
    fails_good: Rate  # the share of good outputs that it fails, 1 − sensitivity
    good_if_passed: Rate  # the share of good outputs among those that it passed
    good_if_failed: Rate  # the same among those that it failed
    # The labels behind them: rows good and bad by people, columns passed and failed by the judge.
    table: tuple[tuple[int, int], tuple[int, int]]
    # How many outputs of the whole set the judge passed and failed.
    passed: int
    failed: int


def error_rates(labelled: LabelledOutputs, level: float) -> ErrorRates:
    """Return a judge's error rates; their intervals describe inputs like these."""
    passed, good = labelled.passed, labelled.good
    total_passed = int((labelled.verdicts >= labelled.cut).sum())
    total_failed = len(labelled.verdicts) - total_passed
    if_passed, if_failed = (
        _share_of_good(good[part], labelled.weight[part], labelled.cluster[part], level)
        for part in (passed, ~passed)
    )
    bad_passed, good_failed = rates_from_classes(
        total_passed, total_failed, if_passed, if_failed, level=level
    )
    table = tuple((int((passed & row).sum()), int((~passed & row).sum())) for row in (good, ~good))
    return ErrorRates(
        _UNKNOWN if good.all() else _as_rate(bad_passed),
        _as_rate(good_failed) if good.any() else _UNKNOWN,
        _as_rate(if_passed),
        _as_rate(if_failed),
        table=(table[0], table[1]),
        passed=total_passed,
        failed=total_failed,
    )


def rates_from_classes(
    passed: ArrayLike, failed: ArrayLike, if_passed: RateArrays, if_failed: RateArrays, *, level: float
) -> tuple[RateArrays, RateArrays]:
    """Return the shares of bad outputs passed and of good ones failed, from the shares of good by verdict."""
    sensitivity = _share_of_sum(passed, failed, if_passed, if_failed, level)
    specificity = _share_of_sum(failed, passed, if_failed.complement, if_passed.complement, level)
    return specificity.complement, sensitivity.complement


def _share_of_good(good: Mask, weight: Floats, cluster: Ints, level: float) -> RateArrays:
    """Return the share of good outputs among those of one verdict.

    With equal weights and an output in each cluster it is the interval of a proportion; else the linearised,
    cluster-robust error gives the effective sample size (Korn and Graubard 1998).
    """
    count = len(good)
    if not count:
        # Anything may be.
        return RateArrays(np.array(0.5), np.array(0.0), np.array(1.0))
    codes = np.unique(cluster, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    if groups == count and np.ptp(weight) <= 1e-9 * weight.max():
        ends = proportion_interval(good.sum(), count, level=level)
        return RateArrays(np.array(good.mean()), *ends)
    value = float(weight @ good / weight.sum())
    residual = np.bincount(codes, weight * (good - value))
    error = np.sqrt((residual**2).sum() * groups / max(groups - 1, 1)) / weight.sum()
    # Labels that are all alike tell no design effect: then as many count as their weights are worth.
    effective = min(weight.sum() ** 2 / (weight**2).sum(), groups)
    labels = effective if good.all() or not good.any() else float(count)
    ends = effective_proportion_interval(value, error, labels, level=level, freedom=groups - 1.0)
    return RateArrays(np.array(value), *ends)


def _share_of_sum(
    size: ArrayLike, other_size: ArrayLike, share: RateArrays, other: RateArrays, level: float
) -> RateArrays:
    """Return N₁p₁/(N₁p₁ + N₀p₀) with its interval, from p₁ and p₀ with theirs.

    Its odds are the product of the ratio p₁/p₀ (MOVER-R) and of N₁/N₀, which is itself a draw of inputs like
    these: distances of both add up as squares on the logarithmic scale (Zou and Donner 2008).
    """
    n, m = np.broadcast_arrays(np.asarray(size, np.float64), np.asarray(other_size, np.float64))
    ratio_low, ratio_high = ratio_ends(share, other)
    with np.errstate(divide="ignore", invalid="ignore", over="ignore"):
        value = n * share.value / (n * share.value + m * other.value)
        ratio = share.value / other.value
        of_sizes = RateArrays(n / (n + m), *proportion_interval(n, n + m, level=level))
        log_size = [np.log(part / (1.0 - part)) for part in of_sizes]
        ends = []
        for end, size_end in ((ratio_low, log_size[1]), (ratio_high, log_size[2])):
            reach, size_away = np.log(end) - np.log(ratio), size_end - log_size[0]
            finite = np.isfinite(reach) & np.isfinite(size_away)
            total = np.sqrt(np.where(finite, reach, 0.0) ** 2 + np.where(finite, size_away, 0.0) ** 2)
            sign = -1.0 if end is ratio_low else 1.0
            # Where the ratio itself is 0 or infinite, the two distances are added.
            odds = np.where(finite, log_size[0] + np.log(ratio) + sign * total, size_end + np.log(end))
            ends.append(1.0 / (1.0 + np.exp(-odds)))
    # With one verdict only, everything good has it.
    value = np.where(m == 0, 1.0, np.where(n == 0, 0.0, value))
    low, high = np.where(m == 0, 1.0, ends[0]), np.where(n == 0, 0.0, ends[1])
    low, high = np.where((n == 0) | np.isnan(low), 0.0, low), np.where((m == 0) | np.isnan(high), 1.0, high)
    unknown = np.isnan(value)
    return RateArrays(
        value,
        np.where(unknown, 0.0, np.minimum(low, value)),
        np.where(unknown, 1.0, np.maximum(high, value)),
    )


def ratio_ends(first: RateArrays, second: RateArrays) -> tuple[Floats, Floats]:
    """Return the ends of p₁/p₂ from the intervals of both (MOVER-R; Donner and Zou 2012, eq. 9).

    [p₁p₂ ∓ √((p₁p₂)² − l₁u₂(2p₁ − l₁)(2p₂ − u₂))] / [u₂(2p₂ − u₂)], and likewise at the other end; infinite
    where the second may be 0.
    """
    p, q = first.value, second.value
    with np.errstate(divide="ignore", invalid="ignore"):
        product = (p * q) ** 2
        lower = 2.0 * q - second.high
        root = np.sqrt(np.maximum(product - first.low * second.high * (2.0 * p - first.low) * lower, 0.0))
        low = (p * q - root) / (second.high * lower)
        # 2q = u: the quotient's limit.
        low = np.where(np.abs(lower) < 1e-12, first.low * (2.0 * p - first.low) / (2.0 * p * q), low)
        upper = second.low * (2.0 * q - second.low)
        root = np.sqrt(np.maximum(product - first.high * (2.0 * p - first.high) * upper, 0.0))
        high = np.where(upper > 0, (p * q + root) / upper, np.inf)
    return np.maximum(low, 0.0), high


# --- graded scores ---


class ScoreBand(NamedTuple):
    """Labelled outputs to which the judge gave scores from ``low`` to ``high``: their number and both means.

    ``low`` and ``high`` are on the judge's own scale, the means on people's.
    """

    low: float
    high: float
    labels: int
    judge: float
    people: Rate


@dataclass(frozen=True)
class Calibration:
    """People's score as a line in the judge's, both on people's scale: score = offset + slope · judge.

    A slope of 1 with an offset of 0 is a judge that can be taken at its word. A slope below 1 exaggerates
    differences; ``shift`` is how much higher the judge scores than people on average. ``bands`` are people's
    means by the judge's score, lowest first.
    """

    slope: Rate
    offset: Rate
    shift: Rate
    bands: tuple[ScoreBand, ...] = ()


# Scores of so many values are shown one by one, others in so many parts.
_VALUES, _BANDS = 6, 4


def calibration(labelled: LabelledOutputs, level: float, origin: float = 0.0) -> Calibration:
    """Return slope and offset by weighted least squares, with cluster-robust intervals (Student's t).

    The offset is people's score where the judge's is ``origin``.
    """
    judge, people = labelled.on_people_scale, labelled.human
    unit = np.ones((len(judge), 1))
    offset, slope = _UNKNOWN, _UNKNOWN
    if np.ptp(judge) > 0:
        line = np.hstack([unit, judge[:, None] - origin])
        offset, slope = _least_squares(line, people, labelled.weight, labelled.cluster, level)
    shift = _least_squares(unit, judge - people, labelled.weight, labelled.cluster, level)[0]
    values = np.unique(labelled.score)
    edges = (
        values if len(values) <= _VALUES else np.unique(np.quantile(labelled.score, np.arange(4) / _BANDS))
    )
    codes = np.searchsorted(edges, labelled.score, side="right") - 1
    bands = []
    for code in np.unique(codes):
        part = codes == code
        mean = _least_squares(unit[part], people[part], labelled.weight[part], labelled.cluster[part], level)[
            0
        ]
        scores, weight = labelled.score[part], labelled.weight[part]
        means = float(weight @ judge[part] / weight.sum())
        bands.append(ScoreBand(float(scores.min()), float(scores.max()), int(part.sum()), means, mean))
    return Calibration(slope, offset, shift, tuple(bands))


def _least_squares(design: Floats, values: Floats, weight: Floats, cluster: Ints, level: float) -> list[Rate]:
    """Return the coefficients of a weighted regression with cluster-robust intervals."""
    codes = np.unique(cluster, return_inverse=True)[1]
    groups = int(codes.max()) + 1
    inverse = np.linalg.pinv((design * weight[:, None]).T @ design)
    solution = inverse @ (design * weight[:, None]).T @ values
    parts = design * (weight * (values - design @ solution))[:, None]
    sums = np.stack([np.bincount(codes, column) for column in parts.T], axis=1)
    covariance = inverse @ (sums.T @ sums) @ inverse * groups / max(groups - 1, 1)
    quantile = float(special.stdtrit(groups - 1.0, 0.5 + level / 2.0)) if groups > 1 else float("nan")
    halves = quantile * np.sqrt(np.maximum(np.diag(covariance), 0.0))
    return [
        Rate(float(at), float(at - half), float(at + half)) for at, half in zip(solution, halves, strict=True)
    ]


def _as_rate(rates: RateArrays) -> Rate:
    return Rate(*(float(part) for part in rates))


# --- the true rate from a judge's verdicts alone, with error rates learned elsewhere ---

# Below this sum of sensitivity and specificity, less one, the judge is hardly better than a coin.
LEAST_SKILL = 0.05
ELSEWHERE = (
    "the labels are not a random sample of these outputs, so the true score is right only if the judge errs "
    "as often here as there, which nothing here can check: label a random sample of these outputs."
)


@dataclass(frozen=True)
class CorrectedScore:
    """The judge's mean, corrected by errors that were learned elsewhere."""

    score: Rate  # the corrected mean, with its interval
    labels: int  # the labels that the errors were learned from
    method: str  # ``Rogan–Gladen`` for pass and fail, ``regression`` for grades


def corrected_score(labelled: LabelledOutputs, verdicts: Floats, level: float) -> CorrectedScore:
    """Return the true score behind a judge's scores (``verdicts``, of all outputs), by labels elsewhere.

    Pass and fail: θ = (q + Sp − 1)/(Se + Sp − 1), q the share that the judge passes (Rogan and Gladen 1978),
    with Lang and Reiczigel's (2014) interval, which adds a pseudo-count to each and holds for few labels.
    Grades: θ = a + b·mean, people's score regressed on the judge's (least squares, cluster-robust).
    """
    z, ends = float(special.ndtri(0.5 + level / 2.0)), labelled.people
    if not labelled.two_valued:
        # The height of the line at the judge's mean: there, with that mean as origin, lies its offset.
        height = calibration(labelled, level, origin=float(labelled.rescaled(verdicts).mean())).offset
        if height.value != height.value:
            raise DataError(
                f"{labelled.judge} gives all labelled outputs the same score, so it cannot be used."
            )
        score = Rate(*(float(np.clip(end, ends.low, ends.high)) for end in height))
        return CorrectedScore(score, len(labelled), "regression")
    good, passed = labelled.good, labelled.passed
    if good.all() or not good.any():
        lacking = "fail" if good.all() else "pass"
        raise DataError(
            f"No label elsewhere is a {lacking}, so the error rates of {labelled.judge} are unknown: add "
            f"labels of outputs that people {lacking}."
        )
    sensitivity, specificity = float(passed[good].mean()), float((~passed[~good]).mean())
    if sensitivity + specificity - 1.0 < LEAST_SKILL:
        raise DataError(
            f"{labelled.judge} passes {100 * sensitivity:.0f} % of good outputs and "
            f"{100 * (1 - specificity):.0f} % of bad ones, which says nothing about the true rate: label a "
            "random sample of the outputs themselves."
        )
    share = float((verdicts >= labelled.cut).mean())
    value = (share + specificity - 1.0) / (sensitivity + specificity - 1.0)
    # Lang and Reiczigel 2014, section 2.2: one more success and one more failure for each rate.
    n_good, n_bad = good.sum() + 2.0, (~good).sum() + 2.0
    size = len(verdicts) + z**2
    q = (share * len(verdicts) + z**2 / 2.0) / size
    se, sp = (passed[good].sum() + 1.0) / n_good, ((~passed[~good]).sum() + 1.0) / n_bad
    skill = se + sp - 1.0
    rate = (q + sp - 1.0) / skill
    of_good, of_bad = se * (1.0 - se) / n_good, sp * (1.0 - sp) / n_bad
    shift = 2.0 * z**2 * (rate * of_good - (1.0 - rate) * of_bad)
    spread = np.sqrt(q * (1.0 - q) / size + rate**2 * of_good + (1.0 - rate) ** 2 * of_bad) / skill
    low, high = rate + shift - z * spread, rate + shift + z * spread
    inside = np.clip([value, min(low, value), max(high, value)], 0.0, 1.0)
    score = Rate(*(float(ends.low + part * (ends.high - ends.low)) for part in inside))
    return CorrectedScore(score, len(labelled), "Rogan–Gladen")
