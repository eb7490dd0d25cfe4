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

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, UsageError
from sparingly.base.registry import parameter
from sparingly.choose.design import stratified as kernels
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.choose.design.selector import Chosen
from sparingly.choose.design.units import Groups, quotas
from sparingly.choose.design.variables import scores_of
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, the_only
from sparingly.infer.estimate.assemble import EstimateRequest
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.pairs import PairErrors, interval_basis
from sparingly.infer.estimate.result import Estimate
from sparingly.infer.estimate.sample import JudgedSample
from sparingly.infer.estimate.variance import ScoreErrors
from sparingly.run.rounds.strategy import Finished, State, Strategy, merge_rounds
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
        wanted = EstimateRequest(**asked)
        if not state.rounds or np.isnan(state.labels).all():
            raise DataError("No judgement has come in yet, so there is nothing to estimate from.")
        labels = np.where(state.asked, state.labels, np.nan)
        found, sample = self.means(state, labels), _sample(self.drawn(state), labels)
        errors = ScoreErrors(
            covariance=found.parts.T @ found.parts,
            freedom=max(len(sample.rows) - 1.0, 0.0),
            units=float(len(sample.rows)),
            shape=found.parts,
            stratum=np.zeros(len(found.parts), np.int64),
            unit_name="judged items",
        )
        models = tuple(state.data.models)
        spread = interval_basis(models, found.scores, errors, sample.is_complete)
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
                sample, errors, errors, wanted.level, wanted.interval, wanted.seed, sample.is_complete, None
            ),
            selection=merge_rounds(state.rounds),
            signature=estimate_signature(state, self, self.reads(state.data), wanted),
        )


def _sample(draw: Draw, labels: Floats) -> JudgedSample:
    count, models = len(draw.rows), labels.shape[1]
    return JudgedSample(
        rows=draw.rows,
        scores=labels[draw.rows],
        probability=np.repeat(draw.chance[:, None], models, axis=1),
        size=len(labels),
        draw=draw.chance,
        unit=np.arange(count),
        stratum=np.zeros(count, np.int64),
        design="glide",
    )


# No proxy is surer than this: with a chance of 0 nothing could be said of an item.
_LEAST = 0.05


@dataclass(frozen=True, kw_only=True)
class GlideActive(Glide):
    """Draws items by how unsure the proxy is, and corrects its mean by what was drawn.

    ξ_i ~ Bernoulli(π_i), π_i = min(1, κ·u_i) with Σ π_i = n, and
    μ̂_j = K⁻¹ Σ_i [λ_j f_ij + ξ_i (y_ij − λ_j f_ij)/π_i], λ_j = Cov(f(ξ/π − 1), y·ξ/π)/Var(f(ξ/π − 1)). Items
    are met in random order, and once n are drawn the rest is left out of everything, K counts the items met.
    A metric does not tell how unsure it is: u_i is the mean over models of √(f(1 − f)), f scaled to 0–1, as
    for a chance of success.
    """

    name: ClassVar[str] = "glide_active"
    reference: ClassVar[str] = "GLIDE 0.10 (ActiveSampler, ASIMeanEstimator); Zrnic and Candès 2024"

    def drawn(self, state: State) -> Draw:
        """Draw every item by itself, and leave out what is beyond the budget."""
        chances = self._chances(state)
        met = self._met(state)
        taken = np.sort(met[self._draws(state)[met] < chances[met]])
        return Draw(taken, chances[taken])

    def means(self, state: State, labels: Floats) -> Means:
        """Return the mean of the rectified labels over the items that were met."""
        met = np.sort(self._met(state))
        there = ~np.isnan(labels[met])
        raised = there / self._chances(state)[met][:, None]
        proxy, known = self.proxy(state.data)[met], np.where(there, labels[met], 0.0)
        noise, answers = proxy * (raised - 1.0), known * raised
        away = noise - noise.mean(axis=0)
        varied = (away**2).sum(axis=0)
        slope = np.divide((away * answers).sum(axis=0), varied, out=np.zeros(len(varied)), where=varied > 0)
        # λ f + ξ (y − λ f)/π
        rectified = answers - slope * noise
        count = len(met)
        mean = rectified.mean(axis=0)
        return Means(mean, (rectified - mean) / np.sqrt(count * max(count - 1.0, 1.0)))

    def _chances(self, state: State) -> Floats:
        proxy = self.proxy(state.data)
        low, spread = float(proxy.min()), float(np.ptp(proxy))
        scaled = (proxy - low) / spread if spread > 0 else np.full(proxy.shape, 0.5)
        unsure = np.maximum(np.sqrt(scaled * (1.0 - scaled)).mean(axis=1), _LEAST)
        return inclusion_probabilities(unsure, float(state.budget.count_of(len(proxy))), tau=1.0)

    def _draws(self, state: State) -> Floats:
        return rng.uniforms(state.data.keys, state.seed, self.name)

    def _met(self, state: State) -> Ints:
        """Return the items that are met before one too many would be drawn."""
        order = np.argsort(rng.stream(state.data.keys, state.seed, f"order of {self.name}"))
        drawn = np.cumsum(self._draws(state)[order] < self._chances(state)[order])
        return order[drawn <= state.budget.count_of(len(order))]


