"""Variance components of judgements in which raters cross items: restricted maximum likelihood.

y = μ_model + s_rater + δ_rater,model + (nested effects: output, item, document) + ε. Nested effects are taken
out group by group, from the innermost: with V_k = V_{k−1} + λ_k 11ᵀ within every group, the formula of
Sherman and Morrison gives AᵀV_k⁻¹A = AᵀV_{k−1}⁻¹A − Σ_groups λ_k aaᵀ/(1 + λ_k n), where a = 1ᵀV_{k−1}⁻¹A and
n = 1ᵀV_{k−1}⁻¹1. So no matrix is larger than models + raters + raters × models, however many items there are.
All λ are variances in units of that of ε, which has a closed form (Patterson and Thompson 1971).

The search runs over standard deviations σ = √λ. There the slope at 0 is 0 whatever the data say, so a search
that touches 0 stays: it begins at several places, and every component that ends at 0 is tried again from
above before 0 is believed.

Our own code, because statsmodels' MixedLM (0.15) takes raters that cross items as one group with a dense
covariance matrix: 4,000 judgements of 800 items take it 88 s, and this 0.12 s, with the same components.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import attrgetter
from typing import Any, NamedTuple

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.cache import ResultCache
from sparingly.base.lazy import sparse

# Standard deviations in units of the noise's: where searches begin, and the upper bound.
_STARTS, _HIGHEST = (0.5, 0.1), 100.0
# A component below this is tried at 0, and again from these values.
_NEAR_ZERO, _UPWARDS = 1e-2, (0.05, 0.2, 0.8)
# Criteria (−2 log of a likelihood) that differ by less count as equal.
_TOLERANCE = 1e-8
# Up to so many cells, dense matrices are quicker than sparse ones.
_DENSE_CELLS = 1_000_000


@dataclass(frozen=True, eq=False)
class CrossedEffects:
    """The fitted variance components, and the severity of every rater.

    ``severity`` is how much higher each rater scores than the mean rater, all else the same; it sums to 0.
    """

    noise: float  # the variance of ε
    nested: tuple[float, ...]  # the variance of every nested effect, in the order given
    rater: float  # the variance of raters' severities
    taste: float  # the variance of raters' tastes for models; 0 if none was fitted
    severity: Floats
    severity_covariance: Floats  # raters × raters


class WeightedProducts(NamedTuple):
    """ZᵀPZ, ZᵀPy and yᵀPy of raters and tastes Z, the models' means taken out; log |V| + log |XᵀV⁻¹X|."""

    precision: Floats
    towards: Floats
    residual: float
    volume: float


