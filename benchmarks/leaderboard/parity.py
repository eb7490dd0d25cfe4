"""Parity over a table: the labels a method needs for random's agreement, relative to random's own.

For every budget B of random selection, its mean soft pairwise accuracy there is the target, and Ĉ is where
the method's mean curve reaches it: Ĉ/B (Zouhar et al. 2025, eq. 12), averaged over the budgets and divided
by what random selection needs itself. Curves are straight between their budgets (see ``crossing``).

Two rules for *reaching*, as in ``sparingly.parity``: ``stays`` (from there on never below again) and
``first_crossing``, which flatters noisy curves. Either way noise costs labels, so random's own parity is
that of held-out random runs, with as many seeds in a curve as the method has.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from benchmarks.leaderboard.crossing import reached
from benchmarks.leaderboard.draws import DRAWS, freedom_of, mean_draws
from benchmarks.leaderboard.random_side import Baseline, Unit, baseline_on
from benchmarks.leaderboard.ranges import Ratio
from benchmarks.leaderboard.results import LABELS, RANDOM, SPA, Results, Runs
from sparingly.base.arrays import Floats
from sparingly.infer.rank.curve import Rule


@dataclass(frozen=True, eq=False)
class TableParity:
    """What a method needs on one set for random's agreement.

    Attributes:
        ratio: The answer with its draws: labels (or seconds) relative to random selection's.
        raw: The same before dividing by what random runs need themselves.
        random_raw: What held-out random runs need.
        beyond: The share of the targets that are reached only on the way from the last budget to the full
            set: that part of the answer is extrapolated.
        below: The share of the targets that are reached before the first budget.
    """

    ratio: Ratio
    raw: float
    random_raw: float
    beyond: float
    below: float


def parity_with(baseline: Baseline, runs: Runs, own: tuple[float, Floats], key: str) -> TableParity | None:
    """Return the parity of runs with a baseline; ``own`` is what ``baseline.own`` says for as many seeds.

    None where the runs have no accuracy, or no figure in the baseline's unit.
    """
    known = ~np.isnan(runs.curve(SPA)) & ~np.isnan(runs.curve(baseline.unit))
    if not known.any():
        return None
    runs = runs.at(runs.shares[known])
    places = baseline.places_of(runs.curve(baseline.unit))
    sizes, place = reached(places, runs.curve(SPA)[None, :], baseline.targets[None, :], baseline.rule)
    raw = float((sizes / baseline.aims).mean())
    random_raw, random_draws = own
    curves = np.minimum(mean_draws(runs, SPA, baseline.generator("draws", key)), 1.0)
    needed, _ = reached(places, curves, baseline.target_draws, baseline.rule)
    draws = (needed / baseline.aims).mean(axis=1) / random_draws
    draws[np.isnan(curves).any(axis=1) | np.isnan(baseline.target_draws).any(axis=1)] = np.nan
    ratio = Ratio(raw / random_raw, draws, freedom_of(runs, SPA))
    return TableParity(
        ratio, raw, random_raw, float((place == len(runs.shares)).mean()), float((place == 0).mean())
    )


class Parities:
    """The parities of a table against one baseline entry; what concerns the baseline alone is done once."""

    def __init__(
        self,
        results: Results,
        against: str = RANDOM,
        *,
        unit: Unit = LABELS,
        rule: Rule = "stays",
        seed: int = 0,
    ) -> None:
        self._results = results
        self._against = against
        self._baselines = {
            name: baseline_on(results, name, against, unit, rule, seed) for name in results.sets
        }
        self._own: dict[tuple[str, int], tuple[float, Floats]] = {}
        self._found: dict[tuple[str, str], TableParity | None] = {}

    def on(self, name: str, entry: str) -> TableParity | None:
        """Return an entry's parity on a set, or None where the table does not tell."""
        if (name, entry) not in self._found:
            self._found[name, entry] = self._compute(name, entry)
        return self._found[name, entry]

    def _compute(self, name: str, entry: str) -> TableParity | None:
        baseline, runs = self._baselines[name], self._results.all_runs.get((name, entry))
        if baseline is None or runs is None or len(runs.whole(SPA)) == 0:
            return None
        if entry == self._against:
            return TableParity(Ratio(1.0, np.ones(DRAWS)), 1.0, 1.0, 0.0, 0.0)
        # A curve of many seeds is compared with half of random's at most: the other half is the judge.
        seeds = min(len(runs.whole(SPA)), max(1, len(baseline.runs.whole(SPA)) // 2))
        if (name, seeds) not in self._own:
            self._own[name, seeds] = baseline.own(seeds)
        return parity_with(baseline, runs, self._own[name, seeds], entry)

    def over(self, entry: str, names: list[str] | None = None) -> dict[str, TableParity]:
        """Return an entry's parity on every set (the counting ones) where the table tells it."""
        chosen = self._results.counting() if names is None else names
        found = {name: self.on(name, entry) for name in chosen}
        return {name: one for name, one in found.items() if one is not None}
