"""``judge``: the true score, and whether the judge that scored everything can be trusted."""

from __future__ import annotations

import math
import shlex
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, is_dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparingly.base.checks import check_level
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError, listing
from sparingly.base.format import counted, decimal_text, decimals_for, number_text, p_text
from sparingly.base.lazy import special
from sparingly.base.summary import Summary, Tabular
from sparingly.base.syntax import argument
from sparingly.base.text import format_value, text_value
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.io import DataLike, as_evalset
from sparingly.data.selection import Selection
from sparingly.data.values import plain
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.estimators import FEWEST, calibrate_predictions
from sparingly.infer.estimate.rater_effects import RaterScores, rater_scores
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.estimate.sample import (
    JudgedSample,
    difference_form,
    frame_of,
    group_sums,
    sample_from,
    without_truth,
)
from sparingly.infer.judge.agreement import (
    AgreementWithPeople,
    AlternativeAnnotator,
    agreement_with_people,
    alternative_annotator,
)
from sparingly.infer.judge.bias import JudgeBias, JudgeError, find_biases, worst_errors
from sparingly.infer.judge.error_rates import (
    ELSEWHERE,
    Calibration,
    CorrectedScore,
    ErrorRates,
    Rate,
    calibration,
    corrected_score,
    error_rates,
)
from sparingly.infer.judge.labelled import LabelledOutputs, labelled_outputs
from sparingly.infer.plan.outlook import PlanGoals, PlanOutlook
from sparingly.infer.plan.pilot import learn_values, pilot_of
from sparingly.infer.plan.power import item_covariance
from sparingly.infer.plan.sample_size import round_width

if TYPE_CHECKING:
    from sparingly.infer.judge.agreement import PairCoefficients
    from sparingly.infer.judge.bias import JudgeBias, JudgeError


HUNDRED = 100.0


def labels_worth(data: EvalSet, sample: JudgedSample, level: float, seed: int) -> Rate | None:
    """Return how many labels without the judge are as good as 100 with it; None below 30 judged items.

    100/R with R = V_with/V_without, the variance that predictions from the metrics in ``data`` leave, learned
    from other labels (cross-fitted), over the variance of the labels themselves: those that ``plan`` uses.
    Its interval is that of ln R, linearised, u_i = (e_i² − R·r_i²)/π_i, by drawn units; no lower end lies
    below 100, since a judge that tells nothing is left out of the estimate.
    """
    from sparingly.signals.predict.features import has_features

    if sample.fewest_units < FEWEST:
        return None
    if not has_features(data):
        return Rate(HUNDRED, HUNDRED, HUNDRED)
    raw = difference_form(sample)
    raw_trace = float(np.trace(item_covariance(sample, raw.residual)))
    if not raw_trace > 0:
        return None
    linear = calibrate_predictions(sample, learn_values(data, sample, sample.scores, seed).held_out, 2.0)
    after = float(np.trace(item_covariance(sample, linear.residual, linear.parameters)))
    if linear.fallen_back is not None and linear.fallen_back.all():
        return Rate(HUNDRED, HUNDRED, HUNDRED)
    ratio = min(after / raw_trace, 1.0)
    # Σ_j e_ij²/π_ij of every row; a residual without a judgement is 0.
    squares = [(part**2 / sample.probability).sum(axis=1) for part in (linear.residual, raw.residual)]
    units = group_sums((squares[0] - ratio * squares[1])[:, None], sample.cluster)[:, 0]
    count = len(units)
    total = float(squares[1].sum())
    error = float(np.sqrt((units**2).sum() * count / (count - 1))) / (ratio * total) if ratio > 0 else 0.0
    half = float(special.stdtrit(count - 1.0, 0.5 + level / 2.0)) * error
    worth = HUNDRED / ratio if ratio > 0 else math.inf
    return Rate(worth, max(HUNDRED, worth * math.exp(-half)), worth * math.exp(half))


