"""The grammar of methods as text."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.base.text import (
    Bare,
    Call,
    Calls,
    Items,
    Quoted,
    format_call,
    format_number,
    format_value,
    parse_call,
    text_value,
)

names = st.from_regex(r"[a-z][a-z0-9_]{0,8}", fullmatch=True)
texts = st.text()
weights = st.floats(allow_nan=False, allow_infinity=False)


@st.composite
def calls(draw: st.DrawFn, depth: int = 2) -> Call:
    keys = draw(st.lists(names, max_size=3, unique=True))
    return Call(draw(names), tuple((key, draw(values(depth))) for key in keys))


def values(depth: int) -> st.SearchStrategy[Bare | Quoted | Items | Calls]:
    scalars: st.SearchStrategy[Bare | Quoted] = texts.map(text_value)
    lists = st.lists(texts.map(lambda text: text_value(text, inside_list=True)), max_size=4)
    several = scalars | lists.map(lambda parts: Items(tuple(parts)))
    if depth == 0:
        return several
    nested = st.lists(st.tuples(weights, calls(depth - 1)), min_size=1, max_size=3)
    return several | nested.map(lambda parts: Calls(tuple(parts)))


@given(calls())
def test_reading_what_was_written_gives_it_back(call: Call) -> None:
    assert parse_call(format_call(call)) == call


@given(texts)
def test_any_text_can_be_a_value(text: str) -> None:
    call = Call("top", (("a", text_value(text)), ("b", Items((text_value(text, inside_list=True),)))))
    written = format_call(call)
    assert parse_call(written) == call
    assert len(written.splitlines()) == 1


@given(texts)
def test_a_value_is_bare_where_the_grammar_allows_it(text: str) -> None:
    value = text_value(text)
    if isinstance(value, Bare):
        assert not set(text) & set(',()|"')
        assert not text.startswith("[")


@given(texts)
def test_whatever_is_typed_is_read_or_refused_in_one_line(text: str) -> None:
    for typed in (text, f"top:a={text}", f"top:a=[{text}]", f"top:a=({text})"):
        try:
            call = parse_call(typed)
        except UsageError as error:
            assert len(str(error).splitlines()) == 1  # noqa: PT017 - what is checked is its shape
        else:
            assert parse_call(format_call(call)) == call


def shared_names(folder: Path) -> set[str]:
    """Every name of a metric, a model and an aspect in the fully judged data sets."""
    found: set[str] = set()
    for path in sorted(folder.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            for line in file:
                record = json.loads(line)
                found |= set(record.get("outputs", ()))
                for scores in ("scores", "human"):
                    for model, by_name in record.get(scores, {}).items():
                        found |= {model, *by_name}
                found |= {rating["aspect"] for rating in record.get("ratings", ()) if rating.get("aspect")}
    return found


@pytest.mark.shared_data
def test_every_name_in_the_shared_data_can_be_a_value(shared_data: Path) -> None:
    known = shared_names(shared_data)
    assert len(known) > 500
    for name in known:
        call = Call(
            "mix",
            (
                ("metric", text_value(name)),
                ("metrics", Items((text_value(name, inside_list=True), Bare("other")))),
                ("of", Calls(((2.0, Call("top", (("metric", text_value(name)),))),))),
            ),
        )
        assert parse_call(format_call(call)) == call
    # The names that the design calls bare are bare.
    bare = {"MetricX-23-QE[QE]", "BertScore F1 Art"}
    assert bare <= known
    assert all(isinstance(text_value(name), Bare) for name in bare)
    assert any(isinstance(text_value(name), Quoted) for name in known)


@pytest.mark.parametrize(
    ("text", "call"),
    [
        ("random", Call("random")),
        ("  random  ", Call("random")),
        ("top:utility=metric_avg", Call("top", (("utility", Bare("metric_avg")),))),
        ("a:b=1,c=x y", Call("a", (("b", Bare("1")), ("c", Bare("x y"))))),
        ("a:b=MetricX-23-QE[QE],c=2", Call("a", (("b", Bare("MetricX-23-QE[QE]")), ("c", Bare("2"))))),
        ("a:b=SWSS+METEOR", Call("a", (("b", Bare("SWSS+METEOR")),))),
        ("a:b=x=y", Call("a", (("b", Bare("x=y")),))),
        (
            'a:b="Nucleus Decoding (p = 0.3)"',
            Call("a", (("b", Quoted("Nucleus Decoding (p = 0.3)")),)),
        ),
        ('a:b="say \\"hi\\", \\u00e9"', Call("a", (("b", Quoted('say "hi", é')),))),
        ("a:b=[]", Call("a", (("b", Items(())),))),
        ('a:b=[x, y[QE] ,"z,"]', Call("a", (("b", Items((Bare("x"), Bare("y[QE]"), Quoted("z,")))),))),
        ("a: b= x , c=2", Call("a", (("b", Bare("x")), ("c", Bare("2"))))),
        ("a:b=(c)", Call("a", (("b", Calls(((1.0, Call("c")),))),))),
        (
            "mix:of=(metric_avg:metric=COMET)+(2*metric_var:metric=COMET)+(-.5e-1*random)",
            Call(
                "mix",
                (
                    (
                        "of",
                        Calls(
                            (
                                (1.0, Call("metric_avg", (("metric", Bare("COMET")),))),
                                (2.0, Call("metric_var", (("metric", Bare("COMET")),))),
                                (-0.05, Call("random")),
                            )
                        ),
                    ),
                ),
            ),
        ),
        (
            "pivotal:utility=(mix:of=(a:m=[x,y])+(b)),tau=0.5",
            Call(
                "pivotal",
                (
                    (
                        "utility",
                        Calls(
                            (
                                (
                                    1.0,
                                    Call(
                                        "mix",
                                        (
                                            (
                                                "of",
                                                Calls(
                                                    (
                                                        (
                                                            1.0,
                                                            Call(
                                                                "a", (("m", Items((Bare("x"), Bare("y")))),)
                                                            ),
                                                        ),
                                                        (1.0, Call("b")),
                                                    )
                                                ),
                                            ),
                                        ),
                                    ),
                                ),
                            )
                        ),
                    ),
                    ("tau", Bare("0.5")),
                ),
            ),
        ),
    ],
)
def test_reading(text: str, call: Call) -> None:
    assert parse_call(text) == call


HOW = "Methods are written name:key=value,key=value; a text with , ( ) | or quotes goes into double quotes."


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("", "expected the name of a method (small letters, digits, _) at its end"),
        ("Random", 'expected the name of a method (small letters, digits, _) at "Random"'),
        ("metric_avgX", 'expected the end at "X"'),
        ("a b", 'expected the end at "b"'),
        ("a:", "expected a parameter's name at its end"),
        ("a:b", 'expected "=" at its end'),
        ("a:b=", "expected a value at its end"),
        ("a:b=1,", "expected a parameter's name at its end"),
        ("a:b=1,b=2", 'the parameter "b" is there twice at "=2"'),
        ("a:b=x(y)", 'expected the end at "(y)"'),
        ('a:b="x', 'expected a closing quote of a JSON string at ""x"'),
        ('a:b="x"y', 'expected the end at "y"'),
        ("a:b=[x", 'expected "," or "]" at its end'),
        ("a:b=[,]", 'expected a value at ",]"'),
        ("a:b=(c", 'expected ")" at its end'),
        ("a:b=(c)+d", 'expected "(" at "d"'),
        ("a:b=()", 'expected the name of a method (small letters, digits, _) at ")"'),
        ("a|mean", 'expected the end at "|mean"'),
        ("a\nb", 'expected the end at "b"'),
    ],
)
def test_errors_show_the_place(text: str, problem: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_call(text)
    shown = text.replace("\n", "\\n")
    assert str(caught.value) == f'The method "{shown}" cannot be read: {problem}. {HOW}'


def test_nesting_without_end_is_an_error() -> None:
    with pytest.raises(UsageError, match="nested too deeply"):
        parse_call("a:b=(" * 5000)


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (2.0, "2"),
        (2, "2"),
        (-0.0, "0"),
        (0.1, "0.1"),
        (1e-9, "1e-09"),
        (1e22, "1e+22"),
        (2**60 + 1, "1152921504606846977"),
        (float("inf"), "inf"),
    ],
)
def test_numbers_in_their_shortest_exact_form(number: float, text: str) -> None:
    assert format_number(number) == text


@given(st.floats(allow_nan=False) | st.integers())
def test_numbers_come_back(number: float) -> None:
    assert type(number)(format_number(number)) == number


@pytest.mark.parametrize(
    ("text", "written"),
    [
        ("COMET", "COMET"),
        ("none", '"none"'),
        ("", '""'),
        (" x", '" x"'),
        ("a,b", '"a,b"'),
        ("[x]", '"[x]"'),
        ("x[y]", "x[y]"),
        ("é", "é"),
        ("a\nb", '"a\\nb"'),
        ("a\u2028b", '"a\\u2028b"'),
    ],
)
def test_texts_are_quoted_where_they_must_be(text: str, written: str) -> None:
    assert format_value(text_value(text)) == written
