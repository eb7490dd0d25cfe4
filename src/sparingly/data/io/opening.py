"""Tables of any kind, opened: CSV, TSV, Excel, JSON, Parquet, Arrow, datasets saved by Hugging Face."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError, UsageError, listing
from sparingly.base.lazy import pl
from sparingly.data import files
from sparingly.data.io.columns import TableSource
from sparingly.data.io.csv_text import SEPARATORS, CsvText
from sparingly.data.io.excel import is_workbook, open_workbook
from sparingly.data.io.format import Head
from sparingly.data.io.json_table import flatten, open_json
from sparingly.data.io.parquet import MAGIC, ParquetFile

ARROW = b"ARROW1"
_SPLITS, _SAVED = "dataset_dict.json", "dataset_info.json"


def is_dataset(folder: Path) -> bool:
    """Say whether a folder holds a dataset that Hugging Face's ``datasets`` saved."""
    return (folder / _SPLITS).is_file() or ((folder / _SAVED).is_file() and any(folder.glob("*.arrow")))


def source_of(path: Path, options: Mapping[str, Any]) -> TableSource:
    """Open a table file, whichever kind it is."""
    if path.is_dir():
        folder = path
        if (folder / _SPLITS).is_file():
            splits = [split for split in sorted(folder.iterdir()) if split.is_dir() and is_dataset(split)]
            if len(splits) != 1:
                names = listing(split.name for split in splits)
                raise InputError(
                    f"the dataset has several splits: {names}" if splits else "the dataset has no split",
                    file=folder,
                    fix=f"Name one: {splits[-1]}" if splits else "Save it again",
                )
            folder = splits[0]
        file_names = [part.get("filename", "") for part in _data_files(folder)]
        parts = [folder / name for name in file_names] or sorted(folder.glob("*.arrow"))
        return _from_arrow(folder, parts)
    head = Head(path)
    if head.start.startswith(MAGIC):
        file = ParquetFile(path)
        source = TableSource(path, file.names, file.column)
        return flatten(source) if any(kind.is_nested() for kind in file.schema.values()) else source
    if head.start.startswith(ARROW):
        return _from_arrow(path, [path])
    if is_workbook(path):
        return flatten(open_workbook(path, options.get("sheet")))
    if head.content.startswith((b"{", b"[")):
        return open_json(path)
    separator, quote = options.get("separator"), options.get("quote", '"')
    separator = SEPARATORS.get(str(separator), separator)
    for name, value in (("separator", separator), ("quote", quote or None)):
        if value is not None and len(value) != 1:
            raise UsageError(f'The {name} "{value}" is not one character.')
    return flatten(CsvText(path, separator, quote or None).source())


def _data_files(folder: Path) -> list[dict[str, str]]:
    state = folder / "state.json"
    record = files.read_json(state) if state.is_file() else {}
    return record.get("_data_files", []) if isinstance(record, dict) else []


def _from_arrow(path: Path, parts: list[Path]) -> TableSource:
    frames = []
    for part in parts:
        with files.naming(part):
            try:
                with part.open("rb") as file:
                    is_file = file.read(len(ARROW)) == ARROW
                frames.append(pl.read_ipc(part) if is_file else pl.read_ipc_stream(part))
            except (pl.exceptions.PolarsError, pl.exceptions.PanicException) as error:
                reason = str(error).strip().splitlines()[0].rstrip(".")
                raise InputError(f"the Arrow file cannot be read ({reason})", file=part) from None
    frame = pl.concat(frames, how="vertical_relaxed")
    files.check_columns(path, len(frame.columns))
    if not len(frame):
        raise InputError("there is no row in it", file=path)
    return flatten(TableSource(path, frame.columns, frame.get_column))
