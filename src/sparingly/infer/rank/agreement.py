"""Agreement: how close judging a subset comes to judging everything, by every measure at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import Ids, Method, item_keys
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.infer.rank import measures
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.groups import significance_groups
from sparingly.infer.rank.means import model_means


@dataclass(frozen=True)
class Agreement:
    """The outcome on ``n`` of ``n_full`` items against the outcome on all of them (see ``measures``)."""

    n: int
    n_full: int
    soft_pairwise_accuracy: float
    pairwise_accuracy: float
    pearson: float
    spearman: float
    kendall_b: float
    kendall_c: float
    top1_match: float
    top1_percentile: float
    groups: int
    groups_full: int
    top_group_dice: float
    mean_absolute_error: float
    root_mean_squared_error: float
    rank_changes: int
    ranking_changed: bool
    significance_retained_05: float
    significance_retained_001: float

    def to_dict(self) -> dict[str, int | float | bool | None]:
        """Return the numbers by name, for JSON: a number that is not defined is None."""
        return {
            name: None if isinstance(value, float) and math.isnan(value) else value
            for name, value in asdict(self).items()
        }


def agreement(
    values: Floats,
    rows: Ints | Sequence[int],
    *,
    ids: Ids | None = None,
    keys: Keys | None = None,
    seed: int = 0,
    flips: int = 1000,
    method: Method = "auto",
    weights: Floats | None = None,
    subset_values: Floats | None = None,
) -> Agreement:
    """Compare the outcome on some rows of a score matrix with the outcome on all of them.

    Args:
        values: true scores, items × models, higher is better, NaN where not judged.
        rows: the rows that the subset holds.
        ids: the items' ids, so that the sign flips do not depend on the order of the items; without ids, the
            row number stands in for them.
        keys: in place of ids, the 64-bit keys that were made from them.
        seed: seed of the sign flips.
        flips: number of sign flips.
        method: how p-values are found (``sparingly.base.stats.sign_flip``).
        weights: importance per item, for means and sign-flip tests.
        subset_values: other scores of the same items and models by which the subset is judged, such as a
            metric or a single rater's scores against the truth.

    Examples:
        >>> import numpy as np, sparingly
        >>> scores = np.array([[3.0, 1.0], [2.0, 1.0], [1.0, 4.0]])
        >>> sparingly.agreement(scores, [0, 1, 2], ids=["a", "b", "c"]).soft_pairwise_accuracy
        1.0
    """
    values = np.asarray(values, np.float64)
    known = item_keys(len(values), ids, keys)
    full = FullSet(values, known, seed=seed, flips=flips, method=method, weights=weights)
    return agreement_with(full, rows, subset_values=subset_values)


def agreement_with(
    full: FullSet, rows: Ints | Sequence[int], *, subset_values: Floats | None = None
) -> Agreement:
    """Compare the outcome on some rows with a full set whose own outcome is computed only once."""
    positions = full.checked_rows(rows)
    scores = full.scored(subset_values)[positions]
    weights = full.weights_of(positions)
    means = model_means(scores, weights)
    by_means = {name: float(measure(means, full.means)) for name, measure in measures.MEANS_MEASURES.items()}
    changes = int(by_means.pop("rank_changes"))
    groups = significance_groups(scores, weights=weights)
    tests = pair_signed_rank(scores)
    p_values = full.p_values_of(scores, full.keys[positions], weights)
    return Agreement(
        n=len(positions),
        n_full=len(full),
        soft_pairwise_accuracy=float(soft_pairwise_accuracy(p_values, full.p_values)),
        groups=len(groups),
        groups_full=len(full.groups),
        top_group_dice=measures.top_group_dice(groups, full.groups),
        rank_changes=changes,
        ranking_changed=changes > 0,
        significance_retained_05=measures.significance_retained(tests, full.signed_rank, 0.05),
        significance_retained_001=measures.significance_retained(tests, full.signed_rank, 0.001),
        **by_means,
    )
