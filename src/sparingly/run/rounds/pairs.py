"""Strategies that compare two models at a time: ``d_optimal``, where it tells most, and random ``pairs``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import parameter, register
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.compare.votes import text_codes
from sparingly.infer.estimate.bradley_terry import Comparisons, fit_strengths, information
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.strategy import Finished, State, Strategy, item_preferences

# Half a win of every model against every other, so that strengths exist before all have won and lost.
_PRIOR = 0.5


@register("d_optimal")
@dataclass(frozen=True, kw_only=True)
class DOptimal(Strategy):
    """Draws comparisons of the pairs of models that are most informative about all strengths.

    A comparison of j and k raises log det I of the Bradley–Terry model by log(1 + v·dᵀI⁻d), v the variance of
    its outcome by the strengths so far (p(1 − p), or p₁ + p₀/4 − (p₁ + p₀/2)² with ties) and d = e_j − e_k.
    Pairs are drawn one after another with probabilities (1 − ``mix``) by that gain and ``mix`` alike for all,
    and an item that the pair was not compared on with equal probabilities; the probability of each comparison
    is stored.

    Choose it where people compare outputs two at a time and many models are to be ranked: pairs that are
    settled, or hopelessly unequal, get fewer comparisons. ``sparingly.bradley_terry(…, rounds=…)`` turns
    the answers into strengths.
    """

    reference: ClassVar[str] = "Bradley and Terry 1952; Davidson 1970; D-optimal designs"
    needs: ClassVar[tuple[str, ...]] = ("preferences",)

    first: int | None = parameter(
        None,
        "comparisons of the first round, equally many of each pair; unless given as later ones, or two "
        "of each pair",
    )
    size: int = parameter(0, "comparisons of every later round; default: as many as there are pairs")
    mix: float = parameter(0.2, "the share of draws in which all pairs have equal probabilities", minimum=0.0)
    tie: float = parameter(
        0.0, "where scores stand in for preferences: how far apart they are tied", minimum=0.0
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0.0 < self.mix <= 1.0:
            raise UsageError(f"In d_optimal, mix is a share above 0 and at most 1, not {self.mix:g}.")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read nothing but the labels."""
        return frozenset()

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next comparisons."""
        models = state.data.models
        if len(models) < 2:
            raise DataError("d_optimal compares models, and there are fewer than two.")
        first, second = pair_indices(len(models))
        pairs = len(first)
        limit = state.budget.count_of(len(state.data) * pairs, "comparisons")
        compared = compared_cells(state)
        # Campaigns that were saved with first=0 asked for two of each pair, whatever the size of rounds.
        first_size = (state.size if self.first is None else self.first) or 2 * pairs
        size = first_size if state.number == 1 else state.size or self.size or pairs
        remaining = np.array([name not in state.withdrawn for name in models])
        open_cells = ~compared & remaining[first] & remaining[second]
        count = min(size, limit - int(compared.sum()), int(open_cells.sum()))
        if count < 1:
            return Finished("the budget is spent.")
        strengths, log_ties, information_matrix = self._fit(state, compared)
        worth = information(strengths[first] - strengths[second], log_ties)
        generator = rng.generator(state.seed, self.name, str(state.number))
        rows, places, chances = np.empty(count, np.int64), np.empty(count, np.int64), np.empty(count)
        for draw in range(count):
            inverse = np.linalg.pinv(information_matrix, hermitian=True)
            reach = inverse[first, first] + inverse[second, second] - 2 * inverse[first, second]
            free = open_cells.sum(axis=0)
            # Partly by gain, partly alike for all pairs that have items left.
            gain = np.where(free > 0, np.log1p(worth * np.maximum(reach, 0.0)), 0.0)
            alike = (free > 0) / (free > 0).sum()
            by_gain = gain / gain.sum() if gain.sum() > 0 else alike
            chance = (1.0 - self.mix) * by_gain + self.mix * alike
            chance = chance / chance.sum()
            pair = int(generator.choice(pairs, p=chance))
            item = int(generator.choice(np.flatnonzero(open_cells[:, pair])))
            rows[draw], places[draw], chances[draw] = item, pair, chance[pair] / free[pair]
            open_cells[item, pair] = False
            _add_information(information_matrix, first[pair], second[pair], worth[pair])
        pair_names = np.empty(count, object)
        pair_names[:] = [(models[first[pair]], models[second[pair]]) for pair in places]
        return Chosen(
            rows=rows,
            pairs=pair_names,
            probability=chances,
            reason="informative about the strengths of all models",
        )

    def _fit(self, state: State, compared: Mask) -> tuple[Floats, float, Floats]:
        """Return the strengths and the tie parameter so far, and the information of the comparisons."""
        models = len(state.data.models)
        first, second = pair_indices(models)
        preferences = [
            item_preferences(state, (state.data.models[low], state.data.models[high]), self.tie)
            for low, high in zip(first, second, strict=True)
        ]
        value = np.where(compared, np.stack(preferences, axis=1), np.nan)
        item, place = np.nonzero(~np.isnan(value))
        prior = np.repeat(np.arange(len(first)), 2)
        values = np.concatenate([value[item, place], np.tile([1.0, -1.0], len(first))])
        comparisons = Comparisons(
            first=first[np.concatenate([place, prior])],
            second=second[np.concatenate([place, prior])],
            value=values,
            item=np.concatenate([item, -1 - np.arange(len(prior))]),
            weight=np.concatenate([np.ones(len(item)), np.full(len(prior), _PRIOR / models)]),
            covariates=np.zeros((len(values), 0)),
        )
        fitted_model = fit_strengths(comparisons, models, "davidson" if (values == 0).any() else "half")
        lead = fitted_model.strengths[comparisons.first] - fitted_model.strengths[comparisons.second]
        information_matrix = np.zeros((models, models))
        worth = comparisons.weight * information(lead, fitted_model.log_ties)
        for low, high, amount in zip(comparisons.first, comparisons.second, worth, strict=True):
            _add_information(information_matrix, low, high, amount)
        return fitted_model.strengths, fitted_model.log_ties, information_matrix

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Raise UsageError: comparisons give strengths, not scores."""
        raise UsageError(
            "d_optimal asks for comparisons, which give strengths: use sparingly.bradley_terry, or the "
            "strengths of a campaign."
        )


