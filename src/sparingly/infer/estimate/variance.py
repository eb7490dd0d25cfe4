"""Covariances of scores: over the draw from this set, and over a population of inputs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, ratio
from sparingly.base.lazy import spatial
from sparingly.base.stats.moments import cluster_correction
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, dense, group_sums

NEIGHBOURS = 4
# The largest share of the sample's weight that one unit is counted with: beyond it no error can be learned.
MOST_OF_ALL = 0.8
ONE_DOCUMENT = (
    "all judged items are in one document, so for other inputs like these the items count as drawn."
)


@dataclass(frozen=True, eq=False)
class ScoreErrors:
    """The errors of scores with respect to their target."""

    covariance: Floats  # models × models
    freedom: float  # degrees of freedom of the variances
    # The number of drawn units (for a population: of documents) that the errors are learned from.
    units: float
    # units × models: what every drawn unit (or document) contributes, as a deviation from the centre of its
    # stratum, for tails and bootstrap: deviations from neighbours would hide long tails.
    shape: Floats
    stratum: Ints  # one code per unit
    unit_name: str = "drawn units"  # what the units are, in words
    notes: tuple[str, ...] = ()  # what to mind
    # The number of units on which each model was judged; all units unless given.
    units_judged: Floats | None = None
    fraction: float = 0.0  # the share of the set that was drawn, where only the draw is random

    @property
    def counts(self) -> Floats:
        """The number of units behind every model's score."""
        return np.full(self.shape.shape[1], self.units) if self.units_judged is None else self.units_judged

    @property
    def freedoms(self) -> Floats:
        """Degrees of freedom of every score: in proportion to the units on which a model was judged."""
        return np.asarray(self.freedom * np.clip((self.counts - 1.0) / max(self.units - 1.0, 1.0), 0.0, 1.0))

    @property
    def standard_errors(self) -> Floats:
        """The standard error of every score."""
        return np.asarray(np.sqrt(np.diag(self.covariance)))

    def of_pairs(self, first: Ints, second: Ints) -> tuple[Floats, Floats]:
        """Return the standard errors of differences of models, and what the units contribute to them."""
        variances = np.diag(self.covariance)
        squared = variances[first] + variances[second] - 2.0 * self.covariance[first, second]
        # A difference of two equal numbers is rounding.
        squared = np.where(squared <= 1e-14 * (variances[first] + variances[second]), 0.0, squared)
        return np.sqrt(squared), self.shape[:, first] - self.shape[:, second]


def nearest_covariance(covariance: Floats) -> Floats:
    """Return the nearest matrix without negative eigenvalues; one that has none is returned as it is."""
    if not np.isfinite(covariance).all():
        return covariance
    values, vectors = np.linalg.eigh(covariance)
    if values.size == 0 or values[0] >= -1e-12 * max(values[-1], 0.0):
        return covariance
    return np.asarray((vectors * np.maximum(values, 0.0)) @ vectors.T)


# --- over this set: only the draw is random ---


