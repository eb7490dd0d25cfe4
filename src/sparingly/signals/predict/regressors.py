"""What can learn scores from features: ridge, boosting, nearest neighbours, any scikit-learn regressor."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from importlib import import_module
from typing import Any, NamedTuple, Protocol, cast

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.signals.predict.features import Features
from sparingly.signals.predict.ridge import RidgeFit, fit_ridge, model_intercepts

_PATH = "sklearn."
_PLAIN, _OWN, _CURVED = Features(), Features(item_means=False), Features(squares=3, slopes=True)


class Training(NamedTuple):
    """What a regressor learns from.

    Attributes:
        x: Features, items x models x features.
        y: Labels, items x models.
        weights: The weight of every label, 0 where there is none.
        scales: How large the coefficient of each feature is expected to be.
        seed: For what a regressor draws.
    """

    x: Floats
    y: Floats
    weights: Floats
    scales: Floats
    seed: int


class Fitted(Protocol):
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

    def fit(self, training: Training) -> Fitted:
        """Learn."""


@dataclass(frozen=True, eq=False)
class _ScaledRidge:
    fit: RidgeFit
    scales: Floats

    @property
    def parameters(self) -> float:
        return self.fit.parameters

    def predict(self, x: Floats) -> Floats:
        return np.asarray(x @ (self.fit.coefficients * self.scales) + self.fit.intercepts)


@dataclass(frozen=True)
class Ridge:
    """Ridge regression with an intercept per model; see ``sparingly.signals.predict.ridge``.

    On metrics, item means, lengths, a parabola in the first three principal components, and a slope of each
    model's own on the first one. On fully judged public sets it left less error, on average, than boosting,
    extra trees and nearest neighbours, and it is the quickest.
    """

    text: str = "ridge"
    features: Features = _CURVED

    def fit(self, training: Training) -> Fitted:
        """Fit by the scaled features, so that every kind of feature is shrunk as its scale asks."""
        fitted = fit_ridge(training.x * training.scales, training.y, training.weights)
        return _ScaledRidge(fitted, training.scales)


@dataclass(frozen=True, eq=False)
class _FittedEstimator:
    estimator: Any
    intercepts: Floats
    parameters: float | None = None

    def predict(self, x: Floats) -> Floats:
        found = np.asarray(self.estimator.predict(x.reshape(-1, x.shape[2])), np.float64)
        return found.reshape(x.shape[:2]) + self.intercepts


class OnRows(ABC):
    """A regressor of scikit-learn's kind: learns what the intercepts of the models leave, a row per label.

    Weights are used by those that take them.
    """

    @abstractmethod
    def estimator(self, seed: int, rows: int) -> Any:
        """Return a new estimator that is to learn from so many rows."""

    def fit(self, training: Training) -> Fitted:
        """Fit a new estimator."""
        from sklearn.utils.validation import has_fit_parameter

        known = training.weights > 0
        scores = np.where(known, training.y, 0.0)
        intercepts = model_intercepts(scores, training.weights)
        estimator = self.estimator(training.seed, int(known.sum()))
        weights = training.weights[known]
        # Equal weights say nothing, and some estimators are many times slower when they are given.
        weighted = np.ptp(weights) > 0 and has_fit_parameter(estimator, "sample_weight")
        extra = {"sample_weight": weights} if weighted else {}
        estimator.fit(training.x[known], (scores - intercepts)[known], **extra)
        return _FittedEstimator(estimator, intercepts)


@dataclass(frozen=True)
class Neighbours(OnRows):
    """The mean label of the k labelled outputs with the nearest features (Saldías et al. 2022: k = 25)."""

    k: int = 25
    features: Features = _OWN

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
class Boosting(OnRows):
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
class Estimator(OnRows):
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


_NAMED: dict[str, type[Ridge] | type[Neighbours] | type[Boosting]] = {
    "ridge": Ridge,
    "boosting": Boosting,
    "knn": Neighbours,
}


def as_regressor(regressor: object) -> Regressor:
    """Return the regressor that is meant by a name, an import path, or an object.

    A path such as ``sklearn.linear_model:Lasso`` takes the class with its defaults. Paths lead into
    scikit-learn only: a text can come from a file, and a file must not run what it likes.
    """
    if isinstance(regressor, Ridge | OnRows):
        return cast("Regressor", regressor)
    if isinstance(regressor, str):
        if regressor in _NAMED:
            return _NAMED[regressor]()
        return Estimator(_imported(regressor)(), regressor)
    if isinstance(regressor, type) or not _can_learn(regressor):
        raise UsageError(
            f"A regressor is a name, a path or an object with fit and predict, not {regressor!r}."
        )
    return Estimator(regressor, " ".join(repr(regressor).split()))


def _imported(path: str) -> Any:
    """Return the class at an import path into scikit-learn."""
    module, _, name = path.partition(":")
    if not module.startswith(_PATH):
        hint = "Or write a path such as sklearn.linear_model:Lasso, or pass an object with fit and predict."
        raise UnknownNameError("regressor", path, _NAMED, hint)
    try:
        found = getattr(import_module(module), name, None)
    except ImportError:
        found = None
    if not isinstance(found, type) or not _can_learn(found):
        raise UsageError(f'There is no regressor at "{path}": write it as sklearn.linear_model:Lasso.')
    return found


def _can_learn(thing: object) -> bool:
    return all(callable(getattr(thing, name, None)) for name in ("fit", "predict"))
