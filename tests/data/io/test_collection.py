"""The layout of the shared collections: by hand, and every one of them as its table says."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.data import io
from sparingly.data.evalset import EvalSet

NAN = np.nan
LARGE = "Large (v2) + chat"


def write(path: Path, *records: dict[str, Any]) -> Path:
    path.write_text("".join(f"{json.dumps(record)}\n" for record in records), encoding="utf-8")
    return path


def test_a_file_with_everything(tmp_path: Path) -> None:
    path = write(
        tmp_path / "set.jsonl",
        {
            "item": "b",
            "source": "a source",
            "reference": "first",
            "references": ["second", "third"],
            "doc": "d1",
            "position": 4,
            "domain": "news",
            "outputs": {LARGE: "text", "small": ""},
            "scores": {LARGE: {"chrF": 0.5, "BLEU": None}, "small": {"chrF": NAN}},
            "human": {LARGE: {"mqm": -2}, "small": {"mqm": None}},
            "human_reference": {"mqm": -1},
            "ratings": [
                {"model": LARGE, "rater": "r", "aspect": "mqm", "score": -2, "time": 12.5, "n_errors": 3},
                {"model": "small", "rater": "r", "aspect": "mqm", "score": "see above"},
            ],
            "comments": [{"model": LARGE, "rater": "r", "comment": "a remark"}],
            "comparisons": [
                {"left": LARGE, "right": "small", "winner": "left", "rater": "r"},
                {"left": LARGE, "right": "small", "winner": "right"},
                {"left": "small", "right": LARGE, "winner": "tie", "time": 3},
            ],
            "baseline_output": "kept",
        },
        {"item": "a", "scores": {"third": {"chrF": 1}}, "human": {}},
    )
    data = io.load(path)
    assert data.models == (LARGE, "small", "third")
    np.testing.assert_array_equal(data.metrics["chrF"], [[NAN, NAN, 1.0], [0.5, NAN, NAN]])
    np.testing.assert_array_equal(data.metrics["BLEU"], np.full((2, 3), NAN))
    np.testing.assert_array_equal(data.aspects["mqm"], [[NAN] * 3, [-2.0, NAN, NAN]])
    assert data.references == ("reference", "reference_2", "reference_3")
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [[None] * 3, ["first", "second", "third"]]
    np.testing.assert_array_equal(data.reference_aspects["mqm"][1], [-1.0, NAN, NAN])
    assert data.outputs is not None
    assert data.outputs.tolist() == [[None] * 3, ["text", "", None]]
    assert data.columns["document"].tolist() == [None, "d1"]
    assert data.columns["baseline_output"].tolist() == [None, "kept"]
    assert "doc" not in data.columns
    assert data.ratings.comments == 2
    np.testing.assert_array_equal(data.ratings.seconds, [12.5, NAN, NAN])
    assert data.ratings.extra["n_errors"].tolist() == [3, None, None]
    assert data.preferences.value.tolist() == [1.0, -1.0, 0.0]
    np.testing.assert_array_equal(data.preferences.seconds, [NAN, NAN, 3.0])


def test_a_reference_that_is_there_twice_is_one(tmp_path: Path) -> None:
    record = {"item": "a", "human": {"m": {"x": 1}}, "reference": "same", "references": ["same", "other"]}
    data = io.load(write(tmp_path / "set.jsonl", record))
    assert data.references == ("reference", "reference_2")
    assert data.reference_texts is not None
    assert data.reference_texts.tolist() == [["same", "other"]]


def test_scores_of_several_references(tmp_path: Path) -> None:
    record = {"item": "a", "human": {"m": {"mqm": 1}}, "human_reference": {"refA": -1, "refB": -2}}
    data = io.load(write(tmp_path / "set.jsonl", record))
    assert data.references == ("refA", "refB")
    np.testing.assert_array_equal(data.reference_aspects["mqm"], [[-1.0, -2.0]])


def test_a_model_without_scores(tmp_path: Path) -> None:
    data = io.load(write(tmp_path / "set.jsonl", {"item": "a", "human": {"m": None, "n": {"x": 1}}}))
    assert data.models == ("m", "n")
    np.testing.assert_array_equal(data.aspects["x"], [[NAN, 1.0]])


# --- the shared data -------------------------------------------------------------------------------------


# The table counts the comparisons behind a win rate among the aspects; the file has them as ``votes``.
NO_ASPECTS = {"n"}


def table_of(text: str) -> dict[str, dict[str, str]]:
    """The rows of the table in DATA.md by name, each cell by its heading."""
    lines = [line for line in text.splitlines() if line.startswith("|")]
    header, _, *rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in lines]
    return {row[0]: dict(zip(header, row, strict=True)) for row in rows}


def counted(cell: str) -> int:
    return 0 if cell == "-" else int(cell)


def distinct(column: Any) -> int:
    return len({value for value in column.tolist() if value is not None})


def raters_in(data: EvalSet) -> int:
    used = data.ratings.rater[~np.isnan(data.ratings.score)]
    return len(set(used.tolist()) - {-1})


@pytest.mark.shared_data
@pytest.mark.journey
def test_every_shared_set_is_as_its_table_says(shared_data: Path) -> None:
    table = table_of((shared_data / "DATA.md").read_text(encoding="utf-8"))
    paths = {path.name.removesuffix(".jsonl.gz"): path for path in shared_data.glob("*.jsonl.gz")}
    assert set(table) == set(paths)
    for name, row in table.items():
        data = io.load(paths[name])
        aspects = {aspect.strip().strip("*") for aspect in row["aspects"].split(",")} - NO_ASPECTS
        found = {
            "items": len(data),
            "models": len(data.models),
            "metrics": len(data.metrics),
            "docs": distinct(data.columns["document"]) if "document" in data.columns else 0,
            "raters": raters_in(data),
            "times": bool((~np.isnan(data.ratings.seconds)).any()),
        }
        expected = {
            **{key: counted(row[key]) for key in ("items", "models", "metrics", "docs", "raters")},
            "times": row["times"] == "yes",
        }
        assert (name, found) == (name, expected)
        assert aspects <= set(data.aspects), name
        if row["domains"] != "-":
            assert distinct(data.columns["domain"]) == int(row["domains"]), name
        best = re.findall(r"(?:^|; )(.+?) -?\d", row["best metrics: r pooled / within items"])
        assert set(best) <= set(data.metrics), name
