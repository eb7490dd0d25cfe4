"""Bad files: each gets one sentence that names the file, the line, the field, the value and the fix."""

from __future__ import annotations

import gzip
import json
import lzma
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sparingly.base.errors import InputError
from sparingly.data import files, io
from tests.data.io.bad_lines import COLLECTIONS, HEADER, ITEM, JSON_LINES, lines
from tests.ordinary_user import as_an_ordinary_user

NAN = np.nan


def complaint(path: Path, format: str | None = None) -> str:
    """The sentence about a bad file: an InputError on one line, with no other error behind it."""
    with pytest.raises(InputError) as caught:
        io.load(path, format)
    error = caught.value
    assert error.__suppress_context__ or error.__context__ is None, "the user sees no other traceback"
    sentence = str(error)
    assert len(sentence.splitlines()) == 1
    assert sentence.startswith(str(path)), "the file comes first"
    return sentence.removeprefix(str(path))


@pytest.mark.parametrize("what", JSON_LINES)
def test_lines_of_our_own(tmp_path: Path, what: str) -> None:
    text, sentence = JSON_LINES[what]
    path = tmp_path / "set.jsonl"
    path.write_text(text, encoding="utf-8")
    assert complaint(path) == sentence.replace("FILE", str(path))


@pytest.mark.parametrize("what", COLLECTIONS)
def test_lines_of_collections(tmp_path: Path, what: str) -> None:
    record, sentence = COLLECTIONS[what]
    path = tmp_path / "set.jsonl"
    path.write_text(lines(record), encoding="utf-8")
    assert complaint(path) == sentence


# --- files as they lie on disks ------------------------------------------------------------------------

GOOD = lines(HEADER, *({"item": f"i{place}", "outputs": {"m": "x" * 50}} for place in range(3000)))


def packed(size: int | None) -> bytes:
    return gzip.compress(GOOD.encode())[:size]


RAW: dict[str, tuple[str, bytes, str]] = {
    "an empty file": ("set.jsonl", b"", ": the file is empty."),
    "only blank space": ("set.jsonl", b" \r\n\t\n" * 50_000, ": the file is empty."),
    "only a byte-order mark": ("set.csv", b"\xef\xbb\xbf", ": the file is empty."),
    "an empty gzip": ("set.jsonl.gz", gzip.compress(b""), ": the file is empty."),
    "a truncated gzip": (
        "set.jsonl.gz",
        packed(40),
        ": the compressed file ends too early. Copy or download it again.",
    ),
    "a truncated xz": (
        "set.jsonl.xz",
        lzma.compress(GOOD.encode())[:60],
        ": the compressed file ends too early. Copy or download it again.",
    ),
    "UTF-16 that is cut off": (
        "set.jsonl",
        GOOD.encode("utf-16")[:-1],
        ": the file begins as UTF-16 and is not (truncated data). Save it as UTF-8.",
    ),
    "UTF-16 without a mark": (
        "set.jsonl",
        GOOD.encode("utf-16-le"),
        ": the file is UTF-16. Save it as UTF-8, plain or gzip-compressed.",
    ),
    "UTF-16 the other way round": (
        "set.jsonl",
        GOOD.encode("utf-16-be"),
        ": the file is UTF-16. Save it as UTF-8, plain or gzip-compressed.",
    ),
    "a ZIP archive": (
        "set.xlsx",
        b"PK\x03\x04 and so on",
        ": the ZIP archive is damaged (File is not a zip file). Is it complete? Copy it again.",
    ),
    "zstd": (
        "set.jsonl.zst",
        b"\x28\xb5\x2f\xfd and so on",
        ": the file is compressed with zstd. Save it as UTF-8, plain or gzip-compressed.",
    ),
    "latin-1": (
        "set.jsonl",
        lines(ITEM, '{"item": "café"}').encode("latin-1"),
        ", line 2: byte 0xe9 at column 14 is not UTF-8. Save the file as UTF-8: "
        "iconv -f WINDOWS-1252 -t UTF-8 FILE > utf8.jsonl.",
    ),
    "a JSON array where lines are wanted": (
        "set.jsonl",
        json.dumps([ITEM, ITEM]).encode(),
        f", line 1: expected a JSON object, not {json.dumps([ITEM, ITEM])[:40]}…. "
        "Write one item per line, each as {…}.",
    ),
    "not JSON at all": (
        "set.jsonl",
        b"id,score\n1,2\n",
        ", line 1: this is not JSON (Expecting value at column 1, near id,score). Write one JSON value.",
    ),
    "a cut-off JSON file": (
        "set.json",
        b'{"a": [1,\n 2',
        ", line 2: this is not JSON (Expecting ',' delimiter at column 3, near …a\": [1,\\n 2). "
        "Is the file cut off?",
    ),
}


