"""What re-deriving a result shows, and what counts as the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from sparingly._version import __version__
from sparingly.base.arrays import Floats
from sparingly.base.registry import spell_saved
from sparingly.base.summary import html_table

EARLIER_RULE = "was made by an earlier rule and cannot be derived again"


@dataclass(frozen=True)
class Verification:
    """What re-deriving a selection, an estimate or a ranking showed."""

    problems: tuple[str, ...]  # what differs; empty when the result is what its signature says
    # What is worth knowing and no problem, such as another version of the package.
    notes: tuple[str, ...] = ()
    # Whether a part was not verified, since this version makes it otherwise than the one of the signature.
    partial: bool = False

    @property
    def ok(self) -> bool:
        """Whether the result is what its signature says."""
        return not self.problems

    def _repr_html_(self) -> str:
        rows = [*(("problem", text) for text in self.problems), *(("note", text) for text in self.notes)]
        good = "verified in part" if self.partial else "verified"
        return html_table(("", ""), rows, good if self.ok else "NOT verified")

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values."""
        return {
            "ok": self.ok,
            "partial": self.partial,
            "problems": list(self.problems),
            "notes": list(self.notes),
        }


def version_notes(kind: str, version: str) -> tuple[str, ...]:
    """Say that another version of the package made it, where one did."""
    if version == __version__:
        return ()
    return (f"The {kind} was made by version {version}; this is {__version__}.",)


def earlier_rule(what: str, method: str) -> tuple[str, ...]:
    """Say that something was made by a rule that this version has no more, where it was."""
    if spell_saved(method) == method:
        return ()
    return (f"{what} {EARLIER_RULE}.",)


def same_numbers(stated: Floats | None, right: Floats | None) -> bool:
    """Compare numbers up to what sums may differ by between machines."""
    if stated is None or right is None:
        present = stated if right is None else right
        return present is None or bool(np.isnan(present).all())
    if stated.shape != right.shape:
        return False
    scale = float(np.abs(right[np.isfinite(right)]).max(initial=0.0))
    return bool(np.allclose(stated, right, rtol=1e-9, atol=1e-9 * scale, equal_nan=True))
