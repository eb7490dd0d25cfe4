"""Methods by name and as text: what a field takes, what is refused and how."""

from __future__ import annotations

import gzip
import json
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, dataclass
from pathlib import Path
from typing import Any, ClassVar, Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base import catalogue
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.registry import (
    Method,
    describe_method,
    format_method,
    method_class,
    parameter,
    parse_method,
    register,
    registered,
    spell_saved,
    with_parameters,
)


@dataclass(frozen=True)
class Taste(Method):
    """How much it is liked."""

    kind: ClassVar[str] = "utility"
    metric: str | None = parameter(None, "the metric")
    words: tuple[str, ...] = parameter((), "some words")
    counts: tuple[int, ...] = parameter((), "some numbers")


@dataclass(frozen=True)
class Blend(Method):
    """Several tastes together.

    Formula and all.
    """

    kind: ClassVar[str] = "utility"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    reference: ClassVar[str] = "Nobody 2026, eq. 1"
    of: tuple[tuple[float, Taste], ...] = parameter(help="the tastes")
    scale: Literal["rank", "zscore"] = parameter("rank", "how they are made comparable")


@dataclass(frozen=True)
class Menu(Method):
    """Chooses dishes."""

    kind: ClassVar[str] = "selector"
    taste: Taste = parameter(help="what is liked")  # noqa: RUF009 - a field
    other: Taste | None = parameter(None, "what else is liked")  # noqa: RUF009 - a field
    size: int = parameter(3, "how many", minimum=1)
    share: float = parameter(0.5, "how much of it", minimum=0)
    sweet: bool = parameter(False, "whether it ends well")
    note: str = parameter("", "words for the cook")


@pytest.fixture(autouse=True, scope="module")
def kitchen() -> Iterator[None]:
    """The methods above, registered for this file only."""
    registered()
    before = {kind: dict(classes) for kind, classes in catalogue._CLASSES.items()}
    register("taste")(Taste)
    register("blend")(Blend)
    register("menu")(Menu)
    yield
    catalogue._CLASSES.clear()
    catalogue._CLASSES.update(before)


texts = st.text()
tastes = st.builds(
    Taste,
    metric=st.none() | texts,
    words=st.lists(texts, max_size=3).map(tuple),
    counts=st.lists(st.integers(), max_size=3).map(tuple),
)
blends = st.builds(
    Blend,
    of=st.lists(
        st.tuples(st.floats(allow_nan=False, allow_infinity=False), tastes), min_size=1, max_size=3
    ).map(tuple),
    scale=st.sampled_from(["rank", "zscore"]),
)
menus = st.builds(
    Menu,
    taste=tastes,
    other=st.none() | tastes,
    size=st.integers(1),
    share=st.floats(0, allow_nan=False),
    sweet=st.booleans(),
    note=texts,
)


@given(tastes | blends | menus, st.booleans())
def test_reading_a_written_method_gives_it_back(method: Method, spelled: bool) -> None:
    assert parse_method(format_method(method, spell_defaults=spelled)) == method


@pytest.mark.shared_data
def test_every_name_in_the_shared_data_comes_back(shared_data: Path) -> None:
    known: set[str] = set()
    for path in sorted(shared_data.glob("*.jsonl.gz")):
        with gzip.open(path, "rt", encoding="utf-8") as file:
            record = json.loads(next(file))
        for scores in ("scores", "human"):
            for model, by_name in record.get(scores, {}).items():
                known |= {model, *by_name}
    assert len(known) > 400
    for name in known:
        taste = Taste(metric=name, words=(name, "x"))
        for method in (taste, Menu(taste=taste, note=name), Blend(of=((0.5, taste), (1.0, taste)))):
            assert parse_method(str(method)) == method
            assert parse_method(method.full_text) == method


def test_on_screen_defaults_are_left_out_and_in_signatures_they_are_spelled() -> None:
    menu = Menu(taste=Taste(metric="COMET"))
    assert str(menu) == "menu:taste=(taste:metric=COMET)"
    assert menu.full_text == (
        'menu:taste=(taste:metric=COMET,words=[],counts=[]),other=none,size=3,share=0.5,sweet=false,note=""'
    )


