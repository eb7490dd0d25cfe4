from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.pearmut import EXTRA_PAGE, GUARD, Pearmut, campaign
from sparingly.run.exchange.reading import (
    ANSWERED_AGAIN,
    CANCELLED,
    CONTROL,
    NOT_ANSWERED,
    RESET,
    UNKNOWN_TASK,
)
from sparingly.run.exchange.tasks import make_tasks
from tests.run.exchange.asked import (
    MODELS,
    TEXTS,
    adds_up,
    asked_set,
    everything,
    outputs,
    scores_by_cell,
    spans_of,
    there_and_back,
)  # fmt: skip
from tests.run.exchange.pearmut_fake import Entry, answering, expected, log, log_entries, log_entry


@settings(max_examples=12)
@given(outputs)
def test_scores_come_back_to_their_items_and_models(texts: list[list[str]]) -> None:
    taken = there_and_back("pearmut", answering(), asked_set(texts))
    assert scores_by_cell(taken) == expected(texts)
    assert (taken.missing, taken.left_out) == (0, {})


def test_the_campaign_has_no_names_of_models_and_documents_in_order() -> None:
    data = asked_set()
    made = campaign(make_tasks(data, everything(data), seed=7), {})
    text = json.dumps(made["data"])
    assert not any(json.dumps(model)[1:-1] in text for model in MODELS[1:])
    orders = [[item["item_id"] for item in document] for document in made["data"]]
    assert sorted(orders, key=len) == [["ü-4"], ["seg 1", "2", "x/3"]]
    tokens = [list(item["tgt"]) for item in max(made["data"], key=len)]
    assert tokens[0] == [token for token in tokens[1] if token in tokens[0]]
    assert len(tokens[0]) == 2
    assert made["info"] == {
        "assignment": "single-stream",
        "protocol": "DA",
        "users": 1,
        "seed": 7,
        "shuffle": False,
    }


def test_items_carry_round_probability_and_context() -> None:
    data = asked_set()
    made = campaign(make_tasks(data, everything(data), seed=7, context_before=1), {})
    item = next(item for document in made["data"] for item in document if item["item_id"] == "2")
    assert (item["round"], item["inclusion_probability"], item["document"]) == (1, 1.0, "doc a")
    assert item["instructions"] == "<p><b>Before:</b> source of seg 1 &lt;&amp;&gt;</p>"


def test_html_in_outputs_is_shown_as_text() -> None:
    data = asked_set()
    made = campaign(make_tasks(data, everything(data), seed=7), {})
    shown = [text for document in made["data"] for item in document for text in item["tgt"].values()]
    assert f"{GUARD}<img src=x onerror=alert(1)> 家" in shown
    assert not any(text.startswith("<img") for text in shown)


def test_raters_have_lists_of_their_own_under_names_that_fit_links() -> None:
    data = asked_set()
    chosen = everything(data)
    hands = sparingly.assign(chosen, ["ann", "böb & co"], data=data, overlap=0.0, seed=3)
    taken = there_and_back("pearmut", answering(), data, chosen, assignment=hands)
    rows = taken.rows()
    assert {row["rater"] for row in rows} == {"ann", "böb & co"}
    assert all(row["rater"] == row["assigned"] for row in rows)
    assert taken.missing == 0
    users = campaign(make_tasks(data, chosen, hands, seed=7), {})["info"]["users"]
    assert "ann" in users
    assert all(user.isalnum() and user.isascii() for user in users)


def test_control_items_are_kept_apart() -> None:
    data = asked_set((*TEXTS[:3], ("plain words here", "a bit longer than the others", "short")))
    chosen = everything(data)
    controls = sparingly.control_items(data, chosen, kinds=("repeat",), share=0.5, seed=1)
    hands = sparingly.assign(chosen, ["ann"], data=data, controls=controls, seed=3)
    taken = there_and_back("pearmut", answering(), data, chosen, assignment=hands, controls=controls)
    assert len(taken.controls) == taken.left_out[CONTROL] == len(controls)
    assert taken.missing == 0
    assert adds_up(taken)


def test_a_reset_voids_what_the_user_said_before_it() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        reset = {"user_id": "anna", "annotation": "__RESET__"}
        other = {**entries[0], "user_id": "other"}
        return [*entries, other, reset, entries[0]]

    taken = there_and_back("pearmut", answering(change))
    assert {rater for *_, rater in scores_by_cell(taken)} == {"anna", "other"}
    # Eleven texts to judge: twelve outputs, two of which are equal.
    assert taken.left_out == {RESET: 11}
    assert adds_up(taken)


def test_pages_around_the_campaign_are_not_judged() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        return [{**entries[0], "item_i": name} for name in ("welcome_0", "random_1", "goodbye_0")] + entries

    taken = there_and_back("pearmut", answering(change))
    assert scores_by_cell(taken) == expected(TEXTS)
    assert set(taken.left_out) == {EXTRA_PAGE}
    assert adds_up(taken)


