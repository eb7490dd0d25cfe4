"""Files as text and JSON: read strictly within limits, written whole or not at all."""

from __future__ import annotations

import csv
import io
import json
import lzma
import math
import os
import shlex
import tempfile
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, BinaryIO, ClassVar, Self, cast

from sparingly.base.errors import InputError, UsageError
from sparingly.base.progress import report_progress
from sparingly.data.values import as_mapping

# --- how much a file may become -------------------------------------------------------------------
# The limits are far above what evaluation data need. ``SPARINGLY_LIMITS=off`` in the environment turns all
# of them off, for trusted files.

VARIABLE = "SPARINGLY_LIMITS"
TRUST_FIX = f"If you trust the file, turn the limits off: {VARIABLE}=off"
# A packed file or table may unpack to this many times its size, and any file to this many bytes.
MOST_TIMES = 100
UNPACKED_BYTES = 32 * 2**20
# A JSON value is held as a whole, and takes up to thirty times its bytes.
JSON_BYTES = 2**30
# Scores of items × models are held as a table with a place for each cell.
TABLE_BYTES = 2**30
MOST_COLUMNS = 10_000
_CELL_BYTES = 8
_BLOCK = 2**16


def limits_are_on() -> bool:
    """Return whether the limits hold."""
    switch = os.environ.get(VARIABLE, "on").strip().lower() or "on"
    if switch not in ("on", "off"):
        raise UsageError(f"{VARIABLE} is on or off, not {switch}.")
    return switch == "on"


def most_bytes(packed: int, minimum: int = UNPACKED_BYTES) -> float:
    """Return how many bytes a packed file of some size may unpack to."""
    return max(minimum, MOST_TIMES * packed) if limits_are_on() else math.inf


class Unpacked(io.RawIOBase):
    """What a decompressor gives, counted: more than a file of its size may become is an error."""

    def __init__(self, inner: BinaryIO, path: Path) -> None:
        self._inner, self._path = inner, path
        self._packed = path.stat().st_size
        self._most, self._read = most_bytes(self._packed), 0

    def readable(self) -> bool:
        """Return True: it is read."""
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        """Read the next bytes."""
        # Never more than a block at once: the buffer may be larger than what is allowed.
        content = self._inner.read(min(len(buffer), _BLOCK))
        self._read += len(content)
        if self._read > self._most:
            raise InputError(
                f"the file of {_size(self._packed)} unpacks to more than {_size(self._most)}",
                file=self._path,
                fix=TRUST_FIX,
            )
        buffer[: len(content)] = content
        return len(content)

    def close(self) -> None:
        """Close the file."""
        self._inner.close()
        super().close()


def json_blocks(file: IO[bytes], path: Path) -> Iterator[bytes]:
    """Yield the content of a JSON file; a value that is too large to be held as a whole is an error."""
    read, limit = 0, JSON_BYTES if limits_are_on() else math.inf
    while block := file.read(2**20):
        read += len(block)
        if read > limit:
            raise InputError(
                f"the JSON value is larger than {_size(JSON_BYTES)}",
                file=path,
                fix=f"Write JSON Lines, one item a line. {TRUST_FIX}",
            )
        yield block


def check_columns(path: Path | str, count: int) -> None:
    """Refuse a table with more columns than any evaluation has."""
    if limits_are_on() and count > MOST_COLUMNS:
        raise InputError(
            f"the table has {count:,} columns, and at most {MOST_COLUMNS:,} are read",
            file=path,
            fix=f"Write one row for each item and model. {TRUST_FIX}",
        )


def check_rows(path: Path, rows: int, columns: int, size: int) -> None:
    """Refuse a packed table whose rows take far more room than the file."""
    if rows * max(columns, 1) * _CELL_BYTES > most_bytes(size):
        raise InputError(
            f"the file of {_size(size)} holds {rows:,} rows of {columns:,} columns", file=path, fix=TRUST_FIX
        )


def check_text(path: Path, total: int, size: int, column: str) -> None:
    """Refuse a column whose texts take far more room than the file."""
    if total > most_bytes(size):
        raise InputError(
            f"the file of {_size(size)} holds {_size(total)} of text in one column",
            file=path,
            field=column,
            fix=TRUST_FIX,
        )


def check_places(path: Path | str, items: int, models: int, tables: int = 1) -> None:
    """Refuse items × models that take far more room than their file; most places would be empty."""
    file = Path(path)
    if not file.is_file():
        # A frame, or a directory of files, each of which is long where the set is.
        return
    size = file.stat().st_size
    if items * models * max(tables, 1) * _CELL_BYTES > most_bytes(size, TABLE_BYTES):
        raise InputError(
            f"{items:,} items × {models:,} models are too many to hold, and few of their scores are there",
            file=path,
            fix=TRUST_FIX,
        )


