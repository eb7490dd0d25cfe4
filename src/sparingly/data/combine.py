"""Combinations: aspects put together from others."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.text import Bare, Items, Quoted, parse_call

HOW = ("sum", "mean", "product", "weighted")


@dataclass(frozen=True)
class Combination:
    """An aspect made of others: their sum, mean, product, or weighted sum; missing where one is missing.

    As text: ``sum:of=[coherence,fluency]``, ``weighted:of=[adequacy,fluency],weights=[2,1]``.
    """

    how: Literal["sum", "mean", "product", "weighted"]
    of: tuple[str, ...]
    weights: tuple[float, ...] = ()

    def __post_init__(self) -> None:
        if not self.of:
            raise UsageError(f"The {self.how} of no aspects: write {self.how}:of=[one,other].")
        if self.how == "weighted" and len(self.weights) != len(self.of):
            raise UsageError(f"There are {len(self.of)} aspects to combine but {len(self.weights)} weights.")
        if not all(math.isfinite(weight) for weight in self.weights):
            raise UsageError("Weights are finite numbers.")
        if self.how != "weighted" and self.weights:
            raise UsageError(f"Weights go with weighted:of=[…],weights=[…], not with {self.how}.")

    @classmethod
    def parse(cls, text: str) -> Combination:
        """Read a combination from text."""
        call = parse_call(text)
        if call.name not in HOW:
            raise UnknownNameError("way to combine aspects", call.name, HOW)
        values = {key: _texts(key, value) for key, value in call.values}
        unknown = set(values) - {"of", "weights"}
        if unknown:
            raise UnknownNameError(f"parameter of {call.name}", min(unknown), ("of", "weights"))
        try:
            weights = tuple(float(text) for text in values.get("weights", ()))
        except ValueError as error:
            raise UsageError(f"Weights are numbers: {error}.") from None
        return cls(call.name, values.get("of", ()), weights)  # type: ignore[arg-type]

    def combine(self, aspects: Mapping[str, Floats]) -> Floats:
        """Return the combined scores of aspects by name, items x models."""
        parts = np.stack([aspects[name] for name in self.of])
        if self.how == "product":
            return np.asarray(parts.prod(axis=0))
        weights = np.array(self.weights if self.how == "weighted" else (1.0,) * len(self.of))
        total = np.tensordot(weights, parts, axes=1)
        return np.asarray(total / len(self.of) if self.how == "mean" else total)


def _texts(key: str, value: object) -> tuple[str, ...]:
    if isinstance(value, Bare | Quoted):
        return (value.text,)
    if isinstance(value, Items):
        return tuple(part.text for part in value.values)
    raise UsageError(f"The parameter {key} takes a list [a,b].")
