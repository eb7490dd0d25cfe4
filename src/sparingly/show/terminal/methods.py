"""The registered methods in the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from sparingly.base.registry import Method, describe_method
from sparingly.show.terminal.console import line, show_table


def show_methods(methods: Sequence[type[Method]]) -> None:
    """Print a table of methods."""
    rows = [
        (method.name, method.kind, ", ".join(method.needs) or "nothing", method.summary())
        for method in methods
    ]
    show_table(("name", "kind", "needs", "what it does"), rows)
    line("sparingly methods NAME shows one in full; methods are written name:key=value,key=value")


def show_method(method: type[Method]) -> None:
    """Print one method with its documentation and parameters."""
    line(f"{method.name} ({method.kind})", style="bold")
    line(inspect.cleandoc(method.__doc__ or ""))
    line(f"\nneeds: {', '.join(method.needs) or 'nothing'}")
    if method.reference:
        line(f"after: {method.reference}")
    rows = []
    for part in describe_method(method)["parameters"]:
        # As it is written in a method: none, true, false, a number, or a text as it is.
        default = part["default"] if isinstance(part["default"], str) else str(part["default"]).lower()
        values = " | ".join(part["choices"]) if part["choices"] else part["type"]
        rows.append((part["name"], values, "required" if part["required"] else default, part["help"]))
    if rows:
        show_table(("parameter", "value", "default", "meaning"), rows)
