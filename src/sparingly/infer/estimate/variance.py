"""The joint covariance of the models' scores over this very set, where only the draw is left to chance."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.infer.estimate.gaps import Phase, gap_covariance, gaps_of, pool_codes
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Sample, dense, group_sums
from sparingly.infer.estimate.units import (
    Units,
    collapsed,
    freedom_of,
    from_balance,
    from_centre,
    from_neighbours,
    gather,
)


@dataclass(frozen=True, eq=False)
class Errors:
    """How far scores may lie from what they speak about.

    Attributes:
        covariance: models × models.
        freedom: Degrees of freedom of the variances.
        units: The number of drawn units (for a population: of documents) that the errors are learned from.
        shape: units × models: what every drawn unit (or document) contributes, from the centre of its
            stratum, for tails and bootstrap. Neighbours or balance tell its size, and hide its tail.
        stratum: One code per unit.
        drawn: What the units are, in words.
        notes: What to mind.
        judged: The number of units on which each model was judged; all units unless given.
        fraction: The share of the set that was drawn, where nothing but the draw is left to chance.
    """

    covariance: Floats
    freedom: float
    units: float
    shape: Floats
    stratum: Ints
    drawn: str = "drawn units"
    notes: tuple[str, ...] = ()
    judged: Floats | None = None
    fraction: float = 0.0

    @property
    def counts(self) -> Floats:
        """The number of units behind every model's score."""
        return np.full(self.shape.shape[1], self.units) if self.judged is None else self.judged

    @property
    def standard_errors(self) -> Floats:
        """The standard error of every score."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def of_pairs(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """Return the standard errors of differences of models, and what the units contribute to them."""
        own = np.diag(self.covariance)
        squared = own[first] + own[second] - 2.0 * self.covariance[first, second]
        # What is left of two equal numbers after subtracting is a matter of rounding.
        squared = np.where(squared <= 1e-14 * (own[first] + own[second]), 0.0, squared)
        return np.sqrt(squared), self.shape[:, first] - self.shape[:, second]


def set_errors(sample: Sample, linear: Linear) -> Errors:
    """Return the errors of scores of this very set.

    V̂ = N⁻² Σ_S c_i (e_i/π_i − A)² with c_i = (1 − π_i)·n/(n − 1) (Hájek–Deville) over the drawn units, times
    (n − 1)/(n − p) where p numbers were fitted to the same items; between models by the cross product.
    Models with draws of their own have covariance 0. Everything judged leaves no error at all. What was drawn
    and not judged adds an error of its own (see ``gaps``).
    """
    if sample.separate:
        return _apart([set_errors(*part) for part in by_model(sample, linear)])
    units = gather(sample, linear.residual)
    left = left_to_chance(units, units.chance)
    matched = deviations(sample, units, left)[1]
    there = units.counted & (left > 0).any(axis=1)
    count, freedom = float(there.sum()), freedom_of(units, left)
    if matched:
        # Of a part of the set, its share of the n − q.
        count = freedom = count - matched * count / float((left > 0).any(axis=1).sum())
    errors = Errors(
        covariance=draw_covariance(sample, units, linear),
        freedom=freedom,
        units=count,
        shape=(from_centre(units, left) * inflation(sample, units, linear))[there],
        stratum=collapsed(units, left)[there],
        judged=(left > 0)[there].sum(axis=0).astype(np.float64),
        fraction=1.0 - float(left[there].max(axis=1).mean()) if there.any() else 1.0,
    )
    errors = _by_pool(errors, sample.cluster[units.first][there])
    return replace(errors, freedom=max(errors.freedom - (linear.parameters - 1.0), 0.0))


def _by_pool(errors: Errors, cluster: Ints) -> Errors:
    """Return errors that are learned from the units of the pool, where these are fewer than those drawn.

    The items of one document of a pool of documents tell of one document only.
    """
    codes = dense(cluster)
    count = int(codes.max(initial=-1)) + 1
    if count == len(codes):
        return errors
    return replace(
        errors,
        freedom=min(errors.freedom, count - 1.0),
        units=min(errors.units, float(count)),
        shape=group_sums(errors.shape, codes),
        stratum=np.zeros(count, np.int64),
        drawn="units of the pool",
        judged=np.minimum(errors.counts, float(count)),
    )


def by_model(sample: Sample, linear: Linear) -> list[tuple[Sample, Linear]]:
    """Return the sample and the linear form of every model by itself."""
    return [
        (sample.of_model(model), linear.of_model(model, sample.judged[:, model]))
        for model in range(sample.models)
    ]


def _apart(parts: list[Errors]) -> Errors:
    """Put together the errors of models that had draws of their own."""
    sizes = [len(part.shape) for part in parts]
    shape = np.zeros((sum(sizes), len(parts)))
    stratum = np.zeros(sum(sizes), np.int64)
    start = 0
    for model, part in enumerate(parts):
        shape[start : start + sizes[model], model] = part.shape[:, 0]
        stratum[start : start + sizes[model]] = part.stratum + stratum.max(initial=-1) + 1
        start += sizes[model]
    variances = np.array([part.covariance[0, 0] for part in parts])
    return Errors(
        np.diag(variances),
        min(part.freedom for part in parts),
        min(part.units for part in parts),
        shape,
        stratum,
        parts[0].drawn,
        judged=np.array([part.counts[0] for part in parts]),
        fraction=float(np.mean([part.fraction for part in parts])),
    )


def draw_covariance(sample: Sample, units: Units, linear: Linear) -> Floats:
    """Return the covariance of the scores by one draw that all models share."""
    scale, gaps = inflation(sample, units, linear), gaps_of(sample)
    if gaps is not None:
        return _with_variances(gap_covariance(sample, linear, gaps, spread_of_draw) * scale**2)
    parts = [phase.deviation * scale for phase in spread_of_draw(sample, units)]
    return np.asarray(sum(part.T @ part for part in parts))


def spread_of_draw(sample: Sample, units: Units) -> list[Phase]:
    """Return what every phase of the draw leaves to chance."""
    if sample.pool is not None:
        return _two_phases(sample, units, sample.pool)
    deviation, _ = deviations(sample, units, left_to_chance(units, units.draw[:, None]))
    return [Phase(units.first, deviation, 1.0 - units.draw)]


def inflation(sample: Sample, units: Units, linear: Linear) -> float:
    """Return √((n − 1)/(n − p))/N: residuals of an in-sample fit with p parameters are too small."""
    count = float(len(units))
    fitted = (count - 1.0) / (count - linear.parameters) if linear.parameters < count else 1.0
    return float(np.sqrt(fitted)) / sample.size


def left_to_chance(units: Units, chance: Floats) -> Floats:
    """Return 1 − π of every unit and model, 0 where the model was not judged."""
    return np.where(units.judged, np.maximum(1.0 - chance, 0.0), 0.0)


def deviations(sample: Sample, units: Units, left: Floats) -> tuple[Floats, int]:
    """Return every unit's deviation, by the kind of the draw, and how many variables a balanced one spent."""
    if sample.balance is not None:
        return from_balance(units, left, group_sums(sample.balance, sample.unit))
    if sample.coordinates is not None:
        places = group_sums(sample.coordinates, sample.unit) / units.length[:, None]
        return from_neighbours(units, left, places), 0
    return from_centre(units, left), 0


