"""The report on raters: severity, agreement, predictability, control items and flags together."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import compress
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.format import counted, decimal_text, decimals_for, share_text
from sparingly.base.stats.correlation import pearson
from sparingly.base.stats.krippendorff import Level
from sparingly.base.stats.moments import FEWEST, outlier_p_value, outlier_p_values
from sparingly.base.stats.pairs import holm
from sparingly.base.summary import Summary, Tabular
from sparingly.data.evalset import EvalSet
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.values import PlainFields, plain
from sparingly.infer.estimate.rater_effects import RaterScores, Severity, rater_scores
from sparingly.infer.estimate.rater_effects import severity as rater_severity
from sparingly.run.raters.agreement import Predictability, RaterAgreement, predictability, rater_agreement
from sparingly.run.raters.controls import ControlReport, control_report

FEWEST_JUDGEMENTS = 10
TOO_FEW = f"with fewer than {FEWEST} raters, no rater can be called far from the rest."
# What is said of a rater: the words for a value below and above the usual one, and the sentence.
_SENTENCES = {
    "severity": (("lower", "higher"), "scores {gap:.3g} points {word} than the others would"),
    "spread": (
        ("less", "more"),
        "uses {word} of the scale than the others, standard deviation {value:.3g} against {usual:.3g}",
    ),
    "agreement": (
        ("", ""),
        "agrees less with the others on the same outputs: correlation {value:.2f} against {usual:.2f}",
    ),
    "speed": (
        ("faster", "slower"),
        "is {word} than the others, {value:.3g} seconds for an output against {usual:.3g}",
    ),
    "constant": (
        ("", ""),
        "gave the same answer to everything; the others give their commonest {usual:.0%} of the time",
    ),
    "controls": (
        ("", ""),
        "scored {value:.0%} of the degraded outputs below the original; the others {usual:.0%}",
    ),
}
# A number per rater, and its p-values before correction.
_Check = tuple[Floats, Floats]


@dataclass(frozen=True)
class RaterFlag(PlainFields):
    """One rater who is far from the rest in one respect."""

    rater: str
    check: str  # the respect: severity, spread, agreement, speed, constant or controls
    value: float  # what was seen of the rater; ``sentence`` says it in words
    usual: float  # the mean of the others
    p: float  # the chance of it if the rater were as the others, corrected by Holm over all checks and raters
    sentence: str


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

    Examples:
        >>> import sparingly
        >>> rater_flags(sparingly.load_demo(), "mqm")
        ()
    """
    ratings = rater_scores(data, aspect)
    fit = rater_severity(data, ratings.aspect) if severity is None else severity
    enough = ratings.judgements >= FEWEST_JUDGEMENTS
    severities = np.where(enough, fit.severity, np.nan)
    checks: dict[str, _Check] = {
        "severity": (severities, outlier_p_values(severities, np.nan_to_num(fit.standard_errors))),
        "spread": _spread(ratings, enough),
        "agreement": _agreement(ratings),
        "speed": _speed(data, ratings, enough),
        "constant": _constant(ratings, enough),
        "controls": _controls(ratings, controls),
    }
    adjusted = holm(np.concatenate([p for _, p in checks.values()])).reshape(len(checks), -1)
    flags = []
    for (check, (values, _)), p in zip(checks.items(), adjusted, strict=True):
        words, sentence = _SENTENCES[check]
        for number in [place for place in np.argsort(p, kind="stable") if p[place] <= alpha]:
            rater, value = ratings.raters[number], float(values[number])
            other_values = np.delete(values, number)
            usual = float(np.nanmean(other_values)) if (~np.isnan(other_values)).any() else float("nan")
            finding = sentence.format(
                value=value, usual=usual, gap=abs(value - usual), word=words[0 if value < usual else 1]
            )
            flags.append(RaterFlag(rater, check, value, usual, float(p[number]), f"{rater} {finding}."))
    return tuple(flags)


def _spread(ratings: RaterScores, enough: Any) -> _Check:
    """Compare the logarithms of the standard deviations of raters' scores."""
    deviation = np.array(
        [ratings.score[ratings.rater == rater].std() for rater in range(len(ratings.raters))]
    )
    usable = enough & (deviation > 0)
    logs = np.where(usable, np.log(np.where(usable, deviation, 1.0)), np.nan)
    errors = 1.0 / np.sqrt(2.0 * np.maximum(ratings.judgements - 1, 1))
    return np.where(usable, deviation, np.nan), outlier_p_values(logs, errors)


def _agreement(ratings: RaterScores) -> _Check:
    """Compare Fisher's z of the correlation with the mean of the others on the same outputs.

    What the others have among themselves is found without the rater, who would spoil theirs, too.
    """
    values, z, errors = _with_others(ratings, np.full(len(ratings.rater), True))
    p = np.full(len(values), np.nan)
    for number in np.flatnonzero(~np.isnan(values)):
        _, other_z, other_errors = _with_others(ratings, ratings.rater != number)
        p[number] = outlier_p_value(float(z[number]), float(errors[number]), other_z, other_errors, "low")
    return values, p


