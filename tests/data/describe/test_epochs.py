"""Variance between items and between epochs, against numbers worked out by hand and against a simulation."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.data.describe.description import describe
from sparingly.data.describe.judgements import EpochVariance, epoch_variances
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Repeats
from sparingly.infer.estimate.estimate import estimate


def repeated(scores: list[list[list[float]]]) -> EvalSet:
    """A set from scores by model, item and epoch."""
    array = np.array(scores)
    models, items, epochs = array.shape
    model, item, epoch = (codes.ravel().astype(np.int32) for codes in np.indices(array.shape))
    table = Repeats(item, model, epoch, tuple(map(str, range(epochs))), None, {"metric:s": array.ravel()})
    return EvalSet.from_arrays(
        [f"i{place:03d}" for place in range(items)], [f"m{place}" for place in range(models)], repeats=table
    )


def test_components_of_one_model_by_hand() -> None:
    # Means 1, 3, 5; MS_within = (2 + 0 + 2) / 3, MS_between = 2 · (4 + 0 + 4) / 2 = 8.
    (variance,) = epoch_variances(repeated([[[0, 2], [3, 3], [4, 6]]]))
    assert variance.between_epochs == pytest.approx(4 / 3)
    assert variance.between_items == pytest.approx((8 - 4 / 3) / 2)
    assert (variance.score, variance.cells, variance.epochs) == ("s", 3, 2)
    assert variance.variance(10, 4) == pytest.approx((variance.between_items + 1 / 3) / 10)


def test_components_are_those_that_were_simulated() -> None:
    random = np.random.default_rng(1)
    truth = random.normal(0, 2, (3, 400, 1))
    data = repeated((truth + random.normal(0, 1, (3, 400, 4))).tolist())
    (variance,) = epoch_variances(data)
    assert variance.between_items == pytest.approx(4, rel=0.1)
    assert variance.between_epochs == pytest.approx(1, rel=0.1)
    assert variance.share == pytest.approx(0.2, abs=0.03)


@pytest.mark.statistics
@pytest.mark.parametrize("epochs", [3, 6])
def test_errors_for_inputs_like_these_hold_both_components(epochs: int) -> None:
    random, means, errors, formula, held, repetitions = np.random.default_rng(7), [], [], [], 0, 200
    for _ in range(repetitions):
        chance = random.beta(2, 1.5, (1, 60, 1))
        data = repeated((random.random((1, 60, epochs)) < chance).astype(float).tolist())
        found = estimate(data, None, "s", target="population")
        means.append(found.scores[0])
        errors.append(found.standard_errors[0])
        (variance,) = epoch_variances(data)
        formula.append(np.sqrt(variance.variance(60, epochs)))
        held += int(found.low[0] <= 2 / 3.5 <= found.high[0])
    assert held / repetitions >= 0.92
    assert np.mean(errors) == pytest.approx(np.std(means), rel=0.12)
    assert np.mean(formula) == pytest.approx(np.mean(errors), rel=0.02)


def test_the_sentence_says_what_helps_more() -> None:
    assert "twice the epochs by 3 %: add items rather than epochs" in str(EpochVariance("s", 9, 2, 1.0, 0.25))
    assert "100 % of the variance" in str(EpochVariance("s", 9, 2, 0.0, 1.0))
    assert "by 29 %: epochs help nearly as much as items" in str(EpochVariance("s", 9, 2, 0.0, 1.0))


def test_without_repeats_there_is_nothing_to_say() -> None:
    data = EvalSet.from_arrays(["a"], ["m"], metrics={"s": [[1.0]]})
    assert describe(data).epochs == ()
    assert epoch_variances(repeated([[[1, 2]]])) == ()
