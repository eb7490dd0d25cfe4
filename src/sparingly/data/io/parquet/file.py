"""A Parquet file, looked at column by column, so that no more of it is in memory than is being read."""

from __future__ import annotations

import io
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sparingly.base.errors import InputError
from sparingly.data import files, limits

if TYPE_CHECKING:
    import polars as pl

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
        import polars as pl

        with self._naming():
            return pl.read_parquet_metadata(self._source())

    @cached_property
    def schema(self) -> Mapping[str, pl.DataType]:
        """The columns that a person gave the table, with their types."""
        import polars as pl

        with self._naming():
            schema = pl.read_parquet(self._source(), n_rows=0, glob=False).schema
            limits.check_columns(self.path, len(schema))
            rows = int(pl.scan_parquet(self._source(), glob=False).select(pl.len()).collect().item())
        limits.check_rows(self.path, rows, len(schema), self._size)
        return {name: kind for name, kind in schema.items() if not name.startswith(_NAMELESS_INDEX)}

    @property
    def names(self) -> list[str]:
        """The names of the columns."""
        return list(self.schema)

    def column(self, name: str) -> pl.Series:
        """Read one column."""
        import polars as pl

        with self._naming():
            series = pl.read_parquet(self._source(), columns=[name], glob=False).to_series()
        if series.dtype == pl.String:
            # A text that stands in the file once may be that of every row.
            limits.check_text(self.path, int(series.str.len_bytes().sum() or 0), self._size, name)
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
        import polars as pl

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
