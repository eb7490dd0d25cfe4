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
from sparingly.infer.estimate.rater_effects import RaterScores, Severity, rater_scores, severity
from sparingly.run.raters.agreement import RaterAgreement, rater_agreement
from sparingly.run.raters.controls import ControlReport, control_report
from sparingly.run.raters.predictability import Predictability, predictability

# Flags: raters who are far from the rest, each with a sentence, corrected for how many were looked at.


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
class _Check:
    """One respect: a number per rater, its p-values before correction, and how to say it."""

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
    are left in peace; always the same answer and failed control items with how often the others give that
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
    from sparingly.infer.estimate.rater_effects import severity as fitted

    held = rater_scores(data, aspect)
    known = fitted(data, held.aspect) if severity is None else severity
    enough = held.judgements >= FEWEST_JUDGEMENTS
    checks = [
        _severity(known, enough),
        _spread(held, enough),
        _agreement(held),
        _speed(data, held, enough),
        _constant(held, enough),
        _controls(held, controls),
    ]
    adjusted = holm(np.concatenate([check.p for check in checks])).reshape(len(checks), -1)
    return tuple(
        _flag(held.raters[place], check, place, float(p[place]))
        for check, p in zip(checks, adjusted, strict=True)
        for place in np.argsort(p, kind="stable")
        if p[place] <= alpha
    )


def _flag(rater: str, check: _Check, place: int, p: float) -> RaterFlag:
    others = np.delete(check.values, place)
    usual = float(np.nanmean(others)) if (~np.isnan(others)).any() else float("nan")
    value = float(check.values[place])
    return RaterFlag(rater, check.name, value, usual, p, f"{rater} {check.say(value, usual)}.")


def _severity(known: Severity, enough: Any) -> _Check:
    values = np.where(enough, known.severity, np.nan)

    def say(value: float, usual: float) -> str:
        word = "lower" if value < usual else "higher"
        return f"scores {abs(value - usual):.3g} points {word} than the others would"

    return _Check("severity", values, outlier_p_values(values, np.nan_to_num(known.standard_errors)), say)


def _spread(held: RaterScores, enough: Any) -> _Check:
    """Compare the logarithm of the standard deviation of what raters give."""
    deviation = np.array([held.score[held.rater == one].std() for one in range(len(held.raters))])
    usable = enough & (deviation > 0)
    logs = np.where(usable, np.log(np.where(usable, deviation, 1.0)), np.nan)
    errors = 1.0 / np.sqrt(2.0 * np.maximum(held.judgements - 1, 1))

    def say(value: float, usual: float) -> str:
        word = "less" if value < usual else "more"
        return f"uses {word} of the scale than the others, standard deviation {value:.3g} against {usual:.3g}"

    return _Check("spread", np.where(usable, deviation, np.nan), outlier_p_values(logs, errors), say)


def _agreement(held: RaterScores) -> _Check:
    """Compare Fisher's z of the correlation with the mean of the others on the same outputs.

    What the others have among themselves is found without the rater, who would spoil theirs, too.
    """
    values, errors = _with_others(held.score, held.cell, held.rater, len(held.raters))
    p = np.full(len(values), np.nan)
    for place in np.flatnonzero(~np.isnan(values)):
        rest = held.rater != place
        known = _with_others(held.score[rest], held.cell[rest], held.rater[rest], len(held.raters))
        own = float(_fisher(values)[place])
        p[place] = outlier_p_value(own, float(errors[place]), _fisher(known[0]), known[1], "low")

    def say(value: float, usual: float) -> str:
        return f"agrees less with the others on the same outputs: correlation {value:.2f} against {usual:.2f}"

    return _Check("agreement", values, p, say)


def _with_others(score: Floats, cell: Ints, rater: Ints, raters: int) -> tuple[Floats, Floats]:
    """Return correlations with the mean of the others on the same outputs, and the errors of their z."""
    count = np.bincount(cell)[cell]
    others = (np.bincount(cell, score)[cell] - score) / np.maximum(count - 1, 1)
    values, errors = np.full(raters, np.nan), np.zeros(raters)
    for place in range(raters):
        rows = (rater == place) & (count > 1)
        if (common := int(rows.sum())) >= FEWEST_JUDGEMENTS:
            values[place], errors[place] = pearson(score[rows], others[rows]), 1.0 / np.sqrt(common - 3)
    return values, errors


