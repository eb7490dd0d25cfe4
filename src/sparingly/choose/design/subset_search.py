"""Search for a subset that ranks models as the full set does: the kernel of ``search`` on plain arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import limit_p_values, pair_differences, soft_pairwise_accuracy

_CELLS = 1 << 22
_DECIMALS = 12


@dataclass(frozen=True, eq=False)
class Subset:
    """Rows in the order in which they were taken, their sums over all pairs, and their agreement."""

    rows: Ints
    sums: Floats  # Σd, then Σd², over the pairs
    accuracy: float


@dataclass(frozen=True, eq=False)
class Search:
    """Extends subsets by the best of many random extensions.

    Attributes:
        terms: d and d² of every item for all pairs of models, items × 2·pairs.
        p_full: The p-values of all items.
    """

    terms: Floats
    p_full: Floats

    @classmethod
    def of_scores(cls, scores: Floats) -> Search:
        """Return a search under scores (items × models); a missing score leaves an item out of its pairs."""
        differences = pair_differences(scores)
        terms = np.hstack([differences, differences**2])
        return cls(terms, limit_p_values(*np.split(terms.sum(axis=0), 2)))

    def run(
        self,
        candidates: Ints,
        count: int,
        *,
        step: int,
        draws: int,
        beam: int,
        generator: np.random.Generator,
    ) -> Subset:
        """Return the best subset found: at every step the ``beam`` best are extended ``draws`` times each."""
        states = [Subset(np.empty(0, np.int64), np.zeros(self.terms.shape[1]), 0.0)]
        while len(states[0].rows) < count:
            size = min(step, count - len(states[0].rows))
            found = [
                extended
                for state in states
                for extended in self._extensions(state, candidates, size, draws, beam, generator)
            ]
            found.sort(key=lambda state: -state.accuracy)
            states = _distinct(found)[:beam]
        return states[0]

    def _extensions(
        self,
        state: Subset,
        candidates: Ints,
        size: int,
        draws: int,
        most: int,
        generator: np.random.Generator,
    ) -> list[Subset]:
        """Return the best ``most`` of so many random extensions of a subset, best first."""
        taken = np.zeros(len(self.terms), bool)
        taken[state.rows] = True
        free = candidates[~taken[candidates]]
        best: list[Subset] = []
        block = max(1, _CELLS // max(len(free), self.terms.shape[1]))
        for start in range(0, draws, block):
            drawn = free[distinct_draws(min(block, draws - start), len(free), size, generator)]
            sums = state.sums + self._summed(drawn)
            accuracy = soft_pairwise_accuracy(limit_p_values(*np.split(sums, 2, axis=1)), self.p_full)
            # Rounded, so that the last bits of a sum, which differ between machines, choose nothing.
            accuracy = np.round(accuracy, _DECIMALS)
            for place in np.argsort(-accuracy, kind="stable")[:most]:
                rows = np.concatenate([state.rows, drawn[place]])
                best.append(Subset(rows, sums[place], float(accuracy[place])))
        best.sort(key=lambda state: -state.accuracy)
        return best[:most]

    def _summed(self, drawn: Ints) -> Floats:
        """Return the sums of the terms over every row of items."""
        from scipy.sparse import csr_array

        draws, size = drawn.shape
        ends = np.arange(0, draws * size + 1, size)
        members = csr_array((np.ones(drawn.size), drawn.ravel(), ends), shape=(draws, len(self.terms)))
        return np.asarray(members @ self.terms)


def distinct_draws(draws: int, pool: int, size: int, generator: np.random.Generator) -> Ints:
    """Return random sets (draws × size) of different numbers below ``pool``, all sets equally likely."""
    if size == pool:
        return np.tile(np.arange(pool), (draws, 1))
    if size * size > pool:
        return np.argpartition(generator.random((draws, pool)), size, axis=1)[:, :size]
    # Few of such small sets have a number twice; those are drawn anew as a whole.
    drawn = np.sort(generator.integers(0, pool, (draws, size)), axis=1)
    while len(again := np.flatnonzero((drawn[:, 1:] == drawn[:, :-1]).any(axis=1))):
        drawn[again] = np.sort(generator.integers(0, pool, (len(again), size)), axis=1)
    return drawn


def _distinct(states: list[Subset]) -> list[Subset]:
    """Return subsets in their order, those that were there before left out."""
    seen: dict[bytes, Subset] = {}
    for state in states:
        seen.setdefault(np.sort(state.rows).tobytes(), state)
    return list(seen.values())
