"""Our own Parquet: one row an item, in the words of the package.

Columns: ``item``, ``source``, ``document``, ``position``, ``domain``, ``cost``, ``weight`` and any other
column of the items under its own name (``column:NAME`` where that name has a meaning here); ``references``
and ``outputs``, lists of texts in the order of the header's references and models; ``metric:NAME`` and
``aspect:NAME``, as many numbers as there are models; ``reference_aspect:NAME``, as many as there are
references; ``cell:NAME``, a value a model; ``ratings``, ``preferences`` and ``repeats``, lists of records
with the keys of the package's JSON Lines (``metric:NAME`` and ``aspect:NAME`` for scores of repeats). The
key-value metadata says ``format`` (sparingly/evalset), ``version``, ``models``, ``references``, the columns
that hold JSON (``json``), those whose numbers are kept as they came (``objects``), and the lowest and highest
possible scores where these are known (``scales``).
"""

from __future__ import annotations

import io
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.catalogue import register
from sparingly.base.errors import DataError, InputError, UnknownNameError
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.columns import in_file, to_objects, to_series
from sparingly.data.io.format import Format, Head, Options
from sparingly.data.io.jsonl import (
    FORMAT,
    PREFERENCE,
    RATING,
    VERSION,
    JsonLines,
    judgement_columns,
    names_at,
)
from sparingly.data.scale import Scale
from sparingly.data.tables import Preferences, Ratings, Repeats, epoch_order
from sparingly.data.values import as_scale, check_version

_PARTS = {
    "metric": "metrics",
    "aspect": "aspects",
    "reference_aspect": "reference_aspects",
    "cell": "cells",
    "column": "columns",
}


@register("parquet")
class Parquet(Format):
    """The package's own Parquet."""

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
            return _ParquetReader(file, _Header.from_file(file)).evaluation_set()
        except InputError as error:
            raise error.at(file=path) from None
        except (DataError, UnknownNameError) as error:
            raise in_file(error, path) from None

    def write(self, data: EvalSet, path: Path) -> None:
        """Write the set in the order of the file that it came from."""
        rows, header = to_rows(data)
        metadata = {"format": FORMAT, "version": str(VERSION), **header}
        files.write_atomically(path, lambda file: rows.write_parquet(file, metadata=metadata))


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
    def from_file(cls, file: ParquetFile) -> _Header:
        metadata = file.metadata
        if "format" not in metadata:
            raise InputError(
                "this Parquet file is not one of sparingly's own",
                fix="Load a table with one row for each item and model with the format table",
            )
        version = metadata.get("version", "")
        record = {"format": metadata["format"], "version": int(version) if version.isdigit() else version}
        check_version(record, FORMAT, VERSION)
        names = {key: _listed(metadata, key) for key in ("models", "references", "json", "objects")}
        scales = _parsed(metadata, "scales", "{}")
        if not isinstance(scales, dict):
            raise InputError("expected a JSON object", field="metadata scales")
        return cls(
            names["models"],
            names["references"],
            frozenset(names["json"]),
            frozenset(names["objects"]),
            ({name: as_scale(ends, f"metadata scales.{name}") for name, ends in scales.items()}),
        )


def _listed(metadata: Mapping[str, str], key: str) -> list[str]:
    names = _parsed(metadata, key, "[]")
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        raise InputError("expected a JSON list of names", field=f"metadata {key}")
    return names


def _parsed(metadata: Mapping[str, str], key: str, default: str) -> Any:
    try:
        return json.loads(metadata.get(key, default))
    except json.JSONDecodeError:
        return None


