"""The same method drawn again and again: does its ranking hold, and does it find the winners?"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.registry import Method
from sparingly.base.rng import seed_list
from sparingly.choose.crowd import Judge
from sparingly.choose.design.budget import Budget
from sparingly.choose.select import as_selector
from sparingly.data.evalset import EvalSet, Rows
from sparingly.infer.rank.compare import full_set, replay
from sparingly.infer.rank.means import model_means
from sparingly.infer.rank.stability import Stability, stability
from sparingly.infer.rank.winners import SuccessRate, success_rate


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
    """

    truth: str
    method: str
    budget: str
    share: float
    stability: Stability
    success: SuccessRate

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            **{name: value for name, value in vars(self).items() if isinstance(value, str | float)},
            "stability": asdict(self.stability),
            "success": {
                name: None if value != value else value for name, value in asdict(self.success).items()
            },
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
    Knowles 2023). A count that is larger than the part takes all of it. With a ``crowd`` the method sees
    these models only, and the models to ``judge`` are compared.
    """
    again = replay(data, truth, crowd, judge)
    full = full_set(again.part, truth)
    seeds = seed_list(seed, runs, "draws")
    amount = Budget.parse(budget)
    means = []

    def choose(rows: Rows, run_seed: int) -> Rows:
        fitting = (
            Budget("count", len(rows)) if amount.kind == "count" and amount.amount > len(rows) else amount
        )
        chosen = again.part.positions(again.select(method, fitting, run_seed, rows).items)
        means.append(model_means(full.values[chosen], full.weights_of(chosen)))
        return chosen

    found = success_rate(full.values, choose, keys=full.keys, seeds=seeds, share=share, tie=tie)
    held = stability(np.array(means), full.means)
    return Draws(truth, str(as_selector(method)), str(amount), share, held, found)