def test_the_last_submission_counts() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        again = [
            [{token: {**said, "score": 1} for token, said in answer.items()} for answer in one["annotation"]]
            for one in entries
        ]
        later = [
            {**one, "annotation": answers, "actions": [{"time": 1e6, "action": "submit"}]}
            for one, answers in zip(entries, again, strict=True)
        ]
        return entries + later

    taken = there_and_back("pearmut", answering(change))
    assert set(scores_by_cell(taken).values()) == {1.0}
    assert taken.left_out == {ANSWERED_AGAIN: 11}
    assert adds_up(taken)


def test_skipped_items_and_missing_scores_are_left_out() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        first = entries[0]["annotation"]
        for said in first[0].values():
            said["score"] = None
        first[1:] = [None for _ in first[1:]]
        return entries

    taken = there_and_back("pearmut", answering(change))
    assert set(taken.left_out) <= {NOT_ANSWERED, CANCELLED}
    assert taken.left_out[NOT_ANSWERED] >= 2
    assert taken.missing == sum(taken.left_out.values())
    assert adds_up(taken)


def test_what_was_skipped_is_said_so() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            entry["actions"].append({"time": 9e5, "action": "submit_skip"})
            for said in entry["annotation"][0].values():
                said["score"] = None
        return entries

    taken = there_and_back("pearmut", answering(change))
    assert set(taken.left_out) == {CANCELLED}
    assert len(taken) > 0
    assert adds_up(taken)


def test_the_mean_of_sliders_stands_in_for_a_score() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            for answer in entry["annotation"]:
                for said in answer.values():
                    said.update(score=None, sliders={"fluency": 20, "adequacy": 41, "style": None})
        return entries

    taken = there_and_back("pearmut", answering(change))
    assert set(scores_by_cell(taken).values()) == {30.5}


def test_several_aspects_and_other_scales_are_sliders() -> None:
    aspects = {"how fluent?": Scale(1, 5), "overall": Scale(0, 1)}

    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            for answer in entry["annotation"]:
                for said in answer.values():
                    said.update(score=None, sliders={"how_fluent": 4, "overall": 0.25})
        return entries

    data = asked_set()
    made = campaign(make_tasks(data, everything(data), aspects=aspects), {})
    assert made["info"]["sliders"] == [
        {"name": "how_fluent", "min": 1.0, "max": 5.0, "step": 1},
        {"name": "overall", "min": 0.0, "max": 1.0, "step": 0.01},
    ]
    taken = there_and_back("pearmut", answering(change), aspects=aspects)
    scores = {(aspect, score) for (_, _, aspect, _), score in scores_by_cell(taken).items()}
    assert scores == {("how fluent?", 4.0), ("overall", 0.25)}
    assert taken.missing == 0


def test_seconds_are_shared_and_pauses_capped() -> None:
    taken = there_and_back("pearmut", answering())
    # 10 seconds and a pause of 190 that counts as 61, for each of two documents.
    assert sum(row["seconds"] for row in taken.rows()) == pytest.approx(2 * 71.0)


def test_failed_checks_are_told() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        entries[0]["validations"] = [True, False, False]
        return entries

    assert there_and_back("pearmut", answering(change)).notes == ("anna failed 2 of Pearmut's checks.",)


def test_a_download_of_several_campaigns_is_read() -> None:
    def fake(folder: Path) -> list[Path]:
        path = folder / "annotations.json"
        reset = {"user_id": "anna", "annotation": "__RESET__"}
        path.write_text(json.dumps({"other": [reset], "sparingly-1": log_entries(folder)}, indent=1))
        return [path]

    assert scores_by_cell(there_and_back("pearmut", fake)) == expected(TEXTS)


def test_items_are_found_without_the_id_of_the_task() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            entry["item"] = [
                {name: value for name, value in item.items() if name != "task"} for item in entry["item"]
            ]
        stranger = {"item_id": "nobody", "tgt": {"a": "b"}}
        return [*entries, log_entry("anna", 9, [stranger], [{"a": {"score": 3}}])]

    taken = there_and_back("pearmut", answering(change))
    assert scores_by_cell(taken) == expected(TEXTS)
    assert taken.left_out == {UNKNOWN_TASK: 1}


@settings(max_examples=15)
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(0, 2), st.integers(0, 8)), max_size=6))
def test_whatever_stands_in_the_log_is_counted(blows: list[tuple[int, int, int]]) -> None:
    rubbish: list[Any] = [
        None,
        [],
        {},
        "x",
        3,
        [None],
        {"score": "?"},
        "__RESET__",
        {"stranger": {"score": 2}},
    ]

    def change(entries: list[Entry]) -> list[Entry]:
        for at, where, what in blows:
            entry = json.loads(json.dumps(entries[at % len(entries)]))
            if where == 0:
                entry["annotation"] = rubbish[what]
            elif where == 1 and isinstance(entry["annotation"], list) and entry["annotation"]:
                entry["annotation"][0] = rubbish[what]
            else:
                entry["item"] = rubbish[what]
            entries = [*entries, entry]
        return entries

    assert adds_up(there_and_back("pearmut", answering(change)))


marks = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["minor", "Major"])), max_size=3
)


