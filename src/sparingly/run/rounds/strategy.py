"""Strategies: what they know (``State``), what they give, and the one that makes a single selection."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, method_class, parameter, parse_method, register
from sparingly.base.stats.pairs import preferred
from sparingly.base.text import parse_call
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, Selector
from sparingly.choose.select import as_selector, select
from sparingly.choose.utility.base import Utility
from sparingly.data import fields as field_names
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.expect.expect import Expected

# What a selection and the choice of a strategy say of each row.
ROW_COLUMNS = (
    *("utility", "probability", "pool_probability", "stratum", "unit", "models", "pairs", "context"),
    *("cluster_weight", "cost", "reasons"),
)


@dataclass(frozen=True)
class Finished:
    """A strategy has nothing more to ask."""

    reason: str  # why, in one sentence
    # What it found, where the strategy gives an answer by itself (a model, ``tie``, ``inconclusive``); None
    # otherwise.
    answer: str | None = None


@dataclass(frozen=True, eq=False)
class State:
    """The rounds so far and the judgements that came back."""

    data: EvalSet  # the evaluation set. Its labels are those that were asked for and came in: NaN elsewhere
    aspect: str  # what people judge: an aspect, or a combination of aspects
    rounds: tuple[Selection, ...]  # the earlier rounds, in order
    budget: Budget  # what may be spent over all rounds
    size: int | None = None  # how many items a round asks for; None leaves it to the strategy
    seed: int = 0  # settles ties and draws
    # Models that nobody is asked about any more; what was said of them stays.
    withdrawn: frozenset[str] = frozenset()

    @property
    def number(self) -> int:
        """The number of the next round, from 1."""
        return len(self.rounds) + 1

    @cached_property
    def labels(self) -> Floats:
        """The judgements that came in: items × models, NaN where there is none."""
        return self.data.truth(self.aspect)

    @cached_property
    def asked(self) -> Mask:
        """The cells (items × models) that were asked for, judged or not."""
        return asked_cells(self.data, self.rounds)

    @property
    def spent(self) -> int:
        """How many outputs (cells) were asked for."""
        return int(self.asked.sum())

    @property
    def limit(self) -> int:
        """How many outputs the budget allows: an item counts once when all models are judged on it."""
        return self.budget.count_of(len(self.data)) * len(self.data.models)

    @property
    def left(self) -> int:
        """How many outputs may still be asked for."""
        return self.limit - self.spent


def asked_cells(data: EvalSet, rounds: Iterable[Selection]) -> Mask:
    """Return the cells (items × models) that some selections ask for; a pair asks for both of its models."""
    cells: Mask = np.zeros(data.shape, bool)
    for selection in rounds:
        np.logical_or.at(cells, data.positions(selection.items), selection.model_mask(data.models))
    return cells


def merge_rounds(rounds: Sequence[Selection]) -> Selection:
    """Return all rows of some rounds as one selection that gives a ranking only.

    Chances of single rounds are not those of all rounds together, so the whole has none.
    """
    if not rounds:
        raise UsageError("There is no round yet, so there is nothing to estimate from.")
    last = rounds[-1]
    total = sum(len(selection) for selection in rounds)
    columns: dict[str, Any] = {}
    for name in ("stratum", "unit", "models", "pairs", "context"):
        parts = [(selection, getattr(selection, name)) for selection in rounds]
        if any(part is not None for _, part in parts):
            columns[name] = np.empty(total, object)
            columns[name][:] = [
                value
                for selection, part in parts
                for value in ([None] * len(selection) if part is None else part)
            ]
    return Selection(
        items=np.concatenate([selection.items for selection in rounds]),
        signature=replace(last.signature, n=total),
        reason=last.reason,
        notes=tuple(dict.fromkeys(note for selection in rounds for note in selection.notes)),
        never=last.never,
        **columns,
    )


def compared_rows(data: EvalSet, rounds: Sequence[Selection]) -> Mask:
    """Return which rows of ``data.preferences`` some rounds asked for, in either direction.

    A round without pairs that judges whole items asks for no comparison.
    """
    table = data.preferences
    requested = np.zeros(len(table), bool)
    columns = {name: column for column, name in enumerate(data.models)}
    comparisons = {
        (int(row), *sorted((columns[pair[0]], columns[pair[1]])))
        for selection in rounds
        if selection.pairs is not None
        for row, pair in zip(data.positions(selection.items), selection.pairs, strict=True)
        if pair is not None
    }
    if not comparisons:
        return requested
    low, high = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    rows = zip(table.item.tolist(), low.tolist(), high.tolist(), strict=True)
    return np.fromiter((row in comparisons for row in rows), bool, len(table))


def models_by_row(models: tuple[str, ...], cells: Mask) -> Objects | None:
    """Return the names of the models that each row (rows × models) judges; None where all judge all."""
    if cells.all():
        return None
    names = np.empty(len(cells), object)
    names[:] = [
        tuple(name for name, is_judged in zip(models, row, strict=True) if is_judged) for row in cells
    ]
    return names


def item_preferences(state: State, pair: tuple[str, str], tie: float) -> Floats:
    """Return who won on every item: 1 the first, −1 the second, 0 a tie, NaN where nobody compared them.

    Preferences that people gave count before those derived from scores; several of one item are averaged.
    """
    data = state.data
    first, second = (data.models.index(name) for name in pair)
    derived = preferred(state.labels[:, first] - state.labels[:, second], tie)
    table = data.preferences
    forward = ((table.first == first) & (table.second == second)).astype(float)
    backward = ((table.first == second) & (table.second == first)).astype(float)
    rows = np.flatnonzero(forward + backward)
    if not len(rows):
        return derived
    value = table.value[rows] * (forward - backward)[rows]
    count = np.bincount(table.item[rows], minlength=len(data))
    total = np.bincount(table.item[rows], value, minlength=len(data))
    return np.where(count > 0, np.sign(total), derived)


@dataclass(frozen=True)
class Strategy(Method, ABC):
    """Picks the next round of an evaluation from the judgements that came in so far.

    A strategy keeps no memory of its own: everything that it knows is in the ``State``, so that any past
    round can be derived again, and a campaign can stop and go on at any time.
    """

    kind: ClassVar[str] = "strategy"
    # Whether the estimate of the rounds speaks for the whole set.
    gives_scores: ClassVar[bool] = False
    # Whether these scores have standard errors that hold.
    gives_errors: ClassVar[bool] = True

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Return the strategy with every choice that depends on the data made, or say what is missing.

        What it is shown is without labels: the choices must be the same in every round.
        """
        return self

    @abstractmethod
    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the strategy reads beside the labels; it is shown no others."""

    @abstractmethod
    def next_round(self, state: State) -> Chosen | Finished:
        """Pick the next round; ``Finished`` where there is nothing more to ask.

        No cell is asked for twice, and no more cells than ``state.left``.
        """

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the models' scores from all rounds; parameters are those of ``sparingly.estimate``.

        Unless a strategy keeps the probability of every cell, these are the scores of the chosen items, and
        the estimate says so.
        """
        return estimate(state.data, merge_rounds(state.rounds), state.aspect, **options)

    def expected(self, state: State) -> Expected | None:
        """Return what judging everything is expected to say, where the strategy uses that."""
        return None

    def why(self, data: EvalSet) -> str:
        """Say in two sentences what is done on a set, and why, where the strategy decides that itself."""
        return ""

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Return the labels that the strategy is shown: what the aspect is made of.

        One that needs preferences sees them and the scores, from which they can be derived.
        """
        return frozenset(data.truth_fields(aspect)) | ({"preferences"} & set(self.needs))


def as_strategy(method: str | Method) -> Strategy:
    """Return a strategy; a selector or a utility is one that ignores the labels."""
    strategy = method
    if isinstance(method, str) and method_class(parse_call(method).name).kind == Strategy.kind:
        strategy = parse_method(method)
    if isinstance(strategy, Strategy):
        return strategy
    if isinstance(strategy, str | Utility | Selector):
        return OneShot(selector=as_selector(strategy))
    raise UsageError(f"The {strategy.kind} {strategy.name} does not choose items. See: sparingly methods.")


@register("one_shot")
@dataclass(frozen=True, kw_only=True)
class OneShot(Strategy):
    """Makes one selection before anything is judged, and assigns it in one round or several.

    The simplest strategy: it ignores the labels. A probability design hands its units out in random order, so
    that after m of n units a row has probability π_m = π·m/n, and scores can be estimated after every round.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 2"
    needs: ClassVar[tuple[str, ...]] = ("what its selector needs",)

    selector: Selector = parameter(help="what chooses the items")  # noqa: RUF009 - a field
    rounds: int = parameter(1, "into how many rounds the selection is cut", minimum=1)

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Resolve the selector on the data."""
        return replace(self, selector=self.selector.resolve(data, budget))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the selector reads, but no labels."""
        read = self.selector.reads(data)
        return read - field_names.labels(read)

    def next_round(self, state: State) -> Chosen | Finished:
        """Hand out the next units of the selection."""
        selection = self._selection(state)
        handed_out = sum(len(earlier) for earlier in state.rounds)
        if handed_out >= len(selection):
            return Finished("every chosen item was judged or assigned.")
        size = state.size or -(-len(selection) // self.rounds)
        ends = unit_ends(selection)
        # Whole units: the first end at or after what the round should reach.
        end = int(ends[np.searchsorted(ends, min(handed_out + size, len(selection)))])
        columns = {name: getattr(selection, name) for name in ROW_COLUMNS}
        return Chosen(
            rows=state.data.positions(selection.items[handed_out:end]),
            cost_unit=selection.cost_unit,
            reason=selection.reason,
            notes=selection.notes,
            **{name: None if column is None else column[handed_out:end] for name, column in columns.items()},
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set, or of the chosen items where these have no chances."""
        selection = self._selection(state)
        handed_out = sum(len(earlier) for earlier in state.rounds)
        return estimate(state.data, first_rows(selection, handed_out), state.aspect, **options)

    def _selection(self, state: State) -> Selection:
        return select(state.data.without_labels(), self.selector, state.budget, seed=state.seed)


def unit_ends(selection: Selection) -> Ints:
    """Return after how many rows each drawn unit ends: rows of one unit stand together."""
    if selection.unit is None:
        return np.arange(1, len(selection) + 1)
    last = np.append(selection.unit[1:] != selection.unit[:-1], True)
    return np.flatnonzero(last) + 1


def first_rows(selection: Selection, count: int) -> Selection:
    """Return the first rows of a selection; chances are multiplied by the share of units that they hold."""
    if count >= len(selection):
        return selection
    ends = unit_ends(selection)
    share = float(np.searchsorted(ends, count, side="right")) / len(ends)
    rows = only_rows(selection, slice(count))
    return rows if rows.probability is None else replace(rows, probability=rows.probability * share)


def only_rows(selection: Selection, rows: slice | list[int]) -> Selection:
    """Return some rows of a selection, as they are there."""
    columns: dict[str, Any] = {
        name: value[rows]
        for name, value in vars(selection).items()
        if isinstance(value, np.ndarray) and name != "pool"
    }
    return replace(selection, **columns)
