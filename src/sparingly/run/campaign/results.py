"""What a campaign has found so far: rankings, and how well raters agree."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import SparinglyError
from sparingly.base.format import counted, ends_text
from sparingly.base.stats.krippendorff import alpha_interval
from sparingly.data.evalset import EvalSet
from sparingly.data.values import plain
from sparingly.infer.estimate.assemble import target_text, targets_of
from sparingly.infer.estimate.result import CHOSEN_ITEMS
from sparingly.infer.rank.rank import rank, rank_estimates, rank_strengths
from sparingly.infer.rank.ranking import Ranking
from sparingly.run.campaign.progress import last_entry
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.raters.agreement import NO_COMMON, PairAgreement, rater_agreement
from sparingly.run.raters.report import RaterFlag, rater_flags

# --- Standings: scores with intervals, and possible ranks ---


ALPHA = 0.05


@dataclass(frozen=True)
class ModelStanding:
    """One model in the current ranking; what is not known is None.

    Attributes:
        model: The model.
        score: Its score, or its strength where outputs are compared.
        low: The low end of the interval.
        high: The high end.
        standard_error: The standard error of the score.
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
        return (
            str(self.best_rank)
            if self.best_rank == self.worst_rank
            else f"{self.best_rank}-{self.worst_rank}"
        )


@dataclass(frozen=True)
class Standings:
    """The current ranking of a data set, best first.

    Attributes:
        data: The data set.
        headline: What is ranked, in one line.
        models: The models.
        notes: What to mind.
        signature: From which the scores can be had again; empty where there is none.
        answer: Who may be the best, and which groups there are; empty where nothing is decided.
        scores_of: What scores and intervals speak about, in words.
        ranks_of: What ranks speak about, in words.
        is_rate: Whether scores are shares of passes or wins, which are printed in percent.
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

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        models = [{**vars(one), "ranks": one.ranks} for one in self.models]
        return {**vars(self), "models": models, "notes": list(self.notes)}


def standings(campaign: CampaignReader, data: str | None = None, *, at: int | None = None) -> Standings:
    """Rank the models of a data set from what is judged so far; where that cannot be done, say why.

    Scores and intervals are those of ``Campaign.estimate`` (of ``Campaign.strengths`` where outputs are
    compared), ranks those of ``rank``: they hold for all models at once, on inputs like these. Use them to
    see between which models the next round still has to decide.
    """
    name = campaign.settings.data_named(data)
    # Scores and ranks are read one after the other, and must speak of the same answers.
    seq = last_entry(campaign) if at is None else at
    try:
        if campaign.compares(name):
            return _of_strengths(name, campaign, seq)
        return _of_estimate(name, campaign, seq)
    except SparinglyError as error:
        return Standings(name, "Nothing can be ranked yet.", notes=(str(error),))


def _of_estimate(name: str, campaign: CampaignReader, at: int) -> Standings:
    targets = targets_of()
    found = campaign.estimate(name, at=at, target=targets.scores)
    ranking, why = None, ""
    try:
        if found.target != CHOSEN_ITEMS:
            decisions = campaign.estimate(name, at=at, target=targets.decisions)
            ranking = rank_estimates(found, decisions, alpha=ALPHA)
        elif found.selection is not None:
            ranking = rank(campaign.data(name, at=at), found.selection, found.aspect, alpha=ALPHA)
    except SparinglyError as error:
        why = str(error)
    columns = found.scores, found.low, found.high, found.standard_errors
    signature = "" if found.signature is None else str(found.signature)
    texts = [found.interval_text(place) for place in range(len(found.models))]
    made = _standings(name, found.models, columns, texts, ranking, (*found.notes, *((why,) if why else ())))
    return replace(
        made,
        headline=found.headline,
        scores_of=target_text(found.target),
        signature=signature,
        is_rate=found.is_rate,
    )


def _of_strengths(name: str, campaign: CampaignReader, at: int) -> Standings:
    found = campaign.strengths(name, at=at)
    notes = list(found.notes)
    notes += [f"{model}: {why}" for model, why in zip(found.models, found.status, strict=True) if why]
    ranking = None
    try:
        aspect, target = campaign.settings.aspect, targets_of().decisions
        ranking = rank_strengths(found, aspect=aspect, target=target, alpha=ALPHA)
    except SparinglyError as error:
        notes.append(str(error))
    columns = found.strengths, found.low, found.high, found.standard_errors
    headline = (
        f"{counted(len(found.models), 'model')} by strength, from {counted(found.comparisons, 'comparison')}"
    )
    texts = [ends_text(low, high) for low, high in zip(found.low, found.high, strict=True)]
    return replace(_standings(name, found.models, columns, texts, ranking, notes), headline=headline)


def _standings(
    name: str,
    models: tuple[str, ...],
    columns: tuple[Floats, Floats, Floats, Floats],
    intervals: Sequence[str],
    ranking: Ranking | None,
    notes: Sequence[str],
) -> Standings:
    """Return the models, best first, with the ranks that a ranking leaves possible."""
    scores = columns[0]
    order = sorted(
        range(len(models)), key=lambda place: (bool(np.isnan(scores[place])), -scores[place], models[place])
    )
    ranked = {} if ranking is None else {one.model: one for one in ranking.models}
    rows = []
    for place in order:
        row = ModelStanding(models[place], *(plain(column[place]) for column in columns))
        row = replace(row, interval=intervals[place])
        if (one := ranked.get(models[place])) is not None:
            row = replace(
                row,
                standard_error=one.standard_error,
                best_rank=one.best_rank,
                worst_rank=one.worst_rank,
                chance_of_best=one.chance_of_best,
            )
        rows.append(row)
    own = () if ranking is None else ranking.notes
    return Standings(
        name,
        "",
        answer="" if ranking is None else ranking.answer(),
        ranks_of="" if ranking is None else target_text(ranking.target),
        models=tuple(rows),
        notes=tuple(dict.fromkeys((*notes, *own))),
    )


# --- Findings: standings and the raters' agreement ---


@dataclass(frozen=True)
class AspectAgreement:
    """How well the raters of an aspect agree.

    Attributes:
        data: The data set.
        aspect: What was judged.
        alpha: Krippendorff's α; None where no two raters judged the same.
        low: The low end of its 95 % interval.
        high: The high end.
        common: How many outputs (or comparisons) two raters or more have judged.
        pairs: Every two raters who have judged something in common; empty for comparisons.
        flags: Raters who are far from the rest.
        notes: What to mind.
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
        return {
            **vars(self),
            "pairs": [plain(vars(one)) for one in self.pairs],
            "flags": [one.to_dict() for one in self.flags],
            "notes": list(self.notes),
        }


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
            "standings": [one.to_dict() for one in self.standings],
            "agreement": [one.to_dict() for one in self.agreement],
        }


