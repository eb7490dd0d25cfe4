"""Prodigy-style lines: hashes of content and question, and answers by its rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.prodigy import scores_of
from sparingly.run.exchange.reading import ImportReport
from tests.run.exchange.helpers import all_of, awkward

DATA = awkward()


def exported(folder: Path, **asked: Any) -> tuple[Key, list[dict[str, Any]]]:
    sparingly.export_tasks(DATA, all_of(DATA), to="prodigy", folder=folder / "out", **asked)
    lines = (folder / "out" / "tasks.jsonl").read_text("utf-8").rstrip("\n").split("\n")
    return Key.load(folder / "out.key.json"), [json.loads(line) for line in lines]


def read(folder: Path, rows: list[dict[str, Any]], key: Key) -> ImportReport:
    text = "".join(f"{json.dumps(row)}\n" for row in rows)
    (folder / "answers.jsonl").write_text(text, encoding="utf-8")
    return sparingly.import_answers(folder / "answers.jsonl", key=key, rater="Ada")


def test_hashes_tell_content_and_question_apart(tmp_path: Path) -> None:
    _, rows = exported(tmp_path, aspects=["one", "two"])
    inputs, questions = ([row[name] for row in rows] for name in ("_input_hash", "_task_hash"))
    assert len(set(questions)) == len(rows)
    assert len(set(inputs)) == len(rows) / 2
    _, again = exported(tmp_path, aspects=["one", "two"])
    assert again == rows


def test_rejected_ignored_empty_and_double_choices(tmp_path: Path) -> None:
    key, rows = exported(tmp_path)
    answers = [
        {**rows[0], "answer": "accept", "accept": ["70"]},
        {**rows[1], "answer": "reject"},
        {**rows[2], "answer": "ignore"},
        {**rows[3], "answer": "accept", "accept": []},
        {**rows[4], "answer": "accept", "accept": ["1", "2"]},
        {**rows[0], "answer": "accept", "accept": ["20"], "_timestamp": 5},
        {"text": "theirs", "answer": "accept"},
    ]
    taken = read(tmp_path, answers, key)
    assert [(one.score, one.rater) for one in taken.answers] == [(20.0, "Ada")]
    assert taken.read == 7 == len(taken) + sum(taken.left_out.values())
    assert set(taken.left_out) == {
        "rejected by the rater",
        "skipped or cancelled by the rater",
        "no answer was given",
        "more than one option was chosen",
        "answered again later by the same rater",
        "a task that the key does not know",
    }


def test_scores_to_choose_from() -> None:
    assert scores_of(Scale(1, 5), None) == [1, 2, 3, 4, 5]
    assert scores_of(Scale(0, 100), None) == [10.0 * step for step in range(11)]
    assert scores_of(Scale(0, 1), 3) == [0.0, 0.5, 1.0]


def test_what_it_cannot_ask_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="cannot ask for rankings"):
        exported(tmp_path, kind="ranking")
    with pytest.raises(UsageError, match="not both"):
        exported(tmp_path, kind="spans", aspects=["esa"])
    with pytest.raises(UsageError, match="from 2 to 101"):
        exported(tmp_path, options={"levels": "1"})
    assert not (tmp_path / "out").exists() or not any((tmp_path / "out").iterdir())
