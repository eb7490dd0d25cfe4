"""Regressors that learn scores from features: ridge, boosting, nearest neighbours, any of scikit-learn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.signals.predict.features import Features

_PATH = "sklearn."
_PLAIN, _NO_ITEM_MEANS, _CURVED = Features(), Features(item_means=False), Features(squares=3, slopes=True)


class TrainingData(NamedTuple):
    """What a regressor learns from."""

    x: Floats  # features, items x models x features
    y: Floats  # labels, items x models
    weights: Floats  # the weight of every label, 0 where there is none
    scales: Floats  # how large the coefficient of each feature is expected to be
    seed: int  # for what a regressor draws


class FittedRegressor(Protocol):
    """A regressor that has learned."""

    @property
    def parameters(self) -> float | None:
        """The effective number of parameters, where it is known."""

    def predict(self, x: Floats) -> Floats:
        """Return predictions, items x models, for items x models x features."""


class Regressor(Protocol):
    """A way to learn scores from features."""

    @property
    def text(self) -> str:
        """The regressor as text."""

    @property
    def features(self) -> Features:
        """The features that it learns from unless others are wanted."""

    def fit(self, training: TrainingData) -> FittedRegressor:
        """Learn."""


@dataclass(frozen=True)
class Ridge:
    """Ridge regression with an intercept per model; see ``sparingly.signals.predict.regressors``.

    On metrics, item means, lengths, a parabola in the first three principal components, and a slope of each
    model's own on the first one. On fully judged public sets it left less error, on average, than boosting,
    extra trees and nearest neighbours, and it is the quickest.
    """

    text: str = "ridge"
    features: Features = _CURVED

    def fit(self, training: TrainingData) -> FittedRegressor:
        """Fit by the scaled features, so that every kind of feature is shrunk as its scale asks."""
        scaled = fit_ridge(training.x * training.scales, training.y, training.weights)
        return replace(scaled, coefficients=scaled.coefficients * training.scales)


@dataclass(frozen=True, eq=False)
class _FittedSklearn:
    """A fitted scikit-learn estimator on top of the models' intercepts."""

    estimator: Any
    intercepts: Floats
    parameters: float | None = None

    def predict(self, x: Floats) -> Floats:
        predictions = np.asarray(self.estimator.predict(x.reshape(-1, x.shape[2])), np.float64)
        return predictions.reshape(x.shape[:2]) + self.intercepts


class RowRegressor(ABC):
    """A regressor of scikit-learn's kind: learns what the intercepts of the models leave, a row per label.

    Weights are used by those that take them.
    """

    @abstractmethod
    def estimator(self, seed: int, rows: int) -> Any:
        """Return a new estimator that is to learn from so many rows."""

    def fit(self, training: TrainingData) -> FittedRegressor:
        """Fit a new estimator."""
        from sklearn.utils.validation import has_fit_parameter

        has_label = training.weights > 0
        scores = np.where(has_label, training.y, 0.0)
        intercepts = model_intercepts(scores, training.weights)
        estimator = self.estimator(training.seed, int(has_label.sum()))
        weights = training.weights[has_label]
        # Equal weights say nothing, and some estimators are many times slower when they are given.
        weighted = np.ptp(weights) > 0 and has_fit_parameter(estimator, "sample_weight")
        extra = {"sample_weight": weights} if weighted else {}
        estimator.fit(training.x[has_label], (scores - intercepts)[has_label], **extra)
        return _FittedSklearn(estimator, intercepts)


@dataclass(frozen=True)
class Neighbours(RowRegressor):
    """The mean label of the k labelled outputs with the nearest features (Saldías et al. 2022: k = 25)."""

    k: int = 25
    features: Features = _NO_ITEM_MEANS

    def __post_init__(self) -> None:
        if self.k < 1:
            raise UsageError(f"The number of neighbours is at least 1, not {self.k}.")

    @property
    def text(self) -> str:
        """The regressor as text."""
        return "knn" if self.k == Neighbours.k else f"knn with k={self.k}"

    def estimator(self, seed: int, rows: int) -> Any:
        """Return the neighbours' mean, of fewer where there are fewer labels."""
        from sklearn.neighbors import KNeighborsRegressor

        return KNeighborsRegressor(min(self.k, rows))


