"""From scores to a fitted model."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import DataError
from sparingly.signals.irt.averaged import Normals
from sparingly.signals.irt.climb import Climb
from sparingly.signals.irt.fit_map import climb_points
from sparingly.signals.irt.fit_variational import climb_normals
from sparingly.signals.irt.model import IrtFit, Method, Parameters
from sparingly.signals.irt.posterior import Posterior, posterior
from sparingly.signals.irt.priors import Priors, Response, default_priors
from sparingly.signals.irt.responses import Responses, as_responses
from sparingly.signals.irt.shared import Shared
from sparingly.signals.irt.small import DIAGONAL, inverse


def fit_irt(
    scores: Floats,
    *,
    method: Method = "variational",
    response: Response = "continuous",
    threshold: float | None = None,
    priors: Priors | None = None,
    scale: bool = True,
    intervals: bool = True,
) -> IrtFit:
    """Fit items and models to scores, items x models with NaN where missing.

    The response is r̂ = c σ(a (θ − b)) (Zouhar et al. 2025, eq. 7 and 8): of the scores scaled to 0–1 with
    normal noise, or of success, which is a score above the threshold (their median unless given). Without
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
        return IrtFit(
            response,
            method,
            _spread_out(values, points.shared.ability, items, models),
            _noise(responses, points.shared),
            -points.sums.objective,
            believed,
        )
    normals = climb_normals(responses, believed)
    known = posterior(responses, normals, believed) if intervals else None
    return _described(responses, normals, known, believed, (items, models))


def _described(
    responses: Responses,
    normals: Climb[Normals],
    known: Posterior | None,
    priors: Priors,
    scored: tuple[Mask, Mask],
) -> IrtFit:
    shared = normals.shared
    mean = np.concatenate([state.mean for state in normals.states], axis=1)
    sd = np.concatenate([np.sqrt(inverse(state.precision)[DIAGONAL]) for state in normals.states], axis=1)
    return IrtFit(
        response=responses.response,
        method="variational",
        estimates=_spread_out(mean, shared.ability, *scored),
        noise=_noise(responses, shared),
        objective=-normals.sums.objective,
        priors=priors,
        sds=_spread_out(sd, shared.ability_sd, *scored),
        centres=None if known is None else _spread_out(known.mean, known.ability, *scored),
        spreads=None if known is None else _spread_out(known.sd, known.ability_sd, *scored),
    )


def _noise(responses: Responses, shared: Shared) -> float | None:
    return float(np.exp(shared.log_noise)) if responses.response == "continuous" else None


def _spread_out(values: Floats, ability: Floats, items: Mask, models: Mask) -> Parameters:
    """Put the parameters of scored items and models in their places, NaN elsewhere."""
    everything = np.full((3, len(items)), np.nan)
    everything[:, items] = values
    abilities = np.full(len(models), np.nan)
    abilities[models] = ability
    logit, discrimination, difficulty = everything
    return Parameters(discrimination, difficulty, logit, abilities)
