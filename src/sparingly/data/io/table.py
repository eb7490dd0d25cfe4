"""Long tables: one row for each item and model, as CSV, TSV, Parquet, or a frame of pandas, polars or Arrow.

A column's part is told by an option (``item=segment``, ``metrics=chrF,COMET``), by a prefix (``metric:chrF``,
``aspect:fluency``, ``reference:refB``, ``cell:seed``, ``column:year``; a full stop does as well as the
colon), or by a usual name in any spelling (``item_id``, ``System``, ``src``, ``hypothesis``, ``doc_id``,
``annotator`` …). Further columns are kept: one that is the same for all models of an item as a column of the
items, any other as a cell column; but where neither ``metrics=`` nor a prefix tells the metrics, one of
numbers is a metric (an empty ``metrics=`` says that there are none). With a column of raters (or of aspects)
and one of scores, or with raters and ``aspects=``, a row is a rating; a score that is text is kept as a
comment. Metrics, aspects and scores in two-valued words (pass and fail, yes and no …) are read as 1 and 0.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, InputError, UnknownNameError, UsageError
from sparingly.base.lazy import LazyModule
from sparingly.data import fields, files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.columns import (
    CellGrid,
    CodedNames,
    Codes,
    TableSource,
    are_words,
    coded,
    from_words,
    in_file,
    is_numeric,
    mostly_numbers,
    numbers,
    parsed_texts,
    scores,
    typed,
)
from sparingly.data.io.csv_text import SEPARATORS, CsvText
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.frames import to_objects, to_polars, to_series
from sparingly.data.io.parquet import MAGIC, ParquetFile, is_ours, parquet_names
from sparingly.data.io.roles import ITEM_COLUMNS, Roles, are_samples, has_part, looks_long, roles_of
from sparingly.data.io.words import SCALE, word_kind
from sparingly.data.scale import Scale
from sparingly.data.tables import Ratings
from sparingly.data.values import EXACT

if TYPE_CHECKING:
    import polars as pl
else:
    pl = LazyModule("polars")

_COLUMNS = {
    "item": "the column of the items",
    "model": "the column of the models",
    "output": "the column of the outputs",
    "source": "the column of the sources",
    "reference": "the column of the references",
    "document": "the column of the documents",
    "position": "the column of the places in the document",
    "domain": "the column of the domains",
    "cost": "the column of the costs",
    "weight": "the column of the importance weights",
    "rater": "the column of the raters; rows are then ratings",
    "score": "the column of the ratings' scores",
    "aspect": "the column of the ratings' aspects",
    "seconds": "the column of the ratings' seconds",
    "comment": "the column of the ratings' comments",
    "metrics": "the columns of the metrics: a,b,c (further numbers unless said; empty for none)",
    "aspects": "the columns of what people judged: a,b,c",
    "columns": "the further columns to keep: a,b,c (all unless said)",
}
_TEXT = {
    "separator": "what separates the fields of a text file: a character, or comma, tab, semicolon, pipe",
    "quote": 'the quote character of a text file (" unless said); empty when there is no quoting',
}


@register("table")
class LongTable(Format):
    """One row for each item and model, or for each rating of them."""

    summary: ClassVar[str] = "CSV, TSV or Parquet with one row for each item and model"
    extensions: ClassVar[tuple[str, ...]] = (".csv", ".tsv")
    options: ClassVar[dict[str, str]] = {**_COLUMNS, **_TEXT}
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = frozenset(
        {"metric:*", "aspect:*", "column:*", "cell:*", "sources", "outputs", "references", "empty"}
    )

    def recognises(self, head: Head) -> bool:
        """Take tables that no other format knows: by their extension, or by columns of items and models."""
        if head.is_directory or head.content.startswith((b"{", b"[")):
            return False
        if head.start.startswith(MAGIC):
            names = parquet_names(head.start, head.path)
            return names is not None and not _is_known(names) and not is_ours(head.path)
        return not _is_known(head.header) and (head.extension in self.extensions or looks_long(head.header))

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the table column by column."""
        return read_long(source_of(path, options), options)

    def write(self, data: EvalSet, path: Path) -> None:
        """Write a row for each item and model, items in the order of the file that they came from."""
        frame, kind = to_frame(data), files.extension(path)
        if kind == ".parquet":
            files.write_atomically(path, frame.write_parquet)
        else:
            separator = "\t" if kind == ".tsv" else ","
            files.write_atomically(path, lambda file: frame.write_csv(file, separator=separator))

    def losses(self, data: EvalSet) -> list[str]:
        """Return what a table has no room for, and columns whose values turn into texts."""
        return [*super().losses(data), *changed_by_writing(data)]


