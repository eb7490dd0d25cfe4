"""``heuristic``: a few items with extreme lengths and many with usual ones, as people pick them by hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Ints
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import row_means
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, WholeSetSelector
from sparingly.choose.design.units import quotas
from sparingly.data.evalset import EvalSet
from sparingly.signals.length import OUTPUT_LENGTH, length_metric

_EXTREME, _USUAL = "drawn from the shortest and longest outputs", "drawn from outputs of usual length"


@register("heuristic")
@dataclass(frozen=True)
class Heuristic(WholeSetSelector):
    """Draws a small part of the items from those with the shortest and longest outputs, the rest elsewhere.

    π_i = n_g / N_g, with g the extreme items (the outer ``outer`` share on each side by mean output length,
    which get the ``share`` of the budget) or the others. Scores can be estimated from it by its weights.

    A baseline: what papers describe when they say that samples were picked to be varied.
    """

    reference: ClassVar[str] = "the baseline of Ruan et al. 2024"
    needs: ClassVar[tuple[str, ...]] = ("outputs",)

    outer: float = parameter(0.1, "which share of the items is extreme on each side", minimum=0.0)
    share: float = parameter(0.1, "which share of the budget the extreme items get", minimum=0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (0.0 <= self.outer <= 0.5 and 0.0 <= self.share <= 1.0):
            raise UsageError("In heuristic, outer is a share of at most 0.5 and share one of at most 1.")

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the outputs."""
        return frozenset({"outputs"})

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from the extreme and from the other items."""
        count = self.count(budget, candidates)
        keys = data.keys[candidates]
        lengths = row_means(length_metric(data, OUTPUT_LENGTH))[candidates]
        # Nothing is known of an item without any output, so it is not extreme.
        by_length = np.flatnonzero(~np.isnan(lengths))
        by_length = by_length[rng.order(lengths[by_length], keys[by_length], seed)]
        outer = int(self.outer * len(by_length) + 1e-9)
        is_extreme = np.zeros(len(lengths), bool)
        is_extreme[by_length[:outer]] = True
        is_extreme[by_length[len(by_length) - outer :]] = True
        sizes = np.array([is_extreme.sum(), (~is_extreme).sum()], np.float64)
        # Neither share is quite 0: what the other group cannot take goes there.
        shares = np.maximum([self.share, 1.0 - self.share], 1e-9)
        quota = quotas(count, sizes, shares, integral=True)
        order = np.lexsort((keys, rng.uniforms(keys, seed, "heuristic")))
        groups = (order[is_extreme[order]], order[~is_extreme[order]])
        mask = np.zeros(len(order), bool)
        for group_quota, inside in zip(quota, groups, strict=True):
            mask[inside[: int(group_quota)]] = True
        chosen = order[mask[order]]
        notes: tuple[str, ...] = ()
        probability = None
        if ((quota == 0) & (sizes > 0)).any():
            lost = "extreme" if quota[0] == 0 else "other"
            notes = (f"no {lost} item fits into the budget, so no inclusion probabilities are given.",)
        else:
            chances = quota / np.maximum(sizes, 1.0)
            probability = np.where(is_extreme[chosen], chances[0], chances[1])
        return Chosen(
            rows=candidates[chosen],
            probability=probability,
            reasons=np.where(is_extreme[chosen], _EXTREME, _USUAL).astype(object),
            notes=notes,
        )
