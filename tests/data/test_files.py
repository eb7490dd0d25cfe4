"""Files: opened whatever their compression, read line by line, written whole or not at all."""

from __future__ import annotations

import bz2
import gzip
import lzma
import stat
import tempfile
import threading
from collections.abc import Callable
from pathlib import Path
from typing import IO

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.data import files

CONTENT = 'first\n"zweite — ü"\n'


@pytest.mark.parametrize(
    ("name", "pack"),
    [
        ("a.txt", bytes),
        ("a.gz", gzip.compress),
        ("a.bz2", bz2.compress),
        ("a.xz", lzma.compress),
        ("gzip-by-content-not-by-name.txt", gzip.compress),
    ],
)
def test_compression_is_seen_by_content(tmp_path: Path, name: str, pack: type[bytes]) -> None:
    path = tmp_path / name
    path.write_bytes(pack(CONTENT.encode()))
    with files.open_binary(path) as file:
        assert file.read().decode() == CONTENT
    assert list(files.text_lines(path)) == [(1, "first"), (2, '"zweite — ü"')]


@pytest.mark.parametrize(
    "raw",
    [b"a\nb\n", b"a\nb", b"a\r\nb\r\n", b"\xef\xbb\xbfa\nb\n", b"\xef\xbb\xbfa\r\nb"],
)
def test_line_ends_and_a_byte_order_mark(tmp_path: Path, raw: bytes) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(raw)
    assert [line for _, line in files.text_lines(path)] == ["a", "b"]


def test_only_newlines_end_lines(tmp_path: Path) -> None:
    """A line separator inside a JSON string is a letter like others."""
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": "x\u2028y\x85z"}\n', encoding="utf-8")
    assert list(files.json_lines(path)) == [(1, {"a": "x\u2028y\x85z"})]


def test_blank_lines_are_passed_over_and_counted(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('\n{"a": 1}\n  \t\n{"a": 2}\n\n', encoding="utf-8")
    assert list(files.json_lines(path)) == [(2, {"a": 1}), (4, {"a": 2})]


def test_lines_are_read_as_they_are_asked_for(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"a": 1}\nnot JSON\n', encoding="utf-8")
    lines = files.json_lines(path)
    assert next(lines) == (1, {"a": 1})
    with pytest.raises(InputError, match="line 2"):
        next(lines)


def test_a_whole_json_file(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'\xef\xbb\xbf{\r\n"a": [1, 2.5, null, NaN]}\r\n')
    value = files.read_json(path)
    assert value["a"][:3] == [1, 2.5, None]
    assert value["a"][3] != value["a"][3]


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", ": the file is empty."),
        (" \n", ": the file is empty."),
        (
            '{"a": 1,\n "b" 2}',
            ", line 2: this is not JSON (Expecting ':' delimiter at column 6, near …: 1,\\n \"b\" 2}). "
            "Write one JSON value.",
        ),
        (
            '{"a": [1, 2',
            ", line 1: this is not JSON (Expecting ',' delimiter at column 12, near …\"a\": [1, 2). "
            "Is the file cut off?",
        ),
        ('{"a": 1, "a": 2}', ', field a: the key "a" is there twice. Keep one of them.'),
        ("[" * 100_000, ": the JSON is nested too deeply."),
        ("9" * 5000, ": a whole number has too many digits. Write it as text."),
    ],
)
def test_a_whole_json_file_that_is_none(tmp_path: Path, text: str, sentence: str) -> None:
    path = tmp_path / "a.json"
    path.write_text(text, encoding="utf-8")
    with pytest.raises(InputError) as caught:
        files.read_json(path)
    assert str(caught.value) == f"{path}{sentence}"


def test_a_whole_json_file_that_is_not_utf8(tmp_path: Path) -> None:
    path = tmp_path / "a.json"
    path.write_bytes(b'{"a":\n "caf\xe9"}')
    with pytest.raises(InputError) as caught:
        files.read_json(path)
    assert str(caught.value) == (
        f"{path}, line 2: byte 0xe9 is not UTF-8. Save the file as UTF-8: "
        f"iconv -f WINDOWS-1252 -t UTF-8 {path} > utf8.json."
    )


