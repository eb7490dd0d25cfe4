"""Covariances of scores over the draw of this set, and over a population of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.base.stats.cluster_correction import cluster_correction
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, dense, group_sums

# --- drawn units, and how far each unit's residuals lie from the others' ---
# A covariance of scores is written as Dᵀ D with one row of D per drawn unit and one column per model. Every
# function here returns such deviations for one kind of draw.


NEIGHBOURS = 4
# One document that is more than this part of the whole sample leaves nothing to learn an error from.
MOST_OF_ALL = 0.8


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """The drawn units with what their residuals stand for.

    Attributes:
        total: units × models: Σ residual/π over the unit's items.
        judged: units × models: whether the model was judged on the unit.
        probability: units × models: the chance of the judgement, the smallest one of the unit's items.
        draw: The chance that the unit was drawn.
        stratum: One code per unit.
        length: The number of the unit's rows.
        weight: units × models: Σ 1/π over the unit's judged items, how many items it stands for.
        in_domain: Which units speak about the scores (those outside a part of the set do not).
        first: A row of each unit.
    """

    total: Floats
    judged: Mask
    probability: Floats
    draw: Floats
    stratum: Ints
    length: Floats
    weight: Floats
    in_domain: Mask
    first: Ints

    def __len__(self) -> int:
        return len(self.draw)


def unit_totals(sample: JudgedSample, residual: Floats) -> UnitTotals:
    """Sum what the residuals stand for over the drawn units."""
    unit = sample.unit
    first = np.unique(unit, return_index=True)[1]
    return UnitTotals(
        total=group_sums(residual / sample.probability, unit),
        judged=group_sums(sample.judged.astype(np.float64), unit) > 0,
        probability=group_minimum(np.where(sample.judged, sample.probability, 1.0), unit),
        draw=group_minimum(sample.draw, unit),
        stratum=sample.stratum[first],
        length=np.bincount(unit).astype(np.float64),
        weight=group_sums(sample.share, unit),
        in_domain=group_sums(sample.importance, unit) > 0,
        first=first,
    )


def group_minimum(values: Floats, codes: Ints) -> Floats:
    """Return the smallest value of each code."""
    minimum = np.full((int(codes.max(initial=-1)) + 1, *values.shape[1:]), np.inf)
    np.minimum.at(minimum, codes, values)
    return minimum


def deviations_from_centre(units: UnitTotals, factor: Floats) -> Floats:
    """Return every unit's deviation from the centre of its stratum (Hájek 1964, Deville 1999).

    c_u = (1 − π_u)·n/(n − 1), A = Σ c_u z_u / Σ c_u, deviation √c_u·(z_u − A) with z the unit's total and
    ``left`` = 1 − π_u (units × models, 0 where not judged); n counts the units with π < 1. A simple random
    sample gets (1 − f)s²/n. For units of unequal weight see ``raised``.
    """
    stratum = collapse_strata(units, factor)
    total = group_sums(factor, stratum)
    centre = group_sums(factor * units.total, stratum) / np.where(total > 0, total, 1.0)
    return np.asarray(
        np.sqrt(factor * residual_inflation(units, factor, stratum)) * (units.total - centre[stratum])
    )


def residual_inflation(units: UnitTotals, factor: Floats, stratum: Ints) -> Floats:
    """Return the factors (units × models) by which squared residuals are too small: n/(n − 1).

    For documents and snippets in one stratum it is 1/(1 − p_u), p_u the part of all weight that unit u has: a
    long document pulls the mean towards itself, and its own residual is the smaller for it (HC2 of MacKinnon
    and White 1985). Equal parts give n/(n − 1).
    """
    counts = group_sums((factor > 0).astype(np.float64), stratum)
    several = counts > 1
    if (units.length == 1).all() or np.ptp(stratum) > 0:
        return np.asarray(np.where(several, counts / np.maximum(counts - 1.0, 1.0), 0.0)[stratum])
    return np.where(several[stratum], leverage_correction(units.weight), 0.0)


def leverage_correction(weight: Floats) -> Floats:
    """Return 1/(1 − p) of parts p of a weight by column; a part beyond most of the whole counts as that."""
    total = weight.sum(axis=0)
    share = np.divide(weight, total, out=np.zeros_like(weight), where=total > 0)
    return np.asarray(1.0 / (1.0 - np.minimum(share, MOST_OF_ALL)))


def collapse_strata(units: UnitTotals, factor: Floats) -> Ints:
    """Return strata in which every one that is left to chance has two units or more (collapsed strata).

    Single units are put side by side by their length and chance and joined in pairs, an odd one with the
    last pair or, alone, with the smallest other stratum. That overstates the variance (Cochran 1977, 5A.12).
    """
    uncertain = (factor > 0).any(axis=1)
    counts = np.bincount(units.stratum, uncertain.astype(np.float64))
    single = np.flatnonzero(uncertain & (counts[units.stratum] == 1))
    if not len(single) or uncertain.sum() < 2:
        return units.stratum
    stratum = units.stratum.copy()
    if len(single) == 1:
        larger = np.flatnonzero(counts > 1)
        stratum[single] = larger[np.argmin(counts[larger])]
        return stratum
    ordered = single[np.lexsort((single, units.draw[single], units.length[single]))]
    pair = np.minimum(np.arange(len(single)) // 2, len(single) // 2 - 1)
    stratum[ordered] = stratum[ordered[2 * pair]]
    return stratum


def degrees_of_freedom(units: UnitTotals, factor: Floats) -> float:
    """Return the degrees of freedom: units that are left to chance and that count, less one per stratum."""
    uncertain = (factor > 0).any(axis=1) & units.in_domain
    counts = np.bincount(collapse_strata(units, factor), uncertain.astype(np.float64))
    return float((counts - 1.0)[counts > 1].sum())


def deviations_from_neighbours(units: UnitTotals, factor: Floats, coordinates: Floats) -> Floats:
    """Return every unit's deviation from its nearest drawn units, for draws that are spread over a space.

    √((1 − π_u)·k/(k − 1))·(z_u − mean of z over the k nearest, itself among them), k = 4 (the local
    mean variance of Stevens and Olsen 2003; Grafström and Schelin 2014). A spread sample is more exact
    than the plain formula says, and this one sees by how much.
    """
    from scipy.spatial import KDTree

    # A unit that was sure to be drawn has no error, and weighs too little to be like its neighbours.
    uncertain = np.flatnonzero((factor > 0).any(axis=1))
    count = min(NEIGHBOURS, len(uncertain))
    if count < 2:
        return deviations_from_centre(units, factor)
    nearest = np.atleast_2d(KDTree(coordinates[uncertain]).query(coordinates[uncertain], k=count)[1])
    position = np.arange(len(uncertain))
    # Of several units at one place, the unit itself need not be among those found.
    nearest[:, -1] = np.where((nearest == position[:, None]).any(axis=1), nearest[:, -1], position)
    local = units.total.copy()
    local[uncertain] = units.total[uncertain][nearest].mean(axis=1)
    return np.asarray(np.sqrt(factor * count / (count - 1.0)) * (units.total - local))


def deviations_from_balance(units: UnitTotals, factor: Floats, balance: Floats) -> tuple[Floats, int]:
    """Return every unit's deviation from what its balancing variables tell, and q, for balanced draws.

    √((1 − π_u)·n/(n − q))·(z_u − bᵀx_u/π_u), b by least squares with weights 1 − π_u over the q
    variables (Deville and Tillé 2005): a total that the draw has matched has no error left. Only n − q units'
    worth of residuals are left to learn the error from. Where q > n/2 that is too little: deviations are then
    those from the centre, which say too much rather than too little, and q is 0.
    """
    variables = np.column_stack([np.ones(len(units)), balance / units.draw[:, None]])
    root = np.sqrt(factor.max(axis=1, initial=0.0))
    fit, _, rank, _ = np.linalg.lstsq(variables * root[:, None], units.total * root[:, None], rcond=1e-10)
    uncertain = float((root > 0).sum())
    if 2 * rank > uncertain:
        return deviations_from_centre(units, factor), 0
    return np.asarray(
        np.sqrt(factor * uncertain / (uncertain - rank)) * (units.total - variables @ fit)
    ), int(rank)


# --- where some of what was drawn was not judged ---
# What did not come is missing by chance, so that two chances follow each other: the draw (π), and that a
# judgement of what was drawn came (r). The variance is that of the draw, as if all had come, plus that of
# the gaps: V = V(π) + Σ (1 − r)·(e/(πr) − A)². Models that have their gaps on the same items share them.


class Phase(NamedTuple):
    """What one phase of a draw leaves to chance.

    Attributes:
        first: A row of each unit.
        deviation: units × models.
        factor: How much of a unit's variance is left to this phase: 1 − π for a single one.
    """

    first: Ints
    deviation: Floats
    factor: Floats


PhaseSpread = Callable[[JudgedSample, UnitTotals], list[Phase]]


@dataclass(frozen=True, eq=False)
class Nonresponse:
    """How likely what was drawn was to be judged.

    Attributes:
        draw: The chance of the draw alone, one per row.
        item_rate: The share of the drawn items that came at all, one per row.
        cell_rate: items × models: the share r of what was drawn that came, 1 where it did not.
        dependence: models × models: how often both models were judged on an item, as a ratio to how often
            they would be if their gaps were independent.
    """

    draw: Floats
    item_rate: Floats
    cell_rate: Floats
    dependence: Floats

    def shared(self, deviation: Floats) -> Floats:
        """Return Σ ρ d_j d_k over the rows, with ρ = r_j r_k/r_jk: r on the diagonal, 1 for gaps apart."""
        products = deviation.T @ (self.item_rate[:, None] * deviation) / self.dependence
        np.fill_diagonal(products, (self.cell_rate * deviation**2).sum(axis=0))
        return products

    def apart(self, deviation: Floats) -> Floats:
        """Return Σ (1 − ρ) d_j d_k over the rows."""
        products = deviation.T @ deviation - self.shared(deviation)
        np.fill_diagonal(products, ((1.0 - self.cell_rate) * deviation**2).sum(axis=0))
        return np.asarray(products)


def nonresponse_of(sample: JudgedSample) -> Nonresponse | None:
    """Return the gaps of a sample; None where everything that was drawn was judged."""
    item_rate = np.ones(len(sample.rows)) if sample.response_rate is None else sample.response_rate[:, 0]
    draw = sample.draw / item_rate
    cell_rate = np.where(sample.judged, np.minimum(sample.probability / draw[:, None], 1.0), 1.0)
    if (cell_rate >= 1.0 - 1e-12).all():
        return None
    judged = sample.judged.astype(np.float64)
    # Of the items that came: the share of each model, by what the items stand for.
    weight = 1.0 / sample.draw
    rate_in_item = np.minimum(sample.probability / sample.draw[:, None], 1.0)
    expected, jointly_judged = (
        rate_in_item.T @ (weight[:, None] * rate_in_item),
        judged.T @ (weight[:, None] * judged),
    )
    dependence = np.divide(
        jointly_judged,
        expected,
        out=np.ones_like(jointly_judged),
        where=(jointly_judged > 0) & (expected > 0),
    )
    return Nonresponse(draw, item_rate, cell_rate, dependence)


def nonresponse_covariance(
    sample: JudgedSample,
    linear: LinearForm,
    nonresponse: Nonresponse,
    spread: PhaseSpread,
    *,
    centred: bool = True,
) -> Floats:
    """Return the covariance of totals: of the draw as ``spread`` has it, and of the gaps.

    Σ ρ d_j d_k + Σ (1 − ρ) a_j a_k, with d the deviations of the draw over the items on which a model was
    judged, and a those from the centre. Units of several items (documents) hold the gaps of their items in
    their own totals: there it is Σ d_j d_k, and of a² only what such a phase has not counted, 1 − left.
    """
    codes = [sample.unit] if sample.pool is None else [sample.unit, dense(pool_codes(sample))]
    single = [len(np.unique(code)) == len(sample.rows) for code in codes]
    phase_deviation = [np.zeros((len(sample.rows), sample.models)) for _ in codes]
    item_deviation, counted_share = np.zeros(sample.scores.shape), np.zeros(sample.scores.shape)
    for model in np.flatnonzero(sample.judged.any(axis=0)).tolist():
        rows = np.flatnonzero(sample.judged[:, model])
        part, form = _one_model(sample, linear, nonresponse, model, rows)
        item_deviation[rows, model] = _deviations_in_stratum(part, form.residual, centred)
        for place, phase in enumerate(spread(part, unit_totals(part, form.residual))):
            code = codes[place]
            phase_deviation[place][rows[phase.first] if single[place] else code[rows[phase.first]], model] = (
                phase.deviation[:, 0]
            )
            counted_share[rows, model] += 0.0 if single[place] else phase.factor[dense(code[rows])]
    item_deviation = item_deviation * np.sqrt(np.maximum(1.0 - counted_share, 0.0))
    kinds = zip(phase_deviation, single, strict=True)
    return _without_exact_models(
        sum(
            nonresponse.shared(deviation) if is_single else deviation.T @ deviation
            for deviation, is_single in kinds
        )
        + nonresponse.apart(item_deviation)
    )


def _without_exact_models(covariance: Floats) -> Floats:
    """Return a covariance in which a model without any error has none with the others either."""
    exact = np.diag(covariance) <= 0.0
    return np.where(exact[:, None] | exact[None, :], 0.0, covariance)


def pool_codes(sample: JudgedSample) -> Ints:
    """Return what the first of two phases drew, one code per row."""
    return sample.unit if sample.pool_unit is None else sample.pool_unit


def _one_model(
    sample: JudgedSample, linear: LinearForm, nonresponse: Nonresponse, model: int, rows: Ints
) -> tuple[JudgedSample, LinearForm]:
    """Return what was judged of one model, with the chance of the draw alone."""
    part = replace(
        sample.at(rows),
        scores=sample.scores[rows, model : model + 1],
        probability=sample.probability[rows, model : model + 1],
        draw=nonresponse.draw[rows],
        response_rate=None,
    )
    return part, linear.of_model(model, sample.judged[:, model])


def _deviations_in_stratum(sample: JudgedSample, residual: Floats, centred: bool) -> Floats:
    """Return how far each judged item lies from the others of its stratum: √(n/(n − 1))·(z − A/(πr)).

    z = e/(πr), and A the weighted mean of e in the stratum, by which what did not come is stood for.
    """
    single = unit_totals(replace(sample, unit=np.arange(len(sample.rows))), residual)
    if not centred:
        return np.asarray(single.total[:, 0])
    stratum = collapse_strata(single, np.ones_like(single.total))
    counts = np.bincount(stratum)[stratum]
    total, share = group_sums(single.total, stratum), group_sums(sample.share, stratum)
    centre = np.divide(total, share, out=np.zeros_like(total), where=share > 0)[stratum]
    small_sample = np.where(counts > 1, counts / np.maximum(counts - 1.0, 1.0), 0.0)
    return np.asarray(np.sqrt(small_sample) * (single.total - centre * sample.share)[:, 0])


# --- over this very set, where only the draw is left to chance ---


@dataclass(frozen=True, eq=False)
class ScoreErrors:
    """How far scores may lie from what they speak about.

    Attributes:
        covariance: models × models.
        freedom: Degrees of freedom of the variances.
        units: The number of drawn units (for a population: of documents) that the errors are learned from.
        shape: units × models: what every drawn unit (or document) contributes, from the centre of its
            stratum, for tails and bootstrap. Neighbours or balance tell its size, and hide its tail.
        stratum: One code per unit.
        unit_name: What the units are, in words.
        notes: What to mind.
        units_judged: The number of units on which each model was judged; all units unless given.
        fraction: The share of the set that was drawn, where nothing but the draw is left to chance.
    """

    covariance: Floats
    freedom: float
    units: float
    shape: Floats
    stratum: Ints
    unit_name: str = "drawn units"
    notes: tuple[str, ...] = ()
    units_judged: Floats | None = None
    fraction: float = 0.0

    @property
    def counts(self) -> Floats:
        """The number of units behind every model's score."""
        return np.full(self.shape.shape[1], self.units) if self.units_judged is None else self.units_judged

    @property
    def standard_errors(self) -> Floats:
        """The standard error of every score."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def of_pairs(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """Return the standard errors of differences of models, and what the units contribute to them."""
        variances = np.diag(self.covariance)
        squared = variances[first] + variances[second] - 2.0 * self.covariance[first, second]
        # What is left of two equal numbers after subtracting is a matter of rounding.
        squared = np.where(squared <= 1e-14 * (variances[first] + variances[second]), 0.0, squared)
        return np.sqrt(squared), self.shape[:, first] - self.shape[:, second]


def set_errors(sample: JudgedSample, linear: LinearForm) -> ScoreErrors:
    """Return the errors of scores of this very set.

    V̂ = N⁻² Σ_S c_i (e_i/π_i − A)² with c_i = (1 − π_i)·n/(n − 1) (Hájek–Deville) over the drawn units, times
    (n − 1)/(n − p) where p numbers were fitted to the same items; between models by the cross product.
    Models with draws of their own have covariance 0. Everything judged leaves no error at all. What was drawn
    and not judged adds an error of its own (see ``gaps``).
    """
    if sample.separate:
        return _join_separate_draws([set_errors(*part) for part in by_model(sample, linear)])
    units = unit_totals(sample, linear.residual)
    factor = sampling_factor(units, units.probability)
    balanced = deviations(sample, units, factor)[1]
    counts_in = units.in_domain & (factor > 0).any(axis=1)
    count, freedom = float(counts_in.sum()), degrees_of_freedom(units, factor)
    if balanced:
        # Of a part of the set, its share of the n − q.
        count = freedom = count - balanced * count / float((factor > 0).any(axis=1).sum())
    errors = ScoreErrors(
        covariance=draw_covariance(sample, units, linear),
        freedom=freedom,
        units=count,
        shape=(deviations_from_centre(units, factor) * inflation(sample, units, linear))[counts_in],
        stratum=collapse_strata(units, factor)[counts_in],
        units_judged=(factor > 0)[counts_in].sum(axis=0).astype(np.float64),
        fraction=1.0 - float(factor[counts_in].max(axis=1).mean()) if counts_in.any() else 1.0,
    )
    errors = _by_pool_unit(errors, sample.cluster[units.first][counts_in])
    return replace(errors, freedom=max(errors.freedom - (linear.parameters - 1.0), 0.0))


def _by_pool_unit(errors: ScoreErrors, cluster: Ints) -> ScoreErrors:
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
        unit_name="units of the pool",
        units_judged=np.minimum(errors.counts, float(count)),
    )


def by_model(sample: JudgedSample, linear: LinearForm) -> list[tuple[JudgedSample, LinearForm]]:
    """Return the sample and the linear form of every model by itself."""
    return [
        (sample.of_model(model), linear.of_model(model, sample.judged[:, model]))
        for model in range(sample.models)
    ]


def _join_separate_draws(parts: list[ScoreErrors]) -> ScoreErrors:
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
    return ScoreErrors(
        np.diag(variances),
        min(part.freedom for part in parts),
        min(part.units for part in parts),
        shape,
        stratum,
        parts[0].unit_name,
        units_judged=np.array([part.counts[0] for part in parts]),
        fraction=float(np.mean([part.fraction for part in parts])),
    )


def draw_covariance(sample: JudgedSample, units: UnitTotals, linear: LinearForm) -> Floats:
    """Return the covariance of the scores by one draw that all models share."""
    scale, nonresponse = inflation(sample, units, linear), nonresponse_of(sample)
    if nonresponse is not None:
        return _with_variances(nonresponse_covariance(sample, linear, nonresponse, draw_phases) * scale**2)
    parts = [phase.deviation * scale for phase in draw_phases(sample, units)]
    return np.asarray(sum(part.T @ part for part in parts))


def draw_phases(sample: JudgedSample, units: UnitTotals) -> list[Phase]:
    """Return what every phase of the draw leaves to chance."""
    if sample.pool is not None:
        return _two_phases(sample, units, sample.pool)
    deviation, _ = deviations(sample, units, sampling_factor(units, units.draw[:, None]))
    return [Phase(units.first, deviation, 1.0 - units.draw)]


def inflation(sample: JudgedSample, units: UnitTotals, linear: LinearForm) -> float:
    """Return √((n − 1)/(n − p))/N: residuals of an in-sample fit with p parameters are too small."""
    count = float(len(units))
    correction = (count - 1.0) / (count - linear.parameters) if linear.parameters < count else 1.0
    return float(np.sqrt(correction)) / sample.size


def sampling_factor(units: UnitTotals, chance: Floats) -> Floats:
    """Return 1 − π of every unit and model, 0 where the model was not judged."""
    return np.where(units.judged, np.maximum(1.0 - chance, 0.0), 0.0)


def deviations(sample: JudgedSample, units: UnitTotals, factor: Floats) -> tuple[Floats, int]:
    """Return every unit's deviation, by the kind of the draw, and how many variables a balanced one spent."""
    if sample.balance is not None:
        return deviations_from_balance(units, factor, group_sums(sample.balance, sample.unit))
    if sample.coordinates is not None:
        places = group_sums(sample.coordinates, sample.unit) / units.length[:, None]
        return deviations_from_neighbours(units, factor, places), 0
    return deviations_from_centre(units, factor), 0


