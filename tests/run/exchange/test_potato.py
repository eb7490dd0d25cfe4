from __future__ import annotations

import csv
import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.potato import MACHINE, Potato
from sparingly.run.exchange.reading import (
    ANSWERED_AGAIN,
    CONTROL,
    DRAFT,
    NO_NUMBER,
    NOT_ANSWERED,
    UNKNOWN_OUTPUT,
    UNKNOWN_TASK,
)
from sparingly.run.exchange.tasks import make_tasks
from tests.run.exchange.asked import (
    ITEMS,
    MODELS,
    TEXTS,
    Fake,
    adds_up,
    asked_set,
    everything,
    outputs,
    paired,
    score_for,
    scores_by_cell,
    spans_of,
    there_and_back,
)

Item = dict[str, Any]
Labels = list[Any]
Answer = Callable[[Item], Labels]


def _config(folder: Path) -> Any:
    return json.loads((folder / "config.yaml").read_text(encoding="utf-8"))


def _items(folder: Path) -> list[Item]:
    lines = (folder / "items.jsonl").read_text(encoding="utf-8").split("\n")
    return [json.loads(line) for line in lines if line]


def _lists(folder: Path) -> dict[str, list[Item]]:
    """Return the items of every user, as Potato hands them out."""
    config, items = _config(folder), _items(folder)
    if config["assignment_strategy"] == "fixed_order":
        return {"anna": items}
    by_id = {item["id"]: item for item in items}
    return {
        user: [by_id[one] for one in group["instances"]]
        for group in config["batch_assignment"]["groups"]
        for user in group["annotators"]
    }


def _label(scheme: str, name: str, value: Any) -> list[Any]:
    return [{"schema": scheme, "name": name}, value]


def slide(item: Item) -> list[Any]:
    """Return the label of a slider."""
    return _label("overall", "slider", str(score_for(item["output"])))


def _slide(item: Item) -> Labels:
    return [slide(item)]


def _state(user: str, labels: dict[str, Labels], **more: Any) -> dict[str, Any]:
    """Return a state with the parts of a real one that matter here."""
    return {
        "user_id": user,
        "instance_id_ordering": list(labels),
        "current_instance_index": 0,
        "instance_id_to_behavioral_data": {
            one: {"instance_id": one, "session_end": 2000.0, "total_time_ms": 6000} for one in labels
        },
        "instance_id_to_label_to_value": labels,
        "instance_id_to_span_to_value": {},
        "origin": {},
        **more,
    }


def answering(answer: Answer = _slide, **more: Any) -> Fake:
    """Return a user of Potato who answers every item."""

    def fake(folder: Path) -> list[Path]:
        for number, (user, items) in enumerate(_lists(folder).items()):
            home = folder / "annotation_output" / f"user {number}"
            home.mkdir(parents=True)
            state = _state(user, {item["id"]: answer(item) for item in items}, **more)
            (home / "user_state.json").write_text(json.dumps(state), encoding="utf-8")
        return [folder / "annotation_output", folder / "items.jsonl"]

    return fake


def _expected(texts: Any, rater: str = "anna", aspect: str = "overall") -> dict[Any, float]:
    return {
        (item, model, aspect, rater): float(score_for(text))
        for item, row in zip(ITEMS, texts, strict=True)
        for model, text in zip(MODELS, row, strict=True)
    }


@settings(max_examples=10)
@given(outputs)
def test_scores_come_back_to_their_items_and_models(texts: list[list[str]]) -> None:
    taken = there_and_back("potato", answering(), asked_set(texts))
    assert scores_by_cell(taken) == _expected(texts)
    assert (taken.left_out, taken.missing) == ({}, 0)


def test_items_carry_what_was_known_and_no_model() -> None:
    def look(folder: Path) -> Sequence[Path]:
        items = _items(folder)
        assert not any(model in json.dumps(items, ensure_ascii=False) for model in MODELS[1:])
        second = next(item for item in items if item["item"] == "2")
        assert {name: second[name] for name in ("round", "inclusion_probability", "document", "before")} == {
            "round": 1,
            "inclusion_probability": 1.0,
            "document": "doc a",
            "before": "source of seg 1 <&>",
        }
        order = [item["item"] for item in items if item["document"] == "doc a"]
        assert list(dict.fromkeys(order)) == list(ITEMS[:3])
        fields = [field["key"] for field in _config(folder)["instance_display"]["fields"]]
        assert fields == ["before", "source", "output"]
        return answering()(folder)

    assert len(there_and_back("potato", look, context_before=1)) == 11


def test_letters_that_yaml_refuses_are_written_as_their_codes() -> None:
    def look(folder: Path) -> Sequence[Path]:
        text = (folder / "config.yaml").read_text(encoding="utf-8")
        assert "\\u0085" in text
        assert "\x85" not in text
        assert _config(folder)["annotation_schemes"][0]["description"].startswith(
            "is it\x85 good? 😀: from 0"
        )
        return answering(lambda item: [_label("is_it_good", "slider", "3")])(folder)

    taken = there_and_back("potato", look, aspects="is it\x85 good? 😀")
    assert set(scores_by_cell(taken).values()) == {3.0}


