"""The report on raters: severity, agreement, predictability, control items and flags together."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.correlation import pearson
from sparingly.base.stats.krippendorff import Level
from sparingly.base.stats.moments import FEWEST, outlier_p_value, outlier_p_values
from sparingly.base.stats.multiple_tests import holm
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.rater_effects import RaterScores, Severity, rater_scores
from sparingly.infer.estimate.rater_effects import severity as rater_severity
from sparingly.run.raters.agreement import RaterAgreement, rater_agreement
from sparingly.run.raters.controls import ControlReport, control_report
from sparingly.run.raters.predictability import Predictability, predictability

FEWEST_JUDGEMENTS = 10
TOO_FEW = f"with fewer than {FEWEST} raters, nobody can be called far from the rest."
CHECKS = ("severity", "spread", "agreement", "speed", "constant", "controls")


@dataclass(frozen=True)
class RaterFlag:
    """One rater who is far from the rest in one respect.

    Attributes:
        rater: The rater.
        check: The respect: severity, spread, agreement, speed, constant or controls.
        value: What was seen of the rater.
        usual: The mean of the others.
        p: The chance of it if the rater were as the others, corrected by Holm over all checks and raters.
        sentence: What was seen, in words.
    """

    rater: str
    check: str
    value: float
    usual: float
    p: float
    sentence: str

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(plain(asdict(self)))


@dataclass(frozen=True, eq=False)
class _RaterCheck:
    """One check: a number per rater, its p-values before correction, and a sentence about it."""

    name: str
    values: Floats
    p: Floats
    say: Callable[[float, float], str]


def rater_flags(
    data: EvalSet,
    aspect: str | None = None,
    *,
    severity: Severity | None = None,
    controls: ControlReport | None = None,
    alpha: float = 0.05,
) -> tuple[RaterFlag, ...]:
    """Flag raters who are far from the rest; an invitation to look, no proof of bad work.

    Severity, spread of scores, correlation with the others on the same outputs, and seconds for an output are
    compared with those of the other raters (``outlier_p_values``), so that raters who differ as raters do
    are not flagged; always the same answer and failed control items with how often the others give that
    answer or fail. Holm's correction over all of it keeps the chance of flagging anybody wrongly below
    ``alpha``. Raters with fewer than ten judgements are not looked at.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; the only one unless given.
        severity: How severe raters are; ``severity(data, aspect)`` unless given.
        controls: What raters did with control items, if there were any.
        alpha: The chance of flagging anybody wrongly.

    Examples:
        >>> import sparingly
        >>> rater_flags(sparingly.load_demo(), "overall")
        ()
    """
    ratings = rater_scores(data, aspect)
    fit = rater_severity(data, ratings.aspect) if severity is None else severity
    enough = ratings.judgements >= FEWEST_JUDGEMENTS
    checks = [
        _severity(fit, enough),
        _spread(ratings, enough),
        _agreement(ratings),
        _speed(data, ratings, enough),
        _constant(ratings, enough),
        _controls(ratings, controls),
    ]
    adjusted = holm(np.concatenate([check.p for check in checks])).reshape(len(checks), -1)
    return tuple(
        _flag(ratings.raters[number], check, number, float(p[number]))
        for check, p in zip(checks, adjusted, strict=True)
        for number in np.argsort(p, kind="stable")
        if p[number] <= alpha
    )


def _flag(rater: str, check: _RaterCheck, number: int, p: float) -> RaterFlag:
    other_values = np.delete(check.values, number)
    usual = float(np.nanmean(other_values)) if (~np.isnan(other_values)).any() else float("nan")
    value = float(check.values[number])
    return RaterFlag(rater, check.name, value, usual, p, f"{rater} {check.say(value, usual)}.")


def _severity(fit: Severity, enough: Any) -> _RaterCheck:
    values = np.where(enough, fit.severity, np.nan)

    def say(value: float, usual: float) -> str:
        word = "lower" if value < usual else "higher"
        return f"scores {abs(value - usual):.3g} points {word} than the others would"

    return _RaterCheck("severity", values, outlier_p_values(values, np.nan_to_num(fit.standard_errors)), say)


def _spread(ratings: RaterScores, enough: Any) -> _RaterCheck:
    """Compare the logarithms of the standard deviations of raters' scores."""
    deviation = np.array(
        [ratings.score[ratings.rater == rater].std() for rater in range(len(ratings.raters))]
    )
    usable = enough & (deviation > 0)
    logs = np.where(usable, np.log(np.where(usable, deviation, 1.0)), np.nan)
    errors = 1.0 / np.sqrt(2.0 * np.maximum(ratings.judgements - 1, 1))

    def say(value: float, usual: float) -> str:
        word = "less" if value < usual else "more"
        return f"uses {word} of the scale than the others, standard deviation {value:.3g} against {usual:.3g}"

    return _RaterCheck("spread", np.where(usable, deviation, np.nan), outlier_p_values(logs, errors), say)


