"""The registered methods in the terminal."""

from __future__ import annotations

import inspect
from collections.abc import Sequence

from sparingly.base.registry import Method, describe_method
from sparingly.show.terminal.console import line, show_table

# What one wants to know, the option that takes the answer, the kinds of methods, and the common ones first.
QUESTIONS = (
    (
        "Which items should people judge? (select -m; default: auto)",
        ("design", "selector", "utility"),
        (
            "random",
            "uniform",
            "local_pivotal",
            "stratified",
            "documents",
            "metric_var",
            "metric_cons",
            "diversity",
        ),
    ),
    (
        "Which outputs next, in rounds? (campaign new -m; any of the above, too)",
        ("strategy",),
        ("auto", "waves", "pairs", "d_optimal"),
    ),
    (
        "When is it enough? (campaign new --stop)",
        ("stop",),
        ("best_settled", "all_settled", "margin_settled", "width_reached"),
    ),
    (
        "What would judging everything have said? (estimate -e; default: greg with metrics)",
        ("estimator",),
        ("greg", "weighted_mean", "control_variate", "ppi"),
    ),
)


def show_methods(methods: Sequence[type[Method]]) -> None:
    """Print the methods by what one wants to know, the common ones first, published ones last."""
    for question, kinds, common in QUESTIONS:
        of_kind = [method for method in methods if method.kind in kinds]
        first = [method for name in common for method in of_kind if method.name == name]
        following = [method for method in of_kind if method not in first]
        following.sort(key=lambda method: (".published." in method.__module__, method.name))
        rows = [
            (method.name, ", ".join(method.needs) or "nothing", method.summary())
            for method in (*first, *following)
        ]
        if rows:
            line(question, style="bold")
            show_table(("name", "needs", "what it does"), rows)
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
