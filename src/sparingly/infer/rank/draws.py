"""The same method drawn again and again: does its ranking hold, and does it find the winners?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.choose.crowd import Judge
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.asked import asked_of
from sparingly.infer.rank.compare import Replay, full_set, replay
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.means import model_means
from sparingly.infer.rank.stability import Stability, stability
from sparingly.infer.rank.weighed import weighed
from sparingly.infer.rank.winners import SuccessRate, pair_margins, subsample, success_of

SEPARATE = (
    "models are judged on items of their own: rankings are by each model's own items, winners of pairs by "
    "the items that two models share.",
)


@dataclass(frozen=True)
class Draws:
    """What repeated runs of one method say about the ranking and about the winners of pairs.

    Attributes:
        truth: What the runs are compared by.
        method: The method.
        budget: The budget of every run.
        share: The share of the items that a run is allowed to see.
        stability: How often, and by how much, the ranking differs from the whole set's.
        success: How often the winner of a pair of models is found.
        notes: What to mind.
    """

    truth: str
    method: str
    budget: str
    share: float
    stability: Stability
    success: SuccessRate
    notes: tuple[str, ...] = ()

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            **{name: value for name, value in vars(self).items() if isinstance(value, str | float)},
            "stability": asdict(self.stability),
            "success": {
                name: None if value != value else value for name, value in asdict(self.success).items()
            },
            "notes": list(self.notes),
        }


def draws(
    data: EvalSet,
    method: str | Method,
    budget: int | float | str | Budget,
    truth: str,
    *,
    runs: int = 13,
    share: float = 0.8,
    seed: int = 0,
    tie: float = 0.0,
    crowd: Iterable[str] | None = None,
    judge: Judge = "rest",
) -> Draws:
    """Run a method on ``runs`` random parts of the set, each with its own seed, and compare with the whole.

    A part holds ``share`` of the items, so that methods without randomness differ between runs too
    (Ashury Tahan et al. 2024, section 5); ``share=1`` varies the seed alone (as in the 13 runs of Lo and
    Knowles 2023). A count that is larger than the part takes all of it. Items with unequal probabilities are
    weighed by one over them, and where every model has a draw of its own, its mean is over its own items.
    With a ``crowd`` the method sees these models only, and the models to ``judge`` are compared.
    """
    again = replay(data, truth, crowd, judge)
    full = full_set(again.part, truth)
    amount = Budget.parse(budget)
    seeds = seed_list(seed, runs, "draws")
    if not seeds:
        raise UsageError("Draws need at least one run.")
    drawn = [_run(again, full, method, amount, subsample(full.keys, one, share), one, tie) for one in seeds]
    chosen, part = (np.concatenate([getattr(run, name) for run in drawn]) for name in ("chosen", "part"))
    found = success_of(chosen, part)
    held = stability(np.array([run.means for run in drawn]), full.means)
    notes = SEPARATE if any(run.separate for run in drawn) else ()
    return Draws(truth, str(as_selector(method)), str(amount), share, held, found, notes)


class _Run(NamedTuple):
    """One run: the models' means, and the margins of their pairs on what was chosen and on the whole part."""

    means: Floats
    chosen: Floats
    part: Floats
    separate: bool


def _run(
    again: Replay, full: FullSet, method: str | Method, budget: Budget, rows: Ints, seed: int, tie: float
) -> _Run:
    """Run the method on some rows; every model counts by the items that are asked for of it."""
    too_many = budget.kind == "count" and budget.amount > len(rows)
    selection = again.select(method, Budget("count", len(rows)) if too_many else budget, seed, rows)
    asked = asked_of(selection, again.part, full.values)
    scores = asked.scores(full.values)
    counted = weighed(full, selection, again.part, asked.rows)
    return _Run(
        model_means(scores, counted.weights_of(asked.rows)),
        pair_margins(scores, tie),
        pair_margins(full.values[rows], tie),
        asked.values is not None,
    )
