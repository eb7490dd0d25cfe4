"""The full evaluation, with everything that subsets are compared with computed once and kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.rng import Keys
from sparingly.base.stats.sign_flip import Method, pair_p_values
from sparingly.base.stats.signed_rank import SignedRank, pair_signed_rank
from sparingly.infer.rank.groups import Groups, significance_groups
from sparingly.infer.rank.means import model_means
from sparingly.infer.rank.winners import pair_margins


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
