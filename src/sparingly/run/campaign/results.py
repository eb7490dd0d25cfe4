"""What a campaign has found so far: rankings, and how well raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import SparinglyError
from sparingly.base.format import counted, ends_text
from sparingly.base.stats.krippendorff import alpha_interval
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import Target, target_text, targets_of
from sparingly.infer.estimate.bradley_terry import BradleyTerry
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.judge.audit import audit_for_report
from sparingly.infer.judge.words import answer
from sparingly.infer.rank.rank import rank, rank_estimates, rank_strengths
from sparingly.infer.rank.ranking import Ranking, RankingSignature
from sparingly.run.campaign.drift import rater_drift
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

    Models whose outputs are compared are ranked by their strengths; items that were picked, not drawn, by
    what they show. ``scores`` saves estimating them again; ``options`` are those of ``Campaign.estimate``.
    """
    settings, targets = campaign.settings, targets_of(target)
    seq = campaign.last_seq() if at is None else at
    if campaign.compares(data):
        strengths = campaign.strengths(data, at=seq, level=round(1 - alpha, 12))
        return rank_strengths(
            strengths, aspect=settings.aspect, target=targets.decisions, alpha=alpha, seed=seed
        )
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


# --- standings: scores with intervals, and possible ranks ---

ALPHA = 0.05
_OF_RANKING = ("standard_error", "best_rank", "worst_rank", "chance_of_best")


@dataclass(frozen=True)
class ModelStanding:
    """One model in the current ranking; what is not known is None.

    Attributes:
        score: Its score, or its strength where outputs are compared.
        best_rank: 1 + the number of models that are significantly better, all pairs taken at once.
        worst_rank: The number of models less those that are significantly worse.
        chance_of_best: The probability that it is the best.
        interval: The interval in words, as ``estimate`` prints it.
    """

    model: str
    score: float | None
    low: float | None
    high: float | None
    standard_error: float | None = None
    best_rank: int | None = None
    worst_rank: int | None = None
    chance_of_best: float | None = None
    interval: str = ""

    @property
    def ranks(self) -> str:
        """The possible ranks as text, such as 2-4; empty where they are not known."""
        if self.best_rank is None:
            return ""
        ends = (self.best_rank, self.worst_rank)
        return str(self.best_rank) if ends[0] == ends[1] else f"{ends[0]}-{ends[1]}"


