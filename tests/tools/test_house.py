"""The figures of the house."""

from __future__ import annotations

import ast

from tools import house


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
