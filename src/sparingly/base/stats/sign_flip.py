"""The one-sided paired sign-flip test for all pairs of models at once.

For two models with per-item differences d, the observed sum is O = Σ d. Were the models alike, every
difference could as well have had the other sign: the null sums are Σ ±d over random signs. The value is

    p[i, j] = P(null > O) + ½ P(null = O),

small when model i is better than model j (Fisher 1935; Zouhar et al. 2025, App. B). The half for ties
("mid-p") makes p[j, i] = 1 − p[i, j] exactly, so that results do not depend on the order of the models.
Published code counts null ≥ O for i before j in file order; without ties the two are the same, and with
ties the difference is half of P(null = O), which vanishes as items grow. Published code also draws its
signs by position, so that shuffling the items changes the answer; here an item's signs follow from its key
and the seed alone.

Which way the values are found:

- ``exact``: all 2ⁿ sign patterns of the n items on which the pair differs;
- ``sampled``: a number of seeded flips, shared by all pairs and by all subsets;
- ``analytic``: the normal limit Φ(−Σd / √Σd²);
- ``auto``: exact for a pair that differs on at most 12 items (4096 patterns), else sampled.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import (
    Stretch,
    checked_sizes,
    limit_p_values,
    pair_count,
    pair_differences,
    stretches,
)

FlipTest = Literal["auto", "sampled", "exact", "analytic"]

AUTO_LIMIT = 12
EXACT_LIMIT = 20
# Sums of doubles are off by some 1e-14 of what was added; sums of scores on any usual scale differ by more
# than 1e-11 of it when they differ at all.
TIE = 1e-11

_PURPOSE = "signflip"
_ANALYTIC_CELLS = 1 << 17
_EXACT_CELLS = 1 << 20
_FLIP_CELLS = 1 << 19
_SUM_CELLS = 1 << 17
_LANE_WORDS = 255


def pair_p_values(
    scores: Floats,
    *,
    keys: Keys | None = None,
    seed: int = 0,
    flips: int = 1000,
    method: FlipTest = "auto",
    weights: Floats | None = None,
) -> Floats:
    """Return the p-value of every pair of models i < j, in the order of ``numpy.triu_indices``.

    An item counts for a pair only when both models were judged on it, and its signs follow from its key,
    so that the order of the rows does not matter; without keys the row number stands in. Differences are
    multiplied by the weights, if there are any.

    Examples:
        >>> import numpy as np
        >>> from sparingly.base.rng import keys_of
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 4.0]])
        >>> pair_p_values(scores, keys=keys_of(["a", "b", "c"]))  # only 1 of 8 sign patterns is as good
        array([0.0625])
    """
    scores = np.asarray(scores, np.float64)
    keys = np.arange(len(scores), dtype=np.uint64) if keys is None else keys
    p_values: Floats = prefix_pair_p_values(
        scores, [len(scores)], keys=keys, seed=seed, flips=flips, method=method, weights=weights
    )[0]
    return p_values


def prefix_pair_p_values(
    scores: Floats,
    sizes: Sequence[int] | Ints,
    *,
    keys: Keys,
    seed: int = 0,
    flips: int = 1000,
    method: FlipTest = "auto",
    weights: Floats | None = None,
) -> Floats:
    """Return the p-values (sizes × pairs) of the first k items for every k in ``sizes``.

    The items are read once, in the given order, whatever the number of sizes; every row equals what
    ``pair_p_values`` returns for those items alone. Use it for curves over budgets.
    """
    scores = np.asarray(scores, np.float64)
    if scores.ndim != 2 or len(scores) == 0:
        raise UsageError(
            f"The sign-flip test needs items × models and at least one item, not {scores.shape}."
        )
    if np.isinf(scores).any():
        raise UsageError("The sign-flip test needs finite scores (NaN where a model was not judged).")
    if np.shape(keys) != (len(scores),):
        raise UsageError(
            f"The sign-flip test needs one key for each of {len(scores)} items, not {np.shape(keys)}."
        )
    if flips < 1:
        raise UsageError(f"The number of flips must be at least 1, not {flips}.")
    if method not in get_args(FlipTest):
        raise UnknownNameError("method", method, get_args(FlipTest))
    if weights is not None:
        weights = np.asarray(weights, np.float64)
        if weights.shape != (len(scores),) or not np.isfinite(weights).all() or (weights < 0).any():
            raise UsageError("Weights must be one finite, non-negative number per item.")
    ascending, places = checked_sizes(sizes, len(scores))
    if method == "sampled":
        result = sampled_p_values(scores, ascending, keys, seed=seed, flips=flips, weights=weights)
    elif method == "analytic":
        result = _analytic(scores, ascending, weights)
    else:
        result = _enumerated(scores, ascending, weights, EXACT_LIMIT if method == "exact" else AUTO_LIMIT)
        open_sizes = np.isnan(result).any(axis=1)
        if open_sizes.any():
            if method == "exact":
                raise UsageError(
                    f"Exact enumeration stops at {EXACT_LIMIT} items on which two models differ; "
                    'use method="sampled" or "analytic".'
                )
            sampled = sampled_p_values(
                scores, ascending[open_sizes], keys, seed=seed, flips=flips, weights=weights
            )
            result[open_sizes] = np.where(np.isnan(result[open_sizes]), sampled, result[open_sizes])
    return result[places]


def _enumerated(scores: Floats, sizes: Ints, weights: Floats | None, limit: int) -> Floats:
    """Return exact values (sizes × pairs), NaN where a pair differs on more than ``limit`` items."""
    differences, places = first_differences(scores, weights, limit)
    # How many of them lie inside each size (sizes × pairs), at most limit + 1.
    counts: Ints = (places[None, :, :] < sizes[:, None, None]).sum(axis=1)
    result = np.full(counts.shape, np.nan)
    distinct_counts = np.unique(counts[counts <= limit])
    if distinct_counts.size:
        values = exact_p_values(differences, distinct_counts)
        rows, pairs = np.nonzero(counts <= limit)
        result[rows, pairs] = values[np.searchsorted(distinct_counts, counts[rows, pairs]), pairs]
    return result


def _analytic(scores: Floats, sizes: Ints, weights: Floats | None) -> Floats:
    pairs = pair_count(scores.shape[1])
    total, squares = np.zeros(pairs), np.zeros(pairs)
    result = np.empty((len(sizes), pairs))
    for rows, inside in stretches(sizes, max(1, _ANALYTIC_CELLS // max(1, pairs))):
        differences = pair_differences(scores[rows], None if weights is None else weights[rows])
        for stretch in inside:
            part = differences[stretch.start : stretch.stop]
            total += part.sum(axis=0)
            squares += (part * part).sum(axis=0)
            if stretch.closes is not None:
                result[stretch.closes] = limit_p_values(total, squares)
    return result


# --- by enumeration, for pairs of models that differ on few items ---


def first_differences(scores: Floats, weights: Floats | None, limit: int) -> tuple[Floats, Ints]:
    """Return the first ``limit`` + 1 differences of every pair that are not zero, and where they stand.

    Both are (limit + 1) × pairs; missing ones have the difference 0 and a place beyond the last item.
    Reading stops as soon as every pair has them: one more than the limit shows that enumeration is out of
    reach.
    """
    items, models = scores.shape
    counts = np.zeros(pair_count(models), np.int64)
    values = np.zeros((limit + 1, len(counts)))
    places = np.full((limit + 1, len(counts)), items, np.int64)
    start, chunk = 0, 64
    while start < items and (counts <= limit).any():
        searched = np.flatnonzero(counts <= limit)
        part = slice(start, start + chunk)
        differences = pair_differences(scores[part], None if weights is None else weights[part], searched)
        nth = counts[searched] + np.cumsum(differences != 0.0, axis=0)
        rows, columns = np.nonzero((differences != 0.0) & (nth <= limit + 1))
        values[nth[rows, columns] - 1, searched[columns]] = differences[rows, columns]
        places[nth[rows, columns] - 1, searched[columns]] = start + rows
        counts[searched] = np.minimum(nth[-1], limit + 1)
        start, chunk = start + chunk, min(2 * chunk, max(64, _EXACT_CELLS // len(counts)))
    return values, places


def exact_p_values(differences: Floats, counts: Ints) -> Floats:
    """Return mid-p values (counts × pairs) of the first c differences (n × pairs), for ascending counts c.

    All 2ᶜ sign patterns are visited. The null sum exceeds the observed one exactly when the flipped
    differences sum to less than zero. Each further difference doubles the list of sums, so the sums of a
    smaller count are never computed again.
    """
    result = np.empty((len(counts), differences.shape[1]))
    patterns = 1 << int(counts.max(initial=0))
    step = max(1, _EXACT_CELLS // patterns)
    for start in range(0, differences.shape[1], step):
        part = differences[:, start : start + step].T
        sums, included = np.zeros((len(part), patterns)), 0
        for row, count in enumerate(counts):
            for place in range(included, int(count)):
                half = 1 << place
                np.add(sums[:, :half], part[:, place, None], out=sums[:, half : 2 * half])
            included = int(count)
            near = TIE * np.abs(part[:, :included]).sum(axis=1, keepdims=True)
            pattern_sums = sums[:, : 1 << included]
            below, at_most = (pattern_sums < -near).sum(axis=1), (pattern_sums <= near).sum(axis=1)
            result[row, start : start + step] = (below + at_most) / (2.0 * (1 << included))
    return result


# --- by seeded flips, for all pairs and all nested subsets in one pass ---
# With z the items whose sign is flipped, the null sum of a pair is O − 2·Σ z·d and exceeds the observed O
# exactly when Σ z·d < 0. So one product of a 0/1 matrix (flips × items) with the scores serves all pairs: a
# pair's flipped sum is the difference of two models'.


def sampled_p_values(
    scores: Floats, sizes: Ints, keys: rng.Keys, *, seed: int, flips: int, weights: Floats | None
) -> Floats:
    """Return mid-p values (sizes × pairs) from ``flips`` seeded sign flips.

    Flip b of an item is a bit of the hash of (seed, item key): it depends neither on the place of the item
    nor on the other items, so a subset and the full set share the flips of the items that they share.
    """
    complete = not bool(np.isnan(scores).any())
    width = -(-flips // 8) * 8
    sums = FlipSums(scores.shape[1], sizes, width, complete)
    for rows, inside in stretches(sizes, max(8, _FLIP_CELLS // width)):
        row_weights = None if weights is None else weights[rows]
        # One column per model when nothing is missing, else one per pair. Taking the item's mean off changes
        # no difference and keeps the sums small, so that they are accurate.
        if not complete:
            columns = pair_differences(scores[rows], row_weights)
        else:
            columns = scores[rows] - scores[rows].mean(axis=1, keepdims=True)
            columns = columns if row_weights is None else columns * row_weights[:, None]
        # Bytes of little-endian words, so that flip b is bit b of the word stream on every machine.
        words = rng.words(keys[rows], seed, -(-flips // 64), _PURPOSE).astype("<u8")
        bits = np.unpackbits(words.view(np.uint8), axis=1, bitorder="little")
        flipped = bits[:, :width].astype(np.float64)
        flipped[:, flips:] = 0.0
        for stretch in inside:
            sums.add(columns, flipped, stretch)
    sums.flush()
    # The padding flips nothing and so ties: each of them has added one count to every pair.
    return np.asarray((sums.counts - (width - flips)) / (2.0 * flips))


class FlipSums:
    """Running sums of the flipped items, compared in batches of sizes that fit the cache."""

    def __init__(self, models: int, sizes: Ints, width: int, complete: bool) -> None:
        columns = models if complete else pair_count(models)
        depth = min(len(sizes), max(1, _SUM_CELLS // max(1, columns * width)))
        self.models, self.complete = models, complete
        self.running = np.zeros((columns, width))
        self.reach = np.zeros(columns)  # per column, the sum of absolute values so far
        # Sizes × columns × flips, each in units of its rounding error.
        self.batch = np.empty((depth, columns, width))
        self.waiting: list[int] = []
        # Sizes × pairs: twice the flips below zero plus the ties.
        self.counts = np.empty((len(sizes), pair_count(models)))

    def add(self, columns: Floats, flipped: Floats, stretch: Stretch) -> None:
        """Add a stretch of items; a size that is complete after it waits to be compared."""
        part = columns[stretch.start : stretch.stop]
        self.running += part.T @ flipped[stretch.start : stretch.stop]
        self.reach += np.abs(part).sum(axis=0)
        if stretch.closes is None:
            return
        if self.complete:
            # Models are scored on one scale, so the largest column sets the unit for all; measured in it, a
            # tie is a gap of at most 1, and comparing needs no table of tolerances (three times as quick).
            unit = np.asarray(2.0 * TIE * float(self.reach.max(initial=0.0)) or 1.0)
        else:
            unit = np.where(self.reach > 0.0, TIE * self.reach, 1.0)[:, None]
        np.divide(self.running, unit, out=self.batch[len(self.waiting)])
        self.waiting.append(stretch.closes)
        if len(self.waiting) == len(self.batch):
            self.flush()

    def flush(self) -> None:
        """Compare the sums of the sizes that wait."""
        if not self.waiting:
            return
        sums = self.batch[: len(self.waiting)]
        counts = self.counts[self.waiting[0] : self.waiting[-1] + 1]
        if not self.complete:
            counts[:] = _below(sums)
        else:
            begin = 0
            for model in range(self.models - 1):
                stop = begin + self.models - 1 - model
                counts[:, begin:stop] = _below(sums[:, model, None] - sums[:, model + 1 :])
                begin = stop
        self.waiting.clear()


def _below(gaps: Floats) -> Floats:
    """Count gaps below zero twice and gaps of zero once; a gap within the rounding error (1) is zero."""
    flags = np.empty((2, *gaps.shape), bool)
    np.less(gaps, -1.0, out=flags[0])
    np.less_equal(gaps, 1.0, out=flags[1])
    # Eight at a time: bytes are added up inside 64-bit words. Each of a word's eight bytes counts at most
    # 255 before it would overflow, so longer axes are cut.
    words = flags.view(np.uint64)
    total = np.zeros(flags.shape[:-1])
    for start in range(0, words.shape[-1], _LANE_WORDS):
        lanes = np.add.reduce(words[..., start : start + _LANE_WORDS], axis=-1)
        total += lanes[..., None].view(np.uint8).sum(axis=-1)
    return np.asarray(total.sum(axis=0))