@dataclass(frozen=True)
class Boosting(RowRegressor):
    """Gradient boosting over histograms: ``trees`` of ``leaves`` leaves, each counted by ``rate``."""

    trees: int = 60
    leaves: int = 8
    rate: float = 0.08
    features: Features = _PLAIN
    text: str = "boosting"

    def estimator(self, seed: int, rows: int) -> Any:
        """Return small trees with leaves that hold a share of the labels."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        return HistGradientBoostingRegressor(
            max_iter=self.trees,
            max_leaf_nodes=self.leaves,
            learning_rate=self.rate,
            # Few bins: with weights, finding them takes longer than growing the trees.
            max_bins=32,
            min_samples_leaf=max(1, min(30, rows // 10)),
            l2_regularization=1.0,
            early_stopping=False,
            random_state=seed,
        )


@dataclass(frozen=True, eq=False)
class SklearnRegressor(RowRegressor):
    """Any object with scikit-learn's ``fit`` and ``predict``; each fold learns with a fresh copy."""

    original: Any
    text: str
    features: Features = _PLAIN

    def estimator(self, seed: int, rows: int) -> Any:
        """Return a copy that has learned nothing; what it draws follows from the seed."""
        from sklearn.base import clone

        copied = clone(self.original, safe=False)
        parameters = copied.get_params() if hasattr(copied, "get_params") else {}
        if "random_state" in parameters and parameters["random_state"] is None:
            copied.set_params(random_state=seed)
        return copied


_BY_NAME: dict[str, Callable[[], Regressor]] = {"ridge": Ridge, "boosting": Boosting, "knn": Neighbours}


def parse_regressor(regressor: object) -> Regressor:
    """Return the regressor that is meant by a name, an import path, or an object.

    A path such as ``sklearn.linear_model:Lasso`` takes the class with its defaults. Paths lead into
    scikit-learn only: a text can come from a file, and a file must not run what it likes.
    """
    if isinstance(regressor, Ridge | RowRegressor):
        return cast("Regressor", regressor)
    if not isinstance(regressor, str):
        if isinstance(regressor, type) or not _can_learn(regressor):
            raise UsageError(
                f"A regressor is a name, a path or an object with fit and predict, not {regressor!r}."
            )
        return SklearnRegressor(regressor, " ".join(repr(regressor).split()))
    if regressor in _BY_NAME:
        return _BY_NAME[regressor]()
    module, _, name = regressor.partition(":")
    if not module.startswith(_PATH):
        hint = "Or write a path such as sklearn.linear_model:Lasso, or pass an object with fit and predict."
        raise UnknownNameError("regressor", regressor, _BY_NAME, hint)
    try:
        regressor_class = getattr(import_module(module), name, None)
    except ImportError:
        regressor_class = None
    if not isinstance(regressor_class, type) or not _can_learn(regressor_class):
        raise UsageError(f'There is no regressor at "{regressor}": write it as sklearn.linear_model:Lasso.')
    return SklearnRegressor(regressor_class(), regressor)


def _can_learn(candidate: object) -> bool:
    return all(callable(getattr(candidate, name, None)) for name in ("fit", "predict"))


# --- ridge regression on cells, with an intercept per model; the penalty is judged by leaving out items ---
# min over β, a, d of Σ_ij w_ij (y_ij − a − d_j − x_ij·β)² + κ Σ_j d_j² + λ ‖β‖²
#
# Leaving out item i changes its residuals r_i to (I − H_i)⁻¹ r_i, where H_i is the item's block of the hat
# matrix (Allen 1974, PRESS, for a group of rows): one eigendecomposition serves every penalty, exactly, and
# the cells of one item, which share its difficulty, never predict each other.
#
# Instead of the best penalty alone, all that are nearly as good take part: with D_λ the loss of λ minus
# that of the best and s_λ its standard error over items, coefficients are averaged with weights exp(−½
# (D_λ/s_λ)²). The infinite penalty (intercepts only) is among them, so that useless metrics are ignored.


# How many labels the prior of each model's intercept (the common one) counts for.
PRIOR_LABELS = 1.0
# In units of the mean eigenvalue of the features' cross product.
PENALTIES = tuple(float(10.0**power) for power in np.arange(-3.0, 3.01, 0.5))
_ZERO_ENERGY = 1e-10


@dataclass(frozen=True, eq=False)
class RidgeFit:
    """A fitted ridge."""

    coefficients: Floats  # one per feature
    intercepts: Floats  # one per model
    parameters: float  # the trace of the hat matrix, which counts the parameters that were really free
    # The residual of every cell when its item is left out, items x models; 0 without a label.
    left_out: Floats
    penalties: Floats  # the penalties that were tried, the last one infinite
    shares: Floats  # how much each of them counts

    def predict(self, x: Floats) -> Floats:
        """Return predictions for items x models x features."""
        return np.asarray(x @ self.coefficients + self.intercepts)


