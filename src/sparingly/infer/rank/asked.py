"""What a selection asks for: its items, and on which of them each model is judged."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection


@dataclass(frozen=True, eq=False)
class Asked:
    """The judgements that a selection asks for.

    Attributes:
        rows: The chosen items, each once, in the order of the selection.
        values: Scores of all items × models, NaN where a model is not asked for on a chosen item; None where
            all models are judged on all chosen items.
    """

    rows: Ints
    values: Floats | None = None

    def scores(self, whole: Floats) -> Floats:
        """Return the scores of the chosen items, of the models that are asked for on each."""
        return (whole if self.values is None else self.values)[self.rows]

    def counts(self, whole: Floats) -> Ints:
        """Return on how many items each model is judged."""
        return np.asarray((~np.isnan(self.scores(whole))).sum(axis=0))

    def notes(self, whole: Floats) -> tuple[str, ...]:
        """Say what means and tests rest on where every model has items of its own."""
        if self.values is None:
            return ()
        judged = (~np.isnan(self.scores(whole))).astype(np.int64)
        first, second = pair_indices(judged.shape[1])
        shared = (judged.T @ judged)[first, second]
        none = int((shared == 0).sum())
        lost = f"; {none} of {len(shared)} pairs share none and stay undecided" if none else ""
        own = _range(self.counts(whole))
        return (
            f"models are judged on items of their own, {own} each: means and ranks are of these. P-values, "
            f"groups and winners of pairs rest on what two models share, {_range(shared)} items{lost}.",
        )


def asked_of(selection: Selection | Sequence[str], data: EvalSet, whole: Floats) -> Asked:
    """Return what a selection asks for of the items of a set with scores ``whole`` (items × models).

    Items that are not in the set are left out. A list of ids asks for all models.
    """
    here = {name: place for place, name in enumerate(data.items)}
    if not isinstance(selection, Selection) or selection.models is None:
        ids = selection.items if isinstance(selection, Selection) else selection
        return Asked(np.array([here[name] for name in ids if name in here], np.int64))
    columns = {name: place for place, name in enumerate(data.models)}
    kept = [row for row, name in enumerate(selection.items) if name in here]
    places = np.array([here[selection.items[row]] for row in kept], np.int64)
    asked: NDArray[np.bool_] = np.zeros(whole.shape, bool)
    for row, place in zip(kept, places, strict=True):
        names = selection.models[row]
        asked[place, [columns[name] for name in (names or data.models) if name in columns]] = True
    rows = places[np.sort(np.unique(places, return_index=True)[1])]
    if asked[rows].all():
        return Asked(rows)
    return Asked(rows, np.where(asked, whole, np.nan))


def check_one_weight(selection: Selection, weights: Floats) -> None:
    """Refuse an item that weighs more for one model than for another: means and tests take one weight."""
    order = np.lexsort((weights, selection.items.astype(str)))
    items, own = selection.items[order], weights[order]
    differs = (items[1:] == items[:-1]) & (own[1:] > own[:-1] * (1.0 + 1e-9))
    if differs.any():
        name = items[1:][differs][0]
        raise UsageError(
            f'The item "{name}" has other probabilities for one model than for another, and a comparison '
            "with the whole set gives every item one weight: use estimate and rank."
        )


def _range(counts: Ints) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"
