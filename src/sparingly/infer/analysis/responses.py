"""Item response theory fitted to a set: the fit with the names and the responses it was fitted to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import Method, parse_method
from sparingly.data.evalset import EvalSet
from sparingly.published.irt import IrtFit, scaled, success
from sparingly.published.irt.utility import Irt


@dataclass(frozen=True, eq=False)
class FittedResponses:
    """A fit and what it was fitted to.

    Attributes:
        method: The method, with its metric settled.
        fit: The fit.
        observed: The responses, items × models: scores scaled to 0–1, or success and failure.
    """

    method: Irt
    fit: IrtFit
    observed: Floats

    @property
    def response(self) -> str:
        """What a response is, in words."""
        metric = self.method.metric
        return f"success by {metric}" if self.fit.response == "binary" else f"{metric}, scaled to 0–1"


def fitted_responses(data: EvalSet, method: str | Method) -> FittedResponses:
    """Fit item response theory as the method ``irt`` does."""
    made = parse_method(method) if isinstance(method, str) else method
    if not isinstance(made, Irt):
        raise UsageError(f'"{method}" is not item response theory: write irt, or irt:metric=….')
    made = made.resolve(data)
    scores = made.scores(data)
    if np.isnan(scores).all():
        raise DataError(f"No item has a score by {made.metric}.")
    observed = success(scores, made.threshold) if made.response == "binary" else scaled(scores)
    return FittedResponses(made, made.fitted(scores, intervals=True), observed)
