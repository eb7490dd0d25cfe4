"""Variance components of judgements in which raters cross items: restricted maximum likelihood.

y = μ_model + s_rater + δ_rater,model + (nested effects: output, item, document) + ε. Nested effects are taken
out group by group, from the innermost: with V_k = V_{k−1} + λ_k 11ᵀ within every group, the formula of
Sherman and Morrison gives AᵀV_k⁻¹A = AᵀV_{k−1}⁻¹A − Σ_groups λ_k aaᵀ/(1 + λ_k n), where a = 1ᵀV_{k−1}⁻¹A and
n = 1ᵀV_{k−1}⁻¹1. So no matrix is larger than models + raters + raters × models, however many items there are.
All λ are variances in units of that of ε, which has a closed form (Patterson and Thompson 1971).

The search runs over standard deviations σ = √λ. There the slope at 0 is 0 whatever the data say, so a search
that touches 0 stays: it begins at several places, and every component that ends at 0 is tried again from
above before 0 is believed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints

# Standard deviations in units of the noise's: where searches begin, and where they end.
_STARTS, _MOST = (0.5, 0.1), 100.0
# A component this small is put to the test: at 0, and from these places upwards.
_SMALL, _UPWARDS = 1e-2, (0.05, 0.2, 0.8)
# Criteria (−2 log of a likelihood) that differ by less are the same.
_SAME = 1e-8
# Up to so many cells, full matrices are quicker than sparse ones.
_FULL = 1_000_000


@dataclass(frozen=True, eq=False)
class CrossedEffects:
    """What a fit found.

    Attributes:
        noise: The variance of ε.
        nested: The variance of every nested effect, in the order given.
        rater: The variance of raters' severities.
        taste: The variance of raters' tastes for models; 0 where none was fitted.
        severity: How much higher each rater scores than the mean rater, all else the same; sums to 0.
        severity_covariance: Its covariance, raters × raters.
    """

    noise: float
    nested: tuple[float, ...]
    rater: float
    taste: float
    severity: Floats
    severity_covariance: Floats


class _Weighed(NamedTuple):
    """ZᵀPZ, ZᵀPy and yᵀPy of raters and tastes Z, the models' means taken out; log |V| + log |XᵀV⁻¹X|."""

    precision: Floats
    towards: Floats
    rest: float
    volume: float


class _Judgements:
    """The judgements as columns: models, raters, tastes, and the scores themselves."""

    def __init__(
        self, score: Floats, model: Ints, rater: Ints, nested: Sequence[Ints], *, taste: bool
    ) -> None:
        count = len(score)
        self.models, self.raters = int(model.max()) + 1, int(rater.max()) + 1
        codes = [model, self.models + rater]
        self.tastes = 0
        if taste:
            liked = np.unique(rater * self.models + model, return_inverse=True)[1]
            self.tastes = int(liked.max()) + 1
            codes.append(self.models + self.raters + liked)
        self.freedom = count - self.models
        self.columns = _columns(codes, score, self.models + self.raters + self.tastes)
        self.groups = _groups(nested, count)
        self.inside = _full(self.columns.T @ self.columns)
        self.innermost = self.groups[0][0] @ self.columns if self.groups else self.columns
        if self.innermost.shape[0] * self.innermost.shape[1] <= _FULL:
            self.innermost = _full(self.innermost)

    def weighed(self, ratios: Floats) -> _Weighed:
        """Weigh the columns by V⁻¹ for nested variances in units of the noise's."""
        total, rows, ones, volume = self.inside.copy(), self.columns, None, 0.0
        for (members, sizes), ratio in zip(self.groups, ratios, strict=True):
            held = sizes if ones is None else members @ ones
            shrunk = 1.0 / (1.0 + ratio * held)
            sums = self.innermost if ones is None else members @ rows
            total -= _full(sums.T @ _scaled(sums, ratio * shrunk))
            rows, ones = _scaled(sums, shrunk), shrunk * held
            volume -= float(np.log(shrunk).sum())
        models = slice(None, self.models)
        solved = np.linalg.solve(total[models, models], total[models, self.models :])
        left = total[self.models :, self.models :] - total[self.models :, models] @ solved
        volume += float(np.linalg.slogdet(total[models, models])[1])
        return _Weighed(left[:-1, :-1], left[:-1, -1], float(left[-1, -1]), volume)

    def spread(self, rater: float, taste: float) -> Floats:
        """Return the standard deviation of every rater's and taste's effect, in units of the noise's."""
        return np.concatenate([np.full(self.raters, rater), np.full(self.tastes, taste)])

    def criterion(self, deviations: Floats) -> float:
        """Return −2 log of the restricted likelihood, the noise's variance put in its best place."""
        depth = len(self.groups)
        weighed = self.weighed(deviations[:depth] ** 2)
        taste = deviations[depth + 1] if self.tastes else 0.0
        found = _mixed(weighed, self.spread(deviations[depth], taste))
        return float(self.freedom * np.log(max(found.rest, 1e-300)) + weighed.volume + found.volume)


