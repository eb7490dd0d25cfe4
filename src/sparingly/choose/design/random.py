"""``random``, the simple random sample, and ``guided``, the best of several by a metric."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.correlation import kendall_b
from sparingly.base.stats.pairs import limit_p_values, pair_differences, soft_pairwise_accuracy
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen, ListSelector, Selector, cost_columns, short_groups_note
from sparingly.choose.design.units import quotas
from sparingly.choose.design.variables import field_of
from sparingly.choose.utility.base import metric_scores, resolve_metric
from sparingly.data.evalset import EvalSet

_UNEQUAL = (
    "units of different size were taken until the budget was spent, so no inclusion probabilities are known"
)
_LEFT_OUT = "groups get nothing under this budget, so no inclusion probabilities are given"


@register("random")
@dataclass(frozen=True)
class Random(ListSelector):
    """Draws items (or documents) at random, with equal probabilities within each group.

    π_i = n_g / N_g, the number drawn over the number there is in the item's group. Scores of a random
    sample are unbiased for the whole set. Under a cost, or with documents of different sizes, units are
    taken in random order until the next one does not fit; then no probabilities are given, and none
    either when the budget leaves a group without any item.
    """

    reference: ClassVar[str] = "the baseline of Zouhar et al. 2025, section 3"

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw from every group."""
        units, groups = self.units_of(data, candidates)
        costs, cost_unit = self.costs_of(data)
        draw = rng.uniforms(units.keys, seed, "random")
        order = np.lexsort((units.keys, draw))
        weights = units.sizes if budget.kind != "cost" or costs is None else units.total(costs[units.rows])
        limit, shares = budget.limit_of(float(weights.sum())), self.group_shares(units, groups)
        limits = quotas(limit, groups.totals(weights), shares, integral=budget.kind != "cost")
        mask, counts = np.zeros(len(units), bool), np.zeros(len(groups.names))
        # Units of every group in random order, until the next one does not fit.
        for group, (quota, inside) in enumerate(zip(limits, groups.split(order), strict=True)):
            fits = np.cumsum(weights[inside]) <= quota * (1 + 1e-12)
            mask[inside[fits]] = True
            counts[group] = fits.sum()
        if not mask.any():
            # Whether a budget is too small must not depend on the draw: take the first that fits at all.
            affordable = order[weights[order] <= limit * (1 + 1e-12)]
            if not len(affordable):
                raise UsageError(
                    f"The budget {budget} is too small: the cheapest {self.unit} costs {weights.min():g}."
                )
            mask[affordable[0]] = True
            counts[groups.of_unit[affordable[0]]] = 1
        noun = "cost" if budget.kind == "cost" else "items"
        notes = short_groups_note(groups, np.floor(limit * shares / shares.sum()), limits, noun)
        chosen = order[mask[order]]
        rows, probability = units.rows_of(chosen), None
        # Without a chance to be drawn, a group's items cannot be spoken for by weights.
        empty = int((counts == 0).sum())
        if np.ptp(weights) > 0:
            notes = (*notes, f"{_UNEQUAL}.")
        elif empty:
            notes = (*notes, f"{empty} of {len(counts)} {_LEFT_OUT}.")
        else:
            chances = counts / np.bincount(groups.of_unit, minlength=len(groups.names))
            probability = np.repeat(chances[groups.of_unit[chosen]], units.sizes[chosen].astype(np.int64))
        return Chosen(
            rows=rows,
            probability=probability,
            reason="drawn at random" + (f" in its {self.balance}" if self.balance else ""),
            notes=notes,
            **cost_columns(costs, cost_unit, rows, candidates),
        )


_DECIMALS = 12
_HONEST = (
    "the best of several draws has no inclusion probabilities; cube balances a draw on metrics and has some."
)


