"""The tidy table of a benchmark: one row per set, entry, budget and run, in a Parquet file.

Finished work is kept in small files in a folder beside the table, and put together at the end, so that
an interruption at any moment loses no more than what was being computed. Several runs may write the same
table: each takes away only those files that are in the table it wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from sparingly.base.errors import InputError
from sparingly.bench.replay import FAILED
from sparingly.data.files import naming, naming_target, write_atomically

if TYPE_CHECKING:
    import polars as pl

Row = dict[str, Any]
# The columns and their types.
COLUMNS: Mapping[str, str] = MappingProxyType(
    {
        "set": "String",
        "family": "String",
        "truth": "String",
        "metric": "String",
        "strong": "Boolean",
        "counts": "Boolean",
        "items": "Int64",
        "models": "Int64",
        "entry": "String",
        "method": "String",
        "estimator": "String",
        "p_values": "String",
        "rounds": "Int64",
        "stop": "String",
        "kind": "String",
        "share": "Float64",
        "labels": "Int64",
        "annotation_seconds": "Float64",
        "seed": "Int64",
        "resample": "Int64",
        "signature": "String",
        "seconds": "Float64",
        "peak_mb": "Float64",
        "status": "String",
        "reason": "String",
        "soft_pairwise_accuracy": "Float64",
        "pairwise_accuracy": "Float64",
        "pairwise_accuracy_tied": "Float64",
        "kendall_b": "Float64",
        "top1_match": "Float64",
        "rank_changes": "Int64",
        "mean_absolute_error": "Float64",
        "bias": "Float64",
        "intervals": "Int64",
        "covered": "Int64",
        "width": "Float64",
        "pairs": "Int64",
        "significant": "Int64",
        "wrong_sign": "Int64",
        "stopped_at": "Int64",
        "digest": "String",
        "version": "String",
    }
)
# What a cell is; the last two make it missing again when the data file or the package changes.
CELL = ("set", "entry", "share", "seed", "resample")
ASKED = (*CELL, "truth", "metric", "method", "estimator", "p_values", "rounds", "stop", "digest", "version")
# What differs between two runs of the same cell.
MEASURED_ANEW = ("seconds", "peak_mb")
# A file takes no hour to write: one that is not whole by then belongs to a run that was killed.
_ABANDONED = 3600.0


def frame_of(rows: Iterable[Row]) -> pl.DataFrame:
    """Return rows as a frame with the table's columns."""
    import polars as pl

    schema = {name: getattr(pl, kind) for name, kind in COLUMNS.items()}
    return pl.DataFrame(list(rows), schema=schema, orient="row")


def read_table(path: Path) -> pl.DataFrame:
    """Read a table; one that is not there is empty."""
    import polars as pl

    if not path.exists():
        return frame_of(())
    try:
        with naming(path):
            found = pl.read_parquet(path.read_bytes())
    except pl.exceptions.PolarsError:
        raise InputError("this is no Parquet file", file=path, fix="Name another --out") from None
    lost = [name for name in COLUMNS if name not in found.columns]
    if lost:
        raise InputError(
            f"the table has no column {lost[0]}",
            file=path,
            fix="Is it of another version? Name another --out",
        )
    return found.select(list(COLUMNS))


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """Write a table in the order of its cells, whole or not at all."""

    def put(file: IO[bytes]) -> None:
        frame.sort(CELL).write_parquet(file)

    write_atomically(path, put)


def missing(wanted: Sequence[Row], known: pl.DataFrame) -> list[Row]:
    """Return those of the wanted cells that are not known; a cell that failed is tried again."""
    import polars as pl

    done = known.filter(pl.col("status") != FAILED).select(ASKED)
    return frame_of(wanted).select(ASKED).join(done, on=ASKED, how="anti", nulls_equal=True).to_dicts()


def together(older: pl.DataFrame, newer: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of two tables; where both have a cell, that of the newer one."""
    import polars as pl

    rest = older.join(newer.select(CELL), on=CELL, how="anti", nulls_equal=True)
    return pl.concat([rest, newer]).unique(CELL, keep="last", maintain_order=True)


def parts_folder(table: Path) -> Path:
    """Return the folder in which finished work is kept until the table is put together."""
    return table.with_name(f"{table.name}.parts")


def keep_part(table: Path, rows: Sequence[Row]) -> None:
    """Keep rows that are finished, in a file that no other run writes."""
    folder, frame = parts_folder(table), frame_of(rows)
    while True:
        with naming_target(folder):
            folder.mkdir(exist_ok=True)
        try:
            return write_table(folder / f"{uuid4().hex}.parquet", frame)
        except InputError:
            # Another run that ended just now may have taken the empty folder away.
            if folder.is_dir():
                raise


def with_parts(table: Path) -> pl.DataFrame:
    """Return a table together with what was finished since it was written."""
    return _merged(table, _parts(table))


def put_together(table: Path) -> pl.DataFrame:
    """Write the table with what was kept beside it, clear that away, and return the table."""
    while True:
        parts, before = _parts(table), _stamp(table)
        whole = _merged(table, parts).sort(CELL)
        try:
            _replace(table, whole, before)
        except _ChangedMeanwhileError:
            continue
        for part in parts:
            part.unlink(missing_ok=True)
        _clear(parts_folder(table))
        return whole


def _parts(table: Path) -> list[Path]:
    """Return what was kept beside a table; later work is newer than earlier work."""
    found: list[tuple[int, str, Path]] = []
    for path in parts_folder(table).glob("*.parquet"):
        # One that is gone by now is in the table.
        with suppress(FileNotFoundError):
            found.append((path.stat().st_mtime_ns, path.name, path))
    return [path for *_, path in sorted(found)]


def _merged(table: Path, parts: Sequence[Path]) -> pl.DataFrame:
    """Return a table with parts of it; the table is read last, so that it has what other runs took away."""
    import polars as pl

    newer = [_part(path) for path in parts]
    known = read_table(table)
    return together(known, pl.concat(newer)) if newer else known


def _part(path: Path) -> pl.DataFrame:
    try:
        return read_table(path)
    except InputError:
        if path.exists():
            raise
        return frame_of(())


class _ChangedMeanwhileError(Exception):
    """Another run has written the table since it was read."""


def _stamp(table: Path) -> tuple[int, int] | None:
    """Return what tells one version of a file from the next; None where there is no file."""
    try:
        found = table.stat()
    except FileNotFoundError:
        return None
    return found.st_ino, found.st_mtime_ns


def _replace(table: Path, frame: pl.DataFrame, before: tuple[int, int] | None) -> None:
    """Write a table in the place of the one that was read; not where another run has written it since."""

    def put(file: IO[bytes]) -> None:
        frame.write_parquet(file)
        if _stamp(table) != before:
            raise _ChangedMeanwhileError

    write_atomically(table, put)


def _clear(folder: Path) -> None:
    """Remove what killed runs had half-written, and the folder unless another run keeps something there."""
    if not folder.is_dir():
        return
    for path in folder.glob(".*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()
    with suppress(OSError):
        folder.rmdir()
