"""Which of two models wins, by how much, and how often a subset finds the winner.

From Ashury Tahan et al. 2024 (Label-Efficient Model Selection for Text Generation, sections 3, 5.3, 6.1).
The preference on an item is the model with the higher score, or a tie when the two are within ``tie``. The
winning probability of a model is its share of wins over all judged items, ties in the denominator (eq. 1);
the *margin* of a pair is P_A − P_B, its sign names the winner and its size is the winning distance.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import pair_count

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]
Chooser = Callable[[Indices, int], Indices]


@dataclass(frozen=True)
class Winner:
    """The outcome of one pair: ``winner`` is 0 (first), 1 (second) or None (a tie), and by how much."""

    winner: int | None
    distance: float
    margin: float


@dataclass(frozen=True)
class SuccessRate:
    """How often subsets find the winning model, over pairs of models and seeds.

    Attributes:
        rate: share of the decided runs whose subset names the same winner.
        standard_error: √(rate·(1 − rate)/runs), as if runs were independent.
        runs: pairs × seeds with a winner on the full (sub)sample.
        inconclusive: share of those runs whose subset ends in a tie (never a success).
        tied: pairs × seeds without a winner on the full (sub)sample: not in ``runs``.
        distance: mean winning distance on the full (sub)sample.
        estimated_distance: mean margin on the subset, positive towards the true winner.
        bias: mean of estimated minus true distance: above 0 when subsets exaggerate the winner's lead.
    """

    rate: float
    standard_error: float
    runs: int
    inconclusive: float
    tied: int
    distance: float
    estimated_distance: float
    bias: float


def preferences(first: Floats, second: Floats, tie: float = 0.0) -> Floats:
    """Return +1 where the first column wins, −1 where the second does, 0 for a tie, NaN where one lacks."""
    return _prefer(np.asarray(first, np.float64) - np.asarray(second, np.float64), tie)


def winner(first: Floats, second: Floats, tie: float = 0.0) -> Winner:
    """Return which of two score columns wins more items, and the winning distance |P_A − P_B|."""
    margin = float(pair_margins(np.column_stack([first, second]), tie)[0])
    named = None if margin == 0.0 or np.isnan(margin) else int(margin < 0.0)
    return Winner(named, abs(margin), margin)


def pair_margins(values: Floats, tie: float = 0.0) -> Floats:
    """Return P_A − P_B for every pair of models (order of ``numpy.triu_indices``).

    NaN for a pair that was never judged on the same item.
    """
    if not tie >= 0.0:
        raise UsageError(f"The tie width must be zero or more, not {tie}.")
    models = values.shape[1]
    margins = np.empty(pair_count(models))
    begin = 0
    for model in range(models - 1):
        stop = begin + models - 1 - model
        preferred = _prefer(values[:, model, None] - values[:, model + 1 :], tie)
        judged = ~np.isnan(preferred)
        total, count = np.where(judged, preferred, 0.0).sum(axis=0), judged.sum(axis=0)
        margins[begin:stop] = np.divide(total, count, out=np.full(len(count), np.nan), where=count > 0)
        begin = stop
    return margins


def distance_bias(subset: Floats, full: Floats) -> Floats:
    """Return the estimated minus the true winning distance, signed towards the full set's winner.

    sign(full)·subset − |full|, per pair; NaN for a pair tied on the full set. Random subsets average 0.
    """
    return np.where(_decided(full), np.sign(full) * subset - np.abs(full), np.nan)


def success(subset: Floats, full: Floats) -> Floats:
    """Return 1 where the subset names the full set's winner, 0 where not, NaN where the full set ties."""
    return np.where(_decided(full), (np.sign(subset) == np.sign(full)).astype(np.float64), np.nan)


def success_rate(
    values: Floats,
    choose: Chooser,
    *,
    keys: rng.Keys,
    seeds: Sequence[int],
    share: float = 0.8,
    tie: float = 0.0,
) -> SuccessRate:
    """Return how often a selection finds the winner, over all pairs of models and several seeds.

    For each seed a large part of the items is drawn and treated as if it were the full set, so that runs
    differ even for selections without randomness.

    Args:
        values: items × models, higher is better.
        choose: the selection: given the rows of the subsample and a seed, the rows to judge.
        keys: one key per item; the subsample depends on it and the seed, not on the order of the items.
        seeds: one run per seed.
        share: how much of the data a subsample holds.
        tie: the width within which two scores count as equal.
    """
    if not seeds:
        raise UsageError("A success rate needs at least one seed.")
    if not 0.0 < share <= 1.0:
        raise UsageError(f"The share of a subsample must lie above 0 and at most 1, not {share}.")
    full, subset = [], []
    for seed in seeds:
        rows = _subsample(keys, seed, share)
        chosen = np.asarray(choose(rows, seed), np.int64)
        if chosen.size == 0 or not np.isin(chosen, rows).all():
            raise UsageError("A selection must choose at least one row, and only rows that it was given.")
        full.append(pair_margins(values[rows], tie))
        subset.append(pair_margins(values[chosen], tie))
    return _summary(np.concatenate(subset), np.concatenate(full))


def _prefer(differences: Floats, tie: float) -> Floats:
    # Scores such as 0.3 and 0.2 differ by a little more or less than 0.1 in binary.
    width = tie * (1.0 + 1e-9)
    return np.where(np.abs(differences) <= width, 0.0, np.sign(differences))


def _decided(margins: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(margins) & (margins != 0.0))


def _subsample(keys: rng.Keys, seed: int, share: float) -> Indices:
    size = max(1, round(share * len(keys)))
    return np.sort(np.argsort(rng.stream(keys, seed, "subsample"), kind="stable")[:size])


def _summary(subset: Floats, full: Floats) -> SuccessRate:
    decided = _decided(full)
    runs = int(decided.sum())
    tied = int((full == 0.0).sum())
    if runs == 0:
        nan = float("nan")
        return SuccessRate(nan, nan, 0, nan, tied, nan, nan, nan)
    subset, full = np.nan_to_num(subset[decided], nan=0.0), full[decided]
    rate = float(success(subset, full).mean())
    return SuccessRate(
        rate=rate,
        standard_error=float(np.sqrt(rate * (1.0 - rate) / runs)),
        runs=runs,
        inconclusive=float((subset == 0.0).mean()),
        tied=tied,
        distance=float(np.abs(full).mean()),
        estimated_distance=float((np.sign(full) * subset).mean()),
        bias=float(distance_bias(subset, full).mean()),
    )