def set_errors(sample: JudgedSample, linear: LinearForm) -> ScoreErrors:
    """Return the errors of scores of this set.

    V̂ = N⁻² Σ_S c_i (e_i/π_i − A)² with c_i = (1 − π_i)·n/(n − 1) (Hájek–Deville) over the drawn units, times
    (n − 1)/(n − p) where p numbers were fitted to the same items; between models by the cross product.
    Models with draws of their own have covariance 0. A fully judged set has no error. Drawn outputs that were
    not judged add an error of their own (see ``Nonresponse``).
    """
    if sample.separate:
        return join_separate_draws([set_errors(*part) for part in by_model(sample, linear)])
    units = unit_totals(sample, linear.residual)
    factor = sampling_factor(units, units.probability)
    uncertain = (factor > 0).any(axis=1)
    counting = units.in_domain & uncertain
    stratum = collapse_strata(units, factor)
    balanced = 0 if sample.balance is None else deviations(sample, units, factor)[1]
    sizes = np.bincount(stratum, counting.astype(np.float64))
    count, freedom = float(counting.sum()), float((sizes - 1.0)[sizes > 1].sum())
    if balanced:
        # A part of the set has its share of the n − q.
        count = freedom = count - balanced * count / float(uncertain.sum())
    errors = ScoreErrors(
        covariance=_draw_covariance(sample, units, linear),
        freedom=freedom,
        units=count,
        shape=(deviations_from_centre(units, factor) * _inflation(sample, units, linear))[counting],
        stratum=stratum[counting],
        units_judged=(factor > 0)[counting].sum(axis=0).astype(np.float64),
        fraction=1.0 - float(factor[counting].max(axis=1).mean()) if counting.any() else 1.0,
    )
    clusters = dense(sample.cluster[units.first][counting])
    pool_units = int(clusters.max(initial=-1)) + 1
    if pool_units < len(clusters):
        # The items of one document of a pool of documents tell of one document only.
        errors = replace(
            errors,
            freedom=min(errors.freedom, pool_units - 1.0),
            units=min(errors.units, float(pool_units)),
            shape=group_sums(errors.shape, clusters),
            stratum=np.zeros(pool_units, np.int64),
            unit_name="units of the pool",
            units_judged=np.minimum(errors.counts, float(pool_units)),
        )
    return replace(errors, freedom=max(errors.freedom - (linear.parameters - 1.0), 0.0))


def by_model(sample: JudgedSample, linear: LinearForm) -> list[tuple[JudgedSample, LinearForm]]:
    """Return the sample and the linear form of every model by itself."""
    return [
        (sample.of_model(model), linear.of_model(model, sample.judged[:, model]))
        for model in range(sample.models)
    ]


def join_separate_draws(parts: list[ScoreErrors]) -> ScoreErrors:
    """Return the joint errors of models, one or several a part, whose parts had draws of their own.

    Parts that were judged in full have no error to learn: they ask for no units and no degrees of freedom.
    """
    sampled = [part for part in parts if part.fraction < 1.0] or parts
    ends = np.cumsum([len(part.shape) for part in parts])
    columns = np.cumsum([part.shape.shape[1] for part in parts])
    shape, stratum = np.zeros((ends[-1], columns[-1])), np.zeros(ends[-1], np.int64)
    covariance = np.zeros((columns[-1], columns[-1]))
    for part, end, last in zip(parts, ends.tolist(), columns.tolist(), strict=True):
        rows, models = slice(end - len(part.shape), end), slice(last - part.shape.shape[1], last)
        shape[rows, models] = part.shape
        stratum[rows] = part.stratum + stratum.max(initial=-1) + 1
        covariance[models, models] = part.covariance
    return ScoreErrors(
        covariance=covariance,
        freedom=min(part.freedom for part in sampled),
        units=min(part.units for part in sampled),
        shape=shape,
        stratum=stratum,
        unit_name=parts[0].unit_name,
        units_judged=np.concatenate([part.counts for part in parts]),
        fraction=float(np.mean([part.fraction for part in parts])),
    )


def _draw_covariance(sample: JudgedSample, units: UnitTotals, linear: LinearForm) -> Floats:
    """Return the covariance of scores whose models share one draw."""
    scale, nonresponse = _inflation(sample, units, linear), nonresponse_of(sample)
    if nonresponse is None:
        parts = [phase.deviation * scale for phase in _draw_phases(sample, units)]
        return np.asarray(sum(part.T @ part for part in parts))
    covariance = _nonresponse_covariance(sample, linear, nonresponse, _draw_phases) * scale**2
    # The nearest proper covariance, scaled back to the same variances.
    nearest, variances = nearest_covariance(covariance), np.diag(covariance)
    near = np.diag(nearest)
    scales = np.sqrt(ratio(variances, near, 1.0))
    return np.asarray(nearest * scales[:, None] * scales[None, :])


