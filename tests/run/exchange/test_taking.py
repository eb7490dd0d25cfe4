"""Every answer is counted once: taken, or left out with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import moment_in
from sparingly.run.exchange.reading import Taking
from sparingly.run.exchange.report import Given
from sparingly.run.exchange.tasks import make_tasks
from sparingly.run.forms.spans import Span
from tests.run.exchange.helpers import all_of, awkward, pairs_of

DATA = awkward()
KEY = make_tasks(DATA, all_of(DATA), aspects=["overall"], scale=Scale(0, 100)).key
QUESTIONS = list(KEY.questions.values())
TOKENS = [*KEY.models, "unknown"]

anything = st.one_of(
    st.none(), st.text(max_size=3), st.floats(), st.integers(-200, 200), st.booleans(), st.just([])
)
calls = st.lists(
    st.tuples(
        st.sampled_from([question.task for question in QUESTIONS] + ["nowhere", 3]),
        st.sampled_from(TOKENS),
        st.sampled_from(["overall", "fluency"]),
        anything,
        st.sampled_from(["Ada", "Bo", None]),
        st.one_of(st.none(), st.floats(0, 9)),
    ),
    max_size=40,
)


@given(calls, st.booleans())
@settings(max_examples=60)
def test_read_is_taken_and_left_out(rows: list[tuple[Any, ...]], named: bool) -> None:
    taking = Taking(KEY, rater="anyone" if named else None)
    for number, (task, token, aspect, value, rater, when) in enumerate(rows):
        question = taking.question(task, f"row {number}")
        if question is not None:
            taking.score(question, token, aspect, value, Given(rater, f"row {number}", when=when))
    taken = taking.done()
    assert taken.read == len(rows) == len(taken) + sum(taken.left_out.values())
    assert all(count > 0 and 1 <= len(taken.examples[why]) <= 3 for why, count in taken.left_out.items())
    assert all(0 <= one.score <= 100 for one in taken.judgements)
    cells = [one.cell for one in taken.judgements]
    assert len(set(cells)) == len(cells)
    asked = sum(len(question.outputs) for question in QUESTIONS)
    answered = {(one.question.task, one.groups) for one in taken.judgements}
    assert taken.missing == asked - len(answered)


def score(taking: Taking, value: Any, when: float | None = None, rater: str | None = "Ada") -> None:
    question = QUESTIONS[0]
    taking.score(
        question, next(iter(question.outputs)), "overall", value, Given(rater, f"{value}", when=when)
    )


def test_the_last_answer_of_a_rater_counts() -> None:
    by_order, by_time = Taking(KEY), Taking(KEY)
    for taking, times in ((by_order, (None, None)), (by_time, (20.0, 10.0))):
        score(taking, 10, times[0])
        score(taking, 20, times[1])
        score(taking, 30, rater="Bo")
    assert [one.score for one in by_order.done().judgements] == [20, 30]
    taken = by_time.done()
    assert [one.score for one in taken.judgements] == [10, 30]
    assert taken.examples["answered again later by the same rater"] == ("20",)


def test_a_score_outside_the_scale_is_left_out_or_refused() -> None:
    taking = Taking(KEY)
    score(taking, 101)
    assert taking.done().left_out == {"a score outside the scale 0 to 100": 1}
    with pytest.raises(InputError, match="outside the scale"):
        score(Taking(KEY, strict=True), -1)


def test_a_scale_that_is_named_is_converted() -> None:
    taking = Taking(KEY, Scale(0, 1))
    score(taking, 0.25)
    assert [one.score for one in taking.done().judgements] == [25.0]


def test_who_answered() -> None:
    def name(**asked: Any) -> list[str]:
        taking = Taking(KEY, **asked)
        score(taking, 5, rater="3")
        score(taking, 6, rater=None)
        return [one.rater for one in taking.done().judgements]

    assert name() == ["3"]
    assert name(raters={"3": "Ada"}, rater="Bo") == ["Ada", "Bo"]


def test_a_ranking_must_be_whole_and_ties_are_ties() -> None:
    key = make_tasks(DATA, all_of(DATA), kind="ranking").key
    question = next(iter(key.questions.values()))
    tokens = list(question.outputs)
    taking = Taking(key, rater="Ada")
    taking.ranking(question, "overall", dict.fromkeys(tokens[1:], 1), Given(None, "part"))
    taking.ranking(question, "overall", {**dict.fromkeys(tokens, 1), "x": 2}, Given(None, "more"))
    taking.ranking(question, "overall", None, Given(None, "none"))
    taking.ranking(question, "overall", {tokens[0]: 1, **dict.fromkeys(tokens[1:], 2)}, Given(None, "tied"))
    taken = taking.done()
    assert sum(taken.left_out.values()) == 3
    rows = taken.rows()
    best = question.outputs[tokens[0]][0]
    assert len(rows) == 15
    assert all(row["score"] == (1.0 if row["first"] == best else 0.0) for row in rows)


def test_equal_outputs_are_ties_without_a_rater() -> None:
    key = make_tasks(DATA, pairs_of(DATA, [("a,b", "7", 'say "hi"'), ("1", "7", "a+b")])).key
    taken = Taking(key).done()
    assert [(row["item"], row["score"], row["rater"]) for row in taken.rows()] == [
        ("a,b", 0.0, "same_output")
    ]
    assert taken.missing == 1


def test_spans_outside_the_text_or_without_points_are_left_out() -> None:
    key = make_tasks(DATA, all_of(DATA), kind="spans").key
    question = next(iter(key.questions.values()))
    token = next(iter(question.outputs))
    taking = Taking(key, rater="Ada")
    taking.spans(question, token, [Span(0, 10_000)], Given(None, "long"))
    taking.spans(question, token, [Span(0, 1, "awful")], Given(None, "odd"))
    taking.spans(question, token, None, Given(None, "none"))
    taking.spans(question, token, [Span(0, 1, "critical")], Given(None, "good"))
    taken = taking.done()
    assert (taken.read, len(taken)) == (4, 1)
    assert taken.judgements[0].score == -25.0
    assert taken.judgements[0].aspect == "mqm"


def test_seconds_are_shared_among_those_credited() -> None:
    question = next(one for one in QUESTIONS if any(len(names) > 1 for names in one.outputs.values()))
    token = next(token for token, names in question.outputs.items() if len(names) == 2)
    taking = Taking(KEY)
    taking.score(question, token, "overall", 50, Given("Ada", "row", seconds=10.0))
    assert [row["seconds"] for row in taking.done().rows()] == [5.0, 5.0]


def test_times_in_every_form() -> None:
    assert moment_in("1970-01-01T00:00:10Z") == moment_in("1970-01-01T00:00:10") == moment_in(10) == 10.0
    assert moment_in(1_790_000_000_000) == 1_790_000_000.0
    assert moment_in("yesterday") is None
    assert moment_in(None) is None
    assert moment_in(True) is None


def test_two_valued_words_are_scores_where_the_scale_is_from_0_to_1() -> None:
    key = make_tasks(DATA, all_of(DATA), aspects=["overall"], scale=Scale(0, 1)).key
    taking, question = Taking(key, rater="Ada"), next(iter(key.questions.values()))
    for token, value in zip(question.outputs, (" Pass", False, "perhaps"), strict=False):
        taking.score(question, token, "overall", value, Given("Ada", f"{value}"))
    taken = taking.done()
    assert [one.score for one in taken.judgements] == [1.0, 0.0]
    assert set(taken.left_out) <= {"the score is no number"}
    assert taken.into(DATA).store.scales["aspect:overall"] == (0.0, 1.0)
    other = Taking(KEY)
    score(other, "pass")
    assert other.done().left_out == {"the score is no number": 1}
