"""Items with continuous responses, integrated out: b, then a given b, then c given both.

The posterior of an item is often a thin bent ridge, so nodes are laid along it. Those of difficulty b follow
the normal distribution of the fit; at each of them the most probable a is found, and nodes of a are laid
around it; and given a and b the response is linear in feasibility c, so that Σσ² and Σrσ are all that the
integral over c needs.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from operator import add

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.irt import small
from sparingly.signals.irt.averaged import Normals
from sparingly.signals.irt.feasibility import Feasibility, over_feasibility
from sparingly.signals.irt.frame import Frame, prior_bends, prior_slopes, widening
from sparingly.signals.irt.integral import Moments, Places, Totals
from sparingly.signals.irt.nodes import stretched
from sparingly.signals.irt.priors import Normal, Priors
from sparingly.signals.irt.responses import Responses
from sparingly.signals.irt.ridge import ridge
from sparingly.signals.irt.shared import Shared

_DIFFICULTY = stretched(13, 3.5, 0.7)
_DISCRIMINATION = stretched(11, 3.5, 1.0)
# The normal distributions of the variational fit are narrower than the posterior.
_WIDER = 1.25
# The ridge is looked for no further from the prior mean than this, in prior standard deviations.
_FURTHEST = 2.5
# Numbers in an array of models x nodes x items that stays in the processor's cache.
_CELLS = 98_304
_LEAST_ITEMS = 8
_LOG_ROOT = 0.5 * np.log(2.0 * np.pi)


class ContinuousIntegral:
    """Items whose responses have normal noise."""

    rows = slice(None)

    def __init__(self, responses: Responses, states: list[Normals], priors: Priors) -> None:
        self._responses, self._states, self._priors = responses, states, priors

    def start(self) -> Places:
        """Return where the variational fit has the items."""
        mean = np.concatenate([state.mean for state in self._states], axis=1)
        covariance = np.concatenate([small.inverse(state.precision) for state in self._states], axis=1)
        slopes = np.stack([covariance[2], covariance[4]]) / covariance[5]
        return Places(mean, slopes, _WIDER * np.sqrt(covariance[5]))

    def at(self, shared: Shared, places: Places) -> tuple[Totals, Moments]:
        """Integrate the items out at given abilities and noise."""
        models, items = self._responses.shape
        nodes = len(_DIFFICULTY[0]) * len(_DISCRIMINATION[0])
        size = max(_LEAST_ITEMS, _CELLS // (models * nodes))
        frame = Frame.of(shared.ability)
        parts = []
        for start in range(0, items, size):
            part = slice(start, start + size)
            block = _Block(self._responses.take(part), shared, frame, self._priors)
            parts.append(block.integrate(places.take(part)))
        totals = reduce(add, (sums for sums, _ in parts)).totals(frame)
        return totals, Moments.joined([moments for _, moments in parts])


@dataclass(frozen=True, eq=False)
class _Sums:
    """Means over the posteriors of items, summed over them.

    Derivatives are of the log-likelihood of responses and item together, by abilities, noise, m and log k
    (see ``frame``).

    Attributes:
        value: The log-likelihood of the responses, items integrated out.
        slope: The mean of the first derivatives.
        spread: Their covariance.
        bend: The mean of minus the second derivatives by every ability.
        turn: Their covariance with the first derivative by log k.
        common: The same by m and log k, 2 x 2.
        squares: The mean of the squared residuals, in units of the noise.
    """

    value: float
    slope: Floats
    spread: Floats
    bend: Floats
    turn: Floats
    common: Floats
    squares: float

    def __add__(self, other: _Sums) -> _Sums:
        pairs = zip(vars(self).values(), vars(other).values(), strict=True)
        return _Sums(*(mine + theirs for mine, theirs in pairs))

    def totals(self, frame: Frame) -> Totals:
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

    Attributes:
        slope: a, nodes x items.
        difficulty: b.
        shares: How much of the posterior is there; they add up to 1.
        inner: The posterior of c given a and b.
        steep: σ (1 − σ) a/s², models x nodes x items; 0 where a response is missing, as are the next two.
        seen: The derivatives by ability and noise are c · seen − c² · curve. This is r times steep, and a row
            for the noise.
        curve: σ times steep, and a row for the noise.
    """

    slope: Floats
    difficulty: Floats
    shares: Floats
    inner: Feasibility
    hit: Floats
    steep: Floats
    seen: Floats
    curve: Floats