def _utf16(text: str, start: int, end: int) -> tuple[int, int]:
    """Return the first and the last UTF-16 unit of some letters, counted letter by letter."""
    before = sum(1 + (ord(letter) > 0xFFFF) for letter in text[:start])
    inside = sum(1 + (ord(letter) > 0xFFFF) for letter in text[start:end])
    return before, before + inside - 1


@settings(max_examples=12)
@given(outputs, marks)
def test_spans_come_back_in_code_points(texts: list[list[str]], given_marks: list[Any]) -> None:
    wanted: set[tuple[str, str, int, int, str]] = set()
    data = asked_set(texts)
    tasks = make_tasks(data, everything(data), kind="spans", seed=7)
    credited = {
        (task.id, token): "+".join(models)
        for task in tasks
        for token, models in tasks.key.questions[task.id].models_by_token.items()
    }

    def fake(folder: Path) -> list[Path]:
        entries = log_entries(folder)
        for entry in entries:
            for item, answer in zip(entry["item"], entry["annotation"], strict=True):
                for token, said in answer.items():
                    text = item["tgt"][token]
                    for start, end, severity in given_marks:
                        if start < end <= len(text):
                            first, last = _utf16(text, start, end)
                            said["error_spans"].append(
                                {"start_i": first, "end_i": last, "severity": severity, "category": "A/B"}
                            )
                            models = credited[item["task"], token]
                            wanted.add((item["item_id"], models, start, end, severity.lower()))
        return log(folder, entries)

    taken = there_and_back("pearmut", fake, data, kind="spans")
    assert spans_of(taken.answers) == wanted
    assert all(
        one.score == -sum(5 if s.severity == "major" else 1 for s in one.marks or ()) for one in taken.answers
    )


def test_marks_cut_letters_miss_text_and_stand_before_html() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            for item, answer in zip(entry["item"], entry["annotation"], strict=True):
                for token, said in answer.items():
                    text = item["tgt"][token]
                    if text == "Ein 😀 Haus.":
                        # The second half of the emoji only, and what is missing behind the text.
                        said["error_spans"] = [{"start_i": 5, "end_i": 5, "severity": "minor"}]
                        said["error_spans"].append({"start_i": 12, "end_i": 12, "severity": "major"})
                    if text.startswith(GUARD):
                        said["error_spans"] = [{"start_i": 1, "end_i": 4, "severity": "minor"}]
        return entries

    taken = there_and_back("pearmut", answering(change), kind="spans", aspects="overall")
    found = {(text, start, end) for _, text, start, end, _ in spans_of(taken.answers)}
    same = "+".join(sorted(MODELS[:2]))
    assert found == {(same, 4, 5), (same, 10, 11), (MODELS[2], 0, 4)}
    assert {span.category for one in taken.answers for span in one.marks or ()} == {"", "missing"}


def test_what_is_missing_from_an_empty_output_counts() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for entry in entries:
            for item, answer in zip(entry["item"], entry["annotation"], strict=True):
                for token, said in answer.items():
                    if item["tgt"][token] == "":
                        said["error_spans"] = [{"start_i": 0, "end_i": 0, "severity": "major"}]
        return entries

    points = there_and_back("pearmut", answering(change), kind="spans")
    assert points.left_out == {}
    assert {cell[:2] for cell, score in scores_by_cell(points).items() if score == -5} == {("ü-4", MODELS[2])}
    scored = there_and_back("pearmut", answering(change), kind="spans", aspects="overall")
    assert scores_by_cell(scored) == expected(TEXTS)


def test_a_mark_without_a_severity_is_left_out() -> None:
    def change(entries: list[Entry]) -> list[Entry]:
        for said in entries[0]["annotation"][0].values():
            said["error_spans"] = [{"start_i": 0, "end_i": 0, "severity": None}]
        return entries

    taken = there_and_back("pearmut", answering(change), kind="spans")
    assert list(taken.left_out) == ["a mark without a place or a severity"]
    assert adds_up(taken)


@pytest.mark.parametrize(
    ("options", "asked", "sentence"),
    [
        ({"campaign": "a/b"}, {}, "part of links"),
        ({"assignment": "dynamic"}, {}, "neither task-based nor single-stream"),
        ({"assignment": "task-based"}, {}, "a list per rater"),
        ({"users": "none"}, {}, "not a whole number"),
        ({"protocol": "XYZ"}, {}, "none of DA, ESA, cESA, MQM"),
        ({"protocol": "DA"}, {"kind": "spans"}, "no spans"),
        ({"protocol": "ESA"}, {}, "marks spans"),
        ({"protocl": "DA"}, {}, "protocol"),
        ({}, {"kind": "ranking"}, "cannot ask for rankings"),
    ],
)
def test_wrong_options_get_a_sentence(options: dict[str, str], asked: dict[str, Any], sentence: str) -> None:
    data = asked_set()
    with pytest.raises(UsageError, match=sentence):
        Pearmut().check_write(make_tasks(data, everything(data), **asked), options)


def test_other_files_get_a_sentence() -> None:
    def fake(folder: Path) -> list[Path]:
        (folder / "x.json").write_text('{"a": 1}')
        return [folder / "x.json"]

    with pytest.raises(InputError, match="not annotations of Pearmut"):
        there_and_back("pearmut", fake)