def _is_known(names: list[str]) -> bool:
    """Say whether the columns are those of inspect_ai's samples or of comparisons of two models."""
    return are_samples(names) or {"model_a", "model_b"} <= set(names)


def from_frame(frame: Any, **options: Any) -> EvalSet:
    """Make an evaluation set of a long frame: one row for each item and model.

    Args:
        frame: A frame of pandas or polars, or an Arrow table.
        options: Which column is what, as for a long table in a file: ``item``, ``model``, ``output``,
            ``source``, ``reference``, ``document``, ``position``, ``domain``, ``cost``, ``weight``,
            ``metrics``, ``aspects``, ``rater``, ``score``, ``aspect``, ``seconds``, ``comment``, ``columns``.

    Examples:
        >>> import polars
        >>> import sparingly
        >>> frame = polars.DataFrame({
        ...     "segment_id": ["a", "a", "b", "b"], "system": ["tiny", "large", "tiny", "large"],
        ...     "chrF": [40.0, 60.0, 55.0, 50.0],
        ... })
        >>> sparingly.from_frame(frame)
        EvalSet(2 items x 2 models; metrics: chrF)
    """
    for name in options:
        if name not in _COLUMNS:
            raise UnknownNameError("option of from_frame", name, _COLUMNS)
    converted = to_polars(frame)
    polars_frame = converted.frame
    return read_long(
        TableSource("the frame", polars_frame.columns, polars_frame.get_column), options, converted.clashes
    )


def source_of(path: Path, options: Options) -> TableSource:
    """Open a table file, whichever kind it is."""
    if Head(path).start.startswith(MAGIC):
        file = ParquetFile(path)
        return TableSource(path, file.names, file.column)
    separator, quote = options.get("separator"), options.get("quote", '"')
    separator = SEPARATORS.get(str(separator), separator)
    for name, value in (("separator", separator), ("quote", quote or None)):
        if value is not None and len(value) != 1:
            raise UsageError(f'The {name} "{value}" is not one character.')
    return CsvText(path, separator, quote or None).source()


# --- Reading ratings ------------------------------------------------------------------------------


def rating_table(
    source: TableSource, roles: Roles, grid: CellGrid, extra: Mapping[str, pl.Series]
) -> tuple[Ratings, tuple[str, ...]]:
    """Return one rating for each row and column of scores, and the aspects whose scores were words.

    Two-valued words (pass and fail, yes and no …) are scores where a column has no numbers and at least half
    of its texts are such words; any other text becomes a comment. A row without a score and without a comment
    is no rating.
    """
    table = _RatingColumns(source, roles, grid, extra)
    ratings = table.ratings()
    return ratings, table.worded_aspects(ratings)