def _size(count: float) -> str:
    for unit, size in (("GB", 2**30), ("MB", 2**20), ("kB", 2**10)):
        if count >= size:
            return f"{count / size:.3g} {unit}"
    return f"{count:.0f} bytes"


# --- reading and writing --------------------------------------------------------------------------

COMPRESSIONS = (".gz", ".bz2", ".xz")
MAX_LINE_BYTES = 128 * 2**20
# After how many lines progress is reported.
_REPORTED_LINES = 4096
_MAGIC = {b"\x1f\x8b": "gzip", b"BZh": "bz2", b"\xfd7zXZ\x00": "lzma"}
_UTF_16 = (b"\xff\xfe", b"\xfe\xff")
_FOREIGN = {
    b"PK\x03\x04": "a ZIP archive",
    b"\x28\xb5\x2f\xfd": "compressed with zstd",
    b"%PDF-": "a PDF",
}

# A spreadsheet takes a text that begins so for a formula.
_FORMULA = ("=", "+", "-", "@", "\t", "\r")


def without_formulas(row: Mapping[str, Any], columns: Iterable[str]) -> dict[str, Any]:
    """Return a row whose texts in the given columns no spreadsheet takes for formulas."""
    guarded = {
        name: f"'{row[name]}"
        for name in columns
        if isinstance(row.get(name), str) and row[name].startswith(_FORMULA)
    }
    return {**row, **guarded}


def csv_text(rows: Iterable[Mapping[str, Any]], columns: Sequence[str], separator: str = ",") -> str:
    """Return rows as CSV with a header; missing values are empty, keys without a column are left out."""
    lines: list[str] = []

    class _Lines:
        def write(self, line: str) -> int:
            lines.append(line.removesuffix("\r\n") + "\n")
            return len(line)

    # With this end of line, fields with either letter of it are quoted: a lone one would break the row.
    writer = csv.DictWriter(
        _Lines(), columns, extrasaction="ignore", delimiter=separator, lineterminator="\r\n"
    )
    writer.writeheader()
    writer.writerows(rows)
    return "".join(lines)


def open_binary(path: Path) -> IO[bytes]:
    """Open a file for reading, decompressing gzip, bzip2 and xz by content."""
    with naming(path):
        if path.is_dir():
            raise InputError("this is a directory, not a file", file=path)
        with path.open("rb") as plain:
            start = plain.read(8)
        for magic, module in _MAGIC.items():
            if start.startswith(magic):
                opener = __import__(module).open
                return io.BufferedReader(Unpacked(opener(path, "rb"), path), _BLOCK)
        foreign = next((name for magic, name in _FOREIGN.items() if start.startswith(magic)), None)
        # Latin letters in UTF-16 have a zero as every other byte, with a byte-order mark or without.
        if len(start) == 8 and any(start[0::2]) != any(start[1::2]):
            foreign = "UTF-16"
        if start.startswith(_UTF_16) and not start.startswith(b"\xff\xfe\0\0"):
            return _from_utf_16(path)
        if foreign is not None:
            what = "a table or JSON" if foreign == "a PDF" else "it"
            fix = f"Save {what} as UTF-8, plain or gzip-compressed"
            raise InputError(f"the file is {foreign}", file=path, fix=fix)
        return path.open("rb")


def is_recoded(path: Path) -> bool:
    """Say whether a file's bytes differ from the text that is read: compressed, or UTF-16."""
    with path.open("rb") as file:
        return file.read(8).startswith((*_MAGIC, *_UTF_16))


def _from_utf_16(path: Path) -> IO[bytes]:
    """Return a text in UTF-16 with a byte-order mark, as spreadsheets save it, as UTF-8."""
    try:
        return io.BytesIO(path.read_bytes().decode("utf-16").encode("utf-8"))
    except UnicodeDecodeError as error:
        raise InputError(
            f"the file begins as UTF-16 and is not ({error.reason})", file=path, fix="Save it as UTF-8"
        ) from None


def _not_utf_8(path: Path) -> str:
    """Return what to do about a text file in an older encoding."""
    recode = f"iconv -f WINDOWS-1252 -t UTF-8 {shlex.quote(str(path))} > utf8{extension(path)}"
    return f"Save the file as UTF-8: {recode}"


