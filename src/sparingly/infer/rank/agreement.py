"""Agreement of a subset with the full set: the full evaluation, what a selection asks for, every measure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import DataError, UsageError
from sparingly.base.rng import Keys
from sparingly.base.stats.pairs import pair_indices, soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import FlipTest, pair_p_values
from sparingly.base.stats.signed_rank import SignedRank, pair_signed_rank
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.infer.rank import measures
from sparingly.infer.rank.measures import Groups, model_means, nan_as_none, significance_groups
from sparingly.infer.rank.winners import pair_margins


@dataclass(frozen=True, eq=False)
class FullSet:
    """The evaluation that judges everything: each of its results is computed once, when first needed."""

    values: Floats  # true scores, items × models, higher is better, NaN where not judged
    keys: Keys  # one key per item, made from its id, so that sign flips do not depend on the order of items
    seed: int = 0  # seed of the sign flips
    flips: int = 1000  # number of sign flips where enumeration is out of reach
    method: FlipTest = "auto"  # how p-values are computed (``sparingly.base.stats.sign_flip``)
    # Importance per item, for means and sign-flip tests (rank tests do not use it).
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
        """Return the p-values of other scores by the same test."""
        return pair_p_values(
            values, keys=keys, seed=self.seed, flips=self.flips, method=self.method, weights=weights
        )

    def weights_of(self, rows: Ints) -> Floats | None:
        """Return the weights of some items."""
        return None if self.weights is None else self.weights[rows]

    def checked_rows(self, rows: Ints | Sequence[int]) -> Ints:
        """Return rows as an array; raise UsageError unless they are distinct positions of items."""
        positions = np.asarray(rows)
        if positions.ndim != 1 or positions.size == 0 or not np.issubdtype(positions.dtype, np.integer):
            raise UsageError("A subset is a non-empty list of row numbers.")
        if positions.min() < 0 or positions.max() >= len(self):
            raise UsageError(f"Row numbers must lie between 0 and {len(self) - 1}.")
        if np.unique(positions).size != positions.size:
            raise UsageError("A subset holds every row once at most.")
        return positions.astype(np.int64)

    def subset_scores(self, subset_values: Floats | None) -> Floats:
        """Return the scores by which subsets are judged: the true ones unless others are given."""
        if subset_values is None:
            return self.values
        if subset_values.shape != self.values.shape:
            raise UsageError(
                f"The subset's scores have shape {subset_values.shape}, the full set's {self.values.shape}."
            )
        return subset_values


@dataclass(frozen=True, eq=False)
class SelectedCells:
    """The cells (item × model) that a selection asks for."""

    rows: Ints  # the selected items, each once, in the order of the selection
    # Scores of all items × models, NaN where a model is not judged on a selected item; None where all models
    # are judged on all selected items.
    values: Floats | None = None

    def scores(self, full_values: Floats) -> Floats:
        """Return the scores of the selected items, NaN where a model is not judged."""
        return (full_values if self.values is None else self.values)[self.rows]

    def counts(self, full_values: Floats) -> Ints:
        """Return on how many items each model is judged."""
        return np.asarray((~np.isnan(self.scores(full_values))).sum(axis=0))

    def notes(self, full_values: Floats) -> tuple[str, ...]:
        """Say which items means and tests use where every model has its own items."""
        if self.values is None:
            return ()
        judged = (~np.isnan(self.scores(full_values))).astype(np.int64)
        shared = (judged.T @ judged)[pair_indices(judged.shape[1])]
        unshared = int((shared == 0).sum())
        lost = f"; {unshared} of {len(shared)} pairs share none and stay undecided" if unshared else ""
        per_model = _range_text(self.counts(full_values))
        return (
            f"models are judged on items of their own, {per_model} each: means and ranks are of these. "
            "P-values, groups and winners of pairs rest on what two models share, "
            f"{_range_text(shared)} items{lost}.",
        )


def selected_cells(selection: Selection | Sequence[str], data: EvalSet, values: Floats) -> SelectedCells:
    """Return the cells of a set with scores ``values`` (items × models) that a selection asks for.

    Items that are not in the set are left out. A list of ids asks for all models.
    """
    positions = {name: row for row, name in enumerate(data.items)}
    if not isinstance(selection, Selection) or selection.models is None:
        ids = selection.items if isinstance(selection, Selection) else selection
        return SelectedCells(np.array([positions[name] for name in ids if name in positions], np.int64))
    in_set = [number for number, name in enumerate(selection.items) if name in positions]
    all_rows = np.array([positions[selection.items[number]] for number in in_set], np.int64)
    cells: Mask = np.zeros(values.shape, bool)
    np.logical_or.at(cells, all_rows, selection.model_mask(data.models)[in_set])
    rows = np.array(list(dict.fromkeys(all_rows.tolist())), np.int64)
    if cells[rows].all():
        return SelectedCells(rows)
    return SelectedCells(rows, np.where(cells, values, np.nan))


def _range_text(counts: Ints) -> str:
    low, high = int(counts.min()), int(counts.max())
    return str(low) if low == high else f"{low} to {high}"


def selection_weights(selection: Selection | Sequence[str], data: EvalSet, rows: Ints) -> Floats | None:
    """Return the weights by which the selected items at some rows count; None where they count alike.

    A weight is how many items a selected one stands for; the other items keep their importance. Items with
    unequal inclusion probabilities count 1/π, as every estimate of the full set must; items that stand for
    clusters count as many items as the cluster has. Means and tests take one weight per item, so an item that
    has another weight for another model is an error.
    """
    importance = None if data.importance is None else data.importance[rows]
    if not isinstance(selection, Selection):
        return importance
    row_weights = np.ones(len(selection))
    if selection.weight is not None and selection.has_unequal_weights:
        row_weights = row_weights * selection.weight
    if selection.cluster_weight is not None:
        row_weights = row_weights * selection.cluster_weight
    if np.ptp(row_weights) == 0:
        return importance
    order = np.lexsort((row_weights, selection.items.astype(str)))
    items, ordered = selection.items[order], row_weights[order]
    differs = (items[1:] == items[:-1]) & (ordered[1:] > ordered[:-1] * (1.0 + 1e-9))
    if differs.any():
        raise UsageError(
            f'The item "{items[1:][differs][0]}" has other probabilities for one model than for another, and '
            "a comparison with the whole set gives every item one weight: use estimate and rank."
        )
    by_item = dict(zip(selection.items, row_weights, strict=True))
    weights = np.array([by_item[data.items[row]] for row in rows])
    return weights if importance is None else weights * importance


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

    def to_dict(self) -> dict[str, Any]:
        """Return the numbers by name, for JSON: a number that is not defined is None."""
        return dict(nan_as_none(asdict(self)))


def agreement_with(
    full_set: FullSet,
    rows: Ints | Sequence[int],
    *,
    subset_values: Floats | None = None,
    row_weights: Floats | None = None,
) -> Agreement:
    """Compare the outcome on some rows with a full set whose own results are computed once."""
    positions = full_set.checked_rows(rows)
    scores = full_set.subset_scores(subset_values)[positions]
    weights = full_set.weights_of(positions) if row_weights is None else row_weights
    means = model_means(scores, weights)
    by_means = {
        name: float(measure(means, full_set.means)) for name, measure in measures.MEANS_MEASURES.items()
    }
    changes = int(by_means.pop("rank_changes"))
    groups = significance_groups(scores, weights=weights)
    tests = pair_signed_rank(scores)
    p_values = full_set.p_values_of(scores, full_set.keys[positions], weights)
    return Agreement(
        n=len(positions),
        n_full=len(full_set),
        soft_pairwise_accuracy=float(soft_pairwise_accuracy(p_values, full_set.p_values)),
        groups=len(groups),
        groups_full=len(full_set.groups),
        top_group_dice=measures.top_group_dice(groups, full_set.groups),
        rank_changes=changes,
        ranking_changed=changes > 0,
        significance_retained_05=measures.significance_retained(tests, full_set.signed_rank, 0.05),
        significance_retained_001=measures.significance_retained(tests, full_set.signed_rank, 0.001),
        **by_means,
    )
