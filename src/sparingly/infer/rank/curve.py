"""Curves: agreement with the full set as the budget grows along one order of the items.

The subsets of a curve are nested, so p-values and means are added up in one pass over the items, and the
full set's own tests are computed once, not at every point.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.pairs import soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import prefix_pair_p_values
from sparingly.base.stats.signed_rank import prefix_pair_signed_rank
from sparingly.infer.rank import measures
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.groups import significance_groups
from sparingly.infer.rank.means import prefix_means
from sparingly.infer.rank.winners import mean_bias, mean_success, prefix_margins

SHARES: tuple[float, ...] = tuple(round(0.05 * step, 2) for step in range(1, 11))
SMALL_SET_SHARES: tuple[float, ...] = tuple(float(share) for share in np.linspace(0.25, 0.75, 10))
SPA = "soft_pairwise_accuracy"
# Measures by rank tests: every subset has to be ranked, so that dense curves take time.
BY_RANK_TESTS = frozenset(
    {"groups", "top_group_dice", "significance_retained_05", "significance_retained_001"}
)


@dataclass(frozen=True, eq=False)
class Curve:
    """Agreement at several subset sizes.

    Attributes:
        measure: what is measured.
        sizes: numbers of items.
        values: the measure at each size.
        items: number of items of the full set.
    """

    measure: str
    sizes: Ints
    values: Floats
    items: int

    @property
    def average(self) -> float:
        """The mean over the sizes: the single number by which published tables compare selectors."""
        return float(self.values.mean())

    @property
    def shares(self) -> Floats:
        """The sizes as shares of the full set."""
        return self.sizes / self.items


@dataclass(frozen=True, eq=False)
class RandomCurve(Curve):
    """The mean curve of several random orders, with a t interval of that mean at each size.

    ``low`` and ``high`` are NaN for a single run. The interval is of the *mean* (sd/√runs): another curve
    outside it differs from random selection on average, not merely from one lucky draw.
    """

    low: Floats
    high: Floats
    runs: int


@dataclass(frozen=True)
class _Nested:
    """Subsets of growing size along one order of the items."""

    full: FullSet
    sizes: Ints
    scores: Floats
    keys: rng.Keys
    weights: Floats | None

    def each(self, measure: Callable[[Floats, Floats | None], float]) -> Floats:
        """Apply a measure that has no shortcut to one subset after the other."""
        return np.array(
            [measure(self.scores[:k], None if self.weights is None else self.weights[:k]) for k in self.sizes]
        )


def sizes_of(shares: Iterable[float], items: int) -> Ints:
    """Return the subset sizes of shares, rounded down as published but never below one item."""
    wanted = list(shares)
    for share in wanted:
        if not 0.0 < share <= 1.0:
            raise UsageError(f"The shares of a curve lie above 0 and at most at 1, not at {share}.")
    return np.array([max(1, int(np.floor(items * share + 1e-9))) for share in wanted], np.int64)


def curve(
    full: FullSet,
    order: Ints | Sequence[int],
    sizes: Sequence[int] | Ints,
    measure: str = SPA,
    *,
    subset_values: Floats | None = None,
) -> Curve:
    """Measure the agreement of the first k items of an order with the full set, for every k in ``sizes``.

    Args:
        full: the full set; its tests are computed once, however many curves are drawn.
        order: row numbers, best first; at least as many as the largest size.
        sizes: subset sizes (``sizes_of`` makes them from shares).
        measure: a name from ``measure_names()``. Beside the measures of ``Agreement`` there are
            ``winner_success``, the share of the full set's winners of pairs that the subset finds, and
            ``winner_bias``, by how much it exaggerates their winning distance (Ashury Tahan et al. 2024).
        subset_values: other scores by which the subsets are judged, while the truth stays.
    """
    if measure not in _MEASURES:
        raise UnknownNameError("measure", measure, _MEASURES)
    rows = full.checked_rows(order)
    wanted = np.asarray(sizes, np.int64)
    if wanted.size == 0 or wanted.min() < 1 or wanted.max() > len(rows):
        raise UsageError(f"The sizes of a curve must lie between 1 and the {len(rows)} items in order.")
    ends_in_full = len(rows) == len(full) and subset_values is None and full.method != "analytic"
    if measure == SPA and ends_in_full and not full.tested:
        # The last subset of a complete order is the full set: its own test comes with the same pass. (Counts
        # of flips do not depend on the order of summing; the analytic limit does, in its last bits.)
        p_values = _p_values(_nested(full, rows, np.append(wanted, len(full)), None))
        full.keep_p_values(p_values[-1])
        return Curve(SPA, wanted, soft_pairwise_accuracy(p_values[:-1], full.p_values), len(full))
    nested = _nested(full, rows[: wanted.max()], wanted, subset_values)
    return Curve(measure, wanted, _MEASURES[measure](nested), len(full))


def random_order(full: FullSet, seed: int) -> Ints:
    """Return the items in an order that depends on their keys and the seed only."""
    return np.argsort(rng.stream(full.keys, seed, "random order"), kind="stable")


def random_curve(
    full: FullSet,
    sizes: Sequence[int] | Ints,
    seeds: Sequence[int],
    measure: str = SPA,
    *,
    confidence: float = 0.9,
    subset_values: Floats | None = None,
) -> RandomCurve:
    """Return the mean curve of random selection over seeds, with a t interval of the mean."""
    if not seeds:
        raise UsageError("A random curve needs at least one seed.")
    runs = np.stack(
        [
            curve(full, random_order(full, seed), sizes, measure, subset_values=subset_values).values
            for seed in seeds
        ]
    )
    middle, half = mean_and_half_width(runs, confidence)
    wanted = np.asarray(sizes, np.int64)
    return RandomCurve(measure, wanted, middle, len(full), middle - half, middle + half, len(seeds))


def mean_and_half_width(runs: Floats, confidence: float = 0.9) -> tuple[Floats, Floats]:
    """Return the mean over runs (the first axis) and half the width of its t interval; NaN for one run."""
    from scipy.special import stdtrit

    middle = np.asarray(runs.mean(axis=0))
    if len(runs) < 2:
        return middle, np.full(middle.shape, np.nan)
    quantile = float(stdtrit(len(runs) - 1, 0.5 + confidence / 2.0))
    return middle, np.asarray(quantile * runs.std(axis=0, ddof=1) / np.sqrt(len(runs)))


def measure_names() -> tuple[str, ...]:
    """Return the names of everything that a curve can measure."""
    return tuple(_MEASURES)


def _nested(full: FullSet, rows: Ints, sizes: Ints, subset_values: Floats | None) -> _Nested:
    return _Nested(full, sizes, full.scored(subset_values)[rows], full.keys[rows], full.weights_of(rows))


def _soft_pairwise_accuracy(nested: _Nested) -> Floats:
    return soft_pairwise_accuracy(_p_values(nested), nested.full.p_values)


def _p_values(nested: _Nested) -> Floats:
    full = nested.full
    return prefix_pair_p_values(
        nested.scores,
        nested.sizes,
        keys=nested.keys,
        seed=full.seed,
        flips=full.flips,
        method=full.method,
        weights=nested.weights,
    )


def _by_means(measure: measures.MeansMeasure) -> Callable[[_Nested], Floats]:
    def along(nested: _Nested) -> Floats:
        return measure(prefix_means(nested.scores, nested.sizes, nested.weights), nested.full.means)

    return along


def _groups(nested: _Nested) -> Floats:
    return nested.each(lambda scores, weights: len(significance_groups(scores, weights=weights)))


def _top_group_dice(nested: _Nested) -> Floats:
    best = nested.full.groups
    return nested.each(
        lambda scores, weights: measures.top_group_dice(significance_groups(scores, weights=weights), best)
    )


def _significance_retained(alpha: float) -> Callable[[_Nested], Floats]:
    def along(nested: _Nested) -> Floats:
        tests = prefix_pair_signed_rank(nested.scores, nested.sizes)
        return measures.significance_retained_rows(tests, nested.full.signed_rank, alpha)

    return along


def _by_margins(measure: Callable[[Floats, Floats], Floats]) -> Callable[[_Nested], Floats]:
    def along(nested: _Nested) -> Floats:
        return measure(prefix_margins(nested.scores, nested.sizes), nested.full.margins)

    return along


_MEASURES: Mapping[str, Callable[[_Nested], Floats]] = MappingProxyType(
    {
        SPA: _soft_pairwise_accuracy,
        **{name: _by_means(measure) for name, measure in measures.MEANS_MEASURES.items()},
        "winner_success": _by_margins(mean_success),
        "winner_bias": _by_margins(mean_bias),
        "groups": _groups,
        "top_group_dice": _top_group_dice,
        "significance_retained_05": _significance_retained(0.05),
        "significance_retained_001": _significance_retained(0.001),
    }
)
