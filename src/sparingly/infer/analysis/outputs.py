"""The outputs of pairs of models as difference vectors, d_i = e_iA − e_iB with e the embeddings.

Embeddings have length 1, so a norm lies between 0 (the two wrote the same) and 2.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UsageError, listing
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.differences import difference_norms, pair_distances
from sparingly.signals.embed.evalset import Embedded, embed_outputs

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
        there = self.embedded.there
        return np.flatnonzero(there[:, first] & there[:, second])

    def two(self, first: int, second: int) -> Embedded:
        """Return the vectors of two models, of the items that have an output of both."""
        rows, places = self.rows(first, second), np.array([first, second])
        return Embedded(
            self.embedded.vectors[np.ix_(rows, places)], self.embedded.there[np.ix_(rows, places)]
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
    if not (embedded.there.sum(axis=1) > 1).any():
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
