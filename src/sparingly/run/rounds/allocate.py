"""``allocate``: effort goes to the models that tests have not settled yet."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base.arrays import Floats, Mask, ratio
from sparingly.base.cache import ResultCache
from sparingly.base.checks import check_alpha
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.run.rounds.auto import Auto
from sparingly.run.rounds.stop.base import after_rounds, look_from, pair_question
from sparingly.run.rounds.stop.rules import chance_to_settle, information_at_end
from sparingly.run.rounds.stop.sequential import (
    Look,
    SettledPairs,
    Spending,
    StopQuestion,
    Valid,
    settle_pairs,
)
from sparingly.run.rounds.strategy import Finished, State
from sparingly.run.rounds.wave_estimate import wave_result
from sparingly.signals.predict.features import feature_arrays

# --- what labels of a model are worth, by what tests have not settled yet ---

AllocationRule = Literal["elimination", "rank_weighted", "movable"]
# A round looks back at every earlier one, for every fold.
_look_cache: ResultCache[Look] = ResultCache(size=64)


def rank_weights(look: Look, question: StopQuestion) -> Floats:
    """Return 1/rank for every model.

    Ranks are those of the scores for the best model; to rank all, those of how near the nearest other model
    lies, in standard errors.
    """
    if question == "best":
        order = np.argsort(-look.scores, kind="stable")
    else:
        errors = pair_errors(look.covariance)
        apart = np.abs(look.scores[:, None] - look.scores)
        z = ratio(apart, errors, np.inf)
        np.fill_diagonal(z, np.inf)
        order = np.argsort(z.min(axis=1), kind="stable")
    weights = np.empty(len(order))
    weights[order] = 1.0 / np.arange(1, len(order) + 1)
    return weights


def movable_weights(look: Look, deviations: Floats, size: int, question: StopQuestion) -> Floats:
    """Return how far the p-values that judging everything would give can still move, the largest as 1.

    z_full = d̂·√N/s_d is known up to δ = se·√N/s_d (se over this very set, as the look is), so p = Φ(−z_full)
    can still move by Φ(z_full + δ) − Φ(z_full − δ). To rank all, a model counts by the sum over its pairs;
    for the best model, by its pair with the leader, and the leader by the largest of them. ``deviations``
    (models × models) are the s_d over the items, ``size`` is N.
    """
    from scipy.special import ndtr

    scale = ratio(np.sqrt(size), deviations)
    z = (look.scores[:, None] - look.scores) * scale
    room = pair_errors(look.covariance) * scale
    moves = ndtr(z + room) - ndtr(z - room)
    np.fill_diagonal(moves, 0.0)
    if question == "all":
        weights = moves.sum(axis=1)
    else:
        leader = int(np.argmax(look.scores))
        weights = moves[leader].copy()
        weights[leader] = weights.max()
    largest = float(weights.max())
    return np.asarray(weights / largest) if largest > 0 else np.ones(len(weights))


def pair_deviations(labels: Floats) -> Floats:
    """Return the standard deviation of every pair's differences over the items on which both were judged."""
    models = labels.shape[1]
    deviations = np.zeros((models, models))
    for first in range(models):
        differences = labels[:, [first]] - labels
        judged = ~np.isnan(differences)
        count = judged.sum(axis=0)
        mean = np.where(judged, differences, 0.0).sum(axis=0) / np.maximum(count, 1)
        squares = (np.where(judged, differences - mean, 0.0) ** 2).sum(axis=0)
        deviations[first] = np.sqrt(squares / np.maximum(count - 1, 1))
    return deviations


# --- the strategy ---