def _inflation(sample: JudgedSample, units: UnitTotals, linear: LinearForm) -> float:
    """Return √((n − 1)/(n − p))/N: residuals of an in-sample fit with p parameters are too small."""
    count = float(len(units))
    correction = (count - 1.0) / (count - linear.parameters) if linear.parameters < count else 1.0
    return float(np.sqrt(correction)) / sample.size


# --- the phases of a draw ---


class Phase(NamedTuple):
    """The random part of one phase of a draw: a row of each unit, and deviations (units × models).

    ``factor`` is the part of a unit's variance that this phase has: 1 − π for a single phase.
    """

    first: Ints
    deviation: Floats
    factor: Floats


def _draw_phases(sample: JudgedSample, units: UnitTotals) -> list[Phase]:
    """Return the phases of the draw; two for a draw from a pool that was itself drawn.

    V̂ = Σ (1 − π₁) ẑ² over the pool's units + Σ π₁·V̂₂, with ẑ what a unit of the pool stands for over both
    phases and V̂₂ that of the second draw alone (Särndal, Swensson and Wretman 1992, section 9.3). With two
    simple random draws it is that of one draw.
    """
    if sample.pool is None:
        deviation, _ = deviations(sample, units, sampling_factor(units, units.draw[:, None]))
        return [Phase(units.first, deviation, 1.0 - units.draw)]
    first = sample.pool[units.first]
    second = sampling_factor(units, (units.draw / first)[:, None])
    second_phase = deviations(sample, units, second)[0] * np.sqrt(first)[:, None]
    places, at, codes = np.unique(pool_codes(sample)[units.first], return_index=True, return_inverse=True)
    small_sample = len(places) / max(len(places) - 1.0, 1.0)
    first_phase = group_sums(units.total, codes) * np.sqrt((1.0 - first[at]) * small_sample)[:, None]
    return [
        Phase(units.first, second_phase, first - units.draw),
        Phase(units.first[at], first_phase, 1.0 - first[at]),
    ]


def pool_codes(sample: JudgedSample) -> Ints:
    """Return what the first of two phases drew, one code per row."""
    return sample.unit if sample.pool_unit is None else sample.pool_unit


def sampling_factor(units: UnitTotals, probability: Floats) -> Floats:
    """Return 1 − π of every unit and model, 0 where the model was not judged."""
    return np.where(units.judged, np.maximum(1.0 - probability, 0.0), 0.0)


# --- drawn units, and their deviations ---
# A covariance of scores is written as Dᵀ D with one row of D per drawn unit and one column per model. Each
# function below returns such deviations for one kind of draw. ``factor`` is 1 − π of units × models, 0 where
# a model was not judged.


@dataclass(frozen=True, eq=False)
class UnitTotals:
    """The drawn units with the sums of their residuals."""

    total: Floats  # units × models: Σ residual/π over the unit's items
    judged: Mask  # units × models: whether the model was judged on the unit
    probability: Floats  # units × models: the probability of a judgement, the smallest of the unit's items
    draw: Floats  # the probability that the unit was drawn
    stratum: Ints  # one code per unit
    length: Floats  # the number of the unit's rows
    weight: Floats  # units × models: Σ 1/π over the unit's judged items: the number of items it stands for
    in_domain: Mask  # which units the scores are about: those outside a part of the set are not
    first: Ints  # a row of each unit

    def __len__(self) -> int:
        return len(self.draw)


def unit_totals(sample: JudgedSample, residual: Floats) -> UnitTotals:
    """Return the sums of residuals over the drawn units."""
    unit = sample.unit
    first = np.unique(unit, return_index=True)[1]
    return UnitTotals(
        total=group_sums(residual / sample.probability, unit),
        judged=group_sums(sample.judged.astype(np.float64), unit) > 0,
        probability=_group_minimum(np.where(sample.judged, sample.probability, 1.0), unit),
        draw=_group_minimum(sample.draw, unit),
        stratum=sample.stratum[first],
        length=np.bincount(unit).astype(np.float64),
        weight=group_sums(sample.share, unit),
        in_domain=group_sums(sample.importance, unit) > 0,
        first=first,
    )


