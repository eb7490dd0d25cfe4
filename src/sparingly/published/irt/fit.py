"""From scores to a fitted model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Self

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import DataError
from sparingly.published.irt.abilities import DIAGONAL, Shared, inverse
from sparingly.published.irt.climb import Climb, climb_normals, climb_points
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


@dataclass(frozen=True, eq=False)
class FitInput:
    """The responses of items and models that have a score, which ones these are, and the priors."""

    responses: Responses
    priors: Priors
    items: Mask
    models: Mask

    @classmethod
    def from_scores(
        cls,
        scores: Floats,
        response: Response,
        threshold: float | None,
        priors: Priors | None,
        *,
        scale: bool,
    ) -> Self:
        """Return what is fitted; a set without any score is an error."""
        scored = ~np.isnan(scores)
        items, models = np.asarray(scored.any(axis=1)), np.asarray(scored.any(axis=0))
        if not items.any():
            raise DataError("Item response theory needs scores, and there are none.")
        present = np.asarray(scores[np.ix_(items, models)], np.float64)
        responses = as_responses(present, response, threshold, scale=scale)
        return cls(responses, priors or default_priors(response), items, models)

    def spread_out(self, values: Floats, ability: Floats) -> Parameters:
        """Put the parameters of scored items and models in their places, NaN elsewhere."""
        all_items, abilities = np.full((3, len(self.items)), np.nan), np.full(len(self.models), np.nan)
        all_items[:, self.items], abilities[self.models] = values, ability
        logit, discrimination, difficulty = all_items
        return Parameters(discrimination, difficulty, logit, abilities)

    def noise_of(self, shared: Shared) -> float | None:
        """Return the standard deviation of the noise; success and failure have none."""
        return float(np.exp(shared.log_noise)) if self.responses.response == "continuous" else None


def fit_irt(
    scores: Floats,
    *,
    method: FitMethod = "variational",
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
    scored = FitInput.from_scores(scores, response, threshold, priors, scale=scale)
    if method == "variational":
        return variational_fit(scored, climb_normals(scored.responses, scored.priors))
    points = climb_points(scored.responses, scored.priors)
    values = np.concatenate([state.values for state in points.states], axis=1)
    estimates, noise = scored.spread_out(values, points.shared.ability), scored.noise_of(points.shared)
    return IrtFit(response, method, estimates, noise, -points.sums.objective, scored.priors)


def variational_fit(scored: FitInput, normals: Climb[Normals]) -> IrtFit:
    """Return the fitted model that the variational distributions stand for."""
    shared = normals.shared
    mean = np.concatenate([state.mean for state in normals.states], axis=1)
    sd = np.concatenate([np.sqrt(inverse(state.precision)[DIAGONAL]) for state in normals.states], axis=1)
    return IrtFit(
        scored.responses.response,
        "variational",
        scored.spread_out(mean, shared.ability),
        scored.noise_of(shared),
        -normals.sums.objective,
        scored.priors,
        sds=scored.spread_out(sd, shared.ability_sd),
    )