class CrossedJudgements:
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
        # Judgements × (models, raters, tastes, score).
        width = self.models + self.raters + self.tastes
        rows = np.tile(np.arange(count), len(codes) + 1)
        places = np.concatenate([*codes, np.full(count, width)])
        values = np.concatenate([np.ones(count * len(codes)), score])
        self.columns: Any = sparse.csr_array((values, (rows, places)), shape=(count, width + 1))
        # For every nested effect, the inner groups (or judgements) in each group, and its size.
        self.groups: list[tuple[Any, Floats]] = []
        inner_labels = np.arange(count)
        for group_codes in nested:
            labels = np.unique(group_codes, return_inverse=True)[1]
            outer_of = np.zeros(int(inner_labels.max()) + 1, np.int64)
            outer_of[inner_labels] = labels
            shape = (int(labels.max()) + 1, len(outer_of))
            members = sparse.csr_array(
                (np.ones(len(outer_of)), (outer_of, np.arange(len(outer_of)))), shape=shape
            )
            self.groups.append((members, np.bincount(labels).astype(np.float64)))
            inner_labels = labels
        self.inside = _dense(self.columns.T @ self.columns)
        self.innermost = self.groups[0][0] @ self.columns if self.groups else self.columns
        if self.innermost.shape[0] * self.innermost.shape[1] <= _DENSE_CELLS:
            self.innermost = _dense(self.innermost)
        # Innermost groups of a size are all shrunk alike, so that their products are added up once.
        self.squares: list[tuple[float, Floats]] = []
        if self.groups:
            sizes = self.groups[0][1]
            alike = ((size, self.innermost[np.flatnonzero(sizes == size)]) for size in np.unique(sizes))
            self.squares = [(float(size), _dense(rows.T @ rows)) for size, rows in alike]
        self._products = ResultCache[WeightedProducts](size=8)

    def weight(self, ratios: Floats) -> WeightedProducts:
        """Weight the columns by V⁻¹ for nested variances in units of the noise's.

        A search steps along the deviations of raters and tastes with the same ratios, so a few are cached.
        """
        return self._products.get([], ratios.tobytes(), lambda: self._weigh(ratios))

    def _weigh(self, ratios: Floats) -> WeightedProducts:
        total, rows, inner_ones, volume = self.inside.copy(), self.columns, None, 0.0
        for (members, sizes), ratio in zip(self.groups, ratios, strict=True):
            group_ones = sizes if inner_ones is None else members @ inner_ones
            shrunk = 1.0 / (1.0 + ratio * group_ones)
            if inner_ones is None:
                sums = self.innermost
                for size, square in self.squares:
                    total -= ratio / (1.0 + ratio * size) * square
            else:
                sums = members @ rows
                total -= _dense(sums.T @ _scaled(sums, ratio * shrunk))
            rows, inner_ones = _scaled(sums, shrunk), shrunk * group_ones
            volume -= float(np.log(shrunk).sum())
        models = slice(None, self.models)
        solved = np.linalg.solve(total[models, models], total[models, self.models :])
        projected = total[self.models :, self.models :] - total[self.models :, models] @ solved
        volume += float(np.linalg.slogdet(total[models, models])[1])
        return WeightedProducts(projected[:-1, :-1], projected[:-1, -1], float(projected[-1, -1]), volume)

    def remove_random_effects(
        self, products: WeightedProducts, rater_sd: float, taste_sd: float
    ) -> tuple[float, float]:
        """Take raters and tastes with these standard deviations (in units of the noise's) out.

        Return the sum of squares that they leave, and the log of their determinant.
        """
        from scipy.linalg import cho_factor, cho_solve

        spread = np.concatenate([np.full(self.raters, rater_sd), np.full(self.tastes, taste_sd)])
        inner = np.eye(len(spread)) + spread[:, None] * products.precision * spread
        towards = spread * products.towards
        factor = cho_factor(inner, lower=True, overwrite_a=True, check_finite=False)
        volume = 2.0 * float(np.log(np.diag(factor[0])).sum())
        explained = float(towards @ cho_solve(factor, towards, check_finite=False))
        return products.residual - explained, volume

    def criterion(self, deviations: Floats) -> float:
        """Return −2 log of the restricted likelihood, maximised over the noise's variance."""
        depth = len(self.groups)
        products = self.weight(deviations[:depth] ** 2)
        taste_sd = deviations[depth + 1] if self.tastes else 0.0
        residual, volume = self.remove_random_effects(products, deviations[depth], taste_sd)
        return float(self.freedom * np.log(max(residual, 1e-300)) + products.volume + volume)


