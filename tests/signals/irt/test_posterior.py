from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import expit

from sparingly.signals.irt import small
from sparingly.signals.irt.climb import Patience
from sparingly.signals.irt.fit_variational import climb_normals
from sparingly.signals.irt.posterior import follow, moments, reweighted
from sparingly.signals.irt.priors import Priors, Response
from sparingly.signals.irt.responses import as_responses
from sparingly.signals.irt.shared import shared_covariance
from tests.signals.irt.simulated import simulate

Floats = NDArray[np.float64]
ITEMS, MODELS = 40, 14


def grid_moments(
    scores: Floats, ability: Floats, noise: float, priors: Priors
) -> tuple[Floats, Floats, Floats]:
    """Means and sds of (logit c, a, b) and slopes by ability, by summing over a dense grid."""
    axes = [
        mean + sd * np.linspace(-4.0, 4.0, 41)
        for mean, sd in (priors.logit_feasibility, priors.discrimination, priors.difficulty)
    ]
    grid = np.stack([part.ravel() for part in np.meshgrid(*axes, indexing="ij")])
    away = (grid - priors.item_means) / priors.item_sds
    rise = expit(grid[1][:, None] * (ability - grid[2][:, None]))
    curve = expit(grid[0])[:, None] * rise
    steepness = curve * (1 - rise) * grid[1][:, None]
    slope = np.zeros(len(ability))
    prior = -0.5 * (away * away).sum(axis=0)
    means, sds = np.empty((3, len(scores))), np.empty((3, len(scores)))
    for place, row in enumerate(scores):
        logs = prior - 0.5 * (((row - curve) / noise) ** 2).sum(axis=1)
        weights = np.exp(logs - logs.max())
        weights /= weights.sum()
        means[:, place] = grid @ weights
        sds[:, place] = np.sqrt((grid - means[:, place, None]) ** 2 @ weights)
        slope += weights @ ((row - curve) * steepness) / noise**2
    return means, sds, slope


def test_corrected_moments_are_nearer_to_the_posterior_than_the_fit() -> None:
    priors = Priors()
    drawn = simulate(priors, ITEMS, MODELS, 3)
    responses = as_responses(drawn.scores, "continuous", scale=False)
    found = climb_normals(responses, priors, Patience(rounds=40, steps=4, enough=1e-5, gain=1e-6))
    state = found.states[0]
    corrected = reweighted(responses, state, found.shared, priors)
    noise = float(np.exp(found.shared.log_noise))
    means, sds, slope = grid_moments(drawn.scores, found.shared.ability, noise, priors)
    theirs = np.sqrt(small.inverse(state.precision)[small.DIAGONAL])
    ours = np.sqrt(corrected.variance)
    for row, name in enumerate(("logit c", "a", "b")):
        # The normal distribution of the fit is too narrow; the correction recovers most of what it lacks.
        assert np.mean(theirs[row] / sds[row]) < 0.9, name
        assert 0.85 < np.mean(ours[row] / sds[row]) < 1.05, name
        error = np.abs(corrected.mean - means)[row].mean()
        assert error < 0.2 * sds[row].mean(), name
    # Where the bound is highest, its own slope by the abilities is that of their prior; the marginal
    # likelihood's is not, and the corrected one is nearer to it.
    covariance = shared_covariance(found.sums)[:MODELS, :MODELS]
    before, after = (covariance @ (held - slope) for held in (found.shared.ability, corrected.slope[:MODELS]))
    assert np.linalg.norm(after) < 0.8 * np.linalg.norm(before)


@pytest.mark.parametrize("response", ["continuous", "binary"])
def test_items_follow_the_shared_parameters(response: Response) -> None:
    priors = Priors()
    drawn = simulate(priors, 15, 6, 4, response)
    responses = as_responses(drawn.scores, response, 0.5, scale=False)
    settled = Patience(rounds=80, steps=4, enough=1e-7, gain=1e-9)
    found = climb_normals(responses, priors, settled)
    state, shared = found.states[0], found.shared
    followed = follow(responses, state, shared)
    assert followed.shape == (3, 6 + (response == "continuous"), 15)
    # When all abilities grow by a little, difficulties grow with them, by as much where scores are sure.
    together = followed[2, :6].sum(axis=0)
    assert (together > -0.2).all()
    assert np.median(together) > 0.3
    covariance = shared_covariance(found.sums)
    held = reweighted(responses, state, shared, priors)
    still = np.zeros(len(covariance))
    mean, sd = moments(responses, state, shared, held, still, covariance)
    np.testing.assert_array_equal(mean, held.mean)
    assert (sd >= np.sqrt(held.variance)).all()
    up = np.r_[np.full(6, 0.1), np.zeros(len(covariance) - 6)]
    moved, _ = moments(responses, state, shared, held, up, covariance)
    np.testing.assert_allclose((moved - mean)[2], 0.1 * together)