def only_metrics(data: EvalSet, names: Iterable[str]) -> EvalSet:
    """Return the set without its other metrics."""
    keep = {fields.metric(name) for name in names}
    excluded = {fields.metric(name) for name in data.metrics} - keep
    return data.only(name for name in data.fields if name not in excluded)


# --- how many labels a goal needs ---


@dataclass(frozen=True)
class LabelsNeeded:
    """How many items are to be judged for an interval of ± ``width``, with the judge and without it.

    None where nothing short of all items would do.
    """

    width: float
    with_judge: int | None
    without: int | None


def labels_needed(
    data: EvalSet, selection: Selection | None, aspect: str, half_width: float, level: float, seed: int
) -> LabelsNeeded | None:
    """Return what about half of the present half-width would take; by the planner, as ``plan`` prints it."""
    if not (math.isfinite(half_width) and half_width > 0):
        return None
    width = round_width(half_width / 2.0)
    goals = PlanGoals(width=width, target="set", level=level, seed=seed)
    try:
        pilot = pilot_of(data, selection, aspect, for_differences=False, seed=seed)
    except DataError:
        # Labels that are all alike do not tell how many more are needed.
        return None
    labels_alone = replace(pilot, data=only_metrics(pilot.data, ()), predicted=None, saving=None)
    counts = (PlanOutlook(part, goals).items_needed() for part in (pilot, labels_alone))
    return LabelsNeeded(width, *counts)


# --- the audit ---

SIGNIFICANT = 0.05


@dataclass(frozen=True)
class JudgeLine:
    """One judge in short, beside others: its mean, its errors, κ, and what 100 labels are worth with it."""

    judge: str
    mean: float
    rates: ErrorRates | None
    kappa: Rate
    correlation: Rate
    worth: Rate | None