def _two_phases(sample: JudgedSample, units: UnitTotals, pool: Floats) -> list[Phase]:
    """Return the deviations of totals of a draw from a pool that was itself drawn.

    V̂ = Σ (1 − π₁) ẑ² over the pool's units + Σ π₁·V̂₂, with ẑ what a unit of the pool stands for over both
    phases and V̂₂ that of the second draw alone (Särndal, Swensson and Wretman 1992, section 9.3). With two
    simple random draws it is that of one draw.
    """
    first = pool[units.first]
    second = sampling_factor(units, (units.draw / first)[:, None])
    second_phase = deviations(sample, units, second)[0] * np.sqrt(first)[:, None]
    places, at, codes = np.unique(pool_codes(sample)[units.first], return_index=True, return_inverse=True)
    small_sample = len(places) / max(len(places) - 1.0, 1.0)
    first_phase = group_sums(units.total, codes) * np.sqrt((1.0 - first[at]) * small_sample)[:, None]
    return [
        Phase(units.first, second_phase, first - units.draw),
        Phase(units.first[at], first_phase, 1.0 - first[at]),
    ]


def _with_variances(covariance: Floats) -> Floats:
    """Return a proper covariance with the variances that were given."""
    nearest = nearest_covariance(covariance)
    wanted_variances, variances = np.diag(covariance), np.diag(nearest)
    scale = np.sqrt(
        np.divide(wanted_variances, variances, out=np.ones_like(wanted_variances), where=variances > 0)
    )
    return np.asarray(nearest * scale[:, None] * scale[None, :])


