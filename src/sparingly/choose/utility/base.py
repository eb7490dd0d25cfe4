"""What every utility is, a number per item that says how much judging it teaches; and ``mix`` of several."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, parameter, register
from sparingly.base.rng import round_to_range
from sparingly.base.stats.correlation import average_ranks
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.length import LENGTHS, length_metric


@dataclass(frozen=True)
class Utility(Method, ABC):
    """How much judging an item teaches."""

    kind: ClassVar[str] = "utility"
    # Whether it needs two models or more, whatever their scores.
    compares_models: ClassVar[bool] = False

    def resolve(self, data: EvalSet) -> Self:
        """Return the utility with every choice that depends on the data made, or say what is missing."""
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the utility reads, the texts that it needs; it is shown no others."""
        return frozenset({"sources", "outputs"} & set(self.needs))

    @abstractmethod
    def values(self, data: EvalSet) -> Floats:
        """Return a number per item, NaN where it cannot be computed; higher is better."""


@dataclass(frozen=True)
class MetricUtility(Utility):
    """A utility that is computed from one metric."""

    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    metric: str | None = parameter(None, "the metric; default: the only one there is")

    def resolve(self, data: EvalSet) -> Self:
        """Resolve the metric."""
        return replace(self, metric=resolve_metric(data, self.metric, self.name, "metric"))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric, or the texts whose length it is."""
        metric = self.metric or ""
        return frozenset({fields.metric(metric) if metric in data.metrics else LENGTHS[metric]})

    def scores(self, data: EvalSet) -> Floats:
        """Return the metric's scores, items x models."""
        return metric_scores(data, self.metric or "")


def resolve_metric(data: EvalSet, metric: str | None, method: str, parameter: str) -> str | None:
    """Return the metric of a method: as named (a length, too), or the only one there is."""
    if metric in LENGTHS and metric not in data.metrics:
        return metric
    how = f"Name one: {method}:{parameter}=…" if len(data.metrics) else f"The method {method} needs one."
    return the_only("metric", metric, data.metrics, how)


def metric_scores(data: EvalSet, metric: str) -> Floats:
    """Return the scores of a metric, or the length of texts, items x models."""
    is_length = metric in LENGTHS and metric not in data.metrics
    return length_metric(data, metric) if is_length else data.metrics[metric]


@register("mix")
@dataclass(frozen=True)
class Mix(Utility):
    """Combines several utilities: a weighted mean (or product) of their ranks, z-scores or 0-1 values.

    u_i = Σ_k w_k g(u_ki) / Σ_k |w_k|, or Π_k g(u_ki)^w_k, with g the rank (as a share of the items), the
    z-score, or the min-max scaled value. An item without one of the utilities gets none. A
    negative weight turns a utility round.

    Choose it to hedge between utilities that look at different things, such as hardness and spread.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A"
    needs: ClassVar[tuple[str, ...]] = ("what its parts need",)

    of: tuple[tuple[float, Utility], ...] = parameter(help="the utilities, (name:…)+(2*name:…)")
    scale: Literal["rank", "zscore", "minmax"] = parameter("rank", "how they are made comparable")
    operation: Literal["mean", "product"] = parameter("mean", "how they are combined")

    def __post_init__(self) -> None:
        super().__post_init__()
        if not self.of:
            raise UsageError("A mix needs at least one utility: mix:of=(name:…)+(name:…).")
        if self.operation == "product" and self.scale == "zscore":
            raise UsageError("A product of z-scores has no meaning: use scale=rank or scale=minmax.")
        weights = [weight for weight, _ in self.of]
        if not all(map(math.isfinite, weights)) or not any(weights):
            raise UsageError("The weights of a mix are finite numbers, and not all of them are 0.")
        if self.operation == "product" and self.scale == "minmax" and min(weights) < 0:
            raise UsageError("A product of 0-1 values takes no negative weights: use scale=rank.")

    def resolve(self, data: EvalSet) -> Self:
        """Resolve every part."""
        return replace(self, of=tuple((weight, part.resolve(data)) for weight, part in self.of))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the parts read."""
        return frozenset().union(*(part.reads(data) for _, part in self.of))

    def values(self, data: EvalSet) -> Floats:
        """Return the weighted mean or product of the scaled utilities."""
        scaled = [(weight, self._scaled(part.values(data))) for weight, part in self.of]
        if self.operation == "product":
            return np.asarray(np.prod([values**weight for weight, values in scaled], axis=0))
        total = sum(abs(weight) for weight, _ in scaled)
        return np.asarray(sum(weight * values for weight, values in scaled) / total)

    def _scaled(self, values: Floats) -> Floats:
        if self.scale == "rank":
            # Rounded as a list is before it is ordered, so that the last bits of a sum tell no ranks apart.
            ranks = average_ranks(round_to_range(values))
            return np.asarray(ranks / max(1, np.sum(~np.isnan(values))))
        if np.isnan(values).all():
            return values
        low, high = np.nanmin(values), np.nanmax(values)
        centre, spread = (
            (np.nanmean(values), np.nanstd(values)) if self.scale == "zscore" else (low, high - low)
        )
        # A constant utility says nothing about any item, and must not divide by zero.
        if high == low:
            return values * 0.0 + (self.scale == "minmax")
        return np.asarray((values - centre) / spread)
