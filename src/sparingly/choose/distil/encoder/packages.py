"""The packages that an encoder needs, loaded when one is trained or applied."""

from __future__ import annotations

from importlib import import_module
from typing import Any

from sparingly.base.errors import ExtraMissingError

EXTRA = "distil,embed"
_FEATURE = "An encoder (transformers, safetensors and torch)"


def package(name: str) -> Any:
    """Return a package, or say what to install."""
    try:
        return import_module(name)
    except ModuleNotFoundError as error:
        if (error.name or "").partition(".")[0] != name.partition(".")[0]:
            raise
        raise ExtraMissingError(_FEATURE, EXTRA) from None


def check_packages() -> None:
    """Say so when an encoder could not be trained, before data is read for long."""
    for name in ("torch", "transformers", "tokenizers", "safetensors.torch"):
        package(name)
