"""Items with continuous responses, integrated out: b, then a given b, then c given both."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from benchmarks.irt_intervals.integral import (
    Moments,
    Places,
    ScaleFrame,
    Totals,
    prior_bends,
    prior_slopes,
    stretched,
    widening,
)
from sparingly.base.arrays import Floats
from sparingly.published.irt import abilities
from sparingly.published.irt.abilities import Shared
from sparingly.published.irt.items import Normals
from sparingly.published.irt.model import Normal, Priors, Responses

_RIDGE_STEPS = 6
_LARGEST_STEP = 1.5
_DAMPING = 1e-2


def ridge(
    responses: Responses, difficulty: Floats, start: Floats, shared: Shared, priors: Priors
) -> tuple[Floats, Floats]:
    """Return the most probable discrimination at every difficulty, nodes x items, and its width.

    Damped Gauss–Newton steps in (logit c, a) from ``start`` (2 x nodes x items), none of which makes things
    worse; the width is the standard deviation of a that the expected curvature gives, with c following.
    """
    sds = priors.item_sds[:2, :, None]
    values = start.copy()
    objective, slope, curvature = _slopes(responses, difficulty, values, shared, priors)
    damping = np.full(difficulty.shape, _DAMPING)
    for _ in range(_RIDGE_STEPS):
        first, cross, second = curvature
        first, second = first * (1.0 + damping), second * (1.0 + damping)
        determinant = first * second - cross * cross
        step = np.stack([second * slope[0] - cross * slope[1], first * slope[1] - cross * slope[0]])
        step /= determinant
        step /= np.maximum(np.abs(step / sds).max(axis=0) / _LARGEST_STEP, 1.0)
        tried = values + step
        trial = _slopes(responses, difficulty, tried, shared, priors)
        better = trial[0] <= objective
        for mine, theirs in zip((values, objective, slope, curvature), (tried, *trial), strict=True):
            np.copyto(mine, theirs, where=better)
        damping = np.where(better, 0.1 * damping, 10.0 * damping + _DAMPING)
    first, cross, second = curvature
    return values[1], 1.0 / np.sqrt(second - cross * cross / first)


def _slopes(
    responses: Responses, difficulty: Floats, values: Floats, shared: Shared, priors: Priors
) -> tuple[Floats, Floats, Floats]:
    """Return minus the log posterior, its slope, and its expected second derivatives in (logit c, a)."""
    logit, slope = values
    height = 1.0 / (1.0 + np.exp(-logit))
    failed = 1.0 - height
    distance = shared.ability[:, None, None] - difficulty
    with np.errstate(over="ignore"):
        hit = 1.0 / (1.0 + np.exp(-slope * distance))
    if responses.present is not None:
        hit *= responses.present[:, None]
    # The curve is c · hit; its derivatives by logit c and by a are c times (1 − c) hit and this.
    steep = hit * (1.0 - hit)
    steep *= distance
    observed = responses.values
    first, cross, second = (
        np.einsum("mkn,mkn->kn", *pair) for pair in ((hit, hit), (hit, steep), (steep, steep))
    )
    product, rising = (np.einsum("mkn,mn->kn", part, observed) for part in (hit, steep))
    squares = np.einsum("mn,mn->n", observed, observed) - 2.0 * height * product + height * height * first
    precision = np.exp(-2.0 * shared.log_noise)
    sds = priors.item_sds[:2, :, None]
    deviation = (values - priors.item_means[:2, :, None]) / sds
    slopes = np.stack([failed * (product - height * first), rising - height * cross])
    curvature = precision * height * height * np.stack([failed * failed * first, failed * cross, second])
    curvature[::2] += sds**-2.0
    objective = 0.5 * (precision * squares + (deviation * deviation).sum(axis=0))
    return objective, precision * height * slopes - deviation / sds, curvature


# --- feasibility given discrimination and difficulty ---


_NODES, _WEIGHTS = (part[:, None, None] for part in stretched(11, 4.0, 0.5))
_FEASIBILITY_STEPS = 5
# Where the likelihood bends downwards, the curvature is at least this share of the expected one.
_LEAST_BEND = 0.25
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


@dataclass(frozen=True, eq=False)
class Feasibility:
    """The integral over feasibility c, and means of c and of its logit z, each nodes x items."""

    log: Floats  # the logarithm of the integral
    powers: Floats  # the means of c, c², c³ and c⁴
    logit: Floats  # the means of z and z²
    cross: Floats  # the means of z c and z c²


def over_feasibility(square: Floats, product: Floats, prior: Normal) -> Feasibility:
    """Integrate exp(c · product − c²/2 · square) over the prior of c, a normal one for its logit.

    This is the likelihood of the responses r of an item whose curve is c σ: with noise s, product = Σ r σ/s²
    and square = Σ σ²/s². Nodes lie around the most probable logit.
    """
    centre, width = _most_probable(square, product, prior)
    logits = centre + width * _NODES
    heights = 1.0 / (1.0 + np.exp(-logits))
    squares = heights * heights
    logs = heights * product
    logs -= squares * (0.5 * square)
    logs -= 0.5 * ((logits - prior[0]) / prior[1]) ** 2
    largest = logs.max(axis=0)
    logs -= largest
    shares = np.exp(logs, out=logs)
    shares *= _WEIGHTS
    total = shares.sum(axis=0)
    shares /= total
    weighted = shares * logits
    powers = (heights, squares, heights * squares, squares * squares)
    return Feasibility(
        log=largest + np.log(total * width / prior[1]) - _LOG_ROOT,
        powers=np.stack([_mean(shares, power) for power in powers]),
        logit=np.stack([weighted.sum(axis=0), _mean(weighted, logits)]),
        cross=np.stack([_mean(weighted, power) for power in powers[:2]]),
    )


def _mean(shares: Floats, values: Floats) -> Floats:
    return np.asarray(np.einsum("ckn,ckn->kn", shares, values))


def _most_probable(square: Floats, product: Floats, prior: Normal) -> tuple[Floats, Floats]:
    """Return the most probable logit, by Newton's method, and the width that the curvature there gives."""
    mean, precision = prior[0], prior[1] ** -2.0

    def derivatives(logit: Floats) -> tuple[Floats, Floats]:
        # The slope of the log posterior, and minus its second derivative, which is kept positive.
        height = 1.0 / (1.0 + np.exp(-logit))
        change = height * (1.0 - height)
        pull = change * (product - height * square)
        expected = change * change * square + precision
        bend = np.maximum(expected - (1.0 - 2.0 * height) * pull, _LEAST_BEND * expected)
        return pull - precision * (logit - mean), bend

    best = np.clip(product / np.maximum(square, 1e-12), 0.01, 0.99)
    information = (best * (1.0 - best)) ** 2 * square
    logit = (information * np.log(best / (1.0 - best)) + precision * mean) / (information + precision)
    furthest = _LARGEST_STEP * prior[1]
    for _ in range(_FEASIBILITY_STEPS):
        slope, bend = derivatives(logit)
        logit += np.clip(slope / bend, -furthest, furthest)
    return logit, 1.0 / np.sqrt(derivatives(logit)[1])


