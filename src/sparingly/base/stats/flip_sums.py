"""Seeded sign flips for all pairs of models and all nested subsets in one pass.

With z the items whose sign is flipped, the null sum of a pair is O − 2·Σ z·d and exceeds the observed O
exactly when Σ z·d < 0. So one product of a 0/1 matrix (flips × items) with the scores serves all pairs: a
pair's flipped sum is the difference of two models' flipped sums.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.pairs import Stretch, pair_count, pair_differences, stretches

# Sums of doubles are off by some 1e-14 of what was added; sums of scores on any usual scale differ by more
# than 1e-11 of it when they differ at all.
TIE = 1e-11

_PURPOSE = "signflip"
_FLIP_CELLS = 1 << 19
_SUM_CELLS = 1 << 17
_LANE_WORDS = 255


def sampled_p_values(
    scores: Floats, sizes: Ints, keys: rng.Keys, *, seed: int, flips: int, weights: Floats | None
) -> Floats:
    """Return mid-p values (sizes × pairs) from ``flips`` seeded sign flips.

    Flip b of an item is a bit of the hash of (seed, item key): it depends neither on the place of the item
    nor on the other items, so a subset and the full set share the flips of the items that they share.
    """
    complete = not bool(np.isnan(scores).any())
    width = -(-flips // 8) * 8
    tally = _Tally.of(scores.shape[1], sizes, width, complete)
    for rows, inside in stretches(sizes, max(8, _FLIP_CELLS // width)):
        columns = _columns(scores[rows], None if weights is None else weights[rows], complete)
        flipped = _flipped(keys[rows], seed, flips, width)
        for stretch in inside:
            tally.add(columns, flipped, stretch)
    tally.flush()
    # The padding flips nothing and so ties: each of them has added one count to every pair.
    return np.asarray((tally.counts - (width - flips)) / (2.0 * flips))


def _columns(scores: Floats, weights: Floats | None, complete: bool) -> Floats:
    """Return what is summed: a column per model when nothing is missing, else a column per pair.

    Taking the item's mean off changes no difference and keeps the sums small, so that they are accurate.
    """
    if not complete:
        return pair_differences(scores, weights)
    centred: Floats = scores - scores.mean(axis=1, keepdims=True)
    return centred if weights is None else centred * weights[:, None]


def _flipped(keys: rng.Keys, seed: int, flips: int, width: int) -> Floats:
    """Return the 0/1 matrix (items × flips), padded with flips of nothing to whole bytes."""
    words = rng.words(keys, seed, -(-flips // 64), _PURPOSE)
    # Bytes of little-endian words, so that flip b is bit b of the word stream on every machine.
    bits = np.unpackbits(words.astype("<u8").view(np.uint8), axis=1, bitorder="little")
    flipped = bits[:, :width].astype(np.float64)
    flipped[:, flips:] = 0.0
    return flipped


@dataclass
class _Tally:
    """Running sums of the flipped items, compared in batches of sizes that fit the cache."""

    models: int
    complete: bool
    running: Floats  # columns × flips
    reach: Floats  # per column, the sum of absolute values so far
    batch: Floats  # sizes × columns × flips, each in units of its rounding error
    waiting: list[int]
    counts: Floats  # sizes × pairs: twice the flips below zero plus the ties

    @classmethod
    def of(cls, models: int, sizes: Ints, width: int, complete: bool) -> _Tally:
        columns = models if complete else pair_count(models)
        depth = min(len(sizes), max(1, _SUM_CELLS // max(1, columns * width)))
        return cls(
            models=models,
            complete=complete,
            running=np.zeros((columns, width)),
            reach=np.zeros(columns),
            batch=np.empty((depth, columns, width)),
            waiting=[],
            counts=np.empty((len(sizes), pair_count(models))),
        )

    def add(self, columns: Floats, flipped: Floats, stretch: Stretch) -> None:
        part = columns[stretch.start : stretch.stop]
        self.running += part.T @ flipped[stretch.start : stretch.stop]
        self.reach += np.abs(part).sum(axis=0)
        if stretch.closes is None:
            return
        np.divide(self.running, self._rounding_error(), out=self.batch[len(self.waiting)])
        self.waiting.append(stretch.closes)
        if len(self.waiting) == len(self.batch):
            self.flush()

    def _rounding_error(self) -> Floats | float:
        """Return the error that sums may carry: one for all models' columns, or one per pair's column.

        Models are scored on one scale, so the largest column sets the unit for all; measured in it, a tie
        is a gap of at most 1, and comparing needs no table of tolerances (three times as quick).
        """
        if self.complete:
            return 2.0 * TIE * float(self.reach.max(initial=0.0)) or 1.0
        return np.where(self.reach > 0.0, TIE * self.reach, 1.0)[:, None]

    def flush(self) -> None:
        if not self.waiting:
            return
        sums = self.batch[: len(self.waiting)]
        sizes = slice(self.waiting[0], self.waiting[-1] + 1)
        self.counts[sizes] = self._by_models(sums) if self.complete else _below(sums)
        self.waiting.clear()

    def _by_models(self, sums: Floats) -> Floats:
        counts = np.empty((len(sums), pair_count(self.models)))
        begin = 0
        for model in range(self.models - 1):
            stop = begin + self.models - 1 - model
            counts[:, begin:stop] = _below(sums[:, model, None] - sums[:, model + 1 :])
            begin = stop
        return counts


def _below(gaps: Floats) -> Floats:
    """Count gaps below zero twice and gaps of zero once; a gap within the rounding error (1) is zero."""
    flags = np.empty((2, *gaps.shape), bool)
    np.less(gaps, -1.0, out=flags[0])
    np.less_equal(gaps, 1.0, out=flags[1])
    return np.asarray(_count_last(flags).sum(axis=0))


def _count_last(flags: NDArray[np.bool_]) -> Floats:
    """Count the true values along the last axis, eight at a time: bytes are added up inside 64-bit words.

    Each of a word's eight bytes counts at most 255 before it would overflow, so longer axes are cut.
    """
    words = np.ascontiguousarray(flags).view(np.uint64)
    total = np.zeros(flags.shape[:-1])
    for start in range(0, words.shape[-1], _LANE_WORDS):
        lanes = np.add.reduce(words[..., start : start + _LANE_WORDS], axis=-1)
        total += lanes[..., None].view(np.uint8).sum(axis=-1)
    return total
