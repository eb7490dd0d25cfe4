"""Restated estimates of packages that correct a judge by a few labels: truescore, cje-eval, GLIDE's MultiPPI.

All estimate one mean of one system from a random sample, so every model is estimated by itself, by its own
scores from the metric (or metrics) that stand for the judge. The sample is that of ``random`` with the same
seed.
"""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Self

import numpy as np

from benchmarks.peers.glide import Draw, Glide, Means
from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import MissingDataError
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.random import Random
from sparingly.choose.design.variables import scores_of
from sparingly.choose.select import select
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.strategy import State


@dataclass(frozen=True, kw_only=True)
class OnRandomSample(Glide):
    """Estimates from the sample that ``random`` draws."""

    def drawn(self, state: State) -> Draw:
        """Draw as ``random`` does."""
        count = state.budget.count_of(len(state.data))
        chosen = select(state.data.without_labels(), Random(), count, seed=state.seed)
        rows = np.sort(state.data.positions(chosen.items))
        return Draw(rows, np.full(len(rows), len(rows) / len(state.data)))

    def means(self, state: State, labels: Floats) -> Means:
        """Return the estimate of every model by itself."""
        proxies = self.proxies(state.data)
        parts = [
            self.of_model(state, labels[:, model], proxies[:, model]) for model in range(labels.shape[1])
        ]
        return Means(np.array([mean for mean, _ in parts]), np.column_stack([part for _, part in parts]))

    def proxies(self, data: EvalSet) -> Floats:
        """Return what stands for the judge, items × models, or × metrics where there are several."""
        return self.proxy(data)

    @abstractmethod
    def of_model(self, state: State, labels: Floats, proxy: Floats) -> tuple[float, Floats]:
        """Return a model's mean and what every item contributes to its error (labels: NaN where unknown)."""


def corrected_mean(labels: Floats, predicted: Floats, others: Floats) -> tuple[float, Floats]:
    """Return mean(others, unjudged) + mean(labels − predicted, judged), and the items' parts of its error."""
    judged = ~np.isnan(labels)
    missed, rest = (labels - predicted)[judged], others[~judged]
    count, left = len(missed), len(rest)
    parts = np.zeros(len(labels))
    parts[judged] = (missed - missed.mean()) / np.sqrt(count * max(count - 1.0, 1.0))
    if not left:
        return float(labels.mean()), parts
    parts[~judged] = (rest - rest.mean()) / np.sqrt(left * max(left - 1.0, 1.0))
    return float(rest.mean() + missed.mean()), parts


@dataclass(frozen=True, kw_only=True)
class Truescore(OnRandomSample):
    """PPI++ with λ between 0 and 1, the metric's variance taken over all items.

    μ̂ = λ·mean(f, unjudged) + mean(y − λf, judged), λ = Cov_n(y, f)/(Var(f)·(1 + n/(N − n))) in [0, 1].
    """

    name: ClassVar[str] = "truescore"
    reference: ClassVar[str] = "truescore 0.7.4 (ppi_estimate); Angelopoulos et al. 2023"

    def of_model(self, state: State, labels: Floats, proxy: Floats) -> tuple[float, Floats]:
        """Return a model's mean and what every item contributes to its error."""
        judged = ~np.isnan(labels)
        count, variance, slope = int(judged.sum()), float(proxy.var(ddof=1)), 0.0
        if variance > 0 and 1 < count < len(labels):
            covariance = float(np.cov(labels[judged], proxy[judged], ddof=0)[0, 1])
            slope = covariance / (variance * (1.0 + count / (len(labels) - count)))
        weighed = min(max(slope, 0.0), 1.0) * proxy
        return corrected_mean(labels, weighed, weighed)


_FOLDS = 5


