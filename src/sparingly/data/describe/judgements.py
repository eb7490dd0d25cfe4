"""What people said: ratings by rater, repeated and duplicate ones, their seconds; and preferences."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings


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
