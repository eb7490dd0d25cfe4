"""``random``: a simple random sample, the baseline that every other method has to beat."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.registry import register
from sparingly.choose.design.base import Chosen, ListSelector, short_groups_note
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.units import Groups, Units, quotas
from sparingly.data.evalset import EvalSet

_UNEQUAL = (
    "units of different size were taken until the budget was spent, so no inclusion probabilities are known"
)
_LEFT_OUT = "groups get nothing under this budget, so no inclusion probabilities are given"


@register("random")
@dataclass(frozen=True)
class Random(ListSelector):
    """Draws items (or documents) at random, every one as likely as any other in its group.

    π_i = n_g / N_g, the number drawn over the number there is in the item's group. Scores of a random
    sample are unbiased for the whole set. Under a cost, or with documents of different sizes, units are
    taken in random order until the next one does not fit; then no probabilities are given, and none
    either when the budget leaves a group without any item.
    """

    reference: ClassVar[str] = "the baseline of Zouhar et al. 2025, section 3"

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from every group."""
        units, groups = self.units_of(data, candidates)
        costs, cost_unit = self.costs_of(data)
        draw = rng.uniforms(units.keys, seed, "random")
        order = np.lexsort((units.keys, draw))
        weights = units.sizes if budget.kind != "cost" or costs is None else units.total(costs[units.rows])
        chosen, drawn, notes = self._draw(budget, units, groups, weights, order)
        rows = units.rows_of(chosen)
        unknown = _why_unknown(weights, drawn)
        probability = None
        if not unknown:
            shares = drawn / np.bincount(groups.of_unit, minlength=len(groups.names))
            probability = np.repeat(shares[groups.of_unit[chosen]], units.sizes[chosen].astype(np.int64))
        return Chosen(
            rows=rows,
            probability=probability,
            cost=None if costs is None else costs[rows],
            cost_unit=cost_unit,
            mean_cost=None if costs is None else float(costs[candidates].mean()),
            reason="drawn at random" + (f" in its {self.balance}" if self.balance else ""),
            notes=(*notes, *unknown),
        )

    def _draw(
        self, budget: Budget, units: Units, groups: Groups, weights: Floats, order: Ints
    ) -> tuple[Ints, Floats, tuple[str, ...]]:
        """Take units of every group in random order until the next one does not fit."""
        total = float(weights.sum())
        limit = budget.amount if budget.kind == "cost" else float(budget.count_of(round(total)))
        if limit > total * (1 + 1e-12):
            raise UsageError(
                f"The budget {budget} is larger than everything there is, which costs {total:g}."
            )
        shares = self.group_shares(units, groups)
        limits = quotas(limit, groups.totals(weights), shares, whole=budget.kind != "cost")
        taken, drawn = np.zeros(len(units), bool), np.zeros(len(groups.names))
        for group, (quota, inside) in enumerate(zip(limits, groups.split(order), strict=True)):
            fits = np.cumsum(weights[inside]) <= quota * (1 + 1e-12)
            taken[inside[fits]] = True
            drawn[group] = fits.sum()
        if not taken.any():
            # Whether a budget is too small must not depend on the draw: take the first that fits at all.
            fitting = order[weights[order] <= limit * (1 + 1e-12)]
            if not len(fitting):
                raise UsageError(
                    f"The budget {budget} is too small: the cheapest {self.unit} costs {weights.min():g}."
                )
            taken[fitting[0]] = True
            drawn[groups.of_unit[fitting[0]]] = 1
        what = "cost" if budget.kind == "cost" else "items"
        wanted = np.floor(limit * shares / shares.sum())
        return order[taken[order]], drawn, short_groups_note(groups, wanted, limits, what)


def _why_unknown(weights: Floats, drawn: Floats) -> tuple[str, ...]:
    """Say why a draw has no inclusion probabilities; nothing when it has."""
    if np.ptp(weights) > 0:
        return (f"{_UNEQUAL}.",)
    # Without a chance to be drawn, a group's items cannot be spoken for by weights.
    empty = int((drawn == 0).sum())
    return (f"{empty} of {len(drawn)} {_LEFT_OUT}.",) if empty else ()