class _Mixed(NamedTuple):
    """What random effects leave of the sum of squares, and log of the volume that they take."""

    rest: float
    volume: float


def _mixed(weighed: _Weighed, spread: Floats) -> _Mixed:
    """Take random effects with these standard deviations out of what is left."""
    from scipy.linalg import cho_factor, cho_solve

    inner = np.eye(len(spread)) + spread[:, None] * weighed.precision * spread
    towards = spread * weighed.towards
    factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
    volume = 2.0 * float(np.log(np.diag(factor[0])).sum())
    return _Mixed(weighed.rest - float(towards @ cho_solve(factor, towards, check_finite=False)), volume)


def fit_crossed_effects(
    score: Floats, model: Ints, rater: Ints, nested: Sequence[Ints] = (), *, taste: bool = True
) -> CrossedEffects:
    """Fit the variance components, then every rater's severity as a fixed effect given them.

    Args:
        score: One score per judgement.
        model: The model of each, coded from 0 without gaps.
        rater: The rater of each, coded so.
        nested: Effects to take out, from the innermost to the outermost, each a code per judgement; every
            group lies within one group of the next.
        taste: Whether raters may like some models better than others do.
    """
    held = _Judgements(score, model, rater, nested, taste=taste)
    depth = len(held.groups)
    best = _lowest(held.criterion, depth + 1 + bool(held.tastes))
    weighed = held.weighed(best[:depth] ** 2)
    liked = float(best[depth + 1]) if held.tastes else 0.0
    noise = _mixed(weighed, held.spread(best[depth], liked)).rest / held.freedom
    severity, covariance = _fixed_severity(held, weighed, liked)
    return CrossedEffects(
        noise=noise,
        nested=tuple(float(noise * value) for value in best[:depth] ** 2),
        rater=float(noise * best[depth] ** 2),
        taste=noise * liked**2,
        severity=severity,
        severity_covariance=noise * covariance,
    )


class _Place(NamedTuple):
    """Standard deviations, and the criterion there."""

    height: float
    at: Floats


def _lowest(criterion: Callable[[Floats], float], count: int) -> Floats:
    """Return the standard deviations (0 or more) with the lowest criterion."""
    best = min((_descent(criterion, np.full(count, start)) for start in _STARTS), key=_height)
    # Each round ends with a lower criterion; a component can go to 0 and come back once.
    for _ in range(2 * count):
        before, best = best, _zeros_tested(criterion, best)
        if best.height >= before.height - _SAME:
            break
    return _polished(criterion, best).at


def _height(place: _Place) -> float:
    return place.height


