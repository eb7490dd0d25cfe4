"""``d_optimal``: compare the pairs of models that tell most about the strengths of all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.bradley_terry import Comparisons, fit_strengths, information
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.strategy import Finished, State, Strategy, item_preferences

# Half a win of every model against every other, so that strengths exist before all have won and lost.
_PRIOR = 0.5


@register("d_optimal")
@dataclass(frozen=True, kw_only=True)
class DOptimal(Strategy):
    """Draws comparisons of the pairs of models whose outcome tells most about all strengths.

    A comparison of j and k raises log det I of the Bradley–Terry model by log(1 + v·dᵀI⁻d), v the variance of
    its outcome by the strengths so far (p(1 − p), or p₁ + p₀/4 − (p₁ + p₀/2)² with ties) and d = e_j − e_k.
    Pairs are drawn one after another with chances (1 − ``mix``) by that gain and ``mix`` alike for all, and
    an item that the pair was not compared on with equal chances; the chance of each comparison is kept.

    Choose it where people compare outputs two at a time and many models are to be ranked: pairs that are
    settled, or hopelessly unequal, get fewer comparisons. ``sparingly.bradley_terry(…, rounds=…)`` turns
    the answers into strengths.
    """

    reference: ClassVar[str] = "Bradley and Terry 1952; Davidson 1970; D-optimal designs"
    needs: ClassVar[tuple[str, ...]] = ("preferences",)

    first: int = parameter(
        0, "comparisons of the first round, all pairs alike; two of each pair unless given"
    )
    size: int = parameter(0, "comparisons of every later round; as many as there are pairs unless given")
    mix: float = parameter(0.2, "the share of draws in which all pairs are alike", minimum=0.0)
    tie: float = parameter(
        0.0, "where scores stand in for preferences: how far apart they are tied", minimum=0.0
    )

    def __post_init__(self) -> None:
        if not 0.0 < self.mix <= 1.0:
            raise UsageError(f"In d_optimal, mix is a share above 0 and at most 1, not {self.mix:g}.")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read nothing but the labels."""
        return frozenset()

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Show the preferences, and the scores from which they can be derived."""
        return super().label_fields(data, aspect) | {"preferences"}

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next comparisons."""
        models = len(state.data.models)
        if models < 2:
            raise DataError("d_optimal compares models, and there are fewer than two.")
        pairs = len(pair_indices(models)[0])
        limit = state.budget.count_of(len(state.data) * pairs, "comparisons")
        asked = compared_before(state)
        size = (self.first or 2 * pairs) if state.number == 1 else (state.size or self.size or pairs)
        open_ones = ~asked & _still_here(state)
        count = min(size, limit - int(asked.sum()), int(open_ones.sum()))
        if count < 1:
            return Finished("the budget is spent.")
        strengths, log_ties, known = self._learned(state, asked)
        draws = _Draws(strengths, log_ties, known, ~open_ones, self.mix)
        generator = rng.generator(state.seed, self.name, str(state.number))
        rows, places, chances = draws.take(count, generator)
        first, second = pair_indices(models)
        named = np.empty(count, object)
        named[:] = [(state.data.models[first[at]], state.data.models[second[at]]) for at in places]
        return Chosen(
            rows=rows, pairs=named, probability=chances, reason="tells much about the strengths of all models"
        )

    def _learned(self, state: State, asked: NDArray[np.bool_]) -> tuple[Floats, float, Floats]:
        """Return the strengths and the tie parameter so far, and the information of what is judged."""
        models = len(state.data.models)
        first, second = pair_indices(models)
        told = [
            item_preferences(state, (state.data.models[one], state.data.models[other]), self.tie)
            for one, other in zip(first, second, strict=True)
        ]
        value = np.where(asked, np.stack(told, axis=1), np.nan)
        item, place = np.nonzero(~np.isnan(value))
        prior = np.repeat(np.arange(len(first)), 2)
        given = np.concatenate([value[item, place], np.tile([1.0, -1.0], len(first))])
        every = Comparisons(
            first=first[np.concatenate([place, prior])],
            second=second[np.concatenate([place, prior])],
            value=given,
            item=np.concatenate([item, -1 - np.arange(len(prior))]),
            weight=np.concatenate([np.ones(len(item)), np.full(len(prior), _PRIOR / models)]),
            covariates=np.zeros((len(given), 0)),
        )
        found = fit_strengths(every, models, "davidson" if (given == 0).any() else "half")
        lead = found.strengths[every.first] - found.strengths[every.second]
        known = np.zeros((models, models))
        worth = every.weight * information(lead, found.log_ties)
        for one, other, much in zip(every.first, every.second, worth, strict=True):
            known[[one, other], [one, other]] += much
            known[[one, other], [other, one]] -= much
        return found.strengths, found.log_ties, known

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Refuse: comparisons give strengths, not scores."""
        raise UsageError(
            "d_optimal asks for comparisons, which give strengths: use sparingly.bradley_terry, or the "
            "strengths of a campaign."
        )


@dataclass(frozen=True, eq=False)
class _Draws:
    """What comparisons are drawn from.

    Attributes:
        strengths: The strengths so far.
        log_ties: The log of Davidson's ν.
        known: The information so far, models × models.
        asked: Items × pairs that were compared, or cannot be any more.
        mix: The share of draws in which all pairs are alike.
    """

    strengths: Floats
    log_ties: float
    known: Floats
    asked: NDArray[np.bool_]
    mix: float

    def take(
        self, count: int, generator: np.random.Generator
    ) -> tuple[NDArray[np.int64], NDArray[np.int64], Floats]:
        """Draw comparisons one after another: items, pairs, and the chance of each."""
        first, second = pair_indices(len(self.strengths))
        worth = information(self.strengths[first] - self.strengths[second], self.log_ties)
        known, asked = self.known.copy(), self.asked.copy()
        rows, places, chances = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
        for draw in range(count):
            inverse = np.linalg.pinv(known, hermitian=True)
            reach = inverse[first, first] + inverse[second, second] - 2 * inverse[first, second]
            free = (~asked).sum(axis=0)
            chance = _mixed(np.log1p(worth * np.maximum(reach, 0.0)), free > 0, self.mix)
            pair = int(generator.choice(len(chance), p=chance))
            item = int(generator.choice(np.flatnonzero(~asked[:, pair])))
            rows[draw], places[draw], chances[draw] = item, pair, chance[pair] / free[pair]
            asked[item, pair] = True
            one, other = first[pair], second[pair]
            known[[one, other], [one, other]] += worth[pair]
            known[[one, other], [other, one]] -= worth[pair]
        return rows, places, chances


def _mixed(gain: Floats, free: NDArray[np.bool_], mix: float) -> Floats:
    """Return the chances of pairs that have items left: partly by gain, partly alike."""
    gain = np.where(free, gain, 0.0)
    alike = free / free.sum()
    by_gain = gain / gain.sum() if gain.sum() > 0 else alike
    chance = (1.0 - mix) * by_gain + mix * alike
    return np.asarray(chance / chance.sum())


def _still_here(state: State) -> NDArray[np.bool_]:
    """Return for every pair whether both of its models are still in the evaluation."""
    here = np.array([name not in state.withdrawn for name in state.data.models])
    first, second = pair_indices(len(here))
    return np.asarray(here[first] & here[second])


def compared_before(state: State) -> NDArray[np.bool_]:
    """Return items × pairs: which comparisons earlier rounds asked for."""
    models = len(state.data.models)
    first, second = pair_indices(models)
    place = {(int(one), int(other)): at for at, (one, other) in enumerate(zip(first, second, strict=True))}
    column = {name: at for at, name in enumerate(state.data.models)}
    asked = np.zeros((len(state.data), len(first)), bool)
    for one in state.rounds:
        if one.pairs is None:
            continue
        for row, pair in zip(state.data.positions(one.items), one.pairs, strict=True):
            low, high = sorted((column[pair[0]], column[pair[1]]))
            asked[row, place[low, high]] = True
    return asked