def nearest_covariance(covariance: Floats) -> Floats:
    """Return the nearest matrix without negative eigenvalues; one that has none is returned as it is."""
    if not np.isfinite(covariance).all():
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    if values.size == 0 or values[0] >= -1e-12 * max(values[-1], 0.0):
        return covariance
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


# --- over inputs like these: the items of the set are left to chance, too ---


ONE_DOCUMENT = (
    "all judged items are in one document, so for other inputs like these the items count as drawn."
)


class PopulationUnits(NamedTuple):
    """What counts as drawn from the population of inputs.

    Attributes:
        document: The document of every item of the set; None where items are drawn by themselves.
        number: Of how many documents (or items) something was judged.
        are_sampling_units: Whether documents are what was drawn for judging, too.
        notes: What to mind.
    """

    document: Ints | None
    number: float
    are_sampling_units: bool
    notes: tuple[str, ...]


def population_errors(sample: JudgedSample, linear: LinearForm) -> ScoreErrors:
    """Return the errors of scores of inputs like these, drawn document by document where there are any.

    V̂ = V̂_set + V̂_inputs, the second part S_y²/N (clustered by document) and never negative, so that no error
    is smaller than that of this very set. An item contributes ψ_i = w_i(f_i − f̄) + (e_i − ē)/π_i, the second
    part where it was judged. N⁻² κ Σ_documents (Σψ)² holds S_y²/N and the variance of an independent draw,
    N⁻² Σ (1 − π)(e/π)², which is taken off again. κ and the degrees of freedom are those of Bell and
    McCaffrey (2002) under an equal correlation within documents: long documents pull the mean towards
    themselves, and few of them make up most of the variance. Use it where a claim is to hold for other inputs
    than these.
    """
    over_set, centred = set_errors(sample, linear), _centred(sample, linear)
    inputs = _population_units(sample)
    weight = _cluster_weight(sample, inputs)
    contributions = _contributions(sample, centred, inputs.document) / sample.size
    corrected = contributions * np.sqrt(weight.factor)
    independent = _independent_covariance(sample, centred, inputs, weight)
    covariance = nearest_covariance(corrected.T @ corrected - independent / sample.size**2)
    shape = contributions[contributions.any(axis=1)]
    freedom, units = _freedom_and_units(sample, linear, over_set, covariance, inputs, weight)
    return ScoreErrors(
        covariance=over_set.covariance + covariance,
        freedom=freedom,
        units=units,
        shape=shape,
        stratum=np.zeros(len(shape), np.int64),
        unit_name="judged items" if inputs.document is None else "judged documents",
        notes=inputs.notes,
        units_judged=units * _relative_depths(sample, inputs.document),
    )


