"""What a selection that skipped items with the same outputs can tell: differences, and no scores.

On a skipped item every model has one and the same score, whatever it is. Less the item's mean over the models
it is 0 for all of them, and that is known without judging: so scores are taken relative to the mean of the
models, over all N items, the skipped ones being known for certain (π = 1).
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.estimate.scale import Scale

RELATIVE = (
    "{count} items on which all models wrote the same were not judged, so scores of the set cannot be told: "
    "these numbers are how far each model lies above the mean of all models, and only differences count."
)


def relative_to_models(
    data: EvalSet, scores: Floats, selection: Selection, scale: Scale | None
) -> tuple[Floats, Selection]:
    """Return scores less their items' means, and the selection with the skipped items as known ones.

    Args:
        data: The items that the selection speaks about, with the skipped ones.
        scores: items × models.
        selection: What was chosen, with the ids of what was skipped.
        scale: The scale that was asked for: relative scores have none.
    """
    if scale is not None:
        raise UsageError("The selection skipped items with the same outputs: leave out the scale.")
    if selection.models is not None and any(names is not None for names in selection.models):
        raise UsageError(
            "The selection skipped items with the same outputs, and not all models are to be judged on the "
            "others: differences cannot be told."
        )
    chosen, skipped = data.positions(selection.items), data.positions(selection.same_outputs)
    judged = ~np.isnan(scores[chosen])
    if (judged.any(axis=1) & ~judged.all(axis=1)).any():
        raise DataError(
            "The selection skipped items with the same outputs, so on the others all models must be judged, "
            "and on some items only a part of them is."
        )
    relative = scores - scores.mean(axis=1, keepdims=True)
    relative[skipped] = 0.0
    return relative, _with_known(selection)


def _with_known(selection: Selection) -> Selection:
    """Return the selection with the skipped items as rows that were sure to be there."""
    more, count = np.array(selection.same_outputs, object), len(selection.same_outputs)

    def longer(column: Any, values: Any) -> Any:
        return None if column is None else np.concatenate([column, values])

    ones = np.ones(count)
    alone: Objects = more
    return replace(
        selection,
        items=np.concatenate([selection.items, more]),
        probability=longer(selection.probability, ones),
        pool_probability=longer(selection.pool_probability, ones),
        unit=longer(selection.unit, alone),
        stratum=longer(selection.stratum, alone),
        models=None,
        utility=None,
        cost=None,
        context=None,
        reasons=None,
        cluster_weight=None,
        unknown_in_rows=None,
    )
