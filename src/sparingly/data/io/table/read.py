"""An evaluation set from a long table: one row for each item and model, or for each rating of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.data import fields, limits
from sparingly.data.build import build
from sparingly.data.evalset import EvalSet
from sparingly.data.io.objects import to_objects
from sparingly.data.io.table.groups import Grid, Names
from sparingly.data.io.table.numbers import are_words, is_numeric, mostly_numbers, numbers, scores, typed
from sparingly.data.io.table.ratings import rating_table
from sparingly.data.io.table.roles import ITEM_COLUMNS, Roles, roles_of
from sparingly.data.io.table.source import Source, in_file
from sparingly.data.io.words import SCALE
from sparingly.data.store import Scale
from sparingly.data.tables import Ratings

if TYPE_CHECKING:
    import polars as pl

REFERENCE = "reference"
_TWICE = 'Two columns are to be "{}". Leave one out with columns=.'
_TELL_METRICS = "Leave it empty if missing, or tell the columns of the metrics with metrics=a,b"


def read_long(
    source: Source, options: Mapping[str, Any], clashes: Mapping[str, str] | None = None
) -> EvalSet:
    """Read an evaluation set from a table; ``clashes`` are ids met both as a number and as a text."""
    try:
        roles = roles_of(source.names, options)
    except InputError as error:
        raise error.at(file=source.file) from None
    for part in ("item", "model", "rater"):
        name = roles.single.get(part, "")
        if clashes and name in clashes:
            raise source.wrong(
                f'the {part} {clashes[name]} is written as a number and as the text "{clashes[name]}"',
                field=name,
                fix="Write ids in one way",
            )
    try:
        return _Reader(source, roles).evaluation_set()
    except (InputError, UsageError):
        raise
    except DataError as error:
        raise in_file(error, source.file) from None


class _Reader:
    """Reads one column after the other onto the grid of items and models."""

    def __init__(self, source: Source, roles: Roles) -> None:
        self.source, self.roles = source, roles
        self.grid = Grid(source, self._names("item"), self._names("model"))
        kinds = len(roles.metrics) + len(roles.aspects) + len(roles.cells) + len(roles.rest)
        limits.check_places(source.file, *self.grid.shape, kinds)
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
            if (taken := roles.single.get(name)) is not None:
                self._take_column(name, grid.per_item(self._column(taken, name)))
        for name, column in roles.cells.items():
            self.cells[name] = grid.objects(self._column(column))
        for column in roles.rest:
            self._take_rest(column)
        aspects = {
            name: grid.scores(column, self._scores(column, fields.aspect(name)))
            for name, column in ({} if roles.are_ratings else roles.aspects).items()
        }
        ratings = self._ratings() if roles.are_ratings else Ratings()
        output = roles.single.get("output")
        return build(
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

    def _names(self, part: str) -> Names:
        return Names.of(self.source.column(self.roles.single[part]), part, self.source)

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
        import polars as pl

        series = self.source.column(column)
        if series.dtype in (pl.String, pl.Categorical, pl.Enum, pl.Null):
            return series.cast(pl.String)
        raise self.source.wrong(f"texts are wanted, not {series.dtype}", field=column)

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
        import polars as pl

        series = self.source.column(column)
        if name in fields.TEXT_COLUMNS:
            return series.cast(pl.String)
        if name in fields.NUMBER_COLUMNS:
            return pl.Series(column, numbers(series, self.source)).fill_nan(None)
        series = typed(series, self.source)
        return series.fill_nan(None) if series.dtype.is_float() else series

    def _take_column(self, name: str, values: pl.Series) -> None:
        import polars as pl

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
        numeric = self.roles.guess_metrics and self._means_numbers(series)
        by_item, differs = grid.by_item.same(series)
        if differs is None and (grid.compares or not numeric):
            self._take_column(column, by_item)
        elif grid.repeats and grid.by_cell.same(series)[1] is not None:
            self.extra[column] = series
        elif numeric:
            self.metrics[column] = grid.scores(column, numbers(series, self.source, fix=_TELL_METRICS))
        elif column in self.cells:
            raise UsageError(_TWICE.format(column))
        else:
            self.cells[column] = grid.objects(series)

    def _means_numbers(self, series: pl.Series) -> bool:
        """Say whether a further column holds numbers, or texts most of which are numbers."""
        import polars as pl

        return mostly_numbers(series, self.source) if series.dtype == pl.String else is_numeric(series)
