"""``uncertainty``: prefer items on which a confidence or error column says most (or least)."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import row_means
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet


@register("uncertainty")
@dataclass(frozen=True)
class Uncertainty(MetricUtility):
    """Prefers items on which a column of per-output uncertainty is high (or low) on average.

    u_i = ±(1/M) Σ_j c_ij, where c is a confidence or error estimate per output, supplied like a metric.

    Use ``direction=high`` for columns that grow with the error and ``direction=low`` for confidences. In the
    published comparison it helped less than the variance of the metric itself.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, appendix A"

    direction: Literal["high", "low"] = parameter("high", "which end of the column is worth judging")

    def values(self, data: EvalSet) -> Floats:
        """Return the mean of the column over the models, negated for ``low``."""
        means = row_means(self.scores(data))
        return means if self.direction == "high" else -means
