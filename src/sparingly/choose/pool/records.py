"""The files of a pool, their records, and what can be wrong with a record.

Files are cut into ranges that can be worked on one by one. Finding records costs next to nothing, so that
finished work is skipped quickly; parsing them is up to the caller. Every bad record is counted.
"""

from __future__ import annotations

import csv
import glob
import io
import json
import lzma
import re
import zlib
from collections import Counter, deque
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Annotated, Any, Literal

from sparingly.base.errors import InputError, UsageError, one_line
from sparingly.base.lazy import pl
from sparingly.base.syntax import argument
from sparingly.data import files, schema
from sparingly.data.values import as_mapping, as_whole, shown

OnProblem = Literal["skip", "refuse"]

PROBLEM_KINDS = {
    "broken": "no JSON object, or another number of fields than the header has",
    "binary": "control characters that no text has",
    "encoding": "not UTF-8",
    "too_long": "longer than a record may be",
    "empty": "no text, or nothing but white space",
    "no_id": "the id is missing",
    "no_score": "the utility is missing or not a finite number",
    "unreadable": "the file, or the rest of it, cannot be read",
}
_EXAMPLES = 3
_SHOWN_LETTERS = 60
FILE_KINDS = {
    ".jsonl": "jsonl",
    ".ndjson": "jsonl",
    ".csv": "csv",
    ".tsv": "csv",
    ".parquet": "parquet",
    ".txt": "txt",
}
RANGE_BYTES = 16 * 2**20
RANGE_ROWS = 200_000
_BLOCK_BYTES = 2**20
_PACKED = (b"\x1f\x8b", b"BZh", b"\xfd7zXZ\x00")
LONGEST_RECORD = 1_000_000

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, InputError)
# A quoted field that goes on for longer than this was never closed.
_LINES_OF_A_RECORD = 1_000


