"""Curves: agreement with the full set as the budget grows along one order of the items.

The subsets of a curve are nested, so p-values and means are added up in one pass over the items, and the
full set's own tests are computed once, not at every point.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial
from types import MappingProxyType
from typing import Any, ClassVar, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.format import cell_text
from sparingly.base.lazy import special
from sparingly.base.stats.pairs import soft_pairwise_accuracy
from sparingly.base.stats.sign_flip import prefix_pair_p_values
from sparingly.base.stats.signed_rank import prefix_pair_signed_rank
from sparingly.base.summary import Summary, Tabular
from sparingly.infer.rank import measures
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.measures import LOWER_IS_BETTER, nan_as_none, prefix_means, significance_groups
from sparingly.infer.rank.winners import mean_bias, mean_success, prefix_margins

SHARES: tuple[float, ...] = tuple(round(0.05 * step, 2) for step in range(1, 11))
SMALL_SET_SHARES: tuple[float, ...] = tuple(float(share) for share in np.linspace(0.25, 0.75, 10))
SPA = "soft_pairwise_accuracy"
# Measures by rank tests: every subset has to be ranked, so that dense curves take time.
BY_RANK_TESTS = frozenset(
    {"groups", "top_group_dice", "significance_retained_05", "significance_retained_001"}
)


@dataclass(frozen=True, eq=False)
class AgreementCurve:
    """The values of a measure of agreement at several subset sizes of a full set of ``items``."""

    measure: str
    sizes: Ints
    values: Floats
    items: int

    @property
    def average(self) -> float:
        """The mean over the sizes: the single number by which published tables compare selectors."""
        return float(self.values.mean())

    @property
    def shares(self) -> Floats:
        """The sizes as shares of the full set."""
        return self.sizes / self.items


@dataclass(frozen=True, eq=False)
class RandomCurve(AgreementCurve):
    """The mean curve of several random orders, with a t interval of that mean at each size.

    ``low`` and ``high`` are NaN for a single run. The interval is of the *mean* (sd/√runs): another curve
    outside it differs from random selection on average, not merely from one lucky draw.
    """

    low: Floats
    high: Floats
    runs: int


@dataclass(frozen=True)
class _NestedSubsets:
    """Subsets of growing size along one order of the items."""

    full_set: FullSet
    sizes: Ints
    scores: Floats
    keys: rng.Keys
    weights: Floats | None

    def p_values(self) -> Floats:
        """Return the sign-flip p-values of every subset, sizes × pairs."""
        return prefix_pair_p_values(
            self.scores,
            self.sizes,
            keys=self.keys,
            seed=self.full_set.seed,
            flips=self.full_set.flips,
            method=self.full_set.method,
            weights=self.weights,
        )

    def by_means(self, measure: measures.MeansMeasure) -> Floats:
        """Return a measure of the means of every subset."""
        return measure(prefix_means(self.scores, self.sizes, self.weights), self.full_set.means)

    def margins(self) -> Floats:
        """Return the winning margins of every subset, sizes × pairs."""
        return prefix_margins(self.scores, self.sizes)

    def groups(self) -> list[measures.Groups]:
        """Return the significance groups of every subset."""
        weights = np.ones(len(self.scores)) if self.weights is None else self.weights
        return [significance_groups(self.scores[:size], weights=weights[:size]) for size in self.sizes]

    def significance_retained(self, alpha: float) -> Floats:
        """Return the share of the full set's significant pairs that every subset finds."""
        tests = prefix_pair_signed_rank(self.scores, self.sizes)
        return measures.significance_retained_rows(tests, self.full_set.signed_rank, alpha)


def sizes_of(shares: Iterable[float], items: int) -> Ints:
    """Return the subset sizes of shares, rounded down as published but never below one item."""
    shares = list(shares)
    for share in shares:
        if not 0.0 < share <= 1.0:
            raise UsageError(f"The shares of a curve lie above 0 and at most at 1, not at {share}.")
    return np.array([max(1, int(np.floor(items * share + 1e-9))) for share in shares], np.int64)


def curve(
    full_set: FullSet,
    order: Ints | Sequence[int],
    sizes: Sequence[int] | Ints,
    measure: str = SPA,
    *,
    subset_values: Floats | None = None,
    row_weights: Floats | None = None,
) -> AgreementCurve:
    """Measure the agreement of the first k items of an order with the full set, for every k in ``sizes``.

    ``order`` holds row numbers, best first, at least as many as the largest size; ``measure`` is a name from
    ``MEASURES``. Beside the measures of ``Agreement`` there are ``winner_success``, the share of the full
    set's winners of pairs that the subset finds, and ``winner_bias``, by how much it exaggerates their
    winning distance (Ashury Tahan et al. 2024). ``subset_values`` are other scores by which the subsets are
    judged, while the truth stays, and ``row_weights`` other weights of the rows in the order.
    """
    if measure not in MEASURES:
        raise UnknownNameError("measure", measure, MEASURES)
    rows = full_set.checked_rows(order)
    counts = np.asarray(sizes, np.int64)
    if counts.size == 0 or counts.min() < 1 or counts.max() > len(rows):
        raise UsageError(f"The sizes of a curve must lie between 1 and the {len(rows)} items in order.")
    is_full = len(rows) == len(full_set) and subset_values is None and row_weights is None
    ends_in_full = is_full and full_set.method != "analytic"
    if measure == SPA and ends_in_full and "p_values" not in vars(full_set):
        # The last subset of a complete order is the full set: its own test comes with the same pass. (Counts
        # of flips do not depend on the order of summing; the analytic limit does, in its last bits.)
        p_values = _nested_subsets(full_set, rows, np.append(counts, len(full_set)), None, None).p_values()
        vars(full_set)["p_values"] = p_values[-1]
        accuracy = soft_pairwise_accuracy(p_values[:-1], full_set.p_values)
        return AgreementCurve(SPA, counts, accuracy, len(full_set))
    nested = _nested_subsets(full_set, rows[: counts.max()], counts, subset_values, row_weights)
    return AgreementCurve(measure, counts, MEASURES[measure](nested), len(full_set))


