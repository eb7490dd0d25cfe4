"""What a campaign has found so far: rankings, and how well raters agree."""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import SparinglyError
from sparingly.base.format import counted
from sparingly.base.stats.krippendorff import alpha_interval
from sparingly.base.summary import Summary
from sparingly.data.evalset import EvalSet
from sparingly.data.values import PlainFields, plain
from sparingly.infer.estimate.assemble import Target, targets_of
from sparingly.infer.estimate.intervals import student
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.judge.audit import answer, audit_for_report
from sparingly.infer.rank.rank import rank, rank_estimates
from sparingly.infer.rank.ranking import RankedModel, Ranking, RankingSignature
from sparingly.run.campaign.history import anchors_at
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.raters.agreement import NO_COMMON, PairAgreement, rater_agreement
from sparingly.run.raters.report import RaterFlag, rater_flags
from sparingly.run.rounds.strategy import merge_rounds

# --- the ranking so far ---


def rank_so_far(
    campaign: CampaignReader,
    data: str | None = None,
    *,
    at: int | None = None,
    target: Target | None = None,
    alpha: float = 0.05,
    expect: bool = False,
    seed: int = 0,
    scores: Estimate | None = None,
    **options: Any,
) -> Ranking:
    """Rank the models of a data set from what is judged so far, by the joint errors of all rounds.

    Models whose outputs are compared are ranked by strengths (two by their win rates); items that were
    picked, not drawn, by what they show. ``scores`` saves estimating them again; ``options`` are those of
    ``Campaign.estimate``.
    """
    settings, targets = campaign.settings, targets_of(target)
    seq = campaign.last_seq() if at is None else at
    if campaign.compares(data):
        return campaign.compare(data, at=seq, target=targets.decisions, alpha=alpha).ranking
    options = {"level": round(1 - alpha, 12), "seed": seed, **options}
    if scores is None:
        scores = campaign.estimate(data, at=seq, target=targets.scores, **options)
    if scores.target == CHOSEN_ITEMS and not np.isnan(scores.scores).all():
        chosen = merge_rounds(campaign.rounds(data, at=seq))
        return rank(campaign.data(data, at=seq), chosen, settings.aspect, alpha=alpha, seed=seed)
    decisions = scores
    if targets.decisions != targets.scores:
        decisions = campaign.estimate(data, at=seq, target=targets.decisions, **options)
    ranking = rank_estimates(scores, decisions, alpha=alpha, seed=seed)
    signature = scores.signature
    if signature is not None:
        signed = RankingSignature(signature, ranking.test, ranking.groups_by, alpha, ranking.target)
        ranking = replace(ranking, signature=signed)
    expected = campaign.expected(data, at=seq) if expect else None
    if expected is not None and tuple(expected.models) != tuple(scores.models):
        # What is expected of the earlier models says nothing of those with draws of their own.
        expected = None
    return replace(ranking, selection=scores.selection, expected=expected)


# --- standings: what is known so far ---

ALPHA = 0.05


@dataclass(frozen=True)
class Standings:
    """What a data set says so far."""

    data: str
    summary: Summary  # how it is shown: the answer, the models with their intervals, and what to do next
    # The ranking; None where nothing can be ranked yet, and the summary says why.
    ranking: Ranking | None = None

    @property
    def models(self) -> tuple[RankedModel, ...]:
        """The models, best first; none where nothing can be ranked yet."""
        return () if self.ranking is None else self.ranking.models

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        summary, models = self.summary, [{**asdict(row), "ranks": row.ranks} for row in self.models]
        texts = {"answer": list(summary.sentences), "notes": list(summary.notes)}
        return {"data": self.data, **texts, "models": models, "signature": summary.signature}


def standings(campaign: CampaignReader, data: str | None = None, *, at: int | None = None) -> Standings:
    """Rank the models of a data set from what is judged so far; where that cannot be done, say why.

    The numbers are those of ``rank`` and ``compare``: ranks hold for all models at once, on inputs like
    these. Use them to see between which models the next round still has to decide.
    """
    name = campaign.settings.data_named(data)
    # Scores and ranks are read one after the other, and must describe the same answers.
    seq = campaign.last_seq() if at is None else at
    try:
        if campaign.compares(name):
            found = campaign.compare(name, at=seq, alpha=ALPHA)
            result = Standings(name, found.summary(), found.ranking)
        else:
            result = _of_scores(name, campaign, seq)
    except SparinglyError as error:
        result = Standings(name, Summary(("Nothing can be ranked yet.",), notes=(str(error),)))
    return replace(result, summary=replace(result.summary, next_steps=(_next_step(campaign, name, seq),)))