class _ParquetReader:
    """Reads one column after the other, each straight into the order of the ids."""

    def __init__(self, file: ParquetFile, header: _Header) -> None:
        self.file, self.header = file, header
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
        ids = ids.cast(pl.String)
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
                series = self.file.column(name)
                if series.dtype != pl.String:
                    raise InputError(f"expected texts, not {series.dtype}", field=series.name)
                parts["sources"] = self._rows(to_objects(series))
            elif name == "outputs":
                parts["outputs"] = self._lists(name, len(self.header.models))
            elif name == "references":
                references = self._lists(name, len(self.header.references))
            elif name in ("ratings", "preferences", "repeats"):
                parts[name] = self._records(name)
            elif name != "item":
                self._take(parts, name)
        parts["references"] = {
            name: [None] * self.count if references is None else references[:, code]
            for code, name in enumerate(self.header.references)
        }
        return EvalSet.from_arrays(
            self.items,
            self.header.models,
            **parts,
            file_order=self.order,
            scales=self.header.scales,
            name=str(self.file.path),
            owned=True,
        )

    def _take(self, parts: dict[str, Any], name: str) -> None:
        kind, _, part_name = name.partition(":")
        if kind not in _PARTS or not part_name:
            kind, part_name = "column", name
        part = parts[_PARTS[kind]]
        if kind in ("metric", "aspect"):
            part[part_name] = self._numbers(name, len(self.header.models))
        elif kind == "reference_aspect":
            part[part_name] = self._numbers(name, len(self.header.references))
        elif kind == "cell":
            part[part_name] = self._lists(name, len(self.header.models))
        else:
            part[part_name] = self._column(name)

    def _numbers(self, name: str, width: int) -> Floats:
        series, array_type = self.file.column(name), pl.Array(pl.Float64, width)
        try:
            series = series if series.dtype == array_type else series.cast(array_type)
        except pl.exceptions.PolarsError:
            raise InputError(f"expected {width} numbers per item, not {series.dtype}", field=name) from None
        numbers, start = np.empty((self.count, width)), 0
        for chunk in series.get_chunks():
            stop = start + len(chunk)
            rows = slice(start, stop) if self.in_order else self.place[start:stop]
            numbers[rows] = chunk.to_numpy().reshape(len(chunk), width)
            start = stop
        return numbers

    def _column(self, name: str) -> NDArray[Any]:
        series = self.file.column(name)
        if (series.dtype.is_numeric() or series.dtype.is_decimal()) and name not in self.header.objects:
            return self._rows(series.cast(pl.Float64).to_numpy())
        return self._rows(to_objects(series, name in self.header.json))

    def _lists(self, name: str, width: int) -> Objects:
        """Return a column of lists as items x width; an item without a list has none of the values."""
        series = self.file.column(name)
        if isinstance(series.dtype, pl.Array):
            series = series.arr.to_list()
        if not isinstance(series.dtype, pl.List):
            raise InputError(f"expected lists of {width} values, not {series.dtype}", field=name)
        has_other_length = (series.list.len() != width).fill_null(False)
        if has_other_length.any():
            row = int(has_other_length.arg_max() or 0)
            raise InputError(f"the list in row {row + 1} has not {width} values", field=name)
        values = np.full((self.count, width), None, object)
        if width:
            present = series.is_not_null().to_numpy()
            flat = series.drop_nulls().explode()
            values[self.place[present]] = to_objects(flat, name in self.header.json).reshape(-1, width)
        return values

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.in_order else values[self.order]

    def _records(self, name: str) -> Ratings | Preferences | Repeats:
        series = self.file.column(name)
        if not isinstance(series.dtype, pl.List) or not isinstance(series.dtype.inner, pl.Struct):
            raise InputError(f"expected lists of records, not {series.dtype}", field=name)
        frame = pl.DataFrame([pl.Series("row", self.place), series]).explode(name).drop_nulls(name)
        item = frame.get_column("row").to_numpy().astype(np.int32)
        records = frame.get_column(name).struct.unnest()
        table = Records(name, records, self.header.models, self.header.references, self.header.json)
        if name == "repeats":
            return table.repeats(item)
        return table.ratings(item) if name == "ratings" else table.preferences(item)


# --- A Parquet file, read column by column to save memory -----------------------------------------

