"""``waves``: a uniform pilot, then draws with chances that are learned from the waves before."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Literal, Self

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.base import Chosen
from sparingly.choose.design.budget import Budget
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.result import Estimate
from sparingly.run.rounds.history import waves_of
from sparingly.run.rounds.learned import AUTO, Goal, Sizes, regressor_fields, settled_regressor
from sparingly.run.rounds.state import Finished, State
from sparingly.run.rounds.strategy import Strategy
from sparingly.run.rounds.wave import Wave
from sparingly.run.rounds.wave_draw import (
    CONDITIONAL,
    check_waves,
    draw_wave,
    frame_fields,
    in_pilot,
    sizes_of,
    wave_size,
)
from sparingly.run.rounds.wave_estimate import estimate_waves


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
        """Settle what learns, and refuse what cannot be."""
        check_waves(self, budget)
        if self.draw == "local_pivotal" and not len(data.metrics):
            raise UsageError("local_pivotal spreads draws over metrics, and there are none: draw=pivotal.")
        return replace(self, regressor=settled_regressor(data, self.regressor))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read what predictions are learned from, and what scores are about."""
        own = regressor_fields(data, self.regressor)
        spread = set(map(fields.metric, data.metrics)) if self.draw == "local_pivotal" else set()
        return own | spread | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next wave from what is not labelled."""
        open_rows = np.flatnonzero(~state.asked.any(axis=1))
        count = min(wave_size(self, state), state.left // len(state.data.models), len(open_rows))
        if count < 1:
            return Finished("the budget is spent." if len(open_rows) else "every item was asked for.")
        sizes = self._sizes(state)
        chances = sizes.chances(open_rows, count)
        taken = draw_wave(self.draw, state, open_rows, chances)
        return Chosen(
            rows=open_rows[taken],
            probability=chances[taken],
            utility=None if sizes.tau == 0.0 else sizes.of_item[open_rows][taken],
            reason=_reason(state, sizes.tau),
            notes=(CONDITIONAL,) if state.rounds else (),
        )

    def estimate(self, state: State, **asked: Any) -> Estimate:
        """Return the scores of the whole set from all waves."""
        return estimate_waves(state, self.history(state), self, self.reads(state.data), **asked)

    def history(self, state: State) -> list[Wave]:
        """Return the waves so far, each with what the earlier ones had taught."""
        return waves_of(state, self.regressor)

    def _sizes(self, state: State) -> Sizes:
        """Return the expected sizes of residuals, and how far chances go by them."""
        everyone = np.ones(len(state.data.models), bool)
        if in_pilot(self, state):
            return Sizes(np.ones(len(state.data)), 0.0)
        return sizes_of(self, state, self.history(state), everyone, self.goal)


def _reason(state: State, tau: float) -> str:
    if not state.rounds:
        return "drawn uniformly for the pilot"
    if tau == 0.0:
        return f"drawn uniformly in wave {state.number}: no evidence for unequal chances"
    return f"drawn in wave {state.number}, by the expected size of the residual (tau {tau:g})"
