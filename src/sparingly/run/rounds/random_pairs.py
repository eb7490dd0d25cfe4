"""``pairs``: compare two models at a time on random items, every pair of models as often."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.format import counted
from sparingly.base.registry import register
from sparingly.base.stats.pairs import pair_indices
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.compare.votes import text_codes
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.d_optimal import compared_cells
from sparingly.run.rounds.strategy import Finished, State, Strategy


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

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Show the preferences, and the scores from which they can be derived."""
        return super().label_fields(data, aspect) | {"preferences"}

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
