"""The joint covariance of scores of inputs like these: the items of the set are left to chance, too."""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.cluster_correction import cluster_correction
from sparingly.infer.estimate.gaps import Phase, gap_covariance, gaps_of, pool_codes
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Sample, dense, group_sums
from sparingly.infer.estimate.units import Units, gather
from sparingly.infer.estimate.variance import (
    Errors,
    by_model,
    deviations,
    left_to_chance,
    proper,
    set_errors,
)

ONE_DOCUMENT = (
    "all judged items are in one document, so for other inputs like these the items count as drawn."
)


class Inputs(NamedTuple):
    """What counts as drawn from the population of inputs.

    Attributes:
        document: The document of every item of the set; None where items are drawn by themselves.
        seen: Of how many documents (or items) something was judged.
        drawn: Whether documents are what was drawn for judging, too.
        notes: What to mind.
    """

    document: Ints | None
    seen: float
    drawn: bool
    notes: tuple[str, ...]


def population_errors(sample: Sample, linear: Linear) -> Errors:
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
    inputs = _inputs(sample)
    weight = _weight(sample, inputs)
    contributed = _contributed(sample, centred, inputs.document) / sample.size
    raised = contributed * np.sqrt(weight.factor)
    alone = _by_independent_draw(sample, centred, inputs, weight)
    covariance = proper(raised.T @ raised - alone / sample.size**2)
    shape = contributed[contributed.any(axis=1)]
    freedom, units = _counted(sample, linear, over_set, covariance, inputs, weight)
    return Errors(
        covariance=over_set.covariance + covariance,
        freedom=freedom,
        units=units,
        shape=shape,
        stratum=np.zeros(len(shape), np.int64),
        drawn="judged items" if inputs.document is None else "judged documents",
        notes=inputs.notes,
        judged=units * _depths(sample, inputs.document),
    )


def _depths(sample: Sample, document: Ints | None) -> Floats:
    """Return on how many documents (or items) each model was judged, as a share of the most of any."""
    place = sample.rows if document is None else document[sample.rows]
    counting = (sample.judged & (sample.importance > 0)[:, None]).astype(np.float64)
    seen = (group_sums(counting, dense(place)) > 0).sum(axis=0)
    return np.asarray(seen / max(float(seen.max(initial=0)), 1.0))


def _centred(sample: Sample, linear: Linear) -> Linear:
    """Return the form with residuals whose weighted mean is 0, as all but Horvitz and Thompson's have."""
    counted = sample.share.sum(axis=0)
    mean = (linear.residual / sample.probability).sum(axis=0) / np.where(counted > 0, counted, 1.0)
    # What is left of sums that cancel is a matter of rounding.
    mean = np.where(np.abs(mean) <= 1e-12 * np.abs(linear.residual).max(axis=0, initial=0.0), 0.0, mean)
    if not mean.any():
        return linear
    away = np.where(sample.judged, linear.residual - mean * sample.importance[:, None], 0.0)
    return replace(linear, residual=away)


def _inputs(sample: Sample) -> Inputs:
    """Return what counts as drawn from the population."""
    counting = sample.rows[sample.importance > 0]
    if sample.document is not None:
        seen = len(np.unique(sample.document[counting]))
        if seen > 1:
            places = np.stack([sample.document[sample.rows], sample.unit])
            counts = {len(np.unique(codes)) for codes in places} | {np.unique(places, axis=1).shape[1]}
            return Inputs(sample.document, float(seen), len(counts) == 1, ())
    notes = () if sample.document is None else (ONE_DOCUMENT,)
    return Inputs(None, float(len(counting)), False, notes)


class Weight(NamedTuple):
    """By how much squared contributions are too small, one factor a model, and their degrees of freedom."""

    factor: Floats
    freedom: float


def _weight(sample: Sample, inputs: Inputs) -> Weight:
    """Return κ and the degrees of freedom of N⁻² κ Σ_documents (Σψ)² (see ``cluster_correction``)."""
    plain = inputs.seen / max(inputs.seen - 1.0, 1.0)
    if inputs.document is None:
        return Weight(np.full(sample.models, plain), max(inputs.seen - 1.0, 0.0))
    place = inputs.document[sample.rows]
    factor, freedom = cluster_correction(group_sums(sample.share, place), group_sums(sample.share**2, place))
    return Weight(
        np.where(freedom > 0, factor, plain), float(freedom[freedom > 0].min(initial=inputs.seen - 1.0))
    )


