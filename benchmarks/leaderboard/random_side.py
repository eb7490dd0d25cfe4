"""Random selection's side of parity: its targets, and what it needs itself."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from benchmarks.leaderboard.crossing import Places, error_exponent, reached
from benchmarks.leaderboard.draws import DRAWS, mean_draws
from benchmarks.leaderboard.results import LABELS, RANDOM, SPA, Results, Runs
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UnknownNameError
from sparingly.infer.rank.curve import Rule

Unit = Literal["labels", "annotation_seconds"]

# Held-out curves: splits for random's own parity, and curves for every draw of it.
_SPLITS, _CURVES_A_DRAW = 40, 40
_LEAST_RUNS = 4


@dataclass(frozen=True, eq=False)
class Baseline:
    """Random selection on one set: its runs, its targets, and how its curve goes on to the left.

    ``aimed`` are the budgets whose accuracy is to be reached; the curve may have smaller ones, too.
    """

    runs: Runs
    aimed: Mask
    unit: Unit
    rule: Rule
    sizes: Floats
    full: float
    smallest: float
    exponent: float
    generator_key: tuple[str, ...]
    seed: int

    def places_of(self, sizes: Floats) -> Places:
        """Return the places of a curve with these sizes on this set."""
        ascending = np.maximum.accumulate(np.append(sizes, max(self.full, sizes[-1])))
        return Places(ascending, self.smallest, self.exponent)

    def generator(self, *purpose: str) -> np.random.Generator:
        """Return the generator of a computation about this set and baseline."""
        return rng.generator(self.seed, "parity", *self.generator_key, *purpose)

    @property
    def aims(self) -> Floats:
        """The sizes of the budgets whose accuracy is to be reached."""
        return self.sizes[self.aimed]

    @cached_property
    def targets(self) -> Floats:
        """The accuracy to reach at every aimed budget: the mean over the runs."""
        return self.runs.curve(SPA)[self.aimed]

    @cached_property
    def target_draws(self) -> Floats:
        """Targets that other seeds might have set (draws × aimed budgets)."""
        return mean_draws(self.runs, SPA, self.generator("targets"))[:, self.aimed]

    def own(self, seeds: int) -> tuple[float, Floats]:
        """Return what held-out random curves of so many seeds need, and draws of that."""
        values = self.runs.whole(SPA)
        values = values[~np.isnan(values).any(axis=1)]
        if len(values) < _LEAST_RUNS:
            return 1.0, np.ones(DRAWS)
        size = min(seeds, len(values) // 2)
        generator = self.generator("own", str(size))
        point = self._held_out(values, size, _SPLITS, 1, generator, resample=False)
        splits = max(1, _CURVES_A_DRAW * size // len(values))
        draws = self._held_out(values, size, splits, DRAWS, generator, resample=True)
        return float(point[0]), draws

    def _held_out(
        self,
        values: Floats,
        seeds: int,
        splits: int,
        count: int,
        generator: np.random.Generator,
        *,
        resample: bool,
    ) -> Floats:
        """Return the raw parity of one half of the runs by the targets of the other: ``count`` means.

        Every split is used both ways; the half that is judged is cut into curves of ``seeds`` runs each.
        """
        half = len(values) // 2
        groups = half // seeds
        order = np.argsort(generator.random((count * splits, len(values))), axis=1)
        halves = (order[:, :half], order[:, half : 2 * half])
        if resample:
            halves = (_with_replacement(halves[0], generator), _with_replacement(halves[1], generator))
        places = self.places_of(self.sizes)
        found = np.zeros(count)
        for judges, judged in (halves, halves[::-1]):
            targets = values[judges].mean(axis=1)[:, self.aimed]
            shape = (count * splits, groups, seeds, len(self.sizes))
            curves = values[judged[:, : groups * seeds]].reshape(shape).mean(axis=2)
            flat = curves.reshape(-1, len(self.sizes))
            sizes, _ = reached(places, flat, np.repeat(targets, groups, axis=0), self.rule)
            found += (sizes / self.aims).mean(axis=1).reshape(count, -1).mean(axis=1)
        return found / 2.0


def _with_replacement(rows: Ints, generator: np.random.Generator) -> Ints:
    picked = generator.integers(0, rows.shape[1], rows.shape)
    return np.take_along_axis(rows, picked, axis=1)


def baseline_on(
    results: Results,
    name: str,
    against: str = RANDOM,
    unit: Unit = LABELS,
    rule: Rule = "stays",
    seed: int = 0,
) -> Baseline | None:
    """Return random selection's side on a set; None where the table does not have it in this unit."""
    if unit not in get_args(Unit):
        raise UnknownNameError("unit of parity", unit, get_args(Unit))
    if rule not in get_args(Rule):
        raise UnknownNameError("rule", rule, get_args(Rule))
    runs = results.all_runs.get((name, against))
    if runs is None:
        return None
    known = ~np.isnan(runs.curve(SPA)) & ~np.isnan(runs.curve(unit))
    if not known.any():
        return None
    runs = runs.at(runs.shares[known])
    info = results.sets[name]
    labels, sizes = runs.curve(LABELS), runs.curve(unit)
    # Random selection judges what is typical: in its seconds a label, the full set's labels take so long.
    a_label = sizes[-1] / labels[-1]
    full, smallest = info.items * info.models * a_label, info.models * a_label
    exponent = error_exponent(sizes, runs.curve(SPA))
    aimed = np.isin(runs.shares, results.counted(name, runs).shares)
    key = (name, against, unit, rule)
    return Baseline(runs, aimed, unit, rule, sizes, full, smallest, exponent, key, seed)
