"""``top``: the best items by a utility, under any budget."""

from __future__ import annotations

import math
from dataclasses import dataclass, fields, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import call_of, parameter, register
from sparingly.base.text import Call, format_call
from sparingly.choose.design import knapsack
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, ListSelector, cost_columns, short_groups_note
from sparingly.choose.design.units import Groups, Units, quotas
from sparingly.choose.utility.base import Utility
from sparingly.data.evalset import EvalSet
from sparingly.signals.cost import unit_of


@register("top")
@dataclass(frozen=True)
class Top(ListSelector):
    """Takes the best items (or documents) by a utility: the top of the list, or the best set under a cost.

    max Σ_i z_i u_i subject to Σ_i z_i c_i ≤ B, z_i ∈ {0, 1}: with a count it is the top of the list, with
    a cost a 0-1 knapsack, with a bound. A document has the mean utility and the summed cost of
    its items. The result has no inclusion probabilities: it is for rankings only.
    """

    kind: ClassVar[str] = "design"
    needs: ClassVar[tuple[str, ...]] = ("what its utility needs",)
    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 1, 2"

    utility: Utility = parameter(help="how much judging an item would teach")  # noqa: RUF009 - a field
    floor: float = parameter(
        0.1,
        "utilities are scaled to [floor, floor + 0.5] before they are weighed against costs",
        minimum=1e-6,
    )

    def __str__(self) -> str:
        """Return the short form: ``metric_var:floor=1`` for ``top:utility=(metric_var),floor=1``."""
        inner = call_of(self.utility)
        design_values = [pair for pair in call_of(self).values if pair[0] != "utility"]
        names = {part.name for part in fields(self.utility)}
        if any(name in names for name, _ in design_values):
            return super().__str__()
        return format_call(Call(inner.name, (*inner.values, *design_values)))

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the utility and the cost."""
        return replace(super().resolve(data, budget), utility=self.utility.resolve(data))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the utility reads, and the columns of groups, documents and costs."""
        return super().reads(data) | self.utility.reads(data)

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Take the best units of every group."""
        values = np.asarray(self.utility.values(data), np.float64)
        units, groups = self.units_of(data, candidates)
        costs, cost_unit = self.costs_of(data)
        utility = units.mean(values[units.rows])
        if np.isnan(utility).all():
            raise DataError(
                f"{self.utility} says nothing about any {self.unit}: what it reads is missing everywhere."
            )
        by_knapsack = budget.kind == "cost" or self.unit == "document"
        pick = self._pick_weighed if by_knapsack else self._pick_counted
        chosen, notes = pick(
            budget, units, groups, utility, None if costs is None else costs[units.rows], seed
        )
        rows = units.rows_of(chosen)
        if len(utility) > 1 and np.nanmax(utility) == np.nanmin(utility):
            notes = (*notes, "all utilities are equal, so the seed alone has chosen.")
        unknown = int(np.isnan(utility).sum())
        if unknown:
            place = "count as the least useful" if by_knapsack else "come last"
            notes = (*notes, f"{unknown} of {len(units)} {self.unit}s have no utility and {place}.")
        return Chosen(
            rows=rows,
            utility=values[rows],
            reason=f"among the best by {self.utility}" + (f" in its {self.balance}" if self.balance else ""),
            notes=notes,
            **cost_columns(costs, cost_unit, rows, candidates),
        )

    def _pick_counted(
        self, budget: Budget, units: Units, groups: Groups, utility: Floats, costs: Floats | None, seed: int
    ) -> tuple[Ints, tuple[str, ...]]:
        """Take the top of every group's list."""
        count = budget.count_of(len(units))
        order = rng.order(utility, units.keys_at, seed)
        if len(groups.names) == 1:
            return order[:count], ()
        shares = self.group_shares(units, groups)
        quota = quotas(count, groups.totals(units.sizes), shares, integral=True)
        mask = np.zeros(len(units), bool)
        for group_quota, inside in zip(quota, groups.split(order), strict=True):
            mask[inside[: int(group_quota)]] = True
        target = np.floor(count * shares / shares.sum())
        return order[mask[order]], short_groups_note(groups, target, quota, "items")

    def _pick_weighed(
        self, budget: Budget, units: Units, groups: Groups, utility: Floats, costs: Floats | None, seed: int
    ) -> tuple[Ints, tuple[str, ...]]:
        """Take the best set of units under a cost; whole documents under a count cost their items."""
        weights = units.sizes if costs is None or budget.kind != "cost" else units.total(costs)
        noun = "items" if budget.kind != "cost" else unit_of(self.cost) or "cost"
        limit = budget.limit_of(float(weights.sum()))
        order = rng.order(utility, units.keys_at, seed)
        # Without gaps, and without the last bits, which differ between machines.
        steps = rng.round_to_range(utility)
        values = knapsack.rescale(np.where(np.isnan(steps), np.nanmin(steps), steps), self.floor)
        shares = self.group_shares(units, groups)
        limits = quotas(limit, groups.totals(weights), shares, integral=budget.kind != "cost")
        mask, bound = np.zeros(len(units), bool), 0.0
        for quota, inside in zip(limits, groups.split(order), strict=True):
            solved = knapsack.solve(values[inside], weights[inside], float(quota))
            mask[inside] = solved.chosen
            bound += solved.bound
        worth = float(values[mask].sum())
        more = bound / worth - 1 if worth > 0 else 0.0
        quota_text = " within the groups' quotas" if len(limits) > 1 else ""
        # What the groups' quotas leave over goes to the best that still fits, of whatever group.
        room, remaining = limit - math.fsum(weights[mask]), order[~mask[order]]
        if room > 0 and len(remaining):
            mask[remaining] = knapsack.solve(values[remaining], weights[remaining], room).chosen
        if not mask.any():
            cheapest = f"the cheapest {self.unit} costs {weights.min():g} {noun}".removesuffix(" cost")
            raise UsageError(f"The budget {budget} is too small: {cheapest}.")
        note = (
            f"worth {worth:.6g}; no set that fits{quota_text} is worth over {bound:.6g} ({more:.4%} more); "
            f"{weights[mask].sum():g} of {limit:g} {noun} used."
        )
        target = limit * shares / shares.sum()
        return order[mask[order]], (note, *short_groups_note(groups, target, limits, noun))