# What a variance within a stratum needs.
_FEWEST = 2


@dataclass(frozen=True, kw_only=True)
class GlideStratified(Glide):
    """Draws from bins of the proxy by its spread, and adds up PPI++ within the bins.

    n_h ∝ N_h·σ_h with σ_h the proxy's standard deviation, fractions rounded by largest remainder, and
    μ̂_j = Σ_h (N_h/N)·[λ_hj f̄_hj + mean_S(y − λ_hj f)], f̄ the mean over the bin's unjudged items and
    λ_hj = Cov(y, f)/((1 + n_h/(N_h − n_h))·Var(f)).
    Every bin gives two items at least, which its variance needs; one that is wholly judged has the mean of y.
    """

    name: ClassVar[str] = "glide_stratified"
    reference: ClassVar[str] = "GLIDE 0.10 (StratifiedSampler, StratifiedPPIMeanEstimator); Fisch et al. 2024"

    strata: int = parameter(5, "the number of bins of the proxy's mean over models", minimum=1)

    def drawn(self, state: State) -> Draw:
        """Draw so many items from every bin."""
        bins, counts = self._plan(state)
        taken = kernels.draw_within(bins, counts, rng.generator(state.seed, self.name))
        rows = np.flatnonzero(taken)
        return Draw(rows, (counts / bins.sizes)[bins.of_unit[rows]])

    def means(self, state: State, labels: Floats) -> Means:
        """Return the sum over bins of PPI++ within them."""
        proxy, bins = self.proxy(state.data), self._plan(state)[0]
        scores, parts = np.zeros(labels.shape[1]), np.zeros((0, labels.shape[1]))
        for one in range(len(bins.names)):
            inside = bins.of_unit == one
            share = float(inside.sum()) / len(labels)
            own = _within(labels[inside], proxy[inside])
            scores = scores + share * own.scores
            parts = np.concatenate([parts, share * own.parts])
        return Means(scores, parts)

    def _plan(self, state: State) -> tuple[Groups, Ints]:
        """Return the bins, and how many items each gives."""
        values = self.proxy(state.data).mean(axis=1)
        count = state.budget.count_of(len(values))
        wanted = max(1, min(self.strata, count // _FEWEST))
        bins = kernels.bins(values, state.data.keys, -(-len(values) // wanted))
        few = np.minimum(bins.sizes, _FEWEST)
        left = quotas(
            count - float(few.sum()),
            bins.sizes - few,
            bins.sizes * np.maximum(bins.deviations(values), 1e-9 * max(float(np.ptp(values)), 1e-300)),
            integral=True,
        )
        return bins, (few + left).astype(np.int64)


def _within(labels: Floats, proxy: Floats) -> Means:
    """Return PPI++ of one bin, and what its judged and unjudged items contribute to the error."""
    judged = ~np.isnan(labels).any(axis=1)
    known, own, rest = labels[judged], proxy[judged], proxy[~judged]
    count, left = len(known), len(rest)
    if not left or count < _FEWEST:
        mean = known.mean(axis=0) if count else np.full(labels.shape[1], np.nan)
        return Means(mean, np.zeros((0, labels.shape[1])))
    covariance = ((known - known.mean(axis=0)) * (own - own.mean(axis=0))).sum(axis=0) / (count - 1.0)
    variance = proxy.var(axis=0, ddof=1) * (1.0 + count / left)
    slope = np.divide(covariance, variance, out=np.zeros(len(variance)), where=variance > 0)
    missed = known - slope * own
    parts = [
        (missed - missed.mean(axis=0)) / np.sqrt(count * (count - 1.0)),
        slope * (rest - rest.mean(axis=0)) / np.sqrt(left * max(left - 1.0, 1.0)),
    ]
    return Means(slope * rest.mean(axis=0) + missed.mean(axis=0), np.concatenate(parts))
