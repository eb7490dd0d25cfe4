"""What a report rests on: the judgements that were collected, and all that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import DataError, SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.data.describe import Representation, representation
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import Selection
from sparingly.infer.estimate.assemble import Target, Targets, targets_of
from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.intervals import IntervalOutcome
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.plan.growth import Growth, growth
from sparingly.infer.rank.compare import CurveComparison, curve
from sparingly.infer.rank.rank import rank, rank_estimates, rank_strengths
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.raters.report import RaterReport, rater_report
from sparingly.run.rounds.strategy import asked_cells, compared_rows, merge_rounds

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.reader import SetStatus, Status


# --- comparisons ----------------------------------------------------------------------------------


def estimate_from_strengths(strengths: BradleyTerry, aspect: str, *, random_draw: bool) -> Estimate:
    """Return strengths as scores; ``random_draw``: the comparisons were drawn with known probabilities."""
    bounded = np.isfinite(strengths.low) & np.isfinite(strengths.high)
    return Estimate(
        models=strengths.models,
        scores=strengths.strengths,
        standard_errors=strengths.standard_errors,
        low=strengths.low,
        high=strengths.high,
        intervals=tuple("t" if has_interval else "none" for has_interval in bounded),
        covariance=strengths.covariance,
        freedom=strengths.freedom,
        target="population" if random_draw else CHOSEN_ITEMS,
        level=strengths.level,
        aspect=f"strength by {aspect}",
        estimator="bradley_terry",
        n=strengths.comparisons,
        size=strengths.comparisons,
        outcome=IntervalOutcome(printed=int(bounded.sum()), withheld=int((~bounded).sum())),
        notes=(*strengths.notes, *_names_without_interval(strengths)),
    )


def _names_without_interval(strengths: BradleyTerry) -> list[str]:
    return [
        f"{model} has no strength: {why}."
        for model, why in zip(strengths.models, strengths.status, strict=True)
        if why
    ]


# --- one set, one selection -----------------------------------------------------------------------


# Beyond this, playing a method again at ten budgets takes minutes.
MOST_REPLAYED = 2000


@dataclass(frozen=True)
class ReportRequest:
    """How numbers are to be found.

    Attributes:
        aspect: What was judged; None for the only one.
        estimator: How scores are estimated; None leaves it to ``estimate``.
        target: What scores and ranks speak about; None gives each its own (``targets_of``).
        level: The level of intervals; one less it is the error rate of ranks and groups.
        seed: Settles draws.
        curve: Whether to play the method again over budgets where everything is judged.
    """

    aspect: str | None = None
    estimator: str | Method | None = None
    target: Target | None = None
    level: float = 0.95
    seed: int = 0
    curve: bool = True

    @property
    def targets(self) -> Targets:
        """What scores and decisions speak about."""
        return targets_of(self.target)

    @property
    def alpha(self) -> float:
        """The error rate of ranks and groups."""
        return round(1 - self.level, 12)


@dataclass(frozen=True, eq=False)
class Evidence:
    """What a report rests on.

    Attributes:
        data: The set with the judgements that were asked for, and no others.
        rounds: What was chosen to be judged; empty where that is not known.
        aspect: What was judged.
        estimate: The scores (strengths, where outputs were compared).
        strengths: Where outputs were compared, what the comparisons say.
        ranking: The order with its errors; None where ``unranked`` says why.
        unranked: Why there is no ranking.
        representation: Whom the selection represents; None without one.
        raters: What is to be said of the raters; None where nothing is known of them.
        unrated: Why nothing is to be said of raters who are known.
        growth: Precision against labels.
        curve: Agreement with judging everything, where everything is judged.
        no_curve: Why there is none although everything is judged.
        why: Why the method was taken, where nobody named it.
        status: Where the campaign stands; None without one.
        part: Where its data set stands.
    """

    data: EvalSet
    rounds: tuple[Selection, ...]
    aspect: str
    estimate: Estimate
    strengths: BradleyTerry | None = None
    ranking: Ranking | None = None
    unranked: str = ""
    representation: Representation | None = None
    raters: RaterReport | None = None
    unrated: str = ""
    growth: Growth | None = None
    curve: CurveComparison | None = None
    no_curve: str = ""
    why: str = ""
    status: Status | None = None
    part: SetStatus | None = None

    @property
    def unit(self) -> str:
        """What a judgement is of."""
        return "items" if self.strengths is None else "comparisons"

    @property
    def outside(self) -> int:
        """How many items the draw chose from that are not in the data, such as those of a pool."""
        if self.status is not None or len(self.rounds) != 1:
            return 0
        return _outside(self.data, self.rounds[0])


def _outside(data: EvalSet, selection: Selection) -> int:
    first = selection.signature
    while first.pool is not None:
        first = first.pool
    return max(0, first.of - len(data))


def from_selection(data: EvalSet, selection: Selection | None, request: ReportRequest) -> Evidence:
    """Gather what follows from an evaluation set and what was chosen of it."""
    rounds = () if selection is None else (selection,)
    if rounds and selection is not None and selection.pairs is not None:
        return _compared(data, rounds, request)
    aspect = (
        the_only("aspect", None, data.aspects, "Name one: aspect=….")
        if request.aspect is None
        else request.aspect
    )
    how: dict[str, Any] = {"estimator": request.estimator, "seed": request.seed}
    scores = estimate(data, selection, aspect, level=request.level, target=request.targets.scores, **how)
    how |= {"target": request.target, "alpha": request.alpha}
    ranking, unranked = _ranked(data, selection, aspect, how)
    comparison, no_curve = _curve(data, selection, aspect) if request.curve else (None, "")
    return completed(
        Evidence(
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
        ),
        data,
    )


def completed(evidence: Evidence, data: EvalSet) -> Evidence:
    """Return the evidence with whom the selection represents, and what is to be said of the raters."""
    chosen = list(dict.fromkeys(name for selection in evidence.rounds for name in selection.items))
    source: Any = evidence.rounds[0] if len(evidence.rounds) == 1 else chosen
    raters, unrated = _raters(evidence.data, evidence.aspect)
    represented = representation(data, source) if chosen else None
    return replace(evidence, representation=represented, raters=raters, unrated=unrated)


def seen_of(data: EvalSet, rounds: Sequence[Selection]) -> EvalSet:
    """Return the set with the judgements that some rounds asked for; all of them where there is no round."""
    if not rounds:
        return data
    return data.reveal(asked_cells(data, rounds), compared_rows(data, rounds))


def ranking_of(scores: Estimate, decisions: Estimate, alpha: float, seed: int) -> tuple[Ranking | None, str]:
    """Return the ranking that estimates support, or why there is none."""
    try:
        return rank_estimates(scores, decisions, alpha=alpha, seed=seed), ""
    except DataError as error:
        return None, str(error)


def compared_evidence(
    data: EvalSet, rounds: tuple[Selection, ...], strengths: BradleyTerry, aspect: str, request: ReportRequest
) -> Evidence:
    """Gather what follows from comparisons of two outputs at a time."""
    random_draw = all(selection.probability is not None for selection in rounds)
    scores = estimate_from_strengths(strengths, aspect, random_draw=random_draw)
    ranking, unranked = None, ""
    try:
        labels = {"aspect": scores.aspect, "target": scores.target}
        ranking = rank_strengths(strengths, **labels, alpha=request.alpha, seed=request.seed)
    except DataError as error:
        unranked = str(error)
    return completed(
        Evidence(
            data=seen_of(data, rounds),
            rounds=rounds,
            aspect=aspect,
            estimate=scores,
            strengths=strengths,
            ranking=ranking,
            unranked=unranked,
        ),
        data,
    )


def _compared(data: EvalSet, rounds: tuple[Selection, ...], request: ReportRequest) -> Evidence:
    judged = seen_of(data, rounds)
    random_draw = all(selection.probability is not None for selection in rounds)
    strengths = bradley_terry(
        judged, request.aspect, rounds=rounds if random_draw else (), level=request.level
    )
    return compared_evidence(data, rounds, strengths, request.aspect or "preference", request)


def _ranked(
    data: EvalSet, selection: Selection | None, aspect: str, parameters: dict[str, Any]
) -> tuple[Ranking | None, str]:
    try:
        return rank(data, selection, aspect, **parameters), ""
    except DataError as error:
        return None, str(error)


def _raters(data: EvalSet, aspect: str) -> tuple[RaterReport | None, str]:
    """Return the report on raters where two or more are known (of an aspect), or why there is none."""
    table = data.ratings
    if aspect not in table.aspects:
        return None, ""
    ratings = (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.score)
    ratings &= table.model < len(data.models)
    if len(np.unique(table.rater[ratings])) < 2:
        return None, ""
    try:
        return rater_report(data, aspect), ""
    except DataError as error:
        return None, str(error)


def _curve(data: EvalSet, selection: Selection | None, aspect: str) -> tuple[CurveComparison | None, str]:
    """Play the method again over budgets, where everything is judged; or say why that cannot be done."""
    if selection is None or not data.judged(aspect).all():
        return None, ""
    if selection.models is not None or selection.signature.round is not None:
        return None, "agreement over budgets is drawn for selections of whole items in one round."
    if _outside(data, selection):
        return (
            None,
            "agreement over budgets takes all items that were drawn from, and some are not in the data.",
        )
    if len(data) > MOST_REPLAYED:
        return None, f"sets of more than {MOST_REPLAYED} items are left to `sparingly figure curve`."
    try:
        return curve(data, selection.signature.method, aspect, seed=selection.signature.seed), ""
    except SparinglyError as error:
        return None, f"the method cannot be played again here: {error}"


# --- campaigns ------------------------------------------------------------------------------------


def from_campaign(
    running: Campaign, data: str | None, request: ReportRequest, at: int | None = None
) -> Evidence:
    """Gather what follows from the answers of a campaign so far, about one of its data sets."""
    name = running.settings.data_named(data)
    if request.aspect not in (None, running.settings.aspect):
        raise UsageError(
            f"The campaign is about {running.settings.aspect}, which cannot be changed to {request.aspect}."
        )
    status = running.status(at)
    # Everything below is of this entry, although people may answer meanwhile.
    at, rounds = status.seq, running.rounds(name, at=status.seq)
    part = next(set_status for set_status in status.sets if set_status.data == name)
    facts: dict[str, Any] = {"status": status, "part": part, "why": running.why().get(name, "")}
    judged_set, aspect = running.data(name, at=at), running.settings.aspect
    if running.compares(name):
        strengths = running.strengths(name, at=at, level=request.level)
        return replace(compared_evidence(judged_set, rounds, strengths, aspect, request), **facts)
    scores = _estimate(running, name, at, request, request.targets.scores)
    ranking, unranked = _campaign_ranking(running, name, at, scores, request)
    gathered = Evidence(
        data=seen_of(judged_set, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        ranking=ranking,
        unranked=unranked,
        growth=growth([*_earlier(running, name, status.seq, request), scores]),
    )
    return replace(completed(gathered, judged_set), **facts)


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


def _estimate(
    running: Campaign, name: str, at: int | None, request: ReportRequest, target: Target
) -> Estimate:
    return running.estimate(
        name, at=at, estimator=request.estimator, target=target, level=request.level, seed=request.seed
    )


def _earlier(running: Campaign, name: str, seq: int, request: ReportRequest) -> list[Estimate]:
    """Return the estimates after the rounds before the last one; one too early for scores is left out."""
    estimates = []
    for end in ends_of_rounds(running, name, seq)[:-1]:
        try:
            estimates.append(_estimate(running, name, end, request, request.targets.scores))
        except SparinglyError:
            continue
    return estimates


def _campaign_ranking(
    running: Campaign, name: str, at: int | None, scores: Estimate, request: ReportRequest
) -> tuple[Ranking | None, str]:
    """Rank by the joint errors of all rounds; items that were picked, by what they show."""
    alpha = request.alpha
    if scores.target != CHOSEN_ITEMS or np.isnan(scores.scores).all():
        base = scores
        if request.targets.decisions != request.targets.scores:
            base = _estimate(running, name, at, request, request.targets.decisions)
        return ranking_of(scores, base, alpha, request.seed)
    chosen = merge_rounds(running.rounds(name, at=at))
    try:
        ranking = rank(
            running.data(name, at=at), chosen, running.settings.aspect, alpha=alpha, seed=request.seed
        )
    except SparinglyError as error:
        return None, str(error)
    return ranking, ""