# --- items with continuous responses, integrated out ---
# The posterior of an item is often a thin bent ridge, so nodes are laid along it. Those of difficulty b
# follow the normal distribution of the fit; at each of them the most probable a is found, and nodes of a
# are laid around it; and given a and b the response is linear in feasibility c, so that Σσ² and Σrσ are all
# that the integral over c needs.


_DIFFICULTY = stretched(13, 3.5, 0.7)
_DISCRIMINATION = stretched(11, 3.5, 1.0)
# The normal distributions of the variational fit are narrower than the posterior.
_WIDER = 1.25
# The ridge is looked for no further from the prior mean than this, in prior standard deviations.
_FURTHEST = 2.5
# Numbers in an array of models x nodes x items that stays in the processor's cache.
_CELLS = 98_304
_LEAST_ITEMS = 8


class ContinuousIntegral:
    """Items whose responses have normal noise."""

    rows = slice(None)

    def __init__(self, responses: Responses, states: list[Normals], priors: Priors) -> None:
        self._responses, self._states, self._priors = responses, states, priors

    def start(self) -> Places:
        """Return where the variational fit has the items."""
        mean = np.concatenate([state.mean for state in self._states], axis=1)
        covariance = np.concatenate([abilities.inverse(state.precision) for state in self._states], axis=1)
        slopes = np.stack([covariance[2], covariance[4]]) / covariance[5]
        return Places(mean, slopes, _WIDER * np.sqrt(covariance[5]))

    def at(self, shared: Shared, places: Places) -> tuple[Totals, Moments]:
        """Integrate the items out at given abilities and noise."""
        models, items = self._responses.shape
        nodes = len(_DIFFICULTY[0]) * len(_DISCRIMINATION[0])
        size = max(_LEAST_ITEMS, _CELLS // (models * nodes))
        frame = ScaleFrame.from_abilities(shared.ability)
        parts = []
        for start in range(0, items, size):
            part = slice(start, start + size)
            block = _Block(self._responses.take(part), shared, frame, self._priors)
            parts.append(block.integrate(places.take(part)))
        totals = reduce(add, (sums for sums, _ in parts)).totals(frame)
        return totals, Moments.concatenate([moments for _, moments in parts])


@dataclass(frozen=True, eq=False)
class ContinuousSums:
    """Means over the posteriors of items, summed over them.

    Derivatives are of the log-likelihood of responses and item together, by abilities, noise, m and log k
    (see ``ScaleFrame``).
    """

    value: float  # the log-likelihood of the responses, items integrated out
    slope: Floats  # the mean of the first derivatives
    spread: Floats  # their covariance
    bend: Floats  # the mean of minus the second derivatives by every ability
    turn: Floats  # their covariance with the first derivative by log k
    common: Floats  # the mean of minus the second derivatives by m and log k, 2 x 2
    squares: float  # the mean of the squared residuals, in units of the noise

    def __add__(self, sums: ContinuousSums) -> ContinuousSums:
        pairs = zip(vars(self).values(), vars(sums).values(), strict=True)
        return ContinuousSums(*(mine + theirs for mine, theirs in pairs))

    def totals(self, frame: ScaleFrame) -> Totals:
        """Return derivatives by abilities and noise alone."""
        models = len(self.bend)
        curvature = -self.spread
        curvature[range(models), range(models)] += self.bend
        # The log-likelihood falls with s², so a derivative by log s is minus twice the one without.
        curvature[:models, models] += 2.0 * self.slope[:models]
        curvature[models, :models] += 2.0 * self.slope[:models]
        curvature[models, models] += 2.0 * self.squares
        curvature[-2:, -2:] += self.common
        mixing = frame.mixing()
        wider = widening(self.bend, self.turn)
        return Totals(self.value, mixing @ self.slope, mixing @ curvature @ mixing.T, wider)


@dataclass(frozen=True, eq=False)
class _Nodes:
    """An item's posterior at nodes, which are pairs of a and b.

    The derivatives by ability and noise are c · response_part − c² · curve. Of the last four, models x nodes
    x items, all are 0 where a response is missing.
    """

    slope: Floats  # a, nodes x items
    difficulty: Floats  # b
    shares: Floats  # how much of the posterior is there; they add up to 1
    inner: Feasibility  # the posterior of c given a and b
    hit: Floats  # σ(a (θ − b))
    steep: Floats  # σ (1 − σ) a/s²
    response_part: Floats  # r times steep, and a row for the noise
    curve: Floats  # σ times steep, and a row for the noise


class _Block:
    """A block of items small enough for arrays of models x nodes x items."""

    def __init__(self, responses: Responses, shared: Shared, frame: ScaleFrame, priors: Priors) -> None:
        self._responses, self._shared, self._frame, self._priors = responses, shared, frame, priors
        self._precision = float(np.exp(-2.0 * shared.log_noise))
        self._squares = self._precision * np.einsum("mn,mn->n", responses.values, responses.values)

    def integrate(self, places: Places) -> tuple[ContinuousSums, Moments]:
        """Integrate the items out."""
        nodes, value = self._nodes(places)
        slopes = self._slopes(nodes)
        mean = np.einsum("kn,skn->sn", nodes.shares, slopes)
        moments = self._moments(nodes, slopes)
        bend, turn = self._bends(nodes, slopes)
        counts = self._responses.per_item()
        bends = prior_bends(nodes.slope, nodes.difficulty, self._frame.origin, self._priors)
        once, cross, twice = np.einsum("kn,bkn->b", nodes.shares, bends)
        sums = ContinuousSums(
            value=value - float((0.5 * self._squares + counts * (_LOG_ROOT + self._shared.log_noise)).sum()),
            slope=mean.sum(axis=1),
            spread=_second_moments(nodes, slopes) - mean @ mean.T,
            bend=bend,
            turn=turn,
            common=np.array([[once, cross], [cross, twice]]),
            squares=float((mean[-3] + counts).sum()),
        )
        return sums, moments

    def _nodes(self, places: Places) -> tuple[_Nodes, float]:
        """Return the posterior at the nodes, and the logarithm of the integrals over them, summed."""
        responses, precision, priors = self._responses, self._precision, self._priors
        steps, weights = (part[:, None] for part in _DIFFICULTY)
        difficulty = places.mean[2] + places.width * steps
        line = places.mean[:2, None] + places.slopes[:, None] * (difficulty - places.mean[2])
        means, sds = priors.item_means[:2, :, None], priors.item_sds[:2, :, None]
        line = np.clip(line, means - _FURTHEST * sds, means + _FURTHEST * sds)
        centre, width = ridge(responses, difficulty, line, self._shared, priors)
        logs = _log_normal(difficulty, priors.difficulty) + np.log(places.width * weights)
        steps, weights = (part[:, None, None] for part in _DISCRIMINATION)
        slope = centre + width * steps
        logs = logs + _log_normal(slope, priors.discrimination) + np.log(width * weights)
        difficulty = np.broadcast_to(difficulty, slope.shape)
        # All pairs of a and b, nodes x items.
        slope, difficulty, logs = (part.reshape(-1, slope.shape[-1]) for part in (slope, difficulty, logs))
        hit = difficulty - self._shared.ability[:, None, None]
        hit *= slope
        with np.errstate(over="ignore"):
            np.exp(hit, out=hit)
        hit += 1.0
        np.divide(1.0, hit, out=hit)
        if responses.present is not None:
            hit *= responses.present[:, None]
        square = precision * np.einsum("mkn,mkn->kn", hit, hit)
        product = precision * np.einsum("mkn,mn->kn", hit, responses.values)
        inner = over_feasibility(square, product, priors.logit_feasibility)
        logs = logs + inner.log
        largest = logs.max(axis=0)
        shares = np.exp(logs - largest)
        total = shares.sum(axis=0)
        shares /= total
        steep = hit * (1.0 - hit)
        steep *= precision * slope
        response_part, curve = np.empty((2, len(hit) + 1, *slope.shape))
        np.multiply(responses.values[:, None], steep, out=response_part[:-1])
        np.multiply(hit, steep, out=curve[:-1])
        # The squared residuals are Σr² − 2 c Σrσ + c² Σσ².
        response_part[-1], curve[-1] = -2.0 * product, -square
        nodes = _Nodes(slope, difficulty, shares, inner, hit, steep, response_part, curve)
        return nodes, float((largest + np.log(total)).sum())

    def _slopes(self, nodes: _Nodes) -> Floats:
        """Return the derivatives by abilities, noise, m and log k, given a and b; c is averaged over."""
        first, second = nodes.inner.powers[:2]
        slopes = np.empty((len(nodes.response_part) + 2, *first.shape))
        np.multiply(nodes.response_part, first, out=slopes[:-2])
        slopes[:-2] -= nodes.curve * second
        slopes[-3] += self._squares - self._responses.per_item()
        slopes[-2:] = prior_slopes(nodes.slope, nodes.difficulty, self._frame.origin, self._priors)
        return slopes

    def _bends(self, nodes: _Nodes, slopes: Floats) -> Floats:
        """Return the mean of minus the second derivatives by ability, c² (σ′/s)² − (∂ℓ/∂θ) a (1 − 2σ).

        And its covariance with the derivative by log k, 2 x models.
        """
        by_unit = slopes[-1] - np.einsum("kn,kn->n", nodes.shares, slopes[-1])
        weights = np.stack([nodes.shares, nodes.shares * by_unit])
        skew = 1.0 - 2.0 * nodes.hit
        skew *= slopes[:-3]
        squared = nodes.steep * nodes.steep
        heights = weights * (nodes.inner.powers[1] / self._precision)
        falling = weights * nodes.slope
        return np.stack(
            [
                np.einsum("mkn,kn->m", squared, height) - np.einsum("mkn,kn->m", skew, fall)
                for height, fall in zip(heights, falling, strict=True)
            ]
        )

    def _moments(self, nodes: _Nodes, slopes: Floats) -> Moments:
        """Return means and variances of (logit c, a, b), and how the means follow the shared parameters.

        When a shared parameter grows, a mean moves by its covariance with the derivative by that parameter.
        """
        inner, shares = nodes.inner, nodes.shares
        values = np.stack([inner.logit[0], nodes.slope, nodes.difficulty])
        mean = np.einsum("kn,pkn->pn", shares, values)
        values -= mean[:, None]
        weighted = shares * values
        variance = np.einsum("pkn,pkn->pn", weighted, values)
        variance[0] += ((inner.logit[1] - inner.logit[0] ** 2) * shares).sum(axis=0)
        follow = np.stack([np.einsum("kn,skn->sn", part, slopes) for part in weighted])
        first, second = shares * (inner.cross - inner.logit[0] * inner.powers[:2])
        follow[0, :-2] += np.einsum("kn,skn->sn", first, nodes.response_part)
        follow[0, :-2] -= np.einsum("kn,skn->sn", second, nodes.curve)
        mixed = np.einsum("ts,psn->ptn", self._frame.mixing(), follow)
        return Moments(mean, variance, (mixed + self._frame.frame_jacobian(mean)).astype(np.float32))


def _second_moments(nodes: _Nodes, slopes: Floats) -> Floats:
    """Return the mean products of derivatives, summed over items.

    Given a and b they are c · response_part − c² · curve; what the spread of c adds to the product of the
    means is the 2 x 2 covariance of c and c², here as the product of its root with itself.
    """
    first, second, third, fourth = nodes.inner.powers
    roots = np.sqrt(nodes.shares)
    sd_first = np.sqrt(np.maximum(second - first * first, 0.0))
    cross = np.divide(first * second - third, sd_first, out=np.zeros_like(sd_first), where=sd_first > 0.0)
    sd_second = np.sqrt(np.maximum(fourth - second * second - cross * cross, 0.0))
    total = _products(slopes * roots)
    part = nodes.response_part * (roots * sd_first)
    part += nodes.curve * (roots * cross)
    total[:-2, :-2] += _products(part)
    np.multiply(nodes.curve, roots * sd_second, out=part)
    total[:-2, :-2] += _products(part)
    return total


def _products(values: Floats) -> Floats:
    rows = values.reshape(len(values), -1)
    return np.asarray(rows @ rows.T)


def _log_normal(values: Floats, prior: Normal) -> Floats:
    deviation = (values - prior[0]) / prior[1]
    return np.asarray(-0.5 * deviation * deviation - np.log(prior[1]) - _LOG_ROOT)