@pytest.mark.parametrize(
    ("text", "method"),
    [
        ("taste", Taste()),
        ("taste:metric=none", Taste()),
        ('taste:metric="none"', Taste(metric="none")),
        ("taste:metric=12", Taste(metric="12")),
        ("taste:metric=true", Taste(metric="true")),
        ("taste:metric=MetricX-23-QE[QE]", Taste(metric="MetricX-23-QE[QE]")),
        ("taste:words=a", Taste(words=("a",))),
        ('taste:words=[a,"b,c"]', Taste(words=("a", "b,c"))),
        ("taste:counts=[1,2]", Taste(counts=(1, 2))),
        ("taste:counts=7", Taste(counts=(7,))),
        ("menu:taste=taste", Menu(taste=Taste())),
        ("menu:taste=(taste:words=[a,b]),other=(taste)", Menu(taste=Taste(words=("a", "b")), other=Taste())),
        (
            "menu:taste=taste,size=4,share=2,sweet=true",
            Menu(taste=Taste(), size=4, share=2.0, sweet=True),
        ),
        (
            "blend:of=(taste:metric=a)+(2*taste:metric=b),scale=zscore",
            Blend(of=((1.0, Taste(metric="a")), (2.0, Taste(metric="b"))), scale="zscore"),
        ),
    ],
)
def test_types_come_from_the_field(text: str, method: Method) -> None:
    found = parse_method(text)
    assert found == method
    assert {key: type(value) for key, value in vars(found).items()} == {
        key: type(value) for key, value in vars(method).items()
    }


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("tast", 'There is no method "tast". Did you mean taste'),
        ("taste:metrik=x", 'There is no parameter of taste "metrik". Did you mean metric?'),
        ("menu", "The method menu needs the parameter taste= (what is liked)."),
        ("menu:taste=menu", 'There is no utility "menu".'),
        ("menu:taste=taste,size=2.5", 'The parameter menu:size is a whole number, not "2.5".'),
        ("menu:taste=taste,size=many", 'The parameter menu:size is a whole number, not "many".'),
        ("menu:taste=taste,size=0", "The parameter size of menu must be at least 1, not 0."),
        ("menu:taste=taste,share=-1", "The parameter share of menu must be at least 0, not -1.0."),
        ("menu:taste=taste,share=nan", 'The parameter menu:share is a number, not "nan".'),
        ("menu:taste=taste,share=x", 'The parameter menu:share is a number, not "x".'),
        ("menu:taste=taste,sweet=yes", 'The parameter menu:sweet is true or false, not "yes".'),
        ("menu:taste=taste,size=[1,2]", "The parameter menu:size takes one value, not a list or a method."),
        ("menu:taste=taste,note=(taste)", "The parameter menu:note takes one value, not a list or a method."),
        ("menu:taste=[taste]", "The parameter menu:taste takes one method in parentheses: (name:key=value)."),
        (
            "menu:taste=(2*taste)",
            "The parameter menu:taste takes one method in parentheses: (name:key=value).",
        ),
        (
            "menu:taste=(taste)+(taste)",
            "The parameter menu:taste takes one method in parentheses: (name:key=value).",
        ),
        ("menu:taste=none", 'There is no utility "none".'),
        ("taste:words=(taste)", "The parameter taste:words takes a list [a,b], not methods."),
        ("taste:counts=[1,x]", 'The parameter taste:counts is a whole number, not "x".'),
        (
            "blend:of=taste",
            "The parameter blend:of takes methods in parentheses: (name:…)+(2*name:…).",
        ),
        ("blend:of=(menu:taste=taste)", 'There is no utility "menu".'),
        ("blend:of=(taste),scale=ranks", 'There is no value of blend:scale "ranks". Did you mean rank?'),
    ],
)
def test_what_does_not_fit_is_told_in_one_sentence(text: str, sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        parse_method(text)
    assert str(caught.value).startswith(sentence)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"size": 0}, "The parameter size of menu must be at least 1, not 0."),
        ({"size": 2.5}, 'The parameter menu:size is a whole number, not "2.5".'),
        ({"size": True}, 'The parameter menu:size is a whole number, not "True".'),
        ({"share": float("nan")}, 'The parameter menu:share is a number, not "nan".'),
        ({"share": "much"}, 'The parameter menu:share is a number, not "much".'),
        ({"share": -1}, "The parameter share of menu must be at least 0, not -1"),
        ({"sweet": "yes"}, 'The parameter menu:sweet is true or false, not "yes".'),
        ({"note": 5}, 'The parameter menu:note is a text, not "5".'),
        ({"taste": None}, "The parameter menu:taste takes a utility, not None."),
        ({"other": "taste"}, "The parameter menu:other takes a utility, not 'taste'."),
    ],
)
def test_objects_are_checked_when_they_are_made(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError) as caught:
        Menu(**{"taste": Taste(), **values})
    assert str(caught.value).startswith(sentence)


