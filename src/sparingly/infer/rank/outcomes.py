"""Outcomes of an evaluation: models by their means, pairs of models by their winners, all against chosen."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank import winners
from sparingly.infer.rank.asked import Asked
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.means import model_means, settled


@dataclass(frozen=True)
class ModelOutcome:
    """One model's mean and rank on the whole set and on the selection (none where it was not judged)."""

    model: str
    full_mean: float
    full_rank: int
    mean: float
    rank: int | None


@dataclass(frozen=True)
class PairOutcome:
    """Winners over all pairs of models.

    Ashury Tahan et al. (2024) call a pair a success when the subset names the model that wins more items
    of the whole set.

    Attributes:
        success_rate: Share of the pairs with a winner on the whole set that the selection gets right.
        distance: Mean winning distance |P_A − P_B| on the whole set, over the pairs with a winner.
        estimated_distance: The same on the selection, positive towards the true winner.
        tied: Pairs without a winner on the whole set, which are not in the rate.
    """

    success_rate: float
    distance: float
    estimated_distance: float
    tied: int


def model_outcomes(data: EvalSet, full: FullSet, asked: Asked) -> tuple[ModelOutcome, ...]:
    """Return every model's mean and rank, best on the whole set first."""
    means = model_means(asked.scores(full.values), full.weights_of(asked.rows))
    ranks, full_ranks = _ranks(means), _ranks(full.means)
    outcomes = [
        ModelOutcome(
            name, float(full.means[place]), full_ranks[place] or 0, float(means[place]), ranks[place]
        )
        for place, name in enumerate(data.models)
    ]
    return tuple(sorted(outcomes, key=lambda outcome: (outcome.full_rank, outcome.model)))


def _ranks(means: Floats) -> list[int | None]:
    """Return ranks from 1 for the best mean; equal means share the better rank, a missing one has none."""
    rounded = settled(means)
    return [None if np.isnan(mean) else 1 + int((rounded > mean).sum()) for mean in rounded]


def pair_outcome(full: FullSet, asked: Asked, tie: float) -> PairOutcome:
    """Return how many of the whole set's winners of pairs a selection finds, and by how much they lead."""
    whole = winners.pair_margins(full.values, tie)
    part = winners.pair_margins(asked.scores(full.values), tie)
    tied = int((whole == 0).sum())
    decided = ~np.isnan(whole) & (whole != 0)
    if not decided.any():
        return PairOutcome(float("nan"), 0.0, float("nan"), tied)
    # A pair that the selection does not judge on any item has no lead there, and no winner is found.
    here = np.nan_to_num(np.sign(whole) * part, nan=0.0)[decided]
    return PairOutcome(
        success_rate=float((here > 0).mean()),
        distance=float(np.abs(whole[decided]).mean()),
        estimated_distance=float(here.mean()),
        tied=tied,
    )