@dataclass(frozen=True, eq=False, repr=False)
class JudgeAudit(Tabular):
    """Whether a judge can be trusted, and what it saves.

    Attributes:
        judge: The metric that was audited.
        aspect: What people judged.
        labels: The labelled outputs that it scored.
        estimate: The true scores, as ``estimate`` gives them; None where the labels are from elsewhere.
        corrected: The true score where labels are from elsewhere; else None.
        judge_mean: The judge's own mean, on people's scale.
        judge_means: The same by model.
        level_unknown: Whether the judge is on no usual scale, so that its level says nothing.
        is_rate: Whether scores are shares, which are written in percent.
        rates: Its error rates, where people say pass or fail.
        line: People's score as a line in the judge's, where they grade.
        agreement: κ, AC1 and correlation.
        biases: All that was tested for bias, the surest first.
        errors: Its worst errors, to read.
        alternative: The alternative-annotator test, where there are enough people.
        judges: All judges in short, by the labels that they save.
        worth: What 100 labels are worth with all metrics of the data.
        metrics: How many metrics there are, judges or not: the true scores are estimated with all of them.
        needed: Labels for a rounder interval, with and without.
        level: The level of the intervals.
        notes: What to mind.
    """

    rows_key: ClassVar[str] = "judges"

    judge: str
    aspect: str
    labels: int
    estimate: Estimate | None
    corrected: CorrectedScore | None
    judge_mean: float
    judge_means: dict[str, float]
    level_unknown: bool
    is_rate: bool
    rates: ErrorRates | None
    line: Calibration | None
    agreement: AgreementWithPeople
    biases: tuple[JudgeBias, ...]
    errors: tuple[JudgeError, ...]
    alternative: AlternativeAnnotator | None
    judges: tuple[JudgeLine, ...]
    worth: Rate | None
    metrics: int
    needed: LabelsNeeded | None
    level: float
    notes: tuple[str, ...]

    def __repr__(self) -> str:
        return f"JudgeAudit({' '.join(answer(self))})"

    def __str__(self) -> str:
        """Return the answer, the biases that are significant, and what to mind."""
        return "\n".join((*answer(self), *biases(self), *(f"note: {note}" for note in self.notes)))

    def summary(self) -> Summary:
        """Return the true score and whether the judge can be trusted, and how it agrees with the labels."""
        rates = self.rates
        columns: tuple[str, ...] = ("labels", "judge passes", "judge fails")
        rows: tuple[tuple[str, ...], ...] = ()
        if rates is not None:
            rows = tuple(
                (f"people {verb}", *map(str, counts))
                for verb, counts in zip(("pass", "fail"), rates.table, strict=True)
            )
        elif self.line is not None:
            columns, rows = (f"where {self.judge} gives", "labels", "people give"), tuple(band_rows(self))
        # Commands are for where more labels tell more of its errors.
        select = self.estimate is not None and rates is not None and rates.passed and rates.failed
        steps: tuple[str, ...] = ()
        if select and self.estimate is not None and (left := self.estimate.size - self.estimate.n) > 0:
            method = shlex.quote(f"verdicts:metric={format_value(text_value(self.judge))}")
            how = "--question judge" if self.metrics == 1 else f"--method {method}"
            # A name of its own: the selection that was read stays as it is.
            new = "next" if self.estimate.selection is None else f"next-after-{self.estimate.n}"
            steps = (f"sparingly select DATA {how} --budget {min(100, left)} --out {new}.json",)
        signed = None if self.estimate is None else self.estimate.signature
        return Summary(
            tuple(answer(self)),
            columns,
            rows,
            next_steps=steps,
            notes=self.notes,
            method=() if self.estimate is None else (self.estimate.headline,),
            signature="" if signed is None else str(signed),
        )

    @property
    def significant(self) -> tuple[JudgeBias, ...]:
        """The biases that hold after correction."""
        return tuple(bias for bias in self.biases if bias.corrected < SIGNIFICANT)

    @property
    def words(self) -> AuditNumbers:
        """How its scores are written."""
        return AuditNumbers(self.is_rate)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values; what is not known is None."""
        parts = {name: value for name, value in vars(self).items() if name not in ("estimate", "metrics")}
        made = None if self.estimate is None else self.estimate.to_dict()
        return {**_values(parts), "answer": list(answer(self)), "estimate": made}


def _values(part: Any) -> Any:
    """Return the values of a part and of the parts inside it, by name."""
    if isinstance(part, Rate):
        return plain(part._asdict())
    if is_dataclass(part):
        part = vars(part)
    if isinstance(part, dict):
        return {name: _values(value) for name, value in part.items()}
    return list(map(_values, part)) if isinstance(part, tuple) else plain(part)


def judge(
    data: DataLike,
    selection: Selection | None = None,
    aspect: str | None = None,
    *,
    judge: str | Sequence[str] | None = None,
    cut: float | None = None,
    labels_from: DataLike | None = None,
    true_scores: Estimate | None = None,
    level: float = 0.95,
    seed: int = 0,
) -> JudgeAudit:
    """Say what the true score is, and whether the judge that scored everything can be trusted.

    Args:
        data: The evaluation set (or its file, or a frame): a judge's scores as a metric, and some labels.
        selection: What was chosen to be labelled; default: a uniform sample.
        aspect: What people judged; default: the only aspect.
        judge: The metric that is the judge, or several to compare, the first in detail. All metrics unless
            given, in detail the one that saves most labels.
        cut: From which score on a graded judge passes an output; default: above the middle of its scale.
        labels_from: Other data with labels and the same judge, where these outputs have no labels.
        true_scores: The estimate of the true scores, where there is one already (of a campaign).
        level: The level of the intervals.
        seed: Of folds and permutations.

    Examples:
        >>> import sparingly
        >>> audit = sparingly.judge(sparingly.load_demo(), aspect="mqm")
        >>> audit.labels, audit.line.slope.value < 1
        (1176, True)
    """
    check_level(level)
    data = as_evalset(data)
    names = _judges(data, judge)
    if labels_from is not None or (selection is not None and not selection.is_probability_sample):
        return _with_labels_elsewhere(data, selection, aspect, names[0], cut, labels_from, level, seed)
    name = aspect if aspect is not None else the_only("aspect", None, data.aspects, "Name one: aspect=….")
    found = true_scores or estimate(data, selection, name, level=level, seed=seed)
    return audit_judges(
        data, selection, name, found, names, judge is not None, cut=cut, level=level, seed=seed
    )


def audit_judges(
    data: EvalSet,
    selection: Selection | None,
    name: str,
    found: Estimate,
    names: Sequence[str],
    first_in_detail: bool,
    *,
    cut: float | None,
    level: float,
    seed: int,
) -> JudgeAudit:
    """Return the audit beside the true scores that were estimated: every judge in short, one in detail."""
    view = frame_of(data, selection)
    sample = sample_from(view, view.truth(name), selection)
    view = without_truth(view, name)
    judges = [metric for metric in names if metric in view.metrics]
    if not judges:
        raise UsageError(
            f"{name} is the judge's own score: name what people judged, with {argument('aspect')}."
        )
    lines, parts = [], {}
    for metric in judges:
        labelled = labelled_outputs(view, sample, name, metric, cut)
        parts[metric] = labelled
        with_labels = agreement_with_people(labelled, None, level).labels
        lines.append(
            JudgeLine(
                metric,
                labelled.judge_mean,
                error_rates(labelled, level) if labelled.two_valued else None,
                with_labels.kappa,
                with_labels.correlation,
                labels_worth(only_metrics(view, [metric]), sample, level, seed),
            )
        )
    by_worth = sorted(lines, key=lambda line: (-(line.worth.value if line.worth else 0.0), line.judge))
    main = judges[0] if first_in_detail else by_worth[0].judge
    halves = (found.high - found.low) / 2.0
    halves = halves[np.isfinite(halves)]
    half = float(np.median(halves)) if len(halves) else float("nan")
    audit = _audit(parts[main], _ratings(view, name), name, found.is_rate, level, seed)
    return replace(
        audit,
        estimate=found,
        judges=tuple(by_worth),
        worth=labels_worth(view, sample, level, seed),
        metrics=len(view.metrics),
        needed=labels_needed(view, selection, name, half, level, seed),
        notes=(*found.notes, *audit.notes, *_copies(parts)),
    )


# More metrics than these are no judges of an application.
MOST_JUDGES = 6


def audit_for_report(
    data: EvalSet, rounds: Sequence[Selection], aspect: str, found: Estimate
) -> JudgeAudit | None:
    """Return the audit for reports and pages; None where it does not fit.

    It fits where the outputs were drawn at random, and a few metrics are there. Where people grade, only
    metrics that are called a judge are judges.
    """
    judges = [name for name in data.metrics if name != aspect and (found.is_rate or "judge" in name.lower())]
    if not 0 < len(judges) <= MOST_JUDGES or aspect not in data.aspects:
        return None
    if found.target == CHOSEN_ITEMS:
        return None
    # Rounds after the first were drawn from what was left: then labels count alike.
    selection = rounds[0] if len(rounds) == 1 else None
    how: dict[str, Any] = {"cut": None, "level": found.level, "seed": 0}
    try:
        return audit_judges(data, selection, aspect, found, judges, False, **how)
    except DataError:
        return None


def _judges(data: EvalSet, judge: str | Sequence[str] | None) -> list[str]:
    """Return the metrics to audit, checked."""
    if not len(data.metrics):
        raise MissingDataError(
            "There are no scores of a judge: name their column with the role metric, or score the outputs "
            "with a judge first."
        )
    if judge is None:
        return list(data.metrics)
    names = [judge] if isinstance(judge, str) else list(judge)
    for metric in names:
        if metric not in data.metrics:
            raise UnknownNameError("metric", metric, data.metrics)
    return names


def _audit(
    labelled: LabelledOutputs,
    ratings: RaterScores | None,
    aspect: str,
    is_rate: bool,
    level: float,
    seed: int,
) -> JudgeAudit:
    """Return what the labelled outputs alone say of a judge."""
    return JudgeAudit(
        judge=labelled.judge,
        aspect=aspect,
        labels=len(labelled),
        estimate=None,
        corrected=None,
        judge_mean=labelled.judge_mean,
        judge_means=labelled.judge_means,
        level_unknown=not labelled.two_valued and labelled.own is None,
        is_rate=is_rate,
        rates=error_rates(labelled, level) if labelled.two_valued else None,
        line=None if labelled.two_valued else calibration(labelled, level),
        agreement=agreement_with_people(labelled, ratings, level),
        biases=find_biases(labelled, level, seed),
        errors=worst_errors(labelled),
        alternative=alternative_annotator(labelled, ratings),
        judges=(),
        worth=None,
        metrics=1,
        needed=None,
        level=level,
        notes=labelled.notes(),
    )


def _with_labels_elsewhere(
    data: EvalSet,
    selection: Selection | None,
    aspect: str | None,
    name: str,
    cut: float | None,
    labels_from: DataLike | None,
    level: float,
    seed: int,
) -> JudgeAudit:
    """Return the audit where the labels are of other outputs, or of outputs that were not drawn at random."""
    if labels_from is not None:
        other = as_evalset(labels_from)
        if name not in other.metrics:
            raise UnknownNameError("metric", name, other.metrics, "The labels' data needs the same judge.")
    else:
        other = data if selection is None else data.take(items=selection.items)
    truth = aspect if aspect is not None else the_only("aspect", None, other.aspects, "Name one: aspect=….")
    if labels_from is not None and truth in data.aspects and data.judged(truth).any():
        raise UsageError(f"The data has labels of {truth} itself: leave out the labels from elsewhere.")
    sample = sample_from(other, other.truth(truth), None)
    labelled = labelled_outputs(other, sample, truth, name, cut)
    verdicts = data.metrics[name]
    scored = verdicts[~np.isnan(verdicts)]
    is_rate = labelled.two_valued and tuple(labelled.people) == (0.0, 1.0)
    audit = _audit(labelled, _ratings(other, truth), truth, is_rate, level, seed)
    here = replace(labelled, verdicts=scored)
    return replace(
        audit,
        corrected=corrected_score(labelled, scored, level),
        judge_mean=here.judge_mean,
        judge_means={},
        notes=(ELSEWHERE, *audit.notes),
    )


def _ratings(data: EvalSet, aspect: str) -> RaterScores | None:
    try:
        return rater_scores(data, aspect)
    except (MissingDataError, UnknownNameError):
        return None


def _copies(parts: dict[str, LabelledOutputs]) -> tuple[str, ...]:
    """Say which judges are copies of each other: together they are worth no more than one."""
    seen: dict[bytes, str] = {}
    notes = []
    for name, labelled in parts.items():
        key = labelled.verdicts.tobytes()
        if key in seen:
            notes.append(f"{name} is a copy of {seen[key]}: together they are worth no more than one.")
        seen.setdefault(key, name)
    return tuple(notes)


# --- An audit in sentences: the answer first, then how the judge errs, and what it saves ---

# A judge that hardly errs is worth so many labels or more: how many more, few labels cannot say.
_MOST = 1000
# A plan that needs more than this share of the labels says nothing of what is saved.
_SAVES = 0.97
NO_LABEL = (
    "No label is a {kind}, so how the judge treats such answers is unknown: label more, drawn with "
    "sparingly select DATA --question judge."
)


def percent_text(value: float, rounding: Callable[[float], float] = round) -> str:
    """Return a share in whole percent, without the sign; under 1 and over 99 with one decimal."""
    scaled = 100.0 * value
    if 0.0 < scaled < 1.0 or 99.0 < scaled < 100.0:
        return f"{rounding(10.0 * scaled + _slack(rounding)) / 10.0 + 0.0:g}"
    return f"{rounding(scaled + _slack(rounding)) + 0.0:.0f}"


def _slack(rounding: Callable[[float], float]) -> float:
    """Return what keeps a whole number whole when it is rounded down or up."""
    return 1e-9 if rounding is math.floor else -1e-9 if rounding is math.ceil else 0.0


def _decimals(rate: Rate) -> int | None:
    """Return the decimals of a number with its interval: a quarter of it is about a standard error."""
    return decimals_for([(rate.high - rate.low) / 4.0])


@dataclass(frozen=True)
class AuditNumbers:
    """How scores of an audit are written: rates in percent and points, others as numbers."""

    is_rate: bool

    def value(self, score: float) -> str:
        """Return a score."""
        return f"{percent_text(score)} %" if self.is_rate else number_text(score, 3)

    def with_ends(self, rate: Rate) -> str:
        """Return a score with its interval, both with the same decimals."""
        ends = self.ends(rate)
        if self.is_rate or not ends:
            return f"{self.value(rate.value)}{ends}"
        return f"{decimal_text(rate.value, _decimals(rate))}{ends}"

    def ends(self, rate: Rate) -> str:
        """Return an interval behind a space, rounded outwards; nothing where there is none, or no error."""
        if not (math.isfinite(rate.low) and math.isfinite(rate.high)) or rate.low == rate.high:
            return ""
        if self.is_rate:
            return f" [{percent_text(rate.low, math.floor)}, {percent_text(rate.high, math.ceil)}]"
        decimals = _decimals(rate)
        return f" [{decimal_text(rate.low, decimals)}, {decimal_text(rate.high, decimals)}]"

    def difference(self, rate: Rate, *, signed: bool = False) -> str:
        """Return how far scores differ, with its interval; without the sign, unless it is asked for."""
        sign = 1.0 if signed or rate.value >= 0 else -1.0
        low, high = sorted((sign * rate.low, sign * rate.high))
        number = f"{'+' if signed else ''}.{0 if self.is_rate else 2}{'f' if self.is_rate else 'g'}"
        if not self.is_rate and low < high:
            number = f"{'+' if signed else ''}.{_decimals(rate)}f"
        times = 100.0 if self.is_rate else 1.0
        ends = f" [{times * low:{number}}, {times * high:{number}}]" if low < high else ""
        return f"{sign * times * rate.value:{number}}{' points' if self.is_rate else ''}{ends}"

    def points(self, width: float) -> str:
        """Return a half-width."""
        return f"{100 * width:.3g} points" if self.is_rate else number_text(width, 3)


def answer(audit: JudgeAudit) -> tuple[str, ...]:
    """Return the answer: the true score, what the judge says, how it errs, and what it saves."""
    sentences = (true_score(audit), how_it_errs(audit), what_it_saves(audit))
    return tuple(sentence for sentence in sentences if sentence)


def true_score(audit: JudgeAudit) -> str:
    """Say what the true score is, and what the judge says."""
    words, found = audit.words, audit.estimate
    noun = "pass rate" if audit.is_rate else f"mean of {audit.aspect}"
    if audit.corrected is not None:
        score = words.with_ends(audit.corrected.score)
        says = words.value(audit.judge_mean)
        return f"True {noun} {score}, if it errs here as it does elsewhere. {audit.judge} says {says}."
    if found is None:
        return ""
    places = [place for place in found.order if found.models[place] in audit.judge_means]
    scores = [Rate(float(found.scores[at]), float(found.low[at]), float(found.high[at])) for at in places]
    means = [words.value(audit.judge_means[found.models[at]]) for at in places]
    says = (
        ""
        if audit.level_unknown
        else f" {audit.judge} says {' and '.join((means[-1], means[0])[-len(places) :])}."
    )
    if len(places) == 1:
        return f"True {noun} {words.with_ends(scores[0])}.{says}"
    best, worst = found.models[places[0]], found.models[places[-1]]
    return (
        f"True {noun} of {len(places)} models: from {words.with_ends(scores[-1])} ({worst}) to "
        f"{words.with_ends(scores[0])} ({best}).{says}"
    )


def how_it_errs(audit: JudgeAudit) -> str:
    """Say how often it passes bad answers and fails good ones, or how its grades lie beside people's."""
    words, rates, line = audit.words, audit.rates, audit.line
    if rates is not None:
        if not rates.passed or not rates.failed:
            every = "passes" if rates.passed else "fails"
            return f"It {every} everything, so it cannot distinguish good answers from bad ones."
        share = AuditNumbers(is_rate=True)
        parts = [
            f"{verb} {share.with_ends(rate)} of {whom}"
            for verb, rate, whom in (
                ("passes", rates.passes_bad, "bad answers"),
                ("fails", rates.fails_good, "good ones"),
            )
            if math.isfinite(rate.value)
        ]
        for kind, row in zip(("pass", "fail"), rates.table, strict=True):
            if not sum(row):
                known = f"It {parts[0].replace('good ones', 'good answers')}. " if parts else ""
                return f"{known}{NO_LABEL.format(kind=kind)}"
        return f"It {' and '.join(parts)}."
    if line is None or not math.isfinite(line.slope.value):
        return "It gives every labelled output the same score, so it cannot be used."
    level = f"scores {words.difference(line.shift)} {'above' if line.shift.value > 0 else 'below'} people"
    if not (line.shift.low > 0 or line.shift.high < 0):
        level = "is level with people on average"
    slope = AuditNumbers(is_rate=False).with_ends(line.slope)
    by = f"Where {audit.judge} is 1 higher, people's score is {slope} higher"
    if audit.level_unknown:
        return f"{by} (after giving it people's mean and spread)."
    return f"It {level}. {by}."


