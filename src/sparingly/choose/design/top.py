"""``top``: the best items by a utility, under any budget."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design import knapsack
from sparingly.choose.design.base import Chosen, ListSelector, short_groups_note
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.units import Groups, Units, quotas
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet, Floats, Rows


@register("top")
@dataclass(frozen=True)
class Top(ListSelector):
    """Takes the best items (or documents) by a utility: the top of the list, or the best set under a cost.

    max Σ_i z_i u_i subject to Σ_i z_i c_i ≤ B, z_i ∈ {0, 1}: with a count it is the top of the list, with
    a cost a 0-1 knapsack solved to a proven gap. A document has the mean utility and the summed cost of
    its items. The result has no inclusion probabilities: it is for rankings only.
    """

    kind: ClassVar[str] = "design"
    needs: ClassVar[tuple[str, ...]] = ("what its utility needs",)
    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 1, 2"

    utility: Utility = parameter(help="how much judging an item teaches")
    floor: float = parameter(
        0.1, "utilities are scaled to [floor, floor + 0.5] before they are weighed against costs", minimum=1e-6
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle the utility's metric and what a cost budget counts."""
        return replace(super().resolve(data, budget), utility=self.utility.resolve(data))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the utility reads, and the columns of groups, documents and costs."""
        return super().reads(data) | self.utility.reads(data)

    def choose(self, data: EvalSet, budget: Budget, candidates: Rows, seed: int) -> Chosen:
        """Take the best units of every group."""
        values = np.asarray(self.utility.values(data), np.float64)
        units, groups = self.units_of(data, candidates)
        costs, cost_unit = self.costs_of(data)
        utility = units.mean(values[units.rows])
        weighed = budget.kind == "cost" or self.unit == "document"
        pick = self._pick_weighed if weighed else self._pick_counted
        chosen, notes = pick(budget, units, groups, utility, None if costs is None else costs[units.rows], seed)
        rows = units.rows_of(chosen)
        unknown = int(np.isnan(utility).sum())
        if unknown:
            notes = (*notes, f"{unknown} of {len(units)} {self.unit}s have no utility and come last.")
        return Chosen(
            rows=rows,
            utility=values[rows],
            cost=None if costs is None else costs[rows],
            cost_unit=cost_unit,
            mean_cost=None if costs is None else float(costs[candidates].mean()),
            reason=f"among the best by {self.utility}" + (f" in its {self.balance}" if self.balance else ""),
            notes=notes,
        )

    def _pick_counted(
        self, budget: Budget, units: Units, groups: Groups, utility: Floats, costs: Floats | None, seed: int
    ) -> tuple[Rows, tuple[str, ...]]:
        """Take the top of every group's list."""
        count = budget.count_of(len(units))
        order = rng.order(utility, units.keys, seed)
        if len(groups.names) == 1:
            return order[:count], ()
        capacities = np.bincount(groups.of_unit, minlength=len(groups.names)).astype(np.float64)
        shares = self.group_shares(units, groups)
        quota = quotas(count, capacities, shares, whole=True)
        place = np.empty(len(units), np.int64)
        for members in groups.members():
            inside = order[groups.of_unit[order] == groups.of_unit[members[0]]]
            place[inside] = np.arange(len(inside))
        kept = place[order] < quota[groups.of_unit[order]]
        wanted = np.floor(count * shares / shares.sum())
        return order[kept], short_groups_note(groups, wanted, quota, "items")

    def _pick_weighed(
        self, budget: Budget, units: Units, groups: Groups, utility: Floats, costs: Floats | None, seed: int
    ) -> tuple[Rows, tuple[str, ...]]:
        """Take the best set of units under a cost; whole documents under a count cost their items."""
        weights = units.sizes if costs is None or budget.kind != "cost" else units.total(costs)
        what = "items" if budget.kind != "cost" else "cost"
        total = float(weights.sum())
        limit = budget.amount if budget.kind == "cost" else float(budget.count_of(round(total)))
        if limit > total * (1 + 1e-12):
            raise UsageError(f"The budget {budget} is larger than everything there is, which costs {total:g}.")
        order = rng.order(utility, units.keys, seed)
        values = knapsack.rescale(np.where(np.isnan(utility), np.nanmin(utility), utility), self.floor)
        capacities = np.bincount(groups.of_unit, weights, minlength=len(groups.names))
        shares = self.group_shares(units, groups)
        limits = quotas(limit, capacities, shares, whole=False)
        taken, bound = np.zeros(len(units), bool), 0.0
        for group, quota in enumerate(limits):
            inside = order[groups.of_unit[order] == group]
            solved = knapsack.solve(values[inside], weights[inside], float(quota))
            taken[inside] = solved.chosen
            bound += solved.bound
        if not taken.any():
            raise UsageError(f"The budget {budget} is too small: the cheapest {self.unit} costs {weights.min():g}.")
        gap = max(0.0, 1 - float(values[taken].sum()) / bound)
        note = f"the best set is at most {gap:.4%} better (proven); {weights[taken].sum():g} of {limit:g} {what} used."
        wanted = limit * shares / shares.sum()
        return order[taken[order]], (note, *short_groups_note(groups, wanted, limits, what))