@dataclass(frozen=True)
class Standings:
    """The current ranking of a data set, best first.

    Attributes:
        headline: What is ranked, in one line.
        signature: From which the scores can be had again; empty where there is none.
        answer: Who may be the best, and which groups there are; empty where nothing is decided.
        scores_of: What scores and intervals speak about, in words.
        ranks_of: What ranks speak about, in words.
        is_rate: Whether scores are shares of passes or wins, which are printed in percent.
        judge: Whether the judge can be trusted, in sentences; empty where there is none.
    """

    data: str
    headline: str
    models: tuple[ModelStanding, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""
    answer: str = ""
    scores_of: str = ""
    ranks_of: str = ""
    is_rate: bool = False
    judge: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        models = [{**vars(standing), "ranks": standing.ranks} for standing in self.models]
        return {**vars(self), "models": models, "notes": list(self.notes), "judge": list(self.judge)}


def standings(campaign: CampaignReader, data: str | None = None, *, at: int | None = None) -> Standings:
    """Rank the models of a data set from what is judged so far; where that cannot be done, say why.

    Scores and intervals are those of ``Campaign.estimate`` (of ``Campaign.strengths`` where outputs are
    compared), ranks those of ``rank``: they hold for all models at once, on inputs like these. Use them to
    see between which models the next round still has to decide.
    """
    name = campaign.settings.data_named(data)
    # Scores and ranks are read one after the other, and must speak of the same answers.
    seq = campaign.last_seq() if at is None else at
    try:
        rank_set = _rank_by_strength if campaign.compares(name) else _rank_by_score
        return rank_set(name, campaign, seq)
    except SparinglyError as error:
        return Standings(name, "Nothing can be ranked yet.", notes=(str(error),))


def _rank_by_score(name: str, campaign: CampaignReader, at: int) -> Standings:
    estimate = campaign.estimate(name, at=at, target=targets_of().scores)
    ranking, notes = None, list(estimate.notes)
    try:
        ranking = rank_so_far(campaign, name, at=at, alpha=ALPHA, scores=estimate)
    except SparinglyError as error:
        notes.append(str(error))
    rounds = campaign.rounds(name, at=at)
    audit = audit_for_report(campaign.data(name, at=at), rounds, campaign.settings.aspect, estimate)
    return _standings(
        name,
        estimate.headline,
        estimate,
        estimate.scores,
        [estimate.interval_text(place) for place in range(len(estimate.models))],
        ranking,
        notes,
        signature="" if estimate.signature is None else str(estimate.signature),
        scores_of=target_text(estimate.target),
        is_rate=estimate.is_rate,
        judge=() if audit is None else answer(audit),
    )


def _rank_by_strength(name: str, campaign: CampaignReader, at: int) -> Standings:
    strengths = campaign.strengths(name, at=at)
    models, ranking, notes = strengths.models, None, list(strengths.notes)
    notes += [f"{model}: {status}" for model, status in zip(models, strengths.status, strict=True) if status]
    try:
        aspect, target = campaign.settings.aspect, targets_of().decisions
        ranking = rank_strengths(strengths, aspect=aspect, target=target, alpha=ALPHA)
    except SparinglyError as error:
        notes.append(str(error))
    intervals = [ends_text(low, high) for low, high in zip(strengths.low, strengths.high, strict=True)]
    comparisons = counted(strengths.comparisons, "comparison")
    headline = f"{counted(len(models), 'model')} by strength, from {comparisons}"
    return _standings(name, headline, strengths, strengths.strengths, intervals, ranking, notes)


def _standings(
    name: str,
    headline: str,
    result: Estimate | BradleyTerry,
    scores: Floats,
    intervals: Sequence[str],
    ranking: Ranking | None,
    notes: Sequence[str],
    **more: Any,
) -> Standings:
    """Return the models, best first, with the ranks that a ranking leaves possible."""
    models, ranked = result.models, {}
    if ranking is not None:
        ranked = {row.model: row for row in ranking.models}
        notes = (*notes, *ranking.notes)
        more |= {"answer": ranking.answer(), "ranks_of": target_text(ranking.target)}
    order = sorted(
        range(len(models)), key=lambda place: (bool(np.isnan(scores[place])), -scores[place], models[place])
    )
    standings = []
    for place in order:
        model, columns = models[place], (scores, result.low, result.high, result.standard_errors)
        score, low, high, error = (plain(column[place]) for column in columns)
        standing = ModelStanding(model, score, low, high, error, interval=intervals[place])
        if (row := ranked.get(model)) is not None:
            standing = replace(standing, **{name: getattr(row, name) for name in _OF_RANKING})
        standings.append(standing)
    return Standings(name, headline, tuple(standings), tuple(dict.fromkeys(notes)), **more)


# --- Findings: standings and the raters' agreement ---


@dataclass(frozen=True)
class AspectAgreement:
    """How well the raters of an aspect agree.

    Attributes:
        alpha: Krippendorff's α, with the ends of its 95 % interval; None where no two raters judged the same.
        common: How many outputs (or comparisons) two raters or more have judged.
        pairs: Every two raters who have judged something in common; empty for comparisons.
        flags: Raters who are far from the rest.
        compares: Whether outputs were compared.
    """

    data: str
    aspect: str
    alpha: float | None
    low: float | None
    high: float | None
    common: int
    pairs: tuple[PairAgreement, ...] = ()
    flags: tuple[RaterFlag, ...] = ()
    notes: tuple[str, ...] = ()
    compares: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        return dict(plain(asdict(self)))


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
    data, seed = campaign.data(name, at=at), campaign.settings.seed
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
