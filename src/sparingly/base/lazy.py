"""Modules that are imported when first used, so that a command loads only what it needs."""

from __future__ import annotations

from importlib import import_module
from typing import Any


class LazyModule:
    """Stands for a module until one of its names is used.

    Write it beside the import for the type checker::

        if TYPE_CHECKING:
            import polars as pl
        else:
            pl = LazyModule("polars")
    """

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        # Found without this method from now on.
        setattr(self, attribute, value)
        return value