def _two_phases(sample: Sample, units: Units, pool: Floats) -> list[Phase]:
    """Return the deviations of totals of a draw from a pool that was itself drawn.

    V̂ = Σ (1 − π₁) ẑ² over the pool's units + Σ π₁·V̂₂, with ẑ what a unit of the pool stands for over both
    phases and V̂₂ that of the second draw alone (Särndal, Swensson and Wretman 1992, section 9.3). With two
    simple random draws it is that of one draw.
    """
    first = pool[units.first]
    second = left_to_chance(units, (units.draw / first)[:, None])
    within = deviations(sample, units, second)[0] * np.sqrt(first)[:, None]
    places, at, codes = np.unique(pool_codes(sample)[units.first], return_index=True, return_inverse=True)
    few = len(places) / max(len(places) - 1.0, 1.0)
    between = group_sums(units.total, codes) * np.sqrt((1.0 - first[at]) * few)[:, None]
    return [
        Phase(units.first, within, first - units.draw),
        Phase(units.first[at], between, 1.0 - first[at]),
    ]


def _with_variances(covariance: Floats) -> Floats:
    """Return a proper covariance with the variances that were given."""
    found = proper(covariance)
    own, kept = np.diag(covariance), np.diag(found)
    scale = np.sqrt(np.divide(own, kept, out=np.ones_like(own), where=kept > 0))
    return np.asarray(found * scale[:, None] * scale[None, :])


def proper(covariance: Floats) -> Floats:
    """Return the nearest matrix without negative eigenvalues; one that has none is returned as it is."""
    if not np.isfinite(covariance).all():
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    if values.size == 0 or values[0] >= -1e-12 * max(values[-1], 0.0):
        return covariance
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)
