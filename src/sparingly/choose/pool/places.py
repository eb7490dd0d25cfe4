"""Where a pool lies: files, folders and globs, cut into stretches that can be worked on one by one."""

from __future__ import annotations

import glob
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from sparingly.base.errors import InputError, UsageError
from sparingly.data import files

KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".txt": "txt",
}
STRETCH_BYTES = 16 * 2**20
STRETCH_ROWS = 200_000
_BLOCK = 2**20
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")


@dataclass(frozen=True)
class Stretch:
    """A part of a file: bytes of a text file, rows of a Parquet file, or (without a stop) all of it.

    ``line`` is the number of its first line or row, from 1. The file is told by the name that it was given;
    ``root`` is the folder which that name starts from, so that a worker elsewhere finds it by the same name.
    """

    file: Path
    kind: str
    start: int = 0
    stop: int | None = None
    line: int = 1
    root: Path = Path()

    @property
    def path(self) -> Path:
        """Where the file is opened."""
        return self.root / self.file


@dataclass(frozen=True)
class PoolFiles:
    """The files of a pool, and what else lies in its folders and is passed over."""

    files: tuple[Path, ...]
    others: tuple[Path, ...] = ()


def pool_files(paths: str | Path | Iterable[str | Path], besides: Path | None = None) -> PoolFiles:
    """Return the files of a pool, each once, in the order of their names.

    A folder stands for every file in and below it that has a known extension; hidden ones are passed over.
    What lies in the folder ``besides`` is no part of the pool: scores may be kept inside of it.
    """
    given = [paths] if isinstance(paths, str | Path) else list(paths)
    found = {file.resolve(): file for path in given for file in _files_of(Path(path))}
    if besides is not None:
        found = {real: file for real, file in found.items() if besides.resolve() not in real.parents}
    ours = sorted((file for file in found.values() if _is_ours(file)), key=str)
    if not ours:
        raise UsageError(f"There is no file in the pool. Files end in {', '.join(KINDS)}, perhaps with .gz.")
    return PoolFiles(tuple(ours), tuple(sorted(set(found.values()) - set(ours), key=str)))


def _is_ours(path: Path) -> bool:
    return path.is_file() and files.extension(path) in KINDS


def _files_of(path: Path) -> Sequence[Path]:
    """Return the files that a path stands for; of a folder all that are not hidden, of whatever kind."""
    if path.is_dir():
        inside = (file for file in path.rglob("*") if not file.name.startswith("."))
        return [file for file in inside if not file.is_dir()]
    if not path.exists() and any(sign in str(path) for sign in "*?["):
        matching = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207 - ** and bases
        if not matching:
            raise InputError("no file matches", file=path)
        return [file for one in matching for file in _files_of(one)]
    if not path.exists():
        raise InputError("there is no such file", file=path)
    if files.extension(path) not in KINDS:
        raise InputError(
            "the extension is not one of a pool's file", file=path, fix=f"Use {', '.join(KINDS)}, or add .gz"
        )
    if not path.is_file():
        raise InputError(
            "this is a pipe or a device, and a file is wanted", file=path, fix="Write it to a file"
        )
    return [path]


def make_folder(folder: Path) -> None:
    """Make the folder that scores are written to, where it is not there."""
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file, and a folder is wanted for the scores", file=folder)
    with files.naming_target(folder):
        folder.mkdir(parents=True, exist_ok=True)


def stretches(
    paths: Iterable[Path], size: int = STRETCH_BYTES, rows: int = STRETCH_ROWS
) -> Iterator[Stretch]:
    """Cut files into stretches: JSON Lines and plain text by bytes, at line ends, and Parquet by rows.

    A compressed or comma-separated file stays whole: where a record begins cannot be told from its middle.
    """
    for path in paths:
        kind = KINDS[files.extension(path)]
        if kind == "parquet":
            yield from _by_rows(path, rows)
        elif kind == "csv" or path.stat().st_size <= size or _is_packed(path):
            yield Stretch(path, kind)
        else:
            yield from _by_bytes(path, kind, size)


def _is_packed(path: Path) -> bool:
    with files.naming(path), path.open("rb") as file:
        return file.read(6).startswith(_PACKED)


def _by_bytes(path: Path, kind: str, size: int) -> Iterator[Stretch]:
    with files.naming(path), path.open("rb") as file:
        end, start, line = path.stat().st_size, 0, 1
        while start < end:
            lines, left = 0, size
            while left > 0 and (block := file.read(min(left, _BLOCK))):
                lines += block.count(b"\n")
                left -= len(block)
            lines += file.readline().count(b"\n")
            stop = file.tell()
            yield Stretch(path, kind, start, stop, line)
            start, line = stop, line + lines


def _by_rows(path: Path, rows: int) -> Iterator[Stretch]:
    import polars as pl

    damaged = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
    try:
        count = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except damaged:
        # Whoever reads it says what is wrong.
        yield Stretch(path, "parquet")
        return
    for start in range(0, count, rows):
        yield Stretch(path, "parquet", start, min(count, start + rows), start + 1)
