"""What nobody says of a table: scores in words, low scores that are good, rows that are no header."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import InputError
from sparingly.data import io
from sparingly.data.evalset import EvalSet
from sparingly.data.roles import DoubtfulRoleError, read_roles, save_roles

COUNT = 24
INPUTS = [f"How do I change plan number {number}? I tried it twice." for number in range(COUNT)]


def answer(*of: object) -> str:
    return f"Open the settings and choose the plan {' '.join(map(str, of))}, then confirm it."


def rows(**columns: Any) -> list[dict[str, Any]]:
    """Two models on every input, with further columns whose values take turns."""
    cells = [(place, model) for place in range(COUNT) for model in ("tiny", "large")]
    return [
        {"id": place, "prompt": INPUTS[place], "model": model, "response": answer(place, model)}
        | {name: values[row % len(values)] for name, values in columns.items()}
        for row, (place, model) in enumerate(cells)
    ]


def read(folder: Path, records: Any, **options: Any) -> EvalSet:
    path = folder / "t.jsonl"
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return io.load(path, **options)


def role(data: EvalSet, column: str) -> str:
    assert data.roles is not None
    part = next(part for part in data.roles.columns if part.column == column)
    return part.role + "?" * part.doubtful


@pytest.mark.parametrize(
    ("name", "texts", "numbers", "scale"),
    [
        ("expert_label", ["Poor", "Fair", "Good", "Excellent", None], [1, 2, 3, 4], (1, 4)),
        ("human_rating", ["bad", "poor", "fair", "good", "excellent"], [1, 2, 3, 4, 5], (1, 5)),
        ("human: fluent", ["Strongly agree", "disagree", "Neutral"], [5, 2, 3], (1, 5)),
        ("human_score", ["1 - not at all", "3 - somewhat", "5 - very"], [1, 3, 5], None),
        ("human_score", ["4/5", "3", "5/5"], [4, 3, 5], (1, 5)),
        ("human_check", ["✓", "✗", "✓"], [1, 0, 1], (0, 1)),
        ("Menschliche Note (1-10)", [3, 8, 5], [3, 8, 5], (1, 10)),
    ],
)
def test_marks_however_they_are_written(
    tmp_path: Path, name: str, texts: list[Any], numbers: list[float], scale: tuple[float, float] | None
) -> None:
    data = read(tmp_path, rows(**{name: texts}))
    assert role(data, name) == "human"
    cells = data.aspects[name].ravel()
    values = {text: number for text, number in zip(texts, numbers, strict=False)}
    found = {record[name]: cell for record, cell in zip(in_order(data), cells, strict=True)}
    assert {text: found[text] for text in values} == values
    assert data.truth_scale(name) == scale


def in_order(data: EvalSet) -> list[dict[str, Any]]:
    """The records of the file in the order of the set's cells."""
    path = Path(data.name)
    records = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    places = {(str(record["id"]), record["model"]): record for record in records}
    return [places[item, model] for item in data.items for model in data.models]


def test_words_that_name_no_score_are_no_marks(tmp_path: Path) -> None:
    data = read(
        tmp_path,
        rows(priority=["low", "medium", "high"], intent_label=["1 - billing", "2 - access"])
        + [{**row, "id": f"{row['id']} more", "model_effort": "low"} for row in rows()],
    )
    assert [role(data, name) for name in ("priority", "intent_label", "model_effort")] == ["column"] * 3


def test_a_rating_that_cannot_be_read_is_marked(tmp_path: Path) -> None:
    data = read(tmp_path, rows(human_grade=["A", "B", "C+"]))
    assert role(data, "human_grade") == "column?"
    with pytest.raises(InputError, match='line 1, field human_grade: "A" is not a number'):
        read(tmp_path, rows(human_grade=["A", "B", "C+"]), roles={"human_grade": "human"})


def test_one_more_question_of_a_list(tmp_path: Path) -> None:
    yes = ["yes", "no", "yes", "yes", "no"]
    assert role(read(tmp_path, rows(mentions_price=yes)), "mentions_price") == "column?"
    data = read(tmp_path, rows(polite=yes, correct=yes[::-1], mentions_price=yes))
    assert role(data, "mentions_price") == "human?"


# --- low may be good ------------------------------------------------------------------------------


def test_labels_named_after_errors_are_turned_round(tmp_path: Path) -> None:
    records = rows(human_errors=[0, 3, 1, 7, 2], hallucinated_human=["yes", "no", "no"])
    data = read(tmp_path, records)
    assert role(data, "human_errors") == "human?"
    with pytest.raises(DoubtfulRoleError, match=r'lower_is_better=\["human_errors"\]'):
        data.truth("human_errors")
    turned = read(tmp_path, records, lower_is_better=["human_errors", "hallucinated_human"])
    assert np.array_equal(turned.truth("human_errors"), -data.aspects["human_errors"])
    # On a scale that is known, scores stay on it.
    assert np.array_equal(turned.truth("hallucinated_human"), 1 - data.aspects["hallucinated_human"])
    assert turned.truth_scale("hallucinated_human") == (0, 1)
    as_they_are = read(tmp_path, records, roles={"human_errors": "human"})
    assert np.array_equal(as_they_are.truth("human_errors"), data.aspects["human_errors"])


