"""Items on which all models wrote the same: judging them tells no two models apart."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.data.evalset import EvalSet

ITEMS = "{count} items on which all models wrote the same are"


def rows_with_same_outputs(data: EvalSet, candidates: Ints) -> Ints:
    """Return the candidates on which every model gave one and the same string; a missing output is none."""
    if data.outputs is None:
        raise MissingDataError("To skip items with the same outputs, the evaluation set must have outputs.")
    if len(data.models) < 2:
        raise UsageError("With one model all outputs of an item are the same: leave out same_outputs=skip.")
    written = data.outputs[candidates]
    same = np.array([row[0] is not None and all(text == row[0] for text in row[1:]) for row in written], bool)
    if same.all():
        raise UsageError("On every item all models wrote the same, so there is nothing to judge.")
    return np.asarray(candidates[same])


def skipped_note(count: int) -> str:
    """Say how many items are skipped, and what that means."""
    if not count:
        return "no item has the same output of all models, so none is skipped."
    items = "1 item on which all models wrote the same is" if count == 1 else ITEMS.format(count=count)
    return f"{items} skipped: there, differences are 0 and scores stay unknown."
