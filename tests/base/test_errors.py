"""Errors: one tree, one sentence each, one place that maps them to exit codes."""

from __future__ import annotations

import inspect
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base import errors
from sparingly.base.errors import (
    AnswerIsNo,
    DataError,
    ExtraMissingError,
    InputError,
    MissingDataError,
    SparinglyError,
    UnknownNameError,
    UsageError,
    exit_code,
    listing,
    nearest,
    one_line,
)


def test_the_tree_is_the_one_that_is_drawn() -> None:
    tree = {
        name: [base.__name__ for base in found.__mro__[1:] if issubclass(base, SparinglyError)]
        for name, found in inspect.getmembers(errors, inspect.isclass)
        if issubclass(found, SparinglyError)
    }
    assert tree == {
        "SparinglyError": [],
        "UsageError": ["SparinglyError"],
        "UnknownNameError": ["UsageError", "SparinglyError"],
        "DataError": ["SparinglyError"],
        "InputError": ["DataError", "SparinglyError"],
        "MissingDataError": ["DataError", "SparinglyError"],
        "ExtraMissingError": ["SparinglyError"],
        "AnswerIsNo": ["SparinglyError"],
    }
    assert all(name in (errors.__doc__ or "") for name in tree)


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (AnswerIsNo("no"), 1),
        (UsageError("wrong"), 2),
        (DataError("wrong"), 2),
        (InputError("wrong"), 2),
        (MissingDataError("wrong"), 2),
        (ExtraMissingError("The page", "web"), 2),
        (RuntimeError("a fault"), 2),
    ],
)
def test_exit_codes(error: Exception, code: int) -> None:
    assert exit_code(error) == code


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (InputError("it is empty"), "it is empty."),
        (InputError("it is empty."), "it is empty."),
        (InputError("it is empty", file="a.jsonl"), "a.jsonl: it is empty."),
        (InputError("it is empty", file=Path("a") / "b", line=3), f"{Path('a') / 'b'}, line 3: it is empty."),
        (
            InputError('"x" is text', file="a", line=3, field="metrics.m.chrF", fix="Write a number"),
            'a, line 3, field metrics.m.chrF: "x" is text. Write a number.',
        ),
        (InputError("it ends", fix="Is it cut off?"), "it ends. Is it cut off?"),
        (InputError("two\nlines", file="a\tb"), "a\\tb: two\\nlines."),
    ],
)
def test_input_errors_name_the_place_and_the_fix(error: InputError, sentence: str) -> None:
    assert str(error) == sentence


def test_a_place_is_filled_in_only_where_it_was_unknown() -> None:
    error = InputError("wrong", line=3, fix="Mend it").at(file="a.csv", line=9, field="score")
    assert str(error) == "a.csv, line 3, field score: wrong. Mend it."


def test_unknown_names_come_with_the_nearest() -> None:
    error = UnknownNameError("metric", "COMTE", ["chrF", "COMET", "BLEU"])
    assert str(error) == 'There is no metric "COMTE". Did you mean COMET?'
    assert (error.kind, error.name, error.names) == ("metric", "COMTE", ("chrF", "COMET", "BLEU"))


def test_unknown_names_come_with_all_when_none_is_near() -> None:
    known = [f"m{place:02}" for place in range(15)]
    assert str(UnknownNameError("metric", "zebra", known)) == (
        'There is no metric "zebra". '
        "There are: m00, m01, m02, m03, m04, m05, m06, m07, m08, m09, m10, m11 and 3 more."
    )


def test_unknown_names_where_there_is_none() -> None:
    error = UnknownNameError("metric", "x", [], "See: sparingly info.")
    assert str(error) == 'There is no metric "x". There is no metric at all. See: sparingly info.'


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        (1, 'There is no item 1: names are text. Did you mean "1"?'),
        (3, "There is no item 3: names are text. There are: 1, b-2."),
        (None, "There is no item None: names are text. There are: 1, b-2."),
        (b"b-2", "There is no item b'b-2': names are text. Did you mean \"b-2\"?"),
    ],
)
def test_unknown_names_that_are_no_text(name: object, sentence: str) -> None:
    error = UnknownNameError("item", name, ["1", "b-2"])
    assert str(error) == sentence
    assert error.name == str(name)


def test_extras_are_named() -> None:
    error = ExtraMissingError("The report", "report")
    assert str(error) == 'The report needs an extra. Install it with: pip install "sparingly[report]"'
    assert isinstance(error, ImportError)


def test_errors_are_value_errors_where_callers_expect_them() -> None:
    assert issubclass(UsageError, ValueError)
    assert issubclass(DataError, ValueError)


def test_listing_counts_what_it_cuts() -> None:
    assert listing(["a", "b"]) == "a, b"
    assert listing("abcde", limit=2) == "a, b and 3 more"


def test_nearest_is_ordered() -> None:
    assert nearest("flunecy", ["coherence", "fluency", "fluency_2"])[0] == "fluency"
    assert nearest("zebra", ["coherence"]) == []
    assert nearest("x", []) == []
    assert nearest(12, ["12", "b"]) == ["12"]


@given(st.text(st.characters()))
def test_one_line_is_one_line_and_keeps_what_prints(text: str) -> None:
    shown = one_line(text)
    assert len(shown.splitlines()) <= 1
    shown.encode("utf-8")
    if text.isprintable():
        assert shown == text


@given(st.text(), st.text(), st.text())
def test_every_input_error_is_one_line(problem: str, file: str, field: str) -> None:
    assert len(str(InputError(problem, file=file, line=1, field=field, fix=problem)).splitlines()) == 1
