"""Strata on plain arrays: bins and groups, how many items each is to give, and draws within them."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.snippet_chances import document_chances
from sparingly.choose.design.units import quotas

# What a stratum without any spread, or without importance, counts beside the largest: next to nothing.
_NEXT_TO_NOTHING = 1e-9


@dataclass(frozen=True, eq=False)
class Strata:
    """The strata of items, neighbours side by side: their names, and the stratum of every item."""

    names: tuple[str, ...]
    of_row: Ints

    @property
    def sizes(self) -> Floats:
        """The number of items of every stratum."""
        return self.totals(np.ones(len(self.of_row)))

    @property
    def labels(self) -> Objects:
        """The name of every item's stratum."""
        return np.array(self.names, object)[self.of_row]

    def totals(self, values: Floats) -> Floats:
        """Return the sums of a value over every stratum."""
        return np.bincount(self.of_row, values, minlength=len(self.names)).astype(np.float64)

    def deviations(self, values: Floats) -> Floats:
        """Return σ_l, the population standard deviation of a value within every stratum."""
        centred = values - (self.totals(values) / self.sizes)[self.of_row]
        return np.sqrt(self.totals(centred**2) / self.sizes)


def groups(labels: Objects) -> Strata:
    """Return items of one label as one stratum, in the order of the labels."""
    names, of_row = np.unique(labels.astype(str), return_inverse=True)
    return Strata(tuple(str(name) for name in names), of_row.astype(np.int64))


def bins(values: Floats, keys: rng.Keys, size: int) -> Strata:
    """Return items in the order of a value, cut into bins of as nearly ``size`` items as equal bins allow."""
    count = max(1, round(len(values) / size))
    ranks = np.empty(len(values), np.int64)
    # Lowest first; the seed of ties is fixed, so that the strata do not depend on that of the draw.
    ranks[rng.order(-values, keys, seed=0)] = np.arange(len(values))
    width = len(str(count))
    names = tuple(f"bin {place:0{width}d} of {count}" for place in range(1, count + 1))
    return Strata(names, ranks * count // len(values))


def allocation(sizes: Floats, weights: Floats, count: float) -> Floats:
    """Return n_l = min(N_l, t·w_l), the expected number of items of every stratum, with Σ n_l = n.

    w_l = N_l is proportional allocation and w_l = N_l·σ_l the optimal one (Neyman 1934; Saldías et al. 2022,
    eq. 2). A stratum that is to give more than it has gives all, and what is left goes to the others, the
    worst stratum first: fixing all of them at once comes to the same.
    """
    some = np.maximum(weights, _NEXT_TO_NOTHING * float(weights.max(initial=0.0)))
    return quotas(float(count), sizes, some if some.any() else sizes, whole=False)


def allocation_by_cost(sizes: Floats, weights: Floats, costs: Floats, budget: float) -> Floats:
    """Return n_l = min(N_l, t·w_l) with Σ_l n_l·c̄_l = B, c̄_l = C_l/N_l the mean cost of a stratum's items.

    So the expected cost is the budget. The best w_l is N_l·σ_l/√c̄_l (Cochran 1977, section 5.5), which is
    for the caller to give; ``costs`` are the totals C_l.
    """
    some = np.maximum(weights, _NEXT_TO_NOTHING * float(weights.max(initial=0.0)))
    shape = (some if some.any() else sizes) / sizes
    return np.asarray(sizes * document_chances(shape, costs, budget))


def greatest_cost(strata: Strata, expected: Floats, costs: Floats) -> float:
    """Return the most that a draw can cost that takes ⌊n_l⌋ or ⌈n_l⌉ items of stratum l, ⌈Σ n_l⌉ in all."""
    order = np.lexsort((-costs, strata.of_row))
    sizes = strata.sizes.astype(np.int64)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    low = np.floor(expected + 1e-9)
    sure = float(costs[order][place < np.repeat(low, sizes)].sum())
    left = np.clip(expected - low, 0.0, 1.0)
    next_dearest = costs[order][(place == np.repeat(low, sizes)) & np.repeat(left > 1e-9, sizes)]
    return sure + float(np.sort(next_dearest)[::-1][: int(np.ceil(left.sum() - 1e-6))].sum())


def rounded_at_random(expected: Floats, generator: np.random.Generator) -> Ints:
    """Return whole numbers next to the expected ones, with these as expectations and the same sum.

    Controlled rounding: fractions meet in the order of the strata, so that neighbours make up for each other.
    """
    low = np.floor(expected + 1e-9)
    raised = draw_pivotal(np.clip(expected - low, 0.0, 1.0), generator, np.arange(len(expected)))
    return np.asarray(low + raised, np.int64)


def rounded_as_published(expected: Floats, sizes: Floats) -> Floats:
    """Return the whole numbers n′_l ≤ N_l with the same sum that minimise Σ_l |n_l − n′_l|.

    They are the largest fractions rounded up (Saldías et al. 2022, section 2.1).
    """
    return quotas(round(float(expected.sum())), sizes, expected, whole=True)


def without_empty(strata: Strata, counts: Floats) -> tuple[Strata, Floats, tuple[str, ...]]:
    """Merge every stratum that gives no item with the nearest that gives one, and name those merged.

    Nearest is by the order of the strata, of two as near ones the earlier.
    """
    kept = np.flatnonzero(counts > 0)
    places = np.arange(len(counts))
    after = np.searchsorted(kept, places).clip(max=len(kept) - 1)
    before = (after - 1).clip(min=0)
    is_before = np.abs(places - kept[before]) <= np.abs(kept[after] - places)
    host = np.where(counts > 0, after, np.where(is_before, before, after))
    more = np.bincount(host, minlength=len(kept)) - 1
    names = tuple(
        f"{strata.names[place]} and {joined} more" if joined else strata.names[place]
        for place, joined in zip(kept, more, strict=True)
    )
    lost = tuple(name for name, count in zip(strata.names, counts, strict=True) if count == 0)
    return Strata(names, host[strata.of_row]), counts[kept], lost


def draw_within(strata: Strata, counts: Ints, generator: np.random.Generator) -> Mask:
    """Draw so many items of every stratum, all samples equally likely."""
    shuffled = generator.permutation(len(strata.of_row))
    order = shuffled[np.argsort(strata.of_row[shuffled], kind="stable")]
    sizes = strata.sizes.astype(np.int64)
    place = np.arange(len(order)) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    taken = np.zeros(len(order), bool)
    taken[order] = place < np.repeat(counts, sizes)
    return taken
