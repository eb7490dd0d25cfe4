"""``residual_size``: prefer items whose scores the metrics are expected to miss by most."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Self

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.cache import ResultCache
from sparingly.base.checks import check_names
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError
from sparingly.base.registry import parameter, register
from sparingly.base.syntax import lacking
from sparingly.choose.utility.base import Utility
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.predict.features import Features
from sparingly.signals.predict.predict import FEWEST, Goal, ResidualSizes, residual_sizes

# A design asks for the residuals to find tau, for its probabilities and for its notes, and draws with other
# seeds ask again.
_residuals = ResultCache[ResidualSizes](size=8)


@register("residual_size")
@dataclass(frozen=True)
class ResidualSize(Utility):
    """Prefers items whose scores are likely to differ from what the metrics predict, learned from a pilot.

    û_i = √v̂_i with v_i = Σ_j e_ij² (goal ``scores``) or Σ_j (e_ij − ē_i)² (goal ``ranking``), e = y − f the
    residual of a cross-fitted prediction. |e| is learned from the metrics on the judged items, and shrunk
    towards a constant as far as it cannot be learned; of a judged item û comes from the others. With fewer
    than four judged items nothing is learned, and all items count the same.

    Use it in designs, where it is what inclusion probabilities should be proportional to:
    ``pivotal:utility=(residual_size),tau=pilot``. It needs a pilot: about 40 items or more, drawn uniformly.
    """

    needs: ClassVar[tuple[str, ...]] = ("metrics", "ratings")
    reference: ClassVar[str] = "Neyman 1934; Isaki and Fuller 1982"

    aspect: str | None = parameter(None, "what was judged in the pilot; default: the only aspect there is")
    goal: Goal = parameter("scores", "what residuals are about: scores, or differences between models")  # noqa: RUF009 - a field
    metrics: tuple[str, ...] = parameter((), "what residuals are learned from; default: all metrics")
    probability: str | None = parameter(
        None, "a column with the pilot's inclusion probabilities; default: equal"
    )

    def resolve(self, data: EvalSet) -> Self:
        """Resolve the aspect and the metrics."""
        aspect = the_only("aspect", self.aspect, data.aspects, f"Name one: {self.name}:aspect=….")
        if not len(data.metrics):
            raise MissingDataError(f"The method {self.name} needs metrics, {lacking('metrics')}")
        check_names("metric", self.metrics, data.metrics)
        return replace(self, aspect=aspect, metrics=self.metrics or tuple(data.metrics))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the ratings of the pilot, the metrics, and the column of probabilities."""
        chances = () if self.probability is None else (fields.column(self.probability),)
        return frozenset((*data.truth_fields(self.aspect or ""), *map(fields.metric, self.metrics), *chances))

    def values(self, data: EvalSet) -> Floats:
        """Return the expected sizes, NaN for an item without any metric score."""
        too_few = self.judged(data) < FEWEST
        sizes = np.ones(len(data)) if too_few else np.sqrt(self.residuals(data).expected)
        has_metric = np.stack([~np.isnan(data.metrics[name]).all(axis=1) for name in self.metrics])
        return np.where(has_metric.any(axis=0), sizes, np.nan)

    def residuals(self, data: EvalSet) -> ResidualSizes:
        """Return the residuals of the pilot and the expected ones of all items."""
        key = (self, data.keys.tobytes(), data.models, data.digest(self.reads(data)))
        return _residuals.get([], key, lambda: self._learn_residuals(data))

    def _learn_residuals(self, data: EvalSet) -> ResidualSizes:
        return residual_sizes(
            data,
            data.truth(self.aspect or ""),
            goal=self.goal,
            weights=None if self.probability is None else 1.0 / self.chances(data),
            features=Features(metrics=self.metrics, lengths=False),
        )

    def judged(self, data: EvalSet) -> int:
        """Return on how many items anything was judged."""
        return int(data.judged(self.aspect or "").any(axis=1).sum())

    def chances(self, data: EvalSet) -> Floats:
        """Return the pilot's inclusion probabilities, 1 for all where none are named."""
        if self.probability is None:
            return np.ones(len(data))
        if self.probability not in data.columns:
            raise UnknownNameError(
                "column", self.probability, data.columns, "It holds the pilot's inclusion probabilities."
            )
        judged = data.judged(self.aspect or "").any(axis=1)
        column = data.columns[self.probability]
        try:
            probabilities = np.array([np.nan if value is None else float(value) for value in column])
        except (TypeError, ValueError):
            probabilities = np.full(len(column), np.nan)
        if not ((probabilities > 0) & (probabilities <= 1))[judged].all():
            raise DataError(
                f'The column "{self.probability}" cannot be the inclusion probabilities of the pilot: every '
                "judged item needs one, above 0 and at most 1."
            )
        return np.where(judged, probabilities, 1.0)