def test_ratings_are_turned_round_with_their_means(tmp_path: Path) -> None:
    records = [
        {**record, "annotator": rater, "errors": (place + len(rater)) % 4}
        for place, record in enumerate(rows())
        for rater in ("ana", "bente")
    ]
    plain = read(tmp_path, records)
    turned = read(tmp_path, records, lower_is_better=["errors"])
    assert np.array_equal(turned.ratings.score, -plain.ratings.score)
    assert np.array_equal(turned.aspects["errors"], -plain.aspects["errors"])


def test_what_was_said_of_a_direction_can_be_taken_back(tmp_path: Path) -> None:
    path = tmp_path / "t.jsonl"
    save_roles(path, {}, ["ter"])
    save_roles(path, {"ter": ["metric"]})
    assert read_roles(path) == ({"ter": ("metric",)}, ())


def test_what_trackers_call_feedback_may_be_a_judges(tmp_path: Path) -> None:
    data = read(tmp_path, rows(**{"feedback.correct": [1, 0, 1], "feedback": [1, None, 0]}))
    assert (role(data, "feedback.correct"), role(data, "feedback")) == ("human?", "human")


# --- who said it ----------------------------------------------------------------------------------


def test_a_judge_named_in_the_same_object(tmp_path: Path) -> None:
    records = rows(**{"evaluation.judge": ["claude-3-5"], "evaluation.rating": ["4/5", "2/5"]})
    assert role(read(tmp_path, records), "evaluation.rating") == "metric"


def test_a_model_among_raters_is_a_judge(tmp_path: Path) -> None:
    records = [
        {**record, "evaluator": rater, "rating": 1 + place % 5}
        for place, record in enumerate(rows())
        for rater in ("maria", "gpt-5", "claude", "ben")
    ]
    data = read(tmp_path, records)
    assert data.ratings.raters == ("ben", "claude", "maria"), "a first name without a number is a person's"
    assert list(data.metrics) == ["gpt-5"]
    assert len(data.ratings) == 3 * len(rows())
    assert data.roles is not None
    assert "gpt-5 is read as an automatic judge" in data.roles.notes[0]


def test_a_metric_called_like_a_judge_stays(tmp_path: Path) -> None:
    records = [
        {**record, "evaluator": rater, "rating": 1 + place % 5, "gpt-5": 0.25 + place}
        for place, record in enumerate(rows())
        for rater in ("maria", "gpt-5")
    ]
    data = read(tmp_path, records)
    assert sorted(data.metrics) == ["gpt-5", "rating (gpt-5)"]
    assert data.metrics["gpt-5"].min() == 0.25
    assert data.metrics["rating (gpt-5)"].min() == 1.0


# --- outputs --------------------------------------------------------------------------------------


def test_an_empty_column_gives_way_to_a_filled_one(tmp_path: Path) -> None:
    records = [{**record, "response": "", "generated_text": record["response"]} for record in rows()]
    data = read(tmp_path, records)
    assert (role(data, "response"), role(data, "generated_text")) == ("ignored", "output")


def test_texts_for_nothing_are_counted(tmp_path: Path) -> None:
    records = [{**record, "response": "None"} if place < 3 else record for place, record in enumerate(rows())]
    data = read(tmp_path, records)
    assert data.roles is not None
    assert data.roles.notes[0].startswith("response: 3 of 48 texts say nothing but None")


@pytest.mark.parametrize("name", ["samples", "completions", "attempts"])
@pytest.mark.parametrize("is_object", [False, True])
def test_lists_of_outputs_are_repeats(tmp_path: Path, name: str, is_object: bool) -> None:
    texts = [[answer(place, nth) for nth in range(3)] for place in range(COUNT)]
    records = [
        {
            "prompt": INPUTS[place],
            name: [{"text": text, "finish": "stop"} for text in own] if is_object else own,
        }
        for place, own in enumerate(texts)
    ]
    data = read(tmp_path, records)
    assert data.shape == (COUNT, 1)
    assert len(data.repeats.epochs) == 3
    assert data.repeats.output is not None
    assert sorted(data.repeats.output) == sorted(text for own in texts for text in own)


def test_ids_of_samples_that_come_again_number_the_outputs(tmp_path: Path) -> None:
    records = [
        {"q": INPUTS[place], "model": model, "sample_id": nth, "a": answer(place, model, nth)}
        for place in range(COUNT)
        for model in ("tiny", "large")
        for nth in range(4)
    ]
    data = read(tmp_path, records)
    assert (role(data, "q"), role(data, "sample_id"), role(data, "a")) == ("input", "epoch", "output")
    assert data.shape == (COUNT, 2)