def _relative_depths(sample: JudgedSample, document: Ints | None) -> Floats:
    """Return on how many documents (or items) each model was judged, as a share of the most of any."""
    place = sample.rows if document is None else document[sample.rows]
    counting = (sample.judged & (sample.importance > 0)[:, None]).astype(np.float64)
    counts = (group_sums(counting, dense(place)) > 0).sum(axis=0)
    return np.asarray(counts / max(float(counts.max(initial=0)), 1.0))


def _centred(sample: JudgedSample, linear: LinearForm) -> LinearForm:
    """Return the form with residuals whose weighted mean is 0, as all but Horvitz and Thompson's have."""
    weight = sample.share.sum(axis=0)
    mean = (linear.residual / sample.probability).sum(axis=0) / np.where(weight > 0, weight, 1.0)
    # What is left of sums that cancel is a matter of rounding.
    mean = np.where(np.abs(mean) <= 1e-12 * np.abs(linear.residual).max(axis=0, initial=0.0), 0.0, mean)
    if not mean.any():
        return linear
    residual = np.where(sample.judged, linear.residual - mean * sample.importance[:, None], 0.0)
    return replace(linear, residual=residual)


def _population_units(sample: JudgedSample) -> PopulationUnits:
    """Return what counts as drawn from the population."""
    counting = sample.rows[sample.importance > 0]
    if sample.document is not None:
        number = len(np.unique(sample.document[counting]))
        if number > 1:
            places = np.stack([sample.document[sample.rows], sample.unit])
            counts = {len(np.unique(codes)) for codes in places} | {np.unique(places, axis=1).shape[1]}
            return PopulationUnits(sample.document, float(number), len(counts) == 1, ())
    notes = () if sample.document is None else (ONE_DOCUMENT,)
    return PopulationUnits(None, float(len(counting)), False, notes)


