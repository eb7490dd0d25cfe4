"""Label Studio: its config fits its tasks, and its exports are read by its own rules."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import ImportReport
from sparingly.run.exchange.tasks import make_tasks
from sparingly.run.forms.form import KINDS, FormKind
from sparingly.run.forms.spans import Span
from tests.run.exchange.fakes import Answers, label_studio
from tests.run.exchange.helpers import all_of, awkward, pairs_of

DATA = awkward()
PAIRS = [("a,b", "7", "a+b"), ("日本", "模型", "7")]


def exported(folder: Path, kind: FormKind = "score", **asked: Any) -> tuple[Key, list[dict[str, Any]]]:
    chosen = pairs_of(DATA, PAIRS) if kind == "pair" else all_of(DATA)
    sparingly.export_tasks(DATA, chosen, to="label-studio", folder=folder / "ls", kind=kind, **asked)
    return Key.load(folder / "ls.key.json"), json.loads((folder / "ls" / "tasks.json").read_text("utf-8"))


def read(folder: Path, entries: Any, key: Key, **asked: Any) -> ImportReport:
    (folder / "export.json").write_text(json.dumps(entries), encoding="utf-8")
    return sparingly.import_answers(folder / "export.json", key=key, **asked)


def annotated(task: dict[str, Any], values: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a task with one annotation: values by the name of the tag."""
    result = [
        {"from_name": name, "to_name": "x", "type": "x", "value": value}
        for name, held in values.items()
        for value in (held if isinstance(held, list) else [held])
    ]
    return {"id": 1, "data": task["data"], "annotations": [{"completed_by": 3, "result": result, **more}]}


@pytest.mark.parametrize("kind", KINDS)
def test_every_variable_of_the_config_is_in_every_task(tmp_path: Path, kind: FormKind) -> None:
    aspects = ["fluency & <more>", 'a "quoted" one']
    options = {"reference": "yes", "ties": "true", "pairwise": "true"}
    _, tasks = exported(tmp_path, kind, aspects=aspects, context_before=1, options=options)
    root = ElementTree.fromstring((tmp_path / "ls" / "config.xml").read_text("utf-8"))  # noqa: S314
    names = [tag.get("name") for tag in root.iter() if tag.get("name")]
    assert len(set(names)) == len(names)
    used = {tag.get("value", "")[1:] for tag in root.iter() if tag.get("value", "").startswith("$")}
    assert {"source", "reference", "before"} <= used
    for task in tasks:
        assert used <= set(task["data"])
    targets = {part for tag in root.iter() for part in (tag.get("toName") or "").split(",") if part}
    assert targets <= set(names)
    headers = [tag.get("value") for tag in root.iter("Header")]
    assert any("fluency & <more>" in (text or "") for text in headers)


def test_cancelled_drafts_ground_truth_and_later_annotations(tmp_path: Path) -> None:
    key, tasks = exported(tmp_path)
    asked = len(key.questions[tasks[0]["data"]["task"]].outputs)
    full = {f"score_1_{slot}": {"number": 10 * slot} for slot in range(1, asked + 1)}
    again = {name: {"number": 99} for name in full}
    entry = annotated(tasks[0], full, updated_at="2026-11-16T10:00:00Z", lead_time=60.0)
    entry["annotations"] += [
        annotated(tasks[0], again, updated_at="2026-11-16T09:00:00Z")["annotations"][0],
        annotated(tasks[0], full, was_cancelled=True)["annotations"][0],
        annotated(tasks[0], full, ground_truth=True)["annotations"][0],
    ]
    entry["drafts"] = [{"user": 3, "result": []}]
    taken = read(tmp_path, [entry], key)
    assert taken.read == 5 * asked
    assert [one.score for one in taken.answers] == [10 * slot for slot in range(1, asked + 1)]
    assert taken.left_out == {
        "skipped or cancelled by the rater": asked,
        "marked as ground truth in the tool (take it with ground_truth=take)": asked,
        "a draft that was not submitted": asked,
        "answered again later by the same rater": asked,
    }
    assert sum(row["seconds"] for row in taken.rows()) == pytest.approx(60.0)
    golden = read(tmp_path, [entry], key, options={"ground_truth": "take"})
    assert golden.left_out["answered again later by the same rater"] == 2 * asked


def test_places_that_were_left_empty_are_no_answers(tmp_path: Path) -> None:
    key, tasks = exported(tmp_path)
    asked = len(key.questions[tasks[0]["data"]["task"]].outputs)
    taken = read(tmp_path, [annotated(tasks[0], {"score_1_2": {"rating": 4}})], key)
    assert (len(taken), taken.left_out) == (1, {"no answer was given": asked - 1})
    assert taken.answers[0].models == key.questions[tasks[0]["data"]["task"]].outputs[1].models


