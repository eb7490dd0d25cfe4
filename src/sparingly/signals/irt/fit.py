"""From scores to a fitted model."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import DataError
from sparingly.signals.irt.averaged import Normals
from sparingly.signals.irt.climb import Climb
from sparingly.signals.irt.fit_map import BLOCK, climb_points
from sparingly.signals.irt.fit_variational import climb_normals
from sparingly.signals.irt.model import IrtFit, Method, Parameters
from sparingly.signals.irt.posterior import moments, reweighted
from sparingly.signals.irt.priors import Floats, Priors, Response, default_priors
from sparingly.signals.irt.responses import Responses, as_responses
from sparingly.signals.irt.shared import Shared, SharedObjective, shared_covariance
from sparingly.signals.irt.small import DIAGONAL, inverse


def fit_irt(
    scores: Floats,
    *,
    method: Method = "variational",
    response: Response = "continuous",
    threshold: float | None = None,
    priors: Priors | None = None,
    scale: bool = True,
) -> IrtFit:
    """Fit items and models to scores, items x models with NaN where missing.

    The response is r̂ = c σ(a (θ − b)) (Zouhar et al. 2025, eq. 7 and 8): of the scores scaled to 0–1 with
    normal noise, or of success, which is a score above the threshold (their median unless given). Without
    ``scale`` the scores are taken as they are.

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
    return _with_spreads(responses, climb_normals(responses, believed), believed, items, models)


def _with_spreads(
    responses: Responses,
    normals: Climb[Normals],
    priors: Priors,
    items: NDArray[np.bool_],
    models: NDArray[np.bool_],
) -> IrtFit:
    shared = normals.shared
    covariance = shared_covariance(normals.sums)
    blocks = list(responses.blocks(BLOCK))
    parts = [
        reweighted(block, state, shared, priors) for block, state in zip(blocks, normals.states, strict=True)
    ]
    slope = SharedObjective(responses, priors, uncertain=True).slope(shared) + sum(
        part.slope for part in parts
    )
    step = covariance @ slope
    corrected = [
        moments(block, state, shared, part, step, covariance)
        for block, state, part in zip(blocks, normals.states, parts, strict=True)
    ]

    def joined(parts: Sequence[Floats], ability: Floats) -> Parameters:
        return _spread_out(np.concatenate(parts, axis=1), ability, items, models)

    count = len(shared.ability)
    return IrtFit(
        response=responses.response,
        method="variational",
        estimates=joined([state.mean for state in normals.states], shared.ability),
        noise=_noise(responses, shared),
        objective=-normals.sums.objective,
        priors=priors,
        sds=joined(
            [np.sqrt(inverse(state.precision)[DIAGONAL]) for state in normals.states], shared.ability_sd
        ),
        centres=joined([mean for mean, _ in corrected], shared.ability + step[:count]),
        spreads=joined([sd for _, sd in corrected], np.sqrt(covariance.diagonal()[:count])),
    )


def _noise(responses: Responses, shared: Shared) -> float | None:
    return float(np.exp(shared.log_noise)) if responses.response == "continuous" else None


def _spread_out(
    values: Floats, ability: Floats, items: NDArray[np.bool_], models: NDArray[np.bool_]
) -> Parameters:
    """Put the parameters of scored items and models in their places, NaN elsewhere."""
    everything = np.full((3, len(items)), np.nan)
    everything[:, items] = values
    abilities = np.full(len(models), np.nan)
    abilities[models] = ability
    logit, discrimination, difficulty = everything
    return Parameters(discrimination, difficulty, logit, abilities)
