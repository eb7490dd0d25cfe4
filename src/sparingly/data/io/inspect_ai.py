"""inspect_ai's table of samples (``samples_df``) saved as Parquet or CSV: one row a sample, model and epoch.

``id`` is the item (``sample_id`` is another for every row), ``model`` the model, ``input`` the source,
``target`` the reference. Scores (``score_*``) are metrics: numbers as they are, the letters C, P, I and N as
1, 0.5, 0 and 0, yes/true and no/false as 1 and 0, and one metric for each key of a score that is an object.
Several epochs of a sample count as one cell with the mean score (over those that have one); its output and
other texts are those of the first epoch, and the cell column ``epochs`` says how many there were.
``metadata_*`` becomes columns of the items, everything else cell columns. Where the table has several tasks,
an item is called ``task/id``.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UnknownNameError
from sparingly.base.lazy import LazyModule
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.io.columns import (
    CodedNames,
    RowGroups,
    TableSource,
    all_numbers,
    holds_numbers,
    numbers,
    parsed_texts,
)
from sparingly.data.io.format import Format, Head, Options, names_in
from sparingly.data.io.frames import to_series
from sparingly.data.io.parquet import parquet_names
from sparingly.data.io.roles import SAMPLE_COLUMNS, SCORE_PREFIX, are_samples
from sparingly.data.io.table import read_long, source_of
from sparingly.data.values import shown

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

_OUTPUTS = ("output", "completion", "output_completion", "output_text", "response")
_METADATA = "metadata_"
_ITEM, _MODEL, _EPOCH, _TASK = "item", "model", "epoch", "task_name"
_EPOCHS = "cell:epochs"
# Marks columns that are no part of a sample's scores and texts, until it is known where they go.
_UNPLACED = "held:"


@register("inspect_ai")
class InspectAiSamples(Format):
    """The samples of inspect_ai's logs as a table."""

    summary: ClassVar[str] = "inspect_ai's samples_df, saved as Parquet or CSV"
    options: ClassVar[dict[str, str]] = {
        "model": 'the column of the models ("model" unless said; eval_id or log keep runs apart)',
        "output": "the column of the outputs (output or completion unless said)",
        "metrics": "the scores to take as metrics: a,b,c (all unless said)",
        "aspects": "the scores that people gave: a,b,c",
        "epoch": "the one epoch to take (the mean of all unless said)",
    }

    def recognises(self, head: Head) -> bool:
        """Look for the columns of a sample: its epoch, input and target, and a log or a score."""
        return are_samples(parquet_names(head.start, head.path) or head.header)

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the table, put epochs together, and lay items and models out."""
        source = source_of(path, {})
        columns = _Samples(source, options).columns()
        return read_long(TableSource(path, list(columns), columns.__getitem__), {})


class _Samples:
    """The rows of the table, scored, then one for each item and model."""

    def __init__(self, source: TableSource, options: Options) -> None:
        self.source, self.options = source, options
        self.held = {name: source.column(name) for name in source.names}
        item = "id" if "id" in self.held else "sample_id"
        model = str(options.get("model") or "model")
        for name in (item, *SAMPLE_COLUMNS):
            if name not in self.held:
                raise source.error("the column is not there", field=name, fix="Save the table of samples_df")
        if model not in self.held:
            raise source.error(
                "no column names the model",
                field=model,
                fix="Save samples_df(logs, columns=EvalModel + SampleSummary), or say model=eval_id",
            )
        for name, kind in ((item, "item"), (model, "model")):
            CodedNames.from_series(self.held[name], kind, source)
        self.ids = self.held.pop(item).cast(pl.String).alias(_ITEM)
        self.models = self.held.pop(model).cast(pl.String).alias(_MODEL)
        self.epochs = pl.Series(_EPOCH, numbers(self.held.pop(_EPOCH), source))

    def columns(self) -> dict[str, pl.Series]:
        """Return the columns of a long table with one row for each item and model."""
        scores = self._scores()
        rows = pl.DataFrame([self._items(), self.models, self.epochs])
        self._check_once(rows)
        new_columns = {**scores, **self._texts()}
        new_columns |= {f"{_UNPLACED}{name}": self._typed(series) for name, series in self.held.items()}
        rows = rows.with_columns(series.alias(name) for name, series in new_columns.items())
        return self._by_role(self._one_row_a_cell(rows))

    def _scores(self) -> dict[str, pl.Series]:
        """Take the score columns, as metrics or as aspects; those that hold no scores are left."""
        column_by_score = {
            column.removeprefix(SCORE_PREFIX): column for column in score_columns(list(self.held))
        }
        aspect_columns = {
            self._score_column(name, column_by_score) for name in names_in(self.options.get("aspects") or ())
        }
        metric_columns = {
            self._score_column(name, column_by_score)
            for name in names_in(self.options.get("metrics") or column_by_score)
        }
        scores: dict[str, pl.Series] = {}
        for column in column_by_score.values():
            if column not in aspect_columns | metric_columns:
                continue
            kind = "aspect" if column in aspect_columns else "metric"
            for name, series in numbers_of(column, self.held[column], self.source).items():
                scores[f"{kind}:{name}"] = series
                self.held.pop(column, None)
        return scores

    @staticmethod
    def _score_column(name: str, column_by_score: dict[str, str]) -> str:
        plain = name.removeprefix(SCORE_PREFIX)
        if plain not in column_by_score:
            raise UnknownNameError("score", plain, column_by_score)
        return column_by_score[plain]

    def _items(self) -> pl.Series:
        tasks = self.held.get(_TASK)
        if tasks is None or tasks.n_unique() < 2:
            return self.ids
        return (tasks.cast(pl.String).fill_null("") + "/" + self.ids).alias(_ITEM)

    def _texts(self) -> dict[str, pl.Series]:
        """Return the source, the reference and the output where there is one."""
        output = self.options.get("output") or next((name for name in _OUTPUTS if name in self.held), None)
        if output is not None and output not in self.held:
            raise UnknownNameError("column", str(output), self.held)
        texts = {"source": self.held.pop("input"), "reference": self.held.pop("target")}
        if output is not None:
            texts["output"] = self.held.pop(str(output))
        return {name: series.cast(pl.String) for name, series in texts.items()}

    def _check_once(self, rows: pl.DataFrame) -> None:
        twice = rows.is_duplicated()
        if not twice.any():
            return
        first = int(twice.arg_max() or 0)
        duplicate = twice.to_numpy()
        for column in rows.iter_columns():
            duplicate = duplicate & column.eq_missing(column.slice(first, 1)).to_numpy()
        both_rows = self.source.two_rows(*(int(row) for row in duplicate.nonzero()[0][:2]))
        raise self.source.error(
            f"the sample {shown(rows[_ITEM][first])} of the model {shown(rows[_MODEL][first])} "
            f"is there twice in one epoch ({both_rows})",
            fix="Keep one log of each model and task, or tell runs apart with model=eval_id",
        )

    def _typed(self, series: pl.Series) -> pl.Series:
        if all_numbers(series, self.source):
            return pl.Series(series.name, numbers(series, self.source))
        return series

    def _one_row_a_cell(self, rows: pl.DataFrame) -> pl.DataFrame:
        """Put the epochs of a sample together: the mean of numbers, the first of anything else."""
        import polars.selectors as cs

        if (epoch := self.options.get(_EPOCH)) not in (None, ""):
            rows = rows.filter(pl.col(_EPOCH) == _epoch_number(epoch))
            if not len(rows):
                raise self.source.error(f"there is no epoch {epoch}", field=_EPOCH)
        keys = cs.by_name(_ITEM, _MODEL)
        cells = (
            rows.with_columns(cs.float().fill_nan(None))
            .sort(_EPOCH, maintain_order=True)
            .group_by(_ITEM, _MODEL, maintain_order=True)
            .agg(
                (cs.float() - cs.by_name(_EPOCH)).mean(),
                (~cs.float() - keys).drop_nulls().first(),
                pl.len().cast(pl.Float64).alias(_EPOCHS),
            )
        )
        # Items and models keep the order of the file.
        order = rows.select(keys).unique(maintain_order=True)
        return order.join(cells, on=[_ITEM, _MODEL], how="left", maintain_order="left")

    def _by_role(self, cells: pl.DataFrame) -> dict[str, pl.Series]:
        """Name every further column as one of the items or of the cells."""
        names = CodedNames.from_series(cells[_ITEM], "item", self.source)
        groups = RowGroups(names.codes, len(names.names))
        columns: dict[str, pl.Series] = {}
        for name in cells.columns:
            series = cells[name]
            if name == _EPOCHS and (series == 1).all():
                continue
            if name.startswith(_UNPLACED):
                plain = name.removeprefix(_UNPLACED)
                is_column = plain.startswith(_METADATA) and groups.common_values(series)[1] is None
                name = f"column:{_plain_name(plain, series)}" if is_column else f"cell:{plain}"
            columns[name] = series
        return columns


def _plain_name(name: str, series: pl.Series) -> str:
    """Return the name without ``metadata_``, unless that name wants numbers and these are none."""
    plain = name.removeprefix(_METADATA)
    return name if plain in fields.NUMBER_COLUMNS and not series.dtype.is_numeric() else plain


def _epoch_number(epoch: object) -> int:
    try:
        return int(str(epoch))
    except ValueError:
        raise InputError(f"{shown(epoch)} is no epoch", field=_EPOCH, fix="Write a whole number") from None


# --- The scores of inspect_ai's samples as numbers ------------------------------------------------

# What inspect_ai counts the letters and words as: correct, partly, incorrect, no answer.
_LETTERS = {"C": 1.0, "P": 0.5, "I": 0.0, "N": 0.0}
_WORDS = {"yes": 1.0, "true": 1.0, "no": 0.0, "false": 0.0}
# Columns beside a score: what the scorer said, and the summaries of a whole log.
_SCORE_SUFFIXES = ("answer", "explanation", "metadata", "accuracy", "mean", "std", "stderr", "var")
_HEADLINE = "score_headline_"


def score_columns(names: list[str]) -> list[str]:
    """Return the columns that hold a score of the sample, not a remark beside it or a summary of the log."""
    scores = [name for name in names if name.startswith(SCORE_PREFIX) and not name.startswith(_HEADLINE)]
    return [
        name
        for name in scores
        if not any(
            name.removesuffix(f"_{end}") in scores for end in _SCORE_SUFFIXES if name.endswith(f"_{end}")
        )
    ]


def numbers_of(column: str, series: pl.Series, source: TableSource) -> dict[str, pl.Series]:
    """Return the scores by name, none of them when the column holds texts that are no scores.

    A scorer that gives an object (``{"clarity": 4, "style": 2}``) yields one for each key:
    ``scorer.clarity``, ``scorer.style``.
    """
    name = column.removeprefix(SCORE_PREFIX)
    if series.dtype != pl.String:
        return {name: series.cast(pl.Float64).alias(name)} if holds_numbers(series) else {}
    if not series.drop_nulls().str.starts_with("{").any():
        graded = _graded(series, source)
        return {} if graded is None else {name: graded.alias(name)}
    scores: dict[str, pl.Series] = {}
    for key, values in _by_key(series).items():
        part = values.alias(column)
        graded = _graded(part, source) if part.dtype == pl.String else part.cast(pl.Float64, strict=False)
        if graded is not None:
            scores[f"{name}.{key}"] = graded.alias(f"{name}.{key}")
    return scores


def _graded(series: pl.Series, source: TableSource) -> pl.Series | None:
    parsed, unreadable = parsed_texts(series)
    stripped = series.str.strip_chars()
    letters = stripped.replace_strict(_LETTERS, default=None, return_dtype=pl.Float64)
    words = stripped.str.to_lowercase().replace_strict(_WORDS, default=None, return_dtype=pl.Float64)
    # "N" is a letter here, not a word for missing.
    grades = letters.fill_null(words).fill_null(parsed)
    unreadable = unreadable & grades.is_null()
    if unreadable.sum() >= grades.count():
        return None
    if unreadable.any():
        row = int(unreadable.arg_max() or 0)
        raise source.error(
            f"{shown(series[row])} is no score",
            row=row,
            field=series.name,
            fix="Write a number, C, P, I or N there, or name the scores to take with metrics=",
        )
    return grades


def _by_key(series: pl.Series) -> dict[str, pl.Series]:
    decoded = [_object(text) for text in series.to_list()]
    keys = dict.fromkeys(key for values in decoded for key in values)
    return {
        key: to_series(key, np.fromiter((values.get(key) for values in decoded), object, len(decoded)))[0]
        for key in keys
    }


def _object(text: str | None) -> dict[str, Any]:
    try:
        value = json.loads(text) if text else {}
    except json.JSONDecodeError:
        return {}
    return value if isinstance(value, dict) else {}