def random_order(full_set: FullSet, seed: int) -> Ints:
    """Return the items in an order that depends on their keys and the seed only."""
    return np.argsort(rng.stream(full_set.keys, seed, "random order"), kind="stable")


def random_curve(
    full_set: FullSet,
    sizes: Sequence[int] | Ints,
    seeds: Sequence[int],
    measure: str = SPA,
) -> RandomCurve:
    """Return the mean curve of random selection over seeds, with a 90 % t interval of the mean."""
    if not seeds:
        raise UsageError("A random curve needs at least one seed.")
    orders = (random_order(full_set, seed) for seed in seeds)
    middle, half = mean_and_half_width(
        np.stack([curve(full_set, order, sizes, measure).values for order in orders])
    )
    counts = np.asarray(sizes, np.int64)
    return RandomCurve(measure, counts, middle, len(full_set), middle - half, middle + half, len(seeds))


def mean_and_half_width(runs: Floats) -> tuple[Floats, Floats]:
    """Return the mean over runs (the first axis), half the width of its 90 % t interval; NaN for one run."""
    middle = np.asarray(runs.mean(axis=0))
    if len(runs) < 2:
        return middle, np.full(middle.shape, np.nan)
    quantile = float(special.stdtrit(len(runs) - 1, 0.95))
    return middle, np.asarray(quantile * runs.std(axis=0, ddof=1) / np.sqrt(len(runs)))


def _nested_subsets(
    full_set: FullSet, rows: Ints, sizes: Ints, subset_values: Floats | None, row_weights: Floats | None
) -> _NestedSubsets:
    scores = full_set.subset_scores(subset_values)[rows]
    weights = full_set.weights_of(rows) if row_weights is None else row_weights[: len(rows)]
    return _NestedSubsets(full_set, sizes, scores, full_set.keys[rows], weights)


MEASURES: Mapping[str, Callable[[_NestedSubsets], Floats]] = MappingProxyType(
    {
        SPA: lambda nested: soft_pairwise_accuracy(nested.p_values(), nested.full_set.p_values),
        **{
            name: partial(_NestedSubsets.by_means, measure=each)
            for name, each in measures.MEANS_MEASURES.items()
        },
        "winner_success": lambda nested: mean_success(nested.margins(), nested.full_set.margins),
        "winner_bias": lambda nested: mean_bias(nested.margins(), nested.full_set.margins),
        "groups": lambda nested: np.array([len(groups) for groups in nested.groups()]),
        "top_group_dice": lambda nested: np.array(
            [measures.top_group_dice(groups, nested.full_set.groups) for groups in nested.groups()]
        ),
        "significance_retained_05": lambda nested: nested.significance_retained(0.05),
        "significance_retained_001": lambda nested: nested.significance_retained(0.001),
    }
)


# --- parity: the share of random selection's data that a method needs for the same agreement ---
# For each share of the data, random selection's mean agreement at that share is the target, and the smallest
# budget of the method that reaches it is found: Ĉ/B (Zouhar et al. 2025, eq. 12), averaged over the shares.
#
# Two rules for *reaching* it. ``stays``: the smallest size from which on the curve never falls below the
# target again. ``first_crossing``: the smallest size that is at the target at all, as published; it flatters
# noisy curves, which cross early by luck. Either way a single random order does not need 1.0 of random's
# data on average (its curve is noisier than the mean curve that sets the targets), so results are divided by
# what held-out random orders need.

ParityRule = Literal["stays", "first_crossing"]
_SMALLEST = 5
_DENSE_SIZES = 2_000
_DENSE_RANK_SIZES = 200
_EQUAL = 1e-12
_WITHOUT_A_BETTER_END = frozenset({"winner_bias"})
# A first crossing is looked for in steps of so many sizes; most of a long curve need not be drawn.
_STEP = 48