def _group_minimum(values: Floats, codes: Ints) -> Floats:
    minimum = np.full((int(codes.max(initial=-1)) + 1, *values.shape[1:]), np.inf)
    np.minimum.at(minimum, codes, values)
    return minimum


def deviations(sample: JudgedSample, units: UnitTotals, factor: Floats) -> tuple[Floats, int]:
    """Return every unit's deviation for the kind of draw, and the number of variables it was balanced on."""
    if sample.balance is not None:
        # Every unit's deviation from a regression on its balancing variables, and their number q. √((1 −
        # π_u)·n/(n − q))·(z_u − bᵀx_u/π_u), b by least squares with weights 1 − π_u (Deville and Tillé 2005):
        # a total that the draw has matched has no error. The error is learned from n − q units. Where q > n/2
        # these are too few: then deviations are from the centre, which overstates the error, and q is 0.
        variables = np.column_stack(
            [np.ones(len(units)), group_sums(sample.balance, sample.unit) / units.draw[:, None]]
        )
        root = np.sqrt(factor.max(axis=1, initial=0.0))
        fit, _, rank, _ = np.linalg.lstsq(variables * root[:, None], units.total * root[:, None], rcond=1e-10)
        uncertain = float((root > 0).sum())
        if 2 * rank > uncertain:
            return deviations_from_centre(units, factor), 0
        scale = np.sqrt(factor * uncertain / (uncertain - rank))
        return np.asarray(scale * (units.total - variables @ fit)), int(rank)
    if sample.coordinates is not None:
        places = group_sums(sample.coordinates, sample.unit) / units.length[:, None]
        return deviations_from_neighbours(units, factor, places), 0
    return deviations_from_centre(units, factor), 0


def deviations_from_centre(units: UnitTotals, factor: Floats) -> Floats:
    """Return every unit's deviation from the centre of its stratum (Hájek 1964, Deville 1999).

    c_u = (1 − π_u)·n/(n − 1), A = Σ c_u z_u / Σ c_u, deviation √c_u·(z_u − A) with z the unit's total; n
    counts the units with π < 1. A simple random sample gets (1 − f)s²/n.

    For documents and snippets in one stratum 1/(1 − p_u) stands for n/(n − 1), p_u the share of all weight
    that unit u has: a long document pulls the mean towards itself, which makes its own residual smaller (HC2
    of MacKinnon and White 1985). Equal shares give n/(n − 1).
    """
    stratum = collapse_strata(units, factor)
    total = group_sums(factor, stratum)
    centre = group_sums(factor * units.total, stratum) / np.where(total > 0, total, 1.0)
    counts = group_sums((factor > 0).astype(np.float64), stratum)
    if (units.length == 1).all() or np.ptp(stratum) > 0:
        correction = np.where(counts > 1, counts / np.maximum(counts - 1.0, 1.0), 0.0)[stratum]
    else:
        weight = units.weight.sum(axis=0)
        share = ratio(units.weight, weight)
        correction = np.where((counts > 1)[stratum], 1.0 / (1.0 - np.minimum(share, MOST_OF_ALL)), 0.0)
    return np.asarray(np.sqrt(factor * correction) * (units.total - centre[stratum]))


