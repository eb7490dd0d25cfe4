"""``metric_var``: prefer items on which the models differ."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparingly.base.arrays import Floats
from sparingly.base.registry import register
from sparingly.base.stats.moments import row_variances
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet


@register("metric_var")
@dataclass(frozen=True)
class MetricVar(MetricUtility):
    """Prefers items on which the models' metric scores differ most.

    u_i = (1/M) Σ_j (m_ij − m̄_i)², the population variance over the models that have a score, about the
    plain mean (the printed equation 4 subtracts equation 3, which carries a minus sign).

    Choose it when the metric is reliable; with a weak metric it can need more labels than a random sample.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 4"

    def values(self, data: EvalSet) -> Floats:
        """Return the variance of every item's scores."""
        return row_variances(self.scores(data))
