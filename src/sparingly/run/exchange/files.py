"""Files of an exchange: written whole or not at all, read with sentences about what is wrong."""

from __future__ import annotations

import csv
import io
import json
import math
import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.data.values import as_number, parse_number, shown
from sparingly.run.forms.spans import Span

_LINE_ENDS = re.compile("[\x0b\x0c\x1c-\x1e\x85\u2028\u2029]")


def make_folder(folder: Path) -> Path:
    """Make the folder to write to, and those above it."""
    try:
        folder.mkdir(parents=True, exist_ok=True)
    except (FileExistsError, NotADirectoryError):
        raise InputError("this is a file, not a folder", file=folder) from None
    except PermissionError:
        raise InputError("no permission to write there", file=folder) from None
    return folder


def write_text(path: Path, text: str) -> Path:
    """Write a text file; half a surrogate pair, which is no UTF-8, is written as its escape."""
    files.write_bytes(path, text.encode("utf-8", "backslashreplace"))
    return path


def write_json(path: Path, values: Any) -> Path:
    """Write a JSON file."""
    files.write_json(path, values)
    return path


def write_jsonl(path: Path, rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write one JSON object a line."""
    lines = [json.dumps(row, ensure_ascii=False, allow_nan=False) for row in rows]
    # Readers that split at any line end would cut a line in two here; as escapes they are the same text.
    escaped = (_LINE_ENDS.sub(lambda match: f"\\u{ord(match.group()):04x}", line) for line in lines)
    return write_text(path, "".join(f"{line}\n" for line in escaped))


def write_csv(path: Path, columns: Sequence[str], rows: Sequence[Mapping[str, Any]]) -> Path:
    """Write a CSV file with a header; what is missing stays empty."""
    buffer = io.StringIO(newline="")
    writer = csv.DictWriter(buffer, columns, extrasaction="ignore", lineterminator="\r\n")
    writer.writeheader()
    for row in rows:
        writer.writerow({name: "" if row.get(name) is None else row[name] for name in columns})
    return write_text(path, buffer.getvalue())


def read_json_rows(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield the objects of a JSON list or of JSON Lines, each with where it stands, for sentences."""
    with files.naming(path), files.open_binary(path) as file:
        start = file.read(4096).removeprefix(b"\xef\xbb\xbf").lstrip()
    if start.startswith(b"["):
        entries = files.read_json(path)
        for place, entry in enumerate(entries):
            if not isinstance(entry, dict):
                raise InputError("expected a list of objects [{…}]", file=path, field=f"[{place}]")
        for place, entry in enumerate(entries, 1):
            yield f"{path.name}, entry {place}", entry
    else:
        for line, entry in files.json_lines(path):
            yield f"{path.name}, line {line}", entry


def read_csv_rows(path: Path) -> Iterator[tuple[str, dict[str, str]]]:
    """Yield the rows of a CSV file with a header; comma, semicolon or tab is told by the header."""
    text = "".join(f"{line}\n" for _, line in files.text_lines(path))
    if not text.strip():
        raise InputError("the file is empty", file=path)
    separator = max(",;\t", key=text.partition("\n")[0].count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader)]
        files.check_columns(path, len(header))
        if len(set(header)) < len(header):
            twice = next(name for name in header if header.count(name) > 1)
            raise InputError(f'the column "{twice}" is there twice', file=path, line=1)
        for row in reader:
            if len(row) == len(header):
                yield f"{path.name}, line {reader.line_num}", dict(zip(header, row, strict=True))
            elif row:
                raise InputError(
                    f"there are {len(row)} fields below {len(header)} columns",
                    file=path,
                    line=reader.line_num,
                    fix="Put quotes around fields with commas",
                )
    except csv.Error as error:
        raise InputError(f"this is not CSV ({error})", file=path, line=reader.line_num) from None


# --- values ---------------------------------------------------------------------------------------------

# Files come from other people's programs, and anything may stand anywhere in them: infinity, a number of 400
# digits, a list where a word should be. Importers read every value through these functions, which return None
# (or nothing) where a value is not what is wanted, and never fail.


# Longer than a rater's life: not the time that an answer took.
_MOST_SECONDS = 1e9
# Numbers since 1970 above this are milliseconds.
_MILLISECONDS = 1e11


def number_in(value: Any) -> float | None:
    """Return a finite number, also from text; None where it is none."""
    try:
        number = parse_number(value, "score") if isinstance(value, str) else as_number(value, "score")
    except InputError:
        return None
    return None if math.isnan(number) else number


def place_in(value: Any) -> int | None:
    """Return a place in a text, a whole number from 0 on; None where it is none."""
    number = number_in(value)
    return int(number) if number is not None and number.is_integer() and 0 <= number < 2**53 else None