def collapse_strata(units: UnitTotals, factor: Floats) -> Ints:
    """Return strata that have two random units or more, if any (collapsed strata).

    Single units are sorted by length and probability and joined in pairs: an odd one with the last pair or,
    if there is no pair, with the smallest other stratum. That overstates the variance (Cochran 1977, 5A.12).
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


def deviations_from_neighbours(units: UnitTotals, factor: Floats, coordinates: Floats) -> Floats:
    """Return every unit's deviation from its nearest drawn units, for draws that are spread over a space.

    √((1 − π_u)·k/(k − 1))·(z_u − mean of z over the k nearest, itself among them), k = 4 (the local mean
    variance of Stevens and Olsen 2003; Grafström and Schelin 2014): a spread sample is more precise than the
    plain formula says.
    """
    # A unit that was certain to be drawn has no error, and too little weight to be like its neighbours.
    uncertain = np.flatnonzero((factor > 0).any(axis=1))
    count = min(NEIGHBOURS, len(uncertain))
    if count < 2:
        return deviations_from_centre(units, factor)
    nearest = np.atleast_2d(spatial.KDTree(coordinates[uncertain]).query(coordinates[uncertain], k=count)[1])
    position = np.arange(len(uncertain))
    # Where several units are at one place, the unit itself need not be among its nearest.
    nearest[:, -1] = np.where((nearest == position[:, None]).any(axis=1), nearest[:, -1], position)
    local = units.total.copy()
    local[uncertain] = units.total[uncertain][nearest].mean(axis=1)
    return np.asarray(np.sqrt(factor * count / (count - 1.0)) * (units.total - local))


# --- drawn outputs that were not judged ---
# Judgements are taken to be missing at random, so a judgement has two probabilities: of the draw (π), and
# of a response given the draw (r). The variance is that of the draw, as if all had been judged, plus that
# of the nonresponse: V = V(π) + Σ (1 − r)·(e/(πr) − A)². Models that miss the same items share it.


@dataclass(frozen=True, eq=False)
class Nonresponse:
    """The response rates of a sample."""

    draw: Floats  # the probability of the draw alone, one per row
    item_rate: Floats  # the share of the drawn items that were judged at all, one per row
    cell_rate: Floats  # items × models: the share r of what was drawn that was judged; 1 where it was not
    # models × models: how often both models were judged on an item, as a ratio to how often they would be if
    # their gaps were independent.
    dependence: Floats

    def shared(self, deviation: Floats) -> Floats:
        """Return Σ ρ d_j d_k over the rows, with ρ = r_j r_k/r_jk: r on the diagonal, 1 if independent."""
        products = deviation.T @ (self.item_rate[:, None] * deviation) / self.dependence
        np.fill_diagonal(products, (self.cell_rate * deviation**2).sum(axis=0))
        return products

    def unshared(self, deviation: Floats) -> Floats:
        """Return Σ (1 − ρ) d_j d_k over the rows."""
        products = deviation.T @ deviation - self.shared(deviation)
        np.fill_diagonal(products, ((1.0 - self.cell_rate) * deviation**2).sum(axis=0))
        return np.asarray(products)


def nonresponse_of(sample: JudgedSample) -> Nonresponse | None:
    """Return the response rates of a sample; None where everything that was drawn was judged."""
    item_rate = np.ones(len(sample.rows)) if sample.response_rate is None else sample.response_rate[:, 0]
    draw = sample.draw / item_rate
    cell_rate = np.where(sample.judged, np.minimum(sample.probability / draw[:, None], 1.0), 1.0)
    if (cell_rate >= 1.0 - 1e-12).all():
        return None
    judged, weight = sample.judged.astype(np.float64), (1.0 / sample.draw)[:, None]
    # Of the items with a judgement: the share of each model, by the number of items they stand for.
    rate = np.minimum(sample.probability / sample.draw[:, None], 1.0)
    expected, both = rate.T @ (weight * rate), judged.T @ (weight * judged)
    dependence = np.divide(both, expected, out=np.ones_like(both), where=(both > 0) & (expected > 0))
    return Nonresponse(draw, item_rate, cell_rate, dependence)


def _nonresponse_covariance(
    sample: JudgedSample,
    linear: LinearForm,
    nonresponse: Nonresponse,
    phases_of: Callable[[JudgedSample, UnitTotals], list[Phase]],
    *,
    centred: bool = True,
) -> Floats:
    """Return the covariance of totals: of the phases of the draw, and of the nonresponse.

    Σ ρ d_j d_k + Σ (1 − ρ) a_j a_k, with d the deviations of the draw over the items on which a model was
    judged, and a those from the centre. Totals of units with several items (documents) include the gaps of
    their items: there it is Σ d_j d_k, and of a² only what such a phase does not include, 1 − factor.
    """
    codes = [sample.unit] if sample.pool is None else [sample.unit, dense(pool_codes(sample))]
    single = [len(np.unique(code)) == len(sample.rows) for code in codes]
    draw_deviation = [np.zeros(sample.scores.shape) for _ in codes]
    item_deviation, included = np.zeros(sample.scores.shape), np.zeros(sample.scores.shape)
    for model in np.flatnonzero(sample.judged.any(axis=0)).tolist():
        rows, column = np.flatnonzero(sample.judged[:, model]), slice(model, model + 1)
        part = replace(
            sample.at(rows),
            scores=sample.scores[rows, column],
            probability=sample.probability[rows, column],
            draw=nonresponse.draw[rows],
            response_rate=None,
        )
        residual = linear.residual[rows, column]
        item_deviation[rows, model] = _deviations_in_stratum(part, residual, centred)
        phases = phases_of(part, unit_totals(part, residual))
        for phase, code, is_single, deviation in zip(phases, codes, single, draw_deviation, strict=True):
            places = rows[phase.first] if is_single else code[rows[phase.first]]
            deviation[places, model] = phase.deviation[:, 0]
            included[rows, model] += 0.0 if is_single else phase.factor[dense(code[rows])]
    parts = [
        nonresponse.shared(deviation) if is_single else deviation.T @ deviation
        for is_single, deviation in zip(single, draw_deviation, strict=True)
    ]
    item_deviation *= np.sqrt(np.maximum(1.0 - included, 0.0))
    covariance = np.asarray(sum(parts) + nonresponse.unshared(item_deviation))
    # A model without any error has none in common with the others either.
    exact = np.diag(covariance) <= 0.0
    return np.where(exact[:, None] | exact[None, :], 0.0, covariance)


def _deviations_in_stratum(sample: JudgedSample, residual: Floats, centred: bool) -> Floats:
    """Return how far each judged item lies from the others of its stratum: √(n/(n − 1))·(z − A/(πr)).

    z = e/(πr), and A the weighted mean of e in the stratum, which stands in for missing judgements.
    """
    single = unit_totals(replace(sample, unit=np.arange(len(sample.rows))), residual)
    if not centred:
        return np.asarray(single.total[:, 0])
    stratum = collapse_strata(single, np.ones_like(single.total))
    counts = np.bincount(stratum)[stratum]
    total, share = group_sums(single.total, stratum), group_sums(sample.share, stratum)
    centre = ratio(total, share)[stratum]
    small_sample = np.where(counts > 1, counts / np.maximum(counts - 1.0, 1.0), 0.0)
    return np.asarray(np.sqrt(small_sample) * (single.total - centre * sample.share)[:, 0])


# --- over inputs like these: the items of the set are random, too ---


class PopulationUnits(NamedTuple):
    """What counts as drawn from the population of inputs."""

    document: Ints | None  # the document of every item of the set; None where items are drawn by themselves
    number: float  # the number of documents (or items) with a judgement
    are_sampling_units: bool  # whether documents were also drawn for judging
    factor: Floats  # by how much squared contributions are too small, κ, one per model
    freedom: float  # degrees of freedom of sums of squares over the units
    notes: tuple[str, ...] = ()  # what to mind


def population_errors(
    sample: JudgedSample, linear: LinearForm, over_set: ScoreErrors | None = None
) -> ScoreErrors:
    """Return the errors of scores of inputs like these, drawn document by document where there are any.

    V̂ = V̂_set + V̂_inputs, the second part S_y²/N (clustered by document) and never negative, so that no error
    is smaller than over this set. An item contributes ψ_i = w_i(f_i − f̄) + (e_i − ē)/π_i, the second part
    where it was judged. N⁻² κ Σ_documents (Σψ)² includes S_y²/N and the variance of an independent draw,
    N⁻² Σ (1 − π)(e/π)², which is subtracted. κ and the degrees of freedom are those of Bell and McCaffrey
    (2002) under an equal correlation within documents: long documents pull the mean towards themselves, and
    few of them make up most of the variance. Use it for claims about other inputs than these.
    ``over_set``: the errors over this set, where they are known already.
    """
    over_set = set_errors(sample, linear) if over_set is None else over_set
    centred = _centred(sample, linear)
    inputs = _population_units(sample)
    # What every document (or item) contributes to the scores: Σψ over its items.
    contributions, document = centred.residual / sample.probability, inputs.document
    places = None if document is None else document[sample.rows]
    if centred.predicted is not None:
        everywhere = centred.predicted - sample.whole_mean(centred.predicted)
        if sample.weights is not None:
            everywhere = everywhere * sample.weights[:, None]
        everywhere[sample.rows] += contributions
        contributions, places = everywhere, document
    if places is not None:
        contributions = group_sums(contributions, places)
    contributions = contributions / sample.size
    corrected = contributions * np.sqrt(inputs.factor)
    independent = _independent_covariance(sample, centred, inputs)
    covariance = nearest_covariance(corrected.T @ corrected - independent / sample.size**2)
    shape = contributions[contributions.any(axis=1)]
    # Degrees of freedom, and the number of units that the errors are learned from.
    units = max(inputs.number - max(_balanced_variables(sample, linear) - 1.0, 0.0), 0.0)
    if document is None:
        freedom = max(units - 1.0 - (linear.parameters - 1.0), 0.0)
    else:
        freedom = min(inputs.freedom, max(units - 1.0, 0.0))
        draw, total = float(np.trace(over_set.covariance)), float(np.trace(over_set.covariance + covariance))
        if total > 0 and not inputs.are_sampling_units:
            # Of a pool, the documents of the items that are known.
            weights, known = sample.weights, document
            if weights is not None and len(weights) == len(document):
                known = document[weights > 0]
            freedom, units = joined_freedom(draw / total, over_set, freedom, units, len(np.unique(known)))
    # On which share of the judged documents (or items) each model was judged.
    place = sample.rows if document is None else document[sample.rows]
    counting = (sample.judged & (sample.importance > 0)[:, None]).astype(np.float64)
    judged_places = group_sums(counting, dense(place)) > 0
    return ScoreErrors(
        covariance=over_set.covariance + covariance,
        freedom=freedom,
        units=units,
        shape=shape,
        stratum=np.zeros(len(shape), np.int64),
        unit_name="judged items" if document is None else "judged documents",
        notes=inputs.notes,
        units_judged=units * judged_places.sum(axis=0) / max(int(judged_places.any(axis=1).sum()), 1),
    )


def _centred(sample: JudgedSample, linear: LinearForm) -> LinearForm:
    """Return the form with residuals whose weighted mean is 0, as all but Horvitz and Thompson's have."""
    weight = sample.share.sum(axis=0)
    mean = (linear.residual / sample.probability).sum(axis=0) / np.where(weight > 0, weight, 1.0)
    # The remainder of sums that cancel is rounding.
    mean = np.where(np.abs(mean) <= 1e-12 * np.abs(linear.residual).max(axis=0, initial=0.0), 0.0, mean)
    if not mean.any():
        return linear
    residual = np.where(sample.judged, linear.residual - mean * sample.importance[:, None], 0.0)
    return replace(linear, residual=residual)