def findings(campaign: CampaignReader, at: int | None = None) -> Findings:
    """Estimate, rank and compare raters from what is judged so far; a matter of seconds on large campaigns.

    Low agreement asks for clearer instructions before the next round; a wide set of ranks asks for it.
    """
    seq = last_entry(campaign) if at is None else at
    sets = list(campaign.settings.budgets)
    return Findings(
        seq,
        tuple(standings(campaign, name, at=seq) for name in sets),
        tuple(one for name in sets for one in agreements(campaign, name, at=seq)),
    )


def agreements(campaign: CampaignReader, data: str, *, at: int | None = None) -> tuple[AspectAgreement, ...]:
    """Return the raters' agreement on every aspect that people are asked for."""
    held = campaign.data(data, at=at)
    of = _compared if len(held.preferences) else _scored
    return tuple(of(data, held, aspect, campaign.settings.seed) for aspect in campaign.settings.aspects)


def _scored(data: str, held: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    try:
        found = rater_agreement(held, aspect, seed=seed)
    except SparinglyError as error:
        return AspectAgreement(data, aspect, None, None, None, 0, notes=(str(error),))
    alpha = found.alpha
    flags: tuple[RaterFlag, ...] = ()
    notes = list(found.notes)
    try:
        flags = rater_flags(held, aspect)
    except SparinglyError as error:
        notes.append(str(error))
    numbers = (plain(alpha.alpha), plain(alpha.low), plain(alpha.high))
    return AspectAgreement(data, aspect, *numbers, alpha.units, found.pairs, flags, tuple(notes))


def _compared(data: str, held: EvalSet, aspect: str, seed: int) -> AspectAgreement:
    """Return Krippendorff's α of preferences, taken as names: one, the other, or a tie."""
    table = held.preferences
    rows = np.flatnonzero(
        (table.aspect == table.aspects.index(aspect)) & (table.rater >= 0) & ~np.isnan(table.value)
    )
    keys = np.stack([table.item[rows], table.first[rows], table.second[rows]], axis=1)
    cells, place = np.unique(keys, axis=0, return_inverse=True)
    values = np.full((len(cells), len(table.raters)), np.nan)
    values[place.ravel(), table.rater[rows]] = np.sign(table.value[rows])
    random = rng.generator(seed, "rater agreement", aspect)
    found = alpha_interval(values, "nominal", random=random, groups=cells[:, 0].astype(np.int64))
    numbers = (plain(found.alpha), plain(found.low), plain(found.high))
    notes = () if found.units else (NO_COMMON,)
    return AspectAgreement(data, aspect, *numbers, found.units, notes=notes, compares=True)
