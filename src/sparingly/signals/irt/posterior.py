"""How sure the variational fit may be: its distributions, corrected for what they cannot follow.

Two corrections, in one pass over the data. The posterior of an item is bent and skewed where its normal
distribution is straight: its mean and variance are taken anew from 27 nodes around it, each weighted by how
much more likely the posterior makes it than the normal does (importance weights on a product rule of three
nodes per parameter). The slope of the likelihood by the abilities is averaged in the same way, and they go
one Newton step along it. And abilities are not independent of items, as the fit has it: all difficulties and
abilities can shift or stretch together. Their covariance is that of the shared parameters once the items
have followed them (linear response; Giordano, Broderick and Jordan 2018).
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

import numpy as np

from sparingly.signals.irt import small
from sparingly.signals.irt.averaged import Normals, local_around
from sparingly.signals.irt.likelihood import likelihood_of
from sparingly.signals.irt.priors import Floats, Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.shared import Shared, borders

_NODES = np.array(list(product((-np.sqrt(3.0), 0.0, np.sqrt(3.0)), repeat=3)))
_WEIGHTS = np.array([np.prod(weights) for weights in product((1 / 6, 2 / 3, 1 / 6), repeat=3)])


@dataclass(frozen=True, eq=False)
class Reweighted:
    """The posterior of a block of items at the abilities of the fit.

    Attributes:
        mean: The mean of (logit c, a, b), 3 x items.
        variance: Their variance.
        slope: The derivative of the marginal log-likelihood with respect to the shared parameters.
    """

    mean: Floats
    variance: Floats
    slope: Floats


def reweighted(responses: Responses, state: Normals, shared: Shared, priors: Priors) -> Reweighted:
    """Return what importance weights make of a block of items."""
    values = _node_values(state.mean, state.root)
    logs, by_ability, squares = _node_likelihoods(responses, values, shared)
    away = (values - priors.item_means) / priors.item_sds
    logs -= 0.5 * (away * away).sum(axis=1)
    logs += 0.5 * (_NODES**2).sum(axis=1)[:, None] + np.log(_WEIGHTS)[:, None]
    weights = np.exp(logs - logs.max(axis=0))
    weights /= weights.sum(axis=0)
    mean = np.einsum("kn,kpn->pn", weights, values)
    values -= mean
    slope = np.einsum("kn,kmn->m", weights, by_ability)
    if responses.response == "continuous":
        noise = np.exp(-2.0 * shared.log_noise) * (weights * squares).sum() - responses.count
        slope = np.append(slope, noise)
    variance = np.einsum("kn,kpn,kpn->pn", weights, values, values)
    return Reweighted(mean, variance, slope)


def _node_values(mean: Floats, root: Floats) -> Floats:
    """Return (logit c, a, b) at every node, nodes x 3 x items."""
    first, second, third = _NODES.T[:, :, None]
    return np.stack(
        [
            mean[0] + first * root[0],
            mean[1] + first * root[1] + second * root[3],
            mean[2] + first * root[2] + second * root[4] + third * root[5],
        ],
        axis=1,
    )


def _node_likelihoods(responses: Responses, values: Floats, shared: Shared) -> tuple[Floats, Floats, Floats]:
    """Return the log-likelihood at every node, its slopes by ability, and the squared residuals."""
    likelihood = likelihood_of(responses, shared.log_noise)
    logs, squares = np.empty((2, len(values), values.shape[2]))
    by_ability = np.empty((len(values), *responses.shape))
    for place, (logit, slope, difficulty) in enumerate(values):
        with np.errstate(over="ignore"):
            missed = 1.0 / (1.0 + np.exp(slope * (shared.ability[:, None] - difficulty)))
            top = 1.0 / (1.0 + np.exp(-logit))
        curve = 1.0 - missed
        curve *= top
        measured = likelihood.measure(curve, by_ability[place])
        logs[place], squares[place] = measured.value, measured.squares
        by_ability[place] *= missed
        by_ability[place] *= slope
    return logs, by_ability, squares


def moments(
    responses: Responses, state: Normals, shared: Shared, held: Reweighted, step: Floats, covariance: Floats
) -> tuple[Floats, Floats]:
    """Return means and standard deviations once abilities have moved, and are uncertain themselves."""
    followed = follow(responses, state, shared)
    carried = np.einsum("psn,st,ptn->pn", followed, covariance, followed, optimize=True)
    mean = held.mean + np.einsum("psn,s->pn", followed, step)
    return np.asarray(mean), np.sqrt(held.variance + carried)


def follow(responses: Responses, state: Normals, shared: Shared) -> Floats:
    """Return how (logit c, a, b) move when a shared parameter grows by 1, 3 x shared x items."""
    local = local_around(responses, state.mean, state.root, shared)
    triangle = small.cholesky(state.precision)
    return -small.backward(triangle, small.forward(triangle, borders(responses, local)))
