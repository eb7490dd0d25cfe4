"""What every utility is: a pure function of the evaluation set that gives a number per item."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass, replace
from typing import ClassVar, Self

from sparingly.base.arrays import Floats
from sparingly.base.registry import Method, parameter
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.length import LENGTHS, length_metric


@dataclass(frozen=True)
class Utility(Method, ABC):
    """How much judging an item teaches."""

    kind: ClassVar[str] = "utility"

    def resolve(self, data: EvalSet) -> Self:
        """Return the utility with every choice that depends on the data made, or say what is missing."""
        return self

    @abstractmethod
    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the utility reads; it is shown no others."""

    @abstractmethod
    def values(self, data: EvalSet) -> Floats:
        """Return a number per item, NaN where it cannot be computed; higher is better."""


@dataclass(frozen=True)
class MetricUtility(Utility):
    """A utility that is computed from one metric."""

    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    metric: str | None = parameter(None, "the metric; the only one there is unless given")

    def resolve(self, data: EvalSet) -> Self:
        """Settle which metric is meant."""
        if self.metric in LENGTHS and self.metric not in data.metrics:
            return self
        how = f"Name one: {self.name}:metric=…" if len(data.metrics) else f"The method {self.name} needs one."
        return replace(self, metric=the_only("metric", self.metric, data.metrics, how))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric, or the texts whose length it is."""
        metric = self.metric or ""
        return frozenset({fields.metric(metric) if metric in data.metrics else LENGTHS[metric]})

    def scores(self, data: EvalSet) -> Floats:
        """Return the metric's scores, items x models."""
        metric = self.metric or ""
        is_length = metric in LENGTHS and metric not in data.metrics
        return length_metric(data, metric) if is_length else data.metrics[metric]