def what_it_saves(audit: JudgeAudit) -> str:
    """Say what 100 labels are worth with it, and how many labels a rounder interval takes."""
    worth, needed = audit.worth, audit.needed
    own = next((line.worth for line in audit.judges if line.judge == audit.judge), None)
    if worth is None or own is None:
        return ""
    if round(max(own.value, worth.value)) <= 100:
        return "With it, labels are worth no more than without: it explains nothing of unseen labels."
    text = f"With it, 100 labels are worth {'about ' if own.value <= _MOST else ''}{worth_text(own)}"
    if audit.metrics > 1:
        text += f", with all {audit.metrics} metrics {worth_text(worth)}"
    if needed is None or needed.with_judge is None or needed.without is None:
        return f"{text}."
    noun = "labels" if len(audit.judge_means) == 1 else "labelled items"
    width, them = audit.words.points(needed.width), "the judge" if audit.metrics == 1 else "them"
    if needed.with_judge > _SAVES * needed.without:
        # Counts are exact only to a few labels, since intervals of a set are of whole outputs.
        return (
            f"{text}; but for ±{width} on this set you need about {needed.without:,} {noun} "
            "with or without it."
        )
    return (
        f"{text}: for ±{width} you need about {needed.with_judge:,} {noun} with {them}, "
        f"{needed.without:,} without."
    )


