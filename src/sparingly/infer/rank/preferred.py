"""Winners of pairs of models by the preferences that people gave, or by scores turned into preferences.

From Ashury Tahan et al. 2024 (Label-Efficient Model Selection for Text Generation, section 3). The margin of
a pair is P_A − P_B over the items (see ``preference_margins`` for how several judgements of one item count):
its sign names the winner, its size is the winning distance.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError, listing
from sparingly.base.format import html_table
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences
from sparingly.infer.rank.preference_margins import margins_and_counts
from sparingly.infer.rank.winners import pair_margins


@dataclass(frozen=True)
class PairWinner:
    """Which of two models wins.

    Attributes:
        first: One model.
        second: The other.
        winner: The one that is preferred more often; None for a tie, and for a pair that nobody judged.
        distance: The winning distance |P_first − P_second|; NaN for a pair that nobody judged.
        items: The number of items on which the two were judged.
    """

    first: str
    second: str
    winner: str | None
    distance: float
    items: int


@dataclass(frozen=True, repr=False)
class Winners:
    """The winner of every pair of models, in the order of the models' names."""

    by: str
    pairs: tuple[PairWinner, ...]

    def __repr__(self) -> str:
        judged = [one for one in self.pairs if one.items]
        tied = sum(one.winner is None for one in judged)
        won = len(judged) - tied
        return f"Winners(by {self.by}: {won} of {len(self.pairs)} pairs have a winner, {tied} tie)"

    def __len__(self) -> int:
        return len(self.pairs)

    def _repr_html_(self) -> str:
        columns = ("first", "second", "winner", "distance", "items")
        rows = [(one.first, one.second, one.winner, one.distance, one.items) for one in self.pairs]
        return html_table(columns, rows, repr(self))

    def between(self, one: str, other: str) -> PairWinner:
        """Return the outcome of two models, named in any order."""
        for pair in self.pairs:
            if {pair.first, pair.second} == {one, other}:
                return pair
        names = sorted({name for pair in self.pairs for name in (pair.first, pair.second)})
        for name in (one, other):
            if name not in names:
                raise UnknownNameError("model", name, names)
        raise UsageError(f"A pair has two models, not {one} twice.")

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values: a distance that is not known is None."""
        pairs = [asdict(one) for one in self.pairs]
        return {"by": self.by, "pairs": [{**one, "distance": _known(one["distance"])} for one in pairs]}


def winners(
    data: EvalSet,
    items: Selection | Sequence[str] | None = None,
    *,
    truth: str | None = None,
    aspect: str | None = None,
    tie: float = 0.0,
) -> Winners:
    """Return which model wins each pair, and by how much, on all items or on some of them.

    Args:
        data: The evaluation set.
        items: A selection (and so the models that it has judged), or ids of items; all items by default.
        truth: Scores to turn into preferences (an aspect, a metric, or a combination of aspects): the higher
            one wins. By default the set's own preferences are used.
        aspect: Which of the set's own preferences, where they are about several aspects.
        tie: With a truth: two scores that differ by no more are a tie.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> found = sparingly.winners(data, truth="overall", tie=2.0)
        >>> found.between("Rowan", "Cedar-MT").winner
        'Rowan'
    """
    if isinstance(items, Selection) and items.judged is not None:
        data = data.take(models=items.judged)
    rows = None if items is None else data.positions(_ids(items))
    if rows is not None and not len(rows):
        raise UsageError("Winners need at least one item.")
    if truth is not None:
        if aspect is not None:
            raise UsageError("Give a truth or an aspect of the preferences, not both.")
        scores = data.truth(truth) if rows is None else data.truth(truth)[rows]
        margins, counts, by = pair_margins(scores, tie), _judged_together(scores), truth
    else:
        if tie != 0.0:
            raise UsageError("A tie width goes with a truth: preferences that were given name their ties.")
        table, by = own_preferences(data, aspect)
        margins, counts = margins_and_counts(table, len(data.models), rows)
    return Winners(by, tuple(_pairs(data.models, margins, counts)))


def own_preferences(data: EvalSet, aspect: str | None) -> tuple[Preferences, str]:
    """Return the set's own preferences, of one aspect where they are about several, and what they are by."""
    table = data.preferences
    if not len(table):
        raise MissingDataError("The set has no preferences. Name scores to derive them from: truth=….")
    named = [table.aspects[code] for code in np.unique(table.aspect) if code >= 0]
    if aspect is not None:
        if aspect not in named:
            raise UnknownNameError("aspect of the preferences", aspect, named)
        return table.take(table.aspect == table.aspects.index(aspect)), aspect
    if len(np.unique(table.aspect)) > 1:
        raise UsageError(f"The preferences are about several aspects. Choose one: {listing(named)}.")
    return table, named[0] if named else "preferences"


def _judged_together(scores: Floats) -> Ints:
    judged = (~np.isnan(scores)).astype(np.float64)
    return np.rint((judged.T @ judged)[pair_indices(scores.shape[1])]).astype(np.int64)


def _pairs(models: tuple[str, ...], margins: Floats, counts: Ints) -> list[PairWinner]:
    found = []
    for first, second, margin, count in zip(*pair_indices(len(models)), margins, counts, strict=True):
        names = models[first], models[second]
        winner = None if np.isnan(margin) or margin == 0.0 else names[int(margin < 0.0)]
        found.append(PairWinner(*names, winner, float(abs(margin)), int(count)))
    return found


def _ids(items: Selection | Sequence[str]) -> Sequence[str]:
    return list(items.items if isinstance(items, Selection) else items)


def _known(value: float) -> float | None:
    return None if np.isnan(value) else float(value)
