"""``waves``: a uniform pilot, then draws with chances that are learned from the waves before."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Protocol, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.draws import draw_local_pivotal, draw_pivotal
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import metric_points, principal
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.intervals import FEWEST_UNITS
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.learning import (
    AUTO,
    ExpectedSizes,
    Goal,
    learn,
    learn_sizes,
    regressor_fields,
    resolve_regressor,
    waves_of,
)
from sparingly.run.rounds.strategy import Finished, State, Strategy
from sparingly.run.rounds.wave_estimate import Wave, combine, estimate_waves

CONDITIONAL = "chances are those of this wave, among what no earlier wave asked for."
_DIMENSIONS = 5


class _InWaves(Protocol):
    """What strategies that draw in waves share; their parameters say what these are."""

    @property
    def name(self) -> str: ...
    @property
    def waves(self) -> int: ...
    @property
    def pilot(self) -> float: ...
    @property
    def tau(self) -> float | None: ...
    @property
    def regressor(self) -> str | None: ...


def check_waves(method: _InWaves, budget: Budget) -> None:
    """Raise UsageError for a pilot or tau out of range, and for a budget in costs."""
    if not 0.0 < method.pilot <= 1.0:
        raise UsageError(f"The pilot is a share of the budget above 0, such as 0.3, not {method.pilot:g}.")
    if method.tau is not None and not 0.0 <= method.tau < 1.0:
        raise UsageError(f"tau is a share from 0 (equal chances) to below 1, not {method.tau:g}.")
    if budget.kind == "cost":
        raise UsageError(f"The strategy {method.name} counts items: give a number or a share, not a cost.")


def frame_fields(data: EvalSet) -> frozenset[str]:
    """Return the columns that estimates need: weights and documents."""
    return frozenset(fields.column(name) for name in (fields.DOCUMENT, fields.WEIGHT) if name in data.columns)


def pilot_size(method: _InWaves, state: State) -> int:
    """Return the number of items of the pilot: ten at least, where the budget has them, for an interval."""
    items = state.limit // len(state.data.models)
    return max(1, round(method.pilot * state.limit / len(state.data.models)), min(FEWEST_UNITS, items))


def in_pilot(method: _InWaves, state: State) -> bool:
    """Say whether the pilot is not yet complete."""
    return bool(state.asked.any(axis=1).sum() < pilot_size(method, state)) or method.waves == 1


def draw_wave(design: str, state: State, rows: Ints, chances: Floats, part: int | None = None) -> Mask:
    """Draw some of the rows, each with its chance, as many as the chances add up to."""
    keys = (str(state.number), *(() if part is None else (str(part),)))
    generator = rng.generator(state.seed, "wave", *keys)
    if design == "pivotal":
        return draw_pivotal(chances, generator)
    points = principal(metric_points(state.data, tuple(state.data.metrics)), _DIMENSIONS)
    return draw_local_pivotal(chances, points[rows], generator)


def sizes_of(
    method: _InWaves, state: State, history: Sequence[Wave], models: Mask, goal: Goal
) -> ExpectedSizes:
    """Return the sizes of residuals that all labels so far let expect."""
    predictions = learn(state.data, state.labels, method.regressor, state.seed)
    stands = combine(history, state.labels, state.data.importance).stands_for
    of_item = np.where(models[None, :], stands, 0.0).sum(axis=1) / max(int(models.sum()), 1)
    return learn_sizes(
        state.data,
        predictions,
        of_item,
        regressor=method.regressor,
        goal=goal,
        tau=method.tau,
        models=models,
        seed=state.seed,
    )


@register("waves")
@dataclass(frozen=True, kw_only=True)
class Waves(Strategy):
    """A uniform pilot, then waves that prefer the items on which predictions were found to be far off.

    Wave k draws S_k from what is not yet labelled, U_k, with π_i = (1 − τ)·n_k/|U_k| + τ·κ·û_i: û is the
    expected size of item i's residual, learned (cross-fitted, shrunk) from earlier waves, and τ is found on
    what is labelled, 0 without evidence. μ̂⁽ᵏ⁾ = N⁻¹ [Σ_L y + Σ_U f + Σ_S (y − f)/π], with predictions f
    of earlier waves, and μ̂ = Σ_k w_k μ̂⁽ᵏ⁾ with w_k ∝ n_k/(|U_k|(|U_k| − n_k)), fixed by the sizes.

    Use it when people judge in batches and scores of the whole set are wanted at any time: it is unbiased
    whatever was learned, equals simple random sampling when nothing was, and gives the independent increments
    that stopping rules need.
    """

    needs: ClassVar[tuple[str, ...]] = ()
    reference: ClassVar[str] = "Zrnic and Candès 2024; Särndal, Swensson and Wretman 1992, chapter 6"
    gives_scores: ClassVar[bool] = True

    waves: int = parameter(4, "the number of waves, the pilot included", minimum=1)
    pilot: float = parameter(0.3, "the share of the budget that is drawn uniformly first")
    regressor: str | None = parameter(
        AUTO, "what learns: ridge, boosting, knn …; none; auto takes what there is"
    )
    goal: Goal = parameter("ranking", "whether differences of models count, or scores")  # noqa: RUF009
    tau: float | None = parameter(None, "the share of chances by size; found on the labels unless given")
    draw: Literal["pivotal", "local_pivotal"] = parameter(
        "pivotal", "how items are drawn; local_pivotal spreads them over the metrics"
    )

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Choose the regressor; raise UsageError for parameters that do not fit."""
        check_waves(self, budget)
        if self.draw == "local_pivotal" and not len(data.metrics):
            raise UsageError("local_pivotal spreads draws over metrics, and there are none: draw=pivotal.")
        return replace(self, regressor=resolve_regressor(data, self.regressor))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the inputs of predictions, and weights and documents."""
        used = regressor_fields(data, self.regressor)
        spread = set(map(fields.metric, data.metrics)) if self.draw == "local_pivotal" else set()
        return used | spread | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next wave from the items without labels."""
        models = len(state.data.models)
        open_rows = np.flatnonzero(~state.asked.any(axis=1))
        total = state.limit // models
        if state.size is not None:
            size = state.size
        elif self.waves == 1:
            size = total
        elif not state.rounds:
            size = pilot_size(self, state)
        else:
            # An equal part of the rest.
            remaining = total - (len(state.data) - len(open_rows))
            size = max(1, -(-remaining // max(self.waves - len(state.rounds), 1)))
        count = min(size, state.left // models, len(open_rows))
        if count < 1:
            return Finished("the budget is spent." if len(open_rows) else "every item was asked for.")
        sizes = ExpectedSizes(np.ones(len(state.data)), 0.0)
        if not in_pilot(self, state):
            sizes = sizes_of(self, state, self.history(state), np.ones(models, bool), self.goal)
        chances = sizes.chances(open_rows, count)
        drawn_rows = draw_wave(self.draw, state, open_rows, chances)
        reason = f"drawn in wave {state.number}, by the expected size of the residual (tau {sizes.tau:g})"
        if not state.rounds:
            reason = "drawn uniformly for the pilot"
        elif sizes.tau == 0.0:
            reason = f"drawn uniformly in wave {state.number}: no evidence for unequal chances"
        return Chosen(
            rows=open_rows[drawn_rows],
            probability=chances[drawn_rows],
            utility=None if sizes.tau == 0.0 else sizes.of_item[open_rows][drawn_rows],
            reason=reason,
            notes=(CONDITIONAL,) if state.rounds else (),
        )

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set from all waves."""
        return estimate_waves(state, self.history(state), self, self.reads(state.data), **options)

    def history(self, state: State) -> list[Wave]:
        """Return the waves so far, each with predictions from the earlier ones."""
        return waves_of(state, self.regressor)