def _agreement(ratings: RaterScores) -> _RaterCheck:
    """Compare Fisher's z of the correlation with the mean of the others on the same outputs.

    What the others have among themselves is found without the rater, who would spoil theirs, too.
    """
    values, errors = _with_others(ratings.score, ratings.cell, ratings.rater, len(ratings.raters))
    p = np.full(len(values), np.nan)
    for number in np.flatnonzero(~np.isnan(values)):
        other_rows = ratings.rater != number
        reference = _with_others(
            ratings.score[other_rows],
            ratings.cell[other_rows],
            ratings.rater[other_rows],
            len(ratings.raters),
        )
        own_z = float(_fisher(values)[number])
        p[number] = outlier_p_value(own_z, float(errors[number]), _fisher(reference[0]), reference[1], "low")

    def say(value: float, usual: float) -> str:
        return f"agrees less with the others on the same outputs: correlation {value:.2f} against {usual:.2f}"

    return _RaterCheck("agreement", values, p, say)


def _with_others(score: Floats, cell: Ints, rater: Ints, raters: int) -> tuple[Floats, Floats]:
    """Return correlations with the mean of the others on the same outputs, and the errors of their z."""
    count = np.bincount(cell)[cell]
    other_means = (np.bincount(cell, score)[cell] - score) / np.maximum(count - 1, 1)
    values, errors = np.full(raters, np.nan), np.zeros(raters)
    for number in range(raters):
        rows = (rater == number) & (count > 1)
        if (common := int(rows.sum())) >= FEWEST_JUDGEMENTS:
            values[number], errors[number] = (
                pearson(score[rows], other_means[rows]),
                1.0 / np.sqrt(common - 3),
            )
    return values, errors


def _fisher(correlations: Floats) -> Floats:
    return np.asarray(np.arctanh(np.clip(correlations, -0.999, 0.999)))


def _speed(data: EvalSet, ratings: RaterScores, enough: Any) -> _RaterCheck:
    """Compare the mean logarithm of the seconds that an output takes."""
    table = data.ratings
    timed = (table.aspect == table.aspects.index(ratings.aspect)) & (table.rater >= 0) & (table.seconds > 0)
    medians, logs = np.full(len(ratings.raters), np.nan), np.full(len(ratings.raters), np.nan)
    errors = np.zeros(len(ratings.raters))
    for number, name in enumerate(ratings.raters):
        seconds = table.seconds[timed & (table.rater == table.raters.index(name))]
        if enough[number] and len(seconds) >= FEWEST_JUDGEMENTS:
            medians[number], logs[number] = np.median(seconds), np.log(seconds).mean()
            errors[number] = np.log(seconds).std(ddof=1) / np.sqrt(len(seconds))

    def say(value: float, usual: float) -> str:
        word = "faster" if value < usual else "slower"
        return f"is {word} than the others, {value:.3g} seconds for an output against {usual:.3g}"

    return _RaterCheck("speed", medians, outlier_p_values(logs, errors), say)


def _constant(ratings: RaterScores, enough: Any) -> _RaterCheck:
    """Find raters who gave one answer to everything: qⁿ where the others give it with the share q."""
    values, p = np.full(len(ratings.raters), np.nan), np.full(len(ratings.raters), np.nan)
    for number in np.flatnonzero(enough):
        own_scores, other_scores = (
            ratings.score[ratings.rater == number],
            ratings.score[ratings.rater != number],
        )
        _, often = np.unique(own_scores, return_counts=True)
        values[number] = often.max() / len(own_scores)
        if len(other_scores):
            share = float((other_scores == own_scores[0]).mean())
            p[number] = share ** len(own_scores) if len(often) == 1 else 1.0

    def say(value: float, usual: float) -> str:
        return f"gave the same answer to everything; the others give their commonest {usual:.0%} of the time"

    return _RaterCheck("constant", values, p, say)


