"""Plain tables: no formula in them, and filled in by any spreadsheet."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import ImportReport
from tests.run.exchange.helpers import all_of, awkward, pairs_of

DATA = awkward()


def exported(folder: Path, **asked: Any) -> tuple[Key, list[dict[str, str]]]:
    chosen = asked.pop("chosen", None) or all_of(DATA)
    sparingly.export_tasks(DATA, chosen, to="csv", folder=folder / "out", **asked)
    with (folder / "out" / "tasks.csv").open(encoding="utf-8", newline="") as file:
        return Key.load(folder / "out.key.json"), list(csv.DictReader(file))


def read(folder: Path, rows: list[dict[str, str]], key: Key, **dialect: Any) -> ImportReport:
    with (folder / "filled.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, list(rows[0]), **dialect)
        writer.writeheader()
        writer.writerows(rows)
    return sparingly.import_answers(folder / "filled.csv", key=key, rater="Ada")


def test_no_text_is_taken_for_a_formula(tmp_path: Path) -> None:
    _, rows = exported(tmp_path)
    outputs = [row["output"] for row in rows]
    assert any(text.startswith("'=SUM") for text in outputs)
    assert not any(text.startswith(("=", "+", "-", "@")) for text in outputs)
    _, rows = exported(tmp_path / "spans", kind="spans")
    assert any(row["output"].startswith("=SUM") for row in rows)


def test_semicolons_empty_cells_and_bad_scores(tmp_path: Path) -> None:
    key, rows = exported(tmp_path)
    rows[0] |= {"overall": "55", "seconds": "12.5", "comment": " fine "}
    rows[1] |= {"overall": "good"}
    rows[2] |= {"overall": "120"}
    taken = read(tmp_path, rows, key, delimiter=";")
    assert [(one.score, one.seconds, one.comment) for one in taken.answers] == [(55.0, 12.5, "fine")]
    assert taken.read == len(rows)
    assert taken.left_out == {
        "the score is not a number": 1,
        "a score outside the scale 0 to 100": 1,
        "no answer was given": len(rows) - 3,
    }
    assert "line" in taken.examples["the score is not a number"][0]


def test_sides_by_word_or_number(tmp_path: Path) -> None:
    chosen = pairs_of(
        DATA, [("1", "7", "a+b"), ("日本", "7", "a+b"), ("x/y", "7", "a+b"), ("plain", "7", "a+b")]
    )
    key, rows = exported(tmp_path, chosen=chosen)
    for row, word in zip(rows, ("Left", "B", "0", "neither"), strict=True):
        row["overall"] = word
    taken = read(tmp_path, rows, key)
    assert [one.score for one in taken.answers] == [1.0, -1.0, 0.0]
    assert taken.left_out == {"the score is not a number": 1}


def test_spans_as_json(tmp_path: Path) -> None:
    key, rows = exported(tmp_path, kind="spans")
    rows[0]["spans"] = '[{"start": 0, "end": 2, "severity": "major", "category": "accuracy"}]'
    rows[1]["spans"] = "[]"
    rows[2]["spans"] = "somewhere"
    rows[3]["spans"] = '[{"start": 0}]'
    taken = read(tmp_path, rows, key)
    assert [one.score for one in taken.answers] == [-5.0, 0.0]
    assert taken.left_out["a span outside the text, or of a severity without points"] == 2
    assert "accuracy" in taken.rows()[0]["spans"]


def test_a_ranking_with_a_word_in_it_is_left_out(tmp_path: Path) -> None:
    key, rows = exported(tmp_path, kind="ranking")
    for row in rows:
        row["overall"] = "best" if row["task"] == rows[0]["task"] else "1"
    taken = read(tmp_path, rows, key)
    assert len(taken) == len(key.questions) - 1
    assert sum(taken.left_out.values()) == 1


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("", "empty"),
        ("a,b\n1,2\n", 'no column "task"'),
        ("task,task\n1,2\n", "twice"),
        ("task,token,overall\n1,2\n", "2 fields below 3 columns"),
        ('task,token,overall\n"1,2,3\n', "not CSV"),
    ],
)
def test_bad_files_get_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    key, _ = exported(tmp_path)
    (tmp_path / "bad.csv").write_text(text, encoding="utf-8")
    with pytest.raises(InputError, match=sentence) as error:
        sparingly.import_answers(tmp_path / "bad.csv", key=key)
    assert "bad.csv" in str(error.value)


def test_an_aspect_cannot_be_called_like_another_column(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="another column"):
        exported(tmp_path, aspects=["comment"])
