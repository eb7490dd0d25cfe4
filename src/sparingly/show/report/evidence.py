"""What a report rests on: the judgements that were collected, and all that follows from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import DataError, SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.data.describe import Representation, representation
from sparingly.data.describe.judgements import ratings as summarised
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import Selection
from sparingly.data.tables import JudgementTable
from sparingly.infer.compare.compare import SELECTION_OF_ITEMS, compare_votes, compares_outputs
from sparingly.infer.compare.head_to_head import HeadToHead
from sparingly.infer.compare.strengths import WinMatrix
from sparingly.infer.estimate.assemble import Target, Targets, targets_of
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.intervals import PROPORTION, IntervalOutcome
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.judge.audit import JudgeAudit, audit_for_report
from sparingly.infer.plan.outlook import Growth, growth
from sparingly.infer.rank.compare import CurveComparison, curve
from sparingly.infer.rank.rank import rank
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.raters.report import RaterReport, rater_report
from sparingly.run.rounds.strategy import asked_cells, compared_rows

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.reader import SetStatus, Status


Result = TypeVar("Result")
AnyTable = TypeVar("AnyTable", bound=JudgementTable)
# Beyond this, playing a method again at ten budgets takes minutes.
MOST_REPLAYED = 2000


@dataclass(frozen=True)
class ReportRequest:
    """How numbers are to be found."""

    aspect: str | None = None  # what was judged; None for the only one
    estimator: str | Method | None = None  # how scores are estimated; None leaves it to ``estimate``
    # What scores and ranks describe; None gives each its own (``targets_of``).
    target: Target | None = None
    level: float = 0.95  # the level of intervals; one less it is the error rate of ranks and groups
    seed: int = 0  # settles draws
    curve: bool = True  # whether to play the method again over budgets where everything is judged
    rater_names: bool = False  # whether raters are named; else they are numbers

    @property
    def targets(self) -> Targets:
        """What scores and decisions describe."""
        return targets_of(self.target)

    @property
    def alpha(self) -> float:
        """The error rate of ranks and groups."""
        return round(1 - self.level, 12)


@dataclass(frozen=True)
class Effort:
    """What the judging cost."""

    labels: int  # judgements of what the report is about
    further: int  # judgements of other aspects
    items: int  # items that somebody judged
    size: int  # items of the set, or that were drawn from
    seconds: float | None  # the time that is known, in all; None where none is
    timed: int  # the judgements whose time is known


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a report rests on."""

    data: EvalSet  # the set with the judgements that were asked for, and no others
    rounds: tuple[Selection, ...]  # what was chosen to be judged; empty where that is not known
    aspect: str  # what was judged
    estimate: Estimate  # the scores (strengths, where outputs were compared)
    # Where outputs were compared, what ``compare`` says of them.
    comparison: HeadToHead | WinMatrix | None = None
    ranking: Ranking | None = None  # the order with its errors; None where ``unranked`` says why
    unranked: str = ""  # why there is no ranking
    representation: Representation | None = None  # whom the selection represents; None without one
    raters: RaterReport | None = None  # what is to be said of the raters; None where nothing is known of them
    unrated: str = ""  # why nothing is to be said of raters who are known
    judge: JudgeAudit | None = None  # whether the judge can be trusted; None without one
    growth: Growth | None = None  # precision against labels
    curve: CurveComparison | None = None  # agreement with judging everything, where everything is judged
    no_curve: str = ""  # why there is none although everything is judged
    why: str = ""  # why the method was taken, where nobody named it
    status: Status | None = None  # where the campaign stands; None without one
    part: SetStatus | None = None  # where its data set stands

    @property
    def outside(self) -> int:
        """How many items the draw chose from that are not in the data, such as those of a pool."""
        if self.status is not None or len(self.rounds) != 1:
            return 0
        return _outside(self.data, self.rounds[0])

    @cached_property
    def effort(self) -> Effort:
        """The judgements that were asked for and came in, and their time."""
        size = len(self.data) + self.outside
        if self.comparison is not None:
            table = self.data.preferences
            timed = table.seconds[~np.isnan(table.seconds)]
            seconds = float(timed.sum()) if len(timed) else None
            return Effort(len(table), 0, len(np.unique(table.item)), size, seconds, len(timed))
        judged = self.data.judged(self.aspect)
        summary = summarised(self.data)
        labels = 0 if summary is None else summary.aspects.get(self.aspect, 0)
        time = None if summary is None else summary.seconds
        return Effort(
            labels=labels or int(judged.sum()),
            further=0 if summary is None else summary.count - labels,
            items=int(judged.any(axis=1).sum()),
            size=size,
            seconds=None if time is None else time.total,
            timed=0 if time is None else time.known,
        )


def _outside(data: EvalSet, selection: Selection) -> int:
    first = selection.signature
    while first.pool is not None:
        first = first.pool
    return max(0, first.of - len(data))


