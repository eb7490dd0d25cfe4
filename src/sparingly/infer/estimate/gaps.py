"""The joint covariance of scores where some of what was drawn was not judged.

What did not come is missing by chance, so that two chances follow each other: the draw (π), and that a
judgement of what was drawn came (r). The variance is that of the draw, as if all had come, plus that of the
gaps: V = V(π) + Σ (1 − r)·(e/(πr) − A)². Models that have their gaps on the same items share them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.infer.estimate.linear import Linear
from sparingly.infer.estimate.sample import Sample, dense, group_sums
from sparingly.infer.estimate.units import Units, collapsed, gather


class Phase(NamedTuple):
    """What one phase of a draw leaves to chance.

    Attributes:
        first: A row of each unit.
        deviation: units × models.
        left: How much of a unit's variance is left to this phase: 1 − π for a single one.
    """

    first: Ints
    deviation: Floats
    left: Floats


Spread = Callable[[Sample, Units], list[Phase]]


@dataclass(frozen=True, eq=False)
class Gaps:
    """How likely what was drawn was to be judged.

    Attributes:
        chance: The chance of the draw alone, one per row.
        came: The share of the drawn items that came at all, one per row.
        answered: items × models: the share r of what was drawn that came, 1 where it did not.
        tied: models × models: how often both models came on an item, to how often they would if each came by
            itself: 1 where gaps have nothing to do with each other.
    """

    chance: Floats
    came: Floats
    answered: Floats
    tied: Floats

    def shared(self, deviation: Floats) -> Floats:
        """Return Σ ρ d_j d_k over the rows, with ρ = r_j r_k/r_jk: r on the diagonal, 1 for gaps apart."""
        found = deviation.T @ (self.came[:, None] * deviation) / self.tied
        np.fill_diagonal(found, (self.answered * deviation**2).sum(axis=0))
        return found

    def apart(self, deviation: Floats) -> Floats:
        """Return Σ (1 − ρ) d_j d_k over the rows."""
        found = deviation.T @ deviation - self.shared(deviation)
        np.fill_diagonal(found, ((1.0 - self.answered) * deviation**2).sum(axis=0))
        return np.asarray(found)


def gaps_of(sample: Sample) -> Gaps | None:
    """Return the gaps of a sample; None where everything that was drawn was judged."""
    came = np.ones(len(sample.rows)) if sample.came is None else sample.came[:, 0]
    chance = sample.draw / came
    answered = np.where(sample.judged, np.minimum(sample.probability / chance[:, None], 1.0), 1.0)
    if (answered >= 1.0 - 1e-12).all():
        return None
    there = sample.judged.astype(np.float64)
    # Of the items that came: the share of each model, by what the items stand for.
    weight = 1.0 / sample.draw
    within = np.minimum(sample.probability / sample.draw[:, None], 1.0)
    expected, both = within.T @ (weight[:, None] * within), there.T @ (weight[:, None] * there)
    tied = np.divide(both, expected, out=np.ones_like(both), where=(both > 0) & (expected > 0))
    return Gaps(chance, came, answered, tied)


def gap_covariance(
    sample: Sample, linear: Linear, gaps: Gaps, spread: Spread, *, centred: bool = True
) -> Floats:
    """Return the covariance of totals: of the draw as ``spread`` has it, and of the gaps.

    Σ ρ d_j d_k + Σ (1 − ρ) a_j a_k, with d the deviations of the draw over the items on which a model was
    judged, and a those from the centre. Units of several items (documents) hold the gaps of their items in
    their own totals: there it is Σ d_j d_k, and of a² only what such a phase has not counted, 1 − left.
    """
    codes = [sample.unit] if sample.pool is None else [sample.unit, dense(pool_codes(sample))]
    single = [len(np.unique(code)) == len(sample.rows) for code in codes]
    drawn = [np.zeros((len(sample.rows), sample.models)) for _ in codes]
    away, counted = np.zeros(sample.scores.shape), np.zeros(sample.scores.shape)
    for model in np.flatnonzero(sample.judged.any(axis=0)).tolist():
        rows = np.flatnonzero(sample.judged[:, model])
        part, form = _of_model(sample, linear, gaps, model, rows)
        away[rows, model] = _away(part, form.residual, centred)
        for place, phase in enumerate(spread(part, gather(part, form.residual))):
            code = codes[place]
            drawn[place][rows[phase.first] if single[place] else code[rows[phase.first]], model] = (
                phase.deviation[:, 0]
            )
            counted[rows, model] += 0.0 if single[place] else phase.left[dense(code[rows])]
    away = away * np.sqrt(np.maximum(1.0 - counted, 0.0))
    kinds = zip(drawn, single, strict=True)
    return _settled(
        sum(gaps.shared(one) if alone else one.T @ one for one, alone in kinds) + gaps.apart(away)
    )


def _settled(covariance: Floats) -> Floats:
    """Return a covariance in which a model without any error has none with the others either."""
    exact = np.diag(covariance) <= 0.0
    return np.where(exact[:, None] | exact[None, :], 0.0, covariance)


def pool_codes(sample: Sample) -> Ints:
    """Return what the first of two phases drew, one code per row."""
    return sample.unit if sample.pool_unit is None else sample.pool_unit


def _of_model(sample: Sample, linear: Linear, gaps: Gaps, model: int, rows: Ints) -> tuple[Sample, Linear]:
    """Return what was judged of one model, with the chance of the draw alone."""
    part = replace(
        sample.at(rows),
        scores=sample.scores[rows, model : model + 1],
        probability=sample.probability[rows, model : model + 1],
        draw=gaps.chance[rows],
        came=None,
    )
    return part, linear.of_model(model, sample.judged[:, model])


def _away(sample: Sample, residual: Floats, centred: bool) -> Floats:
    """Return how far each judged item lies from the others of its stratum: √(n/(n − 1))·(z − A/(πr)).

    z = e/(πr), and A the weighted mean of e in the stratum, by which what did not come is stood for.
    """
    alone = gather(replace(sample, unit=np.arange(len(sample.rows))), residual)
    if not centred:
        return np.asarray(alone.total[:, 0])
    stratum = collapsed(alone, np.ones_like(alone.total))
    counts = np.bincount(stratum)[stratum]
    total, share = group_sums(alone.total, stratum), group_sums(sample.share, stratum)
    centre = np.divide(total, share, out=np.zeros_like(total), where=share > 0)[stratum]
    few = np.where(counts > 1, counts / np.maximum(counts - 1.0, 1.0), 0.0)
    return np.asarray(np.sqrt(few) * (alone.total - centre * sample.share)[:, 0])
