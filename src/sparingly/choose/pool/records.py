"""The records of a stretch as they stand in the file: found one by one, and read as an object or a trouble.

Finding records costs next to nothing, so that what was done before is passed over quickly; reading them is
for those who use them.
"""

from __future__ import annotations

import csv
import io
import json
import lzma
import re
import zlib
from collections import deque
from collections.abc import Callable, Iterator
from typing import IO, Any

from sparingly.base.errors import InputError
from sparingly.choose.pool.bad import Trouble, start_of
from sparingly.choose.pool.places import Stretch
from sparingly.data import files

Raw = tuple[int, bytes | dict[str, Any] | Trouble]
Line = tuple[int, bytes | Trouble]
Reader = Callable[[bytes], dict[str, Any] | Trouble]
LONGEST = 1_000_000

_CONTROL = re.compile("[\x00-\x08\x0b\x0c\x0e-\x1f\x7f]")
_DAMAGE = (EOFError, OSError, zlib.error, lzma.LZMAError, InputError)
# A quoted field that goes on for longer than this was never closed.
_LINES_OF_A_RECORD = 1_000


def records(stretch: Stretch, longest: int = LONGEST) -> tuple[Iterator[Raw], Reader]:
    """Return the records of a stretch with their lines, and what reads one of them."""
    if stretch.kind == "parquet":
        return _rows(stretch, longest), _nothing_to_read
    lines = _lines(stretch, longest)
    if stretch.kind == "csv":
        return _csv(stretch, lines)
    full = (pair for pair in lines if not isinstance(pair[1], bytes) or pair[1].strip())
    return full, _json_object if stretch.kind == "jsonl" else _plain_text


def is_binary(text: str) -> bool:
    """Whether a text holds control characters that no text has."""
    return _CONTROL.search(text) is not None


# --- lines --------------------------------------------------------------------------------------------


def _lines(stretch: Stretch, longest: int) -> Iterator[Line]:
    """Yield the lines of a stretch; one that is too long is passed over without being held."""
    number = stretch.line - 1
    try:
        with files.open_binary(stretch.path) as file:
            if stretch.start:
                file.seek(stretch.start)
            left = None if stretch.stop is None else stretch.stop - stretch.start
            while (left is None or left > 0) and (raw := file.readline(longest + 2)):
                number += 1
                size, whole = len(raw), raw.rstrip(b"\r\n")
                if len(whole) > longest:
                    size += _rest_of_line(file, raw)
                    yield number, Trouble("too_long", f"longer than {longest:,} bytes: {_start(whole)}")
                else:
                    yield number, whole.removeprefix(b"\xef\xbb\xbf") if number == 1 else whole
                left = None if left is None else left - size
    except _DAMAGE as error:
        yield number + 1, Trouble("unreadable", _reason(error))


def _rest_of_line(file: IO[bytes], raw: bytes) -> int:
    """Read to the end of a line and return how many bytes that were."""
    size = 0
    while raw and not raw.endswith(b"\n"):
        raw = file.readline(2**20)
        size += len(raw)
    return size


def _reason(error: BaseException) -> str:
    if isinstance(error, InputError):
        return error.problem
    if isinstance(error, EOFError):
        return "the compressed file ends too early"
    reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
    return f"the file cannot be read ({reason})"


def _decoded(raw: bytes) -> str | Trouble:
    try:
        return raw.decode("utf-8")
    except UnicodeDecodeError as error:
        if is_binary(raw.decode("latin-1")):
            return Trouble("binary", f"binary junk: {_start(raw)}")
        return Trouble("encoding", f"byte 0x{raw[error.start]:02x} is not UTF-8: {_start(raw)}")


def _start(raw: bytes) -> str:
    return start_of(raw[:200].decode("utf-8", "backslashreplace"))


def _json_object(raw: bytes) -> dict[str, Any] | Trouble:
    text = _decoded(raw)
    if isinstance(text, Trouble):
        return text
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return Trouble("binary" if is_binary(text) else "broken", f"not JSON: {start_of(text)}")
    return value if isinstance(value, dict) else Trouble("broken", f"no JSON object: {start_of(text)}")


def _plain_text(raw: bytes) -> dict[str, Any] | Trouble:
    text = _decoded(raw)
    return text if isinstance(text, Trouble) else {"source": text}


# --- comma-separated ----------------------------------------------------------------------------------


