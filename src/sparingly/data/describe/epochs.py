"""How much of the spread of scores is noise between epochs: more items, or more epochs?"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Repeats


@dataclass(frozen=True)
class EpochVariance:
    """The variance of a score between items and between epochs of an item, pooled over the models.

    With n items of R epochs each, the mean score of a model over inputs like these has the variance
    V(n, R) = σ²_items / n + σ²_epochs / (n·R). Over this set of N items, the mean over the epochs that were
    run has no error; as an estimate of the model's expected score it has σ²_epochs / (N·R).
    """

    score: str  # the metric or aspect
    cells: int  # how many cells have several epochs
    epochs: float  # how many epochs these have on average
    between_items: float  # σ²_items
    between_epochs: float  # σ²_epochs

    def variance(self, items: float, epochs: float) -> float:
        """Return the variance of a mean score over so many items with so many epochs each."""
        return (self.between_items + self.between_epochs / epochs) / items

    @property
    def share(self) -> float:
        """The share of the variance of a single output's score that is noise between epochs."""
        total = self.between_items + self.between_epochs
        return self.between_epochs / total if total > 0 else 0.0

    @property
    def gain(self) -> float:
        """By how much twice the epochs cut the standard error of a score (twice the items cut it by 29 %)."""
        current = self.variance(1, self.epochs)
        return 1 - math.sqrt(self.variance(1, 2 * self.epochs) / current) if current > 0 else 0.0

    def __str__(self) -> str:
        advice = "add items rather than epochs" if self.gain < 0.2 else "epochs help nearly as much as items"
        return (
            f"{100 * self.share:.0f} % of the variance of {self.score} is noise between epochs. Twice the "
            f"items cut the standard error of a score by 29 %, twice the epochs by {100 * self.gain:.0f} %: "
            f"{advice}."
        )


def epoch_variances(data: EvalSet) -> tuple[EpochVariance, ...]:
    """Return the variances of every score that has repeats."""
    table = data.repeats
    variances = (_variance(table, name, len(data.models)) for name in table.scores)
    return tuple(variance for variance in variances if variance is not None)


def _variance(table: Repeats, name: str, models: int) -> EpochVariance | None:
    """Return the components by one-way analysis of variance of each model, pooled by degrees of freedom.

    MS_within = Σ (y − ȳ_i)² / Σ (R_i − 1), MS_between = Σ R_i (ȳ_i − ȳ)² / (k − 1), and
    σ²_items = (MS_between − MS_within) / R₀ with R₀ = (N − Σ R_i² / N) / (k − 1); below 0 it is 0.
    """
    scored = ~np.isnan(table.scores[name])
    item, model, scores = table.item[scored], table.model[scored], table.scores[name][scored]
    within = between = weight = 0.0
    freedom = cells = outputs = 0
    for code in range(models):
        _, places, counts = np.unique(item[model == code], return_inverse=True, return_counts=True)
        values = scores[model == code]
        means = np.bincount(places, values) / counts if len(values) else values
        spread = float(((values - means[places]) ** 2).sum())
        within, freedom = within + spread, freedom + int((counts - 1).sum())
        cells, outputs = cells + int((counts > 1).sum()), outputs + int(counts[counts > 1].sum())
        groups, total = len(counts), int(counts.sum())
        if groups > 1 and total > groups:
            mean_square = float((counts * (means - values.mean()) ** 2).sum()) / (groups - 1)
            size = (total - float((counts**2).sum()) / total) / (groups - 1)
            between += (groups - 1) * (mean_square - spread / (total - groups)) / size
            weight += groups - 1
    if not freedom or not weight:
        return None
    return EpochVariance(
        name.partition(":")[2], cells, outputs / cells, max(0.0, between / weight), within / freedom
    )
