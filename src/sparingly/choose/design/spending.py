"""What a draw may spend: so many items on average, or so much of a cost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.choose.design.base import amount_text
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet
from sparingly.signals.cost import item_costs


@dataclass(frozen=True, eq=False)
class Spending:
    """A budget, and what it counts of every candidate item.

    Attributes:
        limit: How much a draw takes on average.
        by_cost: Whether the budget is a cost and not a number of items.
        rows: The candidate items.
        costs: The cost of every item of the set, where a cost is named.
        unit: What costs are in: seconds, or nothing where it is the user's own unit.
    """

    limit: float
    by_cost: bool
    rows: Ints
    costs: Floats | None = None
    unit: str = ""

    @classmethod
    def of(cls, data: EvalSet, budget: Budget, cost: str | None, rows: Ints) -> Spending:
        """Return what a budget allows among some items; a cost of more than all of them is refused."""
        costs, unit = (None, "") if cost is None else item_costs(data, cost)
        if budget.kind != "cost":
            return cls(float(budget.count_of(len(rows))), False, rows, costs, unit)
        if costs is None:
            raise UsageError("A cost budget needs costs: name them with cost=.")
        total = float(costs[rows].sum())
        if budget.amount > total * (1 + 1e-12):
            raise UsageError(
                f"The budget {budget} is larger than everything there is, which costs {total:g}."
            )
        return cls(min(budget.amount, total), True, rows, costs, unit)

    @property
    def charges(self) -> Floats:
        """What the budget counts of every candidate item."""
        if not self.by_cost or self.costs is None:
            return np.ones(len(self.rows))
        return np.asarray(self.costs[self.rows])

    def text(self, amount: float) -> str:
        """Write an amount of what the budget counts."""
        return amount_text(amount, self.unit) if self.by_cost else f"{amount:.0f} items"

    def note(self, most: float, mean: float | None = None) -> tuple[str, ...]:
        """Say what a draw takes on average (the budget unless given) and at most, where that is more."""
        if most <= self.limit * (1 + 1e-9):
            return ()
        usual, top = self.text(self.limit if mean is None else mean), self.text(most).removesuffix(" items")
        return (
            f"a draw like this takes {usual} on average and at most {top}, so the budget can be overspent by "
            "chance.",
        )

    def told(self, chosen: Ints) -> dict[str, Any]:
        """Return what is to be told of the costs of the chosen items."""
        if self.costs is None:
            return {}
        mean = float(self.costs[self.rows].mean())
        return {"cost": self.costs[chosen], "cost_unit": self.unit, "mean_cost": mean}
