"""Agreement: how close judging a subset comes to judging everything, by every measure at once."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import Ids, Method, item_keys, pair_p_values
from sparingly.base.stats.signed_rank import SignedRank, pair_signed_rank
from sparingly.data.evalset import EvalSet
from sparingly.data.importance import importance
from sparingly.data.selection import Selection
from sparingly.infer.rank import measures
from sparingly.infer.rank.measures import Groups, model_means, significance_groups
from sparingly.infer.rank.winners import pair_margins

__all__ = [
    "importance",
    "weighed",
]


# The full evaluation, with everything that subsets are compared with computed once and kept.


@dataclass(frozen=True, eq=False)
class FullSet:
    """True scores of all items, and the outcome of the evaluation that judges them all.

    Attributes:
        values: items × models, higher is better, NaN where not judged.
        keys: one key per item, from its id; sign flips hang on it, so that they do not depend on the order.
        seed: seed of the sign flips.
        flips: number of sign flips where enumeration is out of reach.
        method: how p-values are found (``sparingly.base.stats.sign_flip``).
        weights: importance per item, for means and sign-flip tests (rank tests do not use it).
    """

    values: Floats
    keys: Keys
    seed: int = 0
    flips: int = 1000
    method: Method = "auto"
    weights: Floats | None = None

    def __post_init__(self) -> None:
        if self.values.ndim != 2 or self.values.shape[1] < 2:
            raise DataError(f"Agreement needs items × models, two models or more, not {self.values.shape}.")
        if self.keys.shape != (len(self.values),):
            raise UsageError(f"Agreement needs one key per item: {len(self.values)}, not {self.keys.shape}.")
        unjudged = np.flatnonzero(np.isnan(self.values).all(axis=0))
        if unjudged.size:
            raise DataError(f"Model {unjudged[0]} has no score on any item, so it cannot be ranked.")

    def __len__(self) -> int:
        return len(self.values)

    @property
    def models(self) -> int:
        """The number of models."""
        return int(self.values.shape[1])

    @cached_property
    def means(self) -> Floats:
        """The models' means over all items."""
        return model_means(self.values, self.weights)

    @cached_property
    def p_values(self) -> Floats:
        """The one-sided sign-flip p-value of every pair of models."""
        return self.p_values_of(self.values, self.keys, self.weights)

    @property
    def tested(self) -> bool:
        """Whether the p-values are known already."""
        return "p_values" in self.__dict__

    def keep_p_values(self, p_values: Floats) -> None:
        """Keep p-values of all items that came out of another pass over them."""
        self.__dict__["p_values"] = p_values

    @cached_property
    def signed_rank(self) -> SignedRank:
        """The two-sided Wilcoxon test of every pair of models."""
        return pair_signed_rank(self.values)

    @cached_property
    def groups(self) -> Groups:
        """The significance groups of the models."""
        return significance_groups(self.values, weights=self.weights)

    @cached_property
    def margins(self) -> Floats:
        """The winning margin P_A − P_B of every pair of models."""
        return pair_margins(self.values)

    def p_values_of(self, values: Floats, keys: Keys, weights: Floats | None) -> Floats:
        """Return p-values of other scores, tested as the full set is."""
        return pair_p_values(
            values, keys=keys, seed=self.seed, flips=self.flips, method=self.method, weights=weights
        )

    def weights_of(self, rows: Ints) -> Floats | None:
        """Return the weights of some items."""
        return None if self.weights is None else self.weights[rows]

    def checked_rows(self, rows: Ints | Sequence[int]) -> Ints:
        """Return rows as distinct positions of items; raises when they are not."""
        positions = np.asarray(rows)
        if positions.ndim != 1 or positions.size == 0 or not np.issubdtype(positions.dtype, np.integer):
            raise UsageError("A subset is a non-empty list of row numbers.")
        if positions.min() < 0 or positions.max() >= len(self):
            raise UsageError(f"Row numbers must lie between 0 and {len(self) - 1}.")
        if np.unique(positions).size != positions.size:
            raise UsageError("A subset holds every row once at most.")
        return positions.astype(np.int64)

    def scored(self, subset_values: Floats | None) -> Floats:
        """Return the scores that judge subsets: the true ones, or another matrix of the same shape."""
        if subset_values is None:
            return self.values
        if subset_values.shape != self.values.shape:
            raise UsageError(
                f"The subset's scores have shape {subset_values.shape}, the full set's {self.values.shape}."
            )
        return subset_values