@pytest.mark.parametrize("as_text", [json.dumps, str])
def test_objects_that_cells_hold_as_text(tmp_path: Path, as_text: Any) -> None:
    records = [
        {"inputs": as_text({"question": INPUTS[place]}), "outputs": as_text({"answer": answer(place)})}
        | {"scores": as_text({"judge": place % 5})}
        for place in range(COUNT)
    ]
    data = read(tmp_path, records)
    assert role(data, "inputs.question") == "input"
    assert role(data, "scores.judge") == "metric"
    assert data.outputs is not None
    assert answer(0) in data.outputs.ravel().tolist()


def test_an_output_that_is_json_is_shown_as_it_is(tmp_path: Path) -> None:
    texts = [json.dumps({"intent": "change", "plan": place}) for place in range(COUNT)]
    data = read(tmp_path, [{"prompt": INPUTS[place], "response": texts[place]} for place in range(COUNT)])
    assert data.outputs is not None
    assert sorted(data.outputs.ravel()) == sorted(texts)


# --- which is better ------------------------------------------------------------------------------


def sides(name: str, values: list[Any]) -> list[dict[str, Any]]:
    return [
        {"prompt": INPUTS[place], "answer_a": answer(place, "a"), "answer_b": answer(place, "b")}
        | {name: values[place % len(values)]}
        for place in range(COUNT)
    ]


def test_verdicts_in_brackets(tmp_path: Path) -> None:
    data = read(tmp_path, sides("verdict", ["[[A]]", "[[B]]", "[[C]]"]))
    assert sorted(set(data.preferences.value.tolist())) == [-1, 0, 1]


def test_a_preference_that_cannot_be_read_is_marked(tmp_path: Path) -> None:
    data = read(tmp_path, sides("preference", [-2, -1, 1, 3]))
    assert role(data, "preference") == "ignored?"
    assert not len(data.preferences)


def test_votes_without_outputs(tmp_path: Path) -> None:
    names = ("tiny", "small", "large")
    records = [
        {"prompt": INPUTS[place % 12], "left_model": names[place % 3], "right_model": names[(place + 1) % 3]}
        | {"preferred": ("left", "right", names[place % 3], "tie")[place % 4], "annotator": "xy"[place % 2]}
        for place in range(COUNT)
    ]
    data = read(tmp_path, records)
    assert data.shape == (12, 3)
    assert len(data.preferences) == COUNT
    assert data.preferences.raters == ("x", "y")
    assert data.sources is not None
    first = data.sources.tolist().index(INPUTS[0])
    assert data.preferences.value[data.preferences.item == first].tolist() == [1.0, 1.0]


def test_texts_with_a_score_each_are_outputs_for_sure(tmp_path: Path) -> None:
    records = [
        {"src": INPUTS[place], "ours": answer(place, 1), "ours_bleu": 30.5, "theirs": answer(place, 2)}
        | {"theirs_bleu": 20.0 + place}
        for place in range(COUNT)
    ]
    data = read(tmp_path, records)
    assert (role(data, "ours"), role(data, "theirs")) == ("output", "output")


def test_one_of_the_outputs_that_are_side_by_side_may_be_named(tmp_path: Path) -> None:
    records = [
        {"Prompt": INPUTS[place], "Baseline": answer(place, 1), "Tuned": answer(place, 2)}
        | {"Best": answer(place)}
        for place in range(COUNT)
    ]
    assert role(read(tmp_path, records), "Baseline") == "output?"
    data = read(tmp_path, records, roles={"Baseline": "output"})
    assert data.models == ("Baseline", "Best", "Tuned")
    assert (role(data, "Baseline"), role(data, "Best")) == ("output", "output?")
    assert read(tmp_path, records, roles={"Baseline": "column"}).models == ("Best", "Tuned")


# --- files ----------------------------------------------------------------------------------------


def test_a_file_without_names_of_columns(tmp_path: Path) -> None:
    path = tmp_path / "t.csv"
    path.write_text("".join(f'"{text}","{answer(text)}",{len(text) % 5}\n' for text in INPUTS))
    with pytest.raises(InputError, match="line 1: the first line names no columns"):
        io.load(path)


def test_a_text_file_with_bars_between_the_fields(tmp_path: Path) -> None:
    path = tmp_path / "t.txt"
    lines = [f"{row['id']}|{row['prompt']}|{row['model']}|{row['response']}" for row in rows()]
    path.write_text("\n".join(["id|prompt|model|response", *lines]) + "\n")
    assert io.load(path).shape == (COUNT, 2)


def test_names_of_models_that_differ_in_capitals_are_named(tmp_path: Path) -> None:
    records = [
        {**record, "model": record["model"].title() if record["id"] > 9 else record["model"]}
        for record in rows()
    ]
    data = read(tmp_path, records)
    assert data.roles is not None
    assert "Large and large differ only in capitals" in data.roles.notes[0]