class _RatingColumns:
    def __init__(
        self, source: TableSource, roles: Roles, grid: CellGrid, extra: Mapping[str, pl.Series]
    ) -> None:
        self.source, self.roles, self.grid, self.extra = source, roles, grid, extra
        self.count = len(grid.items.codes)
        self.worded: set[str] = set()

    def worded_aspects(self, ratings: Ratings) -> tuple[str, ...]:
        """Return the aspects whose column held words; a column of several aspects tells it of all of them."""
        score = self.roles.single.get("score")
        of_one = self.roles.single.get("aspect") is not None and len(self.roles.aspects) == 0
        if of_one and score in self.worded:
            return ratings.aspects
        columns = {} if score is None else {score: score}
        columns |= self.roles.aspects
        return tuple(name for name, column in columns.items() if column in self.worded)

    def ratings(self) -> Ratings:
        scored = dict(self.roles.aspects)
        if (score := self.roles.single.get("score")) is not None:
            scored = {score: score, **scored}
        # A row's own comment goes with its first score, so that it is counted once.
        remarks = [self._comments(), *(np.full(self.count, None, object) for _ in range(len(scored) - 1))]
        judged = [self._scores(*pair) for pair in zip(scored.values(), remarks, strict=True)]
        rows_by_column = [
            np.flatnonzero(~np.isnan(score) | _is_present(comment)) for score, comment in judged
        ]
        rows = np.concatenate(rows_by_column)
        comment = np.concatenate(
            [texts[column_rows] for (_, texts), column_rows in zip(judged, rows_by_column, strict=True)]
        )
        raters, rater = self._coded("rater")
        aspects, aspect = self._aspects(list(scored), rows_by_column)
        return Ratings(
            item=self.grid.items.codes[rows],
            model=self.grid.models.codes[rows],
            rater=rater[rows],
            aspect=aspect,
            score=np.concatenate(
                [score[column_rows] for (score, _), column_rows in zip(judged, rows_by_column, strict=True)]
            ),
            seconds=self._seconds()[rows],
            comment=comment if _is_present(comment).any() else None,
            raters=tuple(raters),
            aspects=tuple(aspects),
            extra={name: to_objects(series)[rows] for name, series in self.extra.items()},
        )

    def _scores(self, column: str, comments: Objects) -> tuple[Floats, Objects]:
        """Return the scores, and the comments with the texts that stand where a score was to be."""
        series = self.source.column(column)
        if series.dtype != pl.String:
            self.worded |= {column} if series.dtype == pl.Boolean else set()
            return numbers(series, self.source), comments
        parsed, is_text = parsed_texts(series)
        texts = series.filter(is_text)
        if not parsed.count() and 2 * sum(word_kind(text) is not None for text in texts) >= len(texts) > 0:
            words = from_words(series, self.source)
            self.worded.add(column)
            return numbers(series if words is None else words, self.source), comments
        for row in np.flatnonzero(is_text.to_numpy()).tolist():
            text = series[row]
            comments[row] = text if comments[row] is None else f"{text} | {comments[row]}"
        return numbers(parsed, self.source), comments

    def _comments(self) -> Objects:
        column = self.roles.single.get("comment")
        if column is None:
            return np.full(self.count, None, object)
        return np.array(to_objects(self.source.column(column).cast(pl.String)), object)

    def _seconds(self) -> Floats:
        column = self.roles.single.get("seconds")
        if column is None:
            return np.full(self.count, np.nan)
        return numbers(self.source.column(column), self.source)

    def _coded(self, part: str) -> tuple[list[str], Codes]:
        column = self.roles.single.get(part)
        if column is None:
            return [], np.full(self.count, -1, np.int32)
        series = self.source.column(column)
        if series.dtype.is_float():
            raise self.source.error(f"texts or whole numbers are wanted, not {series.dtype}", field=column)
        texts = series.cast(pl.String)
        return coded(texts.set(texts.str.strip_chars() == "", None))

    def _aspects(self, names: list[str], rows_by_column: list[NDArray[Any]]) -> tuple[list[str], Codes]:
        """Return the names of the aspects and the code of every rating's: of its row, or of its column."""
        if self.roles.single.get("aspect") is not None and len(names) == 1:
            row_aspects, codes = self._coded("aspect")
            return row_aspects, codes[rows_by_column[0]]
        columns = [np.full(len(rows), code, np.int32) for code, rows in enumerate(rows_by_column)]
        return names, np.concatenate(columns)


def _is_present(values: Objects) -> NDArray[np.bool_]:
    return np.fromiter((value is not None for value in values), bool, len(values))


# --- Reading --------------------------------------------------------------------------------------

REFERENCE = "reference"
_TWICE = 'Two columns are to be "{}". Leave one out with columns=.'
_TELL_METRICS = "Leave it empty if missing, or tell the columns of the metrics with metrics=a,b"


def read_long(
    source: TableSource, options: Mapping[str, Any], clashes: Mapping[str, str] | None = None
) -> EvalSet:
    """Read an evaluation set from a table; ``clashes`` are ids met both as a number and as a text."""
    try:
        roles = roles_of(source.names, options)
    except InputError as error:
        raise error.at(file=source.file) from None
    for part in ("item", "model", "rater"):
        name = roles.single.get(part, "")
        if clashes and name in clashes:
            raise source.error(
                f'the {part} {clashes[name]} is written as a number and as the text "{clashes[name]}"',
                field=name,
                fix="Write ids in one way",
            )
    try:
        return _LongTableReader(source, roles).evaluation_set()
    except (InputError, UsageError):
        raise
    except DataError as error:
        raise in_file(error, source.file) from None