def _population_units(sample: JudgedSample) -> PopulationUnits:
    """Return what counts as drawn from the population, with κ and its degrees of freedom."""
    counting = sample.rows[sample.importance > 0]
    number = 0 if sample.document is None else len(np.unique(sample.document[counting]))
    if sample.document is None or number < 2:
        number, notes = len(counting), () if sample.document is None else (ONE_DOCUMENT,)
        factor = np.full(sample.models, number / max(number - 1.0, 1.0))
        return PopulationUnits(None, float(number), False, factor, max(number - 1.0, 0.0), notes)
    document = sample.document[sample.rows]
    places = np.stack([document, sample.unit])
    counts = {len(np.unique(codes)) for codes in places} | {np.unique(places, axis=1).shape[1]}
    factor, freedom = cluster_correction(
        group_sums(sample.share, document), group_sums(sample.share**2, document)
    )
    factor = np.where(freedom > 0, factor, number / (number - 1.0))
    least = float(freedom[freedom > 0].min(initial=number - 1.0))
    return PopulationUnits(sample.document, float(number), len(counts) == 1, factor, least)


def joined_freedom(
    share: float, over_set: ScoreErrors, freedom: float, units: float, documents: int
) -> tuple[float, float]:
    """Return the degrees of freedom and the units of V̂ = V̂_set + V̂_inputs, where single items were drawn.

    V̂_inputs is the documents' sum of squares less V̂_set, and as uncertain as it: the degrees of freedom are
    V²/(V_set²/f_set + (V² − V_set²)/f_documents). The units are those of the drawn items and of the set's
    documents, joined as independent parts are (Satterthwaite 1946). ``share`` is that of V̂_set in V̂,
    ``freedom`` that of sums of squares over the documents with a judgement, of which there are ``units``.
    """
    if min(over_set.units - 1.0, over_set.freedom, freedom) <= 0:
        return freedom, units
    count = 1.0 + 1.0 / (share**2 / (over_set.units - 1.0) + (1.0 - share) ** 2 / (documents - 1.0))
    units = float(np.floor(min(count, over_set.units) + 1e-9))
    return 1.0 / (share**2 / over_set.freedom + (1.0 - share**2) / freedom), units


