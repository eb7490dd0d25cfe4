"""``guided``: the best of several draws, by how nearly a metric ranks the models as on all items."""

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
from sparingly.choose.design.base import Chosen, Selector
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.variables import field_of
from sparingly.data.evalset import EvalSet, the_only
from sparingly.signals.length import LENGTHS, length_metric

_DECIMALS = 12
_HONEST = (
    "the best of several draws has no inclusion probabilities; cube balances a draw on metrics and has some."
)


@register("guided")
@dataclass(frozen=True)
class Guided(Selector):
    """Draws several samples by a design and keeps the one that ranks the models most as all items do.

    S = argmax_{t = 1 … k} agreement(S_t, all items) under a metric: soft pairwise accuracy, or Kendall's
    tau-b of the models' means. Choosing among draws undoes their probabilities: the result is for rankings
    only.

    It does what people do who look at a sample and draw again, and shows what that is worth. To use metrics
    and keep honest scores, draw by ``cube``.
    """

    reference: ClassVar[str] = "Lo and Knowles 2023, section 3.3"
    needs: ClassVar[tuple[str, ...]] = ("metrics",)

    design: Selector = parameter(help="how samples are drawn")  # noqa: RUF009 - a field
    under: str | None = parameter(None, "the metric; the only one there is unless given")
    k: int = parameter(13, "how many samples are drawn", minimum=1)
    agreement: Literal["soft", "kendall"] = parameter(
        "soft", "soft pairwise accuracy, or Kendall's tau-b of the means"
    )

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Settle the design and which metric is meant."""
        settled = replace(self, design=self.design.resolve(data, budget))
        if self.under in LENGTHS and self.under not in data.metrics:
            return settled
        how = f"Name one: {self.name}:under=…" if len(data.metrics) else "The method guided needs one."
        return replace(settled, under=the_only("metric", self.under, data.metrics, how))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what the design reads, and the metric."""
        return self.design.reads(data) | {field_of(data, self.under or "")}

    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Draw several samples and keep the best."""
        if len(data.models) < 2:
            raise DataError("Ranking models needs two of them, and there are fewer.")
        draws = [
            self.design.choose(data, budget, candidates, each)
            for each in rng.seed_list(seed, self.k, self.name)
        ]
        agreement = np.round(self._agreements(data, draws), _DECIMALS)
        best = draws[int(agreement.argmax())]
        what = "soft pairwise accuracy" if self.agreement == "soft" else "Kendall's tau-b"
        return replace(
            best,
            utility=None,
            probability=None,
            pool_probability=None,
            reason=f"in the best of {self.k} draws by {self.under}",
            reasons=None,
            notes=(
                f"{what} against all items by {self.under}: {agreement.max():.4f}, the best of {self.k} "
                f"draws; their median is {np.median(agreement):.4f}.",
                _HONEST,
            ),
        )

    def _scores(self, data: EvalSet) -> Floats:
        under = self.under or ""
        scores = data.metrics[under] if under in data.metrics else length_metric(data, under)
        if np.isnan(scores).all():
            raise DataError(f"No item has a score by {under}.")
        return scores

    def _agreements(self, data: EvalSet, draws: list[Chosen]) -> list[float]:
        """Return how nearly every sample ranks the models as all items do."""
        scores = self._scores(data)
        samples = [(_judged(scores, data.models, drawn), drawn.cluster_weight) for drawn in draws]
        if self.agreement == "kendall":
            full = _means(scores)
            return [kendall_b(full, _means(*sample)) for sample in samples]
        if any(drawn.models is not None for drawn in draws):
            raise UsageError(
                "Soft pairwise accuracy compares models on the same items: with a draw for every model, take "
                "agreement=kendall."
            )
        full = _p_values(scores)
        return [float(soft_pairwise_accuracy(_p_values(*sample), full)) for sample in samples]


def _judged(scores: Floats, models: tuple[str, ...], drawn: Chosen) -> Floats:
    """Return the scores of a sample, rows × models, NaN where a row does not ask for a model."""
    inside = scores[drawn.rows]
    if drawn.models is None:
        return inside
    known = {name: column for column, name in enumerate(models)}
    asked = np.zeros(inside.shape, bool)
    for row, names in enumerate(drawn.models):
        asked[row, [known[name] for name in names or models]] = True
    return np.where(asked, inside, np.nan)


def _means(scores: Floats, weights: Floats | None = None) -> Floats:
    """Return the means of the models, rounded so that the last bits of a sum order nothing."""
    there = ~np.isnan(scores) * (np.ones(len(scores)) if weights is None else weights)[:, None]
    total = there.sum(axis=0)
    sums = (there * np.nan_to_num(scores)).sum(axis=0)
    return rng.round_to_range(np.divide(sums, total, out=np.full(len(total), np.nan), where=total > 0))


def _p_values(scores: Floats, weights: Floats | None = None) -> Floats:
    differences = pair_differences(scores, weights)
    return limit_p_values(differences.sum(axis=0), (differences**2).sum(axis=0))