class _Block:
    """A block of items small enough for arrays of models x nodes x items."""

    def __init__(self, responses: Responses, shared: Shared, frame: Frame, priors: Priors) -> None:
        self._responses, self._shared, self._frame, self._priors = responses, shared, frame, priors
        self._precision = float(np.exp(-2.0 * shared.log_noise))
        self._squares = self._precision * np.einsum("mn,mn->n", responses.values, responses.values)

    def integrate(self, places: Places) -> tuple[_Sums, Moments]:
        """Integrate the items out."""
        nodes, value = self._evaluated(*self._laid(places))
        slopes = self._slopes(nodes)
        mean = np.einsum("kn,skn->sn", nodes.shares, slopes)
        moments = self._moments(nodes, slopes)
        bend, turn = self._bends(nodes, slopes)
        counts = self._responses.per_item()
        bends = prior_bends(nodes.slope, nodes.difficulty, self._frame.origin, self._priors)
        once, both, twice = np.einsum("kn,bkn->b", nodes.shares, bends)
        sums = _Sums(
            value=value - float((0.5 * self._squares + counts * (_LOG_ROOT + self._shared.log_noise)).sum()),
            slope=mean.sum(axis=1),
            spread=_second_moments(nodes, slopes) - mean @ mean.T,
            bend=bend,
            turn=turn,
            common=np.array([[once, both], [both, twice]]),
            squares=float((mean[-3] + counts).sum()),
        )
        return sums, moments

    def _laid(self, places: Places) -> tuple[Floats, Floats, Floats]:
        """Return a and b at the nodes, nodes x items, and the logarithm of prior times weight."""
        priors = self._priors
        steps, weights = (part[:, None] for part in _DIFFICULTY)
        difficulty = places.mean[2] + places.width * steps
        line = places.mean[:2, None] + places.slopes[:, None] * (difficulty - places.mean[2])
        means, sds = priors.item_means[:2, :, None], priors.item_sds[:2, :, None]
        line = np.clip(line, means - _FURTHEST * sds, means + _FURTHEST * sds)
        centre, width = ridge(self._responses, difficulty, line, self._shared, priors)
        logs = _log_normal(difficulty, priors.difficulty) + np.log(places.width * weights)
        steps, weights = (part[:, None, None] for part in _DISCRIMINATION)
        slope = centre + width * steps
        logs = logs + _log_normal(slope, priors.discrimination) + np.log(width * weights)
        items = difficulty.shape[1]
        repeated = np.broadcast_to(difficulty, slope.shape)
        return slope.reshape(-1, items), repeated.reshape(-1, items), logs.reshape(-1, items)

    def _evaluated(self, slope: Floats, difficulty: Floats, logs: Floats) -> tuple[_Nodes, float]:
        """Return the posterior at the nodes, and the logarithm of the integrals over them, summed."""
        responses, precision = self._responses, self._precision
        hit = self._hits(slope, difficulty)
        square = precision * np.einsum("mkn,mkn->kn", hit, hit)
        product = precision * np.einsum("mkn,mn->kn", hit, responses.values)
        inner = over_feasibility(square, product, self._priors.logit_feasibility)
        logs = logs + inner.log
        largest = logs.max(axis=0)
        shares = np.exp(logs - largest)
        total = shares.sum(axis=0)
        shares /= total
        steep = hit * (1.0 - hit)
        steep *= precision * slope
        seen, curve = np.empty((2, len(hit) + 1, *slope.shape))
        np.multiply(responses.values[:, None], steep, out=seen[:-1])
        np.multiply(hit, steep, out=curve[:-1])
        # The squared residuals are Σr² − 2 c Σrσ + c² Σσ².
        seen[-1], curve[-1] = -2.0 * product, -square
        nodes = _Nodes(slope, difficulty, shares, inner, hit, steep, seen, curve)
        return nodes, float((largest + np.log(total)).sum())

    def _hits(self, slope: Floats, difficulty: Floats) -> Floats:
        """Return σ(a (θ − b)), models x nodes x items, and 0 where a response is missing."""
        hit = difficulty - self._shared.ability[:, None, None]
        hit *= slope
        with np.errstate(over="ignore"):
            np.exp(hit, out=hit)
        hit += 1.0
        np.divide(1.0, hit, out=hit)
        if self._responses.present is not None:
            hit *= self._responses.present[:, None]
        return hit

    def _slopes(self, nodes: _Nodes) -> Floats:
        """Return the derivatives by abilities, noise, m and log k, given a and b; c is averaged over."""
        first, second = nodes.inner.powers[:2]
        slopes = np.empty((len(nodes.seen) + 2, *first.shape))
        np.multiply(nodes.seen, first, out=slopes[:-2])
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
        turned = 1.0 - 2.0 * nodes.hit
        turned *= slopes[:-3]
        squared = nodes.steep * nodes.steep
        heights = weights * (nodes.inner.powers[1] / self._precision)
        falling = weights * nodes.slope
        return np.stack(
            [
                np.einsum("mkn,kn->m", squared, height) - np.einsum("mkn,kn->m", turned, fall)
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
        first, second = shares * (inner.both - inner.logit[0] * inner.powers[:2])
        follow[0, :-2] += np.einsum("kn,skn->sn", first, nodes.seen)
        follow[0, :-2] -= np.einsum("kn,skn->sn", second, nodes.curve)
        mixed = np.einsum("ts,psn->ptn", self._frame.mixing(), follow)
        return Moments(mean, variance, (mixed + self._frame.carried(mean)).astype(np.float32))


def _second_moments(nodes: _Nodes, slopes: Floats) -> Floats:
    """Return the mean products of derivatives, summed over items.

    Given a and b they are c · seen − c² · curve; what the spread of c adds to the product of the means is the
    2 x 2 covariance of c and c², here as the product of its root with itself.
    """
    first, second, third, fourth = nodes.inner.powers
    roots = np.sqrt(nodes.shares)
    one = np.sqrt(np.maximum(second - first * first, 0.0))
    both = np.divide(first * second - third, one, out=np.zeros_like(one), where=one > 0.0)
    other = np.sqrt(np.maximum(fourth - second * second - both * both, 0.0))
    total = _products(slopes * roots)
    part = nodes.seen * (roots * one)
    part += nodes.curve * (roots * both)
    total[:-2, :-2] += _products(part)
    np.multiply(nodes.curve, roots * other, out=part)
    total[:-2, :-2] += _products(part)
    return total


def _products(values: Floats) -> Floats:
    rows = values.reshape(len(values), -1)
    return np.asarray(rows @ rows.T)


def _log_normal(values: Floats, prior: Normal) -> Floats:
    away = (values - prior[0]) / prior[1]
    return np.asarray(-0.5 * away * away - np.log(prior[1]) - _LOG_ROOT)