def test_numbers_take_the_type_of_their_field() -> None:
    menu = Menu(taste=Taste(), size=np.int64(4), share=1)  # type: ignore[arg-type]
    assert (type(menu.size), type(menu.share)) == (int, float)
    assert Taste(counts=(np.int32(1),)).counts == (1,)  # type: ignore[arg-type]
    for wrong in ({"words": "ab"}, {"counts": [1]}):
        with pytest.raises(UsageError, match="takes a tuple"):
            Taste(**wrong)
    with pytest.raises(UsageError, match="takes pairs of a weight and a method"):
        Blend(of=(Taste(),))  # type: ignore[arg-type]
    with pytest.raises(UnknownNameError, match='no value of blend:scale "size"'):
        Blend(of=((1.0, Taste()),), scale="size")  # type: ignore[arg-type]


def test_parameters_are_changed_by_values_or_texts() -> None:
    menu = with_parameters(Menu(taste=Taste()), {"taste": "taste:metric=a", "size": "5", "other": Taste()})
    assert menu == Menu(taste=Taste(metric="a"), size=5, other=Taste())
    with pytest.raises(UnknownNameError, match='no parameter of menu "seize"'):
        with_parameters(menu, {"seize": 1})
    with pytest.raises(UsageError, match=r"The parameter size of menu cannot be \[1\]"):
        with_parameters(menu, {"size": [1]})


def test_a_method_is_frozen_and_hashable() -> None:
    taste: Any = Taste(metric="a")
    with pytest.raises(FrozenInstanceError):
        taste.metric = "b"
    assert {taste: 1}[Taste(metric="a")] == 1


def test_registered_methods_are_in_the_order_of_their_names() -> None:
    names = list(registered())
    assert names == sorted(names)
    assert {"taste", "blend", "menu"} <= set(names)


def test_a_name_is_registered_once_and_well_spelled() -> None:
    assert register("taste")(Taste) is Taste
    with pytest.raises(UsageError, match='Two methods are called "taste"'):
        register("taste")(Menu)
    with pytest.raises(UsageError, match="must be small letters, digits and _"):
        register("Taste")(Taste)
    with pytest.raises(UsageError, match=r"has an unknown kind\. Kinds are: utility, selector"):
        register("kindless")(Method)
    assert method_class("taste") is Taste
    assert Taste.name == "taste"


def test_a_method_is_looked_up_by_kind() -> None:
    assert method_class("menu", ("selector", "design")) is Menu
    with pytest.raises(UnknownNameError, match=r'There is no design or stop "menu"\.'):
        method_class("menu", ("design", "stop"))


def test_listings_show_everything() -> None:
    shown = describe_method(Blend)
    assert shown == {
        "name": "blend",
        "kind": "utility",
        "needs": ["metrics"],
        "parameters": [
            {
                "name": "of",
                "type": "weighted methods",
                "required": True,
                "default": None,
                "choices": None,
                "help": "the tastes",
            },
            {
                "name": "scale",
                "type": "choice",
                "required": False,
                "default": "rank",
                "choices": ["rank", "zscore"],
                "help": "how they are made comparable",
            },
        ],
        "summary": "Several tastes together.",
        "reference": "Nobody 2026, eq. 1",
    }
    assert json.loads(json.dumps(shown)) == shown
    types = {part["name"]: part["type"] for part in describe_method(Menu)["parameters"]}
    assert types == {
        "taste": "utility",
        "other": "utility or none",
        "size": "whole number",
        "share": "number",
        "sweet": "true or false",
        "note": "text",
    }
    assert describe_method(Taste)["parameters"][1]["type"] == "list of text"


def test_a_saved_text_loses_what_there_is_no_more() -> None:
    before = "auto:question=ranking,rounds=4,pilot=0.3,floor=0.3,trust=0,spread=false,folds=4"
    assert spell_saved(before) == "auto:rounds=4,spread=false"
    today = parse_method("auto").full_text
    assert spell_saved("allocate:rule=movable,rounds=8") == today
    for text in (today, "uniform:unit=item", "of_nobody:x=1"):
        assert spell_saved(text) == text