def fit_crossed_effects(
    score: Floats, model: Ints, rater: Ints, nested: Sequence[Ints] = (), *, taste: bool = True
) -> CrossedEffects:
    """Fit the variance components, then every rater's severity as a fixed effect given them.

    Models and raters are coded from 0 without gaps. ``nested`` are effects to take out, from the
    innermost to the outermost, a code per judgement; every group lies within one of the next. With
    ``taste`` raters may like some models better than others do.
    """
    judgements = CrossedJudgements(score, model, rater, nested, taste=taste)
    depth = len(judgements.groups)
    best = _minimise(judgements.criterion, depth + 1 + bool(judgements.tastes))
    products = judgements.weight(best[:depth] ** 2)
    taste_sd = float(best[depth + 1]) if judgements.tastes else 0.0
    residual, _ = judgements.remove_random_effects(products, best[depth], taste_sd)
    noise = residual / judgements.freedom
    # The raters' effects as fixed effects that sum to 0, given the tastes.
    of_raters, of_tastes = slice(None, judgements.raters), slice(judgements.raters, None)
    precision, towards = products.precision[of_raters, of_raters], products.towards[of_raters]
    if judgements.tastes and taste_sd > 0:
        inner = np.eye(judgements.tastes) + taste_sd**2 * products.precision[of_tastes, of_tastes]
        between = products.precision[of_raters, of_tastes]
        explained = taste_sd**2 * np.linalg.solve(inner, np.c_[between.T, products.towards[of_tastes]])
        precision = precision - between @ explained[:, :-1]
        towards = towards - between @ explained[:, -1]
    covariance = np.asarray(np.linalg.pinv(precision, rcond=1e-10, hermitian=True), np.float64)
    return CrossedEffects(
        noise=noise,
        nested=tuple(float(noise * value) for value in best[:depth] ** 2),
        rater=float(noise * best[depth] ** 2),
        taste=noise * taste_sd**2,
        severity=np.asarray(covariance @ towards),
        severity_covariance=noise * covariance,
    )


class SearchPoint(NamedTuple):
    """Standard deviations, and the criterion there."""

    height: float
    at: Floats


def _minimise(criterion: Callable[[Floats], float], count: int) -> Floats:
    """Return the standard deviations (0 or more) with the lowest criterion."""
    best = min((_descend(criterion, np.full(count, start)) for start in _STARTS), key=_height)
    # Each round ends with a lower criterion; a component can go to 0 and come back once.
    for _ in range(2 * count):
        earlier_height = best.height
        # Every small component is tried at 0 and from above.
        for component in np.flatnonzero(best.at < _NEAR_ZERO).tolist():
            trials = []
            for value in (0.0, *_UPWARDS):
                at = best.at.copy()
                at[component] = value
                trials.append(SearchPoint(criterion(at), at))
            at_zero, *above = trials
            from_above = _descend(criterion, min(above, key=_height).at)
            # Of equals the one without the component wins.
            best = min(from_above, best, key=_height)
            if at_zero.height <= best.height + _TOLERANCE:
                best = at_zero
        if best.height >= earlier_height - _TOLERANCE:
            break
    return _polish(criterion, best)


_height = attrgetter("height")


def _descend(criterion: Callable[[Floats], float], start: Floats) -> SearchPoint:
    """Return the local minimum below a start."""
    from scipy.optimize import minimize

    bounds = [(0.0, _HIGHEST)] * len(start)
    end = minimize(criterion, start, method="L-BFGS-B", bounds=bounds, options={"maxiter": 500}).x
    return SearchPoint(criterion(end), np.asarray(end, np.float64))


def _polish(criterion: Callable[[Floats], float], best: SearchPoint) -> Floats:
    """Return the point to more digits, with two-sided slopes; components at 0 stay there."""
    from scipy.optimize import minimize

    free = best.at > 0.0
    if not free.any():
        return best.at

    def with_free(values: Floats) -> Floats:
        at = best.at.copy()
        at[free] = values
        return at

    def rise(values: Floats) -> float:
        return criterion(with_free(values)) - best.height

    minimum = minimize(
        rise,
        best.at[free],
        jac="3-point",
        method="L-BFGS-B",
        bounds=[(0.0, _HIGHEST)] * int(free.sum()),
        options={"ftol": 1e-9, "gtol": 1e-6, "maxiter": 200},
    )
    at = with_free(minimum.x)
    return best.at if best.height <= criterion(at) else at


def _scaled(matrix: Any, factor: Floats) -> Any:
    """Return a matrix, dense or sparse, with every row times a factor."""
    if isinstance(matrix, np.ndarray):
        return matrix * factor[:, None]
    scaled = matrix.copy()
    scaled.data *= np.repeat(factor, np.diff(matrix.indptr))
    return scaled


def _dense(matrix: Any) -> Floats:
    """Return a matrix, dense or sparse, as a dense one."""
    return matrix if isinstance(matrix, np.ndarray) else np.asarray(matrix.toarray())