def test_raters_have_lists_and_control_items_are_kept_apart() -> None:
    texts = [[f"{text} and more words of {at}" for text in row] for at, row in enumerate(TEXTS)]
    data = asked_set(texts)
    chosen = everything(data)
    controls = sparingly.control_items(data, chosen, kinds=("repeat", "degraded"), share=0.5, seed=1)
    hands = sparingly.assign(chosen, ["ann", "böb & co"], data=data, controls=controls, overlap=0.0, seed=3)
    taken = there_and_back("potato", answering(), data, chosen, assignment=hands, controls=controls)
    assert {row["rater"] for row in taken.rows()} == {"ann", "böb & co"}
    assert all(row["rater"] == row["assigned"] for row in taken.rows())
    assert taken.left_out == {CONTROL: len(taken.controls)}
    assert taken.missing == 0


def test_sliders_have_whole_numbers() -> None:
    aspects = {"stars": Scale(1, 5), "share": Scale(0, 1)}

    def answer(item: Item) -> Labels:
        return [_label("stars", "slider", "4"), _label("share", "slider", 25)]

    def look(folder: Path) -> Sequence[Path]:
        sliders = _config(folder)["annotation_schemes"]
        assert [(one["min_value"], one["max_value"]) for one in sliders] == [(1, 5), (0, 100)]
        return answering(answer)(folder)

    taken = there_and_back("potato", look, aspects=aspects)
    found = {(aspect, score) for (_, _, aspect, _), score in scores_by_cell(taken).items()}
    assert found == {("stars", 4.0), ("share", 0.25)}
    # Six seconds for an output are three for each of its aspects, and equal outputs share them.
    assert sum(row["seconds"] for row in taken.rows()) == pytest.approx(11 * 6.0)


def test_partial_answers_and_strangers_are_left_out() -> None:
    def fake(folder: Path) -> list[Path]:
        items = _items(folder)
        task = items[0]["task"]
        labels = {item["id"]: _slide(item) for item in items[2:]}
        labels[items[0]["id"]] = [_label("overall", "slider", "")]
        labels[items[1]["id"]] = [_label("another", "slider", "3")]
        labels |= {"gold-1": [], f"{task}-stranger": []}
        (folder / "user_state.json").write_text(json.dumps(_state("anna", labels)), encoding="utf-8")
        return [folder / "user_state.json"]

    taken = there_and_back("potato", fake)
    assert taken.left_out == {NOT_ANSWERED: 2, UNKNOWN_TASK: 1, UNKNOWN_OUTPUT: 1}
    assert taken.missing == 2
    assert adds_up(taken)


def test_machines_do_not_rate() -> None:
    taken = there_and_back("potato", answering(origin={"kind": "model", "name": "judge"}))
    assert taken.left_out == {MACHINE: 11}
    assert adds_up(taken)


def test_exports_as_lines_and_tables_are_read_and_the_last_answer_counts() -> None:
    def fake(folder: Path) -> list[Path]:
        items = _items(folder)
        lines = [
            {
                "instance_id": item["id"],
                "user_id": "anna",
                "labels": {"overall": {"slider": str(score_for(item["output"]))}},
                "spans": {},
                "links": {},
            }
            for item in items
        ]
        (folder / "annotations.jsonl").write_text("".join(json.dumps(one) + "\n" for one in lines))
        with (folder / "annotations.csv").open("w", newline="") as file:
            writer = csv.writer(file)
            writer.writerow(["instance_id", "user_id", "overall.slider", "spans._spans"])
            writer.writerows([item["id"], "anna", "1", ""] for item in items[:2])
        return [folder / "annotations.jsonl", folder / "annotations.csv"]

    taken = there_and_back("potato", fake)
    assert taken.left_out == {ANSWERED_AGAIN: 2}
    changed = {cell for cell, score in scores_by_cell(taken).items() if score != _expected(TEXTS)[cell]}
    assert 2 <= len(changed) <= 3
    assert adds_up(taken)


@settings(max_examples=10)
@given(outputs, st.sampled_from(["binary", "scale"]))
def test_pairs_come_back_as_the_better_side(texts: list[list[str]], mode: str) -> None:
    def answer(item: Item) -> Labels:
        left, right = map(score_for, item["responses"])
        if mode == "scale":
            return [_label("overall", "scale_value", str((right > left) * 2 - (right < left) * 3))]
        chosen = "tie" if left == right else "A" if left > right else "B"
        return [_label("overall", "selection", chosen)]

    data = asked_set(texts)
    taken = there_and_back("potato", answering(answer), data, paired(data), options={"mode": mode})
    written = {
        (item, model): score_for(text)
        for item, row in zip(ITEMS, texts, strict=True)
        for model, text in zip(MODELS, row, strict=True)
    }
    rows = taken.rows()
    assert len(rows) == len(ITEMS)
    for row in rows:
        left, right = written[row["item"], row["first"]], written[row["item"], row["second"]]
        assert row["score"] == (left > right) - (left < right)
    assert (taken.left_out, taken.missing) == ({}, 0)