class _LongTableReader:
    """Reads one column after the other onto the grid of items and models."""

    def __init__(self, source: TableSource, roles: Roles) -> None:
        self.source, self.roles = source, roles
        self.grid = CellGrid(source, self._names("item"), self._names("model"))
        kinds = len(roles.metrics) + len(roles.aspects) + len(roles.cells) + len(roles.unassigned)
        files.check_places(source.file, *self.grid.shape, kinds)
        if not roles.are_ratings:
            self.grid.check_once()
        self.metrics: dict[str, Any] = {}
        self.columns: dict[str, Any] = {}
        self.cells: dict[str, Any] = {}
        self.extra: dict[str, pl.Series] = {}
        self.scales: dict[str, Scale] = {}

    def evaluation_set(self) -> EvalSet:
        roles, grid = self.roles, self.grid
        for name, column in roles.metrics.items():
            self.metrics[name] = grid.scores(column, self._scores(column, fields.metric(name)))
        for name, column in roles.columns.items():
            self._take_column(name, grid.per_item(self._column(column, name)))
        for name in ITEM_COLUMNS:
            if (item_column := roles.single.get(name)) is not None:
                self._take_column(name, grid.per_item(self._column(item_column, name)))
        for name, column in roles.cells.items():
            self.cells[name] = grid.objects(self._column(column))
        for column in roles.unassigned:
            self._take_rest(column)
        aspects = {
            name: grid.scores(column, self._scores(column, fields.aspect(name)))
            for name, column in ({} if roles.are_ratings else roles.aspects).items()
        }
        ratings = self._ratings() if roles.are_ratings else Ratings()
        output = roles.single.get("output")
        return EvalSet.from_arrays(
            grid.items.names,
            grid.models.names,
            metrics=self.metrics,
            aspects=aspects,
            outputs=grid.objects(self._texts(output)) if output else None,
            sources=self._item_texts(roles.single.get("source")),
            references=self._references(),
            columns=self.columns,
            cells=self.cells,
            ratings=ratings,
            file_order=grid.file_order,
            scales=self.scales,
            name=str(self.source.file),
            owned=True,
        )

    def _names(self, part: str) -> CodedNames:
        return CodedNames.from_series(self.source.column(self.roles.single[part]), part, self.source)

    def _scores(self, column: str, field: str) -> Any:
        series = self.source.column(column)
        if are_words(series, self.source):
            self.scales[field] = SCALE
        return scores(series, self.source)

    def _ratings(self) -> Ratings:
        ratings, worded = rating_table(self.source, self.roles, self.grid, self.extra)
        self.scales |= {fields.aspect(name): SCALE for name in worded}
        return ratings

    def _texts(self, column: str) -> pl.Series:
        series = self.source.column(column)
        if series.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            return series.cast(pl.String)
        raise self.source.error(f"texts are wanted, not {series.dtype}", field=column)

    def _item_texts(self, column: str | None) -> Any:
        return None if column is None else to_objects(self.grid.per_item(self._texts(column)))

    def _references(self) -> dict[str, Any]:
        columns = dict(self.roles.references)
        if (single := self.roles.single.get("reference")) is not None:
            if REFERENCE in columns:
                raise UsageError(_TWICE.format(REFERENCE))
            columns = {REFERENCE: single, **columns}
        return {name: self._item_texts(column) for name, column in columns.items()}

    def _column(self, column: str, name: str | None = None) -> pl.Series:
        """Return a column with null where missing, as texts or numbers if its name in the set wants them."""
        series = self.source.column(column)
        if name in fields.TEXT_COLUMNS:
            return series.cast(pl.String)
        if name in fields.NUMBER_COLUMNS:
            return pl.Series(column, numbers(series, self.source)).fill_nan(None)
        series = typed(series, self.source)
        return series.fill_nan(None) if series.dtype.is_float() else series

    def _take_column(self, name: str, values: pl.Series) -> None:
        if name in self.columns:
            raise UsageError(_TWICE.format(name))
        self.columns[name] = values.cast(pl.Float64).to_numpy() if is_numeric(values) else to_objects(values)

    def _take_rest(self, column: str) -> None:
        """Find out by its values what a further column is.

        The same for every model of an item: a column of the items. Different for one model on one item: it
        belongs to the rating. Else numbers are a metric, unless the metrics were told, and other values
        belong to the cell.
        """
        grid, series = self.grid, self._column(column)
        is_text = series.dtype == pl.String
        numeric = mostly_numbers(series, self.source) if is_text else is_numeric(series)
        numeric = self.roles.guess_metrics and numeric
        by_item, differs = grid.by_item.common_values(series)
        if differs is None and (grid.compares or not numeric):
            self._take_column(column, by_item)
        elif grid.repeats and grid.by_cell.common_values(series)[1] is not None:
            self.extra[column] = series
        elif numeric:
            self.metrics[column] = grid.scores(column, numbers(series, self.source, fix=_TELL_METRICS))
        elif column in self.cells:
            raise UsageError(_TWICE.format(column))
        else:
            self.cells[column] = grid.objects(series)


