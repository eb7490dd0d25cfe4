"""The tidy table of a benchmark: one row per set, entry, budget and run, in a Parquet file.

Finished work is saved in small files (parts) in a folder beside the table, and merged at the end, so that an
interruption loses only what was being computed. Several runs may write the same table: each removes only the
parts that are in the table it wrote.
"""

from __future__ import annotations

import time
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any
from uuid import uuid4

from sparingly.base.errors import InputError
from sparingly.bench.replay import FAILED
from sparingly.data.files import naming, naming_target, write_atomically

if TYPE_CHECKING:
    import polars as pl

GridRow = dict[str, Any]
# The columns and their types.
_BY_TYPE = (
    ("String", ("set", "family", "truth", "metric")),
    ("Boolean", ("strong", "counts")),
    ("Int64", ("items", "models")),
    ("String", ("entry", "method", "estimator", "p_values")),
    ("Int64", ("rounds",)),
    ("String", ("stop", "kind")),
    ("Float64", ("share",)),
    ("Int64", ("labels",)),
    ("Float64", ("annotation_seconds",)),
    ("Int64", ("seed", "resample")),
    ("String", ("signature",)),
    ("Float64", ("seconds", "peak_mb")),
    ("String", ("status", "reason")),
    ("Float64", ("soft_pairwise_accuracy", "pairwise_accuracy", "pairwise_accuracy_tied", "kendall_b")),
    ("Float64", ("top1_match",)),
    ("Int64", ("rank_changes",)),
    ("Float64", ("mean_absolute_error", "bias")),
    ("Int64", ("intervals", "covered")),
    ("Float64", ("width",)),
    ("Int64", ("pairs", "significant", "wrong_sign", "stopped_at")),
    ("String", ("digest", "version")),
)
COLUMNS = {name: kind for kind, names in _BY_TYPE for name in names}
# What identifies a cell, and what it was computed for: with another digest or version it is missing.
CELL = ("set", "entry", "share", "seed", "resample")
REQUEST = (*CELL, "truth", "metric", "method", "estimator", "p_values", "rounds", "stop", "digest", "version")
# What differs between two computations of the same cell.
MEASURED_ANEW = ("seconds", "peak_mb")
# No file takes an hour to write: one that is unfinished by then belongs to a run that was killed.
_ABANDONED = 3600.0


def frame_of(rows: Iterable[GridRow]) -> pl.DataFrame:
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
            table = pl.read_parquet(path.read_bytes())
    except pl.exceptions.PolarsError:
        raise InputError("this is not a Parquet file", file=path, fix="Name another file") from None
    if lost := [name for name in COLUMNS if name not in table.columns]:
        fix = "Is it of another version? Name another file"
        raise InputError(f"the table has no column {lost[0]}", file=path, fix=fix)
    return table.select(list(COLUMNS))


def write_table(path: Path, frame: pl.DataFrame) -> None:
    """Write a table in the order of its cells, whole or not at all."""

    def write(file: IO[bytes]) -> None:
        frame.sort(CELL).write_parquet(file)

    write_atomically(path, write)


def missing_cells(cells: Sequence[GridRow], saved: pl.DataFrame) -> list[GridRow]:
    """Return those of the wanted cells that are not known; a cell that failed is tried again."""
    import polars as pl

    finished = saved.filter(pl.col("status") != FAILED).select(REQUEST)
    return frame_of(cells).select(REQUEST).join(finished, on=REQUEST, how="anti", nulls_equal=True).to_dicts()


def merge_tables(older: pl.DataFrame, newer: pl.DataFrame) -> pl.DataFrame:
    """Return the rows of two tables; where both have a cell, the newer one wins."""
    import polars as pl

    unchanged = older.join(newer.select(CELL), on=CELL, how="anti", nulls_equal=True)
    return pl.concat([unchanged, newer]).unique(CELL, keep="last", maintain_order=True)


def parts_folder(table: Path) -> Path:
    """Return the folder for finished parts of a table."""
    return table.with_name(f"{table.name}.parts")


def save_part(table: Path, rows: Sequence[GridRow]) -> None:
    """Save finished rows as a part of their own, which no other run writes."""
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


def read_with_parts(table: Path) -> pl.DataFrame:
    """Return a table with the parts that were finished since it was written."""
    return _merge_with_parts(table, _parts(table))


def merge_parts(table: Path) -> pl.DataFrame:
    """Write the table with its parts, remove them, and return the table."""
    while True:
        parts, stamp = _parts(table), _stamp(table)
        merged = _merge_with_parts(table, parts).sort(CELL)
        try:
            _replace(table, merged, stamp)
        except _ChangedMeanwhileError:
            continue
        for part in parts:
            part.unlink(missing_ok=True)
        _clear(parts_folder(table))
        return merged


class _ChangedMeanwhileError(Exception):
    """Another run has written the table since it was read."""


def _parts(table: Path) -> list[Path]:
    """Return the parts of a table, oldest first."""
    files: list[tuple[int, str, Path]] = []
    for path in parts_folder(table).glob("*.parquet"):
        # One that is gone by now is in the table.
        with suppress(FileNotFoundError):
            files.append((path.stat().st_mtime_ns, path.name, path))
    return [path for *_, path in sorted(files)]


def _merge_with_parts(table: Path, parts: Sequence[Path]) -> pl.DataFrame:
    """Return a table with its parts; the table is read last, so that it has the parts other runs removed."""
    import polars as pl

    newer = []
    for path in parts:
        try:
            newer.append(read_table(path))
        except InputError:
            # One that is gone by now is in the table.
            if path.exists():
                raise
    saved = read_table(table)
    return merge_tables(saved, pl.concat(newer)) if newer else saved


def _stamp(table: Path) -> tuple[int, int] | None:
    """Return what distinguishes one version of a file from the next; None where there is no file."""
    try:
        stat = table.stat()
    except FileNotFoundError:
        return None
    return stat.st_ino, stat.st_mtime_ns


def _replace(table: Path, frame: pl.DataFrame, stamp: tuple[int, int] | None) -> None:
    def write(file: IO[bytes]) -> None:
        frame.write_parquet(file)
        if _stamp(table) != stamp:
            raise _ChangedMeanwhileError

    write_atomically(table, write)


def _clear(folder: Path) -> None:
    """Remove half-written files of killed runs, and the folder unless another run has parts in it."""
    if not folder.is_dir():
        return
    for path in folder.glob(".*"):
        with suppress(FileNotFoundError):
            if time.time() - path.stat().st_mtime > _ABANDONED:
                path.unlink()
    with suppress(OSError):
        folder.rmdir()
