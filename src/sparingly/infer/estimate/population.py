"""The joint covariance of scores of inputs like these: the items of the set are left to chance, too."""

from __future__ import annotations

import numpy as np

from sparingly.infer.estimate.gaps import Phase, gap_covariance, gaps_of, pool_codes
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Floats, Rows, Sample, group_sums
from sparingly.infer.estimate.units import Units, gather, leverage
from sparingly.infer.estimate.variance import (
    Errors,
    by_model,
    deviations,
    draw_covariance,
    left_to_chance,
    proper,
)

ONE_DOCUMENT = (
    "all judged items are in one document, so for other inputs like these the items count as drawn."
)


def population_errors(sample: Sample, linear: Linear) -> Errors:
    """Return the errors of scores of inputs like these, drawn document by document where there are any.

    V̂ = V̂_set + S_y²/N. An item contributes ψ_i = w_i(f_i − f̄) + e_i/π_i, the second part where it was judged.
    N⁻² Σ_documents (Σψ)² holds S_y²/N and the variance of an independent draw, N⁻² Σ (1 − π)(e/π)², in the
    place of which that of the actual draw is put.
    """
    cluster, seen, notes = _clusters(sample)
    told = _told(sample, linear, cluster) / sample.size
    few = np.sqrt(_few(sample, cluster, seen)) * told
    told = told[told.any(axis=1)]
    covariance = proper(few.T @ few + _beyond_independence(sample, linear))
    fitted = linear.parameters - 1.0 if sample.document is None else 0.0
    units = max(seen - max(_matched(sample, linear) - 1.0, 0.0), 0.0)
    freedom = max(units - 1.0 - fitted, 0.0)
    drawn = "judged items" if len(told) and cluster is not sample.document else "judged documents"
    return Errors(covariance, freedom, units, told, np.zeros(len(told), np.int64), drawn, notes)


def _clusters(sample: Sample) -> tuple[Rows, float, tuple[str, ...]]:
    """Return what counts as drawn from the population, and of how many such something was judged."""
    counting = sample.rows[sample.importance > 0]
    if sample.document is not None:
        seen = len(np.unique(sample.document[counting]))
        if seen > 1:
            return sample.document, float(seen), ()
    return np.arange(sample.size), float(len(counting)), () if sample.document is None else (ONE_DOCUMENT,)


def _few(sample: Sample, cluster: Rows, seen: float) -> Floats:
    """Return the factors by which squared contributions are too small (see ``units.raised``).

    Where single items were drawn, n/(n − 1) serves: hardly any document has much of the weight.
    """
    by_item = len(np.unique(sample.unit)) == len(sample.rows)
    if by_item or cluster is not sample.document:
        return np.full((int(cluster.max()) + 1, 1), seen / max(seen - 1.0, 1.0))
    heft = group_sums(sample.share, cluster[sample.rows])
    return leverage(np.concatenate([heft, np.zeros((int(cluster.max()) + 1 - len(heft), heft.shape[1]))]))


def _told(sample: Sample, linear: Linear, cluster: Rows) -> Floats:
    """Return what every cluster contributes to the scores: Σψ over its items."""
    told = group_sums(linear.residual / sample.probability, cluster[sample.rows])
    told = np.concatenate([told, np.zeros((int(cluster.max()) + 1 - len(told), told.shape[1]))])
    if linear.predicted is None:
        return told
    ahead = linear.predicted - sample.whole_mean(linear.predicted)
    if sample.weights is not None:
        ahead = ahead * sample.weights[:, None]
    return told + group_sums(ahead, cluster)


def _matched(sample: Sample, linear: Linear) -> int:
    """Return how many variables a balanced draw has matched: so many units tell nothing of its error."""
    if sample.balance is None:
        return 0
    if sample.separate:
        return max(_matched(*part) for part in by_model(sample, linear))
    units = gather(sample, linear.residual)
    return deviations(sample, units, left_to_chance(units, units.chance))[1]


def _beyond_independence(sample: Sample, linear: Linear) -> Floats:
    """Return the covariance by the actual draw less what it were if every unit had been drawn by itself."""
    if sample.separate:
        return np.diag([_beyond_independence(*part)[0, 0] for part in by_model(sample, linear)])
    units, gaps = gather(sample, linear.residual), gaps_of(sample)
    own = left_to_chance(units, units.chance)
    if gaps is None:
        alone = np.sqrt(left_to_chance(units, units.draw[:, None])) * units.total
        covariance = alone.T @ alone
    else:
        covariance = gap_covariance(sample, linear, gaps, _alone, centred=False)
    opened = float((own > 0).any(axis=1).sum())
    few = opened / max(opened - 1.0, 1.0)
    return draw_covariance(sample, units, linear) - covariance * few / sample.size**2


def _alone(sample: Sample, units: Units) -> list[Phase]:
    """Return what is left to chance if every unit is drawn by itself; a pool adds nothing to that."""
    alone = np.sqrt(left_to_chance(units, units.draw[:, None])) * units.total
    found = Phase(units.first, alone, 1.0 - units.draw)
    if sample.pool is None:
        return [found]
    first = np.unique(pool_codes(sample), return_index=True)[1]
    return [found, Phase(first, np.zeros((len(first), 1)), np.zeros(len(first)))]