def worth_text(worth: Rate) -> str:
    """Return what 100 labels are worth, with its interval."""
    if worth.value > _MOST:
        return f"over {_MOST:,}"
    ends = f" [{worth.low:.0f}, {min(worth.high, _MOST):.0f}]" if worth.low < worth.high else ""
    return f"{worth.value:.0f}{ends}"


def biases(audit: JudgeAudit, most: int = 4) -> tuple[str, ...]:
    """Say which biases hold after correction, how many were tried, and by what."""
    if not audit.biases:
        return ()
    tests = counted(len(audit.biases), "test")
    significant = audit.significant
    if not significant:
        factors = listing(dict.fromkeys(bias.factor for bias in audit.biases))
        return (f"No bias found by {factors} ({tests}, Holm-corrected).",)
    sentences = [f"- {bias_text(audit, bias)}" for bias in significant[:most]]
    if (hidden := len(significant) - len(sentences)) > 0:
        sentences.append(f"- and {hidden} more (-v)")
    return (f"Biases that hold after correction (Holm, {tests}):", *sentences)


def bias_text(audit: JudgeAudit, bias: JudgeBias, *, short: bool = False) -> str:
    """Return one bias in words: the judge's score less people's, beside the rest; or its size."""
    words = AuditNumbers(is_rate=True) if bias.factor == "position" else audit.words
    effect = Rate(bias.effect, bias.low, bias.high)
    if short:
        return words.difference(effect, signed=True)
    size, kind = words.difference(effect), bias.effect > 0
    if bias.factor == "position":
        return f"What comes {'first' if kind else 'second'} wins {size} more often; {p_text(bias.corrected)}."
    what = "long outputs" if bias.factor == "length" else f"{bias.factor} {bias.level}"
    rest = "short ones (third against first quartile)" if bias.factor == "length" else "the rest"
    tone = ("kinder to", "to") if kind else ("stricter on", "on")
    return f"It is {tone[0]} {what} than {tone[1]} {rest}: {size}; {p_text(bias.corrected)}."