def _add_information(matrix: Floats, first: int, second: int, amount: float) -> None:
    matrix[[first, second], [first, second]] += amount
    matrix[[first, second], [second, first]] -= amount


def compared_cells(state: State) -> Mask:
    """Return items × pairs: which comparisons earlier rounds asked for."""
    models = len(state.data.models)
    first, second = pair_indices(models)
    numbers = {pair: number for number, pair in enumerate(zip(first.tolist(), second.tolist(), strict=True))}
    columns = {name: column for column, name in enumerate(state.data.models)}
    compared = np.zeros((len(state.data), len(first)), bool)
    for selection in state.rounds:
        if selection.pairs is None:
            continue
        for row, pair in zip(state.data.positions(selection.items), selection.pairs, strict=True):
            low, high = sorted((columns[pair[0]], columns[pair[1]]))
            compared[row, numbers[low, high]] = True
    return compared


# --- every pair of models as often, on random items ---


@register("pairs")
@dataclass(frozen=True, kw_only=True)
class RandomPairs(Strategy):
    """Draws comparisons at random: every pair of models as often (± 1), on items with equal probabilities.

    Each pair has the items on which the two wrote different texts in an order of its own, by a hash of
    seed, item and pair; comparisons go round the pairs, in a random order each time, and take the next item
    of each. So the
    m comparisons so far of a pair are a simple random sample of its items, after every round: π = m/N_jk.
    Outputs with the same text are ties without asking.

    Choose it to find out which of two versions is better, or to rank several models with valid errors:
    win rates and strengths (``sparingly.compare``) treat all items alike. ``d_optimal`` compares
    close pairs more often, which pays with many models.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 2"
    needs: ClassVar[tuple[str, ...]] = ("preferences",)

    def resolve(self, data: EvalSet, aspect: str, budget: Any) -> RandomPairs:
        """Say what is missing: a second model, or outputs that differ."""
        if len(data.models) < 2:
            raise DataError(
                f"Comparisons need two models, and there is only {data.models[0]}: give the outputs of both."
            )
        if not different_cells(data).any():
            raise DataError("All models wrote the same on every item: there is nothing to compare.")
        return self

    def why(self, data: EvalSet) -> str:
        """Say what is compared, and what nobody has to be asked about."""
        models = len(data.models)
        whom = " and ".join(data.models) if models == 2 else f"every two of {models} models"
        how = f"People compare {whom} on random items, with sides in random order."
        return f"{how} {_same_sentence(data)}".rstrip()

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs, to see which are the same."""
        return frozenset({"outputs"} & set(data.fields))

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next comparisons; all of the budget at once unless a size is given."""
        data, models = state.data, state.data.models
        first, second = pair_indices(len(models))
        limit = state.budget.count_of(len(data) * len(first), "comparisons")
        compared, different = compared_cells(state), different_cells(data)
        remaining = np.array([name not in state.withdrawn for name in models])
        open_cells = different & ~compared & remaining[first] & remaining[second]
        compared_count, available = int(compared.sum()), int(open_cells.sum())
        if compared_count >= limit:
            return Finished("the budget is spent.")
        if not available:
            return Finished("every two outputs that differ were compared.")
        count = min(limit - compared_count, available, state.size or limit)
        rows, places = _next_cells(state, open_cells, different, count)
        pairs = np.empty(count, object)
        pairs[:] = [(models[first[place]], models[second[place]]) for place in places]
        share = min(1.0, limit / int(different.sum()))
        note = _same_sentence(data) if state.number == 1 else ""
        return Chosen(
            rows=rows,
            pairs=pairs,
            probability=np.full(count, share),
            reason="drawn at random",
            notes=(note,) if note else (),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Raise UsageError: comparisons give wins, not scores."""
        raise UsageError("People compare outputs here, which gives wins: sparingly compare CAMPAIGN.")


