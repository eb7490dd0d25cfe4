"""One selection, made at once and handed out in one round or several."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen, Selector
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import select
from sparingly.data import fields as field_names
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.state import Finished, State
from sparingly.run.rounds.strategy import Strategy


@register("one_shot")
@dataclass(frozen=True, kw_only=True)
class OneShot(Strategy):
    """Makes one selection before anything is judged, and hands it out in one round or several.

    The simplest strategy: it ignores the labels. A probability design hands its units out in random order, so
    that after m of n units a row has the chance π_m = π·m/n, and scores can be estimated after every round.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 2"
    needs: ClassVar[tuple[str, ...]] = ("what its selector needs",)

    selector: Selector = parameter(help="what chooses the items")  # noqa: RUF009 - a field
    rounds: int = parameter(1, "into how many rounds the selection is cut", minimum=1)

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Settle what the selector takes from the data."""
        return replace(self, selector=self.selector.resolve(data, budget))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the selector reads, but no labels."""
        read = self.selector.reads(data)
        return read - field_names.labels(read)

    def next_round(self, state: State) -> Chosen | Finished:
        """Hand out the next units of the selection."""
        whole = self._whole(state)
        done = sum(len(one) for one in state.rounds)
        if done >= len(whole):
            return Finished("every chosen item was asked for.")
        size = state.size or -(-len(whole) // self.rounds)
        ends = unit_ends(whole)
        # Whole units: the first end at or after what the round should reach.
        end = int(ends[np.searchsorted(ends, min(done + size, len(whole)))])
        return _chosen(state.data, whole, np.arange(done, end))

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the scores of the whole set, or of the chosen items where these have no chances."""
        whole = self._whole(state)
        done = sum(len(one) for one in state.rounds)
        return estimate(state.data, first_rows(whole, done), state.aspect, **asked)

    def _whole(self, state: State) -> Selection:
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
    columns: dict[str, Any] = {
        part.name: getattr(selection, part.name)[:count]
        for part in fields(selection)
        if part.name != "pool" and isinstance(getattr(selection, part.name), np.ndarray)
    }
    if selection.probability is not None:
        columns["probability"] = selection.probability[:count] * share
    return replace(selection, **columns)


def _chosen(data: EvalSet, whole: Selection, rows: Ints) -> Chosen:
    columns = ("utility", "probability", "pool_probability", "stratum", "unit", "models", "pairs", "context")
    more = ("cluster_weight", "cost", "reasons")
    taken = {name: getattr(whole, name) for name in (*columns, *more)}
    return Chosen(
        rows=data.positions(whole.items[rows]),
        cost_unit=whole.cost_unit,
        reason=whole.reason,
        notes=whole.notes,
        **{name: None if column is None else column[rows] for name, column in taken.items()},
    )