def _csv(stretch: Stretch, lines: Iterator[Line]) -> tuple[Iterator[Raw], Reader]:
    """Find the records of a file whose first line names the columns."""
    first = next(lines, None)
    if first is None:
        return iter(()), _nothing_to_read
    raw = first[1]
    header_text = raw if isinstance(raw, Trouble) else _decoded(raw)
    if isinstance(header_text, Trouble):
        return iter([(first[0], header_text)]), _nothing_to_read
    separator = _separator(stretch, header_text)
    header = _fields(header_text, separator) or []
    if not any(header) or len(set(header)) < len(header):
        words = f"the first line names no columns, or one twice: {start_of(header_text)}"
        return iter([(first[0], Trouble("unreadable", words))]), _nothing_to_read

    def read(raw: bytes) -> dict[str, Any] | Trouble:
        text = _decoded(raw)
        if isinstance(text, Trouble):
            return text
        fields = _fields(text, separator)
        if fields is None or len(fields) != len(header):
            kind = "binary" if is_binary(text) else "broken"
            found = "no" if fields is None else len(fields)
            return Trouble(kind, f"{found} fields where the header has {len(header)}: {start_of(text)}")
        return {name: field for name, field in zip(header, fields, strict=True) if name and field != ""}

    return _joined(lines, separator, len(header)), read


def _separator(stretch: Stretch, header: str) -> str:
    if files.extension(stretch.file) == ".tsv":
        return "\t"
    return max(",", "\t", ";", key=header.count)


def _fields(text: str, separator: str) -> list[str] | None:
    """Return the fields of one record; None where the quotes do not fit, or where it is more than one."""
    before = csv.field_size_limit(2**31 - 1)
    try:
        rows = list(csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True))
    except csv.Error:
        return None
    finally:
        csv.field_size_limit(before)
    return rows[0] if len(rows) == 1 else None


def _is_open(raw: bytes, separator: str) -> bool:
    """Whether a quoted field of a record has not ended yet."""
    text = raw.decode("utf-8", "surrogateescape")
    before = csv.field_size_limit(2**31 - 1)
    try:
        for _ in csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True):
            pass
    except csv.Error as error:
        return "end of data" in str(error)
    finally:
        csv.field_size_limit(before)
    return False


def _joined(lines: Iterator[Line], separator: str, width: int) -> Iterator[Raw]:
    """Put lines together that one quoted field runs over.

    Where they do not end in a record with all of its fields, a quote was never closed: then the first line
    alone is broken, and reading goes on with the next one, so that one wrong quote does not swallow a file.
    """
    ahead: deque[Line] = deque()

    def take() -> Line | None:
        return ahead.popleft() if ahead else next(lines, None)

    while (head := take()) is not None:
        number, raw = head
        if isinstance(raw, Trouble):
            yield head
        elif raw.count(b'"') % 2 == 0 or not _is_open(raw, separator):
            if raw.strip():
                yield head
        else:
            whole, used = _until_closed(raw, take, separator)
            if whole is not None and len(_fields(whole.decode("utf-8", "replace"), separator) or ()) == width:
                yield number, whole
            else:
                ahead.extendleft(reversed(used))
                yield number, Trouble("broken", f"a quote that is never closed: {_start(raw)}")


def _until_closed(
    raw: bytes, take: Callable[[], Line | None], separator: str
) -> tuple[bytes | None, list[Line]]:
    """Return a record with the lines that its open field runs over, or None, and the lines that were used."""
    parts, used = [raw], list[Line]()
    while len(used) < _LINES_OF_A_RECORD and (line := take()) is not None:
        used.append(line)
        if isinstance(line[1], Trouble):
            break
        parts.append(line[1])
        if b'"' in line[1] and not _is_open(whole := b"\n".join(parts), separator):
            return whole, used
    return None, used


# --- Parquet ------------------------------------------------------------------------------------------


def _rows(stretch: Stretch, longest: int, block: int = 20_000) -> Iterator[Raw]:
    import polars as pl

    damaged = (pl.exceptions.PolarsError, pl.exceptions.PanicException, OSError)
    number = stretch.line
    try:
        rows = pl.scan_parquet(stretch.path, glob=False)
        stop = stretch.stop if stretch.stop is not None else int(rows.select(pl.len()).collect().item())
        for start in range(stretch.start, stop, block):
            for row in rows.slice(start, min(block, stop - start)).collect().iter_rows(named=True):
                yield number, _short_row(row, longest)
                number += 1
    except damaged as error:
        reason = str(error).strip().splitlines()[0].rstrip(".")
        yield number, Trouble("unreadable", f"the Parquet file cannot be read ({reason})")


def _short_row(row: dict[str, Any], longest: int) -> dict[str, Any] | Trouble:
    for value in row.values():
        # A letter has at most four bytes, so only long values need to be counted.
        if isinstance(value, str) and 4 * len(value) > longest and len(value.encode()) > longest:
            return Trouble("too_long", f"longer than {longest:,} bytes: {start_of(value)}")
    return row


def _nothing_to_read(raw: bytes) -> dict[str, Any] | Trouble:
    return Trouble("broken", f"not read: {_start(raw)}")