def _fisher(correlations: Floats) -> Floats:
    return np.asarray(np.arctanh(np.clip(correlations, -0.999, 0.999)))


def _speed(data: EvalSet, held: RaterScores, enough: Any) -> _Check:
    """Compare the mean logarithm of the seconds that an output takes."""
    table = data.ratings
    known = (table.aspect == table.aspects.index(held.aspect)) & (table.rater >= 0) & (table.seconds > 0)
    medians, logs = np.full(len(held.raters), np.nan), np.full(len(held.raters), np.nan)
    errors = np.zeros(len(held.raters))
    for place, name in enumerate(held.raters):
        seconds = table.seconds[known & (table.rater == table.raters.index(name))]
        if enough[place] and len(seconds) >= FEWEST_JUDGEMENTS:
            medians[place], logs[place] = np.median(seconds), np.log(seconds).mean()
            errors[place] = np.log(seconds).std(ddof=1) / np.sqrt(len(seconds))

    def say(value: float, usual: float) -> str:
        word = "faster" if value < usual else "slower"
        return f"is {word} than the others, {value:.3g} seconds for an output against {usual:.3g}"

    return _Check("speed", medians, outlier_p_values(logs, errors), say)


def _constant(held: RaterScores, enough: Any) -> _Check:
    """Find raters who gave one answer to everything: qⁿ where the others give it with the share q."""
    values, p = np.full(len(held.raters), np.nan), np.full(len(held.raters), np.nan)
    for place in np.flatnonzero(enough):
        own, others = held.score[held.rater == place], held.score[held.rater != place]
        _, often = np.unique(own, return_counts=True)
        values[place] = often.max() / len(own)
        if len(others):
            share = float((others == own[0]).mean())
            p[place] = share ** len(own) if len(often) == 1 else 1.0

    def say(value: float, usual: float) -> str:
        return f"gave the same answer to everything; the others give their commonest {usual:.0%} of the time"

    return _Check("constant", values, p, say)


def _controls(held: RaterScores, report: ControlReport | None) -> _Check:
    """Compare how often degraded outputs were scored below the original with the others' rate."""
    from scipy.stats import binom

    values, p = np.full(len(held.raters), np.nan), np.full(len(held.raters), np.nan)
    scores = [] if report is None else [one for one in report.scores if one.kind == "degraded"]
    for one in scores:
        rest = [other for other in scores if other.rater != one.rater]
        judged = sum(other.n for other in rest)
        if one.rater in held.raters and judged:
            place = held.raters.index(one.rater)
            values[place] = one.right / one.n
            # One right answer more keeps a rate of 100 % in a few from flagging everybody else.
            rate = (sum(other.right for other in rest) + 1.0) / (judged + 2.0)
            p[place] = float(binom.cdf(one.right, one.n, rate))

    def say(value: float, usual: float) -> str:
        return f"scored {value:.0%} of the degraded outputs below the original; the others {usual:.0%}"

    return _Check("controls", values, p, say)


# The report on raters: severity, agreement, predictability, control items and flags together.


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
    """Tell what can be told of the raters: severity, agreement, predictability, control items, flags.

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
    held = rater_scores(data, aspect)
    severe = severity(data, held.aspect)
    agreed = rater_agreement(data, held.aspect, level=level, controls=controls, seed=seed)
    predicted = predictability(data, held.aspect, metric=metric)
    checked = None if controls is None else control_report(data, controls, held.aspect)
    few = (TOO_FEW,) if len(held.raters) < FEWEST else ()
    notes = (*severe.notes, *agreed.notes, *few)
    return RaterReport(
        severity=severe,
        agreement=agreed,
        predictability=predicted,
        controls=checked,
        flags=rater_flags(data, held.aspect, severity=severe, controls=checked, alpha=alpha),
        notes=tuple(dict.fromkeys(notes)),
    )
