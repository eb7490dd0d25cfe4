"""The learner of ``casf``: the quality of items, predicted from their metrics and the judgements so far."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError
from sparingly.base.stats.moments import row_means

Regressor = Literal[
    "boosting", "linear", "adaboost", "bagging", "tree", "extra_trees", "knn", "forest", "svm"
]
Unit = Literal["item", "cell"]


def standardised_sum(aspects: Sequence[Floats]) -> Floats:
    """Return the sum over aspects of scores standardised over what is judged (items × models).

    A cell that lacks one of the aspects is not judged. An aspect on which all scores are the same tells
    nothing apart and counts as 0.
    """
    total = np.zeros(aspects[0].shape)
    for scores in aspects:
        spread = float(np.nanstd(scores)) if np.isfinite(scores).any() else 0.0
        total = total + (scores - (np.nanmean(scores) if spread else scores)) / (spread or 1.0)
    return total


def predicted_quality(
    metrics: Sequence[Floats], target: Floats, *, rows: Unit, regressor: Regressor, settings: dict[str, int]
) -> Floats:
    """Return the predicted quality of every item: the sum over models of the standardised aspects.

    Args:
        metrics: The features, each items × models.
        target: Items × models: the sum of standardised aspects, NaN where not judged.
        rows: ``item`` learns from one row per item with the metrics of all models as features (Ruan et al.
            2024, eq. 2); ``cell`` from one row per output, as their published code does.
        regressor: What learns.
        settings: ``depth``, ``trees`` and ``seed``.
    """
    features = np.stack([_filled(scores) for scores in metrics], axis=-1)
    if rows == "item":
        known = row_means(target) * target.shape[1]
        return _fitted(features.reshape(len(target), -1), known, regressor, settings)
    cells = features.reshape(-1, features.shape[-1])
    return np.asarray(_fitted(cells, target.ravel(), regressor, settings).reshape(target.shape).sum(axis=1))


def _fitted(features: Floats, target: Floats, regressor: Regressor, settings: dict[str, int]) -> Floats:
    judged = ~np.isnan(target)
    if judged.sum() < 2:
        raise DataError(
            "casf has fewer than two judged items to learn from: record the earlier rounds first."
        )
    learner = make_regressor(regressor, **settings)
    learner.fit(features[judged], target[judged])
    return np.asarray(learner.predict(features), np.float64)


def _filled(scores: Floats) -> Floats:
    """Return a metric with the mean of its model in place of what is missing."""
    there = ~np.isnan(scores)
    count = there.sum(axis=0)
    mean = np.where(there, scores, 0.0).sum(axis=0) / np.maximum(count, 1)
    return np.where(there, scores, mean)


def make_regressor(name: Regressor, *, depth: int, trees: int, seed: int) -> Any:
    """Return one of the nine regressors of Ruan et al. 2024, Table 7, ready to fit.

    kNN and the support vector machine see standardised features, since both go by distances.
    """
    from sklearn.ensemble import (
        AdaBoostRegressor,
        BaggingRegressor,
        ExtraTreesRegressor,
        GradientBoostingRegressor,
        RandomForestRegressor,
    )
    from sklearn.linear_model import LinearRegression
    from sklearn.neighbors import KNeighborsRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler
    from sklearn.svm import SVR
    from sklearn.tree import DecisionTreeRegressor

    made = {
        "boosting": lambda: GradientBoostingRegressor(max_depth=depth, n_estimators=trees, random_state=seed),
        "linear": LinearRegression,
        "adaboost": lambda: AdaBoostRegressor(random_state=seed),
        "bagging": lambda: BaggingRegressor(random_state=seed),
        "tree": lambda: DecisionTreeRegressor(random_state=seed),
        "extra_trees": lambda: ExtraTreesRegressor(random_state=seed),
        "knn": lambda: make_pipeline(StandardScaler(), KNeighborsRegressor()),
        "forest": lambda: RandomForestRegressor(random_state=seed),
        "svm": lambda: make_pipeline(StandardScaler(), SVR()),
    }
    return made[name]()