def _balanced_variables(sample: JudgedSample, linear: LinearForm) -> int:
    """Return the number of variables that a balanced draw matched; its error has so many units less."""
    if sample.balance is None:
        return 0
    if sample.separate:
        return max(_balanced_variables(*part) for part in by_model(sample, linear))
    units = unit_totals(sample, linear.residual)
    return deviations(sample, units, sampling_factor(units, units.probability))[1]


def _independent_covariance(sample: JudgedSample, linear: LinearForm, inputs: PopulationUnits) -> Floats:
    """Return N² times the covariance of the scores if every unit had been drawn independently."""
    if sample.separate:
        parts = enumerate(by_model(sample, linear))
        of_model = [inputs._replace(factor=inputs.factor[[model]]) for model in range(sample.models)]
        return np.diag([_independent_covariance(*part, of_model[model])[0, 0] for model, part in parts])
    units, nonresponse = unit_totals(sample, linear.residual), nonresponse_of(sample)
    if nonresponse is None:
        deviation = np.sqrt(sampling_factor(units, units.draw[:, None])) * units.total
        covariance = deviation.T @ deviation
    else:
        covariance = _nonresponse_covariance(sample, linear, nonresponse, _independent_phases, centred=False)
    factor = inputs.factor
    if not inputs.are_sampling_units:
        uncertain = float((sampling_factor(units, units.probability) > 0).any(axis=1).sum())
        factor = np.full(sample.models, uncertain / max(uncertain - 1.0, 1.0))
    return np.asarray(covariance * np.sqrt(factor[:, None] * factor))


def _independent_phases(sample: JudgedSample, units: UnitTotals) -> list[Phase]:
    """Return the phases if every unit is drawn independently; a pool adds nothing to that."""
    deviation = np.sqrt(sampling_factor(units, units.draw[:, None])) * units.total
    phase = Phase(units.first, deviation, 1.0 - units.draw)
    if sample.pool is None:
        return [phase]
    first = np.unique(pool_codes(sample), return_index=True)[1]
    return [phase, Phase(first, np.zeros((len(first), 1)), np.zeros(len(first)))]