@register("allocate")
@dataclass(frozen=True, kw_only=True)
class Allocate(Auto):
    """Judges as ``auto`` does, with depths by tests: labels go to the models that are still undecided.

    The order, the folds, the limit on the variance of scores and the estimate are those of ``auto``; what
    labels of model j are worth is set by a rule. For ``elimination`` it is

    a_j = 1 where no k has μ̂_k − μ̂_j > c·se_jk, or, for a ranking, some pair of j is not settled; else 0,

    with c that holds for all looks and comparisons at once. For a population, a pair that is not likely to be
    settled by the rest of the budget does not count. ``rank_weighted``: depths of 1/rank. ``movable``: by
    how far the p-values that judging everything would give can still move.

    Use it with a stop that has the same error rate, target and question, when many models are compared and
    few are close.
    """

    _thrifty: ClassVar[bool] = True
    reference: ClassVar[str] = "Even-Dar, Mannor and Mansour 2006; Maurer and Bretz 2013; Dunnett 1955"

    rule: AllocationRule = parameter("elimination", "how labels are allocated")  # noqa: RUF009 - a field
    rounds: int = parameter(8, "the number of rounds, the pilot included", minimum=2)
    pilot: float = parameter(0.25, "the share of the budget in which all models are judged first")
    floor: float = parameter(0.1, "the least depth of a model, as a share of the deepest")
    alpha: float = parameter(0.05, "the error rate at which models are left out")
    valid: Valid = parameter("group_sequential", "how repeated looks are accounted for")  # noqa: RUF009
    spending: Spending = parameter("even", "of group_sequential: evenly, or most at the end")  # noqa: RUF009
    target: Literal["population", "set"] = parameter("population", "what the answer is about")
    chance: float = parameter(
        0.1,
        "for a population: the smallest probability of being decided by the rest of the budget that is "
        "worth judging",
    )

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Raise UsageError for parameters that do not fit."""
        check_alpha(self.alpha)
        if not 0.0 <= self.chance < 1.0:
            raise UsageError(f"chance is a probability between 0 and 1, such as 0.1, not {self.chance:g}.")
        return super().resolve(data, aspect, budget)

    def next_round(self, state: State) -> Chosen | Finished:
        """Go on with the models that are still undecided, until none is."""
        looks = self._looks(state)
        if looks:
            pairs = self._settled_pairs(looks)
            if self.question == "best" and pairs.candidates.sum() == 1:
                best = state.data.models[int(np.argmax(pairs.candidates))]
                return Finished(f"{best} is the best model.", best)
            if not pairs.open.any():
                return Finished("no pair of models that is still judged is open.")
        return super().next_round(state)

    def _worth(self, state: State, hidden: Mask | None) -> Floats:
        """Return the worth of labels of each model, by a test of the labels outside the hidden items."""
        if hidden is not None:
            state = replace(state, data=state.data.reveal(~np.isnan(state.labels) & ~hidden[:, None]))
        looks = self._looks(state)
        if self.question == "scores" or not looks or not looks[-1].tells:
            return np.ones(len(state.data.models))
        if self.rule == "elimination":
            return self._going(state, looks).astype(np.float64)
        # Depths go by the root of the worth.
        if self.rule == "rank_weighted":
            return rank_weights(looks[-1], self._goal) ** 2
        over_set, deviations = self._look(state, "set"), pair_deviations(state.labels)
        return movable_weights(over_set, deviations, len(state.data), self._goal) ** 2

    @property
    def _goal(self) -> Literal["all", "best"]:
        return "best" if self.question == "best" else "all"

    def _look(self, state: State, target: Literal["population", "set"]) -> Look:
        given = hashlib.sha256(state.labels.tobytes() + state.asked.tobytes()).digest()
        key = (self, target, state.aspect, state.seed, state.budget, state.number, state.data.models, given)
        arrays = [state.data.store.items, *feature_arrays(state.data)]
        return _look_cache.get(arrays, key, lambda: self._new_look(state, target))

    def _new_look(self, state: State, target: Literal["population", "set"]) -> Look:
        combined, _, errors, _ = wave_result(state, self.history(state), target)
        freedom = float(errors.freedoms.min(initial=errors.freedom))
        return look_from(combined.scores, errors.covariance, freedom, target, state)

    def _looks(self, state: State) -> list[Look]:
        """Return the look after every round in which judgements came in."""
        states = [after_rounds(state, count) for count in range(1, len(state.rounds) + 1)]
        return [self._look(then, self.target) for then in states if not np.isnan(then.labels).all()]

    def _settled_pairs(self, looks: list[Look]) -> SettledPairs:
        question = pair_question(self._goal, self.target)
        return settle_pairs(looks, self.alpha, self.valid, question=question, spending=self.spending)

    def _going(self, state: State, looks: list[Look]) -> Mask:
        """Return the models that are still judged: those that may be the best, or have an open pair."""
        pairs = self._settled_pairs(looks)
        going = np.asarray(pairs.candidates if self.question == "best" else pairs.open.any(axis=1))
        if self.chance <= 0.0 or self.target == "set":
            return going
        # Those with an open pair that the rest of the budget is likely enough to settle.
        open_pairs = pairs.open
        if self.question == "best":
            open_pairs = open_pairs & pairs.candidates[:, None] & pairs.candidates
        chances = chance_to_settle(
            looks,
            pairs,
            open_pairs,
            information_at_end(state, self.target),
            self.alpha,
            self.valid,
            pair_deviations(state.labels) / np.sqrt(len(state.data)),
            spending=self.spending,
        )
        worth = np.asarray(going & (open_pairs & (chances >= self.chance)).any(axis=1))
        # Where nothing is likely to be settled any more, nothing is gained by leaving some out.
        return worth if worth.sum() > 1 else going
