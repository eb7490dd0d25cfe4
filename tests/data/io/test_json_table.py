"""Large files of JSON Lines: their fields are found in the first lines, and a later new field is not lost."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import polars as pl
import pytest

import sparingly
from sparingly.data.io import json_table

_ROW = {
    "id": 1,
    "judge": {"name": "g", "parts": [{"k": 1}, {"k": 2}]},
    "text": 'he said "x": and ": and "y" :null',
}


@pytest.fixture
def first_rows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(json_table, "_FIRST", 2)
    monkeypatch.setattr(json_table, "_LARGE", 0)


def write(path: Path, rows: list[Any], **options: Any) -> Path:
    lines = (row if isinstance(row, str) else json.dumps(row, **options) for row in rows)
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.mark.usefixtures("first_rows")
@pytest.mark.parametrize("separators", [(",", ":"), (", ", ": "), (" , ", " : ")])
@pytest.mark.parametrize(
    "last",
    [
        {"id": 9},
        {"id": None, "judge": None, "text": None},
        {"id": 9, "judge": {"name": None, "parts": []}},
        {"id": 9, "judge": {"parts": [None, {"k": None}]}},
        {"id": 9, "judge": None, "text": "a\\"},
    ],
)
def test_fields_of_the_first_lines_are_enough(
    tmp_path: Path, last: dict[str, Any], separators: tuple[str, str]
) -> None:
    path = write(tmp_path / "rows.jsonl", [_ROW, _ROW, _ROW, last], separators=separators)
    frame = json_table._read_alike(path)
    if separators[1] != " : ":
        assert frame is not None
    if frame is not None:
        assert frame.equals(pl.read_ndjson(path, infer_schema_length=None))


@pytest.mark.usefixtures("first_rows")
@pytest.mark.parametrize(
    "last",
    [
        {"id": 9, "new": 1},
        {"id": 9, "judge": {"name": "g", "new": 1}},
        {"id": 9, "judge": {"parts": [{"k": 1, "new": 3}]}},
        {"id": 9, "judge": {"name": {"new": 1}}},
        {"id": "nine"},
        {"id": 1.5},
        '{"id" : 1, "new": 2}',
        '{"id": 1, "new": 2, "text": null}',
        '{"id": 1, "a\\\\": 2}',
    ],
)
def test_a_later_field_or_type_is_not_lost(tmp_path: Path, last: Any) -> None:
    assert json_table._read_alike(write(tmp_path / "rows.jsonl", [_ROW, _ROW, _ROW, last])) is None


@pytest.mark.usefixtures("first_rows")
def test_a_late_column_of_scores_is_read(tmp_path: Path) -> None:
    rows: list[Any] = [{"prompt": f"What is {place}?", "response": f"It is {place}."} for place in range(30)]
    rows += [{"prompt": "And now?", "response": "Now.", "human_score": 4}]
    data = sparingly.load(write(tmp_path / "rows.jsonl", rows))
    assert list(data.aspects) == ["human_score"]
    assert data.outputs is not None
    assert "Now." in data.outputs.ravel().tolist()
