"""Records are found and read one by one, whatever is wrong with their neighbours."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import InputError, UsageError
from sparingly.choose.pool.records import FileRange, RecordProblem, cut_files, pool_files, records
from tests.choose.pool.pool_data import some_records, write_pool


def read_all(stretch: FileRange, longest: int = 1_000_000) -> list[tuple[int, Any]]:
    found, read = records(stretch, longest)
    return [(line, read(raw) if isinstance(raw, bytes) else raw) for line, raw in found]


def kinds(rows: list[tuple[int, Any]]) -> list[tuple[int, str]]:
    return [(line, row.kind if isinstance(row, RecordProblem) else "good") for line, row in rows]


def test_every_kind_of_bad_line_is_told(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    lines = [
        b'\xef\xbb\xbf{"text": "first"}',
        b'{"text": "cut',
        b"\x00\x01\xff\xfe",
        '{"text": "café"}'.encode("latin-1"),
        b"[1, 2]",
        b"",
        b'{"text": "' + b"x" * 200 + b'"}',
        b'{"text": "last"}',
    ]
    path.write_bytes(b"\r\n".join(lines))
    rows = read_all(FileRange(path, "jsonl"), longest=100)
    assert kinds(rows) == [
        (1, "good"),
        (2, "broken"),
        (3, "binary"),
        (4, "encoding"),
        (5, "broken"),
        (7, "too_long"),
        (8, "good"),
    ]
    assert rows[0][1] == {"text": "first"}
    assert rows[-1][1] == {"text": "last"}


@pytest.mark.parametrize(("size", "kind"), [(100, "good"), (101, "too_long")])
def test_the_longest_record_is_still_read(tmp_path: Path, size: int, kind: str) -> None:
    path = tmp_path / "a.txt"
    path.write_bytes(b"x" * size + b"\nshort\n")
    assert kinds(read_all(FileRange(path, "txt"), longest=100)) == [(1, kind), (2, "good")]


def test_fields_may_run_over_lines_and_one_wrong_quote_swallows_nothing(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text(
        'id,text\n1,"two\nlines, and ""more"""\n2,5" disks\n3,fine\n4,"open\n5,also fine\n6\n7,"quoted"\n',
        encoding="utf-8",
    )
    rows = read_all(FileRange(path, "csv"))
    assert kinds(rows) == [
        (2, "good"),
        (4, "good"),
        (5, "good"),
        (6, "broken"),
        (7, "good"),
        (8, "broken"),
        (9, "good"),
    ]
    assert rows[0][1] == {"id": "1", "text": 'two\nlines, and "more"'}
    assert rows[1][1]["text"] == '5" disks'


def test_a_header_that_names_a_column_twice_makes_a_file_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("id,text,text\n1,a,b\n", encoding="utf-8")
    assert kinds(read_all(FileRange(path, "csv"))) == [(1, "unreadable")]


def test_what_a_cut_off_archive_held_before_the_cut_is_read(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl.gz"
    generator = (f'{{"text": "{place * 7919 % 1000003}"}}\n' for place in range(20_000))
    path.write_bytes(gzip.compress("".join(generator).encode())[:-500])
    rows = read_all(FileRange(path, "jsonl"))
    assert rows[-1][1] == RecordProblem("unreadable", "the compressed file ends too early")
    assert len(rows) > 10_000
    assert {kind for _, kind in kinds(rows[:-2])} == {"good"}


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"PK\x03\x04 an archive of another kind", "unreadable"), ("text\n".encode("utf-16"), "broken")],
)
def test_a_file_of_another_kind_is_one_bad_record(tmp_path: Path, content: bytes, kind: str) -> None:
    path = tmp_path / "a.jsonl"
    path.write_bytes(content)
    assert kinds(read_all(FileRange(path, "jsonl"))) == [(1, kind)]


def test_a_damaged_parquet_file_is_one_unreadable_record(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, [("parquet", some_records(50))])
    path.write_bytes(path.read_bytes()[:-20])
    (stretch,) = cut_files([path])
    assert kinds(read_all(stretch)) == [(1, "unreadable")]


@given(
    lines=st.lists(st.text(st.sampled_from('ab"{}é\t'), max_size=12), max_size=30), size=st.integers(1, 60)
)
def test_stretches_of_a_file_hold_what_the_file_holds(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], size: int
) -> None:
    path = tmp_path_factory.mktemp("pool") / "a.txt"
    path.write_text("\n".join(lines), encoding="utf-8")
    whole = read_all(FileRange(path, "txt"))
    assert [row for stretch in cut_files([path], size) for row in read_all(stretch)] == whole


def test_parquet_is_cut_by_rows(tmp_path: Path) -> None:
    (path,) = write_pool(tmp_path, [("parquet", some_records(50))])
    cut = list(cut_files([path], rows=20))
    assert [(one.start, one.stop, one.line) for one in cut] == [(0, 20, 1), (20, 40, 21), (40, 50, 41)]
    rows = [row for one in cut for row in read_all(one)]
    assert [(line, row["id"]) for line, row in rows] == [(place + 1, f"s{place}") for place in range(50)]


def test_files_folders_and_globs_are_found_once_each(tmp_path: Path) -> None:
    first, second = write_pool(tmp_path / "pool", [("jsonl", []), ("csv.gz", [])])
    (tmp_path / "pool" / "notes.md").write_text("not a pool", encoding="utf-8")
    (tmp_path / "pool" / ".hidden.jsonl").write_text("", encoding="utf-8")
    found = pool_files([tmp_path / "pool", first, str(tmp_path / "pool" / "*.gz")])
    assert found[0] == [first, second]


@pytest.mark.parametrize(
    ("name", "error", "words"),
    [
        ("none.jsonl", InputError, "there is no such file"),
        ("*.jsonl", InputError, "no file matches"),
        ("a.docx", InputError, "the extension is not one of a pool's file"),
        (".", UsageError, "There is no file in the pool"),
    ],
)
def test_what_is_no_pool_is_refused(tmp_path: Path, name: str, error: type[Exception], words: str) -> None:
    (tmp_path / "a.docx").write_bytes(b"")
    with pytest.raises(error, match=words):
        pool_files(tmp_path / name)
