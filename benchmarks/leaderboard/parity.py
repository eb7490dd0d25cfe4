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
from functools import cached_property
from typing import Literal, get_args

import numpy as np

from benchmarks.leaderboard.ranges import DRAWS, Ratio, freedom_of, mean_draws
from benchmarks.leaderboard.results import LABELS, RANDOM, SPA, Results, Runs
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UnknownNameError
from sparingly.infer.rank.curve import ParityRule, sizes_of

# --- where curves of agreement reach their targets, and how they go on where they were not measured ------
# A curve is straight between its budgets and ends at the full set, where the agreement is 1. Below its first
# budget, C₁ with the error e₁ = 1 − agreement, it is continued by C₁ (e₁/e)^(1/a): the law that the error of
# random selection follows between its first two budgets. Real curves bend away from it to the left (without
# labels the error is finite), so the true size is smaller rather than larger.


_EQUAL = 1e-12
# The error of a mean falls by the square root of its size, where two budgets do not tell.
_ROOT_LAW = 0.5
_EXPONENTS = (0.2, 1.0)


@dataclass(frozen=True, eq=False)
class Places:
    """Where the points of a curve lie, and how it goes on to the left.

    Attributes:
        sizes: The budgets in labels or seconds, ascending; the full set is the last.
        smallest: The least that can be judged: one item.
        exponent: The a in error ∝ size^(−a).
    """

    sizes: Floats
    smallest: float
    exponent: float


def reached(places: Places, values: Floats, targets: Floats, rule: ParityRule) -> tuple[Floats, Ints]:
    """Return where curves reach targets, and the point before or at which they do.

    Args:
        places: Where the points lie; the last one is the full set.
        values: Curves × points, without the full set.
        targets: Curves × targets.
        rule: ``stays`` or ``first_crossing``.

    Returns:
        Sizes and places, both curves × targets. Place 0: before the first point; the last place: between
        the last budget and the full set.
    """
    points = np.concatenate([values, np.ones((len(values), 1))], axis=1)
    is_there = points[:, None, :] >= np.minimum(targets, 1.0)[:, :, None] - _EQUAL
    if rule == "stays":
        is_there = np.logical_and.accumulate(is_there[:, :, ::-1], axis=2)[:, :, ::-1]
    place = np.argmax(is_there, axis=2)
    before = np.maximum(place - 1, 0)
    low, high = np.take_along_axis(points, before, 1), np.take_along_axis(points, place, 1)
    rise = np.where(high > low, high - low, 1.0)
    part = np.clip((targets - low) / rise, 0.0, 1.0)
    between = places.sizes[before] + part * (places.sizes[place] - places.sizes[before])
    return np.where(place == 0, _to_the_left(places, points[:, :1], targets), between), place


def _to_the_left(places: Places, first: Floats, targets: Floats) -> Floats:
    errors = np.maximum(1.0 - targets, _EQUAL)
    shrunk = np.minimum(np.maximum(1.0 - first, 0.0) / errors, 1.0) ** (1.0 / places.exponent)
    return np.asarray(np.maximum(places.sizes[0] * shrunk, min(places.smallest, places.sizes[0])))


def error_exponent(sizes: Floats, values: Floats) -> float:
    """Return the a in error ∝ size^(−a) between the first two budgets."""
    errors = 1.0 - values[:2]
    if len(errors) < 2 or errors[1] <= _EQUAL or sizes[1] <= sizes[0]:
        return _ROOT_LAW
    return float(np.clip(np.log(errors[0] / errors[1]) / np.log(sizes[1] / sizes[0]), *_EXPONENTS))


# --- random selection's side of parity -------------------------------------------------------------------


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
    rule: ParityRule
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
    rule: ParityRule = "stays",
    seed: int = 0,
) -> Baseline | None:
    """Return random selection's side on a set; None where the table does not have it in this unit."""
    if unit not in get_args(Unit):
        raise UnknownNameError("unit of parity", unit, get_args(Unit))
    if rule not in get_args(ParityRule):
        raise UnknownNameError("rule", rule, get_args(ParityRule))
    runs = results.all_runs.get((name, against))
    if runs is None:
        return None
    known = ~np.isnan(runs.curve(SPA)) & ~np.isnan(runs.curve(unit))
    if not known.any():
        return None
    runs = runs.at(runs.shares[known])
    info = results.sets[name]
    sizes = runs.curve(unit)
    # Random selection judges what is typical: in its questions (or seconds) an item, all items take so long.
    smallest = sizes[-1] / sizes_of(runs.shares[-1:], info.items)[0]
    full = info.items * smallest
    exponent = error_exponent(sizes, runs.curve(SPA))
    aimed = np.isin(runs.shares, results.counted(name, runs).shares)
    key = (name, against, unit, rule)
    return Baseline(runs, aimed, unit, rule, sizes, full, smallest, exponent, key, seed)


# --- parity over a table ---------------------------------------------------------------------------------


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
        rule: ParityRule = "stays",
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