class ClusterWeight(NamedTuple):
    """By how much squared contributions are too small, one factor a model, and their degrees of freedom."""

    factor: Floats
    freedom: float


def _cluster_weight(sample: JudgedSample, inputs: PopulationUnits) -> ClusterWeight:
    """Return κ and the degrees of freedom of N⁻² κ Σ_documents (Σψ)² (see ``cluster_correction``)."""
    plain = inputs.number / max(inputs.number - 1.0, 1.0)
    if inputs.document is None:
        return ClusterWeight(np.full(sample.models, plain), max(inputs.number - 1.0, 0.0))
    place = inputs.document[sample.rows]
    factor, freedom = cluster_correction(group_sums(sample.share, place), group_sums(sample.share**2, place))
    return ClusterWeight(
        np.where(freedom > 0, factor, plain), float(freedom[freedom > 0].min(initial=inputs.number - 1.0))
    )


def _contributions(sample: JudgedSample, linear: LinearForm, document: Ints | None) -> Floats:
    """Return what every document (or item) contributes to the scores: Σψ over its items."""
    from_residuals = linear.residual / sample.probability
    if linear.predicted is None:
        return from_residuals if document is None else group_sums(from_residuals, document[sample.rows])
    contribution = linear.predicted - sample.whole_mean(linear.predicted)
    if sample.weights is not None:
        contribution = contribution * sample.weights[:, None]
    contribution[sample.rows] += from_residuals
    return contribution if document is None else group_sums(contribution, document)