@pytest.mark.parametrize("what", RAW)
def test_files_that_are_something_else(tmp_path: Path, what: str) -> None:
    name, raw, sentence = RAW[what]
    path = tmp_path / name
    path.write_bytes(raw)
    assert complaint(path) == sentence.replace("FILE", str(path))


def test_a_gzip_that_ends_in_the_middle_names_the_line(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl.gz"
    path.write_bytes(gzip.compress(os.urandom(0) + GOOD.encode(), compresslevel=0)[:-50_000])
    sentence = complaint(path)
    place = sentence.removeprefix(", line ").partition(":")[0]
    assert 1000 < int(place) < 3001
    assert sentence == f", line {place}: the compressed file ends too early. Copy or download it again."


def test_a_gzip_with_a_changed_byte(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl.gz"
    raw = bytearray(gzip.compress(GOOD.encode(), compresslevel=0))
    raw[-4] ^= 1
    path.write_bytes(raw)
    assert complaint(path).startswith(": the file cannot be read (Incorrect length of data produced")


def test_an_xz_with_a_changed_byte(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl.xz"
    raw = bytearray(lzma.compress(GOOD.encode()))
    raw[40] ^= 255
    path.write_bytes(raw)
    assert complaint(path).startswith(": the file cannot be read (Corrupt input data")


def test_a_file_of_no_format(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("some words\nand more of them\n", encoding="utf-8")
    names = ", ".join(known.name for known in io.formats())
    fix = f"Give a table (CSV, Excel), JSON Lines or Parquet, or name the format: one of {names}."
    assert complaint(path) == f": the format is not recognised. {fix}"


def test_a_directory_of_no_format(tmp_path: Path) -> None:
    (tmp_path / "readme.md").write_text("nothing", encoding="utf-8")
    assert complaint(tmp_path).startswith(
        ": this directory holds no data in a known layout. Name a file in it, or "
    )


def test_a_directory_where_a_file_is_wanted(tmp_path: Path) -> None:
    assert complaint(tmp_path, "jsonl") == ": this is a directory, not a file."


def test_a_missing_file(tmp_path: Path) -> None:
    assert complaint(tmp_path / "no.jsonl") == ": there is no such file."
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "no.jsonl")
    assert complaint(tmp_path / "link.jsonl") == ": there is no such file."
    (tmp_path / "plain").touch()
    assert complaint(tmp_path / "plain" / "below.jsonl") == ": there is no such file."


REFUSED = ": no permission to open the file. Change its permissions."


def test_no_permission_when_the_system_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(GOOD, encoding="utf-8")

    def refuse(self: Path, *_: object, **__: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "open", refuse)
    assert complaint(path) == REFUSED


def test_no_permission_to_look_into_the_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: Path, **_: object) -> None:
        raise PermissionError(13, "Permission denied", str(self))

    monkeypatch.setattr(Path, "stat", refuse)
    assert complaint(tmp_path / "set.jsonl") == REFUSED


def test_no_permission(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(GOOD, encoding="utf-8")
    assert len(io.load(path)) == 3000
    path.chmod(0)
    with as_an_ordinary_user():
        assert complaint(path) == REFUSED


def test_a_disk_that_fails(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(GOOD, encoding="utf-8")

    def fail(self: Path, *_: object, **__: object) -> None:
        raise OSError(5, "Input/output error", str(self))

    monkeypatch.setattr(Path, "open", fail)
    assert complaint(path) == ": the file cannot be read (Input/output error)."


# --- long lines ----------------------------------------------------------------------------------------


def test_a_long_line(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(files, "MAX_LINE_BYTES", 2**20)
    path = tmp_path / "set.jsonl"
    path.write_text(lines(ITEM, {"item": "b", "source": "x" * 2**20}), encoding="utf-8")
    assert complaint(path) == ", line 2: the line is longer than 1 MB. Write one item per line."
    path.write_text(lines({"item": "b", "source": "x" * (2**20 - 100)}), encoding="utf-8")
    assert io.load(path).items.tolist() == ["b"]


LOAD_IN_LITTLE_MEMORY = """
import resource, sys
from sparingly.data import io
from sparingly.base.errors import InputError
resource.setrlimit(resource.RLIMIT_AS, (1_500_000_000, 1_500_000_000))
try:
    io.load(sys.argv[1])
except InputError as error:
    print(error)
"""


@pytest.mark.parametrize("place", [1, 2])
def test_a_line_of_200_megabytes(tmp_path: Path, place: int) -> None:
    """One sentence, soon, in little memory: not every file without line ends is read to its end."""
    path = tmp_path / "set.jsonl"
    with path.open("wb") as file:
        file.write(lines(ITEM).encode() * (place - 1))
        file.write(b'{"item": "b", "source": "')
        file.seek(200 * 2**20, os.SEEK_CUR)
        file.write(b'"}\n')
    done = subprocess.run(
        [sys.executable, "-c", LOAD_IN_LITTLE_MEMORY, str(path)], capture_output=True, text=True, check=False
    )
    assert (done.stderr, done.returncode) == ("", 0)
    assert done.stdout == (
        f"{path}, line {place}: the line is longer than 128 MB. Write one item per line.\n"
    )


# --- files that look bad and are good ------------------------------------------------------------------


@pytest.mark.parametrize(
    "change",
    [
        lambda raw: b"\xef\xbb\xbf" + raw,
        lambda raw: raw.replace(b"\n", b"\r\n"),
        lambda raw: raw.rstrip(b"\n"),
        lambda raw: b"\n\n" + raw.replace(b"\n", b"\n \n"),
        gzip.compress,
        lambda raw: gzip.compress(raw[:100]) + gzip.compress(raw[100:]),
        lzma.compress,
    ],
    ids=["BOM", "CRLF", "no last line end", "blank lines", "gzip", "gzip in parts", "xz"],
)
def test_good_files(tmp_path: Path, change: Callable[[bytes], bytes]) -> None:
    plain, changed = tmp_path / "plain.jsonl", tmp_path / "changed.jsonl"
    plain.write_text(GOOD, encoding="utf-8")
    changed.write_bytes(change(GOOD.encode()))
    assert io.load(changed).digest() == io.load(plain).digest()


def test_missing_cells_are_missing_however_they_are_written(tmp_path: Path) -> None:
    path = tmp_path / "set.jsonl"
    path.write_text(
        lines(
            '{"item": "a", "metrics": {"m": {"x": 1}, "n": {"x": NaN}}}',
            '{"item": "b", "metrics": {"m": {"x": null}, "n": {}}}',
            '{"item": "c", "metrics": {"m": {"x": 2}}}',
            '{"item": "d", "metrics": null}',
        ),
        encoding="utf-8",
    )
    data = io.load(path)
    np.testing.assert_array_equal(data.metrics["x"], [[1, NAN], [NAN, NAN], [2, NAN], [NAN, NAN]])
