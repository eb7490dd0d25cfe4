"""What every estimator is: it turns a sample into scores of the whole set, in linear form."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

from sparingly.base.errors import UsageError
from sparingly.base.registry import Method, method_class, method_from_call
from sparingly.base.text import parse_call
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Sample


@dataclass(frozen=True)
class Estimator(Method, ABC):
    """Turns the judged items into scores of the whole set."""

    kind: ClassVar[str] = "estimator"

    def resolve(self, data: EvalSet) -> Self:
        """Return the estimator with every choice that depends on the data made, or say what is missing."""
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the estimator reads beside the judgements."""
        return frozenset()

    @abstractmethod
    def linear(self, sample: Sample, data: EvalSet, seed: int) -> Linear:
        """Return the scores as a fixed part and weighted residuals."""


def as_estimator(method: str | Method) -> Estimator:
    """Return an estimator from its text."""
    if isinstance(method, str):
        call = parse_call(method)
        # A method of another kind is known, but is no estimator: say that rather than that there is none.
        made: Method = method_from_call(call, (method_class(call.name).kind,))
    else:
        made = method
    if isinstance(made, Estimator):
        return made
    raise UsageError(f"The {made.kind} {made.name} does not estimate scores. See: sparingly methods.")
