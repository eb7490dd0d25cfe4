"""Our own Parquet: one row an item, in the words of the package.

Columns: ``item``, ``source``, ``document``, ``position``, ``domain``, ``cost``, ``weight`` and any other
column of the items under its own name (``column:NAME`` where that name has a meaning here); ``references``
and ``outputs``, lists of texts in the order of the header's references and models; ``metric:NAME`` and
``aspect:NAME``, as many numbers as there are models; ``reference_aspect:NAME``, as many as there are
references; ``cell:NAME``, a value a model; ``ratings`` and ``preferences``, lists of records with the keys of
the package's JSON Lines. The key-value metadata says ``format`` (sparingly/evalset), ``version``, ``models``
and ``references``, the columns that hold JSON (``json``), those whose numbers are kept as they came
(``objects``), and the lowest and highest possible scores where these are known (``scales``).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import DataError, InputError, UnknownNameError
from sparingly.data import files
from sparingly.data.build import build
from sparingly.data.evalset import EvalSet
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.jsonl import FORMAT, VERSION, JsonLines
from sparingly.data.io.objects import to_objects
from sparingly.data.io.parquet.file import MAGIC, ParquetFile
from sparingly.data.io.parquet.frame import to_rows
from sparingly.data.io.parquet.records import Records
from sparingly.data.io.table.source import in_file
from sparingly.data.store import Scale
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import as_scale, check_version

if TYPE_CHECKING:
    import polars as pl

_PARTS = {
    "metric": "metrics",
    "aspect": "aspects",
    "reference_aspect": "reference_aspects",
    "cell": "cells",
    "column": "columns",
}


class Parquet(Format):
    """The package's own Parquet."""

    name: ClassVar[str] = "parquet"
    summary: ClassVar[str] = "our own Parquet, one row an item; the quickest for many items"
    extensions: ClassVar[tuple[str, ...]] = (".parquet",)
    writes: ClassVar[bool] = True
    carries: ClassVar[frozenset[str]] = JsonLines.carries

    def recognises(self, head: Head) -> bool:
        """Look for our words in the metadata; a damaged file is explained on reading."""
        if not head.start.startswith(MAGIC):
            return False
        try:
            return is_ours(head.path)
        except InputError:
            return True

    def read(self, path: Path, options: Options) -> EvalSet:
        """Read the file column by column."""
        file = ParquetFile(path)
        try:
            return _Reader(file, _Header.of(file)).evaluation_set()
        except InputError as error:
            raise error.at(file=path) from None
        except (DataError, UnknownNameError) as error:
            raise in_file(error, path) from None

    def write(self, data: EvalSet, path: Path) -> None:
        """Write the set in the order of the file that it came from."""
        rows, header = to_rows(data)

        def put(file: IO[bytes]) -> None:
            rows.write_parquet(file, metadata={"format": FORMAT, "version": str(VERSION), **header})

        files.write_atomically(path, put)


def is_ours(path: Path) -> bool:
    """Say whether a Parquet file says that it holds an evaluation set of this package."""
    return ParquetFile(path).metadata.get("format") == FORMAT


@dataclass(frozen=True)
class _Header:
    """What the metadata says of the columns."""

    models: list[str]
    references: list[str]
    json: frozenset[str]
    objects: frozenset[str]
    scales: dict[str, Scale]

    @classmethod
    def of(cls, file: ParquetFile) -> _Header:
        held = file.metadata
        if "format" not in held:
            raise InputError(
                "this Parquet file is not one of sparingly's own",
                fix="Load a table with one row for each item and model with the format table",
            )
        version = held.get("version", "")
        record = {"format": held["format"], "version": int(version) if version.isdigit() else version}
        check_version(record, FORMAT, VERSION)
        names = {key: _listed(held, key) for key in ("models", "references", "json", "objects")}
        return cls(
            names["models"],
            names["references"],
            frozenset(names["json"]),
            frozenset(names["objects"]),
            _scales(held),
        )


def _listed(metadata: Mapping[str, str], key: str) -> list[str]:
    names = _parsed(metadata, key, "[]")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("a JSON list of names is wanted", field=f"metadata {key}")
    return names


def _scales(metadata: Mapping[str, str]) -> dict[str, Scale]:
    held = _parsed(metadata, "scales", "{}")
    if not isinstance(held, dict):
        raise InputError("a JSON object is wanted", field="metadata scales")
    return {name: as_scale(ends, f"metadata scales.{name}") for name, ends in held.items()}


def _parsed(metadata: Mapping[str, str], key: str, default: str) -> Any:
    try:
        return json.loads(metadata.get(key, default))
    except json.JSONDecodeError:
        return None


