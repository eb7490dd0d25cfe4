"""sparingly: get the result of a full human evaluation from a fraction of the labels.

The verbs (``load``, ``select``, ``estimate``, ``rank`` …) and the objects that they take and return
(``EvalSet``, ``Selection``, ``Campaign`` …) are imported from here; the rest, methods included, from its room
(``from sparingly.choose import MetricVar``). A name is loaded when it is first used, so importing the package
takes no time. The names are listed once, in ``__init__.pyi``, which type checkers read as well.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from sparingly._version import __version__ as __version__


def _read_stub() -> dict[str, str]:
    """Return the module of each public name, from lines ``from module import name as name``."""
    lines = Path(__file__).with_suffix(".pyi").read_text(encoding="utf-8").splitlines()
    words = (line.split() for line in lines if line.startswith("from sparingly"))
    return {name: module for _, module, _, name, _, _ in words}


_MODULE_OF = _read_stub()
__all__ = sorted([*_MODULE_OF, "__version__"])


def __getattr__(name: str) -> Any:
    """Load a public name when it is first used."""
    if name not in _MODULE_OF:
        raise AttributeError(f"module 'sparingly' has no attribute {name!r}")
    value = getattr(import_module(_MODULE_OF[name]), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return __all__
