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
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.format import html_table
from sparingly.base.stats.pairs import check_tie, checked_sizes, pair_count, preferred
from sparingly.base.stats.sign_flip import Ids, item_keys
from sparingly.data.tables import Preferences
from sparingly.infer.rank.preference_margins import pair_margins_from_preferences

Chooser = Callable[[Ints, int], Ints]


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

    def _repr_html_(self) -> str:
        rows = [(name.replace("_", " "), value) for name, value in vars(self).items()]
        title = f"winner found in {self.rate:.1%} of {self.runs} runs"
        return html_table(("over pairs of models and seeds", ""), rows, title)


def pair_margins(values: Floats, tie: float = 0.0) -> Floats:
    """Return P_A − P_B for every pair of models (order of ``numpy.triu_indices``), from items × models.

    NaN for a pair that was never judged on the same item.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 5.0], [1.0, 4.0]])
        >>> sparingly.pair_margins(scores)  # two wins, a tie, a loss
        array([0.25])
    """
    values = np.asarray(values, np.float64)
    whole: Floats = prefix_margins(values, [len(values)], tie)[0]
    return whole


def prefix_margins(values: Floats, sizes: Sequence[int] | Ints, tie: float = 0.0) -> Floats:
    """Return the margins (sizes × pairs) over the first k items for every k, reading the items once."""
    check_tie(tie)
    ascending, places = checked_sizes(sizes, len(values))
    values = values[: ascending[-1]]
    starts = np.concatenate([[0], ascending[:-1]])
    models = values.shape[1]
    margins = np.full((len(ascending), pair_count(models)), np.nan)
    begin = 0
    for model in range(models - 1):
        stop = begin + models - 1 - model
        wins = preferred(values[:, model, None] - values[:, model + 1 :], tie)
        judged = ~np.isnan(wins)
        total = np.add.reduceat(np.where(judged, wins, 0.0), starts, axis=0).cumsum(axis=0)
        count = np.add.reduceat(judged.astype(np.int64), starts, axis=0).cumsum(axis=0)
        np.divide(total, count, out=margins[:, begin:stop], where=count > 0)
        begin = stop
    return np.asarray(margins[places])


def distance_bias(subset: Floats, full: Floats) -> Floats:
    """Return the estimated minus the true winning distance, signed towards the full set's winner.

    sign(full)·subset − |full|, per pair; NaN for a pair tied on the full set. Random subsets average 0.
    """
    return np.where(_decided(full), np.sign(full) * subset - np.abs(full), np.nan)


def success(subset: Floats, full: Floats) -> Floats:
    """Return 1 where the subset names the full set's winner, 0 where not, NaN where the full set ties."""
    return np.where(_decided(full), (np.sign(subset) == np.sign(full)).astype(np.float64), np.nan)


def mean_success(subset: Floats, full: Floats) -> Floats:
    """Return the share of the full set's winners that subsets (… × pairs) find; NaN when all pairs tie.

    A pair that the subset does not judge on any item has no winner there, and counts as not found.
    """
    decided = _decided(full)
    if not decided.any():
        return np.full(subset.shape[:-1], np.nan)
    return np.asarray(success(subset[..., decided], full[decided]).mean(axis=-1))


def mean_bias(subset: Floats, full: Floats) -> Floats:
    """Return the mean over pairs of estimated minus true winning distance; NaN when all pairs tie.

    Above 0 when subsets (… × pairs) exaggerate the winner's lead, as informative selections do (Ashury Tahan
    et al. 2024, Fig. 5). A pair that the subset does not judge on any item has a lead of 0 there.
    """
    decided = _decided(full)
    if not decided.any():
        return np.full(subset.shape[:-1], np.nan)
    leads = np.nan_to_num(subset[..., decided], nan=0.0)
    return np.asarray(distance_bias(leads, full[decided]).mean(axis=-1))


def success_rate(
    values: Floats | Preferences,
    choose: Chooser,
    *,
    seeds: Sequence[int],
    ids: Ids | None = None,
    keys: rng.Keys | None = None,
    share: float = 0.8,
    tie: float = 0.0,
) -> SuccessRate:
    """Return how often a selection finds the winner, over all pairs of models and several seeds.

    For each seed a large part of the items is drawn and treated as if it were the full set, so that runs
    differ even for selections without randomness.

    Args:
        values: items × models, higher is better; or preferences that people gave.
        choose: the selection: given the rows of the subsample and a seed, the rows to judge.
        seeds: one run per seed.
        ids: the items' ids; the subsample depends on them and the seed, not on the order of the items.
            Without ids the row number stands in for them.
        keys: in place of ids, the 64-bit keys that were made from them.
        share: how much of the data a subsample holds.
        tie: the width within which two scores count as equal (given preferences name their own ties).

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [5.0, 4.0], [6.0, 4.0]])
        >>> found = sparingly.success_rate(scores, lambda rows, seed: rows[:2], seeds=[0, 1])
        >>> found.rate, found.bias
        (1.0, 0.0)
    """
    known = item_keys(_item_count(values, ids, keys), ids, keys)
    margins_of = _margins_of(values, tie)
    if not seeds:
        raise UsageError("A success rate needs at least one seed.")
    full, subset = [], []
    for seed in seeds:
        rows = subsample(known, seed, share)
        chosen = np.asarray(choose(rows, seed), np.int64)
        if chosen.size == 0 or not np.isin(chosen, rows).all():
            raise UsageError("A selection must choose at least one row, and only rows that it was given.")
        full.append(margins_of(rows))
        subset.append(margins_of(chosen))
    return success_of(np.concatenate(subset), np.concatenate(full))


def success_of(subset: Floats, full: Floats) -> SuccessRate:
    """Return how often margins on subsets name the winner of those on the full (sub)sample, run by run.

    A pair that a subset does not judge on any item has no winner there, and counts as not found.
    """
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


def subsample(keys: rng.Keys, seed: int, share: float) -> Ints:
    """Return the rows of a random part of the items, by their keys and the seed alone."""
    if not 0.0 < share <= 1.0:
        raise UsageError(f"The share of a subsample must lie above 0 and at most 1, not {share}.")
    size = max(1, round(share * len(keys)))
    return np.sort(np.argsort(rng.stream(keys, seed, "subsample"), kind="stable")[:size])


def _item_count(values: Floats | Preferences, ids: Ids | None, keys: rng.Keys | None) -> int:
    """Return the number of items; preferences know only those that were compared."""
    if not isinstance(values, Preferences):
        return len(values)
    named = ids if keys is None else keys
    return int(values.item.max(initial=-1)) + 1 if named is None else len(named)


def _margins_of(values: Floats | Preferences, tie: float) -> Callable[[Ints], Floats]:
    if not isinstance(values, Preferences):
        scores = np.asarray(values, np.float64)
        return lambda rows: pair_margins(scores[rows], tie)
    if not len(values):
        raise UsageError("A success rate needs at least one preference.")
    if tie != 0.0:
        raise UsageError("A tie width goes with scores: preferences that were given name their ties.")
    # A model that nobody compared has no margin, so that the number of models need not be known.
    models = int(max(values.first.max(), values.second.max())) + 1
    return lambda rows: pair_margins_from_preferences(values, models, rows)


def _decided(margins: Floats) -> NDArray[np.bool_]:
    return np.asarray(~np.isnan(margins) & (margins != 0.0))