@dataclass(frozen=True)
class FileRange:
    """A part of a file: bytes of a text file, rows of a Parquet file, or (without a stop) all of it.

    ``line`` is the number of its first line or row, from 1. The file has the name that the user gave;
    ``root`` is the folder that this name is relative to, so that workers elsewhere find it.
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


def pool_files(
    paths: str | Path | Iterable[str | Path], besides: Path | None = None
) -> tuple[list[Path], list[Path]]:
    """Return the files of a pool, each once, by name, and the other files in its folders.

    A folder stands for every file in and below it that has a known extension; hidden ones are ignored, and so
    is the folder ``besides``: scores may be written inside of the pool.
    """
    path_list = [paths] if isinstance(paths, str | Path) else list(paths)
    by_path = {file.resolve(): file for path in path_list for file in _expand_path(Path(path))}
    if besides is not None:
        by_path = {real: file for real, file in by_path.items() if besides.resolve() not in real.parents}
    pool = [file for file in by_path.values() if file.is_file() and files.extension(file) in FILE_KINDS]
    ours = sorted(pool, key=str)
    if not ours:
        raise UsageError(
            f"There is no file in the pool. Files end in {', '.join(FILE_KINDS)}, perhaps with .gz."
        )
    return ours, sorted(set(by_path.values()) - set(ours), key=str)


def _expand_path(path: Path) -> Sequence[Path]:
    """Return the files that a path stands for; of a folder all that are not hidden, of any kind."""
    if path.is_dir():
        inside = (file for file in path.rglob("*") if not file.name.startswith("."))
        return [file for file in inside if not file.is_dir()]
    if not path.exists() and any(sign in str(path) for sign in "*?["):
        matching = [Path(name) for name in glob.glob(str(path), recursive=True)]  # noqa: PTH207 - ** and bases
        if not matching:
            raise InputError("no file matches", file=path)
        return [file for match in matching for file in _expand_path(match)]
    if not path.exists():
        raise InputError("there is no such file", file=path)
    if files.extension(path) not in FILE_KINDS:
        raise InputError(
            "the extension is not one of a pool's file",
            file=path,
            fix=f"Use {', '.join(FILE_KINDS)}, or add .gz",
        )
    if not path.is_file():
        raise InputError("this is a pipe or a device, not a file", file=path, fix="Write it to a file")
    return [path]


def make_folder(folder: Path) -> None:
    """Make the folder that scores are written to, unless it exists."""
    if folder.exists() and not folder.is_dir():
        raise InputError("this is a file, but the scores need a folder", file=folder)
    with files.naming_target(folder):
        folder.mkdir(parents=True, exist_ok=True)


def cut_files(paths: Iterable[Path], size: int = RANGE_BYTES, rows: int = RANGE_ROWS) -> Iterator[FileRange]:
    """Cut files into ranges: JSON Lines and plain text by bytes, at line ends, and Parquet by rows.

    A compressed or comma-separated file stays whole: the start of a record cannot be found from the middle.
    """
    for path in paths:
        kind = FILE_KINDS[files.extension(path)]
        if kind == "parquet":
            yield from _by_rows(path, rows)
        elif kind == "csv" or path.stat().st_size <= size:
            yield FileRange(path, kind)
        else:
            yield from _by_bytes(path, kind, size)


def _by_bytes(path: Path, kind: str, size: int) -> Iterator[FileRange]:
    with files.naming(path), path.open("rb") as file:
        if file.read(6).startswith(_PACKED):
            yield FileRange(path, kind)
            return
        file.seek(0)
        end, start, line = path.stat().st_size, 0, 1
        while start < end:
            lines, remaining = 0, size
            while remaining > 0 and (block := file.read(min(remaining, _BLOCK_BYTES))):
                lines += block.count(b"\n")
                remaining -= len(block)
            lines += file.readline().count(b"\n")
            stop = file.tell()
            yield FileRange(path, kind, start, stop, line)
            start, line = stop, line + lines


def _by_rows(path: Path, rows: int) -> Iterator[FileRange]:
    try:
        count = int(pl.scan_parquet(path, glob=False).select(pl.len()).collect().item())
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError):
        # Whoever reads it says what is wrong.
        yield FileRange(path, "parquet")
        return
    for start in range(0, count, rows):
        yield FileRange(path, "parquet", start, min(count, start + rows), start + 1)


@dataclass(frozen=True)
class RecordProblem:
    """Why a record cannot be used: a kind of ``PROBLEM_KINDS``, and a message."""

    kind: str
    words: str


@dataclass(frozen=True)
class ProblemExample:
    """One bad record: its file and line, and what is wrong."""

    file: str
    line: int
    words: str

    def __str__(self) -> str:
        return one_line(f"{self.file}, line {self.line}: {self.words}")


@dataclass
class RecordCounts:
    """How many records were read, how many are sources, and what is wrong with the others.

    ``read`` is always ``good`` plus the sum of ``bad``. The first few examples of every kind are kept.
    """

    read: int = 0
    good: int = 0
    bad: Annotated[Counter[str], _read_kinds] = field(default_factory=Counter)
    examples: dict[str, list[ProblemExample]] = field(default_factory=dict)

    def add(self, trouble: RecordProblem, file: Path, line: int) -> None:
        """Count one bad record."""
        self.bad[trouble.kind] += 1
        examples = self.examples.setdefault(trouble.kind, [])
        if len(examples) < _EXAMPLES:
            examples.append(ProblemExample(str(file), line, trouble.words))

    def refuse(self) -> None:
        """Raise InputError for the first bad record, if there is one."""
        examples = sorted(chain(*self.examples.values()), key=lambda example: (example.file, example.line))
        if examples:
            words, file, line = examples[0].words, examples[0].file, examples[0].line
            raise InputError(words, file=file, line=line, fix=f"Fix it, or add {argument('bad', 'skip')}")

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values, kinds in the order of their names."""
        values: dict[str, Any] = schema.write(self)
        return values | {name: dict(sorted(values[name].items())) for name in ("bad", "examples")}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> RecordCounts:
        """Read counts back."""
        counts = schema.read(cls, values)
        if counts.good < 0 or counts.read != counts.good + counts.bad.total():
            raise InputError(
                f"{counts.read} records were read, and {counts.good} and {counts.bad.total()} are counted"
            )
        for kind in {*counts.bad, *counts.examples} - {*PROBLEM_KINDS}:
            raise InputError(f"{shown(kind)} is not a kind of bad record", field="bad")
        return counts


def _read_kinds(value: Any, field: str) -> Counter[str]:
    return Counter({kind: as_whole(count, field) for kind, count in as_mapping(value, field).items()})


