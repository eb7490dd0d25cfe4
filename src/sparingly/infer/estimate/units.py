"""What was drawn (items, documents, snippets), and how far each unit's residuals lie from the others'.

A covariance of scores is written as Dᵀ D with one row of D per drawn unit and one column per model. Every
function here returns such deviations for one kind of draw.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.infer.estimate.sample import Sample, group_sums

NEIGHBOURS = 4
# One document that is more than this part of the whole sample leaves nothing to learn an error from.
MOST_OF_ALL = 0.8


@dataclass(frozen=True, eq=False)
class Units:
    """The drawn units with what their residuals stand for.

    Attributes:
        total: units × models: Σ residual/π over the unit's items.
        judged: units × models: whether the model was judged on the unit.
        chance: units × models: the chance of the judgement, the smallest one of the unit's items.
        draw: The chance that the unit was drawn.
        stratum: One code per unit.
        length: The number of the unit's rows.
        heft: units × models: Σ 1/π over the unit's judged items, how many items it stands for.
        counted: Which units speak about the scores (those outside a part of the set do not).
        first: A row of each unit.
    """

    total: Floats
    judged: Mask
    chance: Floats
    draw: Floats
    stratum: Ints
    length: Floats
    heft: Floats
    counted: Mask
    first: Ints

    def __len__(self) -> int:
        return len(self.draw)


def gather(sample: Sample, residual: Floats) -> Units:
    """Sum what the residuals stand for over the drawn units."""
    unit = sample.unit
    first = np.unique(unit, return_index=True)[1]
    return Units(
        total=group_sums(residual / sample.probability, unit),
        judged=group_sums(sample.judged.astype(np.float64), unit) > 0,
        chance=least(np.where(sample.judged, sample.probability, 1.0), unit),
        draw=least(sample.draw, unit),
        stratum=sample.stratum[first],
        length=np.bincount(unit).astype(np.float64),
        heft=group_sums(sample.share, unit),
        counted=group_sums(sample.importance, unit) > 0,
        first=first,
    )


def least(values: Floats, codes: Ints) -> Floats:
    """Return the smallest value of each code."""
    found = np.full((int(codes.max(initial=-1)) + 1, *values.shape[1:]), np.inf)
    np.minimum.at(found, codes, values)
    return found


def from_centre(units: Units, left: Floats) -> Floats:
    """Return every unit's deviation from the centre of its stratum (Hájek 1964, Deville 1999).

    c_u = (1 − π_u)·n/(n − 1), A = Σ c_u z_u / Σ c_u, deviation √c_u·(z_u − A) with z the unit's total and
    ``left`` = 1 − π_u (units × models, 0 where not judged); n counts the units with π < 1. A simple random
    sample gets (1 − f)s²/n. For units of unequal weight see ``raised``.
    """
    stratum = collapsed(units, left)
    total = group_sums(left, stratum)
    centre = group_sums(left * units.total, stratum) / np.where(total > 0, total, 1.0)
    return np.asarray(np.sqrt(left * raised(units, left, stratum)) * (units.total - centre[stratum]))


def raised(units: Units, left: Floats, stratum: Ints) -> Floats:
    """Return the factors (units × models) by which squared residuals are too small: n/(n − 1).

    For documents and snippets in one stratum it is 1/(1 − p_u), p_u the part of all weight that unit u has: a
    long document pulls the mean towards itself, and its own residual is the smaller for it (HC2 of MacKinnon
    and White 1985). Equal parts give n/(n − 1).
    """
    counts = group_sums((left > 0).astype(np.float64), stratum)
    several = counts > 1
    if (units.length == 1).all() or np.ptp(stratum) > 0:
        return np.asarray(np.where(several, counts / np.maximum(counts - 1.0, 1.0), 0.0)[stratum])
    return np.where(several[stratum], leverage(units.heft), 0.0)


def leverage(heft: Floats) -> Floats:
    """Return 1/(1 − p) of parts p of a weight by column; a part beyond most of the whole counts as that."""
    whole = heft.sum(axis=0)
    part = np.divide(heft, whole, out=np.zeros_like(heft), where=whole > 0)
    return np.asarray(1.0 / (1.0 - np.minimum(part, MOST_OF_ALL)))


def collapsed(units: Units, left: Floats) -> Ints:
    """Return strata in which every one that is left to chance has two units or more (collapsed strata).

    Single units are put side by side by their length and chance and joined in pairs, an odd one with the
    last pair or, alone, with the smallest other stratum. That overstates the variance (Cochran 1977, 5A.12).
    """
    opened = (left > 0).any(axis=1)
    counts = np.bincount(units.stratum, opened.astype(np.float64))
    lonely = np.flatnonzero(opened & (counts[units.stratum] == 1))
    if not len(lonely) or opened.sum() < 2:
        return units.stratum
    stratum = units.stratum.copy()
    if len(lonely) == 1:
        others = np.flatnonzero(counts > 1)
        stratum[lonely] = others[np.argmin(counts[others])]
        return stratum
    alike = lonely[np.lexsort((lonely, units.draw[lonely], units.length[lonely]))]
    pair = np.minimum(np.arange(len(lonely)) // 2, len(lonely) // 2 - 1)
    stratum[alike] = stratum[alike[2 * pair]]
    return stratum


def freedom_of(units: Units, left: Floats) -> float:
    """Return the degrees of freedom: units that are left to chance and that count, less one per stratum."""
    opened = (left > 0).any(axis=1) & units.counted
    counts = np.bincount(collapsed(units, left), opened.astype(np.float64))
    return float((counts - 1.0)[counts > 1].sum())


def from_neighbours(units: Units, left: Floats, coordinates: Floats) -> Floats:
    """Return every unit's deviation from its nearest drawn units, for draws that are spread over a space.

    √((1 − π_u)·k/(k − 1))·(z_u − mean of z over the k nearest, itself among them), k = 4 (the local
    mean variance of Stevens and Olsen 2003; Grafström and Schelin 2014). A spread sample is more exact
    than the plain formula says, and this one sees by how much.
    """
    from scipy.spatial import KDTree

    # A unit that was sure to be drawn has no error, and weighs too little to be like its neighbours.
    opened = np.flatnonzero((left > 0).any(axis=1))
    near = min(NEIGHBOURS, len(opened))
    if near < 2:
        return from_centre(units, left)
    found = np.atleast_2d(KDTree(coordinates[opened]).query(coordinates[opened], k=near)[1])
    own = np.arange(len(opened))
    # Of several units at one place, the unit itself need not be among those found.
    found[:, -1] = np.where((found == own[:, None]).any(axis=1), found[:, -1], own)
    local = units.total.copy()
    local[opened] = units.total[opened][found].mean(axis=1)
    return np.asarray(np.sqrt(left * near / (near - 1.0)) * (units.total - local))


def from_balance(units: Units, left: Floats, balance: Floats) -> tuple[Floats, int]:
    """Return every unit's deviation from what its balancing variables tell, and q, for balanced draws.

    √((1 − π_u)·n/(n − q))·(z_u − bᵀx_u/π_u), b by least squares with weights 1 − π_u over the q
    variables (Deville and Tillé 2005): a total that the draw has matched has no error left. Only n − q units'
    worth of residuals are left to learn the error from. Where q > n/2 that is too little: deviations are then
    those from the centre, which say too much rather than too little, and q is 0.
    """
    ahead = np.column_stack([np.ones(len(units)), balance / units.draw[:, None]])
    root = np.sqrt(left.max(axis=1, initial=0.0))
    fit, _, rank, _ = np.linalg.lstsq(ahead * root[:, None], units.total * root[:, None], rcond=1e-10)
    opened = float((root > 0).sum())
    if 2 * rank > opened:
        return from_centre(units, left), 0
    return np.asarray(np.sqrt(left * opened / (opened - rank)) * (units.total - ahead @ fit)), int(rank)