@dataclass(frozen=True, eq=False, repr=False)
class Parity(Tabular):
    """What a method needs for random selection's agreement."""

    rows_key: ClassVar[str] = "rows"

    # the answer: data needed relative to random selection (0.8: a fifth of the labels saved). NaN when some
    # target is never reached.
    share: float
    raw: float  # the same before dividing by what random orders need themselves
    random_raw: float  # what held-out random orders need on average
    targets: Floats  # random's mean agreement at each share of the data
    target_sizes: Ints  # the sizes of those shares
    sizes: Floats  # the method's sizes that reach the targets (NaN: never)

    def __repr__(self) -> str:
        return f"Parity(share={self.share:.3f}, raw={self.raw:.3f}, random_raw={self.random_raw:.3f})"

    def rows(self) -> list[dict[str, Any]]:
        """Return, for each target, the items that random selection and the method need; None for never."""
        columns = zip(self.target_sizes.tolist(), self.targets.tolist(), self.sizes.tolist(), strict=True)
        return [
            {"random_items": random, "agreement": target, "items": None if math.isnan(size) else size}
            for random, target, size in columns
        ]

    def summary(self) -> Summary:
        """Return the share of random's labels that the method needs, and the sizes behind it."""
        return Summary(
            (f"{self.share:.1%} of random's labels for the same agreement.",),
            ("items, random", "agreement", "items, method"),
            tuple(tuple(map(cell_text, row.values())) for row in self.rows()),
            texts=0,
            method=(
                f"{self.raw:.3f}, divided by the {self.random_raw:.3f} that random orders need themselves.",
            ),
        )

    def to_dict(self) -> dict[str, object]:
        """Return the numbers by name, for JSON: a number that is not defined is None."""
        return dict(nan_as_none(vars(self)))


@dataclass(frozen=True, eq=False)
class RandomParity:
    """Random selection's targets and its own parity, shared by all methods that are compared with it."""

    full_set: FullSet
    measure: str
    rule: ParityRule
    targets: Floats
    target_sizes: Ints
    dense: Ints
    raw: float

    def of(self, order: Ints | Sequence[int]) -> Parity:
        """Return the parity of one order of all items, best first."""
        if len(order) < len(self.full_set):
            raise UsageError(f"Parity needs all {len(self.full_set)} items in order, not {len(order)}.")
        better = -1.0 if self.measure in LOWER_IS_BETTER else 1.0
        targets = better * self.targets
        # The curve, higher is better: all of it, or up to where it first crosses every target.
        step = _STEP if self.rule == "first_crossing" else len(self.dense)
        values = np.empty(0)
        for start in range(0, len(self.dense), step):
            sizes = self.dense[start : start + step]
            part = curve(self.full_set, order, sizes, self.measure)
            values = np.concatenate([values, better * part.values])
            if values.max() >= float(targets.max()) - _EQUAL and self.rule == "first_crossing":
                break
        dense = self.dense[: len(values)]
        reached_at = np.array([parity_size(dense, values, target, self.rule) for target in targets])
        raw = float((reached_at / self.target_sizes).mean())
        return Parity(raw / self.raw, raw, self.raw, self.targets, self.target_sizes, reached_at)


def parity_size(sizes: Ints, values: Floats, target: float, rule: ParityRule = "stays") -> float:
    """Return the smallest size at which a curve (higher is better) reaches a target; NaN when none does."""
    if rule not in get_args(ParityRule):
        raise UnknownNameError("rule", rule, get_args(ParityRule))
    at_target = values >= target - _EQUAL
    if rule == "stays":
        at_target = np.logical_and.accumulate(at_target[::-1])[::-1]
    return float(sizes[int(np.argmax(at_target))]) if at_target.any() else float("nan")


def random_parity(
    full_set: FullSet,
    *,
    measure: str = SPA,
    shares: Sequence[float] = SHARES,
    rule: ParityRule = "stays",
    runs: int = 10,
    seed: int = 0,
) -> RandomParity:
    """Set the targets by ``runs`` random orders, and find what as many held-out random orders need.

    Curves take every size, or 2 000 evenly spaced ones where there are more (200 for groups and significance,
    whose tests rank every subset). ``SMALL_SET_SHARES`` suits sets of about a hundred items. Call ``of`` of
    the result for each method to compare.
    """
    if runs < 1:
        raise UsageError(f"Parity needs at least one random run, not {runs}.")
    if measure in _WITHOUT_A_BETTER_END:
        raise UsageError(f"Parity needs a measure that is better when higher or lower, not {measure}.")
    seeds = rng.seed_list(seed, 2 * runs, "parity")
    target_sizes = sizes_of(shares, len(full_set))
    targets = random_curve(full_set, target_sizes, seeds[:runs], measure).values
    limit = _DENSE_RANK_SIZES if measure in BY_RANK_TESTS else _DENSE_SIZES
    smallest = min(_SMALLEST, int(target_sizes.min()))
    steps = np.linspace(smallest, len(full_set), min(len(full_set) - smallest + 1, limit))
    dense = np.unique(np.rint(steps).astype(np.int64))
    unscaled = RandomParity(full_set, measure, rule, targets, target_sizes, dense, 1.0)
    raw = float(np.mean([unscaled.of(random_order(full_set, held_out)).raw for held_out in seeds[runs:]]))
    return replace(unscaled, raw=raw)
