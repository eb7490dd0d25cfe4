from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from sklearn.linear_model import Lasso, LinearRegression
from sklearn.svm import SVR
from sklearn.tree import DecisionTreeRegressor

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.signals.predict.regressors import (
    Boosting,
    Neighbours,
    Ridge,
    TrainingData,
    fit_ridge,
    model_intercepts,
    parse_regressor,
)


def training(items: int = 20, seed: int = 0, equal: bool = True) -> TrainingData:
    draw = np.random.default_rng(seed)
    x = draw.normal(size=(items, 2, 3))
    y = x[:, :, 0] ** 2 + draw.normal(scale=0.1, size=(items, 2)) + np.array([0.0, 4.0])
    weights = np.ones(y.shape) if equal else draw.uniform(0.5, 2.0, y.shape)
    weights[0, 1] = 0.0
    y[0, 1] = np.nan
    return TrainingData(x, y, weights, np.array([1.0, 0.5, 2.0]), seed)


def rows_of(told: TrainingData) -> tuple[Floats, Floats, Floats]:
    """The labelled rows, what is left of their labels, and the intercepts."""
    known = told.weights > 0
    scores = np.where(known, told.y, 0.0)
    intercepts = model_intercepts(scores, told.weights)
    return told.x[known], (scores - intercepts)[known], intercepts


def test_ridge_is_that_of_scaled_features() -> None:
    told = training()
    fitted = Ridge().fit(told)
    by_hand = fit_ridge(told.x * told.scales, told.y, told.weights)
    assert fitted.predict(told.x) == pytest.approx(by_hand.predict(told.x * told.scales))
    assert fitted.parameters == by_hand.parameters


@pytest.mark.parametrize("k", [1, 3, 25])
def test_neighbours_are_the_nearest(k: int) -> None:
    told = training(items=30)
    rows, left, intercepts = rows_of(told)
    asked = np.random.default_rng(1).normal(size=(4, 2, 3))
    away = np.linalg.norm(asked.reshape(-1, 1, 3) - rows, axis=2)
    expected = left[np.argsort(away, axis=1)[:, :k]].mean(axis=1).reshape(4, 2) + intercepts
    assert Neighbours(k).fit(told).predict(asked) == pytest.approx(expected)


def test_fewer_labels_than_neighbours() -> None:
    told = training(items=5)
    _, left, intercepts = rows_of(told)
    found = parse_regressor("knn").fit(told).predict(told.x)
    assert found == pytest.approx(np.broadcast_to(left.mean() + intercepts, (5, 2)))


@pytest.mark.parametrize("regressor", ["boosting", Boosting(trees=30), DecisionTreeRegressor(max_depth=4)])
def test_trees_learn_a_bend(regressor: Any) -> None:
    told = training(items=200)
    found = parse_regressor(regressor).fit(told).predict(told.x)
    known = told.weights > 0
    assert np.corrcoef(found[known], told.y[known])[0, 1] > 0.9


@pytest.mark.parametrize("regressor", [Lasso(0.01), "sklearn.linear_model:LinearRegression"])
@pytest.mark.parametrize("equal", [True, False])
def test_any_scikit_learn_regressor(regressor: Any, equal: bool) -> None:
    told = training(equal=equal)
    rows, left, intercepts = rows_of(told)
    model = LinearRegression() if isinstance(regressor, str) else Lasso(0.01)
    model.fit(rows, left, sample_weight=told.weights[told.weights > 0])
    expected = model.predict(told.x.reshape(-1, 3)).reshape(20, 2) + intercepts
    fitted = parse_regressor(regressor).fit(told)
    assert fitted.predict(told.x) == pytest.approx(expected)
    assert fitted.parameters is None


def test_object_itself_learns_nothing() -> None:
    given = SVR()
    parse_regressor(given).fit(training())
    assert not hasattr(given, "support_")


class Mean:
    """Not of scikit-learn, and takes no weights."""

    def fit(self, x: Floats, y: Floats) -> None:
        self.mean = y.mean()

    def predict(self, x: Floats) -> Floats:
        return np.full(len(x), self.mean)


def test_object_of_another_make() -> None:
    told = training(equal=False)
    _, left, intercepts = rows_of(told)
    found = parse_regressor(Mean()).fit(told).predict(told.x)
    assert found == pytest.approx(np.broadcast_to(left.mean() + intercepts, (20, 2)))


def test_what_is_drawn_follows_from_the_seed() -> None:
    one, same, other = (
        parse_regressor(DecisionTreeRegressor(max_features=1))
        .fit(training()._replace(seed=seed))
        .predict(training().x)
        for seed in (1, 1, 2)
    )
    assert (one == same).all()
    assert (one != other).any()


@pytest.mark.parametrize(
    ("regressor", "text"),
    [
        ("ridge", "ridge"),
        ("knn", "knn"),
        (Neighbours(7), "knn with k=7"),
        ("boosting", "boosting"),
        ("sklearn.svm:SVR", "sklearn.svm:SVR"),
        (SVR(C=2.0), "SVR(C=2.0)"),
    ],
)
def test_regressor_as_text(regressor: Any, text: str) -> None:
    assert parse_regressor(regressor).text == text


@pytest.mark.parametrize(
    ("regressor", "sentence"),
    [
        ("rigde", 'There is no regressor "rigde". Did you mean ridge?'),
        ("os:abort", 'There is no regressor "os:abort".'),
        ("sklearn.svm:SVM", 'There is no regressor at "sklearn.svm:SVM"'),
        ("sklearn.none:SVR", 'There is no regressor at "sklearn.none:SVR"'),
        ("sklearn.datasets:load_iris", 'There is no regressor at "sklearn.datasets:load_iris"'),
        (7, "A regressor is a name, a path or an object with fit and predict, not 7."),
        (SVR, "A regressor is a name, a path or an object with fit and predict, not <class"),
    ],
)
def test_no_such_regressor(regressor: Any, sentence: str) -> None:
    with pytest.raises(UsageError, match=re.escape(sentence)) as raised:
        parse_regressor(regressor)
    assert isinstance(raised.value, UnknownNameError) == (
        "no regressor " in sentence and " at " not in sentence
    )


def test_no_neighbours() -> None:
    with pytest.raises(UsageError, match="at least 1, not 0"):
        Neighbours(0)