def _same_sentence(data: EvalSet) -> str:
    """Say how many outputs have the same text, where some have."""
    if not (same_count := int(same_cells(data).sum())):
        return ""
    scope = f"On {same_count} of {counted(len(data), 'item')} both wrote the same"
    if len(data.models) > 2:
        scope = f"{counted(same_count, 'pair')} of outputs have the same text"
    return f"{scope}: nobody is shown these; they count as ties."


def _next_cells(state: State, open_cells: Mask, different: Mask, count: int) -> tuple[Ints, Ints]:
    """Return the rows and pairs of the next comparisons, by the order that was fixed before the first."""
    data, pairs = state.data, different.shape[1]
    first, second = pair_indices(len(data.models))
    rows, places, turns = [], [], []
    names = [
        "\x1f".join(sorted((data.models[left_model], data.models[right_model])))
        for left_model, right_model in zip(first, second, strict=True)
    ]
    for pair in range(pairs):
        order = np.flatnonzero(different[:, pair])
        order = order[
            np.argsort(rng.stream(data.keys[order], state.seed, f"pairs {names[pair]}"), kind="stable")
        ]
        turn = np.arange(len(order))
        waiting = open_cells[order, pair]
        rows.append(order[waiting][:count])
        turns.append(turn[waiting][:count])
        places.append(np.full(len(rows[-1]), pair))
    row, place, turn = np.concatenate(rows), np.concatenate(places), np.concatenate(turns)
    # Within a turn the pairs come in a random order.
    keys, position = rng.keys_of(names), np.empty(len(row), np.uint64)
    for number in np.unique(turn):
        in_turn = turn == number
        position[in_turn] = rng.stream(keys, state.seed, f"turn {number}")[place[in_turn]]
    chosen = np.lexsort((position, turn))[:count]
    return row[chosen], place[chosen]


def same_cells(data: EvalSet) -> Mask:
    """Return items × pairs: where two models wrote the same; nowhere where texts are not known."""
    first, second = pair_indices(len(data.models))
    if data.outputs is None:
        return np.zeros((len(data), len(first)), bool)
    text = text_codes(data.outputs)
    return np.asarray((text[:, first] == text[:, second]) & (text[:, first] >= 0))


def different_cells(data: EvalSet) -> Mask:
    """Return items × pairs: where two outputs differ; everywhere where texts are not known."""
    first, second = pair_indices(len(data.models))
    if data.outputs is None:
        return np.ones((len(data), len(first)), bool)
    missing = text_codes(data.outputs) < 0
    return np.asarray(~same_cells(data) & ~missing[:, first] & ~missing[:, second])
