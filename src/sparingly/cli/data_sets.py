"""Several data sets on one command line, each with its name."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from sparingly.base.errors import UsageError
from sparingly.cli.options import Reading

if TYPE_CHECKING:
    from sparingly.data.evalset import EvalSet


def named_sets(given: tuple[str, ...], reading: Reading) -> EvalSet | dict[str, EvalSet]:
    """Load one evaluation set, or several that are written NAME=FILE."""
    if len(given) == 1 and ("=" not in given[0] or Path(given[0]).exists()):
        return reading.load(Path(given[0]))
    parts = [one.partition("=") for one in given]
    for name, sign, path in parts:
        if not (name and sign and path):
            raise UsageError(f'Several data sets are written NAME=FILE, and "{name}{sign}{path}" is not.')
    if len({name for name, _, _ in parts}) < len(parts):
        raise UsageError("Two data sets have the same name.")
    return {name: reading.load(Path(path)) for name, _, path in parts}