MAGIC = b"PAR1"
# pandas keeps an index without a name as a column of its own.
_NAMELESS_INDEX = "__index_level_"


class ParquetFile:
    """The schema, the key-value metadata and the columns of a Parquet file (itself perhaps packed)."""

    def __init__(self, path: Path) -> None:
        self.path = path

    @cached_property
    def metadata(self) -> Mapping[str, str]:
        """The key-value metadata."""
        with self._naming():
            return pl.read_parquet_metadata(self._source())

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns that a person gave the table, with their types."""
        with self._naming():
            schema = pl.read_parquet(self._source(), n_rows=0, glob=False).schema
            files.check_columns(self.path, len(schema))
            rows = int(pl.scan_parquet(self._source(), glob=False).select(pl.len()).collect().item())
        files.check_rows(self.path, rows, len(schema), self._size)
        return {name: kind for name, kind in schema.items() if not name.startswith(_NAMELESS_INDEX)}

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    def column(self, name: str) -> pl.Series:
        """Read one column."""
        with self._naming():
            series = pl.read_parquet(self._source(), columns=[name], glob=False).to_series()
        if series.dtype == pl.String:
            # A text that stands in the file once may be that of every row.
            files.check_text(self.path, int(series.str.len_bytes().sum() or 0), self._size, name)
        return series

    @cached_property
    def _size(self) -> int:
        return self.path.stat().st_size

    def _source(self) -> Path | io.BytesIO:
        if self._content is None:
            return self.path
        return io.BytesIO(self._content)

    @cached_property
    def _content(self) -> bytes | None:
        """The unpacked bytes of a file that was compressed whole; None for a plain one."""
        with files.naming(self.path):
            with self.path.open("rb") as file:
                if file.read(len(MAGIC)) == MAGIC:
                    return None
            with files.open_binary(self.path) as packed:
                return packed.read()

    @contextmanager
    def _naming(self) -> Iterator[None]:
        damaged: tuple[Any, ...] = (pl.exceptions.PolarsError, pl.exceptions.PanicException)
        try:
            yield
        except damaged as error:
            reason = str(error).strip().splitlines()[0].rstrip(".")
            raise InputError(
                f"the Parquet file cannot be read ({reason})",
                file=self.path,
                fix="Is it cut off? Copy or write it again",
            ) from None


def parquet_names(start: bytes, path: Path) -> list[str] | None:
    """Return the columns of a file that begins like Parquet, or None when it is none or cannot be read."""
    if not start.startswith(MAGIC):
        return None
    try:
        return ParquetFile(path).names
    except InputError:
        return None


# --- Writing --------------------------------------------------------------------------------------

SINGLE = ("item", "source", "outputs", "references", "ratings", "preferences", "repeats")
KINDS = ("metric", "aspect", "reference_aspect", "cell", "column")


def to_rows(data: EvalSet) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the rows in the order of the file that the set came from, and the header's further entries."""
    writer = _Writer(data)
    columns = [writer.items(), *writer.columns(), *writer.texts(), *writer.scores(), *writer.cells()]
    columns += [*writer.judgements(), *writer.repeats()]
    header: dict[str, Any] = {
        "models": list(data.models),
        "references": list(data.references),
        "json": writer.as_json,
        "objects": writer.as_objects,
        "scales": {name: list(ends) for name, ends in data.scales.items()},
    }
    return pl.DataFrame(columns), {
        name: json.dumps(value, ensure_ascii=False) for name, value in header.items()
    }


