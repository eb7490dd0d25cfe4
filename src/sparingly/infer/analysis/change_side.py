"""One side of a comparison of results: what an estimate and a ranking have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from sparingly.data.selection import Selection
from sparingly.infer.estimate.result import Estimate, EstimateSignature
from sparingly.infer.rank.rank import joint_of, rank_estimates
from sparingly.infer.rank.ranking import Ranking

Result = Estimate | Ranking


@dataclass(frozen=True)
class Side:
    """What is compared of a result.

    Attributes:
        headline: What it is, in one line.
        order: The models, best first.
        scores: Their scores; a model without one is left out.
        errors: Their standard errors.
        ranks: Their possible ranks as text; the rank by score where nothing is decided.
        groups: Their groups; empty where nothing is decided.
        aspect: What was judged.
        target: What the scores speak about.
        estimator: The estimator as text.
        n: The number of judged items; None for plain arrays.
        size: The number of items of the set; None for plain arrays.
        signature: That of the scores, where there is one.
        items: The ids of the items that were chosen; None where that is not known.
        labels: How many rows asked for every model; empty where that is not known.
    """

    headline: str
    order: tuple[str, ...]
    scores: Mapping[str, float]
    errors: Mapping[str, float]
    ranks: Mapping[str, str]
    groups: Mapping[str, int]
    aspect: str
    target: str
    estimator: str
    n: int | None
    size: int | None
    signature: EstimateSignature | None
    items: frozenset[str] | None
    labels: Mapping[str, int]

    def left_to_chance(self, n: int) -> float:
        """Return what the variance of n judged items is proportional to: 1/n, less 1/N for a set of N."""
        return 1.0 / n - (1.0 / self.size if self.target == "set" and self.size else 0.0)


def side_of(result: Result) -> Side:
    """Return what is compared of an estimate or a ranking."""
    ranking = result if isinstance(result, Ranking) else _ranked(result)
    if isinstance(result, Estimate):
        signature = result.signature
        order = tuple(result.models[place] for place in result.order)
        scores = {name: float(result.scores[at]) for at, name in enumerate(result.models)}
        errors = {name: float(result.standard_errors[at]) for at, name in enumerate(result.models)}
    else:
        signature = None if result.signature is None else result.signature.scores
        order = tuple(one.model for one in result.models)
        scores = {one.model: one.score for one in result.models if one.score is not None}
        errors = {one.model: one.standard_error for one in result.models if one.standard_error is not None}
    return Side(
        headline=result.headline,
        order=order,
        scores={name: score for name, score in scores.items() if np.isfinite(score)},
        errors={name: error for name, error in errors.items() if np.isfinite(error)},
        ranks=_places(order) if ranking is None else {one.model: one.ranks for one in ranking.models},
        groups={}
        if ranking is None
        else {one.model: one.group for one in ranking.models if one.group is not None},
        aspect=result.aspect,
        target=result.scores_of if isinstance(result, Ranking) else result.target,
        estimator=result.estimator,
        n=result.n,
        size=result.size,
        signature=signature,
        items=None if result.selection is None else frozenset(result.selection.items.tolist()),
        labels=_asked(result.selection, order),
    )


def _ranked(estimate: Estimate) -> Ranking | None:
    """Return the ranking by an estimate's joint errors; None where it decides nothing.

    Decisions speak of inputs like these, and an estimate of this set has no errors for them.
    """
    known = np.flatnonzero(np.isfinite(estimate.scores))
    if estimate.target == "set" or len(known) < 2 or not joint_of(estimate).of_models(known).has_errors:
        return None
    return rank_estimates(estimate, estimate, alpha=round(1 - estimate.level, 12))


def _places(order: tuple[str, ...]) -> dict[str, str]:
    return {name: str(place) for place, name in enumerate(order, 1)}


def _asked(selection: Selection | None, models: tuple[str, ...]) -> dict[str, int]:
    """Return how many rows of a selection ask for every model."""
    if selection is None or selection.pairs is not None:
        return {}
    if selection.models is None:
        return dict.fromkeys(models, len(selection))
    named = [models if names is None else names for names in selection.models]
    return {name: sum(name in names for names in named) for name in models}
