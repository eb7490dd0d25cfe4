"""``stratified``: so many items from every document, bin of metric scores, or group of a column."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, NamedTuple, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.checks import check_names
from sparingly.base.errors import DataError, MissingDataError, UsageError, listing
from sparingly.base.lazy import special
from sparingly.base.registry import parameter, register
from sparingly.base.syntax import lacking
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
from sparingly.data.evalset import EvalSet, the_only
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


def draw_from_strata(
    view: EvalSet, candidates: Ints, strata: Groups, expected: Floats, seed: int, purpose: str
) -> Chosen:
    """Draw so many candidates of every stratum on average, and note their probabilities."""
    generator = rng.generator(seed, purpose)
    drawn = np.flatnonzero(draw_within(strata, rounded_at_random(expected, generator), generator))
    drawn = drawn[random_order(view.keys[drawn], seed)]
    chances = expected / strata.sizes
    return Chosen(
        rows=candidates[drawn],
        probability=chances[strata.of_unit[drawn]],
        stratum=strata.labels[drawn],
        notes=(chances_note(chances, "item"),),
    )


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
        check_names("metric", metrics, data.metrics)
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
        if costs is not None:
            mean = float(expected @ (strata.totals(costs) / strata.sizes))
            notes = (*notes, *spending.note(greatest_cost(strata, expected, costs), mean))
        chosen = draw_from_strata(view, candidates, strata, expected, seed, self.name)
        chosen = replace(chosen, reason="drawn in its stratum", notes=(*chosen.notes, *notes))
        return replace(chosen, **cost_columns(spending.costs, spending.unit, chosen.rows, candidates))

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
        raise MissingDataError(f"The mean of the metrics needs metrics, {lacking('metrics')}")
    return tuple(data.metrics)


def _numbers(data: EvalSet, name: str) -> Floats:
    """Return a metric's item means, or a column of numbers; what is missing counts as the mean."""
    numbers = item_numbers(data, name)
    if numbers is None or np.isnan(numbers).all():
        raise DataError(f'The column "{name.removeprefix("column:")}" has no numbers, so it has no spread.')
    return with_means(numbers[:, None])[:, 0]


# --- ``verdicts``: what to label to audit a judge, drawn by its verdicts with known probabilities ---


# Outputs of one verdict are cut into so many bands by the judge's score, where it has more than one.
BANDS = 3
# How well the judge is thought to agree with people (tetrachoric).
CORRELATION = 0.7
# No stratum gets less than this part of what a uniform draw would give it.
_LEAST = 0.25
_NO_SCORE = "no score"


