"""``active_testing``: items drawn one at a time, by how far predictions are expected to be off."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, ratio
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.assemble import assemble
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, document_codes, single_items
from sparingly.run.rounds.strategy import Finished, State, Strategy, asked_cells, merge_rounds
from sparingly.run.rounds.wave_estimate import estimate_request, estimate_signature, missing_note
from sparingly.run.rounds.waves import (
    AUTO,
    Goal,
    frame_fields,
    learn,
    learn_sizes,
    regressor_fields,
    resolve_regressor,
    round_size,
)

# --- LURE: an unbiased mean from items drawn one at a time, each with its own probability ---


def lure_weights(likelier: Floats, size: int) -> Floats:
    """Return v_m = 1 + (N − M)/(N − m)·(1/((N − m + 1)·q_m) − 1) of M items in the order of their draws.

    Each has mean 1 given what was drawn before, so M⁻¹ Σ_m v_m L_m is an unbiased mean of any L over the N
    items (Farquhar, Gal and Rainforth 2021).

    Args:
        likelier: (N − m + 1)·q_m, how many times likelier than in an equal draw the m-th item was, when N − m
            + 1 items were left.
        size: The number N of items.
    """
    count = len(likelier)
    later = size - np.arange(1, count + 1)
    share = ratio(size - count, later)
    return np.asarray(1.0 + share * (1.0 / likelier - 1.0))


def lure_form(sample: JudgedSample, weights: Floats, predicted: Floats) -> LinearForm:
    """Return N⁻¹ Σ_all f_ij + M_j⁻¹ Σ_m v_m (y_mj − f_mj) as a linear form, M_j counts what was judged."""
    counts = sample.judged.sum(axis=0)
    missed = np.where(sample.judged, sample.values - predicted[sample.rows], 0.0)
    raised = missed * (weights * sample.importance)[:, None] / np.maximum(counts, 1)
    unjudged = np.where(counts > 0, 0.0, np.nan)
    return LinearForm(
        fixed=sample.whole_mean(predicted) + unjudged,
        residual=raised * sample.probability * sample.size,
        predicted=predicted,
    )


# --- the strategy ---

_APPROXIMATE = (
    "errors are those of a draw with fixed probabilities, which this was not: they are approximate, and no "
    "interval is printed unless one is asked for."
)


@register("active_testing")
@dataclass(frozen=True, kw_only=True)
class ActiveTesting(Strategy):
    """Draws items one at a time, first those where a surrogate model is likely to be wrong.

    q_m(i) ∝ û_i over the items that are left, û the expected size of what a surrogate misses, and
    μ̂_j = N⁻¹ Σ_all f_ij + M⁻¹ Σ_m v_m (y_mj − f_mj), v_m = 1 + (N − M)/(N − m)·(1/((N − m + 1)·q_m) − 1).
    A pilot is drawn with equal probabilities; the estimate's surrogate f is learned from it and then fixed, û
    is learned anew in every round. The loss that is tested is what predictions miss, so that scores may lie
    on any scale. Unlike ``waves``, no share of the probabilities stays equal.

    Here to compare with: it is unbiased whatever was learned, but the weights of unlikely draws are large.
    ``waves`` hedges, and its errors are known.
    """

    reference: ClassVar[str] = "Kossen et al. 2021; Farquhar, Gal and Rainforth 2021 (LURE)"
    needs: ClassVar[tuple[str, ...]] = ()
    gives_scores: ClassVar[bool] = True

    rounds: int = parameter(5, "the number of rounds, the pilot included", minimum=1)
    pilot: float = parameter(0.3, "the share of the budget that is drawn with equal probabilities first")
    regressor: str | None = parameter(
        AUTO, "what learns: ridge, boosting, knn …; none; auto takes what there is"
    )
    goal: Goal = parameter("scores", "what residuals are about: scores, or differences between models")  # noqa: RUF009

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Choose the regressor; raise UsageError for parameters that do not fit."""
        if not 0.0 < self.pilot <= 1.0:
            raise UsageError(f"The pilot is a share of the budget above 0, such as 0.3, not {self.pilot:g}.")
        return replace(self, regressor=resolve_regressor(data, self.regressor))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the inputs of predictions, and weights and documents."""
        return regressor_fields(data, self.regressor) | frame_fields(data)

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the next items, one at a time."""
        open_rows = np.flatnonzero(~state.asked.any(axis=1))
        total, pilot = state.budget.count_of(len(state.data)), self._pilot_size(state)
        spent = len(state.data) - len(open_rows)
        count = min(round_size(state, self.rounds, pilot), total - spent, len(open_rows))
        if count < 1:
            return Finished(
                "the budget is spent." if len(open_rows) else "every item was judged or assigned."
            )
        sizes = np.ones(len(state.data))
        if spent >= pilot:
            sizes = learn_sizes(
                state.data,
                learn(state.data, state.labels, self.regressor, state.seed),
                np.ones(len(state.data)),
                regressor=self.regressor,
                goal=self.goal,
                tau=1.0,
                models=np.ones(len(state.data.models), bool),
                seed=state.seed,
            ).of_item
        open_sizes = sizes[open_rows]
        order, likelier = _one_at_a_time(open_sizes, count, state.data.keys[open_rows], state)
        reason = (
            "drawn where predictions may be wrong" if np.ptp(open_sizes) else "drawn with equal probabilities"
        )
        return Chosen(rows=open_rows[order], utility=likelier, reason=reason)

    def _pilot_size(self, state: State) -> int:
        return max(1, round(self.pilot * state.budget.count_of(len(state.data))))

    def estimate(self, state: State, **options: Any) -> Estimate:
        """Return the scores of the whole set by LURE; intervals only where their kind is named."""
        request = estimate_request(self, {"interval": "none", **options})
        if not state.rounds or np.isnan(state.labels).all():
            raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
        if any(selection.utility is None for selection in state.rounds):
            raise UsageError(
                "A round without utilities was not drawn by active_testing: nothing can be weighted."
            )
        rows = np.concatenate([state.data.positions(selection.items) for selection in state.rounds])
        likelier = np.concatenate([np.asarray(selection.utility) for selection in state.rounds])
        # In the order of their ids.
        order = np.argsort(rows)
        rows, weights = rows[order], lure_weights(likelier, len(state.data))[order]
        # Probabilities M/(N·v), so that each item has the weight that it has in the mean.
        chance = np.minimum(1.0, len(rows) / (len(state.data) * np.maximum(weights, 1e-12)))
        sample = single_items(
            *(rows, state.labels[rows], chance[:, None], len(state.data)),
            weights=state.data.importance,
            document=document_codes(state.data),
            design="active_testing",
        )
        form = lure_form(sample, weights, self._surrogate(state))
        result = assemble(sample, form, state.data.models, request, aspect=state.aspect, estimator=str(self))
        return replace(
            result,
            notes=(
                *missing_note(int((~sample.judged).sum())),
                *result.notes,
                *(() if sample.is_complete else (_APPROXIMATE,)),
            ),
            selection=merge_rounds(state.rounds),
            signature=estimate_signature(state, self, self.reads(state.data), request),
        )

    def _surrogate(self, state: State) -> Floats:
        """Return predictions of every cell from the pilot, of its own items from its other folds."""
        pilot = self._pilot_size(state)
        count, cells = 0, np.zeros(state.data.shape, bool)
        for selection in state.rounds:
            if count >= pilot:
                break
            count, cells = count + len(selection), cells | asked_cells(state.data, [selection])
        return learn(state.data, np.where(cells, state.labels, np.nan), self.regressor, state.seed).predicted


def _one_at_a_time(sizes: Floats, count: int, keys: rng.Keys, state: State) -> tuple[Ints, Floats]:
    """Draw without replacement by size; return the order, and each draw's probability over an equal one.

    Waiting times e_i/u_i with e exponential end in the order of such draws (Efraimidis and Spirakis 2006).
    """
    waits = -np.log1p(-rng.uniforms(keys, state.seed, f"active testing {state.number}")) / sizes
    order = np.lexsort((keys, waits))[:count]
    drawn_sizes = sizes[order]
    remaining = float(sizes.sum()) - np.concatenate([[0.0], np.cumsum(drawn_sizes)[:-1]])
    open_items = len(sizes) - np.arange(count)
    return order, np.asarray(drawn_sizes * open_items / np.maximum(remaining, drawn_sizes))
