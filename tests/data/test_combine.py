"""Combined aspects and the scores that are taken for the truth."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.text import Call, Items, format_call, text_value
from sparingly.data.evalset import Combination, EvalSet

NAN = np.nan
FLUENCY = np.array([[1.0, 2.0], [3.0, NAN]])
STYLE = np.array([[10.0, 20.0], [30.0, 40.0]])
DATA = EvalSet.from_arrays(
    ["a", "b"],
    ["m", "n"],
    aspects={"fluency": FLUENCY, "a, b (c)": STYLE, "sum": STYLE + 1, "both": STYLE},
    metrics={"chrF": FLUENCY * 2, "both": STYLE},
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fluency", FLUENCY),
        ("aspect:fluency", FLUENCY),
        ("chrF", FLUENCY * 2),
        ("metric:chrF", FLUENCY * 2),
        ("metric:both", STYLE),
        ("aspect:both", STYLE),
        ("sum", STYLE + 1),
        ('sum:of=[fluency,"a, b (c)"]', FLUENCY + STYLE),
        ('mean:of=[fluency,"a, b (c)"]', (FLUENCY + STYLE) / 2),
        ('product:of=[fluency,"a, b (c)"]', FLUENCY * STYLE),
        ('weighted:of=[fluency,"a, b (c)"],weights=[2,-0.5]', 2 * FLUENCY - 0.5 * STYLE),
        ("weighted:of=fluency,weights=3", 3 * FLUENCY),
        ("sum:of=fluency", FLUENCY),
    ],
)
def test_truth(text: str, expected: object) -> None:
    np.testing.assert_array_equal(DATA.truth(text), expected)
    np.testing.assert_array_equal(DATA.truth(text), expected)


def test_a_missing_part_is_missing_in_the_whole_even_with_no_weight() -> None:
    combined = DATA.truth('weighted:of=[fluency,"a, b (c)"],weights=[0,1]')
    np.testing.assert_array_equal(combined, [[10.0, 20.0], [30.0, NAN]])


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("both", '"both" is an aspect and a metric. Write aspect:both or metric:both.'),
        ("fluensy", 'There is no aspect or metric "fluensy". Did you mean fluency?'),
        ("aspect:chrF", 'There is no aspect or metric "aspect:chrF".'),
        ("sum:of=[fluensy]", 'There is no aspect "fluensy". Did you mean fluency?'),
        ("sum:of=[]", "The sum of no aspects: write sum:of=[one,other]."),
        ("sum:parts=[fluency]", 'There is no parameter of sum "parts".'),
        ("sum:of=(fluency)", "The parameter of takes a list [a,b]."),
        ("mean:of=[fluency],weights=[1]", "Weights go with weighted:of=[…],weights=[…], not with mean."),
        ("weighted:of=[fluency],weights=[1,2]", "There are 1 aspects to combine but 2 weights."),
        ("weighted:of=[fluency]", "There are 1 aspects to combine but 0 weights."),
        ("weighted:of=[fluency],weights=[x]", "Weights are numbers: could not convert string to float: 'x'."),
        ("weighted:of=[fluency],weights=[inf]", "Weights are finite numbers."),
    ],
)
def test_truth_that_is_none(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        DATA.truth(text)
    assert str(caught.value).startswith(sentence)


def test_unknown_ways_to_combine() -> None:
    with pytest.raises(UnknownNameError, match='There is no way to combine aspects "median"'):
        Combination.parse("median:of=[fluency]")


def test_a_combination_becomes_an_aspect() -> None:
    data = DATA.with_aspect("total", Combination("sum", ("fluency", "a, b (c)")))
    np.testing.assert_array_equal(data.aspects["total"], FLUENCY + STYLE)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("fluency", ("aspect:fluency",)),
        ("chrF", ("metric:chrF",)),
        ("metric:both", ("metric:both",)),
        ("sum", ("aspect:sum",)),
        ('sum:of=[fluency,"a, b (c)"]', ("aspect:fluency", "aspect:a, b (c)")),
    ],
)
def test_the_fields_behind_a_truth(text: str, expected: tuple[str, ...]) -> None:
    assert DATA.truth_fields(text) == expected
    assert DATA.digest(DATA.truth_fields(text))


@given(st.lists(st.text(min_size=1), min_size=1, max_size=4))
def test_names_of_any_kind_can_be_combined(names: list[str]) -> None:
    parts = Items(tuple(text_value(name, inside_list=True) for name in names))
    assert Combination.parse(format_call(Call("sum", (("of", parts),)))).of == tuple(names)


@pytest.mark.parametrize("name", [None, 3, ["fluency"]])
def test_a_truth_that_is_no_text(name: Any) -> None:
    with pytest.raises(UsageError, match="The truth is named by a text, such as an aspect's name, not by "):
        DATA.truth(name)
