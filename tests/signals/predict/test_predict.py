from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.linear_model import LinearRegression

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict import Features, Predictions, predict_scores
from tests.signals.predict.simulated import labels_of, scored

DATA, SCORES = scored(items=40, models=3, seed=1)
ROWS = np.arange(0, 40, 2)
LABELS = labels_of(SCORES, ROWS)
DOCUMENTS = np.arange(40) // 4


@pytest.mark.parametrize(
    "regressor", ["ridge", "knn", "boosting", "sklearn.linear_model:BayesianRidge", LinearRegression()]
)
def test_predictions_follow_people_where_nobody_judged(regressor: Any) -> None:
    data, scores = scored(items=200, seed=2)
    judged = np.arange(200) % 2 == 0
    found = predict_scores(data, labels_of(scores, judged), regressor=regressor)
    assert np.corrcoef(found.everywhere[~judged].ravel(), scores[~judged].ravel())[0, 1] > 0.6
    assert found.correlation > 0.5
    assert found.within > 0.4
    assert (found.parameters is not None) == (regressor == "ridge")


def test_result_says_what_was_done() -> None:
    found = predict_scores(DATA, LABELS, features=Features(metrics=("chrF",), lengths=False))
    assert (found.regressor, found.features) == ("ridge", ("chrF", "mean chrF"))
    assert found.everywhere.shape == found.held_out.shape == (40, 3)
    assert set(found.folds[ROWS]) == set(range(5))
    # One intercept and at most two slopes, which three models share.
    assert found.parameters is not None
    assert 0.9 < found.parameters < 1.0 + 2.0 / 3


@given(st.integers(0, 19), st.floats(-50, 50), st.booleans(), st.sampled_from(["ridge", "knn"]))
@settings(max_examples=15)
def test_held_out_never_sees_its_own_labels(place: int, moved: float, grouped: bool, regressor: str) -> None:
    groups = DOCUMENTS if grouped else None
    own = ROWS[place]
    changed = LABELS.copy()
    changed[own] += [moved, 2.0 * moved, 1.0]
    before, after = (
        predict_scores(DATA, each, groups=groups, regressor=regressor) for each in (LABELS, changed)
    )
    same = DOCUMENTS[own] == DOCUMENTS if grouped else np.arange(40) == own
    assert (before.held_out[same] == after.held_out[same]).all()
    assert (before.everywhere != after.everywhere).any()


def test_unjudged_items_of_a_judged_document_are_held_out_with_it() -> None:
    found = predict_scores(DATA, LABELS, groups=DOCUMENTS)
    assert (found.folds >= 0).all()
    assert (found.held_out[1] != found.everywhere[1]).any()
    alone = predict_scores(DATA, LABELS)
    assert (alone.held_out[1::2] == alone.everywhere[1::2]).all()


def reordered(data: EvalSet, items: Any, models: Any) -> EvalSet:
    assert data.outputs is not None
    assert data.sources is not None
    cells = np.ix_(items, models)
    return EvalSet.from_arrays(
        [data.items[place] for place in items],
        [data.models[place] for place in models],
        metrics={name: data.metrics[name][cells] for name in sorted(data.metrics, reverse=True)},
        sources=data.sources[items],
        outputs=data.outputs[cells],
    )


@pytest.mark.parametrize("regressor", ["ridge", "boosting"])
def test_order_of_the_file_does_not_matter(regressor: str) -> None:
    draw = np.random.default_rng(3)
    again = reordered(DATA, draw.permutation(40), draw.permutation(3))
    one, other = (predict_scores(each, LABELS, regressor=regressor, seed=5) for each in (DATA, again))
    assert (one.held_out == other.held_out).all()
    assert (one.folds == other.folds).all()


def test_seed_deals_the_folds() -> None:
    one, same, other = (predict_scores(DATA, LABELS, seed=seed) for seed in (1, 1, 2))
    assert (one.held_out == same.held_out).all()
    assert (one.folds != other.folds).any()