def _of_scores(name: str, campaign: CampaignReader, at: int) -> Standings:
    estimate = campaign.estimate(name, at=at, target=targets_of().scores)
    summary, ranking, why = estimate.summary(), None, ""
    try:
        ranking = rank_so_far(campaign, name, at=at, alpha=ALPHA, scores=estimate)
        summary = ranking.summary()
    except SparinglyError as error:
        why = str(error)
    rounds = campaign.rounds(name, at=at)
    audit = audit_for_report(campaign.data(name, at=at), rounds, campaign.settings.aspect, estimate)
    of_judge = () if audit is None else answer(audit)
    notes = dict.fromkeys(filter(None, (*estimate.notes, why, *summary.notes)))
    summary = replace(summary, sentences=(*summary.sentences, *of_judge), notes=tuple(notes))
    return Standings(name, summary, ranking)


def _next_step(campaign: CampaignReader, name: str, at: int) -> str:
    """Say what the organiser does next."""
    status = campaign.status(at)
    part = next(one for one in status.sets if one.data == name)
    if part.outstanding:
        return f"{counted(part.outstanding, 'answer')} still to come."
    if status.closed or part.finished is not None or part.spent >= part.limit:
        return "write the report: sparingly report CAMPAIGN"
    return "draw the next round: sparingly campaign next CAMPAIGN"


# --- Findings: standings and the raters' agreement ---


@dataclass(frozen=True)
class AspectAgreement(PlainFields):
    """How well the raters of an aspect agree."""

    data: str
    aspect: str
    # Krippendorff's α, with the ends of its 95 % interval; None where no two raters judged the same.
    alpha: float | None
    low: float | None
    high: float | None
    common: int  # how many outputs (or comparisons) two raters or more have judged
    # Every two raters who have judged something in common; empty for comparisons.
    pairs: tuple[PairAgreement, ...] = ()
    flags: tuple[RaterFlag, ...] = ()  # raters who are far from the rest
    notes: tuple[str, ...] = ()
    compares: bool = False  # whether outputs were compared


@dataclass(frozen=True)
class Findings:
    """What a campaign has found at a number of its journal: rankings and agreement by data set."""

    seq: int
    standings: tuple[Standings, ...]
    agreement: tuple[AspectAgreement, ...]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {
            "seq": self.seq,
            "standings": [ranking.to_dict() for ranking in self.standings],
            "agreement": [agreement.to_dict() for agreement in self.agreement],
        }


def findings(campaign: CampaignReader, at: int | None = None) -> Findings:
    """Estimate, rank and compare raters from what is judged so far; a matter of seconds on large campaigns.

    Low agreement asks for clearer instructions before the next round; a wide set of ranks asks for it.
    """
    seq = campaign.last_seq() if at is None else at
    names = list(campaign.settings.budgets)
    return Findings(
        seq,
        tuple(standings(campaign, name, at=seq) for name in names),
        tuple(agreement for name in names for agreement in agreements(campaign, name, at=seq)),
    )


def agreements(campaign: CampaignReader, name: str, *, at: int | None = None) -> tuple[AspectAgreement, ...]:
    """Return the raters' agreement on every aspect that people are asked for."""
    data, seed = campaign.raters_answers(name, at=at), campaign.settings.seed
    measure = _agreement_of_comparisons if len(data.preferences) else _agreement_of_scores
    drift = {result.aspect: (result.sentence,) for result in rater_drift(campaign, name, at=at)}
    agreed = (measure(name, data, aspect, seed) for aspect in campaign.settings.aspects)
    return tuple(replace(result, notes=(*drift.get(result.aspect, ()), *result.notes)) for result in agreed)


