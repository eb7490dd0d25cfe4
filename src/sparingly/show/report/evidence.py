"""What a report rests on: the judgements that were collected, and all that follows from them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from sparingly.base.errors import DataError, SparinglyError, UsageError
from sparingly.base.registry import Method
from sparingly.data.describe import Representation, representation
from sparingly.data.evalset import EvalSet, the_only
from sparingly.data.selection import Selection
from sparingly.infer.estimate.assemble import Targets, targets_of
from sparingly.infer.estimate.bradley_terry import BradleyTerry, bradley_terry
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.intervals import IntervalOutcome
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.plan.growth import Growth, growth
from sparingly.infer.rank.compare import CurveComparison, curve
from sparingly.infer.rank.rank import rank, rank_estimates, rank_strengths
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.raters.report import RaterReport, rater_report
from sparingly.run.rounds.strategy import asked_cells, compared_rows, merged

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign
    from sparingly.run.campaign.reader import SetStatus, Status


# --- comparisons ----------------------------------------------------------------------------------


def estimate_from_strengths(found: BradleyTerry, aspect: str, *, drawn: bool) -> Estimate:
    """Return strengths as scores; ``drawn`` says whether the comparisons were drawn by known chances."""
    told = np.isfinite(found.low) & np.isfinite(found.high)
    return Estimate(
        models=found.models,
        scores=found.strengths,
        standard_errors=found.standard_errors,
        low=found.low,
        high=found.high,
        intervals=tuple("t" if one else "none" for one in told),
        covariance=found.covariance,
        freedom=found.freedom,
        target="population" if drawn else CHOSEN_ITEMS,
        level=found.level,
        aspect=f"strength by {aspect}",
        estimator="bradley_terry",
        n=found.comparisons,
        size=found.comparisons,
        outcome=IntervalOutcome(printed=int(told.sum()), withheld=int((~told).sum())),
        notes=(*found.notes, *_without(found)),
    )


def _without(found: BradleyTerry) -> list[str]:
    return [
        f"{model} has no strength: {why}."
        for model, why in zip(found.models, found.status, strict=True)
        if why
    ]


# --- one set, one selection -----------------------------------------------------------------------


Target = Literal["set", "population"]
# Beyond this, playing a method again at ten budgets takes minutes.
MOST_REPLAYED = 2000


@dataclass(frozen=True)
class Wanted:
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


def from_selection(data: EvalSet, selection: Selection | None, wanted: Wanted) -> Evidence:
    """Gather what follows from an evaluation set and what was chosen of it."""
    rounds = () if selection is None else (selection,)
    if rounds and selection is not None and selection.pairs is not None:
        return _compared(data, rounds, wanted)
    aspect = (
        the_only("aspect", None, data.aspects, "Name one: aspect=….")
        if wanted.aspect is None
        else wanted.aspect
    )
    how: dict[str, Any] = {"estimator": wanted.estimator, "seed": wanted.seed}
    held = estimate(data, selection, aspect, level=wanted.level, target=wanted.targets.scores, **how)
    how |= {"target": wanted.target, "alpha": wanted.alpha}
    ranking, unranked = _ranked(data, selection, aspect, how)
    drawn, no_curve = _curve(data, selection, aspect) if wanted.curve else (None, "")
    return completed(
        Evidence(
            data=seen_of(data, rounds),
            rounds=rounds,
            aspect=aspect,
            estimate=held,
            ranking=ranking,
            unranked=unranked,
            growth=growth([held]),
            curve=drawn,
            no_curve=no_curve,
            why="" if selection is None else selection.why,
        ),
        data,
    )


def completed(held: Evidence, data: EvalSet) -> Evidence:
    """Return the evidence with whom the selection represents, and what is to be said of the raters."""
    chosen = list(dict.fromkeys(name for one in held.rounds for name in one.items))
    source: Any = held.rounds[0] if len(held.rounds) == 1 else chosen
    raters, unrated = _raters(held.data, held.aspect)
    represented = representation(data, source) if chosen else None
    return replace(held, representation=represented, raters=raters, unrated=unrated)


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
    data: EvalSet, rounds: tuple[Selection, ...], found: BradleyTerry, aspect: str, wanted: Wanted
) -> Evidence:
    """Gather what follows from comparisons of two outputs at a time."""
    drawn = all(one.probability is not None for one in rounds)
    held = estimate_from_strengths(found, aspect, drawn=drawn)
    ranking, unranked = None, ""
    try:
        of = {"aspect": held.aspect, "target": held.target}
        ranking = rank_strengths(found, **of, alpha=wanted.alpha, seed=wanted.seed)
    except DataError as error:
        unranked = str(error)
    return completed(
        Evidence(
            data=seen_of(data, rounds),
            rounds=rounds,
            aspect=aspect,
            estimate=held,
            strengths=found,
            ranking=ranking,
            unranked=unranked,
        ),
        data,
    )


def _compared(data: EvalSet, rounds: tuple[Selection, ...], wanted: Wanted) -> Evidence:
    seen = seen_of(data, rounds)
    drawn = all(one.probability is not None for one in rounds)
    found = bradley_terry(seen, wanted.aspect, rounds=rounds if drawn else (), level=wanted.level)
    return compared_evidence(data, rounds, found, wanted.aspect or "preference", wanted)


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
    own = (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.score)
    own &= table.model < len(data.models)
    if len(np.unique(table.rater[own])) < 2:
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


def from_campaign(running: Campaign, data: str | None, wanted: Wanted, at: int | None = None) -> Evidence:
    """Gather what follows from the answers of a campaign so far, about one of its data sets."""
    name = running.settings.data_named(data)
    if wanted.aspect not in (None, running.settings.aspect):
        raise UsageError(
            f"The campaign is about {running.settings.aspect}, which cannot be changed to {wanted.aspect}."
        )
    status = running.status(at)
    # Everything below is of this entry, although people may answer meanwhile.
    at, rounds = status.seq, running.rounds(name, at=status.seq)
    part = next(one for one in status.sets if one.data == name)
    about: dict[str, Any] = {"status": status, "part": part, "why": running.why().get(name, "")}
    held, aspect = running.data(name, at=at), running.settings.aspect
    if running.compares(name):
        found = running.strengths(name, at=at, level=wanted.level)
        return replace(compared_evidence(held, rounds, found, aspect, wanted), **about)
    scores = _estimate(running, name, at, wanted, wanted.targets.scores)
    ranking, unranked = _campaign_ranking(running, name, at, scores, wanted)
    gathered = Evidence(
        data=seen_of(held, rounds),
        rounds=rounds,
        aspect=aspect,
        estimate=scores,
        ranking=ranking,
        unranked=unranked,
        growth=growth([*_earlier(running, name, status.seq, wanted), scores]),
    )
    return replace(completed(gathered, held), **about)


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


def _estimate(running: Campaign, name: str, at: int | None, wanted: Wanted, target: Target) -> Estimate:
    return running.estimate(
        name, at=at, estimator=wanted.estimator, target=target, level=wanted.level, seed=wanted.seed
    )


def _earlier(running: Campaign, name: str, seq: int, wanted: Wanted) -> list[Estimate]:
    """Return the estimates after the rounds before the last one; one too early for scores is left out."""
    found = []
    for end in ends_of_rounds(running, name, seq)[:-1]:
        try:
            found.append(_estimate(running, name, end, wanted, wanted.targets.scores))
        except SparinglyError:
            continue
    return found


def _campaign_ranking(
    running: Campaign, name: str, at: int | None, scores: Estimate, wanted: Wanted
) -> tuple[Ranking | None, str]:
    """Rank by the joint errors of all rounds; items that were picked, by what they show."""
    alpha = wanted.alpha
    if scores.target != CHOSEN_ITEMS or np.isnan(scores.scores).all():
        base = scores
        if wanted.targets.decisions != wanted.targets.scores:
            base = _estimate(running, name, at, wanted, wanted.targets.decisions)
        return ranking_of(scores, base, alpha, wanted.seed)
    chosen = merged(running.rounds(name, at=at))
    try:
        found = rank(
            running.data(name, at=at), chosen, running.settings.aspect, alpha=alpha, seed=wanted.seed
        )
    except SparinglyError as error:
        return None, str(error)
    return found, ""
