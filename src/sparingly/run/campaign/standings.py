"""The current ranking of a data set: scores with their intervals, and the ranks that are still possible."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import DataError, SparinglyError
from sparingly.data.plain import plain
from sparingly.infer.estimate.result import CHOSEN, Estimate
from sparingly.infer.rank.best import chance_of_best
from sparingly.infer.rank.rank import rank
from sparingly.infer.rank.rank_sets import rank_sets
from sparingly.infer.rank.ranking import Ranking

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet, Floats
    from sparingly.infer.estimate.bradley_terry import BradleyTerry
    from sparingly.run.campaign.campaign import Campaign

# The best and the worst possible rank and the chance to be the best, by model.
Sets = Mapping[str, tuple[int, int, float | None]]
ALPHA = 0.05
_NONE: Sets = {}
_TOO_FEW = "Too few items (or documents) are judged to say which ranks are possible."


@dataclass(frozen=True)
class Standing:
    """One model in the current ranking; what is not known is None.

    Attributes:
        model: The model.
        score: Its score, or its strength where outputs are compared.
        low: The low end of the interval.
        high: The high end.
        best_rank: The best rank that is not ruled out, all models taken at once.
        worst_rank: The worst.
        chance_of_best: The chance that it is the best, under a flat prior.
    """

    model: str
    score: float | None
    low: float | None
    high: float | None
    best_rank: int | None = None
    worst_rank: int | None = None
    chance_of_best: float | None = None

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
    """

    data: str
    headline: str
    models: tuple[Standing, ...] = ()
    notes: tuple[str, ...] = ()
    signature: str = ""

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        models = [{**vars(one), "ranks": one.ranks} for one in self.models]
        return {**vars(self), "models": models, "notes": list(self.notes)}


def standings(campaign: Campaign, data: str | None = None, *, at: int | None = None) -> Standings:
    """Rank the models of a data set from what is judged so far; where that cannot be done, say why.

    Scores and intervals are those of ``Campaign.estimate`` (of ``Campaign.strengths`` where outputs are
    compared). Rank sets are those of ``rank``: they hold for all models at once. Use them to see which models
    the next round still has to tell apart.
    """
    name = campaign.settings.data_named(data)
    try:
        if campaign.compares(name):
            return _of_strengths(name, campaign.strengths(name, at=at), campaign.settings.seed)
        found = campaign.estimate(name, at=at)
        judged = campaign.data(name, at=at) if found.target == CHOSEN else None
        return _of_estimate(name, found, judged, campaign.settings.seed)
    except SparinglyError as error:
        return Standings(name, "Nothing can be ranked yet.", notes=(str(error),))


def _of_estimate(name: str, found: Estimate, judged: EvalSet | None, seed: int) -> Standings:
    notes, sets = list(found.notes), _NONE
    try:
        if judged is None:
            certain = found.pairs is not None and found.pairs.whole
            freedom = math.inf if certain else found.freedom
            sets = _sets(found.models, found.scores, found.covariance, freedom, seed, certain)
        elif found.selection is not None:
            ranking = rank(judged, found.selection, found.aspect, seed=seed)
            sets, notes = _sets_of(ranking), [*notes, *ranking.notes]
    except SparinglyError as error:
        notes.append(str(error))
    signature = "" if found.signature is None else str(found.signature)
    rows = _rows(found.models, found.scores, found.low, found.high, sets)
    return Standings(name, found.headline, rows, tuple(dict.fromkeys(notes)), signature)


def _of_strengths(name: str, found: BradleyTerry, seed: int) -> Standings:
    notes, sets = list(found.notes), _NONE
    notes += [f"{model}: {why}" for model, why in zip(found.models, found.status, strict=True) if why]
    try:
        sets = _sets(found.models, found.strengths, found.covariance, math.inf, seed, certain=False)
    except SparinglyError as error:
        notes.append(str(error))
    headline = f"{len(found.models)} models by strength, from {found.comparisons} comparisons"
    rows = _rows(found.models, found.strengths, found.low, found.high, sets)
    return Standings(name, headline, rows, tuple(dict.fromkeys(notes)))


def _sets(
    models: tuple[str, ...], scores: Floats, covariance: Floats, freedom: float, seed: int, certain: bool
) -> Sets:
    """Return the possible ranks and the chance to be the best of every model that has a score."""
    scored = np.flatnonzero(~np.isnan(scores))
    if not np.isfinite(covariance[np.ix_(scored, scored)]).all() or freedom < 1:
        raise DataError(_TOO_FEW)
    found = rank_sets(scores, covariance, alpha=ALPHA, degrees=freedom, seed=seed, certain=certain)
    best = chance_of_best(scores, covariance, degrees=freedom, seed=seed)
    return {
        model: (int(found.low[place]), int(found.high[place]), float(best[place]))
        for place, model in enumerate(models)
        if not np.isnan(scores[place])
    }


def _sets_of(ranking: Ranking) -> Sets:
    return {one.model: (one.best_rank, one.worst_rank, one.chance_of_best) for one in ranking.models}


def _rows(
    models: tuple[str, ...], scores: Floats, low: Floats, high: Floats, sets: Sets
) -> tuple[Standing, ...]:
    places = sorted(
        range(len(models)), key=lambda place: (bool(np.isnan(scores[place])), -scores[place], models[place])
    )
    return tuple(
        Standing(
            models[place],
            plain(scores[place]),
            plain(low[place]),
            plain(high[place]),
            *sets.get(models[place], ()),
        )
        for place in places
    )
