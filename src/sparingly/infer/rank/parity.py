"""Parity: the share of random selection's data that a method needs for the same agreement.

For each share of the data, random selection's mean agreement at that share is the target, and the smallest
budget of the method that reaches it is found: Ĉ/B (Zouhar et al. 2025, eq. 12), averaged over the shares.

Two rules for *reaching* it. ``stays``: the smallest size from which on the curve never falls below the
target again. ``first_crossing``: the smallest size that is at the target at all, as published; it flatters
noisy curves, which cross early by luck. Either way a single random order does not need 1.0 of random's
data on average (its curve is noisier than the mean curve that sets the targets), so results are divided by
what held-out random orders need.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.format import html_table
from sparingly.infer.rank.curve import BY_RANK_TESTS, SHARES, SPA, curve, random_curve, random_order, sizes_of
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.measures import LOWER_IS_BETTER

Rule = Literal["stays", "first_crossing"]

_SMALLEST = 5
_DENSE_SIZES = 2_000
_DENSE_RANK_SIZES = 200
_EQUAL = 1e-12
_WITHOUT_A_BETTER_END = frozenset({"winner_bias"})
# A first crossing is looked for in steps of so many sizes; most of a long curve need not be drawn.
_STEP = 48


@dataclass(frozen=True, eq=False, repr=False)
class Parity:
    """What a method needs for random selection's agreement.

    Attributes:
        share: the answer: data needed relative to random selection (0.8: a fifth of the labels saved).
            NaN when some target is never reached.
        raw: the same before dividing by what random orders need themselves.
        random_raw: what held-out random orders need on average.
        targets: random's mean agreement at each share of the data.
        target_sizes: the sizes of those shares.
        sizes: the method's sizes that reach the targets (NaN: never).
    """

    share: float
    raw: float
    random_raw: float
    targets: Floats
    target_sizes: Ints
    sizes: Floats

    def __repr__(self) -> str:
        return f"Parity(share={self.share:.3f}, raw={self.raw:.3f}, random_raw={self.random_raw:.3f})"

    def _repr_html_(self) -> str:
        rows = zip(map(int, self.target_sizes), map(float, self.targets), map(float, self.sizes), strict=True)
        columns = ("items, random", "target", "items, method")
        after = f"raw {self.raw:.3f}, divided by the {self.random_raw:.3f} that random orders need themselves"
        return html_table(columns, rows, f"{self.share:.1%} of random's labels for the same agreement", after)

    def to_dict(self) -> dict[str, object]:
        """Return the numbers by name, for JSON: a number that is not defined is None."""
        plain = {"share": self.share, "raw": self.raw, "random_raw": self.random_raw}
        lists = {"targets": self.targets, "target_sizes": self.target_sizes, "sizes": self.sizes}
        return {
            **{name: None if np.isnan(value) else value for name, value in plain.items()},
            **{name: [None if np.isnan(v) else v for v in values.tolist()] for name, values in lists.items()},
        }


@dataclass(frozen=True, eq=False)
class RandomParity:
    """Random selection's targets and its own parity, shared by all methods that are compared with it."""

    full: FullSet
    measure: str
    rule: Rule
    targets: Floats
    target_sizes: Ints
    dense: Ints
    raw: float
    subset_values: Floats | None

    def of(self, order: Ints | Sequence[int]) -> Parity:
        """Return the parity of one order of all items, best first."""
        sizes = self._reached(order)
        raw = float((sizes / self.target_sizes).mean())
        return Parity(raw / self.raw, raw, self.raw, self.targets, self.target_sizes, sizes)

    def _reached(self, order: Ints | Sequence[int]) -> Floats:
        if len(order) < len(self.full):
            raise UsageError(f"Parity needs all {len(self.full)} items in order, not {len(order)}.")
        better = -1.0 if self.measure in LOWER_IS_BETTER else 1.0
        targets = better * self.targets
        sizes, values = self._drawn(order, better, float(targets.max()))
        return np.array([parity_size(sizes, values, target, self.rule) for target in targets])

    def _drawn(self, order: Ints | Sequence[int], better: float, highest: float) -> tuple[Ints, Floats]:
        """Return the curve, higher is better: all of it, or up to where it first crosses every target."""
        step = _STEP if self.rule == "first_crossing" else len(self.dense)
        values = np.empty(0)
        for start in range(0, len(self.dense), step):
            sizes = self.dense[start : start + step]
            part = curve(self.full, order, sizes, self.measure, subset_values=self.subset_values)
            values = np.concatenate([values, better * part.values])
            if values.max() >= highest - _EQUAL and self.rule == "first_crossing":
                break
        return self.dense[: len(values)], values


def parity_size(sizes: Ints, values: Floats, target: float, rule: Rule = "stays") -> float:
    """Return the smallest size at which a curve (higher is better) reaches a target; NaN when none does."""
    if rule not in get_args(Rule):
        raise UnknownNameError("rule", rule, get_args(Rule))
    reached = values >= target - _EQUAL
    if rule == "stays":
        reached = np.logical_and.accumulate(reached[::-1])[::-1]
    return float(sizes[int(np.argmax(reached))]) if reached.any() else float("nan")


def random_parity(
    full: FullSet,
    *,
    measure: str = SPA,
    shares: Sequence[float] = SHARES,
    rule: Rule = "stays",
    runs: int = 10,
    seed: int = 0,
    subset_values: Floats | None = None,
) -> RandomParity:
    """Set the targets by ``runs`` random orders, and find what as many held-out random orders need.

    Curves take every size, or 2 000 evenly spaced ones where there are more (200 for groups and significance,
    whose tests rank every subset). ``SMALL_SET_SHARES`` suits sets of about a hundred items. Call ``of`` of
    the result for each method to compare.
    """
    if runs < 1:
        raise UsageError(f"Parity needs at least one random run, not {runs}.")
    if measure in _WITHOUT_A_BETTER_END:
        raise UsageError(f"Parity needs a measure that is better when higher or lower, not {measure}.")
    seeds = rng.seed_list(seed, 2 * runs, "parity")
    target_sizes = sizes_of(shares, len(full))
    targets = random_curve(full, target_sizes, seeds[:runs], measure, subset_values=subset_values).values
    most = _DENSE_RANK_SIZES if measure in BY_RANK_TESTS else _DENSE_SIZES
    dense = _dense_sizes(min(_SMALLEST, int(target_sizes.min())), len(full), most)
    unscaled = RandomParity(full, measure, rule, targets, target_sizes, dense, 1.0, subset_values)
    raw = float(np.mean([unscaled.of(random_order(full, held_out)).raw for held_out in seeds[runs:]]))
    return RandomParity(full, measure, rule, targets, target_sizes, dense, raw, subset_values)


def _dense_sizes(smallest: int, items: int, most: int) -> Ints:
    count = min(items - smallest + 1, most)
    return np.unique(np.rint(np.linspace(smallest, items, count)).astype(np.int64))