def agreement_text(audit: JudgeAudit) -> str:
    """Say how well the judge agrees with people, beside what two people reach with each other."""
    found = audit.agreement
    text = f"Agreement with labels: {_coefficients(found.labels)}."
    if found.judge_and_person is None or found.two_people is None:
        return text
    return (
        f"{text} With one person on {found.two_people.outputs} outputs that several judged: "
        f"{_coefficients(found.judge_and_person)}; two people reach {_coefficients(found.two_people)}."
    )


def _coefficients(pair: PairCoefficients) -> str:
    parts = [("κ", pair.kappa), ("AC1", pair.ac1), ("correlation", pair.correlation)]
    return (
        ", ".join(
            f"{name} {number_text(round(rate.value, 2), 2)}"
            for name, rate in parts
            if rate is not None and math.isfinite(rate.value)
        )
        or "undefined, since one of them never varies"
    )


def alternative_text(audit: JudgeAudit) -> str:
    """Say whether the judge may stand in for a person, where enough people judged."""
    test = audit.alternative
    if test is None:
        return ""
    verdict = "may" if test.passes else "may not"
    rates = (
        f"winning rate ω {number_text(test.winning_rate, 2)}, advantage ρ {number_text(test.advantage, 2)}"
    )
    return (
        f"It {verdict} replace a person: {rates} beside {test.people} people "
        f"(ω of one half is needed, ε = {number_text(test.epsilon)})."
    )


# --- tables ---

_LONGEST = 300


def band_rows(audit: JudgeAudit) -> list[tuple[str, str, str]]:
    """Return where the judge gives this or that: its scores, how many labels, and what people give."""
    if audit.line is None:
        return []
    bands = audit.line.bands
    decimals = decimals_for([(bands[-1].high - bands[0].low) / 25.0])
    return [
        (
            " to ".join(dict.fromkeys(decimal_text(end, decimals, 3) for end in (band.low, band.high))),
            str(band.labels),
            audit.words.with_ends(band.people),
        )
        for band in audit.line.bands
    ]


def error_row(audit: JudgeAudit, error: JudgeError) -> tuple[str, str, str, str]:
    """Return of an error which output it is, how the judge errs, and both scores."""
    verdict = "higher than people" if error.judge_is_higher else "lower than people"
    if audit.rates is not None:
        verdict = "passed, people failed it" if error.judge_is_higher else "failed, people passed it"
    name = f"{error.item}, {error.model}" if len(audit.judge_means) > 1 else error.item
    return name, verdict, number_text(error.judge, 3), number_text(error.people, 3)


def short(text: str) -> str:
    """Return a text in one line, cut where it is long."""
    plain = " ".join(text.split())
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1]}…"
