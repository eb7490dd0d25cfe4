"""The figures of the house, and what they must be: no circles, no class name twice."""

from __future__ import annotations

import ast

from tools import house


def test_no_modules_import_each_other_in_a_circle() -> None:
    assert house.find_cycle(house.import_graph()) == []


def test_class_names_are_unique() -> None:
    assert [name for name, count in house.class_names().items() if count > 1] == []


def test_a_circle_is_found_and_a_type_is_no_import() -> None:
    circle = {"a": {"b"}, "b": {"c"}, "c": {"a"}, "d": {"a"}}
    assert sorted(set(house.find_cycle(circle))) == ["a", "b", "c"]
    text = """
from typing import TYPE_CHECKING
if TYPE_CHECKING:
    from p.types import Thing
def f() -> None:
    from p import inner
    import p.other
"""
    modules = {"p", "p.types", "p.inner", "p.other"}
    assert house.imported_modules(ast.parse(text), modules) == {"p.inner", "p.other"}


def test_names_are_counted_once_a_scope() -> None:
    tree = ast.parse("def f(kept):\n    told = kept\n    told = [one for one in told]\nclass Found: pass\n")
    names = [(name, scope) for name, scope, _ in house.bound_names(tree)]
    assert names == [("f", ""), ("kept", "f"), ("told", "f"), ("one", "f"), ("Found", "")]
    assert [name for name, _ in names if house.is_empty(name)] == ["kept", "told", "one", "Found"]
    assert not house.is_empty("predictions")