def add_counts(tallies: Iterable[RecordCounts]) -> RecordCounts:
    """Add counts up; the examples are the first by file and line, whatever the order of the counts."""
    total = RecordCounts()
    for tally in tallies:
        total.read += tally.read
        total.good += tally.good
        total.bad.update(tally.bad)
        for kind, of_kind in tally.examples.items():
            total.examples.setdefault(kind, []).extend(of_kind)
    for of_kind in total.examples.values():
        of_kind.sort(key=lambda example: (example.file, example.line))
        del of_kind[_EXAMPLES:]
    return total


def shorten(text: str) -> str:
    """Return the beginning of a text, for an example."""
    return text if len(text) <= _SHOWN_LETTERS else f"{text[:_SHOWN_LETTERS]}…"


Raw = tuple[int, bytes | dict[str, Any] | RecordProblem]
Line = tuple[int, bytes | RecordProblem]
Reader = Callable[[bytes], dict[str, Any] | RecordProblem]


def records(file_range: FileRange, longest: int = LONGEST_RECORD) -> tuple[Iterator[Raw], Reader]:
    """Return the records of a range with their lines, and a function that parses one of them."""
    if file_range.kind == "parquet":
        return _rows(file_range, longest), _nothing_to_read
    lines = _lines(file_range, longest)
    if file_range.kind == "csv":
        return _csv(file_range, lines)
    non_empty = (pair for pair in lines if not isinstance(pair[1], bytes) or pair[1].strip())
    return non_empty, _json_object if file_range.kind == "jsonl" else _plain_text


def is_binary(text: str) -> bool:
    """Whether a text holds control characters that no text has."""
    return _CONTROL.search(text) is not None


def _lines(file_range: FileRange, longest: int) -> Iterator[Line]:
    """Yield the lines of a range; one that is too long is skipped without being read into memory."""
    number = file_range.line - 1
    try:
        with files.open_binary(file_range.path) as file:
            if file_range.start:
                file.seek(file_range.start)
            remaining = None if file_range.stop is None else file_range.stop - file_range.start
            while (remaining is None or remaining > 0) and (raw := file.readline(longest + 2)):
                number += 1
                size, line = len(raw), raw.rstrip(b"\r\n")
                if len(line) > longest:
                    while raw and not raw.endswith(b"\n"):
                        raw = file.readline(2**20)
                        size += len(raw)
                    yield number, RecordProblem("too_long", f"longer than {longest:,} bytes: {_start(line)}")
                else:
                    yield number, line.removeprefix(b"\xef\xbb\xbf") if number == 1 else line
                remaining = None if remaining is None else remaining - size
    except _DAMAGE as error:
        if isinstance(error, InputError):
            problem = error.problem
        elif isinstance(error, EOFError):
            problem = "the compressed file ends too early"
        else:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
            problem = f"the file cannot be read ({reason})"
        yield number + 1, RecordProblem("unreadable", problem)


def _decoded(raw: bytes) -> str | RecordProblem:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_binary(raw.decode("latin-1")):
            return RecordProblem("binary", f"binary junk: {_start(raw)}")
        return RecordProblem("encoding", f"byte 0x{raw[error.start]:02x} is not UTF-8: {_start(raw)}")


def _start(raw: bytes) -> str:
    return shorten(raw[:200].decode("utf-8", "backslashreplace"))


def _json_object(raw: bytes) -> dict[str, Any] | RecordProblem:
    text = _decoded(raw)
    if isinstance(text, RecordProblem):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return RecordProblem("binary" if is_binary(text) else "broken", f"not JSON: {shorten(text)}")
    return value if isinstance(value, dict) else RecordProblem("broken", f"no JSON object: {shorten(text)}")


def _plain_text(raw: bytes) -> dict[str, Any] | RecordProblem:
    text = _decoded(raw)
    return text if isinstance(text, RecordProblem) else {"source": text}


