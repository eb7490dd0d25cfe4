"""What is compared between two models, item by item: how far apart outputs are, and whom people prefer."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UsageError, listing
from sparingly.base.stats.pairs import check_tie, pair_indices, preferred
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Preferences
from sparingly.infer.rank.winners import CANCELLED, Votes, item_votes, own_preferences, pair_places
from sparingly.signals.embed.differences import difference_norms, pair_distances
from sparingly.signals.embed.evalset import Embedded, embed_outputs

# --- outputs ---------------------------------------------------------------------------------------------
# Difference vectors d_i = e_iA − e_iB, with e the embeddings. They have length 1, so a norm lies between 0
# (the two wrote the same) and 2.


Pair = tuple[str, str]


@dataclass(frozen=True, eq=False)
class Outputs:
    """The embedded outputs of some models.

    Attributes:
        models: The models.
        keys: The random keys of the items.
        embedded: Their vectors (items × models × dimensions), and where there is one.
    """

    models: tuple[str, ...]
    keys: rng.Keys
    embedded: Embedded

    @property
    def pairs(self) -> list[tuple[int, int]]:
        """The places of the two models of every pair."""
        first, second = pair_indices(len(self.models))
        return list(zip(first.tolist(), second.tolist(), strict=True))

    def rows(self, first: int, second: int) -> Ints:
        """Return the items that have an output of both."""
        there = self.embedded.present
        return np.flatnonzero(there[:, first] & there[:, second])

    def two(self, first: int, second: int) -> Embedded:
        """Return the vectors of two models, of the items that have an output of both."""
        rows, places = self.rows(first, second), np.array([first, second])
        return Embedded(
            self.embedded.vectors[np.ix_(rows, places)], self.embedded.present[np.ix_(rows, places)]
        )

    def differences(self, first: int, second: int) -> Floats:
        """Return the difference vectors of the items that have an output of both."""
        vectors = self.two(first, second).vectors
        return np.asarray(vectors[:, 0] - vectors[:, 1])

    def norms(self, first: int, second: int) -> Floats:
        """Return the norm of every difference vector, NaN where one of the two is missing."""
        norms = np.full(len(self.keys), np.nan)
        norms[self.rows(first, second)] = pair_distances(*self.two(first, second))[:, 0]
        return norms

    def mean_norms(self) -> Floats:
        """Return √(mean over pairs of ‖d_i‖²) of every item, NaN with fewer than two outputs."""
        return difference_norms(*self.embedded)


def outputs_of(data: EvalSet, embedding: str) -> Outputs:
    """Embed the outputs; at least one item must have those of two models."""
    if len(data.models) < 2:
        raise DataError("Differences between outputs need two models, and there are fewer.")
    embedded = embed_outputs(data, embedding)
    if not (embedded.present.sum(axis=1) > 1).any():
        raise MissingDataError(f"No item has outputs of two of the models {listing(data.models)}.")
    return Outputs(data.models, data.keys, embedded)


def of_pair(data: EvalSet, pair: Pair | None) -> EvalSet:
    """Return the set with the two models of a pair only; the whole set where none is named."""
    if pair is None:
        return data
    if len(pair) != 2:
        raise UsageError(f"A pair has two models, not {len(pair)}.")
    if pair[0] == pair[1]:
        raise UsageError(f"A pair has two models, not {pair[0]} twice.")
    return data.take(models=pair)


def the_pair(data: EvalSet, pair: Pair | None) -> Pair:
    """Return the pair that is named, or the only one there is."""
    if pair is not None:
        return pair
    if len(data.models) == 2:
        return data.models[0], data.models[1]
    raise UsageError(f"Name a pair of models. There are: {listing(data.models)}.")


# --- preferences -----------------------------------------------------------------------------------------


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