def _freedom_and_units(
    sample: JudgedSample,
    linear: LinearForm,
    over_set: ScoreErrors,
    covariance: Floats,
    inputs: PopulationUnits,
    weight: ClusterWeight,
) -> tuple[float, float]:
    """Return the degrees of freedom, and the number of units that the errors are learned from.

    Where single items of documents were drawn, V̂_inputs is what is left of the documents' sums of squares
    after V̂_set, and as uncertain as these: V²/(V_set²/f_set + (V² − V_set²)/f_documents), f_set where
    nothing is left. The number of units is that of the drawn items and of the set's documents, joined
    as independent parts are (Satterthwaite 1946).
    """
    units = max(inputs.number - max(_balanced_variables(sample, linear) - 1.0, 0.0), 0.0)
    if inputs.document is None:
        return max(units - 1.0 - (linear.parameters - 1.0), 0.0), units
    freedom = min(weight.freedom, max(units - 1.0, 0.0))
    over_draw, total = (
        float(np.trace(part)) for part in (over_set.covariance, over_set.covariance + covariance)
    )
    if inputs.are_sampling_units or total <= 0:
        return freedom, units
    documents = len(np.unique(_documents_that_count(sample, inputs.document)))
    return joined_freedom(over_draw / total, over_set, freedom, units, documents)


