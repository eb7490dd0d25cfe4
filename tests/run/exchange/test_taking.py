"""Every answer is counted once: taken, or left out with a reason."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import moment_in
from sparingly.run.exchange.reading import Reading, Submission
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
        st.sampled_from([question.id for question in QUESTIONS] + ["nowhere", 3]),
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
    reading = Reading(KEY, rater="anyone" if named else None)
    for number, (task, token, aspect, value, rater, when) in enumerate(rows):
        question = reading.question(task, f"row {number}")
        if question is not None:
            reading.score(question, token, aspect, value, Submission(rater, f"row {number}", time=when))
    taken = reading.report()
    assert taken.read == len(rows) == len(taken) + sum(taken.left_out.values())
    assert all(count > 0 and 1 <= len(taken.examples[why]) <= 3 for why, count in taken.left_out.items())
    assert all(0 <= one.score <= 100 for one in taken.answers)
    cells = [(one.data, one.item, one.models, one.aspect, one.rater) for one in taken.answers]
    assert len(set(cells)) == len(cells)
    asked = sum(len(question.outputs) for question in QUESTIONS)
    answered = {(one.client, one.models) for one in taken.answers}
    assert taken.missing == asked - len(answered)


def score(reading: Reading, value: Any, when: float | None = None, rater: str | None = "Ada") -> None:
    question = QUESTIONS[0]
    reading.score(
        question, next(iter(question.by_token)), "overall", value, Submission(rater, f"{value}", time=when)
    )


def test_the_last_answer_of_a_rater_counts() -> None:
    by_order, by_time = Reading(KEY), Reading(KEY)
    for reading, times in ((by_order, (None, None)), (by_time, (20.0, 10.0))):
        score(reading, 10, times[0])
        score(reading, 20, times[1])
        score(reading, 30, rater="Bo")
    assert [one.score for one in by_order.report().answers] == [20, 30]
    taken = by_time.report()
    assert [one.score for one in taken.answers] == [10, 30]
    assert taken.examples["answered again later by the same rater"] == ("20",)


def test_a_score_outside_the_scale_is_left_out_or_refused() -> None:
    reading = Reading(KEY)
    score(reading, 101)
    assert reading.report().left_out == {"a score outside the scale 0 to 100": 1}
    with pytest.raises(InputError, match="outside the scale"):
        score(Reading(KEY, strict=True), -1)


def test_a_scale_that_is_named_is_converted() -> None:
    reading = Reading(KEY, Scale(0, 1))
    score(reading, 0.25)
    assert [one.score for one in reading.report().answers] == [25.0]


def test_who_answered() -> None:
    def name(**asked: Any) -> list[str]:
        reading = Reading(KEY, **asked)
        score(reading, 5, rater="3")
        score(reading, 6, rater=None)
        return [one.rater for one in reading.report().answers]

    assert name() == ["3"]
    assert name(raters={"3": "Ada"}, rater="Bo") == ["Ada", "Bo"]


def test_a_ranking_must_be_whole_and_ties_are_ties() -> None:
    key = make_tasks(DATA, all_of(DATA), kind="ranking").key
    question = next(iter(key.questions.values()))
    tokens = list(question.by_token)
    reading = Reading(key, rater="Ada")
    reading.ranking(question, "overall", dict.fromkeys(tokens[1:], 1), Submission(None, "part"))
    reading.ranking(question, "overall", {**dict.fromkeys(tokens, 1), "x": 2}, Submission(None, "more"))
    reading.ranking(question, "overall", None, Submission(None, "none"))
    reading.ranking(
        question, "overall", {tokens[0]: 1, **dict.fromkeys(tokens[1:], 2)}, Submission(None, "tied")
    )
    taken = reading.report()
    assert sum(taken.left_out.values()) == 3
    rows = taken.rows()
    best = question.models_by_token[tokens[0]][0]
    assert len(rows) == 15
    assert all(row["score"] == (1.0 if row["first"] == best else 0.0) for row in rows)


def test_equal_outputs_are_ties_without_a_rater() -> None:
    key = make_tasks(DATA, pairs_of(DATA, [("a,b", "7", 'say "hi"'), ("1", "7", "a+b")])).key
    taken = Reading(key).report()
    assert [(row["item"], row["score"], row["rater"]) for row in taken.rows()] == [
        ("a,b", 0.0, "same_output")
    ]
    assert taken.missing == 1


def test_spans_outside_the_text_or_without_points_are_left_out() -> None:
    key = make_tasks(DATA, all_of(DATA), kind="spans").key
    question = next(iter(key.questions.values()))
    token = next(iter(question.by_token))
    reading = Reading(key, rater="Ada")
    reading.spans(question, token, [Span(0, 10_000)], Submission(None, "long"))
    reading.spans(question, token, [Span(0, 1, "awful")], Submission(None, "odd"))
    reading.spans(question, token, None, Submission(None, "none"))
    reading.spans(question, token, [Span(0, 1, "critical")], Submission(None, "good"))
    taken = reading.report()
    assert (taken.read, len(taken)) == (4, 1)
    assert taken.answers[0].score == -25.0
    assert taken.answers[0].aspect == "mqm"


def test_seconds_are_shared_among_those_credited() -> None:
    question = next(one for one in QUESTIONS if any(len(names) > 1 for names in one.models_by_token.values()))
    token = next(token for token, names in question.models_by_token.items() if len(names) == 2)
    reading = Reading(KEY)
    reading.score(question, token, "overall", 50, Submission("Ada", "row", seconds=10.0))
    assert [row["seconds"] for row in reading.report().rows()] == [5.0, 5.0]


def test_times_in_every_form() -> None:
    assert moment_in("1970-01-01T00:00:10Z") == moment_in("1970-01-01T00:00:10") == moment_in(10) == 10.0
    assert moment_in(1_790_000_000_000) == 1_790_000_000.0
    assert moment_in("yesterday") is None
    assert moment_in(None) is None
    assert moment_in(True) is None


def test_two_valued_words_are_scores_where_the_scale_is_from_0_to_1() -> None:
    key = make_tasks(DATA, all_of(DATA), aspects=["overall"], scale=Scale(0, 1)).key
    reading, question = Reading(key, rater="Ada"), next(iter(key.questions.values()))
    for token, value in zip(question.by_token, (" Pass", False, "perhaps"), strict=False):
        reading.score(question, token, "overall", value, Submission("Ada", f"{value}"))
    taken = reading.report()
    assert [one.score for one in taken.answers] == [1.0, 0.0]
    assert set(taken.left_out) <= {"the score is not a number"}
    assert taken.into(DATA).store.scales["aspect:overall"] == (0.0, 1.0)
    other = Reading(KEY)
    score(other, "pass")
    assert other.report().left_out == {"the score is not a number": 1}
