"""Weights of items: how much each matters, and how many others a chosen one stands for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance
from sparingly.data.selection import Selection
from sparingly.infer.rank.asked import check_one_weight
from sparingly.infer.rank.full_set import FullSet
from sparingly.infer.rank.groups import Groups

__all__ = ["importance", "weighed"]


@dataclass(frozen=True, eq=False, kw_only=True)
class _Weighed(FullSet):
    """A full set whose subsets are weighed by their clusters, while its own outcome stays as it is."""

    whole: FullSet

    @cached_property
    def means(self) -> Floats:
        return self.whole.means

    @cached_property
    def p_values(self) -> Floats:
        return self.whole.p_values

    @cached_property
    def groups(self) -> Groups:
        return self.whole.groups


def weighed(full: FullSet, selection: Selection | Sequence[str], data: EvalSet, rows: Ints) -> FullSet:
    """Return the full set with the weights by which a selection's items count, the truth unchanged."""
    weights = _selection_weights(selection, data, rows)
    if weights is None:
        return full
    how = {"seed": full.seed, "flips": full.flips}
    return _Weighed(full.values, full.keys, **how, method=full.method, weights=weights, whole=full)


def _selection_weights(selection: Selection | Sequence[str], data: EvalSet, rows: Ints) -> Floats | None:
    """Return weights by which a selection's items stand for others; the other items keep theirs.

    Items with unequal inclusion probabilities weigh one over them, as every estimate of the whole set must;
    items that stand for clusters weigh as many items as the cluster has. None where all weigh the same.
    """
    if not isinstance(selection, Selection):
        return None
    own = np.ones(len(selection))
    if selection.weight is not None and selection.has_unequal_weights:
        own = own * selection.weight
    if selection.cluster_weight is not None:
        own = own * selection.cluster_weight
    if np.ptp(own) == 0:
        return None
    check_one_weight(selection, own)
    by_item = dict(zip(selection.items, own, strict=True))
    known = importance(data)
    weights = np.ones(len(data)) if known is None else known.copy()
    weights[rows] *= [by_item[data.items[row]] for row in rows]
    return np.asarray(weights)
