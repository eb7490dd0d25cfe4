"""What waves teach: predictions, sizes of residuals, and whether unequal chances are earned."""

from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.waves import (
    ExpectedSizes,
    LabelPredictions,
    learn,
    learn_sizes,
    residual_squares,
    resolve_regressor,
    supported_tau,
)


def made(
    items: int = 300, models: int = 4
) -> tuple[EvalSet, np.ndarray[tuple[int, int], np.dtype[np.float64]]]:
    """A metric tells both the score and how noisy it is."""
    draw = np.random.default_rng(3)
    metric = draw.normal(size=(items, 1)) + 0.3 * draw.normal(size=(items, models))
    human = metric + draw.normal(size=(items, models)) * np.where(metric > 0.5, 3.0, 0.2)
    data = EvalSet.from_arrays(
        [f"i{row:04d}" for row in range(items)],
        [f"m{place}" for place in range(models)],
        metrics={"metric": metric},
        aspects={"score": human},
    )
    return data, human


def test_without_a_regressor_or_with_few_labels_only_means_are_learned() -> None:
    data, human = made()
    few = np.where(np.arange(300)[:, None] < 20, human, np.nan)
    for regressor, labels in ((None, human), ("ridge", few)):
        found = learn(data, labels, regressor, 0)
        assert not found.is_fitted
        np.testing.assert_allclose(found.predicted[5], np.nanmean(labels, axis=0))


def test_predictions_of_labelled_items_come_from_the_others() -> None:
    data, human = made()
    labels = np.where(np.arange(300)[:, None] < 150, human, np.nan)
    found = learn(data, labels, "ridge", 0)
    assert found.is_fitted
    other = labels.copy()
    other[7] += 1000.0
    again = learn(data, other, "ridge", 0)
    np.testing.assert_allclose(found.predicted[7], again.predicted[7], rtol=1e-9)
    assert not np.allclose(found.predicted[200], again.predicted[200])


def test_sizes_follow_the_residuals_and_earn_their_share() -> None:
    data, human = made()
    labels = np.where(np.arange(300)[:, None] < 200, human, np.nan)
    learned = learn(data, labels, "ridge", 0)
    everyone = np.ones(4, bool)
    found = learn_sizes(
        data, learned, np.ones(300), regressor="ridge", goal="scores", tau=None, models=everyone, seed=0
    )
    assert found.tau > 0
    loud = data.metrics["metric"].mean(axis=1) > 0.8
    assert found.of_item[loud].mean() > 1.5 * found.of_item[~loud].mean()
    chances = found.chances(np.arange(200, 300), 30)
    assert chances.sum() == pytest.approx(30.0)
    assert chances.max() <= 1.0


def test_equal_residuals_earn_nothing() -> None:
    assert supported_tau(np.ones(50), np.ones(50)) == 0.0
    assert supported_tau(np.zeros(50), np.ones(50)) == 0.0
    assert supported_tau(np.zeros(0), np.zeros(0)) == 0.0
    noise = np.random.default_rng(1).exponential(size=(2, 40))
    assert supported_tau(noise[0], noise[1] / noise[1].mean()) == 0.0
    assert ExpectedSizes(np.ones(9), 0.0).chances(np.arange(6), 2) == pytest.approx(np.full(6, 1 / 3))


def test_what_is_not_taught_gives_equal_chances() -> None:
    data, human = made(40)
    flat = LabelPredictions(np.zeros(human.shape), human, False)
    everyone = np.ones(4, bool)
    found = learn_sizes(
        data, flat, np.ones(40), regressor=None, goal="ranking", tau=0.5, models=everyone, seed=0
    )
    assert found.tau == 0.0


def test_squares_of_residuals_for_scores_and_for_a_ranking() -> None:
    residual = np.array([[1.0, 1.0], [2.0, -2.0]])
    assert residual_squares(residual, "scores").tolist() == [2.0, 8.0]
    assert residual_squares(residual, "ranking").tolist() == [0.0, 8.0]


def test_regressors_are_settled_by_what_there_is() -> None:
    data, _ = made(20)
    bare = data.only(["aspect:score"])
    assert resolve_regressor(data, "auto") == "ridge"
    assert resolve_regressor(bare, "auto") is None
    assert resolve_regressor(data, None) is None
    with pytest.raises(UnknownNameError):
        resolve_regressor(data, "rigde")
    with pytest.raises(MissingDataError):
        resolve_regressor(bare, "ridge")
    assert sparingly.__version__
