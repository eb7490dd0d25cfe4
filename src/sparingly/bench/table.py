"""The tidy table of a benchmark: one row per set, entry, budget and run, in a Parquet file.

Finished work is kept in small files in a folder beside the table, and put together at the end, so that
an interruption at any moment loses no more than what was being computed.
"""

from __future__ import annotations

import shutil
from collections.abc import Iterable, Mapping, Sequence
from hashlib import blake2b
from pathlib import Path
from types import MappingProxyType
from typing import IO, TYPE_CHECKING, Any

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
    """Keep rows that are finished."""
    folder = parts_folder(table)
    with naming_target(folder):
        folder.mkdir(exist_ok=True)
    text = "\n".join("\t".join(str(row[name]) for name in ASKED) for row in rows)
    write_table(folder / f"{blake2b(text.encode(), digest_size=12).hexdigest()}.parquet", frame_of(rows))


def with_parts(table: Path) -> pl.DataFrame:
    """Return a table together with what was finished since it was written."""
    import polars as pl

    found, folder = read_table(table), parts_folder(table)
    # Later work is newer than earlier work.
    parts = sorted(folder.glob("*.parquet"), key=lambda path: (path.stat().st_mtime_ns, path.name))
    return together(found, pl.concat([read_table(path) for path in parts])) if parts else found


def put_together(table: Path, frame: pl.DataFrame) -> None:
    """Write the whole table, then clear what was kept beside it."""
    write_table(table, frame)
    folder = parts_folder(table)
    if folder.is_dir():
        # With what a killed run had half-written.
        shutil.rmtree(folder)