def _agreement_of_scores(name: str, data: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    try:
        agreement = rater_agreement(data, aspect, seed=seed)
    except SparinglyError as error:
        return AspectAgreement(name, aspect, None, None, None, 0, notes=(str(error),))
    alpha, notes = agreement.alpha, list(agreement.notes)
    flags: tuple[RaterFlag, ...] = ()
    try:
        flags = rater_flags(data, aspect)
    except SparinglyError as error:
        notes.append(str(error))
    numbers = (plain(alpha.alpha), plain(alpha.low), plain(alpha.high))
    return AspectAgreement(name, aspect, *numbers, alpha.units, agreement.pairs, flags, tuple(notes))


def _agreement_of_comparisons(name: str, data: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    """Return Krippendorff's α of preferences as nominal values: the first, the second, or a tie."""
    table = data.preferences
    rows = np.flatnonzero(
        (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.value)
    )
    keys = np.stack([table.item[rows], table.first[rows], table.second[rows]], axis=1)
    cells, place = np.unique(keys, axis=0, return_inverse=True)
    values = np.full((len(cells), len(table.raters)), np.nan)
    values[place.ravel(), table.rater[rows]] = np.sign(table.value[rows])
    random = rng.generator(seed, "rater agreement", aspect)
    alpha = alpha_interval(values, "nominal", random=random, groups=cells[:, 0].astype(np.int64))
    numbers = (plain(alpha.alpha), plain(alpha.low), plain(alpha.high))
    notes = () if alpha.units else (NO_COMMON,)
    return AspectAgreement(name, aspect, *numbers, alpha.units, notes=notes, compares=True)


# --- Drift: earlier outputs that are judged again, beside what was said of them ---


# From fewer outputs no error is learned.
FEWEST = 10
LEVEL = 0.95


@dataclass(frozen=True)
class RaterDrift:
    """How outputs that were judged again compare with what was said of them before."""

    data: str
    aspect: str
    outputs: int  # how many were judged again
    difference: float  # the mean difference, later less earlier; negative where raters are more severe now
    low: float | None = None  # the low end of its 95 % interval; None below 10 outputs
    high: float | None = None  # the high end

    @property
    def has_drifted(self) -> bool:
        """Whether the interval leaves out 0: then new models' scores are not on the earlier models' scale."""
        return self.low is not None and self.high is not None and not self.low <= 0.0 <= self.high

    @property
    def sentence(self) -> str:
        """Say whether raters have changed."""
        shift = f"{counted(self.outputs, 'output')} judged again scored {self.difference:+.3g} against before"
        if self.low is None or self.high is None:
            return f"Too few to say whether raters have changed: {shift}; {FEWEST} are needed."
        ends = f"[{self.low:+.3g}, {self.high:+.3g}]"
        if not self.has_drifted:
            return f"No sign that raters have changed: {shift} {ends}."
        change = "more severe" if self.difference < 0 else "more lenient"
        return f"Raters have become {change} on {self.aspect}: {shift} {ends}."

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return {**plain(asdict(self)), "has_drifted": self.has_drifted, "sentence": self.sentence}


def rater_drift(
    campaign: CampaignReader, data: str | None = None, *, at: int | None = None
) -> list[RaterDrift]:
    """Compare, on every aspect, outputs that rounds of new models asked for again with what was said before.

    d̄ ± t·s/√n over the outputs, each the mean over raters of their last scores, later less earlier. They were
    drawn by chance, so this estimates the change in severity on the outputs judged so far. If raters have
    changed, talk to them, and do not compare new models with earlier ones on these labels alone.
    """
    seq = campaign.last_seq() if at is None else at
    name, ratings = campaign.settings.data_named(data), campaign.ratings(at=seq)
    with campaign.database.reading() as connection:
        anchor_rounds = {
            (cell.item, cell.model): cell.round for cell in anchors_at(connection, campaign.name, name, seq)
        }
    # The last score of every rater, before and after an output was asked for again.
    scores: dict[tuple[Any, ...], dict[str, float]] = {}
    for row in ratings:
        cell = (row["item"], row["model"])
        if row["data"] == name and cell in anchor_rounds and not row["withdrawn"]:
            key = (row["aspect"], *cell, row["round"] == anchor_rounds[cell])
            scores.setdefault(key, {})[row["rater"]] = row["score"]
    drifts = []
    for aspect in campaign.settings.aspects:
        pairs = [
            (scores[aspect, *cell, False], scores[aspect, *cell, True])
            for cell in sorted(anchor_rounds)
            if (aspect, *cell, True) in scores and (aspect, *cell, False) in scores
        ]
        if not pairs:
            continue
        differences = np.array([np.mean([*new.values()]) - np.mean([*old.values()]) for old, new in pairs])
        count, mean = len(pairs), float(differences.mean())
        half = None
        if count >= FEWEST:
            half = student(LEVEL, count - 1.0) * float(differences.std(ddof=1)) / float(np.sqrt(count))
        ends = (None, None) if half is None else (mean - half, mean + half)
        drifts.append(RaterDrift(name, aspect, count, mean, *ends))
    return drifts
