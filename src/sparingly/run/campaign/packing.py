"""Files that leave a campaign together: as bytes by name, in a folder or in a ZIP archive."""

from __future__ import annotations

import io
import json
import re
import tempfile
import zipfile
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import IO, Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.evalset import EvalSet
from sparingly.data.io.jsonl import JsonLines

# What people write themselves; ids stay as they are.
_FREE = ("comment", "rater")
# The same content gives the same bytes.
_EPOCH = (1980, 1, 1, 0, 0, 0)


def csv_bytes(rows: Iterable[Mapping[str, Any]], columns: Sequence[str]) -> bytes:
    """Return rows as CSV for spreadsheets, in which no comment or name is a formula.

    What is in no column is left out.
    """
    text = files.csv_text((files.without_formulas(row, _FREE) for row in rows), columns)
    return text.encode("utf-8", "backslashreplace")


def json_bytes(values: Any) -> bytes:
    """Return values as JSON."""
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    return text.encode("utf-8", "backslashreplace") + b"\n"


def line_bytes(rows: Iterable[Mapping[str, Any]]) -> bytes:
    """Return rows as JSON Lines."""
    lines = (json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows)
    return "".join(f"{line}\n" for line in lines).encode("utf-8", "backslashreplace")


def data_bytes(data: EvalSet) -> bytes:
    """Return an evaluation set as JSON Lines."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "data.jsonl"
        JsonLines().write(data, path)
        return path.read_bytes()


def stems(names: Sequence[str]) -> dict[str, str]:
    """Return a name for the files of every data set that any system can keep."""
    found: dict[str, str] = {}
    for name in names:
        plain = re.sub(r"[^A-Za-z0-9._-]+", "-", name).strip("-.") or "data"
        while plain in found.values():
            plain += "-"
        found[name] = plain
    return found


def zipped(content: Mapping[str, bytes], target: IO[bytes], folder: str) -> None:
    """Write files into a ZIP archive, below one folder; the same files give the same bytes."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, held in content.items():
            archive.writestr(zipfile.ZipInfo(f"{folder}/{name}", _EPOCH), held, zipfile.ZIP_DEFLATED)


def zip_bytes(content: Mapping[str, bytes], folder: str) -> bytes:
    """Return files as the bytes of a ZIP archive."""
    target = io.BytesIO()
    zipped(content, target, folder)
    return target.getvalue()


def write_zip(path: Path, content: Mapping[str, bytes]) -> None:
    """Write files as a ZIP archive, whole or not at all."""
    files.write_atomically(path, lambda file: zipped(content, file, path.stem))


def write_folder(path: Path, content: Mapping[str, bytes]) -> None:
    """Write a folder beside its place, then rename it: it is there whole, or not at all."""
    if path.exists():
        raise InputError("there is something at this place already", file=path, fix="Name a new folder")
    near = tempfile.TemporaryDirectory
    with files.naming_target(path), near(prefix=f".{path.name}.", dir=path.parent) as made:
        inside = Path(made) / "release"
        for name, held in content.items():
            target = inside / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(held)
        inside.rename(path)