def from_selection(data: EvalSet, selection: Selection | None, request: ReportRequest) -> Evidence:
    """Gather what follows from an evaluation set and what was chosen of it."""
    rounds = () if selection is None else (selection,)
    aspect = request.aspect
    if (selection is not None and selection.pairs is not None) or compares_outputs(data, aspect):
        if selection is not None and selection.pairs is None:
            raise UsageError(SELECTION_OF_ITEMS)
        is_sample = selection is None or selection.probability is not None
        how: dict[str, Any] = {"rounds": rounds if is_sample else (), "sampled": is_sample}
        how |= {"target": request.targets.decisions, "alpha": request.alpha}
        found = compare_votes(seen_of(data, rounds), aspect=aspect, **how)
        return _from_comparisons(data, rounds, found, aspect or "preference", request)
    if aspect is None:
        aspect = the_only("aspect", None, data.aspects)
    how = {"estimator": request.estimator, "seed": request.seed}
    scores = estimate(data, selection, aspect, level=request.level, target=request.targets.scores, **how)
    how |= {"target": request.target, "alpha": request.alpha}
    ranking, unranked = _or_why_not(DataError, lambda: rank(data, selection, aspect, **how))
    comparison, no_curve = _curve(data, selection, aspect) if request.curve else (None, "")
    evidence = Evidence(
        data=seen_of(data, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        ranking=ranking,
        unranked=unranked,
        growth=growth([scores]),
        curve=comparison,
        no_curve=no_curve,
        why="" if selection is None else selection.why,
    )
    return _completed(evidence, data, request)


def _or_why_not(errors: type[SparinglyError], compute: Callable[[], Result]) -> tuple[Result | None, str]:
    """Return a result, or the sentence that says why there is none."""
    try:
        return compute(), ""
    except errors as error:
        return None, str(error)


def _completed(evidence: Evidence, data: EvalSet, request: ReportRequest) -> Evidence:
    """Return the evidence with whom the selection represents, and what is to be said of the raters."""
    chosen = list(dict.fromkeys(name for selection in evidence.rounds for name in selection.items))
    source: Any = evidence.rounds[0] if len(evidence.rounds) == 1 else chosen
    represented = representation(data, source) if chosen else None
    judged, aspect = evidence.data, evidence.aspect
    if not request.rater_names:
        judged = _with_numbered_raters(judged, request.seed)
    raters, unrated = None, ""
    table = judged.ratings
    if aspect in table.aspects:
        of_aspect = (table.aspect == table.aspects.index(aspect)) & ~np.isnan(table.score)
        by_rater = of_aspect & (table.rater >= 0) & (table.model < len(judged.models))
        if len(np.unique(table.rater[by_rater])) > 1:
            raters, unrated = _or_why_not(DataError, lambda: rater_report(judged, aspect))
    audit = None
    if evidence.comparison is None:
        audit = audit_for_report(judged, evidence.rounds, aspect, evidence.estimate)
    return replace(
        evidence,
        data=judged,
        representation=represented,
        raters=raters,
        unrated=unrated,
        judge=audit,
    )


def _with_numbered_raters(data: EvalSet, seed: int) -> EvalSet:
    """Return the set with numbers in place of the raters' names, in an order that a seed settles."""
    names = sorted({*data.ratings.raters, *data.preferences.raters})
    if not names:
        return data
    order = np.argsort(rng.stream(rng.keys_of(names), seed, "release"), kind="stable").tolist()
    numbers = {names[place]: number for number, place in enumerate(order)}
    titles = tuple(f"rater {number}" for number in range(1, len(names) + 1))

    def numbered(table: AnyTable) -> AnyTable:
        codes = np.array([numbers[name] for name in table.raters] or [-1])
        rater = np.where(table.rater < 0, -1, codes[table.rater]).astype(table.rater.dtype)
        return replace(table, raters=titles, rater=rater)

    return data.with_parts(ratings=numbered(data.ratings), preferences=numbered(data.preferences))


def seen_of(data: EvalSet, rounds: Sequence[Selection]) -> EvalSet:
    """Return the set with the judgements that some rounds asked for; all of them where there is no round."""
    if not rounds:
        return data
    return data.reveal(asked_cells(data, rounds), compared_rows(data, rounds))


def _from_comparisons(
    data: EvalSet,
    rounds: tuple[Selection, ...],
    found: HeadToHead | WinMatrix,
    aspect: str,
    request: ReportRequest,
) -> Evidence:
    """Gather what follows from comparisons of two outputs at a time."""
    target: str = request.targets.decisions
    if not all(selection.probability is not None for selection in rounds):
        target = CHOSEN_ITEMS
    scores = estimate_from_comparison(found, aspect, target)
    ranking = replace(found.ranking, aspect=scores.aspect, target=target, scores_of=target)
    evidence = Evidence(
        data=seen_of(data, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        comparison=found,
        ranking=ranking,
    )
    return _completed(evidence, data, request)


def estimate_from_comparison(found: HeadToHead | WinMatrix, aspect: str, target: str) -> Estimate:
    """Return win rates, of two models, or strengths, of many, as scores."""
    fitted: Ranking | BradleyTerry
    if isinstance(found, HeadToHead):
        rows = found.ranking.models
        scores, low, high = (
            np.array([np.nan if (value := getattr(row, name)) is None else value for row in rows])
            for name in ("score", "low", "high")
        )
        errors, fitted, count, kind = np.full(2, np.nan), found.ranking, found.n, PROPORTION
        names, what, estimator = tuple(row.model for row in rows), "win rate", fitted.estimator
    else:
        fitted = found.strengths
        scores, low, high, errors = fitted.strengths, fitted.low, fitted.high, fitted.standard_errors
        count, kind, names, what = fitted.comparisons, "t", fitted.models, "strength"
        estimator = "bradley_terry"
    bounded = np.isfinite(low) & np.isfinite(high)
    return Estimate(
        target=target,
        level=round(1 - found.ranking.alpha, 12),
        models=names,
        scores=scores,
        standard_errors=errors,
        low=low,
        high=high,
        intervals=tuple(kind if has_interval else "none" for has_interval in bounded),
        covariance=fitted.covariance,
        freedom=fitted.freedom,
        aspect=f"{what} by {aspect}",
        estimator=estimator,
        n=count,
        size=count,
        outcome=IntervalOutcome(printed=int(bounded.sum()), withheld=int((~bounded).sum())),
        is_rate=isinstance(found, HeadToHead),
        notes=found.notes,
    )


def _curve(data: EvalSet, selection: Selection | None, aspect: str) -> tuple[CurveComparison | None, str]:
    """Play the method again over budgets, where everything is judged; or say why that cannot be done."""
    if selection is None or not data.judged(aspect).all():
        return None, ""
    if selection.models is not None or selection.signature.round is not None:
        return None, "agreement over budgets is drawn for selections of whole items in one round."
    if _outside(data, selection):
        why = "agreement over budgets takes all items that were drawn from, and some are not in the data."
        return None, why
    if len(data) > MOST_REPLAYED:
        return None, f"sets of more than {MOST_REPLAYED} items are left to `sparingly figure curve`."
    try:
        return curve(data, selection.signature.method, aspect, seed=selection.signature.seed), ""
    except SparinglyError as error:
        return None, f"the method cannot be played again here: {error}"


def from_campaign(
    running: Campaign, data: str | None, request: ReportRequest, at: int | None = None
) -> Evidence:
    """Gather what follows from the answers of a campaign so far, about one of its data sets."""
    name = running.settings.data_named(data)
    if request.aspect not in (None, running.settings.aspect):
        raise UsageError(
            f"The campaign is about {running.settings.aspect}, which cannot be changed to "
            f"{request.aspect}: leave the aspect out."
        )
    status = running.status(at)
    # Everything below is of this entry, although people may answer meanwhile.
    at, rounds = status.seq, running.rounds(name, at=status.seq)
    part = next(set_status for set_status in status.sets if set_status.data == name)
    facts: dict[str, Any] = {"status": status, "part": part, "why": running.why().get(name, "")}
    judged_set, aspect = running.data(name, at=at), running.settings.aspect
    if running.compares(name):
        found = running.compare(name, at=at, target=request.targets.decisions, alpha=request.alpha)
        return replace(_from_comparisons(judged_set, rounds, found, aspect, request), **facts)

    options: dict[str, Any] = {"estimator": request.estimator, "level": request.level, "seed": request.seed}

    def scores_at(seq: int) -> Estimate:
        return running.estimate(name, at=seq, target=request.targets.scores, **options)

    scores = scores_at(at)
    decided = {**options, "target": request.target, "alpha": request.alpha, "scores": scores}
    ranking, unranked = _or_why_not(SparinglyError, lambda: running.rank(name, at=at, **decided))
    estimates = []
    for end in ends_of_rounds(running, name, at)[:-1]:
        # Where there are too few answers for scores, that round is left out.
        with suppress(SparinglyError):
            estimates.append(scores_at(end))
    gathered = Evidence(
        data=seen_of(judged_set, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        ranking=ranking,
        unranked=unranked,
        growth=growth([*estimates, scores]),
    )
    return replace(_completed(gathered, judged_set, request), **facts)


def ends_of_rounds(running: Campaign, data: str, last: int) -> list[int]:
    """Return the numbers of the journal at which the rounds of a data set were answered, in order.

    A round ends with the last answer before anybody answered a later one.
    """
    rows = [row for row in running.ratings(at=last) if row["data"] == data and row["round"] is not None]
    ends = []
    for number in sorted({int(row["round"]) for row in rows}):
        later = min((row["seq"] for row in rows if row["round"] > number), default=last + 1)
        ends.append(max((int(row["seq"]) for row in rows if row["seq"] < later), default=last))
    return ends