def _controls(ratings: RaterScores, report: ControlReport | None) -> _RaterCheck:
    """Compare how often degraded outputs were scored below the original with the others' rate."""
    from scipy.stats import binom

    values, p = np.full(len(ratings.raters), np.nan), np.full(len(ratings.raters), np.nan)
    scores = [] if report is None else [score for score in report.scores if score.kind == "degraded"]
    for score in scores:
        others_scores = [another for another in scores if another.rater != score.rater]
        judged = sum(another.n for another in others_scores)
        if score.rater in ratings.raters and judged:
            number = ratings.raters.index(score.rater)
            values[number] = score.right / score.n
            # One right answer more keeps a rate of 100 % in a few from flagging everybody else.
            rate = (sum(another.right for another in others_scores) + 1.0) / (judged + 2.0)
            p[number] = float(binom.cdf(score.right, score.n, rate))

    def say(value: float, usual: float) -> str:
        return f"scored {value:.0%} of the degraded outputs below the original; the others {usual:.0%}"

    return _RaterCheck("controls", values, p, say)


@dataclass(frozen=True, repr=False)
class RaterReport:
    """What is to be said of the raters of an aspect.

    Attributes:
        severity: How severe they are, and how much they vary.
        agreement: How well they agree.
        predictability: How well the others predict each one.
        controls: What they did with control items; None without any.
        flags: Who is far from the rest.
        notes: What to mind.
    """

    severity: Severity
    agreement: RaterAgreement
    predictability: Predictability
    controls: ControlReport | None
    flags: tuple[RaterFlag, ...]
    notes: tuple[str, ...] = ()

    def __repr__(self) -> str:
        flagged = len({flag.rater for flag in self.flags})
        raters = len(self.severity.raters)
        return f"RaterReport({self.severity.aspect}: {raters} raters, {flagged} flagged, {self.agreement!r})"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "severity": self.severity.to_dict(),
            "agreement": self.agreement.to_dict(),
            "predictability": self.predictability.to_dict(),
            "controls": None if self.controls is None else self.controls.to_dict(),
            "flags": [flag.to_dict() for flag in self.flags],
            "notes": list(self.notes),
        }


def rater_report(
    data: EvalSet,
    aspect: str | None = None,
    *,
    level: Level = "interval",
    metric: str | None = None,
    controls: EvalSet | None = None,
    alpha: float = 0.05,
    seed: int = 0,
) -> RaterReport:
    """Report on the raters: severity, agreement, predictability, control items, flags.

    Args:
        data: The evaluation set with its ratings.
        aspect: What was judged; the only one unless given.
        level: What scores mean for agreement: ``nominal``, ``ordinal``, ``interval`` or ``ratio``.
        metric: The metric of the slopes by rater and model; none unless given.
        controls: Control items with their ratings, if there were any.
        alpha: The chance of flagging anybody wrongly.
        seed: The seed of the bootstrap.

    Examples:
        >>> import sparingly
        >>> report = sparingly.rater_report(sparingly.load_demo(), "overall")
        >>> len(report.severity.raters), len(report.flags)
        (5, 0)
    """
    ratings = rater_scores(data, aspect)
    fit = rater_severity(data, ratings.aspect)
    agreement = rater_agreement(data, ratings.aspect, level=level, controls=controls, seed=seed)
    predictions = predictability(data, ratings.aspect, metric=metric)
    control_scores = None if controls is None else control_report(data, controls, ratings.aspect)
    too_few = (TOO_FEW,) if len(ratings.raters) < FEWEST else ()
    notes = (*fit.notes, *agreement.notes, *too_few)
    return RaterReport(
        severity=fit,
        agreement=agreement,
        predictability=predictions,
        controls=control_scores,
        flags=rater_flags(data, ratings.aspect, severity=fit, controls=control_scores, alpha=alpha),
        notes=tuple(dict.fromkeys(notes)),
    )
