"""Bradley–Terry on plain arrays: strengths from comparisons, with ties, weights and covariates."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError

Ties = Literal["davidson", "half"]

_STEPS, _CLOSE = 200, 1e-10
_LEAST_TIES, _MOST_TIES = -30.0, 30.0


@dataclass(frozen=True, eq=False)
class Comparisons:
    """Comparisons of two models each.

    Attributes:
        first: One model of every comparison, as a position.
        second: The other.
        value: 1 where the first is better, −1 where the second is, 0 for a tie; between them for soft ones.
        item: The item, as a position: comparisons on one item are not independent.
        weight: How much every comparison counts.
        covariates: Comparisons × covariates: how much more of something the first has than the second.
    """

    first: Ints
    second: Ints
    value: Floats
    item: Ints
    weight: Floats
    covariates: Floats

    def __len__(self) -> int:
        return len(self.value)

    def at(self, rows: NDArray[np.bool_]) -> Comparisons:
        """Return some comparisons."""
        return Comparisons(**{name: column[rows] for name, column in vars(self).items()})


@dataclass(frozen=True, eq=False)
class Fit:
    """Strengths that add up to 0, the log of Davidson's ν (−∞ without ties), effects, and their covariance.

    The covariance is of (strengths, log ν, effects), robust to comparisons that share an item: a sum of
    squares over ``items`` items, with one degree of freedom less. NaN where all comparisons are of one item.
    """

    strengths: Floats
    log_ties: float
    effects: Floats
    covariance: Floats
    items: int


def win_chances(lead: Floats, log_ties: float) -> tuple[Floats, Floats]:
    """Return the chances that the first wins and that the two tie, by how much stronger the first is.

    p₁ = e^{d/2}/(e^{d/2} + e^{−d/2} + ν) and p₀ = ν/(…) (Davidson 1970); with ν = 0, Bradley and Terry 1952.
    """
    top = np.maximum(np.maximum(lead / 2, -lead / 2), log_ties)
    win, lose, tie = np.exp(lead / 2 - top), np.exp(-lead / 2 - top), np.exp(log_ties - top)
    total = win + lose + tie
    return win / total, tie / total


def information(lead: Floats, log_ties: float) -> Floats:
    """Return what one comparison tells of the lead: p₁ + p₀/4 − (p₁ + p₀/2)², or p(1 − p) without ties."""
    win, tie = win_chances(lead, log_ties)
    return np.asarray(win + tie / 4 - (win + tie / 2) ** 2)


def fit(comparisons: Comparisons, models: int, ties: Ties) -> Fit:
    """Return the maximum-likelihood strengths, by Newton's method.

    Args:
        comparisons: The comparisons, of models that are all connected by wins in both directions.
        models: The number of models.
        ties: ``davidson`` models ties with a parameter ν of their own; ``half`` counts one as half a win,
            and takes soft preferences as they are.
    """
    tied = bool((comparisons.value == 0).any()) and ties == "davidson"
    design = _design(comparisons, models)
    size = design.shape[1] + tied
    found = np.zeros(size)
    for _ in range(_STEPS):
        gradient, hessian, _ = _derivatives(comparisons, design, found, tied)
        step = _inverse(hessian) @ gradient
        # Far from the answer, Newton may overshoot: no parameter moves by more than 2 at once.
        step *= min(1.0, 2.0 / max(float(np.abs(step).max()), 1e-300))
        found = found + step
        if float(np.abs(step).max()) < _CLOSE:
            break
    else:
        raise DataError("The strengths of the models do not settle: some pair is won by one side alone.")
    _, hessian, scores = _derivatives(comparisons, design, found, tied)
    items = np.unique(comparisons.item[comparisons.weight > 0], return_inverse=True)
    covariance = _sandwich(hessian, scores[comparisons.weight > 0], items[1], len(items[0]))
    return _as_fit(found, covariance, models, tied, len(items[0]))


def _design(comparisons: Comparisons, models: int) -> Floats:
    design = np.zeros((len(comparisons), models))
    rows = np.arange(len(comparisons))
    design[rows, comparisons.first] = 1.0
    design[rows, comparisons.second] -= 1.0
    return np.hstack([design, comparisons.covariates])


def _derivatives(
    comparisons: Comparisons, design: Floats, found: Floats, tied: bool
) -> tuple[Floats, Floats, Floats]:
    """Return the gradient, minus the Hessian, and the score of every comparison."""
    width = design.shape[1]
    log_ties = float(np.clip(found[-1], _LEAST_TIES, _MOST_TIES)) if tied else -np.inf
    win, tie = win_chances(design @ found[:width], log_ties)
    share = (comparisons.value + 1) / 2
    away = share - (win + tie / 2)
    scores = comparisons.weight[:, None] * away[:, None] * design
    curve = comparisons.weight * (win + tie / 4 - (win + tie / 2) ** 2)
    hessian = design.T @ (curve[:, None] * design)
    if tied:
        is_tie = (comparisons.value == 0).astype(np.float64)
        scores = np.hstack([scores, (comparisons.weight * (is_tie - tie))[:, None]])
        # Cov(first's share, tie) = p₀/2 − (p₁ + p₀/2)·p₀
        mixed = design.T @ (comparisons.weight * (tie / 2 - (win + tie / 2) * tie))
        corner = float((comparisons.weight * tie * (1 - tie)).sum())
        hessian = np.block([[hessian, mixed[:, None]], [mixed[None, :], np.array([[corner]])]])
    return np.asarray(scores.sum(axis=0)), hessian, scores


def _inverse(hessian: Floats) -> Floats:
    """Return the pseudo-inverse: adding the same to all strengths changes nothing."""
    return np.asarray(np.linalg.pinv(hessian, rcond=1e-10, hermitian=True))


def _sandwich(hessian: Floats, scores: Floats, code: Ints, items: int) -> Floats:
    """Return A⁺ B A⁺ with B the products of the items' summed scores, times G/(G − 1) for G items."""
    if items < 2:
        return np.full_like(hessian, np.nan)
    sums = np.zeros((items, scores.shape[1]))
    np.add.at(sums, code, scores)
    inverse = _inverse(hessian)
    return np.asarray(items / (items - 1.0) * inverse @ (sums.T @ sums) @ inverse)


def _as_fit(found: Floats, covariance: Floats, models: int, tied: bool, items: int) -> Fit:
    """Return the parameters in the order of a fit, the strengths centred."""
    centre = np.eye(models) - 1.0 / models
    width = len(found) - tied
    effects = found[models:width]
    turn = np.zeros((models + 1 + len(effects), len(found)))
    turn[:models, :models] = centre
    if tied:
        turn[models, -1] = 1.0
    turn[models + 1 :, models:width] = np.eye(len(effects))
    return Fit(
        strengths=centre @ found[:models],
        log_ties=float(found[-1]) if tied else -np.inf,
        effects=effects,
        covariance=turn @ covariance @ turn.T,
        items=items,
    )