# What a selection asks for: its items, and on which of them each model is judged.


@dataclass(frozen=True, eq=False)
class Asked:
    """The judgements that a selection asks for.

    Attributes:
        rows: The chosen items, each once, in the order of the selection.
        values: Scores of all items × models, NaN where a model is not asked for on a chosen item; None where
            all models are judged on all chosen items.
    """

    rows: Ints
    values: Floats | None = None

    def scores(self, whole: Floats) -> Floats:
        """Return the scores of the chosen items, of the models that are asked for on each."""
        return (whole if self.values is None else self.values)[self.rows]

    def counts(self, whole: Floats) -> Ints:
        """Return on how many items each model is judged."""
        return np.asarray((~np.isnan(self.scores(whole))).sum(axis=0))

    def notes(self, whole: Floats) -> tuple[str, ...]:
        """Say what means and tests rest on where every model has items of its own."""
        if self.values is None:
            return ()
        judged = (~np.isnan(self.scores(whole))).astype(np.int64)
        first, second = pair_indices(judged.shape[1])
        shared = (judged.T @ judged)[first, second]
        none = int((shared == 0).sum())
        lost = f"; {none} of {len(shared)} pairs share none and stay undecided" if none else ""
        own = _range(self.counts(whole))
        return (
            f"models are judged on items of their own, {own} each: means and ranks are of these. P-values, "
            f"groups and winners of pairs rest on what two models share, {_range(shared)} items{lost}.",
        )


def asked_of(selection: Selection | Sequence[str], data: EvalSet, whole: Floats) -> Asked:
    """Return what a selection asks for of the items of a set with scores ``whole`` (items × models).

    Items that are not in the set are left out. A list of ids asks for all models.
    """
    here = {name: place for place, name in enumerate(data.items)}
    if not isinstance(selection, Selection) or selection.models is None:
        ids = selection.items if isinstance(selection, Selection) else selection
        return Asked(np.array([here[name] for name in ids if name in here], np.int64))
    columns = {name: place for place, name in enumerate(data.models)}
    kept = [row for row, name in enumerate(selection.items) if name in here]
    places = np.array([here[selection.items[row]] for row in kept], np.int64)
    asked: NDArray[np.bool_] = np.zeros(whole.shape, bool)
    for row, place in zip(kept, places, strict=True):
        names = selection.models[row]
        asked[place, [columns[name] for name in (names or data.models) if name in columns]] = True
    rows = places[np.sort(np.unique(places, return_index=True)[1])]
    if asked[rows].all():
        return Asked(rows)
    return Asked(rows, np.where(asked, whole, np.nan))


def check_one_weight(selection: Selection, weights: Floats) -> None:
    """Refuse an item that weighs more for one model than for another: means and tests take one weight."""
    order = np.lexsort((weights, selection.items.astype(str)))
    items, own = selection.items[order], weights[order]
    differs = (items[1:] == items[:-1]) & (own[1:] > own[:-1] * (1.0 + 1e-9))
    if differs.any():
        name = items[1:][differs][0]
        raise UsageError(
            f'The item "{name}" has other probabilities for one model than for another, and a comparison '
            "with the whole set gives every item one weight: use estimate and rank."
        )


def _range(counts: Ints) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


# Weights of items: how much each matters, and how many others a chosen one stands for.


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


# Agreement: how close judging a subset comes to judging everything, by every measure at once.


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
        >>> agreement(scores, [0, 1, 2], ids=["a", "b", "c"]).soft_pairwise_accuracy
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
