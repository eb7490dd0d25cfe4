"""Modules that are imported when first used, so that a command loads only what it needs."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any


class LazyModule:
    """Stands for a module until one of its names is used."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, attribute: str) -> Any:
        value = getattr(import_module(self._name), attribute)
        # Found without this method from now on.
        setattr(self, attribute, value)
        return value


if TYPE_CHECKING:
    import polars as pl
    from scipy import sparse, spatial, special, stats
else:
    pl, sparse = LazyModule("polars"), LazyModule("scipy.sparse")
    spatial, special = LazyModule("scipy.spatial"), LazyModule("scipy.special")
    stats = LazyModule("scipy.stats")

__all__ = ["LazyModule", "pl", "sparse", "spatial", "special", "stats"]
