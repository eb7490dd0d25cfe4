from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import InputError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Scale
from sparingly.run.exchange.appraise import CHECK, CREDITED, HALF_A_PAIR, WHOLE_DOCUMENT, Appraise, number_of
from sparingly.run.exchange.files import SPACES
from sparingly.run.exchange.reading import ANSWERED_AGAIN, CONTROL, UNKNOWN_OUTPUT, UNKNOWN_TASK
from sparingly.run.exchange.tasks import Tasks, make_tasks
from tests.run.exchange.appraise_fake import (
    LANGUAGES,
    USER,
    Row,
    answering,
    batch_items,
    direct,
    documents,
    expected,
    lead,
    pairs,
    read,
    times,
)
from tests.run.exchange.asked import (
    ITEMS,
    MODELS,
    TEXTS,
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


def _tasks(data: EvalSet | None = None, **asked: Any) -> Tasks:
    held = asked_set() if data is None else data
    return make_tasks(held, everything(held), seed=7, **asked)


@settings(max_examples=10)
@given(outputs)
def test_direct_scores_come_back(texts: list[list[str]]) -> None:
    taken = there_and_back(
        "appraise", answering(direct), asked_set(texts, documents=False), options=LANGUAGES
    )
    assert scores_by_cell(taken) == expected(texts)
    assert taken.missing == 0
    assert set(taken.left_out) <= {CREDITED}
    assert adds_up(taken)


@settings(max_examples=10)
@given(outputs)
def test_documents_come_back_without_their_own_scores(texts: list[list[str]]) -> None:
    taken = there_and_back("appraise", answering(documents), asked_set(texts), options=LANGUAGES)
    assert scores_by_cell(taken) == expected(texts)
    assert set(taken.left_out) == {WHOLE_DOCUMENT}
    assert adds_up(taken)


def test_equal_outputs_are_joined_as_appraise_joins_them() -> None:
    data = asked_set(documents=False)
    taken = there_and_back("appraise", answering(direct), data, options=LANGUAGES)
    assert taken.left_out == {CREDITED: 1}
    joined = there_and_back(
        "appraise",
        answering(
            lambda folder: [
                [*lead(item, item["targetID"], item["targetText"]), *times(place)]
                for place, item in enumerate(batch_items(folder))
            ]
        ),
        data,
        options=LANGUAGES,
    )
    assert joined.left_out == {}
    assert scores_by_cell(joined) == scores_by_cell(taken) == expected(TEXTS)


def test_a_document_is_whole_in_order_and_followed_by_its_own_row() -> None:
    def look(folder: Path) -> list[Row]:
        items = [item for item in batch_items(folder) if item["documentID"] == "doc a"]
        systems = list(dict.fromkeys(item["targetID"] for item in items))
        assert [item["targetID"] for item in items] == sorted(
            (item["targetID"] for item in items), key=systems.index
        )
        for system in systems:
            own = [item for item in items if item["targetID"] == system]
            sources = [item["sourceText"] for item in own if not item["isCompleteDocument"]]
            assert sources == [f"source of {name} <&>" for name in ITEMS[:3]][-len(sources) :]
            assert [item["isCompleteDocument"] for item in own] == [False] * len(sources) + [True]
            assert own[-1]["sourceText"] == " ".join(sources)
        assert not any(model in json.dumps(items) for model in MODELS[1:2])
        return documents(folder)

    assert len(there_and_back("appraise", answering(look), options=LANGUAGES)) == 11


def test_the_manifest_names_languages_type_and_shares() -> None:
    def look(folder: Path) -> list[Row]:
        manifest = read(folder, "manifest.json")
        assert len(manifest.pop("CAMPAIGN_KEY")) == 16
        assert manifest == {
            "CAMPAIGN_URL": "http://127.0.0.1:8000/dashboard/sso/",
            "CAMPAIGN_NAME": "sparingly1",
            "CAMPAIGN_NO": 1,
            "REDUNDANCY": 1,
            "TASKS_TO_ANNOTATORS": [["eng", "deu", "uniform", 3, 3]],
            "TASK_TYPE": "Document",
        }
        batches = read(folder, "batches.json")
        # Documents with their own rows are 2 or 3 or 4 items, and none is torn.
        assert [len(batch["items"]) for batch in batches] == [4, 7, 6]
        assert batches[1]["task"] == {
            "batchNo": 2,
            "batchSize": 7,
            "randomSeed": 7,
            "requiredAnnotations": 1,
            "sourceLanguage": "eng",
            "targetLanguage": "deu",
        }
        return documents(folder)

    there_and_back("appraise", answering(look), options={**LANGUAGES, "size": "7"})


def test_other_scales_are_asked_on_a_hundred_points_and_come_back() -> None:
    taken = there_and_back("appraise", answering(documents), options=LANGUAGES, scale="1-5")
    assert scores_by_cell(taken) == {
        cell: pytest.approx(1 + score / 25) for cell, score in expected(TEXTS).items()
    }


def test_raters_get_a_batch_each_with_control_items_under_the_types_of_appraise() -> None:
    texts = [[f"{text} and more words of {at} here" for text in row] for at, row in enumerate(TEXTS)]
    data = sparingly.EvalSet.from_arrays(
        list(ITEMS),
        list(MODELS),
        outputs=texts,
        sources=list(ITEMS),
        references={"ref": [f"reference of {item}" for item in ITEMS]},
    )
    chosen = everything(data)
    controls = sparingly.control_items(data, chosen, share=0.75, seed=1)
    hands = sparingly.assign(chosen, ["ann", "bob"], data=data, controls=controls, overlap=0.0, seed=3)

    def look(folder: Path) -> list[Row]:
        assert len(read(folder, "batches.json")) == 2
        types = [item["itemType"] for item in batch_items(folder)]
        assert {"BAD", "REF", "CHK"} <= set(types)
        assert types.count("TGT") == 11
        return direct(folder)

    taken = there_and_back(
        "appraise", answering(look), data, chosen, options=LANGUAGES, assignment=hands, controls=controls
    )
    assert {row["rater"] for row in taken.rows()} == {"ann", "bob"}
    assert all(row["rater"] == row["assigned"] for row in taken.rows())
    assert taken.left_out[CONTROL] == len(taken.controls) == sum(hands.controls.values()) >= len(controls)
    assert adds_up(taken)


def test_what_appraise_repeats_is_a_check() -> None:
    def change(rows: list[Row]) -> list[Row]:
        return [*rows, [*rows[0][:3], "CHK", *rows[0][4:7], "1", "2"]]

    data = asked_set((("a", "b", "c"), *TEXTS[1:]), documents=False)
    taken = there_and_back("appraise", answering(direct, change), data, options=LANGUAGES)
    assert taken.left_out == {CHECK: 1}
    assert adds_up(taken)


def test_a_later_answer_replaces_an_earlier_one_whatever_the_order() -> None:
    def change(rows: list[Row]) -> list[Row]:
        return [[*rows[0][:6], "1", "999999", "1000000"], *rows]

    data = asked_set((("a", "b", "c"), *TEXTS[1:]), documents=False)
    taken = there_and_back("appraise", answering(direct, change), data, options=LANGUAGES)
    assert taken.left_out == {ANSWERED_AGAIN: 1}
    assert 1.0 in scores_by_cell(taken).values()
    assert adds_up(taken)


def test_strangers_are_left_out() -> None:
    def change(rows: list[Row]) -> list[Row]:
        tutorial = [USER, "ende-tutorial1", "1000000", "TGT", "eng", "deu", "100", "1", "2"]
        other = [*rows[0][:1], "somebody", *rows[0][2:]]
        return [*rows, tutorial, other]

    data = asked_set(documents=False)
    taken = there_and_back("appraise", answering(direct, change), data, options=LANGUAGES)
    assert taken.left_out == {CREDITED: 1, UNKNOWN_TASK: 1, UNKNOWN_OUTPUT: 1}


def test_batch_info_and_older_columns_are_read() -> None:
    def older(folder: Path) -> list[Row]:
        return [[*row[:9], *row[10:]] for row in documents(folder)]

    def with_batches(folder: Path) -> list[Row]:
        return [[*row, "1", "17"] for row in documents(folder)]

    for rows in (older, with_batches):
        taken = there_and_back("appraise", answering(rows), options=LANGUAGES)
        assert scores_by_cell(taken) == expected(TEXTS)
        assert {row["seconds"] for row in taken.rows()} <= {12.0, 6.0}


@settings(max_examples=10)
@given(outputs)
def test_pairs_come_back_as_the_better_side(texts: list[list[str]]) -> None:
    data = asked_set(texts)
    assume(len({text for row in texts for text in row}) > 1)
    taken = there_and_back("appraise", answering(pairs), data, paired(data), options=LANGUAGES)
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
    assert set(taken.left_out) <= {CHECK, CREDITED}
    assert adds_up(taken)


def test_pairwise_batches_are_filled_up_to_a_hundred_items() -> None:
    def look(folder: Path) -> list[Row]:
        (batch,) = read(folder, "batches.json")
        assert [len(batch["items"]), batch["task"]["batchSize"]] == [100, 100]
        types = [item["itemType"] for item in batch["items"]]
        assert (types.count("TGT"), types.count("CHK")) == (3, 97)
        assert read(folder, "manifest.json")["TASK_TYPE"] == "Pairwise"
        return pairs(folder)

    data = asked_set()
    taken = there_and_back("appraise", answering(look), data, paired(data), options=LANGUAGES)
    # One of four pairs has equal outputs, so nobody is asked.
    assert (len(taken), taken.left_out, len(taken.same)) == (3, {CHECK: 97}, 1)


def test_half_a_pair_is_left_out() -> None:
    data = asked_set()
    taken = there_and_back(
        "appraise", answering(pairs, lambda rows: rows[1:6]), data, paired(data), options=LANGUAGES
    )
    assert taken.left_out == {HALF_A_PAIR: 1}
    assert (len(taken), taken.missing) == (2, 1)
    assert adds_up(taken)


marks = st.lists(
    st.tuples(st.integers(0, 7), st.integers(0, 7), st.sampled_from(["minor", "major"])), max_size=3
)


@settings(max_examples=10)
@given(outputs, marks, st.sampled_from([json.dumps, repr]))
def test_marks_come_back_in_code_points(texts: list[list[str]], given_marks: list[Any], spell: Any) -> None:
    data = asked_set(texts)
    tasks = _tasks(data, kind="spans")
    wanted: set[tuple[str, str, int, int, str]] = set()

    def rows(folder: Path) -> list[Row]:
        found = documents(folder)
        for row, item in zip(found, batch_items(folder), strict=True):
            question = tasks.key.questions[item["sourceID"]]
            # The page trims a text and counts UTF-16 units in the rest.
            text = item["targetText"].strip(SPACES)
            cut = len(item["targetText"]) - len(item["targetText"].lstrip(SPACES))
            held: list[Any] = [{"start_i": 0, "end_i": 0, "severity": "undecided", "error_type": None}]
            for start, end, severity in given_marks:
                if start < end <= len(text):
                    before = len(text[:start].encode("utf-16-le")) // 2
                    last = len(text[:end].encode("utf-16-le")) // 2 - 1
                    held.append(
                        {"start_i": before, "end_i": last, "severity": severity, "error_type": ["A", "B"]}
                    )
                    models = "+".join(question.models_by_token[item["targetID"]])
                    wanted.add((question.item, models, start + cut, end + cut, severity))
            row[9] = spell(held)
        return found

    taken = there_and_back("appraise", answering(rows), data, options=LANGUAGES, kind="spans")
    assert spans_of(taken.answers) == wanted
    assert {span.category for one in taken.answers for span in one.marks or ()} <= {"A > B"}
    assert (taken.left_out, taken.missing) == ({}, 0)


def test_esa_has_a_score_beside_the_marks_and_what_is_missing() -> None:
    def rows(folder: Path) -> list[Row]:
        assert read(folder, "manifest.json")["TASK_OPTIONS"] == "ESA"
        assert all(item["mqm"] == [] and not item["isCompleteDocument"] for item in batch_items(folder))
        missing = {"start_i": "missing", "end_i": "missing", "severity": "major", "error_type": None}
        return [
            [*row[:9], json.dumps([missing] if row[6] != "0" else []), *row[10:]] for row in documents(folder)
        ]

    taken = there_and_back("appraise", answering(rows), options=LANGUAGES, kind="spans", aspects="overall")
    assert scores_by_cell(taken) == expected(TEXTS)
    assert {span.category for one in taken.answers for span in one.marks or ()} == {"missing"}


def test_marks_need_the_batches() -> None:
    def rows(folder: Path) -> list[Row]:
        mark = {"start_i": 0, "end_i": 0, "severity": "minor"}
        return [[*row[:9], json.dumps([mark]), *row[10:]] for row in documents(folder)]

    fake = answering(rows)
    with pytest.raises(InputError, match=r"Give batches\.json together with the CSV"):
        there_and_back("appraise", lambda folder: fake(folder)[:1], options=LANGUAGES, kind="spans")
    with pytest.raises(InputError, match="Give the CSV of scores, too"):
        there_and_back("appraise", lambda folder: fake(folder)[1:], options=LANGUAGES, kind="spans")


@pytest.mark.parametrize(
    ("options", "asked", "sentence"),
    [
        ({"target": "deu"}, {}, "source language .* none is given"),
        ({"source": "en"}, {}, 'three letters, not "en"'),
        ({"type": "Document+"}, {}, "neither Direct nor Document"),
        ({"type": "Direct"}, {"kind": "spans"}, "type Document only"),
        ({"size": "0"}, {}, "from 1 to 2000"),
        ({"size": "7", "annotators": "2"}, {}, "3 of them cannot be divided equally among 2"),
        ({"size": "1", "annotators": "1"}, {}, "at least"),
        ({"campaign": "my campaign"}, {}, "letters and digits"),
        ({}, {"aspects": ("overall", "fluency")}, "one score"),
        ({}, {"kind": "ranking"}, "cannot ask for rankings"),
    ],
)
def test_wrong_options_get_a_sentence(options: dict[str, str], asked: dict[str, Any], sentence: str) -> None:
    given_options = {**LANGUAGES, **options} if "target" not in options else options
    with pytest.raises(UsageError, match=sentence):
        Appraise().check_write(_tasks(**asked), given_options)


def test_an_assignment_leaves_nothing_to_share() -> None:
    data = asked_set()
    hands = sparingly.assign(everything(data), ["ann", "bob"], data=data, seed=3)
    with pytest.raises(UsageError, match="leave out redundancy"):
        Appraise().check_write(_tasks(data, assignment=hands), {**LANGUAGES, "redundancy": "2"})


def test_other_columns_get_a_sentence() -> None:
    def change(rows: list[Row]) -> list[Row]:
        return [["user", "system", "item", "type", "eng", "deu", "score"], *rows]

    with pytest.raises(InputError, match=r"scores\.csv, line 1: 7 columns that are not those of Appraise"):
        there_and_back("appraise", answering(direct, change), asked_set(documents=False), options=LANGUAGES)


def test_numbers_are_those_that_a_database_holds() -> None:
    numbers = [number_of(f"task{place}") for place in range(200)]
    assert len(set(numbers)) == 200
    assert all(0 < number < 2**31 for number in numbers)
    assert number_of("task0") == number_of("task0")


def test_the_scale_of_appraise_is_a_hundred_points() -> None:
    assert Appraise().key_for(_tasks(scale=Scale(1, 5))).tool_scale("overall") == Scale(0, 100)
