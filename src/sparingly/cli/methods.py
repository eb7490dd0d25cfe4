"""``sparingly methods``: every method that is registered."""

from __future__ import annotations

from typing import Annotated

from sparingly.base.errors import UsageError
from sparingly.base.registry import KINDS, describe_method, method_class, registered
from sparingly.cli.options import Json, emit
from sparingly.cli.parameters import about


def methods(
    name: Annotated[str | None, about("A method to show in full.")] = None,
    /,
    *,
    kind: Annotated[str | None, about(f"Only methods of one kind: {', '.join(KINDS)}.")] = None,
    json: Json = False,
) -> None:
    """List the methods, or explain one.

    ```
    sparingly methods
    sparingly methods metric_cons
    sparingly methods --kind utility --json
    ```
    """
    from sparingly.show.terminal.methods import show_method, show_methods

    if kind is not None and kind not in KINDS:
        raise UsageError(f'"{kind}" is not a kind of method. Kinds are: {", ".join(KINDS)}.')
    if name is not None:
        method_type = method_class(name)
        emit(describe_method(method_type)) if json else show_method(method_type)
        return
    listed = [method for method in registered().values() if kind in (None, method.kind)]
    emit([describe_method(method) for method in listed]) if json else show_methods(listed)
