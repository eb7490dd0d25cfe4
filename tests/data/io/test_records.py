from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.data.io.format import (
    Head,
    array_records,
    digest_id,
    first_record,
    names_in,
    read_records,
    take_rows,
)

VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**9), 10**9)
    | st.text(st.characters(exclude_categories=["Cs"])),
    lambda inner: (
        st.lists(inner, max_size=3) | st.dictionaries(st.text("ab]}", max_size=2), inner, max_size=3)
    ),
    max_leaves=8,
)
RECORDS = st.lists(st.dictionaries(st.text("xyz,", max_size=3), VALUES, max_size=3), max_size=5)


@settings(max_examples=60, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(records=RECORDS, indent=st.sampled_from([None, 0, 2]), start=st.sampled_from(["", "\ufeff", "\n \n"]))
def test_an_array_gives_its_objects_and_their_lines(
    tmp_path: Path, records: list[dict[str, Any]], indent: int | None, start: str
) -> None:
    path = tmp_path / "a.json"
    text = start + json.dumps(records, indent=indent) + "\n"
    path.write_text(text, encoding="utf-8")
    found = list(array_records(path))
    assert [record for _, record in found] == records
    rows = text.split("\n")
    assert all("{" in rows[line - 1] for line, _ in found)
    assert first_record(Head(path)) == (records[0] if records else None)


def test_lines_and_arrays_are_told_apart(tmp_path: Path) -> None:
    path = tmp_path / "r"
    path.write_text('\n{"a": 1}\n\n{"a": 2}\n', encoding="utf-8")
    assert list(read_records(path)) == [(2, {"a": 1}), (4, {"a": 2})]
    path.write_text('\n[\n{"a": 1},\n\n{"a": 2}]\n', encoding="utf-8")
    assert list(read_records(path)) == [(3, {"a": 1}), (5, {"a": 2})]
    path.write_text("[]", encoding="utf-8")
    assert list(read_records(path)) == []
    path.write_text(" \n", encoding="utf-8")
    with pytest.raises(InputError, match="the file is empty"):
        list(read_records(path))
    with pytest.raises(InputError, match=r"expected a JSON array \[…\]"):
        list(array_records(path))


def test_a_first_object_longer_than_the_head_is_found(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    path.write_text(json.dumps([{"a": "x" * 100_000}, {"b": 1}]), encoding="utf-8")
    assert first_record(Head(path)) == {"a": "x" * 100_000}
    for other in ("[1, 2]", "text", '["x"]'):
        path.write_text(other, encoding="utf-8")
        assert first_record(Head(path)) is None


def test_rows_of_a_table_are_handed_on_with_their_lines(tmp_path: Path) -> None:
    path = tmp_path / "r.csv"
    path.write_text('a,b\n1,"two\nlines"\n,""\n', encoding="utf-8")
    rows: list[dict[str, Any]] = []
    take_rows(path, lambda _, record: rows.append(record))
    assert rows == [{"a": "1", "b": "two\nlines"}, {"a": None, "b": ""}]

    def refuse(row: int, record: dict[str, Any]) -> None:
        if row == 1:
            raise InputError("no", field="b")

    with pytest.raises(InputError) as caught:
        take_rows(path, refuse)
    assert str(caught.value) == f"{path}, line 4, field b: no."


def test_names_in_options() -> None:
    assert names_in(None) == []
    assert names_in("a, b c,,d") == ["a", "b c", "d"]
    assert names_in(["a,b", 3]) == ["a,b", "3"]


def test_digests_are_fixed() -> None:
    assert digest_id("prompt", "Hi") == "prompt-cd410cebb45ccbcd"
    assert digest_id("prompt", "Hi ") != digest_id("prompt", "Hi")
    assert len(digest_id("x", "\ud800")) == 18