def test_pairwise_and_its_tie(tmp_path: Path) -> None:
    key, tasks = exported(tmp_path, "pair", options={"pairwise": "true"})
    config = (tmp_path / "ls" / "config.xml").read_text("utf-8")
    assert '<Pairwise name="preference_1" toName="output_1,output_2"/>' in config
    task = tasks[0]
    (left,), (right,) = key.questions[task["data"]["task"]].models_by_token.values()

    def told(values: dict[str, Any]) -> list[tuple[str, str, float]]:
        rows = read(tmp_path, [annotated(task, values)], key).rows()
        return [(row["first"], row["second"], row["score"]) for row in rows]

    assert told({"preference_1": {"selected": "right"}}) == [(left, right, -1.0)]
    assert told({"tie_1": {"choices": ["tie"]}}) == [(left, right, 0.0)]
    assert told({}) == []
    both = {"preference_1": {"selected": "left"}, "tie_1": {"choices": ["tie"]}}
    taken = read(tmp_path, [annotated(task, both)], key)
    assert taken.left_out == {"a side and a tie were both chosen": 1}


def test_buckets_hold_ties(tmp_path: Path) -> None:
    key, tasks = exported(tmp_path, "ranking", options={"ties": "true"})
    assert '<Bucket name="rank_1_1"' in (tmp_path / "ls" / "config.xml").read_text("utf-8")
    tokens = [one["id"] for one in tasks[0]["data"]["outputs"]]
    value = {"ranker": {"rank_1_1": tokens[:2], "rank_1_2": tokens[2:], "_": []}}
    taken = read(tmp_path, [annotated(tasks[0], {"ranking_1": value})], key)
    models = key.questions[tasks[0]["data"]["task"]].models_by_token
    ranks = {name: 1.0 if token in tokens[:2] else 2.0 for token in tokens for name in models[token]}
    assert taken.answers[0].ranks == ranks


def test_spans_are_counted_as_the_browser_does(tmp_path: Path) -> None:
    data = sparingly.EvalSet.from_arrays(items=["i"], models=["m"], outputs=[["a😀b is 你好"]], sources=["s"])
    chosen = sparingly.select(data, "uniform", 1)
    sparingly.export_tasks(data, chosen, to="label-studio", folder=tmp_path / "ls", kind="spans")
    key = Key.load(tmp_path / "ls.key.json")
    (task,) = json.loads((tmp_path / "ls" / "tasks.json").read_text("utf-8"))
    browser = {"start": 1, "end": 4, "text": "😀b", "labels": ["Major"]}
    silent = {"start": 1, "end": 3, "labels": ["minor"]}
    points = {"start": 1, "end": 3, "text": "😀b", "labels": ["minor"]}
    half = {"start": 2, "end": 3, "labels": ["minor"]}
    for value, wanted in ((browser, Span(1, 3, "major")), (silent, Span(1, 2)), (points, Span(1, 3))):
        taken = read(tmp_path, [annotated(task, {"spans_1": [value]})], key)
        assert [one.marks for one in taken.answers] == [(wanted,)]
    assert len(read(tmp_path, [annotated(task, {"spans_1": [half]})], key)) == 0
    assert read(tmp_path, [annotated(task, {})], key).answers[0].score == 0.0


def test_a_task_that_is_not_ours_is_counted(tmp_path: Path) -> None:
    key, tasks = exported(tmp_path)
    taken = read(
        tmp_path, [annotated({"data": {"text": "theirs"}}, {}), {**tasks[0], "annotations": []}], key
    )
    assert (taken.read, taken.left_out) == (1, {"a task that the key does not know": 1})


def test_raters_by_number_or_address(tmp_path: Path) -> None:
    tasks = make_tasks(DATA, all_of(DATA), scale=Scale(0, 10))
    sparingly.export_tasks(DATA, all_of(DATA), to="label-studio", folder=tmp_path / "ls", scale=(0, 10))
    files = label_studio(sorted((tmp_path / "ls").iterdir()), Answers(tasks, lambda *_: 5.0))
    entries = json.loads(files[0].read_text("utf-8"))
    for entry in entries:
        entry["annotations"][0]["completed_by"] = {"id": 2, "email": "ada@example.org"}
    taken = read(tmp_path, entries, Key.load(tmp_path / "ls.key.json"), raters={"ada@example.org": "Ada"})
    assert {row["rater"] for row in taken.rows()} == {"Ada"}


@pytest.mark.parametrize(
    ("text", "sentence"),
    [("", "file is empty|object"), ("[3]", "list of objects"), ("{", "not JSON"), ('[{"a": 1', "cut off")],
)
def test_bad_files_get_one_sentence(tmp_path: Path, text: str, sentence: str) -> None:
    key, _ = exported(tmp_path)
    (tmp_path / "bad.json").write_text(text, encoding="utf-8")
    if not text:
        assert sparingly.import_answers(tmp_path / "bad.json", key=key).read == 0
        return
    with pytest.raises(InputError, match=sentence) as error:
        sparingly.import_answers(tmp_path / "bad.json", key=key)
    assert "bad.json" in str(error.value)
    assert "\n" not in str(error.value)


def test_options_are_checked(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="pairwise is true or false"):
        exported(tmp_path, options={"pairwise": "maybe"})
    with pytest.raises(UsageError, match='no option of label-studio "pairwyse"'):
        exported(tmp_path, options={"pairwyse": "true"})
