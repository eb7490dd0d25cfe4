"""``glide_active``: GLIDE's active sampler and estimator, restated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.bench.peers.glide import Draw, Glide, Means
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.run.rounds.strategy import State

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