def _descent(criterion: Callable[[Floats], float], start: Floats) -> _Place:
    """Return where a search downhill from a start ends."""
    from scipy.optimize import minimize

    bounds = [(0.0, _MOST)] * len(start)
    end = minimize(criterion, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    return _Place(criterion(end), np.asarray(end, np.float64))


def _zeros_tested(criterion: Callable[[Floats], float], best: _Place) -> _Place:
    """Return the best place after every small component was put to 0, and searched for from above."""
    for component in np.flatnonzero(best.at < _SMALL).tolist():
        trials = []
        for value in (0.0, *_UPWARDS):
            at = best.at.copy()
            at[component] = value
            trials.append(_Place(criterion(at), at))
        none, *above = trials
        again = _descent(criterion, min(above, key=_height).at)
        # Of equals the one without the component is taken.
        best = min(again, best, key=_height)
        if none.height <= best.height + _SAME:
            best = none
    return best


def _polished(criterion: Callable[[Floats], float], best: _Place) -> _Place:
    """Return the place to more digits, with slopes from both sides; components at 0 stay there."""
    from scipy.optimize import minimize

    free = best.at > 0.0
    if not free.any():
        return best

    def of_free(values: Floats) -> float:
        at = best.at.copy()
        at[free] = values
        return criterion(at) - best.height

    found = minimize(
        of_free,
        best.at[free],
        jac="3-point",
        method="L-BFGS-B",
        bounds=[(0.0, _MOST)] * int(free.sum()),
        options={"ftol": 1e-9, "gtol": 1e-6, "maxiter": 200},
    )
    at = best.at.copy()
    at[free] = found.x
    return min(best, _Place(criterion(at), at), key=_height)


def _fixed_severity(held: _Judgements, weighed: _Weighed, liked: float) -> tuple[Floats, Floats]:
    """Return the raters' effects as fixed ones that sum to 0, tastes taken out, and their covariance."""
    own, rest = slice(None, held.raters), slice(held.raters, None)
    precision, towards = weighed.precision[own, own], weighed.towards[own]
    if held.tastes and liked > 0:
        inner = np.eye(held.tastes) + liked**2 * weighed.precision[rest, rest]
        between = weighed.precision[own, rest]
        taken = liked**2 * np.linalg.solve(inner, np.c_[between.T, weighed.towards[rest]])
        precision = precision - between @ taken[:, :-1]
        towards = towards - between @ taken[:, -1]
    covariance = np.linalg.pinv(precision, rcond=1e-10, hermitian=True)
    return np.asarray(covariance @ towards), np.asarray(covariance, np.float64)


def _scaled(matrix: Any, factor: Floats) -> Any:
    """Return a matrix, full or sparse, with every row times a factor."""
    if isinstance(matrix, np.ndarray):
        return matrix * factor[:, None]
    scaled = matrix.copy()
    scaled.data *= np.repeat(factor, np.diff(matrix.indptr))
    return scaled


def _full(matrix: Any) -> Floats:
    """Return a matrix as a full one."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())


def _columns(codes: Sequence[Ints], score: Floats, width: int) -> Any:
    """Return judgements × (models, raters, tastes, score) as a sparse matrix."""
    from scipy.sparse import csr_array

    count = len(score)
    rows = np.tile(np.arange(count), len(codes) + 1)
    places = np.concatenate([*codes, np.full(count, width)])
    values = np.concatenate([np.ones(count * len(codes)), score])
    return csr_array((values, (rows, places)), shape=(count, width + 1))


def _groups(nested: Sequence[Ints], count: int) -> list[tuple[Any, Floats]]:
    """Return, for every nested effect, which groups of the one before (or judgements) are in which group."""
    from scipy.sparse import csr_array

    made, before = [], np.arange(count)
    for codes in nested:
        labels = np.unique(codes, return_inverse=True)[1]
        within = np.zeros(int(before.max()) + 1, np.int64)
        within[before] = labels
        shape = (int(labels.max()) + 1, len(within))
        members = csr_array((np.ones(len(within)), (within, np.arange(len(within)))), shape=shape)
        made.append((members, np.bincount(labels).astype(np.float64)))
        before = labels
    return made
