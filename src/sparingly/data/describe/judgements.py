"""What people said: ratings by rater, repeated and duplicate ones, their seconds; and preferences."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings, Repeats


@dataclass(frozen=True)
class Seconds:
    """How long judgements took.

    Where raters judge several aspects at once and the time of the judgement is written beside each of them,
    it counts once.
    """

    known: int  # the number of judgements whose time is known
    median: float
    longest: float  # breaks are often in it
    total: float


@dataclass(frozen=True)
class RatingsSummary:
    """The ratings of a set."""

    count: int  # ratings that have a score
    raters: dict[str, int]  # the number of ratings by rater
    of_unknown_raters: int
    aspects: dict[str, int]  # the number of ratings by aspect
    of_references: int  # ratings of references rather than of models
    cells: int  # distinct (item, model, aspect) that are rated
    repeated_share: float  # the share of them that have two or more ratings: agreement comes from these
    duplicates: int  # ratings beyond the first of the same item, model, rater and aspect
    comments: int  # rows with a remark
    seconds: Seconds | None


@dataclass(frozen=True)
class PreferencesSummary:
    """The preferences of a set: how many comparisons, ties, known raters and compared pairs of models.

    ``aspects`` counts comparisons by aspect ("" where none is named).
    """

    count: int
    ties_share: float
    raters: int
    aspects: dict[str, int]
    pairs: int
    possible_pairs: int


def ratings(data: EvalSet) -> RatingsSummary | None:
    """Describe the ratings, or return None when there are none."""
    table = data.ratings
    if not len(table):
        return None
    scored = np.flatnonzero(~np.isnan(table.score))
    cells = _keys(table, scored, "item", "model", "aspect")
    _, per_cell = np.unique(cells, return_counts=True)
    named_rows = scored[table.rater[scored] >= 0]
    judged = _keys(table, named_rows, "item", "model", "aspect", "rater")
    return RatingsSummary(
        count=len(scored),
        raters=_counts(table.rater[scored], table.raters),
        of_unknown_raters=len(scored) - len(named_rows),
        aspects=_counts(table.aspect[scored], table.aspects),
        of_references=int((table.model[scored] >= len(data.models)).sum()),
        cells=len(per_cell),
        repeated_share=float((per_cell > 1).mean()) if len(per_cell) else 0.0,
        duplicates=len(judged) - len(np.unique(judged)),
        comments=table.comments,
        seconds=_seconds(table),
    )


def preferences(data: EvalSet) -> PreferencesSummary | None:
    """Describe the preferences, or return None when there are none."""
    table = data.preferences
    if not len(table):
        return None
    models = len(data.models)
    low, high = np.minimum(table.first, table.second), np.maximum(table.first, table.second)
    return PreferencesSummary(
        count=len(table),
        ties_share=float((table.value == 0).mean()),
        raters=len(np.unique(table.rater[table.rater >= 0])),
        aspects=_counts(table.aspect, table.aspects),
        pairs=len(np.unique(low.astype(np.int64) * models + high)),
        possible_pairs=models * (models - 1) // 2,
    )


def _seconds(table: Ratings) -> Seconds | None:
    rows = np.flatnonzero(~np.isnan(table.seconds))
    if not len(rows):
        return None
    sitting = _keys(table, rows, "item", "model", "rater")
    order = np.lexsort((table.seconds[rows], sitting))
    sitting, time = sitting[order], table.seconds[rows][order]
    # Unknown raters may be several people.
    follows = (sitting[1:] == sitting[:-1]) & (table.rater[rows][order][1:] >= 0)
    equal = follows & (time[1:] == time[:-1])
    # A few equal times are chance; when most are equal, one time was written beside every aspect.
    if equal.sum() > 0.5 * follows.sum():
        time = time[np.concatenate([[True], ~equal])]
    return Seconds(
        known=len(time), median=float(np.median(time)), longest=float(time.max()), total=float(time.sum())
    )


def _keys(table: Ratings, rows: Ints, *columns: str) -> Ints:
    """Return one number per row that is equal exactly where the columns are (codes start at -1)."""
    keys = np.zeros(len(rows), np.int64)
    for name in columns:
        codes = getattr(table, name)[rows].astype(np.int64) + 1
        keys = keys * (int(codes.max(initial=0)) + 1) + codes
    return keys


def _counts(codes: NDArray[np.int32], names: tuple[str, ...]) -> dict[str, int]:
    """Count the rows of every name that occurs; an empty name stands for those without one."""
    counts = np.bincount(codes.astype(np.int64) + 1, minlength=len(names) + 1)
    return {name: int(count) for name, count in zip(("", *names), counts, strict=True) if count}


# --- Epochs: how much of every repeated score is noise between them ---


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
