"""The tidy table of replays as arrays: for every set and entry, runs × budgets of every measure."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UnknownNameError, listing
from sparingly.bench.grid import METRIC, first_share, with_metric
from sparingly.bench.replay import COMPLETED
from sparingly.bench.table import read_table

if TYPE_CHECKING:
    from polars import DataFrame


RANDOM = "random"
SPA = "soft_pairwise_accuracy"
LABELS: Final = "labels"
ANNOTATION_SECONDS: Final = "annotation_seconds"
MEASURES = (
    LABELS,
    ANNOTATION_SECONDS,
    "seconds",
    SPA,
    "pairwise_accuracy",
    "pairwise_accuracy_tied",
    "kendall_b",
    "top1_match",
    "rank_changes",
    "mean_absolute_error",
    "bias",
    "intervals",
    "covered",
    "width",
    "pairs",
    "significant",
    "wrong_sign",
    "stopped_at",
)
# Shares are told apart to so many decimals: 0.1 + 0.2 is the share 0.3.
_SHARE_DIGITS = 9
_EQUAL = 1e-6


@dataclass(frozen=True)
class SetInfo:
    """A data set of a table: what its columns say about it."""

    set: str
    family: str
    truth: str
    metric: str | None
    strong: bool
    counts: bool
    items: int
    models: int


@dataclass(frozen=True)
class EntryInfo:
    """An entry of a table: a method with its estimator and p-values.

    ``{metric}`` in the texts of the method and the estimator stands for the one metric of a set. Where all
    sets of a table have the same metric, its name stands there.
    """

    entry: str
    method: str
    estimator: str | None
    p_values: str | None
    rounds: int | None
    stop: str | None
    kind: str


_Info = TypeVar("_Info", SetInfo, EntryInfo)


@dataclass(frozen=True)
class Refusal:
    """An entry that gave no figures on a set, and why: ``not_applicable`` or ``failed``."""

    set: str
    entry: str
    status: str
    reason: str


@dataclass(frozen=True, eq=False)
class Runs:
    """What one entry did on one set.

    Attributes:
        shares: The budgets, as shares of the set, ascending.
        resamples: Of every run: 0 for the whole set, k for resample k of 80 % of its items.
        values: By measure, runs × budgets; NaN where there is no figure.
    """

    shares: Floats
    resamples: Ints
    values: Mapping[str, Floats]

    def whole(self, measure: str) -> Floats:
        """Return the runs on the whole set, runs × budgets."""
        return np.asarray(self._of(measure)[self.resamples == 0])

    def resampled(self, measure: str) -> dict[int, Floats]:
        """Return the mean of the runs on every resample of the set, by its number."""
        values = self._of(measure)
        numbers = np.unique(self.resamples[self.resamples > 0])
        return {int(k): nan_mean(values[self.resamples == k]) for k in numbers}

    def curve(self, measure: str) -> Floats:
        """Return the mean over the runs on the whole set, one value per budget."""
        return nan_mean(self.whole(measure))

    def at(self, shares: Floats) -> Runs:
        """Return the same runs at some of their budgets only."""
        kept = np.isin(self.shares, shares)
        if kept.all():
            return self
        values = {measure: array[:, kept] for measure, array in self.values.items()}
        return Runs(self.shares[kept], self.resamples, values)

    def _of(self, measure: str) -> Floats:
        if measure not in self.values:
            raise UnknownNameError("measure", measure, self.values)
        return self.values[measure]


@dataclass(frozen=True, eq=False)
class Results:
    """All that a table holds.

    Attributes:
        sets: The data sets.
        entries: The methods.
        all_runs: The runs of every entry on every set, at all budgets.
        refusals: What gave no figures, and why.
    """

    sets: Mapping[str, SetInfo]
    entries: Mapping[str, EntryInfo]
    all_runs: Mapping[tuple[str, str], Runs]
    refusals: Sequence[Refusal]

    @cached_property
    def runs(self) -> Mapping[tuple[str, str], Runs]:
        """The runs at the budgets that means are taken over: smaller ones count for parity alone."""
        return {key: self.counted(key[0], runs) for key, runs in self.all_runs.items()}

    def counted(self, name: str, runs: Runs) -> Runs:
        """Return runs on a set at the budgets that means are taken over; all, where all are smaller."""
        kept = runs.shares[runs.shares >= first_share(self.sets[name].items) - _EQUAL]
        return runs.at(kept) if len(kept) else runs

    def counting(self) -> list[str]:
        """Return the sets that count, by name."""
        return [name for name, info in self.sets.items() if info.counts]

    def shared(self, name: str, entry: str, other: str) -> tuple[Runs, Runs] | None:
        """Return the runs of two entries on a set at the budgets that both have, or None."""
        first, second = self.runs.get((name, entry)), self.runs.get((name, other))
        if first is None or second is None:
            return None
        common = np.intersect1d(first.shares, second.shares)
        return (first.at(common), second.at(common)) if len(common) else None


def nan_mean(values: Floats) -> Floats:
    """Return the mean of every column over its present values, NaN where there are none."""
    present = ~np.isnan(values)
    count = present.sum(axis=0)
    sums = np.where(present, values, 0.0).sum(axis=0)
    return np.asarray(np.where(count > 0, sums / np.maximum(count, 1), np.nan))


def read_results(table: Path | DataFrame) -> Results:
    """Read a tidy table of replays (a Parquet file, or a frame of its columns) into arrays."""
    import polars

    frame = read_table(table) if isinstance(table, Path) else table
    _check(frame)
    done = frame.filter(polars.col("status") == COMPLETED).with_columns(
        polars.col(MEASURES).cast(polars.Float64).fill_null(np.nan),
        polars.col("resample", "seed").cast(polars.Int64).fill_null(0),
    )
    runs = {
        (str(name), str(entry)): _runs(part)
        for (name, entry), part in sorted(done.partition_by("set", "entry", as_dict=True).items(), key=_key)
    }
    return Results(
        {info.set: info for info in _infos(frame, SetInfo, "set")},
        {info.entry: _with_texts(info, frame) for info in _infos(frame, EntryInfo, "entry")},
        runs,
        _refusals(frame),
    )


def _key(found: tuple[tuple[Any, ...], DataFrame]) -> tuple[str, ...]:
    return tuple(map(str, found[0]))


def _check(frame: DataFrame) -> None:
    names = {field.name for kind in (SetInfo, EntryInfo) for field in fields(kind)}
    wanted = sorted(names | {*MEASURES, "share", "seed", "resample", "status", "reason"})
    missing = [name for name in wanted if name not in frame.columns]
    if missing:
        raise DataError(
            f"The table lacks the columns {listing(missing)}. Write it anew with `sparingly bench`."
        )
    if frame.is_empty():
        raise DataError("The table is empty. Run `sparingly bench` first.")


def _infos(frame: DataFrame, kind: type[_Info], by: str) -> list[_Info]:
    """Return what the table says about every set or entry: the row of the whole set, where there is one."""
    columns = [field.name for field in fields(kind)]
    rows = frame.sort(by, "resample", nulls_last=True).unique(by, keep="first", maintain_order=True)
    return [kind(**row) for row in rows.select(columns).iter_rows(named=True)]


def _with_texts(info: EntryInfo, frame: DataFrame) -> EntryInfo:
    """Return an entry with its texts as the grid has them, not as they are for the first set."""
    import polars

    rows = frame.filter(polars.col("entry") == info.entry)
    method, estimator = (
        _template(rows.select(column, "metric").drop_nulls(column).unique().sort(column, "metric").rows())
        for column in ("method", "estimator")
    )
    return replace(info, method=info.method if method is None else method, estimator=estimator)


def _template(texts: Sequence[tuple[str, str | None]]) -> str | None:
    """Return the text of which these are the ones for every metric; the first where there is none such."""
    different = dict.fromkeys(text for text, _ in texts)
    if len(different) > 1:
        for made in [_without(text, metric) for text, metric in texts]:
            if all(metric is None or with_metric(made, metric) == text for text, metric in texts):
                return made
    return next(iter(different), None)


def _without(text: str, metric: str | None) -> str:
    """Return a text with ``{metric}`` wherever it names the metric as a value."""
    if metric is None:
        return text
    named = re.escape(with_metric(METRIC, metric))
    return re.sub(rf"={named}(?=[,)\]]|$)", f"={METRIC}", text)


def _refusals(frame: DataFrame) -> list[Refusal]:
    import polars

    columns = ["set", "entry", "status", "reason"]
    rows = frame.filter(polars.col("status") != COMPLETED).select(columns).unique().sort(columns)
    return [Refusal(*(str(value or "") for value in row)) for row in rows.iter_rows()]


def _runs(part: DataFrame) -> Runs:
    shares, columns = np.unique(part["share"].to_numpy().round(_SHARE_DIGITS), return_inverse=True)
    keys = part.select("resample", "seed").to_numpy().T
    runs, rows = np.unique(keys, axis=1, return_inverse=True)
    array = np.full((len(MEASURES), runs.shape[1], len(shares)), np.nan)
    array[:, rows.ravel(), columns] = part.select(MEASURES).to_numpy().T
    return Runs(shares.astype(np.float64), runs[0], dict(zip(MEASURES, array, strict=True)))
