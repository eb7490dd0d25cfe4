"""Significance groups: models in order, cut where a model is significantly worse than the one before it."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.levels import check_alpha
from sparingly.base.stats.signed_rank import signed_rank
from sparingly.infer.rank.means import model_means, settled

Groups = tuple[tuple[int, ...], ...]


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
        >>> sparingly.significance_groups(scores)  # the last two do not differ significantly
        ((1, 2), (0,))
    """
    scores = np.asarray(scores, np.float64)
    check_alpha(alpha)
    means = model_means(scores, weights)
    rounded = settled(means)
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