class _Reader:
    """Reads one column after the other, each straight into the order of the ids."""

    def __init__(self, file: ParquetFile, header: _Header) -> None:
        self.file, self.header = file, header
        ids = self._ids()
        self.count = len(ids)
        self.in_order = ids.is_sorted()
        self.order: Ints = (
            np.arange(self.count) if self.in_order else ids.arg_sort().to_numpy().astype(np.int64)
        )
        self.place = np.empty(self.count, np.int64)
        self.place[self.order] = np.arange(self.count)
        ids = ids if self.in_order else ids.gather(self.order)
        twice = (ids == ids.shift(1)).fill_null(False)
        if twice.any():
            raise InputError(f'the item "{ids.filter(twice)[0]}" is there twice', field="item")
        self.items = ids.to_list()

    def evaluation_set(self) -> EvalSet:
        parts: dict[str, Any] = {part: {} for part in _PARTS.values()}
        references: Objects | None = None
        for name in self.file.names:
            if name == "source":
                parts["sources"] = self._texts(self.file.column(name))
            elif name == "outputs":
                parts["outputs"] = self._lists(name, len(self.header.models))
            elif name == "references":
                references = self._lists(name, len(self.header.references))
            elif name in ("ratings", "preferences"):
                parts[name] = self._judgements(name)
            elif name != "item":
                self._take(parts, name)
        parts["references"] = {
            name: [None] * self.count if references is None else references[:, code]
            for code, name in enumerate(self.header.references)
        }
        return build(
            self.items,
            self.header.models,
            **parts,
            file_order=self.order,
            scales=self.header.scales,
            name=str(self.file.path),
            owned=True,
        )

    def _ids(self) -> pl.Series:
        import polars as pl

        if "item" not in self.file.schema:
            raise InputError("the items have no ids", field="item", fix="Add the column item")
        ids = self.file.column("item")
        if not (ids.dtype == pl.String or ids.dtype.is_integer()):
            raise InputError(f"ids are texts or whole numbers, not {ids.dtype}", field="item")
        if not len(ids):
            raise InputError("there is no item in it")
        if ids.null_count():
            row = int(ids.is_null().arg_max() or 0)
            raise InputError(f"the item in row {row + 1} has no id", field="item")
        return ids.cast(pl.String)

    def _take(self, parts: dict[str, Any], name: str) -> None:
        kind, _, rest = name.partition(":")
        if kind not in _PARTS or not rest:
            kind, rest = "column", name
        taken = parts[_PARTS[kind]]
        if kind in ("metric", "aspect"):
            taken[rest] = self._numbers(name, len(self.header.models))
        elif kind == "reference_aspect":
            taken[rest] = self._numbers(name, len(self.header.references))
        elif kind == "cell":
            taken[rest] = self._lists(name, len(self.header.models))
        else:
            taken[rest] = self._column(name)

    def _numbers(self, name: str, width: int) -> Floats:
        import polars as pl

        series, wanted = self.file.column(name), pl.Array(pl.Float64, width)
        try:
            series = series if series.dtype == wanted else series.cast(wanted)
        except pl.exceptions.PolarsError:
            raise InputError(f"{width} numbers an item are wanted, not {series.dtype}", field=name) from None
        numbers, start = np.empty((self.count, width)), 0
        for chunk in series.get_chunks():
            stop = start + len(chunk)
            rows = slice(start, stop) if self.in_order else self.place[start:stop]
            numbers[rows] = chunk.to_numpy().reshape(len(chunk), width)
            start = stop
        return numbers

    def _column(self, name: str) -> NDArray[Any]:
        import polars as pl

        series = self.file.column(name)
        if (series.dtype.is_numeric() or series.dtype.is_decimal()) and name not in self.header.objects:
            return self._rows(series.cast(pl.Float64).to_numpy())
        return self._rows(to_objects(series, name in self.header.json))

    def _texts(self, series: pl.Series) -> Objects:
        import polars as pl

        if series.dtype != pl.String:
            raise InputError(f"texts are wanted, not {series.dtype}", field=series.name)
        return self._rows(to_objects(series))

    def _lists(self, name: str, width: int) -> Objects:
        """Return a column of lists as items x width; an item without a list has none of the values."""
        import polars as pl

        series = self.file.column(name)
        if isinstance(series.dtype, pl.Array):
            series = series.arr.to_list()
        if not isinstance(series.dtype, pl.List):
            raise InputError(f"lists of {width} values are wanted, not {series.dtype}", field=name)
        wrong = (series.list.len() != width).fill_null(False)
        if wrong.any():
            row = int(wrong.arg_max() or 0)
            raise InputError(f"the list in row {row + 1} has not {width} values", field=name)
        values = np.full((self.count, width), None, object)
        if width:
            held = series.is_not_null().to_numpy()
            flat = series.drop_nulls().explode()
            values[self.place[held]] = to_objects(flat, name in self.header.json).reshape(-1, width)
        return values

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.in_order else values[self.order]

    def _judgements(self, name: str) -> Ratings | Preferences:
        import polars as pl

        series = self.file.column(name)
        if not isinstance(series.dtype, pl.List) or not isinstance(series.dtype.inner, pl.Struct):
            raise InputError(f"lists of records are wanted, not {series.dtype}", field=name)
        frame = pl.DataFrame([pl.Series("row", self.place), series]).explode(name).drop_nulls(name)
        item = frame.get_column("row").to_numpy().astype(np.int32)
        records = frame.get_column(name).struct.unnest()
        table = Records(name, records, self.header.models, self.header.references, self.header.json)
        return table.ratings(item) if name == "ratings" else table.preferences(item)
