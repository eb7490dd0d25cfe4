"""What the restated methods of GLIDE have in common: one draw by a metric, and an estimate of each model.

GLIDE estimates one mean of one system. Here all models share the drawn items, their proxies' mean decides the
draw, each is estimated by its own proxy, and covariances between models are added in the same form as its
variances. Like its own, these errors are those of inputs like these, without a finite-population factor.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.variables import scores_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.assemble import Asked
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.pairs import PairErrors, spread_of
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.variance import Errors
from sparingly.run.rounds.strategy import Finished, State, Strategy, merged
from sparingly.run.rounds.wave_estimate import estimate_signature


class Draw(NamedTuple):
    """What was drawn, in the order of the ids."""

    rows: Ints  # the drawn items
    chance: Floats  # the chance of each


class Means(NamedTuple):
    """The models' means, and what every item contributes to their errors (items × models)."""

    scores: Floats
    parts: Floats


@dataclass(frozen=True, kw_only=True)
class Glide(Strategy):
    """One draw by a metric as proxy, judged in one round."""

    needs: ClassVar[tuple[str, ...]] = ("metrics",)
    gives_scores: ClassVar[bool] = True

    metric: str | None = parameter(None, "the proxy; the only metric there is unless given")

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Settle which metric is meant."""
        return replace(self, metric=the_only("metric", self.metric, data.metrics, "Name one: metric=…."))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the metric."""
        return frozenset({fields.metric(self.metric or "")})

    def proxy(self, data: EvalSet) -> Floats:
        """Return the metric, items × models, with a model's mean where there is no score."""
        return scores_of(data, fields.metric(self.metric or ""))

    @abstractmethod
    def drawn(self, state: State) -> Draw:
        """Return what is drawn under the budget."""

    @abstractmethod
    def means(self, state: State, labels: Floats) -> Means:
        """Return the models' means from labels (items × models, NaN where there is none)."""

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw everything at once."""
        if state.rounds:
            return Finished("everything was drawn in one round.")
        draw = self.drawn(state)
        return Chosen(rows=draw.rows, probability=draw.chance, reason="drawn by its proxy")

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the models' scores with errors for inputs like these."""
        if asked.pop("estimator", None) is not None:
            raise UsageError(f"{self.name} estimates in its own way, without estimator=.")
        wanted = Asked(**asked)
        if not state.rounds or np.isnan(state.labels).all():
            raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
        labels = np.where(state.asked, state.labels, np.nan)
        found, sample = self.means(state, labels), _sample(self.drawn(state), labels)
        errors = Errors(
            covariance=found.parts.T @ found.parts,
            freedom=max(len(sample.rows) - 1.0, 0.0),
            units=float(len(sample.rows)),
            shape=found.parts,
            stratum=np.zeros(len(found.parts), np.int64),
            drawn="judged items",
        )
        models, wrong = tuple(state.data.models), errors.standard_errors
        spread = spread_of(models, found.scores, wrong, errors.shape, errors, sample.is_whole)
        made = find_intervals(spread, wanted.level, wanted.interval, wanted.seed)
        return Estimate(
            models=models,
            scores=found.scores,
            standard_errors=spread.errors,
            low=made.low,
            high=made.high,
            intervals=made.kinds,
            covariance=errors.covariance,
            freedom=errors.freedom,
            target=wanted.target,
            level=wanted.level,
            aspect=state.aspect,
            estimator=str(self),
            n=len(sample.rows),
            size=len(state.data),
            outcome=made.outcome,
            notes=made.notes,
            pairs=PairErrors(
                sample, errors, errors, wanted.level, wanted.interval, wanted.seed, sample.is_whole, None
            ),
            selection=merged(state.rounds),
            signature=estimate_signature(state, self, self.reads(state.data), wanted),
        )


def _sample(draw: Draw, labels: Floats) -> Sample:
    count, models = len(draw.rows), labels.shape[1]
    return Sample(
        rows=draw.rows,
        scores=labels[draw.rows],
        probability=np.repeat(draw.chance[:, None], models, axis=1),
        size=len(labels),
        draw=draw.chance,
        unit=np.arange(count),
        stratum=np.zeros(count, np.int64),
        design="glide",
    )
