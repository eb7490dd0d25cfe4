"""Utilities of one metric: ``metric_avg``, ``metric_var``, ``metric_cons`` and ``uncertainty``."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.base.stats import correlation
from sparingly.base.stats.moments import row_means, row_variances
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


@register("metric_cons")
@dataclass(frozen=True)
class MetricCons(MetricUtility):
    """Prefers items whose metric scores rank the models as the metric does on the whole set.

    u_i = RankCorr(⟨m_ij⟩_j, ⟨Σ_i' m_i'j⟩_j): Spearman by default, Kendall's tau-c as in the published
    code, or pairwise accuracy. An item on which all models score the same gets 0.

    Choose it when the metric is reliable and the ranking is what matters. It favours items that confirm
    the metric's own ranking, so scores of the chosen items are far from those of the whole set.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 5"

    correlation: Literal["spearman", "kendall", "pairwise"] = parameter(
        "spearman", "how an item's ranking is compared with the whole set's"
    )

    def values(self, data: EvalSet) -> Floats:
        """Return the rank correlation of every item with the whole set."""
        scores = self.scores(data)
        present = ~np.isnan(scores)
        counts = present.sum(axis=0)
        totals = np.where(present, scores, 0.0).sum(axis=0)
        means = np.where(counts > 0, totals / np.maximum(counts, 1), np.nan)
        agreement = {
            "spearman": correlation.spearman_rows,
            "kendall": correlation.kendall_c_rows,
            "pairwise": correlation.pairwise_accuracy_rows,
        }[self.correlation]
        # An item that ranks nothing scores 0; one without any score says nothing at all.
        return np.where(present.any(axis=1), agreement(means, scores), np.nan)


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
