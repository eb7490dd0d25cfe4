"""``metric_cons``: prefer items that rank the models as the whole set does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.registry import parameter, register
from sparingly.base.stats import correlation
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet


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
