"""``metric_avg``: prefer items on which the models do badly."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from sparingly.base.arrays import Floats
from sparingly.base.registry import register
from sparingly.base.stats.moments import row_means
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet


@register("metric_avg")
@dataclass(frozen=True)
class MetricAvg(MetricUtility):
    """Prefers items that are hard: a low mean metric score over the models.

    u_i = −(1/M) Σ_j m_ij, over the models that have a score on the item.

    Choose it when hard items are what the evaluation is about. It is the weakest of the metric-based
    utilities for telling models apart, and a model whose own scores made an item look hard is at a
    disadvantage on it.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 3"

    def values(self, data: EvalSet) -> Floats:
        """Return minus the mean score of every item."""
        return -row_means(self.scores(data))