@contextmanager
def naming(path: Path) -> Iterator[None]:
    """Turn errors of the operating system and the decompressors into one sentence that names the file."""
    _check_name(path)
    try:
        yield
    except InputError as error:
        raise error.at(file=path) from None
    except FileNotFoundError:
        raise InputError("there is no such file", file=path) from None
    except IsADirectoryError:
        raise InputError("this is a directory, not a file", file=path) from None
    except PermissionError:
        raise InputError("no permission to open the file", file=path, fix="Change its permissions") from None
    except EOFError:
        raise InputError(
            "the compressed file ends too early", file=path, fix="Copy or download it again"
        ) from None
    except (zlib.error, lzma.LZMAError, OSError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise InputError(f"the file cannot be read ({reason})", file=path) from None


def _check_name(path: Path) -> None:
    if "\0" in str(path):
        raise InputError("a file name cannot hold a NUL character", file=path)


def text_lines(path: Path) -> Iterator[tuple[int, str]]:
    """Yield the lines of a UTF-8 text file with their numbers, without line ends and byte-order mark."""
    with naming(path), open_binary(path) as file:
        number = place = 0
        # How far a compressed file is read cannot be known.
        size = 0 if is_recoded(path) else path.stat().st_size
        while True:
            try:
                raw = file.readline(MAX_LINE_BYTES + 1)
            except EOFError:
                raise InputError(
                    "the compressed file ends too early",
                    file=path,
                    line=number + 1,
                    fix="Copy or download it again",
                ) from None
            if not raw:
                return
            number, place = number + 1, place + len(raw)
            if size and number % _REPORTED_LINES == 0:
                report_progress(place, size)
            if len(raw) > MAX_LINE_BYTES:
                raise InputError(
                    f"the line is longer than {MAX_LINE_BYTES / 2**20:.3g} MB",
                    file=path,
                    line=number,
                    fix="Write one item per line",
                )
            if number == 1:
                raw = raw.removeprefix(b"\xef\xbb\xbf")
            try:
                text = raw.decode("utf-8")
            except UnicodeDecodeError as error:
                raise InputError(
                    f"byte 0x{raw[error.start]:02x} at column {error.start + 1} is not UTF-8",
                    file=path,
                    line=number,
                    fix=_not_utf_8(path),
                ) from None
            yield number, text.rstrip("\r\n")


def json_lines(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the objects of a JSON Lines file with their line numbers; blank lines are passed over."""
    for number, line in text_lines(path):
        if not line or line.isspace():
            continue
        value = _quickly_parsed(line)
        if value is None:
            value = parse_json(line, path, number)
        if not isinstance(value, dict):
            raise InputError(
                f"expected a JSON object, not {_shorten(line)}",
                file=path,
                line=number,
                fix="Write one item per line, each as {…}",
            )
        yield number, value


def _quickly_parsed(line: str) -> dict[str, Any] | None:
    """Return the object on a line where counting its keys shows that none is there twice; else None.

    A colon follows every key, so no key was lost where an object has as many as its line has colons. Where
    texts hold colons, too, the pairs ``":`` are counted, unless there is space between a key and its colon.
    """
    try:
        value, end = _DECODER_OF_ANY_KEYS.raw_decode(line)
        if end < len(line) or type(value) is not dict:
            return None
        colons = line.count(":")
        if _keys_near_the_top(value) == colons:
            return value
        keys, pairs = _keys_in(value), line.count('":')
    except (ValueError, RecursionError):
        return None
    if keys == colons:
        return value
    is_close = pairs == colons or not any(space in line for space in (" :", "\t:", "\r:"))
    return value if is_close and keys == pairs else None


def _keys_near_the_top(value: dict[str, Any]) -> int:
    """Return how many keys an object and those just below it have: all of them, as a rule, or fewer."""
    count = len(value)
    for part in value.values():
        if type(part) is dict:
            inner = part.values()
            count += len(part) + (sum(map(len, inner)) if {*map(type, inner)} == {dict} else 0)
    return count


def _keys_in(value: dict[str, Any] | list[Any]) -> int:
    count = len(value) if type(value) is dict else 0
    for part in value.values() if type(value) is dict else value:
        if type(part) is dict or type(part) is list:
            count += _keys_in(part)
    return count


def parse_json(text: str, path: Path, line: int | None = None) -> Any:
    """Parse JSON strictly: a key that is there twice is an error, as is anything after the value."""
    try:
        return _DECODER.decode(text)
    except json.JSONDecodeError as error:
        cut_off = error.pos >= len(text.rstrip()) or error.msg.startswith("Unterminated string")
        start = max(0, error.pos - 10)
        near = f"{'…' if start else ''}{_shorten(text[start : error.pos + 40])}"
        raise InputError(
            f"this is not JSON ({error.msg.removesuffix(' at')} at column {error.colno}, near {near})",
            file=path,
            line=error.lineno if line is None else line,
            fix="Is the file cut off?" if cut_off else "Write one JSON value",
        ) from None
    except RecursionError:
        raise InputError("the JSON is nested too deeply", file=path, line=line) from None
    except InputError as error:
        raise error.at(file=path, line=line) from None
    except ValueError:
        # Python converts no whole number of more than some thousand digits.
        raise InputError(
            "a whole number has too many digits", file=path, line=line, fix="Write it as text"
        ) from None


def read_json(path: Path) -> Any:
    """Read a whole JSON file."""
    with naming(path), open_binary(path) as file:
        raw = b"".join(json_blocks(file, path))
    try:
        text = raw.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"byte 0x{raw[error.start]:02x} is not UTF-8",
            file=path,
            line=raw[: error.start].count(b"\n") + 1,
            fix=_not_utf_8(path),
        ) from None
    if not text.strip():
        raise InputError("the file is empty", file=path)
    return parse_json(text, path)


def _unique_keys(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    values = dict(pairs)
    if len(values) < len(pairs):
        earlier: set[str] = set()
        for key, _ in pairs:
            if key in earlier:
                raise InputError(f'the key "{key}" is there twice', field=key, fix="Keep one of them")
            earlier.add(key)
    return values


# Made once: a file has as many texts as lines.
_DECODER = json.JSONDecoder(object_pairs_hook=_unique_keys)
_DECODER_OF_ANY_KEYS = json.JSONDecoder()


def _shorten(text: str, length: int = 40) -> str:
    return text if len(text) <= length else f"{text[:length]}…"


def extension(path: Path) -> str:
    """Return the extension of a file without that of its compression: ``.jsonl`` for ``a.jsonl.gz``."""
    stem = path.with_suffix("") if path.suffix.lower() in COMPRESSIONS else path
    return stem.suffix.lower()


def write_atomically(path: Path, write: Callable[[IO[bytes]], None], *, private: bool = False) -> None:
    """Write a file whole or not at all: a temporary one beside it, synced, then renamed.

    The content is compressed when the name ends in ``.gz``, ``.bz2`` or ``.xz``. Only its owner can read a
    ``private`` file: mkstemp makes it so.
    """
    path = Path(path)
    with naming_target(path):
        handle, temporary = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
        try:
            with os.fdopen(handle, "wb") as file:
                with _compressing(file, path.suffix.lower()) as target:
                    write(target)
                file.flush()
                os.fsync(file.fileno())
            if not private:
                mask = os.umask(0)
                os.umask(mask)
                Path(temporary).chmod(0o666 & ~mask)
            Path(temporary).replace(path)
        except BaseException:
            Path(temporary).unlink(missing_ok=True)
            raise


def write_json(path: Path, values: Any, *, private: bool = False) -> None:
    """Write values as a JSON file, whole or not at all; only its owner can read a private one."""
    text = json.dumps(values, ensure_ascii=False, indent=1, allow_nan=False)
    # Half a surrogate pair is no UTF-8; its escape is JSON and stands for the same letter.
    content = text.encode("utf-8", "backslashreplace") + b"\n"
    write_atomically(path, lambda file: file.writelines([content]), private=private)


def write_bytes(path: Path, content: bytes | memoryview) -> None:
    """Write a file whole or not at all."""
    write_atomically(path, lambda file: file.writelines([content]))


@contextmanager
def naming_target(path: Path) -> Iterator[None]:
    """Turn errors of writing into one sentence that names the file."""
    _check_name(path)
    try:
        yield
    except FileNotFoundError:
        raise InputError(
            "the folder to write to does not exist", file=path, fix=f"Make {path.parent}"
        ) from None
    except IsADirectoryError:
        raise InputError("this is a directory, not a file", file=path) from None
    except PermissionError:
        raise InputError("no permission to write there", file=path) from None
    except OSError as error:
        raise InputError(f"the file cannot be written ({error.strerror or error})", file=path) from None


@contextmanager
def _compressing(file: IO[bytes], suffix: str) -> Iterator[IO[bytes]]:
    if suffix == ".gz":
        import gzip

        # No time stamp and no name inside, so that the same content gives the same bytes.
        with gzip.GzipFile(filename="", fileobj=file, mode="wb", mtime=0) as packed:
            yield cast(IO[bytes], packed)
    elif suffix in (".bz2", ".xz"):
        module = __import__({".bz2": "bz2", ".xz": "lzma"}[suffix])
        with module.open(file, "wb") as packed:
            yield packed
    else:
        yield file


class OwnFile:
    """A result with a file of its own: JSON with what ``to_dict`` says, from which ``from_dict`` makes it."""

    # Whether only its owner may read it.
    is_private: ClassVar[bool] = False

    if TYPE_CHECKING:

        def to_dict(self) -> dict[str, Any]:
            """Return what the file holds."""

        @classmethod
        def from_dict(cls, values: Mapping[str, Any]) -> Self:
            """Make it from the values of its file."""

    def save(self, path: str | Path) -> None:
        """Write it as JSON, whole or not at all."""
        write_json(Path(path), self.to_dict(), private=self.is_private)

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read it from its file."""
        with naming(Path(path)):
            return cls.from_dict(as_mapping(read_json(Path(path)), cls.__name__.lower()))