@register("verdicts")
@dataclass(frozen=True)
class Verdicts(WholeSetSelector):
    """Draws outputs by a judge's verdict and score, to estimate its error rates most precisely.

    n_h ∝ √a_h. With W_h the share of stratum h among all outputs, v_h its verdict (1 for a pass), p_h its
    share of good outputs, G = Σ W_h p_h and F = 1 − G, the judge's sensitivity is Se = Σ W_h v_h p_h / G and
    its specificity Sp = Σ W_h (1 − v_h)(1 − p_h) / F. Labels of h estimate p_h with variance p_h(1 −
    p_h)/n_h, ∂Se/∂p_h = W_h(v_h − Se)/G and ∂Sp/∂p_h = W_h(Sp − (1 − v_h))/F, so that V(Se) = Σ s_h/n_h and
    V(Sp) = Σ t_h/n_h with s_h = W_h² p_h(1 − p_h)(v_h − Se)²/G² and t_h = W_h² p_h(1 − p_h)(1 − v_h −
    Sp)²/F². Bad outputs are rare, so V(Sp) is much the larger: each is counted relative to what a uniform
    draw gives, a_h = s_h/Σ(s_h/W_h) + t_h/Σ(t_h/W_h), and Σ a_h/n_h is least at n_h ∝ √a_h (Neyman 1934).

    People's labels are not known yet, so p_h is guessed: people and judge pass outputs as if by two normal
    scores that correlate by 0.7, and people pass as many as the judge. A wrong guess costs
    labels; every probability is known, so the pass rate and the error rates stay unbiased.

    Use it where the question is whether a judge can be trusted; for the pass rate alone, ``select`` without a
    method does as well or better.
    """

    kind: ClassVar[str] = "design"
    reference: ClassVar[str] = "Neyman 1934; Rogan and Gladen 1978"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    metric: str | None = parameter(None, "the judge's metric; default: the only one there is")
    cut: float | None = parameter(
        None, "the score from which the judge passes; default: above the middle of its scores"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Name the judge."""
        how = "Name the judge: verdicts:metric=…."
        return replace(self, metric=the_only("metric", self.metric, data.metrics, how))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the judge's scores."""
        return frozenset() if self.metric is None else frozenset({fields.metric(self.metric)})

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from every stratum."""
        view = data.at(candidates)
        strata, expected = self.plan(view, self.count(budget, candidates))
        chosen = draw_from_strata(view, candidates, strata, expected, seed, self.name)
        parts = ", ".join(
            f"{name} {number:.3g} of {size:,.0f}"
            for name, number, size in zip(strata.names, expected, strata.sizes, strict=True)
        )
        notes = (*chosen.notes, f"by the verdict of {self.metric}: {parts}.")
        return replace(chosen, reason="drawn by the judge's verdict", notes=notes)

    def strata_of(self, data: EvalSet, budget: Budget) -> Objects:
        """Return the stratum of every item of a set."""
        return self.plan(data, budget.count_of(len(data)))[0].labels

    def plan(self, data: EvalSet, count: float) -> tuple[Groups, Floats]:
        """Return the strata of a set, and how many items each gives on average."""
        scores = data.metrics[self.metric or ""]
        present = ~np.isnan(scores)
        if not present.any():
            raise DataError(f"{self.metric} has no scores: run the judge first, with sparingly run-judge.")
        threshold = self._cut(scores[present])
        passes = np.where(present, scores >= threshold, False)
        scored_models = np.maximum(present.sum(axis=1), 1)
        # Of several models, an item has the mean verdict and the mean score.
        verdict = passes.sum(axis=1) / scored_models
        score = np.where(present, scores, 0.0).sum(axis=1) / scored_models
        scored = present.any(axis=1)
        # Verdicts, cut into bands of nearly equal size by the score; like scores stay together.
        labels = np.full(len(verdict), _NO_SCORE, object)
        for name, part in (("passed", scored & (verdict > 0.5)), ("failed", scored & (verdict <= 0.5))):
            rows = np.flatnonzero(part)
            if not len(rows):
                continue
            edges = np.unique(np.quantile(score[rows], np.arange(1, BANDS) / BANDS))
            bands = np.searchsorted(edges, score[rows], side="left")
            bands = np.unique(bands, return_inverse=True)[1]
            several = bands.max() > 0
            labels[rows] = [f"{name}, band {band + 1}" if several else name for band in bands]
        strata = groups(labels)
        expected = _good_share(verdict, score, scored, data.keys)
        share = strata.sizes / strata.sizes.sum()
        mean_good, mean_verdict = (
            strata.totals(expected) / strata.sizes,
            strata.totals(verdict) / strata.sizes,
        )
        weights = np.sqrt(_variances(share, mean_verdict, mean_good))
        floor = _LEAST * share * weights.sum()
        return strata, allocation(strata.sizes, np.maximum(weights, floor), count)

    def _cut(self, scores: Floats) -> float:
        if self.cut is not None:
            return self.cut
        above = scores[scores > (scores.min() + scores.max()) / 2.0]
        return float(above.min()) if len(above) else float(scores.max())


def _good_share(verdict: Floats, score: Floats, scored: Mask, keys: rng.Keys) -> Floats:
    """Return how likely people are to pass each item, as guessed: Φ((Φ⁻¹(π) + ρ·z)/√(1 − ρ²)).

    z is the normal score of the item's rank by verdict and score, π the judge's share of passes, at most 95 %
    and at least 5 %, so that both kinds are thought of.
    """
    rank = np.empty(len(verdict))
    rank[np.lexsort((keys, score, verdict))] = np.arange(len(verdict))
    middle = np.where(scored, special.ndtri((rank + 0.5) / len(verdict)), 0.0)
    passes = float(np.clip(verdict[scored].mean(), 0.05, 0.95))
    return np.asarray(
        special.ndtr((special.ndtri(passes) + CORRELATION * middle) / np.sqrt(1.0 - CORRELATION**2))
    )


def _variances(share: Floats, verdict: Floats, good: Floats) -> Floats:
    """Return a_h, what a label of each stratum tells of sensitivity and specificity (see ``Verdicts``)."""
    passed = float(share @ good)
    sensitivity = float((share * verdict) @ good) / passed
    specificity = float((share * (1.0 - verdict)) @ (1.0 - good)) / (1.0 - passed)
    spread = share**2 * good * (1.0 - good)
    parts = (
        spread * (verdict - sensitivity) ** 2 / passed**2,
        spread * (1.0 - verdict - specificity) ** 2 / (1.0 - passed) ** 2,
    )
    return np.asarray(sum(part / max(float((part / share).sum()), 1e-300) for part in parts))
