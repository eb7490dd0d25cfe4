"""From scores to a fitted model, and how sure it is: the posterior with the items integrated out."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import DataError
from sparingly.published.irt.abilities import DIAGONAL, Shared, SharedObjective, Sums, inverse
from sparingly.published.irt.climb import Climb, climb_normals, climb_points
from sparingly.published.irt.integral import Moments, Places, ScaleFrame
from sparingly.published.irt.integral_binary import BinaryIntegral
from sparingly.published.irt.integral_continuous import ContinuousIntegral
from sparingly.published.irt.items import Normals
from sparingly.published.irt.model import (
    FitMethod,
    IrtFit,
    Parameters,
    Priors,
    Response,
    Responses,
    as_responses,
    default_priors,
)

# --- how sure the variational fit may be ---
# The fit has items and abilities independent of each other, and that makes it far too sure of both: all
# difficulties and abilities can shift or stretch together, and every item follows the abilities. Here items
# follow: q(x_i | θ) is the posterior of item i given the abilities, which leaves
#
#     log p(θ, s | r) = log p(θ) + log p(s) + Σ_i log ∫ p(r_i | x_i, θ, s) p(x_i) dx_i + const
#
# for the abilities θ and the noise s. Their distribution is the normal one N(m, S) near the top of that
# density, found by Newton's method from the fit: S is the inverse of minus the second derivatives there
# (Louis 1982: the mean of minus the second derivatives minus the covariance of the first, over the
# posterior of the items). An item's mean is E[x_i | θ = m], and its variance has both parts, with F =
# ∂E[x_i | θ]/∂θ:
#
#     Var[x_i] = Var[x_i | θ = m] + F S Fᵀ.
#
# Where a density is highest is not where its mass is. Scores tell how abilities lie to each other, but
# hardly the unit k that they are measured in, so in most of its directions the density is the wider the
# larger k. With V = w Σ_d (1 − prior/posterior precision), where w says how much of the width grows with k
# (``frame``), the density has a volume of k to the power of V, and m is the top of the density times that.


_ROUNDS, _COARSE_ROUNDS = 6, 25
# The variational fit may lose the best or the worst model to infinity; the search starts no further out.
_FURTHEST = 4.0
_LARGEST_STEP = 0.7
# Close enough to the top, in standard deviations.
_CLOSE = 0.3
# A value this much lower, per item, may be due to where the nodes are.
_SLACK = 1e-3
# No direction is less certain than twice the prior has it.
_LEAST_BEND = 0.25
# Nodes of an item stay at least so far apart, as a share of where they began.
_NARROWEST = 0.05
# How much longer the steps of the grid are on which the way to the top begins.
_COARSE = 1.6
_LEAST_UNIT = 1e-3


@dataclass(frozen=True, eq=False)
class Posterior:
    """Means and standard deviations of items and abilities."""

    mean: Floats  # of (logit c, a, b), 3 x items
    sd: Floats
    ability: Floats  # the mean of every model's ability
    covariance: Floats  # of abilities

    @property
    def ability_sd(self) -> Floats:
        """The standard deviation of every model's ability."""
        return np.sqrt(self.covariance.diagonal())


def posterior(responses: Responses, normals: Climb[Normals], priors: Priors) -> Posterior:
    """Return the posterior of items and abilities, starting from the variational fit."""
    if responses.response == "continuous":
        top = _Top(responses, ContinuousIntegral(responses, normals.states, priors), priors)
        return top.described(top.find_top(normals.shared, _ROUNDS))
    mean, sd = priors.ability
    ability = np.clip(normals.shared.ability, mean - _FURTHEST * sd, mean + _FURTHEST * sd)
    start = Shared(ability, normals.shared.ability_sd, normals.shared.log_noise)
    coarse = _Top(responses, BinaryIntegral(responses, priors, _COARSE), priors)
    top = _Top(responses, BinaryIntegral(responses, priors), priors)
    return top.described(top.find_top(coarse.find_top(start, _COARSE_ROUNDS).shared, _ROUNDS))


@dataclass(frozen=True, eq=False)
class _SearchPoint:
    """A point on the way: the shared parameters, what the items say there, and the step to the top."""

    shared: Shared
    value: float
    moments: Moments
    covariance: Floats
    step: Floats
    volume: float

    @property
    def distance(self) -> float:
        """How far the top seems to be, in standard deviations."""
        return float(np.abs(self.step / np.sqrt(self.covariance.diagonal())).max())