def objects_of(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    key = st.sampled_from(["a", "b", "c:", ":", 'd\\"', "e :"])
    colon = st.sampled_from([":", ": ", ": ", ": ", " :", "  :", "\t:"])
    pair = st.tuples(key, colon, values).map(lambda parts: f'"{parts[0]}"{parts[1]}{parts[2]}')
    return st.lists(pair, max_size=4).map(lambda pairs: f"{{{', '.join(pairs)}}}")


def containers_of(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    lists = st.lists(values, max_size=3).map(lambda parts: f"[{', '.join(parts)}]")
    return objects_of(values) | lists


PLAIN = st.sampled_from(
    ["1", "2.5", "null", '"x"', '"a : b"', '":"', '"said \\":"', '"\\" :"', '"{\\"a\\":1}"']
)


def outcome(read: Callable[[], object]) -> object:
    try:
        return read()
    except InputError as error:
        return str(error)


@given(objects_of(st.recursive(PLAIN, containers_of, max_leaves=12)))
def test_a_key_that_is_there_twice_is_found_wherever_it_stands(
    tmp_path_factory: pytest.TempPathFactory, line: str
) -> None:
    path = tmp_path_factory.getbasetemp() / "keys.jsonl"
    path.write_text(f"{line}\n", encoding="utf-8")
    one_by_one = outcome(lambda: [(1, files.parse_json(line, path, 1))])
    assert outcome(lambda: list(files.json_lines(path))) == one_by_one


@pytest.mark.parametrize(
    ("name", "suffix"),
    [
        ("a.jsonl", ".jsonl"),
        ("a.JSONL.GZ", ".jsonl"),
        ("a.tar.xz", ".tar"),
        ("a.gz", ""),
        ("a", ""),
        (".hidden", ""),
    ],
)
def test_extensions(name: str, suffix: str) -> None:
    assert files.extension(Path(name)) == suffix


# --- writing ---------------------------------------------------------------------------------------------


def put(content: bytes) -> Callable[[IO[bytes]], None]:
    def write(file: IO[bytes]) -> None:
        file.write(content)

    return write


@pytest.mark.parametrize("name", ["a.txt", "a.gz", "a.bz2", "a.xz", "Ä (b) + c.GZ"])
def test_what_is_written_can_be_read(tmp_path: Path, name: str) -> None:
    path = tmp_path / name
    files.write_atomically(path, put(CONTENT.encode()))
    with files.open_binary(path) as file:
        assert file.read().decode() == CONTENT
    assert (path.suffix == ".txt") == (path.read_bytes() == CONTENT.encode())
    assert [found.name for found in tmp_path.iterdir()] == [name]


def test_the_same_content_gives_the_same_bytes(tmp_path: Path) -> None:
    for name in ("a.gz", "b.gz"):
        files.write_atomically(tmp_path / name, put(CONTENT.encode()))
    assert (tmp_path / "a.gz").read_bytes() == (tmp_path / "b.gz").read_bytes()


@settings(max_examples=15, deadline=None)  # every example waits for the disk
@given(st.binary(max_size=200))
def test_any_bytes_survive(tmp_path_factory: pytest.TempPathFactory, content: bytes) -> None:
    path = tmp_path_factory.mktemp("any") / "a.gz"
    files.write_atomically(path, put(content))
    assert gzip.decompress(path.read_bytes()) == content


@pytest.mark.parametrize("failure", [RuntimeError("a fault"), KeyboardInterrupt()])
def test_nothing_is_left_half_written(tmp_path: Path, failure: BaseException) -> None:
    path = tmp_path / "a.txt"
    path.write_text("before", encoding="utf-8")

    def fail(file: IO[bytes]) -> None:
        file.write(b"half")
        raise failure

    with pytest.raises(type(failure)):
        files.write_atomically(path, fail)
    assert path.read_text(encoding="utf-8") == "before"
    assert [found.name for found in tmp_path.iterdir()] == ["a.txt"]


def test_readers_see_the_old_file_or_the_new_one(tmp_path: Path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old", encoding="utf-8")
    seen: list[str] = []

    def slowly(file: IO[bytes]) -> None:
        file.write(b"new")
        file.flush()
        reader = threading.Thread(target=lambda: seen.append(path.read_text(encoding="utf-8")))
        reader.start()
        reader.join()

    files.write_atomically(path, slowly)
    assert (seen, path.read_text(encoding="utf-8")) == (["old"], "new")


def test_a_written_file_can_be_read_by_those_who_may_read_others(tmp_path: Path) -> None:
    plain, written = tmp_path / "plain", tmp_path / "written"
    plain.touch()
    files.write_atomically(written, put(b""))
    assert stat.S_IMODE(written.stat().st_mode) == stat.S_IMODE(plain.stat().st_mode)


def test_targets_that_cannot_be_written(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    missing = tmp_path / "no" / "a.txt"
    (tmp_path / "folder").mkdir()
    problems = {
        missing: f"the folder to write to does not exist. Make {missing.parent}.",
        tmp_path / "folder": "this is a directory, not a file.",
    }
    for path, problem in problems.items():
        with pytest.raises(InputError) as caught:
            files.write_atomically(path, put(b""))
        assert str(caught.value) == f"{path}: {problem}"

    def refuse(error: OSError) -> None:
        def replacement(*_: object, **__: object) -> None:
            raise error

        monkeypatch.setattr(tempfile, "mkstemp", replacement)

    for error, problem in (
        (PermissionError(13, "Permission denied"), "no permission to write there."),
        (OSError(28, "No space left on device"), "the file cannot be written (No space left on device)."),
    ):
        refuse(error)
        with pytest.raises(InputError) as caught:
            files.write_atomically(tmp_path / "a.txt", put(b""))
        assert str(caught.value) == f"{tmp_path / 'a.txt'}: {problem}"
    assert [found.name for found in tmp_path.iterdir()] == ["folder"]
