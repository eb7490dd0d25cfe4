"""Errors of model scores relative to random selection's.

On a set: r = ē/ē_random, the mean absolute errors of the model scores averaged over runs and over the budgets
that both have. Below 1 with its interval: the scores are nearer to the full set's with the same labels.
"""

from __future__ import annotations

import numpy as np

from benchmarks.leaderboard.draws import DRAWS, freedom_of, mean_draws
from benchmarks.leaderboard.ranges import Ratio
from benchmarks.leaderboard.results import RANDOM, Results, Runs
from sparingly.base import rng
from sparingly.base.arrays import Floats

_ERROR = "mean_absolute_error"


class ErrorRatios:
    """The error ratios of a table against one entry; that entry's draws are made once for all others."""

    def __init__(self, results: Results, against: str = RANDOM, *, seed: int = 0) -> None:
        self._results = results
        self._against = against
        self._seed = seed
        self._below: dict[tuple[str, bytes], Floats] = {}

    def on(self, name: str, entry: str) -> Ratio | None:
        """Return an entry's ratio on a set, with bootstrap draws over seeds (or resamples of the set).

        None where the table has no errors of both at the same budgets.
        """
        shared = self._results.shared(name, entry, self._against)
        if shared is None:
            return None
        if entry == self._against:
            return Ratio(1.0, np.ones(DRAWS))
        own, other = shared
        known = ~np.isnan(own.curve(_ERROR)) & ~np.isnan(other.curve(_ERROR))
        own, other = own.at(own.shares[known]), other.at(other.shares[known])
        below = float(other.curve(_ERROR).mean()) if known.any() else 0.0
        if below <= 0.0:
            return None
        errors = mean_draws(own, _ERROR, self._generator(name, entry)).mean(axis=1)
        # A draw of a small mean may reach 0; a ratio to less than a hundredth of it would tell nothing.
        draws = errors / np.maximum(self._drawn_below(name, other), 0.01 * below)
        return Ratio(float(own.curve(_ERROR).mean()) / below, draws, freedom_of(own, _ERROR))

    def over(self, entry: str, names: list[str] | None = None) -> dict[str, Ratio]:
        """Return an entry's ratios on every set (the counting ones) where the table tells them."""
        chosen = self._results.counting() if names is None else names
        found = {name: self.on(name, entry) for name in chosen}
        return {name: ratio for name, ratio in found.items() if ratio is not None}

    def _drawn_below(self, name: str, other: Runs) -> Floats:
        key = name, other.shares.tobytes()
        if key not in self._below:
            drawn = mean_draws(other, _ERROR, self._generator(name, self._against))
            self._below[key] = np.asarray(drawn.mean(axis=1))
        return self._below[key]

    def _generator(self, name: str, entry: str) -> np.random.Generator:
        return rng.generator(self._seed, "score errors", name, entry, self._against)
