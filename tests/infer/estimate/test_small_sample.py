from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimators import FEWEST, calibrate_predictions, guard_predictions, moments
from sparingly.infer.estimate.sample import JudgedSample, difference_form, sample_from_arrays


def made(n: int, strength: float, models: int = 2, seed: int = 0) -> tuple[JudgedSample, Floats]:
    drawn = np.random.default_rng(seed)
    told = drawn.normal(size=(200, models))
    scores = strength * told + drawn.normal(size=(200, models))
    return sample_from_arrays(np.where(np.arange(200)[:, None] < n, scores, np.nan)), told


def test_the_slope_shrinks_by_the_formula() -> None:
    sample, told = made(60, 1.0)
    rows = slice(0, 60)
    for model in range(2):
        rho = np.corrcoef(sample.scores[:, model], told[rows, model])[0, 1]
        slope = (rho**2 - 1 / 58) / rho**2
        shrunk = guard_predictions(sample, told, 2.0).predicted
        assert shrunk is not None
        assert shrunk[:, model] == pytest.approx(slope * told[:, model])
    assert guard_predictions(sample, told, 2.0).notes == ()


@pytest.mark.parametrize(
    ("n", "strength", "why"),
    [
        (FEWEST - 1, 3.0, "too few judged items to trust the prediction"),
        (60, 0.0, "the prediction does not explain the judged scores"),
        (60, -2.0, "the prediction does not explain the judged scores"),
    ],
)
def test_it_falls_back_with_few_items_or_nothing_to_tell(n: int, strength: float, why: str) -> None:
    sample, told = made(n, strength, seed=3)
    for kept in (guard_predictions(sample, told, 2.0), calibrate_predictions(sample, told, 2.0)):
        assert np.all(kept.fallen_back)
        assert not np.any(kept.predicted)
        assert kept.notes == (f"all models fall back to the weighted mean: {why}.",)
        used = difference_form(sample, kept.predicted).scores(sample)
        assert used == pytest.approx(difference_form(sample).scores(sample))


def test_models_fall_back_one_by_one_unless_they_are_pooled() -> None:
    drawn = np.random.default_rng(1)
    told = drawn.normal(size=(200, 2))
    scores = told * [2.0, 0.0] + drawn.normal(size=(200, 2)) * 0.5
    scores[:, 1] -= 0.05 * told[:, 1]
    sample = sample_from_arrays(np.where(np.arange(200)[:, None] < 80, scores, np.nan))
    alone = guard_predictions(sample, told, 2.0)
    assert alone.fallen_back is not None
    assert alone.fallen_back.tolist() == [False, True]
    assert alone.notes[0].startswith("1 of 2 models fall back")
    pooled = calibrate_predictions(sample, told, 2.0).fallen_back
    assert pooled is not None
    assert pooled.tolist() == [False, False]


def test_the_two_parts_of_a_prediction_have_slopes_of_their_own() -> None:
    # Twice what is hard for all, half of what sets models apart, plus a little noise.
    drawn = np.random.default_rng(2)
    level, apart = drawn.normal(size=(300, 1)), drawn.normal(size=(300, 4))
    told = level + apart
    centred = told - told.mean(axis=0)
    common = centred.mean(axis=1, keepdims=True)
    scores = 2.0 * common + 0.5 * (centred - common) + 0.01 * drawn.normal(size=(300, 4)) + np.arange(4)
    sample = sample_from_arrays(np.where(np.arange(300)[:, None] < 150, scores, np.nan))
    found = calibrate_predictions(sample, told + 7.0, 2.0).predicted
    # Shrunk by 1 − 1/148 and 1 − 1/448, because 150 items, and 450 cells beyond them, tell the slopes.
    expected = 2.0 * common * 147 / 148 + 0.5 * (centred - common) * 447 / 448
    assert found == pytest.approx(expected, abs=0.01)


def test_moments_weigh_and_skip_missing_cells() -> None:
    scores = np.array([[1.0, 5.0], [3.0, np.nan], [4.0, 9.0]])
    told = np.array([[2.0, 1.0], [2.0, 100.0], [8.0, 3.0]])
    sample = sample_from_arrays(scores, [0.5, 1.0, 0.25])
    joint, own, ahead = moments(sample, told)
    weight = np.array([2.0, 1.0, 4.0])
    y, x = scores[:, 0], told[:, 0]
    y, x = y - weight @ y / 7, x - weight @ x / 7
    assert (joint[0], own[0], ahead[0]) == pytest.approx((weight @ (x * y), weight @ y**2, weight @ x**2))
    assert joint[1] == pytest.approx(2 * 4 / 6 * 4.0 * 2.0)


def test_models_fall_back_for_reasons_of_their_own() -> None:
    drawn = np.random.default_rng(4)
    told = drawn.normal(size=(200, 2))
    scores = -told + drawn.normal(size=(200, 2))
    seen = np.where(np.arange(200)[:, None] < [20, 60], scores, np.nan)
    assert guard_predictions(sample_from_arrays(seen), told, 2.0).notes == (
        "1 of 2 models fall back to the weighted mean: too few judged items to trust the prediction.",
        "1 of 2 models fall back to the weighted mean: the prediction does not explain the judged scores.",
    )