# --- Writing --------------------------------------------------------------------------------------


def to_frame(data: EvalSet) -> pl.DataFrame:
    """Return the set as a long polars frame, one row for each item and model; missing is null.

    Columns: ``item``, ``model``, ``output``, ``source``, ``reference:NAME``, the columns of the items, then
    ``cell:NAME``, ``metric:NAME`` and ``aspect:NAME``. Ratings, preferences and what people said of the
    references have no place in it.
    """
    if not data.models:
        raise DataError("The set has no models, and a table has a row for each item and model.")
    order, width = data.file_order, len(data.models)
    per_item = [_values("item", data.items[order])]
    if data.sources is not None:
        per_item.append(_values("source", data.sources[order]))
    per_item += _references(data)
    per_item += [
        _as_whole_numbers(_values(_column_name(name, width), values[order]))
        for name, values in data.columns.items()
    ]
    places = np.repeat(np.arange(len(data)), width)
    repeated = [series.gather(places) for series in per_item]
    models = pl.Series("model", list(data.models)).gather(np.tile(np.arange(width), len(data)))
    return pl.DataFrame([repeated[0], models, *_cells(data), *repeated[1:]])


def _column_name(name: str, models: int) -> str:
    """Return the name of an item column in a table, such that reading takes it for one and for no other.

    With a single model nothing tells numbers of the items from those of the model.
    """
    if name in ITEM_COLUMNS or (models > 1 and not has_part(name)):
        return name
    return f"column:{name}"


def changed_by_writing(data: EvalSet) -> list[str]:
    """Return the columns and cell columns whose values are mixed, lists or objects: they turn into texts."""
    arrays = {f"column:{name}": values for name, values in data.columns.items()}
    arrays |= {f"cell:{name}": values.ravel() for name, values in data.cells.items()}
    return [name for name, values in arrays.items() if to_series(name, values)[1]]


def _references(data: EvalSet) -> list[pl.Series]:
    texts = data.reference_texts
    if texts is None:
        return [pl.Series(f"reference:{name}", [None] * len(data), pl.String) for name in data.references]
    return [
        _values(f"reference:{name}", texts[data.file_order, place])
        for place, name in enumerate(data.references)
    ]


def _cells(data: EvalSet) -> list[pl.Series]:
    order = data.file_order
    arrays: dict[str, Any] = {} if data.outputs is None else {"output": data.outputs}
    arrays |= {f"cell:{name}": values for name, values in data.cells.items()}
    arrays |= {f"metric:{name}": values for name, values in data.metrics.items()}
    arrays |= {f"aspect:{name}": values for name, values in data.aspects.items()}
    return [_values(name, values[order].ravel()) for name, values in arrays.items()]


def _values(name: str, values: NDArray[Any]) -> pl.Series:
    """Return values with null where missing."""
    series = to_series(name, values)[0]
    return series.fill_nan(None) if series.dtype == pl.Float64 else series


def _as_whole_numbers(series: pl.Series) -> pl.Series:
    """Return numbers as whole ones where all of them are."""
    if series.dtype != pl.Float64 or not series.drop_nulls().is_between(-EXACT, EXACT).all():
        return series
    return series.cast(pl.Int64) if bool((series.drop_nulls() % 1 == 0).all()) else series