class _Writer:
    """Makes the columns one kind at a time and remembers which were written in another form."""

    def __init__(self, data: EvalSet) -> None:
        self.data = data
        order = data.file_order
        self.in_order = bool((order == np.arange(len(order))).all())
        self.order: Ints = order
        self.as_json: list[str] = []
        self.as_objects: list[str] = []

    def items(self) -> pl.Series:
        return self._text("item", self.data.items)

    def columns(self) -> list[pl.Series]:
        series = []
        if self.data.sources is not None:
            series.append(self._text("source", self.data.sources))
        for name, values in self.data.columns.items():
            # The name of an item column in a file, kept apart from the names that the format uses.
            file_name = f"column:{name}" if name in SINGLE or name.partition(":")[0] in KINDS else name
            series.append(self._values(file_name, self._rows(values)))
            if values.dtype == object and series[-1].dtype.is_numeric():
                self.as_objects.append(file_name)
        return series

    def texts(self) -> list[pl.Series]:
        arrays = {"references": self.data.reference_texts, "outputs": self.data.outputs}
        return [self._lists(name, texts) for name, texts in arrays.items() if texts is not None]

    def scores(self) -> list[pl.Series]:
        arrays = {"metric": self.data.metrics, "aspect": self.data.aspects}
        arrays["reference_aspect"] = self.data.reference_aspects
        return [
            pl.Series(f"{kind}:{name}", np.ascontiguousarray(self._rows(scores)))
            for kind, matrices in arrays.items()
            for name, scores in matrices.items()
        ]

    def cells(self) -> list[pl.Series]:
        return [self._lists(f"cell:{name}", values) for name, values in self.data.cells.items()]

    def judgements(self) -> list[pl.Series]:
        tables: tuple[tuple[str, Ratings | Preferences, tuple[str, ...]], ...] = (
            ("ratings", self.data.ratings, RATING),
            ("preferences", self.data.preferences, PREFERENCE),
        )
        columns = judgement_columns(self.data)
        return [self._table(name, table, columns[name], own) for name, table, own in tables if len(table)]

    def repeats(self) -> list[pl.Series]:
        table = self.data.repeats
        if not len(table):
            return []
        columns = {
            "model": names_at(self.data.models, table.model),
            "epoch": names_at(table.epochs, table.epoch),
            **({} if table.output is None else {"output": table.output}),
            **table.scores,
        }
        return [self._table("repeats", table, columns, ())]

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.in_order else values[self.order]

    def _text(self, name: str, values: Objects) -> pl.Series:
        series, as_json = to_series(name, self._rows(values))
        if as_json:
            raise DataError(f'The column "{name}" holds something that is not text.')
        return series

    def _values(self, name: str, values: NDArray[Any]) -> pl.Series:
        series, as_json = to_series(name, values)
        if as_json:
            self.as_json.append(name)
        return series

    def _lists(self, name: str, values: Objects) -> pl.Series:
        """Return a list an item, one value a model or reference."""
        flat = self._values(name, self._rows(values).ravel())
        return flat.reshape(values.shape).arr.to_list()

    def _table(
        self,
        name: str,
        table: Ratings | Preferences | Repeats,
        columns: Mapping[str, NDArray[Any]],
        reserved: tuple[str, ...],
    ) -> pl.Series:
        """Return a list an item, one record a judgement or a repeated output."""
        further = {} if isinstance(table, Repeats) else table.extra
        extra = {
            f"extra:{key}" if key in reserved or key.startswith("extra:") else key: values
            for key, values in further.items()
        }
        series = [
            self._values(f"{name}.{key}", values).alias(key) for key, values in {**columns, **extra}.items()
        ]
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        records = pl.DataFrame(series).to_struct(name)
        grouped = (
            pl.DataFrame([pl.Series("row", place[table.item]), records])
            .sort("row", maintain_order=True)
            .group_by("row", maintain_order=True)
            .agg(pl.col(name))
        )
        rows = pl.DataFrame({"row": np.arange(len(self.order))})
        return rows.join(grouped, on="row", how="left", maintain_order="left").get_column(name)


# --- Reading judgements ---------------------------------------------------------------------------