def seconds_in(value: Any) -> float | None:
    """Return how many seconds something took; None where that is not known."""
    number = number_in(value)
    return number if number is not None and 0 <= number <= _MOST_SECONDS else None


def moment_in(value: Any) -> float | None:
    """Return a time (ISO text, seconds or milliseconds since 1970) as seconds since 1970; None: no time."""
    if isinstance(value, str):
        try:
            moment = datetime.fromisoformat(value)
            return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
        except (ValueError, OverflowError):
            return None
    number = number_in(value)
    return number if number is None or number <= _MILLISECONDS else number / 1000.0


def list_in(value: Any) -> list[Any]:
    """Return a list; one value is a list of one, and nothing an empty list."""
    if value is None:
        return []
    return value if isinstance(value, list) else [value]


def mapping_in(value: Any) -> dict[str, Any]:
    """Return an object's keys and values; anything else is an empty one."""
    return value if isinstance(value, dict) else {}


def name_in(value: Any) -> str | None:
    """Return the name of a person, a label or a field as text; None where there is none."""
    if value is None or isinstance(value, str):
        return value
    return str(value) if isinstance(value, int | float) else shown(value)


def span_in(start: Any, end: Any, severity: Any, category: Any = "") -> Span | None:
    """Return a marked span in code points; None where a place is not a whole number."""
    first, last = place_in(start), place_in(end)
    if first is None or last is None:
        return None
    return Span(first, last, (name_in(severity) or "").lower(), name_in(category) or "")


def spans_in(value: Any, severity: str) -> list[Span | None]:
    """Return spans from objects with ``start``, ``end`` and a severity; None for each that is not one."""
    if not isinstance(value or [], list):
        return [None]
    return [
        span_in(mark["start"], mark["end"], mark[severity], mark.get("category", ""))
        if isinstance(mark, dict) and {"start", "end", severity} <= mark.keys()
        else None
        for mark in value or []
    ]


def json_in(text: str, origin: str) -> Any:
    """Return the JSON value that stands in a field.

    Raises:
        InputError: This is not JSON, or it is nested too deeply.
    """
    try:
        return files.parse_json(text, Path(origin))
    except InputError as error:
        raise InputError(error.problem, file=origin, fix=error.fix) from None


# --- what tools that live in a browser do to names and texts, and how to undo it ------------------------

# Their pages put names into HTML as they are and count text in UTF-16 units, where a letter beyond the basic
# plane is two; a mark may begin in the middle of such a letter.

# The category of a mark for something that is not in the text at all.
MISSING = "missing"
# What JavaScript's trim takes away.
SPACES = (
    "\t\n\v\f\r \xa0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a"
    "\u2028\u2029\u202f\u205f\u3000\ufeff"
)
_UNSAFE = re.compile(r"[^\w-]+")
_IN_LINKS = re.compile(r"[A-Za-z0-9._~-]+")


def plain_names(names: Iterable[str]) -> dict[str, str]:
    """Return a name of letters, digits and underscores for every name, in order, no two alike."""
    plain_by_name: dict[str, str] = {}
    for name in names:
        plain = stem = _UNSAFE.sub("_", name).strip("_") or "aspect"
        count = 1
        while plain in plain_by_name.values():
            count += 1
            plain = f"{stem}_{count}"
        plain_by_name[name] = plain
    return plain_by_name


def fits_link(name: str) -> bool:
    """Say whether a name can stand in the address of a page as it is."""
    return _IN_LINKS.fullmatch(name) is not None


def whole_letters(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the code points that a span in UTF-16 units touches; letters cut in half are taken whole."""
    encoded = _encoded(text)
    prefix, through = encoded[: 2 * start], encoded[: 2 * end]
    return len(prefix.decode("utf-16-le", "ignore")), len(through.decode("utf-16-le", "replace"))


def units(text: str) -> int:
    """Return the length of a text in UTF-16 units."""
    return len(_encoded(text)) // 2


def _encoded(text: str) -> bytes:
    return text.encode("utf-16-le", "surrogatepass")


def marked_span(mark: Mapping[str, Any], text: str, severity: str, category: str) -> Span | None:
    """Return an error as Pearmut and Appraise write it (``end_i`` is the last letter), or None.

    A mark on ``[missing]`` stands behind the text, or says ``missing`` instead of numbers. It has no place of
    its own, so it sits on the last letter.
    """
    start, last = place_in(mark.get("start_i")), place_in(mark.get("end_i"))
    length = units(text)
    if mark.get("start_i") == MISSING:
        start = last = length
    if start is None or last is None or last < start:
        return None
    if start >= length:
        return Span(max(0, len(text) - 1), len(text), severity, MISSING)
    return Span(*whole_letters(text, start, min(last + 1, length)), severity, category)
