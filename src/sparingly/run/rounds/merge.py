"""Several rounds as one selection."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Objects
from sparingly.base.errors import UsageError
from sparingly.data.selection import Selection

_TEXTS = ("stratum", "unit", "models", "pairs", "context")


def merged(rounds: Sequence[Selection]) -> Selection:
    """Return all rows of some rounds as one selection that gives a ranking only.

    Chances of single rounds are not those of all rounds together, so the whole has none.
    """
    if not rounds:
        raise UsageError("There is no round yet, so there is nothing to estimate from.")
    columns: dict[str, Any] = {name: _joined(rounds, name) for name in _TEXTS}
    last = rounds[-1]
    total = sum(len(one) for one in rounds)
    return Selection(
        items=np.concatenate([one.items for one in rounds]),
        signature=replace(last.signature, n=total),
        reason=last.reason,
        notes=tuple(dict.fromkeys(note for one in rounds for note in one.notes)),
        never=last.never,
        **columns,
    )


def _joined(rounds: Sequence[Selection], name: str) -> Objects | None:
    parts = [getattr(one, name) for one in rounds]
    if all(part is None for part in parts):
        return None
    whole = np.empty(sum(len(one) for one in rounds), object)
    whole[:] = [
        value
        for one, part in zip(rounds, parts, strict=True)
        for value in ([None] * len(one) if part is None else part)
    ]
    return whole