def joined_freedom(
    share: float, over_set: ScoreErrors, freedom: float, units: float, documents: int
) -> tuple[float, float]:
    """Return the degrees of freedom and the units of V̂_set + V̂_inputs, where single items were drawn.

    Args:
        share: V̂_set as a share of both.
        over_set: The errors of the scores of this very set.
        freedom: Degrees of freedom of sums of squares over the documents.
        units: The number of documents of which something was judged.
        documents: The number of documents of the set.
    """
    if min(over_set.units - 1.0, over_set.freedom, freedom) <= 0:
        return freedom, units
    count = 1.0 + 1.0 / (share**2 / (over_set.units - 1.0) + (1.0 - share) ** 2 / (documents - 1.0))
    units = float(np.floor(min(count, over_set.units) + 1e-9))
    return 1.0 / (share**2 / over_set.freedom + (1.0 - share**2) / freedom), units


def _documents_that_count(sample: JudgedSample, document: Ints) -> Ints:
    """Return the documents of the items that count; of a pool, those of the items that are known."""
    if sample.weights is None or len(sample.weights) != len(document):
        return document
    return document[sample.weights > 0]


def _balanced_variables(sample: JudgedSample, linear: LinearForm) -> int:
    """Return how many variables a balanced draw has matched: so many units tell nothing of its error."""
    if sample.balance is None:
        return 0
    if sample.separate:
        return max(_balanced_variables(*part) for part in by_model(sample, linear))
    units = unit_totals(sample, linear.residual)
    return deviations(sample, units, sampling_factor(units, units.probability))[1]


