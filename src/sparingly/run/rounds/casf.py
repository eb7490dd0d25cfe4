"""``casf``: constrained active sampling, batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar, Literal, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.base.stats.moments import row_means
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.run.rounds.casf_learner import Regressor, Unit, predicted_quality, standardised_sum
from sparingly.run.rounds.casf_sampler import first_of_each, least_redundant
from sparingly.run.rounds.strategy import Finished, State, Strategy
from sparingly.signals.overlap.bigrams import bigrams_of

FEWEST = 50
# The learner's random state and the order of ties: fixed, so that the picks follow from the data alone.
FIXED = 0
_SMALL = "the set has fewer than 50 items: Ruan et al. 2024 advise to judge all of them."


@register("casf")
@dataclass(frozen=True, kw_only=True)
class Casf(Strategy):
    """Picks items that cover all levels of predicted quality and repeat each other little, in phases.

    The first phase orders items by a metric; every later one by a learner's prediction, from the metrics, of
    q_i = Σ_j Σ_k z_ijk, the standardised aspects summed over models. The order is cut into as many buckets
    as items are wanted; the first of each is picked, or, with the controller, the nearest to it whose bigram
    redundancy with what is chosen is within the tolerance, else the least redundant.

    A ranking only: the picks follow from the data, whatever the seed, so they have no inclusion probabilities
    and no interval. With ``phases=1`` it is the paper's single-metric (``by=metric``) or eight-metric
    (``by=mean``) baseline, with ``controller=false`` its online sampling.
    """

    reference: ClassVar[str] = "Ruan et al. 2024"
    needs: ClassVar[tuple[str, ...]] = ("metrics", "outputs", "ratings")

    metric: str | None = parameter(
        None, "what orders the items of the first phase; the only metric unless given"
    )
    by: Literal["metric", "mean"] = parameter(
        "metric", "order the first phase by one metric, or by the mean of all standardised ones"
    )
    phases: int = parameter(5, "how many rounds the budget is divided into", minimum=1)
    mode: Literal["average", "preliminary_fixed"] = parameter(
        "average", "rounds of equal size, or a first one of the share preliminary and equal ones after it"
    )
    preliminary: float = parameter(
        0.1, "with mode=preliminary_fixed: the share of all items in the first round"
    )
    regressor: Regressor = parameter("boosting", "what learns")  # noqa: RUF009 - a field
    rows: Unit = parameter("item", "learn from items (all models' metrics) or from single outputs")  # noqa: RUF009
    metrics: tuple[str, ...] = parameter((), "the learner's features; all metrics unless given")
    aspects: tuple[str, ...] = parameter((), "what the learner predicts; the judged aspect unless given")
    controller: bool = parameter(True, "whether redundancy with what is chosen counts")
    tolerance: float = parameter(
        0.0, "the bigram redundancy up to which an item is not redundant", minimum=0.0
    )
    depth: int = parameter(4, "with regressor=boosting: how deep its trees are", minimum=1)
    trees: int = parameter(200, "with regressor=boosting: how many trees it has", minimum=1)

    def __post_init__(self) -> None:
        if not 0.0 < self.preliminary < 1.0:
            raise UsageError(f"In casf, preliminary is a share between 0 and 1, not {self.preliminary:g}.")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Settle the metrics, and say what is missing."""
        names = self.metrics or tuple(data.metrics)
        for name in names:
            the_only("metric", name, data.metrics, "")
        if not names:
            raise MissingDataError("casf learns from metrics, and the evaluation set has none.")
        metric = self.metric
        if self.by == "metric":
            metric = the_only("metric", self.metric, data.metrics, "Name the first phase's: casf:metric=….")
        if self.controller and self.phases > 1 and data.outputs is None:
            raise MissingDataError(
                "The controller of casf compares outputs, and the evaluation set has none: "
                "write casf:controller=false."
            )
        return replace(self, metrics=names, metric=metric)

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metrics, and the outputs for the controller."""
        named = {fields.metric(name) for name in (*self.metrics, *((self.metric,) if self.metric else ()))}
        return frozenset(named | ({"outputs"} if self.controller and self.phases > 1 else set()))

    def label_fields(self, data: EvalSet, aspect: str) -> frozenset[str]:
        """Show the aspects that the learner predicts, beside the one that is judged."""
        more = {name for part in self.aspects for name in data.truth_fields(part)}
        return super().label_fields(data, aspect) | more

    def next_round(self, state: State) -> Chosen | Finished:
        """Order what is left by quality, and pick from every bucket."""
        left = np.flatnonzero(~state.asked.any(axis=1))
        count = min(self._count(state), len(left), state.left // len(state.data.models))
        if count < 1:
            return Finished("the phases of casf are over.")
        quality = self._preliminary(state.data) if state.number == 1 else self._learned(state)
        order = left[rng.order(quality[left], state.data.keys[left], FIXED)]
        notes = (_SMALL,) if len(state.data) < FEWEST and state.number == 1 else ()
        if state.number == 1 or not self.controller:
            picks, why = first_of_each(order, count), "first of its bucket by "
            why += "metric" if state.number == 1 else "predicted quality"
            return Chosen(rows=picks, utility=quality[picks], reason=why, notes=notes)
        assert state.data.outputs is not None  # noqa: S101 - resolve has seen to it
        bigrams = bigrams_of(state.data.outputs)
        chosen = np.flatnonzero(state.asked.any(axis=1))
        picks, redundancy = least_redundant(order, count, chosen, bigrams.similarity, self.tolerance)
        infeasible = int((redundancy > self.tolerance).sum())
        if infeasible:
            notes = (*notes, f"{infeasible} of {count} buckets had no item within the tolerance.")
        return Chosen(
            rows=picks,
            utility=quality[picks],
            reason="least redundant of its bucket by predicted quality",
            notes=notes,
        )

    def _count(self, state: State) -> int:
        """Return how many items the next round has: what is planned up to it less what was asked for."""
        if state.number > self.phases and state.size is None:
            return 0
        if state.size is not None:
            return state.size
        total = state.budget.count_of(len(state.data))
        first = total // self.phases
        if self.mode == "preliminary_fixed" and self.phases > 1:
            first = max(1, int(self.preliminary * len(state.data) + 1e-9))
            if first >= total:
                raise UsageError(
                    f"The first round of casf alone takes {first} items, and the budget is {total}: "
                    "lower preliminary=."
                )
        later = max(self.phases - 1, 1)
        upto = total if self.phases == 1 else first + (total - first) * (state.number - 1) // later
        return upto - int(state.asked.any(axis=1).sum())

    def _preliminary(self, data: EvalSet) -> Floats:
        """Return the items' mean metric, or the mean of their standardised metrics."""
        if self.by == "metric":
            return _known(row_means(data.metrics[self.metric or ""]))
        means = np.stack([_standardised(row_means(data.metrics[name])) for name in self.metrics])
        return np.asarray(means.mean(axis=0))

    def _learned(self, state: State) -> Floats:
        data = state.data
        judged = [data.truth(name) for name in self.aspects] if self.aspects else [state.labels]
        return predicted_quality(
            [data.metrics[name] for name in self.metrics],
            standardised_sum(judged),
            rows=self.rows,
            regressor=self.regressor,
            settings={"depth": self.depth, "trees": self.trees, "seed": FIXED},
        )


def _standardised(means: Floats) -> Floats:
    """Return values of the items standardised, what is missing as 0."""
    spread = float(np.nanstd(means))
    return np.nan_to_num((means - np.nanmean(means)) / spread) if spread else np.zeros(len(means))


def _known(means: Floats) -> Floats:
    """Return values of the items, what is missing as their mean."""
    return np.where(np.isnan(means), np.nanmean(means), means)
