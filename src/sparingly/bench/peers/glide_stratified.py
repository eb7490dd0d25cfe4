"""``glide_stratified``: GLIDE's stratified sampler and estimator, restated."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.registry import parameter
from sparingly.bench.peers.glide import Draw, Glide, Means
from sparingly.choose.design import strata as kernels
from sparingly.choose.design.strata import Strata
from sparingly.choose.design.units import quotas
from sparingly.run.rounds.strategy import State

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
        return Draw(rows, (counts / bins.sizes)[bins.of_row[rows]])

    def means(self, state: State, labels: Floats) -> Means:
        """Return the sum over bins of PPI++ within them."""
        proxy, bins = self.proxy(state.data), self._plan(state)[0]
        scores, parts = np.zeros(labels.shape[1]), np.zeros((0, labels.shape[1]))
        for one in range(len(bins.names)):
            inside = bins.of_row == one
            share = float(inside.sum()) / len(labels)
            own = _within(labels[inside], proxy[inside])
            scores = scores + share * own.scores
            parts = np.concatenate([parts, share * own.parts])
        return Means(scores, parts)

    def _plan(self, state: State) -> tuple[Strata, Ints]:
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
            whole=True,
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