class _Top:
    """The way to the top of the density of the shared parameters."""

    def __init__(
        self, responses: Responses, integral: BinaryIntegral | ContinuousIntegral, priors: Priors
    ) -> None:
        self._integral, self._priors = integral, priors
        self._objective = SharedObjective(responses, priors, uncertain=False)
        self._noisy = responses.response == "continuous"
        self._slack = _SLACK * responses.shape[1]

    def find_top(self, shared: Shared, rounds: int) -> _SearchPoint:
        """Take Newton steps until the next would be a short one."""
        models, places = len(shared.ability), self._integral.start()
        current = self._at(shared, places)
        damping = 1.0
        for _ in range(rounds):
            if current.distance < _CLOSE:
                break
            shared, moments, step = current.shared, current.moments, damping * current.step
            noise = shared.log_noise + (float(step[-1]) if self._noisy else 0.0)
            trial_places = places
            if len(places.width):  # a grid that is everywhere has no places to move
                width = np.maximum(np.sqrt(moments.variance[2]), _NARROWEST * places.width)
                trial_places = Places(moments.moved(step), places.slopes, width)
            trial = self._at(Shared(shared.ability + step[:models], shared.ability_sd, noise), trial_places)
            unit, trial_unit = (
                np.log(max(point.shared.ability.std(), _LEAST_UNIT)) for point in (current, trial)
            )
            gain = float(trial.value - current.value + current.volume * (trial_unit - unit))
            if gain >= -self._slack:
                current, damping = trial, min(1.0, 2.0 * damping)
            else:
                damping *= 0.3
        return current

    def described(self, top: _SearchPoint) -> Posterior:
        """Return means and standard deviations at the top."""
        rows, models = self._integral.rows, len(top.shared.ability)
        # The last step is not taken, because it is short, but reckoned with; a long one is not to be trusted.
        step = top.step if top.distance < 1.0 else np.zeros_like(top.step)
        return Posterior(
            top.moments.moved(step)[:, rows],
            top.moments.sds(top.covariance)[:, rows],
            top.shared.ability + step[:models],
            top.covariance[:models, :models],
        )

    def _at(self, shared: Shared, places: Places) -> _SearchPoint:
        totals, moments = self._integral.at(shared, places)
        sums = Sums(-totals.value, totals.curvature, totals.curvature, totals.slope)
        sums = self._objective.with_priors(sums, shared)
        models = len(shared.ability)
        frame = ScaleFrame.from_abilities(shared.ability)
        curvature, slope = sums.curvature, sums.slope
        curvature[:models, :models] += frame.bent(self._objective.slope(shared)[:models])
        # How many directions of the abilities the scores tell of: 1 − prior/posterior precision.
        min_precision = self._priors.ability[1] ** -2.0
        precisions = np.maximum(np.linalg.eigvalsh(curvature[:models, :models]), min_precision)
        volume = totals.widening * float((1.0 - min_precision / precisions).sum())
        slope[:models] += volume * frame.common[1]
        scale = np.full(len(curvature), self._priors.ability[1])
        bends, directions = np.linalg.eigh(curvature * np.outer(scale, scale))
        spread = directions * scale[:, None]
        covariance = np.asarray(spread / np.maximum(np.abs(bends), _LEAST_BEND) @ spread.T)
        step = covariance @ slope
        step *= min(1.0, _LARGEST_STEP / max(float(np.abs(step).max()), _LARGEST_STEP))
        return _SearchPoint(shared, -sums.objective, moments, covariance, step, volume)


# --- from scores to a fitted model ---


def fit_irt(
    scores: Floats,
    *,
    method: FitMethod = "variational",
    response: Response = "continuous",
    threshold: float | None = None,
    priors: Priors | None = None,
    scale: bool = True,
    intervals: bool = True,
) -> IrtFit:
    """Fit items and models to scores, items x models with NaN where missing.

    The response is r̂ = c σ(a (θ − b)) (Zouhar et al. 2025, eq. 7 and 8): of the scores scaled to 0–1 with
    normal noise, or of success, which is a score above the threshold (default: their median). Without
    ``scale`` the scores are taken as they are. Without ``intervals`` the variational fit is about twice as
    fast, and does not know how sure it is.

    Nothing is drawn: the same scores give the same fit, and no order of items or models matters.
    """
    scored = ~np.isnan(scores)
    items, models = np.asarray(scored.any(axis=1)), np.asarray(scored.any(axis=0))
    if not items.any():
        raise DataError("Item response theory needs scores, and there are none.")
    responses = as_responses(
        np.asarray(scores[np.ix_(items, models)], np.float64), response, threshold, scale=scale
    )
    believed = priors or default_priors(response)
    if method == "map":
        points = climb_points(responses, believed)
        values = np.concatenate([state.values for state in points.states], axis=1)
        estimates = _spread_out(values, points.shared.ability, items, models)
        noise = float(np.exp(points.shared.log_noise)) if response == "continuous" else None
        return IrtFit(response, method, estimates, noise, -points.sums.objective, believed)
    normals = climb_normals(responses, believed)
    shared = normals.shared
    mean = np.concatenate([state.mean for state in normals.states], axis=1)
    sd = np.concatenate([np.sqrt(inverse(state.precision)[DIAGONAL]) for state in normals.states], axis=1)
    fit = IrtFit(
        response,
        method,
        _spread_out(mean, shared.ability, items, models),
        float(np.exp(shared.log_noise)) if response == "continuous" else None,
        -normals.sums.objective,
        believed,
        sds=_spread_out(sd, shared.ability_sd, items, models),
    )
    if not intervals:
        return fit
    uncertainty = posterior(responses, normals, believed)
    return replace(
        fit,
        centres=_spread_out(uncertainty.mean, uncertainty.ability, items, models),
        spreads=_spread_out(uncertainty.sd, uncertainty.ability_sd, items, models),
    )


def _spread_out(values: Floats, ability: Floats, items: Mask, models: Mask) -> Parameters:
    """Put the parameters of scored items and models in their places, NaN elsewhere."""
    all_items = np.full((3, len(items)), np.nan)
    all_items[:, items] = values
    abilities = np.full(len(models), np.nan)
    abilities[models] = ability
    logit, discrimination, difficulty = all_items
    return Parameters(discrimination, difficulty, logit, abilities)