@dataclass(frozen=True, kw_only=True)
class CjeEval(OnRandomSample):
    """Calibrates the metric to labels by isotonic regression, and corrects the mean by held-out residuals.

    μ̂ = mean(c(f), all) + mean(y − c₋ₖ(f), judged), c being fitted to all labels and c₋ₖ without the item's
    fold of five. This is its monotone calibration and its plain cluster-robust error: the smooth first stage,
    which it adds where that predicts held-out labels better, and the jackknife over folds are left out.
    """

    name: ClassVar[str] = "cje_eval"
    reference: ClassVar[str] = "cje-eval 0.9.3 (calibrated_mean_ci)"

    def of_model(self, state: State, labels: Floats, proxy: Floats) -> tuple[float, Floats]:
        """Return a model's mean and what every item contributes to its error."""
        judged = np.flatnonzero(~np.isnan(labels))
        order = np.argsort(rng.stream(state.data.keys[judged], state.seed, "folds of cje-eval"))
        fold = np.empty(len(judged), np.int64)
        fold[order] = np.arange(len(judged)) % _FOLDS
        return calibrated(labels, proxy, fold)


def calibrated(labels: Floats, proxy: Floats, fold: Ints) -> tuple[float, Floats]:
    """Return the calibrated mean from labels (NaN where there is none) and folds of the judged items."""
    from sklearn.isotonic import IsotonicRegression

    judged = np.flatnonzero(~np.isnan(labels))
    if len(judged) == len(labels):
        return corrected_mean(labels, proxy, proxy)
    known, scores = labels[judged], proxy[judged]

    def fitted(rows: Ints, at: Floats) -> Floats:
        learner = IsotonicRegression(out_of_bounds="clip").fit(scores[rows], known[rows])
        return np.asarray(learner.predict(at), np.float64)

    everything = fitted(np.arange(len(judged)), proxy)
    held_out = np.empty(len(judged))
    for one in np.unique(fold):
        inside = fold == one
        held_out[inside] = (
            fitted(np.flatnonzero(~inside), scores[inside]) if (~inside).any() else known.mean()
        )
    correction = float((known - held_out).mean())
    outcomes = everything + correction
    outcomes[judged] += (len(labels) / len(judged)) * (known - held_out - correction)
    mean = float(outcomes.mean())
    return mean, (outcomes - mean) / np.sqrt(len(labels) * max(len(labels) - 1.0, 1.0))


# Singular values below this share of the largest are rounding errors of copied metrics.
_COPIES = 1e-8


@dataclass(frozen=True, kw_only=True)
class GlideMultiPpi(OnRandomSample):
    """PPI++ with all metrics at once.

    μ̂ = λ·mean(f, unjudged) + mean(y − λ·f, judged), λ = (N − n)/N · Cov(f, all)⁻¹ Cov(f, y; judged). Where
    metrics copy each other, the package refuses and the pseudo-inverse stands in.
    """

    name: ClassVar[str] = "glide_multi_ppi"
    reference: ClassVar[str] = "GLIDE 0.11 (MultiPPIMeanEngine); Shan et al. 2025"

    def resolve(self, data: EvalSet, aspect: str, budget: Budget) -> Self:
        """Raise MissingDataError without a metric."""
        if not len(data.metrics):
            raise MissingDataError(f"The method {self.name} needs metrics, and the evaluation set has none.")
        return self

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read all metrics."""
        return frozenset(map(fields.metric, data.metrics))

    def proxies(self, data: EvalSet) -> Floats:
        """Return all metrics, items × models × metrics."""
        return np.stack([scores_of(data, fields.metric(name)) for name in data.metrics], axis=2)

    def of_model(self, state: State, labels: Floats, proxy: Floats) -> tuple[float, Floats]:
        """Return a model's mean and what every item contributes to its error."""
        judged = ~np.isnan(labels)
        count = int(judged.sum())
        spread = proxy.std(axis=0)
        scaled = (proxy - proxy.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
        known = labels[judged]
        covariance = scaled[judged].T @ (known - known.mean()) / max(count - 1.0, 1.0)
        inverse = np.linalg.pinv(np.atleast_2d(np.cov(scaled, rowvar=False)), rcond=_COPIES, hermitian=True)
        weighed = scaled @ (inverse @ covariance) * (1.0 - count / len(labels))
        return corrected_mean(labels, weighed, weighed)
