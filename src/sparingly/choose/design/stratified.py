"""``stratified``: so many items from every document, bin of metric scores, or group of a column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError, listing
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.documents import Spending, check_enough, document_chances, importance_note
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.selector import (
    COST_HELP,
    Chosen,
    WholeSetSelector,
    chances_note,
    cost_columns,
    cost_to_count,
    remembered,
)
from sparingly.choose.design.units import Groups, places_within, quotas, random_order
from sparingly.choose.design.variables import (
    METRICS,
    column_labels,
    field_of,
    importance,
    is_column,
    item_numbers,
    metric_points,
    resolve_names,
    scores_of,
    with_means,
)
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.signals.cost import cost_fields

# What a stratum without any spread, or without importance, counts beside the largest: next to nothing.
_NEXT_TO_NOTHING = 1e-9


def groups(labels: Objects) -> Groups:
    """Return items of one label as one stratum, in the order of the labels."""
    names, of_row = np.unique(labels.astype(str), return_inverse=True)
    return Groups(tuple(str(name) for name in names), of_row.astype(np.int64))


def bins(values: Floats, keys: rng.Keys, size: int) -> Groups:
    """Return items in the order of a value, cut into bins of as nearly ``size`` items as equal bins allow."""
    count = max(1, round(len(values) / size))
    ranks = np.empty(len(values), np.int64)
    # Lowest first; the seed of ties is fixed, so that the strata do not depend on that of the draw.
    ranks[rng.order(-values, keys, seed=0)] = np.arange(len(values))
    width = len(str(count))
    names = tuple(f"bin {place:0{width}d} of {count}" for place in range(1, count + 1))
    return Groups(names, ranks * count // len(values))


def allocation(sizes: Floats, weights: Floats, count: float, costs: Floats | None = None) -> Floats:
    """Return n_l = min(N_l, t·w_l), the expected number of items of every stratum, with Σ n_l = n.

    w_l = N_l is proportional allocation and w_l = N_l·σ_l the optimal one (Neyman 1934; Saldías et al. 2022,
    eq. 2). A stratum that is to give more than it has gives all, and what is left goes to the others, the
    worst stratum first: fixing all of them at once comes to the same.

    With ``costs``, the totals C_l of the strata, the expected cost Σ_l n_l·C_l/N_l is the budget ``count``.
    Then the best w_l is N_l·σ_l/√(C_l/N_l) (Cochran 1977, section 5.5), which is for the caller to give.
    """
    positive = np.maximum(weights, _NEXT_TO_NOTHING * float(weights.max(initial=0.0)))
    shares = positive if positive.any() else sizes
    if costs is None:
        return quotas(float(count), sizes, shares, integral=False)
    return np.asarray(sizes * document_chances(shares / sizes, costs, count))


def greatest_cost(strata: Groups, expected: Floats, costs: Floats) -> float:
    """Return the most that a draw can cost that takes ⌊n_l⌋ or ⌈n_l⌉ items of stratum l, ⌈Σ n_l⌉ in all."""
    order = np.lexsort((-costs, strata.of_unit))
    sizes = strata.sizes.astype(np.int64)
    place = places_within(sizes)
    low = np.floor(expected + 1e-9)
    sure = float(costs[order][place < np.repeat(low, sizes)].sum())
    fraction = np.clip(expected - low, 0.0, 1.0)
    next_dearest = costs[order][(place == np.repeat(low, sizes)) & np.repeat(fraction > 1e-9, sizes)]
    return sure + float(np.sort(next_dearest)[::-1][: int(np.ceil(fraction.sum() - 1e-6))].sum())


def rounded_at_random(expected: Floats, generator: np.random.Generator) -> Ints:
    """Return whole numbers next to the expected ones, with these as expectations and the same sum.

    Controlled rounding: fractions meet in the order of the strata, so that neighbours make up for each other.
    """
    low = np.floor(expected + 1e-9)
    raised = draw_pivotal(np.clip(expected - low, 0.0, 1.0), generator, np.arange(len(expected)))
    return np.asarray(low + raised, np.int64)


def rounded_as_published(expected: Floats, sizes: Floats) -> Floats:
    """Return the whole numbers n′_l ≤ N_l with the same sum that minimise Σ_l |n_l − n′_l|.

    They are the largest fractions rounded up (Saldías et al. 2022, section 2.1).
    """
    return quotas(round(float(expected.sum())), sizes, expected, integral=True)


def without_empty(strata: Groups, counts: Floats) -> tuple[Groups, Floats, tuple[str, ...]]:
    """Merge every stratum that gives no item with the nearest that gives one, and name those merged.

    Nearest is by the order of the strata, of two as near ones the earlier.
    """
    nonempty = np.flatnonzero(counts > 0)
    places = np.arange(len(counts))
    after = np.searchsorted(nonempty, places).clip(max=len(nonempty) - 1)
    previous = (after - 1).clip(min=0)
    is_before = np.abs(places - nonempty[previous]) <= np.abs(nonempty[after] - places)
    host = np.where(counts > 0, after, np.where(is_before, previous, after))
    more = np.bincount(host, minlength=len(nonempty)) - 1
    names = tuple(
        f"{strata.names[place]} and {merged} more" if merged else strata.names[place]
        for place, merged in zip(nonempty, more, strict=True)
    )
    lost = tuple(name for name, count in zip(strata.names, counts, strict=True) if count == 0)
    return Groups(names, host[strata.of_unit]), counts[nonempty], lost


def draw_within(strata: Groups, counts: Ints, generator: np.random.Generator) -> Mask:
    """Draw so many items of every stratum, all samples equally likely."""
    shuffled = generator.permutation(len(strata.of_unit))
    order = shuffled[np.argsort(strata.of_unit[shuffled], kind="stable")]
    sizes = strata.sizes.astype(np.int64)
    chosen = np.zeros(len(order), bool)
    chosen[order] = places_within(sizes) < np.repeat(counts, sizes)
    return chosen


# A stratum whose metric scores are all alike still has residuals: it counts as a tenth of the usual spread.
_LEAST_SPREAD = 0.1
_ADVICE = (
    "optimal allocation goes by the spread of {what}, which stands in for that of the scores: in "
    "Saldías et al. 2022, Table 1, it was worse than a random sample, and allocation=proportional was better."
)


class StrataPlan(NamedTuple):
    """The strata, the number of items each gives on average, and what to say of them."""

    strata: Groups
    expected: Floats
    notes: tuple[str, ...]


@register("stratified")
@dataclass(frozen=True)
class Stratified(WholeSetSelector):
    """Draws a set number of items from each stratum: a document, a bin of metric scores, or a column's group.

    π_i = E n_l / N_l with n_l = n·N_l/N (``proportional``) or n_l = n·N_l σ_l / Σ_l N_l σ_l (``optimal``); a
    stratum that is to give more than it has gives all, and the others share the rest. Fractions are rounded
    at random, with n_l as the expectation; ``rounding=published`` rounds the largest up and merges strata
    that are left without an item with the nearest. Under a cost Σ_l n_l c̄_l is the budget, c̄_l the mean cost
    in the stratum, and the optimal n_l are proportional to N_l σ_l/√c̄_l.

    Choose it with proportional allocation: differences between documents or bins then add no error, and it
    costs next to nothing. The optimal form needs the σ_l of the residuals, which
    metrics do not show.
    """

    kind: ClassVar[str] = "design"
    reference: ClassVar[str] = "Saldías et al. 2022, section 2.1, eq. 1, 2; Neyman 1934"
    needs: ClassVar[tuple[str, ...]] = ("what its strata need",)

    by: str | None = parameter(
        None,
        "the strata: document, metrics (bins of their mean), a column, or bins of a metric or a length; "
        "documents where there are some, else metrics, unless given",
    )
    allocation: Literal["proportional", "optimal"] = parameter(
        "proportional", "items by the size of a stratum, or by its size times its spread"
    )
    spread: str | None = parameter(
        None,
        "with allocation=optimal: what σ is the deviation of, a metric or a column of predictions; the mean "
        "of the metrics unless given",
    )
    residual: str | None = parameter(
        None, "with allocation=optimal, in place of spread: a column of expected residuals, σ² = mean r²"
    )
    rounding: Literal["random", "published"] = parameter(
        "random", "how a stratum's fraction of an item is rounded"
    )
    size: int = parameter(80, "how many items a bin has", minimum=1)
    metrics: tuple[str, ...] = parameter((), "what the mean of the metrics is made of; default: all")
    weights: str | None = parameter(None, "a column of importance: it counts in place of the number of items")
    cost: str | None = parameter(None, COST_HELP)

    def __post_init__(self) -> None:
        super().__post_init__()
        has_spread = self.spread is not None or self.residual is not None
        if has_spread and self.allocation == "proportional":
            raise UsageError("In stratified, spread and residual go with allocation=optimal.")
        if self.spread is not None and self.residual is not None:
            raise UsageError("In stratified, σ comes from spread or from residual: leave out one of them.")

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the strata, the spread and the cost."""
        by, spread, metrics = self.by or _usual(data), self.spread, self.metrics
        if by != METRICS:
            by = resolve_names(data, [by])[0]
        if self.allocation == "optimal" and self.residual is None and spread != METRICS:
            spread = METRICS if spread is None else resolve_names(data, [spread])[0]
        for name in metrics:
            if name not in data.metrics:
                raise UnknownNameError("metric", name, data.metrics)
        if METRICS in (by, spread):
            metrics = metrics or _all(data)
        elif metrics:
            raise UsageError("In stratified, metrics= goes with by=metrics or allocation=optimal.")
        cost = cost_to_count(data, budget, self.cost)
        return replace(self, by=by, spread=spread, metrics=metrics, cost=cost)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what makes the strata and their spread, the importance and the costs."""
        names = [name for name in (self.by, self.spread) if name is not None]
        columns = {field_of(data, name) for name in names if name != METRICS}
        if METRICS in names:
            columns |= set(map(fields.metric, self.metrics))
        columns |= {fields.column(name) for name in (self.residual, self.weights) if name is not None}
        columns |= frozenset() if self.cost is None else cost_fields(self.cost)
        return frozenset(columns & set(data.fields))

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from every stratum."""
        view = data.at(candidates)
        spending = Spending.from_budget(data, budget, self.cost, candidates)
        costs = spending.charges if spending.by_cost else None
        strata, expected, notes = self.plan(view, spending.limit, costs)
        generator = rng.generator(seed, self.name)
        counts = rounded_at_random(expected, generator)
        chosen = np.flatnonzero(draw_within(strata, counts, generator))
        chosen = chosen[random_order(view.keys[chosen], seed)]
        chances = expected / strata.sizes
        if costs is not None:
            mean = float(expected @ (strata.totals(costs) / strata.sizes))
            notes = (*notes, *spending.note(greatest_cost(strata, expected, costs), mean))
        return Chosen(
            rows=candidates[chosen],
            probability=chances[strata.of_unit[chosen]],
            stratum=strata.labels[chosen],
            reason="drawn in its stratum",
            notes=(chances_note(chances, "item"), *notes),
            **cost_columns(spending.costs, spending.unit, candidates[chosen], candidates),
        )

    def strata_of(self, data: EvalSet, budget: Budget) -> Objects:
        """Return the stratum of every item of a set, as the draw under a budget has them."""
        spending = Spending.from_budget(data, budget, self.cost, np.arange(len(data)))
        return self.plan(data, spending.limit, spending.charges if spending.by_cost else None).strata.labels

    def plan(self, data: EvalSet, count: float, costs: Floats | None = None) -> StrataPlan:
        """Return the strata of a set, and how many items each gives on average.

        ``count`` is a number of items or, where ``costs`` of the items are given, the expected cost.
        """
        by = self.by or _usual(data)
        if by != METRICS and is_column(data, by):
            strata, kind = groups(column_labels(data, by)), f"by {by.removeprefix('column:')}"
        else:
            values = self._mean_metric(data) if by == METRICS else scores_of(data, by).mean(axis=1)
            strata = bins(np.asarray(values), data.keys, self.size)
            noun = "the mean of the metrics" if by == METRICS else by.removeprefix("metric:")
            kind = f"of {strata.sizes.min():.0f} items or more, in the order of {noun}"
        notes = [f"{len(strata.names)} strat{'um' if len(strata.names) == 1 else 'a'} {kind}."]
        weights, weight_notes = self._weights(data, strata)
        notes += weight_notes
        if costs is None:
            expected = allocation(strata.sizes, weights, count)
        else:
            totals = strata.totals(costs)
            if self.allocation == "optimal":
                means = totals / strata.sizes
                # What is free would ask for infinitely much.
                weights = weights / np.sqrt(np.maximum(means, 1e-9 * float(means.max())))
            expected = allocation(strata.sizes, weights, count, totals)
            check_enough(expected, count, "item", by_cost=True)
        if self.rounding == "published":
            counts = rounded_as_published(expected, strata.sizes)
            strata, expected, lost = without_empty(strata, counts)
            if lost:
                notes.append(
                    f"merged: rounding left {len(lost)} of {len(lost) + len(strata.names)} strata without an "
                    f"item, and each was merged with the nearest: {listing(lost, 3)}."
                )
        return StrataPlan(strata, expected, tuple(notes))

    def _mean_metric(self, data: EvalSet) -> Floats:
        names = self.metrics or _all(data)

        def mean() -> Floats:
            return np.asarray(sum(metric_points(data, (name,)).mean(axis=1) for name in names) / len(names))

        return remembered(data, ("mean metric", names), mean)

    def _weights(self, data: EvalSet, strata: Groups) -> tuple[Floats, list[str]]:
        """Return what the strata's numbers of items are proportional to, and what to say of it."""
        sizes, notes = strata.sizes, []
        if self.weights is not None:
            sizes = strata.totals(importance(data, self.weights))
            notes.append(importance_note(self.weights))
        if self.allocation == "proportional":
            return sizes, notes
        if self.residual is not None:
            residuals = _numbers(data, fields.column(self.residual))
            return sizes * np.sqrt(strata.totals(residuals**2) / strata.sizes), notes
        spread = self.spread or METRICS
        values = self._mean_metric(data) if spread == METRICS else _numbers(data, spread)
        noun = "the metrics" if spread == METRICS else spread.partition(":")[2] or spread
        notes.append(_ADVICE.format(what=noun))
        deviations = strata.deviations(values)
        if self.rounding != "published":
            # No stratum has σ = 0, and one of a single item has the mean.
            several = strata.sizes > 1
            mean = float(deviations[several].mean()) if several.any() else 1.0
            deviations = np.where(several, np.maximum(deviations, _LEAST_SPREAD * mean), mean)
        return sizes * deviations, notes


def _usual(data: EvalSet) -> str:
    """Return what strata are unless something is named: documents, or bins of the metrics."""
    if fields.DOCUMENT in data.columns:
        return fields.column(fields.DOCUMENT)
    if len(data.metrics):
        return METRICS
    raise MissingDataError("Strata need documents, metrics or a column: name one with by=….")


def _all(data: EvalSet) -> tuple[str, ...]:
    if not len(data.metrics):
        raise MissingDataError(
            "The mean of the metrics needs metrics, and the evaluation set has none: name a column."
        )
    return tuple(data.metrics)


def _numbers(data: EvalSet, name: str) -> Floats:
    """Return a metric's item means, or a column of numbers; what is missing counts as the mean."""
    numbers = item_numbers(data, name)
    if numbers is None or np.isnan(numbers).all():
        raise DataError(f'The column "{name.removeprefix("column:")}" has no numbers, so it has no spread.')
    return with_means(numbers[:, None])[:, 0]