class Records:
    """The records of a column of judgements or of repeated outputs."""

    def __init__(
        self,
        name: str,
        frame: pl.DataFrame,
        models: list[str],
        references: list[str],
        json: frozenset[str],
    ) -> None:
        self.name, self.frame = name, frame
        self.models, self.references, self.json = models, references, json

    def ratings(self, item: NDArray[np.int32]) -> Ratings:
        """Return the records as ratings of the given items."""
        models = self._codes("model", self.models, "model")
        references = self._codes("reference", self.references, "reference")
        if ((models >= 0) == (references >= 0)).any():
            raise InputError("a rating needs either a model or a reference", field=self.name)
        (rater, raters), (aspect, aspects) = self._coded("rater"), self._coded("aspect")
        return Ratings(
            item=item,
            model=np.where(models >= 0, models, references + len(self.models)).astype(np.int32),
            rater=rater,
            aspect=aspect,
            score=self._numbers("score"),
            seconds=self._numbers("seconds"),
            comment=to_objects(self.frame.get_column("comment")) if "comment" in self.frame.columns else None,
            raters=raters,
            aspects=aspects,
            extra=self._extra(RATING),
        )

    def preferences(self, item: NDArray[np.int32]) -> Preferences:
        """Return the records as preferences about the given items."""
        first = self._codes("first", self.models, "model")
        second = self._codes("second", self.models, "model")
        if (first < 0).any() or (second < 0).any():
            raise InputError("a preference needs its first and its second model", field=self.name)
        (rater, raters), (aspect, aspects) = self._coded("rater"), self._coded("aspect")
        return Preferences(
            item=item,
            first=first,
            second=second,
            value=self._numbers("value"),
            rater=rater,
            aspect=aspect,
            seconds=self._numbers("seconds"),
            raters=raters,
            aspects=aspects,
            extra=self._extra(PREFERENCE),
        )

    def repeats(self, item: NDArray[np.int32]) -> Repeats:
        """Return the records as repeated outputs of the given items."""
        models = self._codes("model", self.models, "model")
        epoch, names = self._coded("epoch")
        if (models < 0).any() or (epoch < 0).any():
            raise InputError("a repeat needs a model and an epoch", field=self.name)
        epochs = epoch_order(names)
        has_output = "output" in self.frame.columns
        return Repeats(
            item=item,
            model=models,
            epoch=np.array([epochs.index(name) for name in names], np.int32)[epoch],
            epochs=epochs,
            output=to_objects(self.frame.get_column("output").cast(pl.String)) if has_output else None,
            scores={
                key: self._numbers(key)
                for key in self.frame.columns
                if key.startswith(("metric:", "aspect:"))
            },
        )

    def _numbers(self, key: str) -> Floats:
        if key not in self.frame.columns:
            return np.full(len(self.frame), np.nan)
        series = self.frame.get_column(key)
        if not (series.dtype.is_numeric() or series.dtype == pl.Null):
            raise InputError(f"expected numbers, not {series.dtype}", field=f"{self.name}.{key}")
        return np.array(series.cast(pl.Float64).to_numpy())

    def _coded(self, key: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        if key not in self.frame.columns:
            return np.full(len(self.frame), -1, np.int32), ()
        names = self.frame.get_column(key).cast(pl.String).drop_nulls().unique().sort().to_list()
        return self._codes(key, names, key), tuple(names)

    def _codes(self, key: str, names: list[str], kind: str) -> NDArray[np.int32]:
        """Return positions in the names, -1 where there is none."""
        if key not in self.frame.columns:
            return np.full(len(self.frame), -1, np.int32)
        series = self.frame.get_column(key).cast(pl.String)
        unknown = set(series.drop_nulls().unique()) - set(names)
        if unknown:
            raise UnknownNameError(kind, min(unknown), names)
        codes = series.cast(pl.Enum(names)).to_physical().cast(pl.Int32)
        return np.array(codes.fill_null(-1).to_numpy(), np.int32)

    def _extra(self, own_keys: tuple[str, ...]) -> dict[str, Objects]:
        return {
            key.removeprefix("extra:"): to_objects(
                self.frame.get_column(key), f"{self.name}.{key}" in self.json
            )
            for key in self.frame.columns
            if key not in own_keys
        }