def _csv(file_range: FileRange, lines: Iterator[Line]) -> tuple[Iterator[Raw], Reader]:
    """Find the records of a file whose first line names the columns."""
    first = next(lines, None)
    if first is None:
        return iter(()), _nothing_to_read
    raw = first[1]
    header_text = raw if isinstance(raw, RecordProblem) else _decoded(raw)
    if isinstance(header_text, RecordProblem):
        return iter([(first[0], header_text)]), _nothing_to_read
    is_tsv = files.extension(file_range.file) == ".tsv"
    separator = "\t" if is_tsv else max(",", "\t", ";", key=header_text.count)
    header = _fields(header_text, separator) or []
    if not any(header) or len(set(header)) < len(header):
        words = f"the first line names no columns, or one twice: {shorten(header_text)}"
        return iter([(first[0], RecordProblem("unreadable", words))]), _nothing_to_read

    def read(raw: bytes) -> dict[str, Any] | RecordProblem:
        text = _decoded(raw)
        if isinstance(text, RecordProblem):
            return text
        fields = _fields(text, separator)
        if fields is None or len(fields) != len(header):
            kind = "binary" if is_binary(text) else "broken"
            field_count = "no" if fields is None else len(fields)
            return RecordProblem(
                kind, f"{field_count} fields where the header has {len(header)}: {shorten(text)}"
            )
        return {name: field for name, field in zip(header, fields, strict=True) if name and field != ""}

    return _join_lines(lines, separator, len(header)), read


def _fields(text: str, separator: str) -> list[str] | None:
    """Return the fields of one record; None where the quotes do not fit, or where it is more than one."""
    try:
        rows = _csv_rows(text, separator)
    except csv.Error:
        return None
    return rows[0] if len(rows) == 1 else None


def _is_open(raw: bytes, separator: str) -> bool:
    """Whether a quoted field of a record has not ended yet."""
    try:
        _csv_rows(raw.decode("utf-8", "surrogateescape"), separator)
    except csv.Error as error:
        return "end of data" in str(error)
    return False


def _csv_rows(text: str, separator: str) -> list[list[str]]:
    limit_before = csv.field_size_limit(2**31 - 1)
    try:
        return list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    finally:
        csv.field_size_limit(limit_before)


def _join_lines(lines: Iterator[Line], separator: str, width: int) -> Iterator[Raw]:
    """Join lines that one quoted field spans.

    Where they do not end in a record with all of its fields, a quote was never closed: then the first line
    alone is broken, and reading goes on with the next one, so that one wrong quote does not swallow a file.
    """
    ahead: deque[Line] = deque()

    def take() -> Line | None:
        return ahead.popleft() if ahead else next(lines, None)

    while (head := take()) is not None:
        number, raw = head
        if isinstance(raw, RecordProblem):
            yield head
        elif raw.count(b'"') % 2 == 0 or not _is_open(raw, separator):
            if raw.strip():
                yield head
        else:
            parts, used_lines, is_closed = [raw], list[Line](), False
            while not is_closed and len(used_lines) < _LINES_OF_A_RECORD and (line := take()) is not None:
                used_lines.append(line)
                if isinstance(line[1], RecordProblem):
                    break
                parts.append(line[1])
                is_closed = b'"' in line[1] and not _is_open(b"\n".join(parts), separator)
            record = b"\n".join(parts)
            if is_closed and len(_fields(record.decode("utf-8", "replace"), separator) or ()) == width:
                yield number, record
            else:
                ahead.extendleft(reversed(used_lines))
                yield number, RecordProblem("broken", f"a quote that is never closed: {_start(raw)}")


def _rows(file_range: FileRange, longest: int, block: int = 20_000) -> Iterator[Raw]:
    number = file_range.line
    try:
        rows = pl.scan_parquet(file_range.path, glob=False)
        stop = file_range.stop if file_range.stop is not None else int(rows.select(pl.len()).collect().item())
        for start in range(file_range.start, stop, block):
            for row in rows.slice(start, min(block, stop - start)).collect().iter_rows(named=True):
                yield number, _short_row(row, longest)
                number += 1
    except (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError) as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        yield number, RecordProblem("unreadable", f"the Parquet file cannot be read ({reason})")


def _short_row(row: dict[str, Any], longest: int) -> dict[str, Any] | RecordProblem:
    for value in row.values():
        # A letter has at most four bytes, so only long values need to be counted.
        if isinstance(value, str) and 4 * len(value) > longest and len(value.encode()) > longest:
            return RecordProblem("too_long", f"longer than {longest:,} bytes: {shorten(value)}")
    return row


def _nothing_to_read(raw: bytes) -> dict[str, Any] | RecordProblem:
    return RecordProblem("broken", f"not read: {_start(raw)}")