@register("guided")
@dataclass(frozen=True)
class Guided(Selector):
    """Draws several samples by a design and takes the one that ranks the models most like all items.

    S = argmax_{t = 1 … k} agreement(S_t, all items) under a metric: soft pairwise accuracy, or Kendall's
    tau-b of the models' means. Choosing among draws undoes their probabilities: the result is for rankings
    only.

    It shows what redrawing a sample until it looks right is worth. To use metrics and keep scores unbiased,
    use ``cube``.
    """

    reference: ClassVar[str] = "Lo and Knowles 2023, section 3.3"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    design: Selector = parameter(help="how samples are drawn")  # noqa: RUF009 - a field
    under: str | None = parameter(None, "the metric; default: the only one there is")
    k: int = parameter(13, "how many samples are drawn", minimum=1)
    agreement: Literal["soft", "kendall"] = parameter(
        "soft", "soft pairwise accuracy, or Kendall's tau-b of the means"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the design and the metric."""
        design = self.design.resolve(data, budget)
        return replace(self, design=design, under=resolve_metric(data, self.under, self.name, "under"))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the design reads, and the metric."""
        return self.design.reads(data) | {field_of(data, self.under or "")}

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw several samples and keep the best."""
        if len(data.models) < 2:
            raise DataError(
                f"The method {self.name} compares models, and there are fewer than two: use uniform."
            )
        draws = [
            self.design.choose(data, budget, candidates, draw_seed)
            for draw_seed in rng.seed_list(seed, self.k, self.name)
        ]
        agreement = np.round(self._agreements(data, draws), _DECIMALS)
        best = draws[int(agreement.argmax())]
        measure = "soft pairwise accuracy" if self.agreement == "soft" else "Kendall's tau-b"
        return replace(
            best,
            utility=None,
            probability=None,
            pool_probability=None,
            reason=f"in the best of {self.k} draws by {self.under}",
            reasons=None,
            notes=(
                f"{measure} against all items by {self.under}: {agreement.max():.4f}, the best of {self.k} "
                f"draws; their median is {np.median(agreement):.4f}.",
                _HONEST,
            ),
        )

    def _agreements(self, data: EvalSet, draws: list[Chosen]) -> list[float]:
        """Return how nearly every sample ranks the models as all items do."""
        scores = metric_scores(data, self.under or "")
        if np.isnan(scores).all():
            raise DataError(f"No item has a score of {self.under}: name another metric with under=.")
        samples = [(_judged(scores, data.models, draw), draw.cluster_weight) for draw in draws]
        if self.agreement == "kendall":
            population_means = _means(scores)
            return [kendall_b(population_means, _means(*sample)) for sample in samples]
        if any(selection.models is not None for selection in draws):
            raise UsageError(
                "Soft pairwise accuracy compares models on the same items: with a draw for every model, take "
                "agreement=kendall."
            )
        population_means = _p_values(scores)
        return [float(soft_pairwise_accuracy(_p_values(*sample), population_means)) for sample in samples]


def _judged(scores: Floats, models: tuple[str, ...], sample: Chosen) -> Floats:
    """Return the scores of a sample, rows × models, NaN where a row does not ask for a model."""
    inside = scores[sample.rows]
    if sample.models is None:
        return inside
    columns = {name: column for column, name in enumerate(models)}
    mask = np.zeros(inside.shape, bool)
    for row, names in enumerate(sample.models):
        mask[row, [columns[name] for name in names or models]] = True
    return np.where(mask, inside, np.nan)


def _means(scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the means of the models, rounded so that the last bits of a sum order nothing."""
    present = ~np.isnan(scores) * (np.ones(len(scores)) if weights is None else weights)[:, None]
    total = present.sum(axis=0)
    sums = (present * np.nan_to_num(scores)).sum(axis=0)
    return rng.round_to_range(np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0))


def _p_values(scores: Floats, weights: Floats | None = None) -> Floats:
    differences = pair_differences(scores, weights)
    return limit_p_values(differences.sum(axis=0), (differences**2).sum(axis=0))
