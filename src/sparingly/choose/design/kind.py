"""A parameter that is called ``kind``, beside the kind of the method itself.

Every method class has a kind (``SubsetSearch.kind`` is "selector"), and some methods have a parameter of that
name (``search:kind=beam``). The class shows the one, its instances the other.
"""

from __future__ import annotations

from typing import Any

from sparingly.base.registry import parameter


class _Kind(str):
    """The parameter's default, which on the class stands for the kind of the method."""

    __slots__ = ("method_kind",)
    method_kind: str

    def __get__(self, instance: object | None, owner: type | None = None) -> str:
        return self.method_kind if instance is None else str(vars(instance)["kind"])

    def __set__(self, instance: object, value: str) -> None:
        vars(instance)["kind"] = value


def kind_parameter(default: str, help: str, method_kind: str = "selector") -> Any:
    """Declare the parameter ``kind`` of a method class."""
    kind = _Kind(default)
    kind.method_kind = method_kind
    return parameter(kind, help)