def _with_others(ratings: RaterScores, mask: Any) -> tuple[Floats, Floats, Floats]:
    """Return correlations with the mean of the others on the same outputs, Fisher's z, and its errors."""
    score, cell, rater = ratings.score[mask], ratings.cell[mask], ratings.rater[mask]
    count = np.bincount(cell)[cell]
    other_means = (np.bincount(cell, score)[cell] - score) / np.maximum(count - 1, 1)
    values, errors = np.full(len(ratings.raters), np.nan), np.zeros(len(ratings.raters))
    for number in range(len(ratings.raters)):
        rows = (rater == number) & (count > 1)
        if (common := int(rows.sum())) >= FEWEST_JUDGEMENTS:
            values[number] = pearson(score[rows], other_means[rows])
            errors[number] = 1.0 / np.sqrt(common - 3)
    return values, np.arctanh(np.clip(values, -0.999, 0.999)), errors


def _speed(data: EvalSet, ratings: RaterScores, enough: Any) -> _Check:
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
    return medians, outlier_p_values(logs, errors)


def _constant(ratings: RaterScores, enough: Any) -> _Check:
    """Find raters who gave one answer to everything: qⁿ where the others give it with the share q."""
    values, p = np.full(len(ratings.raters), np.nan), np.full(len(ratings.raters), np.nan)
    for number in np.flatnonzero(enough):
        own_scores = ratings.score[ratings.rater == number]
        other_scores = ratings.score[ratings.rater != number]
        _, often = np.unique(own_scores, return_counts=True)
        values[number] = often.max() / len(own_scores)
        if len(other_scores):
            share = float((other_scores == own_scores[0]).mean())
            p[number] = share ** len(own_scores) if len(often) == 1 else 1.0
    return values, p


def _controls(ratings: RaterScores, report: ControlReport | None) -> _Check:
    """Compare how often degraded outputs were scored below the original with the others' rate."""
    values, p = np.full(len(ratings.raters), np.nan), np.full(len(ratings.raters), np.nan)
    scores = [] if report is None else [score for score in report.scores if score.kind == "degraded"]
    for score in scores:
        others_scores = [another for another in scores if another.rater != score.rater]
        judged = sum(another.n for another in others_scores)
        if score.rater in ratings.raters and judged:
            # Only here: scipy.stats takes half a second to import.
            from scipy.stats import binom

            number = ratings.raters.index(score.rater)
            values[number] = score.right / score.n
            # One right answer more keeps a rate of 100 % in a few from flagging everybody else.
            rate = (sum(another.right for another in others_scores) + 1.0) / (judged + 2.0)
            p[number] = float(binom.cdf(score.right, score.n, rate))
    return values, p


@dataclass(frozen=True, repr=False)
class RaterReport(Tabular):
    """What is to be said of the raters of an aspect; ``controls`` is None without control items."""

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

    @property
    def headline(self) -> str:
        """How many raters there are, and whether any of them is far from the rest."""
        flagged = len({flag.rater for flag in self.flags})
        raters = f"{counted(len(self.severity.raters), 'rater')} of {self.severity.aspect}"
        return f"{raters}; {flagged or 'none'} far from the rest"

    def summary(self) -> Summary:
        """Return whether any rater stands out and how well they agree, and a row for each."""
        predictions = {rater.rater: rater for rater in self.predictability.raters}
        alphas = {rater.rater: rater.alpha for rater in self.agreement.own}
        severity, alpha = self.severity, self.agreement.alpha
        decimals = decimals_for(severity.standard_errors.tolist())
        rows = []
        for place, name in enumerate(severity.raters):
            prediction = predictions.get(name)
            error = decimal_text(float(severity.standard_errors[place]), decimals)
            lean = f"{severity.severity[place] + 0.0:+.{2 if decimals is None else decimals}f} ± {error}"
            rows.append(
                (
                    name,
                    str(int(severity.judgements[place])),
                    lean.removesuffix(" ± -"),
                    decimal_text(prediction.error if prediction else None, decimals, 3),
                    share_text(prediction.share if prediction else None, 0),
                    decimal_text(alphas.get(name), 2),
                )
            )
        columns = ["rater", "outputs", "severity", "error from others", "own share that beats it"]
        columns.append("α with self")
        keep = [True] * 5 + [bool(alphas)]
        agree = (
            f" Krippendorff's α {alpha.alpha:.2f} [{alpha.low:.2f}, {alpha.high:.2f}]" if alpha.units else ""
        )
        over = f" over {alpha.units} outputs with two or more raters." if agree else ""
        return Summary(
            (f"{self.headline}.{agree}{over}", *(f"{flag.sentence}." for flag in self.flags)),
            tuple(compress(columns, keep)),
            tuple(tuple(compress(row, keep)) for row in rows),
            next_steps=("sparingly report DATA",),
            notes=self.notes,
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row per rater: how many judgements, and how severe."""
        return list(self.severity.to_dict()["raters"])

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        parts = {"severity": self.severity.to_dict(), "agreement": self.agreement.to_dict()}
        return {**plain(vars(self)), **parts}


def rater_report(
    data: DataLike,
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
        data: The evaluation set (or its file, or a frame) with its ratings.
        aspect: What was judged; default: the only one.
        level: What scores mean for agreement: ``nominal``, ``ordinal``, ``interval`` or ``ratio``.
        metric: The metric of the slopes by rater and model; default: none.
        controls: Control items with their ratings, if there were any.
        alpha: The probability of flagging anybody wrongly.
        seed: The seed of the bootstrap.

    Examples:
        >>> import sparingly
        >>> report = sparingly.rater_report(sparingly.load_demo(), "mqm")
        >>> len(report.severity.raters), len(report.flags)
        (3, 0)
    """
    data = as_evalset(data)
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
