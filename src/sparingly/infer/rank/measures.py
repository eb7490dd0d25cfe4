"""How close the outcome on a subset is to the outcome on the full set (Zouhar et al. 2025, App. B.1).

Measures of means take the subset's model means, one row per subset (… × models), and the full set's means;
they return one number per subset. Means closer than 1e-9 of their range count as equal, so that the order
in which scores were added up decides nothing. A model without a judgement in the subset has a mean of NaN.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from types import MappingProxyType
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.checks import check_alpha
from sparingly.base.stats import correlation
from sparingly.base.stats.correlation import average_ranks
from sparingly.base.stats.pairs import checked_sizes, pair_indices
from sparingly.base.stats.signed_rank import SignedRank, signed_rank
from sparingly.data.values import plain

Groups = tuple[tuple[int, ...], ...]
MeansMeasure = Callable[[Floats, Floats], Floats]


def nan_as_none(values: Any) -> Any:
    """Return values for JSON: NaN as None, arrays as lists, floats as floats."""
    return plain(values, largest=-1.0)


def model_means(scores: Floats, weights: Floats | None = None) -> Floats:
    """Return each model's (weighted) mean Σwy / Σw over its judged items; NaN for a model without any."""
    means: Floats = prefix_means(scores, [len(scores)], weights)[0]
    return means


def prefix_means(scores: Floats, sizes: Sequence[int] | Ints, weights: Floats | None = None) -> Floats:
    """Return the means (sizes × models) over the first k items for every k, reading the items once."""
    ascending, places = checked_sizes(sizes, len(scores))
    scores = scores[: ascending[-1]]
    judged = ~np.isnan(scores)
    share = judged.astype(np.float64) if weights is None else judged * weights[: len(scores), None]
    starts = np.concatenate([[0], ascending[:-1]])
    total = np.add.reduceat(np.where(judged, scores, 0.0) * share, starts, axis=0).cumsum(axis=0)
    count = np.add.reduceat(share, starts, axis=0).cumsum(axis=0)
    means: Floats = ratio(total, count, np.nan)
    return np.asarray(means[places])


def round_means(means: Floats) -> Floats:
    """Round means (… × models) to 1e-9 of their range, for comparing and ranking only.

    The last bits of a sum depend on the order of summing, and must not rank two models that are equal.
    """
    low = np.where(np.isnan(means), np.inf, means).min(axis=-1, keepdims=True, initial=np.inf)
    high = np.where(np.isnan(means), -np.inf, means).max(axis=-1, keepdims=True, initial=-np.inf)
    step = np.where(high > low, (high - low) * 1e-9, 1.0)
    return np.where(high > low, np.round((means - low) / step), means)


def significance_groups(scores: Floats, *, alpha: float = 0.05, weights: Floats | None = None) -> Groups:
    """Group models by Zouhar et al. 2025, Algorithm 1; return model indices, best group first.

    Models are sorted by mean; each next model is compared with the last member of the last group (which is
    always the model just before it) by a one-sided Wilcoxon signed-rank test of *worse than*, and opens a new
    group when p < alpha. No correction for many tests, as published.

    Two models whose scores never differ stay in one group (p = 1); published code separates them. Models
    with the same mean are taken in their given order, and models without any score belong to no group.
    ``weights`` act on the means only. Report the group, not the rank: no model of a group
    is significantly worse than the one before it. For groups that hold for all pairs at once see ``decide``.

    Examples:
        >>> import numpy as np, sparingly
        >>> base = np.arange(10.0)
        >>> scores = np.column_stack([base - 5.0, base, base + np.tile([1.0, -1.0], 5)])
        >>> significance_groups(scores)  # the last two do not differ significantly
        ((1, 2), (0,))
    """
    scores = np.asarray(scores, np.float64)
    check_alpha(alpha)
    means = model_means(scores, weights)
    rounded = round_means(means)
    order = [int(model) for model in np.argsort(-rounded, kind="stable") if not np.isnan(means[model])]
    if not order:
        return ()
    worse = signed_rank(scores[:, order[1:]] - scores[:, order[:-1]], "less").p < alpha
    groups = [[order[0]]]
    for model, opens in zip(order[1:], worse, strict=True):
        if opens:
            groups.append([model])
        else:
            groups[-1].append(model)
    return tuple(tuple(group) for group in groups)


# --- agreement between means on subsets and on the full set ---


def pairwise_accuracy(subset: Floats, full_set: Floats) -> Floats:
    """Return the share of model pairs in the same order; a pair tied on one side only counts one half.

    It is soft pairwise accuracy with p-values of 0, ½ and 1; a pair tied on both sides agrees. A model that
    the subset did not judge is tied with all others.
    """
    ordered = np.nan_to_num(_pair_signs(subset), nan=0.0)
    return np.asarray((1.0 - 0.5 * np.abs(ordered - _pair_signs(full_set))).mean(axis=-1))


def pearson(subset: Floats, full_set: Floats) -> Floats:
    """Return Pearson's correlation of the model means (sensitive to outlying models); 0 when constant."""
    return _by_rows(correlation.pearson_rows, full_set, subset)


def spearman(subset: Floats, full_set: Floats) -> Floats:
    """Return Spearman's rank correlation of the model means; 0 when constant."""
    return _by_rows(correlation.spearman_rows, full_set, round_means(subset))