def _contributed(sample: Sample, linear: Linear, document: Ints | None) -> Floats:
    """Return what every document (or item) contributes to the scores: Σψ over its items."""
    judged = linear.residual / sample.probability
    if linear.predicted is None:
        return judged if document is None else group_sums(judged, document[sample.rows])
    ahead = linear.predicted - sample.whole_mean(linear.predicted)
    if sample.weights is not None:
        ahead = ahead * sample.weights[:, None]
    ahead[sample.rows] += judged
    return ahead if document is None else group_sums(ahead, document)


def _counted(
    sample: Sample, linear: Linear, over_set: Errors, added: Floats, inputs: Inputs, weight: Weight
) -> tuple[float, float]:
    """Return the degrees of freedom, and the number of units that the errors are learned from.

    Where single items of documents were drawn, V̂_inputs is what is left of the documents' sums of squares
    after V̂_set, and as uncertain as these: V²/(V_set²/f_set + (V² − V_set²)/f_documents), f_set where
    nothing is left. The number of units is that of the drawn items and of the set's documents, joined
    as independent parts are (Satterthwaite 1946).
    """
    units = max(inputs.seen - max(_matched(sample, linear) - 1.0, 0.0), 0.0)
    if inputs.document is None:
        return max(units - 1.0 - (linear.parameters - 1.0), 0.0), units
    freedom = min(weight.freedom, max(units - 1.0, 0.0))
    draw, both = (float(np.trace(part)) for part in (over_set.covariance, over_set.covariance + added))
    if inputs.drawn or both <= 0:
        return freedom, units
    documents = len(np.unique(_mattering(sample, inputs.document)))
    return joined_freedom(draw / both, over_set, freedom, units, documents)


def joined_freedom(
    share: float, over_set: Errors, freedom: float, units: float, documents: int
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


def _mattering(sample: Sample, document: Ints) -> Ints:
    """Return the documents of the items that count; of a pool, those of the items that are known."""
    if sample.weights is None or len(sample.weights) != len(document):
        return document
    return document[sample.weights > 0]


def _matched(sample: Sample, linear: Linear) -> int:
    """Return how many variables a balanced draw has matched: so many units tell nothing of its error."""
    if sample.balance is None:
        return 0
    if sample.separate:
        return max(_matched(*part) for part in by_model(sample, linear))
    units = gather(sample, linear.residual)
    return deviations(sample, units, left_to_chance(units, units.chance))[1]


def _by_independent_draw(sample: Sample, linear: Linear, inputs: Inputs, weight: Weight) -> Floats:
    """Return N² times the covariance of the scores if every unit had been drawn by itself."""
    if sample.separate:
        parts = [
            _by_independent_draw(*part, inputs, Weight(weight.factor[[model]], weight.freedom))[0, 0]
            for model, part in enumerate(by_model(sample, linear))
        ]
        return np.diag(parts)
    units, gaps = gather(sample, linear.residual), gaps_of(sample)
    if gaps is None:
        alone = np.sqrt(left_to_chance(units, units.draw[:, None])) * units.total
        covariance = alone.T @ alone
    else:
        covariance = gap_covariance(sample, linear, gaps, _alone, centred=False)
    opened = float((left_to_chance(units, units.chance) > 0).any(axis=1).sum())
    factor = weight.factor if inputs.drawn else np.full(sample.models, opened / max(opened - 1.0, 1.0))
    return np.asarray(covariance * np.sqrt(factor[:, None] * factor))


def _alone(sample: Sample, units: Units) -> list[Phase]:
    """Return what is left to chance if every unit is drawn by itself; a pool adds nothing to that."""
    alone = np.sqrt(left_to_chance(units, units.draw[:, None])) * units.total
    found = Phase(units.first, alone, 1.0 - units.draw)
    if sample.pool is None:
        return [found]
    first = np.unique(pool_codes(sample), return_index=True)[1]
    return [found, Phase(first, np.zeros((len(first), 1)), np.zeros(len(first)))]
