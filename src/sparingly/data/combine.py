"""Aspects put together from others, and the scores that a replay takes for the truth."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.text import Bare, Items, Quoted, parse_call
from sparingly.data.evalset import EvalSet, Scale, the_only

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

    def of_data(self, data: EvalSet) -> Floats:
        """Return the combined scores, items x models."""
        parts = np.stack([data.aspects[name] for name in self.of])
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


def truth(data: EvalSet, name: str) -> Floats:
    """Return the scores of an aspect, a metric or a combination of aspects (see ``EvalSet.truth``)."""
    if not isinstance(name, str):
        raise UsageError(f"The truth is named by a text, such as an aspect's name, not by {name!r}.")
    both = name in data.aspects and name in data.metrics
    if both:
        raise UsageError(f'"{name}" is an aspect and a metric. Write aspect:{name} or metric:{name}.')
    if name in data.aspects:
        return data.aspects[name]
    if name in data.metrics:
        return data.metrics[name]
    kind, _, rest = name.partition(":")
    if kind == "aspect" and rest in data.aspects:
        return data.aspects[rest]
    if kind == "metric" and rest in data.metrics:
        return data.metrics[rest]
    if kind in HOW and rest:
        return Combination.parse(name).of_data(data)
    raise UnknownNameError("aspect or metric", name, [*data.aspects, *data.metrics])


def truth_fields(data: EvalSet, name: str) -> tuple[str, ...]:
    """Return the fields that a truth is made of."""
    kind, _, rest = name.partition(":")
    if name in data.aspects:
        return (f"aspect:{name}",)
    if name in data.metrics:
        return (f"metric:{name}",)
    if kind in HOW and rest:
        return tuple(f"aspect:{part}" for part in Combination.parse(name).of)
    return (name,)


def truth_scale(data: EvalSet, name: str) -> Scale | None:
    """Return the lowest and the highest possible score of a truth; None where the data does not tell it.

    Words such as pass and fail tell it, a file's header, and the campaign that asked for the scores.
    """
    return data.store.scales.get(_scale_key(data, name))


def with_scale(data: EvalSet, name: str | None, scale: Scale | None) -> EvalSet:
    """Return the set with the scale of a truth (the only aspect unless named); as it is where none is given.

    The scale goes with the data, so that all that is made from them knows it.
    """
    if scale is None:
        return data
    check_scale(scale)
    truth_name = the_only("aspect", None, data.aspects, "Name one: aspect=….") if name is None else name
    truth(data, truth_name)
    scales = {**data.store.scales, _scale_key(data, truth_name): scale}
    return replace(data, store=replace(data.store, scales=scales))


def without_scales(data: EvalSet) -> EvalSet:
    """Return the set without what is known of scales, for results whose signature says which one was used."""
    return replace(data, store=replace(data.store, scales={}))


def _scale_key(data: EvalSet, name: str) -> str:
    """Return under which name a scale is kept: the field of a single truth, else the combination's text."""
    of = truth_fields(data, name)
    return of[0] if len(of) == 1 else name


def check_scale(scale: Scale) -> None:
    """Complain about a scale that does not go from one finite number to a higher one."""
    low, high = scale
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise UsageError(f"A scale goes from a finite number to a higher one, not from {low:g} to {high:g}.")