def test_pairs_without_a_choice_are_left_out() -> None:
    answers = iter([[], [_label("overall", "selection", "C")], [_label("overall", "scale_value", "much")]])
    data = asked_set()
    taken = there_and_back("potato", answering(lambda item: next(answers)), data, paired(data))
    assert taken.left_out == {NOT_ANSWERED: 1, NO_NUMBER: 2}
    assert adds_up(taken)


marks = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["minor", "major", "critical"])),
    max_size=3,
)


@settings(max_examples=10)
@given(outputs, marks)
def test_spans_come_back_in_code_points(texts: list[list[str]], given_marks: list[Any]) -> None:
    data = asked_set(texts)
    tasks = make_tasks(data, everything(data), kind="spans", seed=7)
    wanted: set[tuple[str, str, int, int, str]] = set()

    def answer(item: Item) -> Labels:
        text, question = item["output"], tasks.key.questions[item["task"]]
        errors = []
        for start, end, severity in given_marks:
            if start < end <= len(text):
                first = len(text[:start].encode("utf-16-le")) // 2
                last = len(text[:end].encode("utf-16-le")) // 2
                place = {"start": first, "end": last, "text": text[start:end]}
                errors.append({**place, "type": "error", "subtype": "", "severity": severity})
                models = "+".join(question.models_by_token[item["id"].partition("-")[2]])
                wanted.add((question.item, models, start, end, severity))
        held = json.dumps({"errors": errors, "score": 0})
        return [
            *([_label("error_spans", "error_spans", held)] if errors else []),
            _label("checked", "all errors are marked", "true"),
        ]

    taken = there_and_back("potato", answering(answer), data, kind="spans")
    assert spans_of(taken.answers) == wanted
    assert (taken.left_out, taken.missing) == ({}, 0)


def test_a_selection_that_begins_with_a_space_is_put_right() -> None:
    def answer(item: Item) -> Labels:
        mark = {"start": 3, "end": 7, "text": "Haus", "type": "style", "severity": "minor"}
        held = json.dumps({"errors": [mark] if item["output"] == "Ein Haus." else [], "score": 99})
        return [_label("error_spans", "error_spans", held), *_slide(item)]

    data = asked_set((("Ein Haus.", "b", "c"), *TEXTS[1:]))
    taken = there_and_back("potato", answering(answer), data, kind="spans", aspects="overall")
    assert spans_of(taken.answers) == {("seg 1", "1", 4, 8, "minor")}
    assert {span.category for one in taken.answers for span in one.marks or ()} == {"style"}


def test_marks_that_nobody_called_done_are_drafts() -> None:
    def answer(item: Item) -> Labels:
        return [_label("error_spans", "error_spans", json.dumps({"errors": [], "score": 100}))]

    taken = there_and_back("potato", answering(answer), kind="spans")
    assert taken.left_out == {DRAFT: 11}


def test_marks_need_the_items() -> None:
    def answer(item: Item) -> Labels:
        errors = [{"start": 0, "end": 1, "severity": "minor"}]
        done = _label("checked", "all errors are marked", "true")
        return [_label("error_spans", "error_spans", json.dumps({"errors": errors})), done]

    with pytest.raises(InputError, match=r"Give items\.jsonl, too"):
        there_and_back("potato", lambda folder: answering(answer)(folder)[:1], kind="spans")


@pytest.mark.parametrize(
    ("options", "asked", "sentence"),
    [
        ({"annotators": "some"}, {}, "not a whole number"),
        ({"mode": "ternary"}, {"kind": "pair"}, "neither binary nor scale"),
        ({"modus": "scale"}, {}, "mode"),
        ({}, {"kind": "ranking"}, "cannot ask for rankings"),
    ],
)
def test_wrong_options_get_a_sentence(options: dict[str, str], asked: dict[str, Any], sentence: str) -> None:
    data = asked_set()
    chosen = paired(data) if asked.get("kind") == "pair" else everything(data)
    with pytest.raises(UsageError, match=sentence):
        Potato().check_write(make_tasks(data, chosen, **asked), options)


def test_an_assignment_says_how_many_judge_an_item() -> None:
    data = asked_set()
    hands = sparingly.assign(everything(data), ["ann", "bob"], data=data, seed=3)
    with pytest.raises(UsageError, match="leave out annotators"):
        Potato().check_write(make_tasks(data, everything(data), hands), {"annotators": "2"})


def test_other_files_get_a_sentence() -> None:
    def other(folder: Path) -> list[Path]:
        (folder / "x.json").write_text("[]")
        return [folder / "x.json"]

    def empty(folder: Path) -> list[Path]:
        (folder / "nothing").mkdir()
        return [folder / "nothing"]

    def strange(folder: Path) -> list[Path]:
        (folder / "x.jsonl").write_text('{"a": 1}\n')
        return [folder / "x.jsonl"]

    with pytest.raises(InputError, match="neither an item nor an answer"):
        there_and_back("potato", strange)
    with pytest.raises(InputError, match=r"not a user_state\.json of Potato"):
        there_and_back("potato", other)
    with pytest.raises(InputError, match=r"no user_state\.json in this folder"):
        there_and_back("potato", empty)
