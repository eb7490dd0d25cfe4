"""Whom people prefer on every item, for any pair of models: given preferences, or scores turned into them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import check_tie, preferred
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.rank.winners import CANCELLED, Votes, item_votes, own_preferences, pair_places


@dataclass(frozen=True, eq=False)
class ItemPreferences:
    """Preferences item by item: by scores (the higher one wins), or as people gave them.

    Attributes:
        by: What they are by.
        shape: The number of items and of models.
        scores: Items × models; None where preferences were given.
        tie: Two scores that differ by no more are a tie.
        given: The preferences that were given.
    """

    by: str
    shape: tuple[int, int]
    scores: Floats | None = None
    tie: float = 0.0
    given: Preferences | None = None

    def between(self, first: int, second: int) -> Floats:
        """Return 1 for the first model, −1 for the second, 0 for a tie, NaN where nobody judged.

        It lies between where a preference is soft, or where people who judged the same item disagree.
        """
        if self.scores is not None:
            return preferred(self.scores[:, first] - self.scores[:, second], self.tie)
        items, models = self.shape
        pair = pair_places(np.array(min(first, second)), np.array(max(first, second)), models)
        start, stop = np.searchsorted(self._votes.pair, [pair, pair + 1])
        votes = np.full(items, np.nan)
        votes[self._votes.item[start:stop]] = self._votes.value[start:stop]
        votes[np.abs(votes) < CANCELLED] = 0.0
        return votes if first < second else -votes

    @cached_property
    def _votes(self) -> Votes:
        votes = item_votes(self.given or Preferences(), self.shape[1])
        order = np.argsort(votes.pair, kind="stable")
        return Votes(votes.item[order], votes.pair[order], votes.value[order])


def item_preferences(data: EvalSet, truth: str | None, aspect: str | None, tie: float) -> ItemPreferences:
    """Return preferences by a truth or, without one, those that the set holds."""
    if truth is not None:
        if aspect is not None:
            raise UsageError("Give a truth or an aspect of the preferences, not both.")
        check_tie(tie)
        return ItemPreferences(truth, data.shape, scores=data.truth(truth), tie=tie)
    if tie != 0.0:
        raise UsageError("A tie width goes with a truth: preferences that were given name their ties.")
    table, by = own_preferences(data, aspect)
    return ItemPreferences(by, data.shape, given=table)
