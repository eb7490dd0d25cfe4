"""``faq_style``: active querying by a factor model, in the manner of Wu, Nair and Candès (2026).

Their history is what earlier models answered on every item. A replay has no earlier models, so the factors
come from the metrics of the models at hand, and the loadings from the labels of all models together: what was
judged of the others predicts each model. Every step draws one item by known probabilities, which mix the two
aims that the paper names: where predictions are unsure, and where a label teaches the model most. The mean
of the steps' unbiased estimates is the score. All models are judged on a drawn item, and the model is fitted
anew after every round, not after every label. It restates the idea, not the authors' code.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple, Self

import numpy as np

from benchmarks.peers.glide import Draw, Glide, Means
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError
from sparingly.base.registry import parameter
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.variables import metric_points, principal
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.strategy import Finished, State

_FACTORS = 5
# The part of every step's probabilities that is the same for all items, so that none is never drawn.
_UNIFORM = 0.2
_LEAST = 1e-12


class Belief(NamedTuple):
    """What the factor model says before a round."""

    predicted: Floats  # items × models
    unsure: Floats  # by item: the standard deviation of a label, mean over models
    teaches: Floats  # by item: the standard deviation of its prediction, which a label would lower


class Steps(NamedTuple):
    """The items in the order in which they were drawn, with what was known at each."""

    rows: Ints
    chance: Floats  # of the item at its step, among those not drawn before
    belief: list[Belief]  # of the round of every step


@dataclass(frozen=True, kw_only=True)
class FaqStyle(Glide):
    """Draws items one after another by a factor model's uncertainty, and corrects its predictions.

    μ̂_j = n⁻¹ Σ_t N⁻¹[Σ_drawn y_ij + Σ_others m_ij + (y_tj − m_tj)/q_t], q_t ∝ ½·unsure + ½·teaches + uniform.
    """

    name: ClassVar[str] = "faq_style"
    reference: ClassVar[str] = "Wu, Nair and Candès 2026 (arXiv 2601.20251)"

    rounds: int = parameter(5, "how often the factor model is fitted", minimum=1)

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Raise MissingDataError without a metric."""
        if not len(data.metrics):
            raise MissingDataError(f"The method {self.name} needs metrics, and the evaluation set has none.")
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read all metrics."""
        return frozenset(map(fields.metric, data.metrics))

    def next_round(self, state: State) -> Chosen | Finished:
        """Draw the steps of one round."""
        before = sum(map(len, state.rounds))
        steps = self._steps(state, state.number)
        rows, chance = steps.rows[before:], steps.chance[before:]
        if not len(rows):
            return Finished("the budget is spent.")
        return Chosen(rows=rows, probability=np.minimum(chance, 1.0), reason="drawn by a factor model")

    def drawn(self, state: State) -> Draw:
        """Return everything that was drawn so far."""
        steps = self._steps(state, len(state.rounds))
        order = np.argsort(steps.rows)
        return Draw(steps.rows[order], steps.chance[order])

    def means(self, state: State, labels: Floats) -> Means:
        """Return the mean over steps of their unbiased estimates."""
        steps, size = self._steps(state, len(state.rounds)), len(labels)
        known = np.where(np.isnan(labels), 0.0, labels)
        estimates = np.empty((len(steps.rows), labels.shape[1]))
        done = np.zeros(size, bool)
        for step, (row, chance, belief) in enumerate(
            zip(steps.rows, steps.chance, steps.belief, strict=True)
        ):
            rest = belief.predicted[~done].sum(axis=0) + known[done].sum(axis=0)
            estimates[step] = (rest + (known[row] - belief.predicted[row]) / chance) / size
            done[row] = True
        mean = estimates.mean(axis=0)
        count = len(estimates)
        return Means(mean, (estimates - mean) / np.sqrt(count * max(count - 1.0, 1.0)))

    def _steps(self, state: State, rounds: int) -> Steps:
        """Draw the first rounds anew; what a round draws follows from the labels of those before."""
        budget, size = state.budget.count_of(len(state.data)), len(state.data)
        count = max(min(self.rounds, budget), 1)
        ends = np.linspace(0, budget, count + 1).round().astype(int)[1:]
        left = np.ones(size, bool)
        rows: list[int] = []
        chances: list[float] = []
        beliefs: list[Belief] = []
        for number in range(min(rounds, count)):
            seen = np.full(state.labels.shape, np.nan)
            seen[rows] = state.labels[rows]
            belief = believed(self._factors(state.data), seen)
            weight = 0.5 * belief.unsure / belief.unsure.mean() + 0.5 * belief.teaches / belief.teaches.mean()
            weight = (1.0 - _UNIFORM) * weight + _UNIFORM
            draws = rng.uniforms(state.data.keys, state.seed, f"{self.name} {number}")
            # Of exponential clocks, an item's is the first by its weight among those that are left.
            clock = np.where(left, -np.log1p(-draws) / weight, np.inf)
            for row in np.argsort(clock)[: max(int(ends[number]) - len(rows), 0)]:
                chances.append(float(weight[row] / weight[left].sum()))
                rows.append(int(row))
                beliefs.append(belief)
                left[row] = False
        return Steps(np.array(rows, np.int64), np.array(chances), beliefs)

    def _factors(self, data: EvalSet) -> Floats:
        points = principal(metric_points(data, tuple(data.metrics)), _FACTORS)
        spread = points.std(axis=0)
        return np.column_stack([np.ones(len(points)), points / np.where(spread > 0, spread, 1.0)])


def believed(factors: Floats, labels: Floats) -> Belief:
    """Return what labels (items × models, NaN where none) and the items' factors say of all items.

    y_ij = f_i·(β + β_j) + e_ij with normal priors: β is what the models have in common. Its ridge, and that
    of every model's difference from it, weigh as much as one label.
    """
    judged = ~np.isnan(labels).any(axis=1)
    if not judged.any():
        return Belief(np.zeros(labels.shape), np.ones(len(labels)), np.ones(len(labels)))
    known, at = labels[judged], factors[judged]
    ridge = np.eye(factors.shape[1])
    ridge[0, 0] = _LEAST
    inverse = np.linalg.inv(at.T @ at + ridge)
    shared = inverse @ at.T @ known.mean(axis=1)
    apart = inverse @ at.T @ (known - (at @ shared)[:, None])
    predicted = factors @ (shared[:, None] + apart)
    squares = ((known - at @ (shared[:, None] + apart)) ** 2).mean(axis=1)
    noise = max(float(squares.mean()), _LEAST)
    # How large residuals are, too, follows the factors.
    by_factors = np.exp(factors @ (inverse @ at.T @ np.log(np.maximum(squares, 0.01 * noise))))
    unsure = np.sqrt(np.clip(by_factors, 0.1 * noise, 10.0 * noise))
    teaches = np.sqrt(noise * np.einsum("ij,jk,ik->i", factors, inverse, factors))
    return Belief(predicted, unsure, np.maximum(teaches, _LEAST))
