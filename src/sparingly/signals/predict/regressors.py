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
from sparingly.signals.predict.ridge import fit_ridge, model_intercepts

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
    """Ridge regression with an intercept per model; see ``sparingly.signals.predict.ridge``.

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