def test_scale_of_labels_and_of_weights() -> None:
    weights = np.linspace(1.0, 3.0, 40)
    found = predict_scores(DATA, LABELS, weights=weights)
    scaled = predict_scores(DATA, 10.0 * LABELS - 3.0, weights=7.0 * weights)
    assert scaled.held_out == pytest.approx(10.0 * found.held_out - 3.0)
    assert scaled.correlation == pytest.approx(found.correlation)
    plain = predict_scores(DATA, LABELS)
    assert (plain.held_out != found.held_out).any()
    cells = np.repeat(weights[:, None], 3, axis=1)
    cells[1::2] = np.nan
    assert (predict_scores(DATA, LABELS, weights=cells).held_out == found.held_out).all()


def test_cells_that_nobody_judged() -> None:
    gaps = LABELS.copy()
    gaps[::4, 0] = np.nan
    gaps[:, 2] = np.nan
    found = predict_scores(DATA, gaps)
    assert np.isfinite(found.held_out).all()
    # A model without labels stands where all others stand.
    assert abs(found.everywhere[:, 2].mean() - np.nanmean(gaps)) < 1.5


def test_missing_metrics_are_no_obstacle() -> None:
    metrics = {name: np.array(DATA.metrics[name]) for name in DATA.metrics}
    metrics["COMET"][::3, 1] = np.nan
    metrics["chrF"][:, 0] = np.nan
    metrics["gone"] = np.full((40, 3), np.nan)
    data = EvalSet.from_arrays(DATA.items.tolist(), DATA.models, metrics=metrics)
    found = predict_scores(data, LABELS)
    assert np.isfinite(found.held_out).all()
    assert {"no COMET", "no chrF"} <= set(found.features)
    assert "gone" not in found.features
    assert found.correlation > 0.3


def test_in_sample_is_one_model_that_saw_everything() -> None:
    found = predict_scores(DATA, LABELS, crossfit=False, regressor="sklearn.tree:DecisionTreeRegressor")
    assert found.held_out is found.everywhere
    assert found.everywhere[ROWS] == pytest.approx(SCORES[ROWS])
    assert (found.folds == -1).all()
    assert found.correlation == pytest.approx(1.0)


def test_fewer_groups_than_folds() -> None:
    found = predict_scores(DATA, labels_of(SCORES, [3, 8, 13, 30]), folds=10)
    assert sorted(found.folds[[3, 8, 13, 30]]) == [0, 1, 2, 3]


def error_of(**wrong: Any) -> Predictions:
    told: dict[str, Any] = {"data": DATA, "labels": LABELS, **wrong}
    return predict_scores(told.pop("data"), told.pop("labels"), **told)


NO_METRICS = EvalSet.from_arrays(DATA.items.tolist(), DATA.models)
BAD_WEIGHT: Floats = np.where(np.arange(40) == 2, 0.0, 1.0)


@pytest.mark.parametrize(
    ("wrong", "error", "sentence"),
    [
        ({"labels": LABELS * np.nan}, DataError, "Predictions need labels, and nothing has been judged yet."),
        (
            {"labels": labels_of(SCORES, [1, 2, 3])},
            DataError,
            "Predictions need labels in at least 4 items, and there are 3. Judge more, or use the mean.",
        ),
        (
            {"groups": np.arange(40) // 20},
            DataError,
            "Predictions need labels in at least 4 groups of items, and there are 2.",
        ),
        (
            {"data": NO_METRICS},
            MissingDataError,
            "Predictions need metrics that differ between outputs, or texts",
        ),
        ({"labels": LABELS[:5]}, UsageError, "Labels are items x models, 40 x 3, not 5 x 3."),
        ({"labels": LABELS + np.inf}, DataError, "A label is infinite."),
        (
            {"weights": 2.0},
            UsageError,
            "Weights are one per item or one per cell (40 x 3), not a single number.",
        ),
        ({"weights": BAD_WEIGHT}, UsageError, "The weight of a label is a positive number, 1/π of its item."),
        ({"groups": [1, 2]}, UsageError, "Give one group for each of the 40 items."),
        ({"folds": 1}, UsageError, "Cross-fitting needs at least 2 folds, not 1."),
    ],
)
def test_errors_say_what_to_do(wrong: dict[str, Any], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=re.escape(sentence)):
        error_of(**wrong)