def kendall_b(subset: Floats, full_set: Floats) -> Floats:
    """Return Kendall's tau-b of the model means: right minus wrong pairs, ties taken out; 0 when constant."""
    return _by_rows(correlation.kendall_b_rows, full_set, round_means(subset))


def kendall_c(subset: Floats, full_set: Floats) -> Floats:
    """Return Kendall's tau-c of the model means: ties pull it towards 0; 0 when constant."""
    return _by_rows(correlation.kendall_c_rows, full_set, round_means(subset))


def top1_match(subset: Floats, full_set: Floats) -> Floats:
    """Return 1 when the subset's best model is the full set's best, else 0.

    With several best models on the subset: the share of them that are best on the full set. Use it when the
    evaluation exists to pick one model.
    """
    return _mean_where(_winners(subset), _winners(full_set).astype(np.float64))


def top1_percentile(subset: Floats, full_set: Floats) -> Floats:
    """Return the share of the other models that the subset's best model beats on the full set (ties: ½).

    1 when the winner is right, 0 when it is the worst model; the mean over models tied for best. It says how
    much is lost by picking a wrong winner.
    """
    rounded = round_means(full_set)
    beaten = (rounded[:, None] > rounded).sum(axis=1) + 0.5 * ((rounded[:, None] == rounded).sum(axis=1) - 1)
    return _mean_where(_winners(subset), beaten / (len(full_set) - 1))


def mean_absolute_error(subset: Floats, full_set: Floats) -> Floats:
    """Return the mean over models of |mean on the subset − mean on the full set|; lower is better.

    Informative selections are off by design: use it when the scores themselves will be published.
    """
    return _mean_where(~np.isnan(subset - full_set), np.abs(subset - full_set))


def root_mean_squared_error(subset: Floats, full_set: Floats) -> Floats:
    """Return the root of the mean squared difference of the model means; lower is better."""
    return np.sqrt(_mean_where(~np.isnan(subset - full_set), (subset - full_set) ** 2))


def rank_changes(subset: Floats, full_set: Floats) -> Floats:
    """Return the number of models whose (average) rank differs from the full set's (Knowles 2021).

    A model without a judgement in the subset has no rank there, and counts as changed.
    """
    differs = average_ranks(round_means(subset)) != average_ranks(round_means(full_set))
    return np.asarray(differs.sum(axis=-1), np.float64)


def top_group_dice(subset: Groups, full_set: Groups) -> float:
    """Return the Sørensen–Dice overlap 2|A ∩ B| / (|A| + |B|) of the two best groups.

    Fairer than the top-1 match where several models share the first place.
    """
    if not subset or not full_set:
        return 0.0
    first, second = set(subset[0]), set(full_set[0])
    return 2.0 * len(first & second) / (len(first) + len(second))


def significance_retained(subset: SignedRank, full_set: SignedRank, alpha: float = 0.05) -> float:
    """Return the share of the full set's significant pairs that the subset finds too, with the same sign.

    Significant: two-sided Wilcoxon p < alpha (Ruan et al. 2024, at .05 and .001). NaN when the full set has
    no significant pair. It is the power that is left after cutting the budget.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.cumsum(np.ones((20, 2)), axis=0) * [2.0, 1.0]  # the first model always wins
        >>> from sparingly.base.stats.signed_rank import pair_signed_rank
        >>> everything, part = (pair_signed_rank(scores[:n]) for n in (20, 5))
        >>> significance_retained(part, everything)  # five items cannot reach p < .05
        0.0
    """
    return float(significance_retained_rows(subset, full_set, alpha))


def significance_retained_rows(subset: SignedRank, full_set: SignedRank, alpha: float) -> Floats:
    """Return the share of significant pairs that are found, for tests of several subsets (… × pairs)."""
    significant = full_set.p < alpha
    if not significant.any():
        return np.full(subset.p.shape[:-1], np.nan)
    retained = (subset.p < alpha) & (subset.direction == full_set.direction)
    return np.asarray(retained[..., significant].mean(axis=-1))


MEANS_MEASURES: Mapping[str, MeansMeasure] = MappingProxyType(
    {
        measure.__name__: measure
        for measure in (
            *(pairwise_accuracy, pearson, spearman, kendall_b, kendall_c, top1_match, top1_percentile),
            *(mean_absolute_error, root_mean_squared_error, rank_changes),
        )
    }
)
LOWER_IS_BETTER = frozenset({"mean_absolute_error", "root_mean_squared_error", "rank_changes"})


def _pair_signs(means: Floats) -> Floats:
    rounded = round_means(means)
    first, second = pair_indices(means.shape[-1])
    return np.sign(rounded[..., first] - rounded[..., second])


def _by_rows(rows: Callable[[Floats, Floats], Floats], full_set: Floats, subset: Floats) -> Floats:
    flat = subset.reshape(-1, subset.shape[-1])
    return rows(full_set, flat).reshape(subset.shape[:-1])


def _winners(means: Floats) -> Mask:
    rounded = np.where(np.isnan(means), -np.inf, round_means(means))
    return np.asarray((rounded == rounded.max(axis=-1, keepdims=True)) & ~np.isnan(means))


def _mean_where(mask: Mask, values: Floats) -> Floats:
    """Return the mean over models of the values under a mask; NaN where it is empty."""
    count, total = mask.sum(axis=-1), np.where(mask, values, 0.0).sum(axis=-1)
    return ratio(total, count, np.nan)
