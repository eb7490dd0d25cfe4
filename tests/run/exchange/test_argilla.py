"""Argilla: whole ratings from 0 to 10 and back, statuses by the flattened form."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.data.scale import Scale
from sparingly.run.exchange.argilla import NO_STATUS
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import ImportReport
from tests.run.exchange.helpers import all_of, awkward

DATA = awkward()


def exported(folder: Path, **asked: Any) -> tuple[Key, list[dict[str, Any]], dict[str, Any]]:
    sparingly.export_tasks(DATA, all_of(DATA), to="argilla", folder=folder / "out", **asked)
    held = [
        json.loads((folder / "out" / name).read_text("utf-8")) for name in ("tasks.json", "settings.json")
    ]
    return Key.load(folder / "out.key.json"), held[0], held[1]


def read(folder: Path, records: list[dict[str, Any]], key: Key) -> ImportReport:
    (folder / "export.json").write_text(json.dumps(records), encoding="utf-8")
    return sparingly.import_answers(folder / "export.json", key=key)


def test_a_scale_that_does_not_fit_is_asked_from_0_to_10_and_converted_back(tmp_path: Path) -> None:
    key, records, settings = exported(tmp_path, aspects={"esa": Scale(0, 100), "stars": Scale(1, 5)})
    assert key.tool_scales == {"esa": Scale(0, 10)}
    options = {one["name"]: one["settings"].get("options") for one in settings["questions"]}
    assert [one["value"] for one in options["score_1_1"]] == list(range(11))
    assert [one["value"] for one in options["score_2_1"]] == [1, 2, 3, 4, 5]
    record = records[0]
    record["responses"] = {
        "score_1_1": [{"value": 7, "user_id": "u"}, {"value": 11, "user_id": "v"}],
        "score_2_1": [{"value": 5, "user_id": "u"}],
    }
    taken = read(tmp_path, [record], key)
    assert sorted((one.aspect, one.score) for one in taken.answers) == [("esa", 70.0), ("stars", 5.0)]
    assert taken.left_out["a score outside the scale 0 to 10"] == 1
    assert taken.notes == (NO_STATUS,)


def test_fields_and_questions_fit_the_records(tmp_path: Path) -> None:
    _, records, settings = exported(tmp_path, kind="spans", aspects=["esa"], options={"reference": "yes"})
    fields = {one["name"]: one["required"] for one in settings["fields"]}
    for record in records:
        assert set(record["fields"]) <= set(fields)
        assert all(name in record["fields"] for name, required in fields.items() if required)
        assert all(isinstance(text, str) for text in record["fields"].values())
    named = [one["settings"]["field"] for one in settings["questions"] if one["settings"]["type"] == "span"]
    assert set(named) <= set(fields)
    types = {"terms": (str, list), "integer": (int,), "float": (float,)}
    known = {one["name"]: types[one["settings"]["type"]] for one in settings["metadata"]}
    for record in records:
        assert all(isinstance(value, known[name]) for name, value in record["metadata"].items())


def test_drafts_and_discarded_responses_are_left_out(tmp_path: Path) -> None:
    key, records, _ = exported(tmp_path)
    record = records[0]
    asked = len(key.questions[record["id"]].outputs)
    row = {"id": record["id"], **record["fields"], **record["metadata"]}
    for slot in range(1, asked + 1):
        row[f"score_1_{slot}.responses"] = [slot, slot, None, 9]
        row[f"score_1_{slot}.responses.users"] = ["a", "b", "c", "d"]
        row[f"score_1_{slot}.responses.status"] = ["submitted", "draft", "discarded", "submitted"]
    row["comment.responses"] = ["well", None, None, None]
    row["comment.responses.users"] = ["a", "b", "c", "d"]
    row["comment.responses.status"] = ["submitted", "draft", "discarded", "submitted"]
    row["other.responses"] = [1]
    row["other.responses.users"] = ["a"]
    row["other.responses.status"] = ["submitted"]
    taken = read(tmp_path, [row], key)
    assert taken.read == 4 * asked + 1
    assert taken.left_out == {
        "a draft that was not submitted": asked,
        "skipped or cancelled by the rater": asked,
        "an aspect that is not in the task": 1,
    }
    assert {one.rater for one in taken.answers} == {"a", "d"}
    assert {one.comment for one in taken.answers if one.rater == "a"} == {"well"}
    assert taken.notes == ()


def test_a_ranking_may_have_ties(tmp_path: Path) -> None:
    key, records, _ = exported(tmp_path, kind="ranking")
    record = records[0]
    count = len(key.questions[record["id"]].outputs)
    ranks = [{"value": f"output_{slot}", "rank": 1 if slot < 3 else 3} for slot in range(1, count + 2)]
    record["responses"] = {"ranking_1": [{"value": ranks, "user_id": "u"}]}
    taken = read(tmp_path, [record], key)
    outputs = key.questions[record["id"]].outputs
    wanted = {name: 1.0 if slot < 2 else 3.0 for slot in range(count) for name in outputs[slot].models}
    assert taken.answers[0].ranks == wanted


def test_a_record_that_is_not_ours_is_counted(tmp_path: Path) -> None:
    key, records, _ = exported(tmp_path)
    other = {"id": "theirs", "fields": {}, "metadata": {}, "responses": {"q": [{"value": 1, "user_id": "u"}]}}
    taken = read(tmp_path, [other, *records], key)
    assert (taken.read, taken.left_out) == (1, {"a task that the key does not know": 1})


def test_missing_is_told(tmp_path: Path) -> None:
    key, records, _ = exported(tmp_path)
    taken = read(tmp_path, records, key)
    assert (taken.read, taken.missing) == (0, sum(len(one.outputs) for one in key.questions.values()))
    assert "missing" in taken.headline
    assert pytest.approx(0) == len(taken)