def fit_ridge(
    x: Floats, y: Floats, weights: Floats, penalties: tuple[float, ...] = PENALTIES, relative: bool = True
) -> RidgeFit:
    """Fit scores y (items x models) to features x (items x models x features).

    Weights are 0 where there is no label (y is not read there). With ``relative``, penalties are multiples of
    the mean eigenvalue of the features' cross product.
    """
    y = np.where(weights > 0, y, 0.0)
    # The common intercept is free: taking out the mean first only saves digits.
    centre = float((weights * y).sum() / weights.sum())
    problem = RidgeProblem.rotate(x, y - centre, weights)
    scale = problem.energy.sum() / x.shape[2] if relative else 1.0
    tried = np.append(np.array(penalties) * scale, np.inf)
    solutions = [problem.solve(penalty) for penalty in tried]
    slopes, left_out, parameters = (np.stack(parts) for parts in zip(*solutions, strict=True))
    # How much every penalty counts, from the losses of penalties x items.
    losses = (left_out**2).sum(axis=2)
    best = int(np.argmin(losses.sum(axis=1)))
    worse = losses - losses[best]
    mean = worse.mean(axis=1, keepdims=True)
    error = np.sqrt(((worse - mean) ** 2).sum(axis=1))
    far = np.divide(worse.sum(axis=1), error, out=np.zeros(len(losses)), where=error > 0)
    shares: Floats = np.exp(-0.5 * far**2)
    shares = np.asarray(shares / shares.sum())
    coefficients = problem.axes @ np.tensordot(shares, slopes, 1)
    unexplained = y - x @ coefficients
    intercepts = problem.smoother @ (weights * unexplained).sum(axis=0)
    root = np.sqrt(weights)
    return RidgeFit(
        coefficients=coefficients,
        intercepts=intercepts,
        parameters=float(shares @ parameters),
        left_out=np.tensordot(shares, left_out, 1) / np.where(root > 0, root, 1.0),
        penalties=tried,
        shares=shares,
    )


@dataclass(frozen=True, eq=False)
class RidgeProblem:
    """The regression in the coordinates in which its features are uncorrelated."""

    axes: Floats  # features x axes
    energy: Floats  # the eigenvalue of each axis
    rows: Floats  # items x models x axes, times the root of the weights, intercepts taken out
    pull: Floats  # the cross product of each axis with the scores
    scores: Floats  # items x models, times the root of the weights, intercepts taken out
    roots: Floats  # the roots of the weights
    smoother: Floats  # from weighted sums to intercepts

    @classmethod
    def rotate(cls, x: Floats, y: Floats, weights: Floats) -> RidgeProblem:
        """Take the shrunk intercepts out of features and scores, and rotate the features."""
        smoother = intercept_smoother(weights.sum(axis=0))
        roots = np.sqrt(weights)
        centred = x - smoother @ np.einsum("ij,ijp->jp", weights, x)
        flat = (roots[:, :, None] * centred).reshape(-1, x.shape[2])
        cross = flat.T @ (roots[:, :, None] * x).reshape(-1, x.shape[2])
        energy, axes = np.linalg.eigh((cross + cross.T) / 2.0)
        positive = energy > _ZERO_ENERGY * max(energy[-1], 0.0)
        axes, energy = axes[:, positive], energy[positive]
        rows = (flat @ axes).reshape(*y.shape, -1)
        pull = np.einsum("ijk,ij->k", rows, roots * y)
        scores = roots * (y - smoother @ (weights * y).sum(axis=0))
        return cls(axes, energy, rows, pull, scores, roots, smoother)

    def solve(self, penalty: float) -> tuple[Floats, Floats, float]:
        """Return the slopes on the axes under a penalty, the residuals of left-out items, and the parameters.

        Residuals are times the root of the weights.
        """
        shrunk = 1.0 / (self.energy + penalty)
        slopes = shrunk * self.pull
        hat = (self.rows * shrunk) @ self.rows.transpose(0, 2, 1)
        hat += self.roots[:, :, None] * self.smoother * self.roots[:, None, :]
        residual = self.scores - self.rows @ slopes
        identity = np.eye(residual.shape[1])
        left_out = np.asarray(np.linalg.solve(identity - hat, residual[:, :, None])[:, :, 0], np.float64)
        return slopes, left_out, float(np.einsum("ijj->", hat))


# An intercept for every model: the mean of its labels, shrunk a little towards the mean of all. Metrics and
# people differ in how they see one model as a whole, so labels of all models can share slopes but not an
# intercept. The intercept itself cancels from an estimate of the model's mean.


def intercept_smoother(totals: Floats) -> Floats:
    """Return K (models x models) with intercepts = K · (weighted sums of what is left to explain).

    It solves min Σ w_ij (r_ij − a − d_j)² + κ Σ d_j² with κ = ``PRIOR_LABELS``, for models whose labels weigh
    ``totals``: a model without labels gets the common intercept.
    """
    models = len(totals)
    common = np.column_stack([np.ones(models), np.eye(models)])
    inner = common.T @ (totals[:, None] * common)
    inner[1:, 1:] += PRIOR_LABELS * np.eye(models)
    return np.asarray(common @ np.linalg.solve(inner, common.T))


def model_intercepts(scores: Floats, weights: Floats) -> Floats:
    """Return the shrunk intercepts of scores, items x models, with weight 0 where there is none."""
    return np.asarray(intercept_smoother(weights.sum(axis=0)) @ (weights * scores).sum(axis=0))