def _independent_covariance(
    sample: JudgedSample, linear: LinearForm, inputs: PopulationUnits, weight: ClusterWeight
) -> Floats:
    """Return N² times the covariance of the scores if every unit had been drawn by itself."""
    if sample.separate:
        parts = [
            _independent_covariance(*part, inputs, ClusterWeight(weight.factor[[model]], weight.freedom))[
                0, 0
            ]
            for model, part in enumerate(by_model(sample, linear))
        ]
        return np.diag(parts)
    units, nonresponse = unit_totals(sample, linear.residual), nonresponse_of(sample)
    if nonresponse is None:
        deviation = np.sqrt(sampling_factor(units, units.draw[:, None])) * units.total
        covariance = deviation.T @ deviation
    else:
        covariance = nonresponse_covariance(sample, linear, nonresponse, _independent_phases, centred=False)
    uncertain = float((sampling_factor(units, units.probability) > 0).any(axis=1).sum())
    factor = (
        weight.factor
        if inputs.are_sampling_units
        else np.full(sample.models, uncertain / max(uncertain - 1.0, 1.0))
    )
    return np.asarray(covariance * np.sqrt(factor[:, None] * factor))


def _independent_phases(sample: JudgedSample, units: UnitTotals) -> list[Phase]:
    """Return what is left to chance if every unit is drawn by itself; a pool adds nothing to that."""
    deviation = np.sqrt(sampling_factor(units, units.draw[:, None])) * units.total
    phase = Phase(units.first, deviation, 1.0 - units.draw)
    if sample.pool is None:
        return [phase]
    first = np.unique(pool_codes(sample), return_index=True)[1]
    return [phase, Phase(first, np.zeros((len(first), 1)), np.zeros(len(first)))]
