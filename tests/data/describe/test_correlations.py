"""Correlations of metrics with aspects: against hand-computed values, scipy and brute force over pairs."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy.stats import pearsonr

from sparingly.base.arrays import Floats
from sparingly.data.describe.metrics import correlation, correlations
from sparingly.data.evalset import EvalSet

NAN = float("nan")
SCORES = st.one_of(st.integers(-5, 5).map(float), st.just(NAN))


def matrices(items: int = 4, models: int = 3) -> st.SearchStrategy[Floats]:
    return arrays(np.float64, (items, models), elements=SCORES)


def differences_by_hand(x: Floats, y: Floats) -> tuple[list[float], list[float]]:
    """All ordered pairs of models on all items: both orders, so that the means are 0."""
    dx, dy = [], []
    for first, second in permutations(range(x.shape[1]), 2):
        for item in range(len(x)):
            four = x[item, first], x[item, second], y[item, first], y[item, second]
            if not np.isnan(four).any():
                dx.append(four[0] - four[1])
                dy.append(four[2] - four[3])
    return dx, dy


def within_by_hand(x: Floats, y: Floats) -> list[float]:
    values = []
    for one, other in zip(x, y, strict=True):
        both = ~(np.isnan(one) | np.isnan(other))
        if len(set(one[both])) > 1 and len(set(other[both])) > 1:
            values.append(float(pearsonr(one[both], other[both])[0]))
    return values


def test_two_items_by_hand() -> None:
    found = correlation(np.array([[60.0, 40.0], [45.0, 43.0]]), np.array([[2.0, 5.0], [3.0, 3.5]]))
    # Differences: 20 and 2 against -3 and -0.5.
    assert found.differences == pytest.approx((-60 - 1) / np.sqrt((400 + 4) * (9 + 0.25)))
    assert found.within == pytest.approx(-1.0)
    assert (found.cells, found.items, found.freedom) == (4, 2, 2)


def test_easy_items_alone_make_a_pooled_correlation() -> None:
    x = np.array([[1.0, 2.0], [11.0, 12.0]])
    y = np.array([[2.0, 1.0], [12.0, 11.0]])
    found = correlation(x, y)
    assert found.pooled is not None
    assert found.pooled > 0.9
    assert found.within == pytest.approx(-1.0)
    assert found.differences == pytest.approx(-1.0)


@given(matrices(), matrices())
def test_pooled_is_pearson_over_cells_that_have_both(x: Floats, y: Floats) -> None:
    both = ~(np.isnan(x) | np.isnan(y))
    found = correlation(x, y)
    assert found.cells == both.sum()
    if len(set(x[both])) > 1 and len(set(y[both])) > 1:
        assert found.pooled == pytest.approx(pearsonr(x[both], y[both])[0], abs=1e-9)
    else:
        assert found.pooled is None


@given(matrices(), matrices())
def test_within_is_the_mean_over_items_where_both_vary(x: Floats, y: Floats) -> None:
    found, by_hand = correlation(x, y), within_by_hand(x, y)
    assert found.items == len(by_hand)
    if by_hand:
        assert found.within == pytest.approx(np.mean(by_hand), abs=1e-9)
    else:
        assert found.within is None


@given(matrices(), matrices())
def test_differences_are_those_of_all_pairs(x: Floats, y: Floats) -> None:
    found = correlation(x, y)
    if not found.items:
        assert found.differences is None
        return
    dx, dy = differences_by_hand(x, y)
    assert found.differences == pytest.approx(np.corrcoef(dx, dy)[0, 1], abs=1e-9)


@given(matrices(), matrices(), st.floats(1e-150, 1e150), st.booleans())
def test_scale_does_not_matter_and_sign_turns(x: Floats, y: Floats, factor: float, turn: bool) -> None:
    sign = -1.0 if turn else 1.0
    plain, scaled = correlation(x, y), correlation(sign * factor * x, y)
    for name in ("pooled", "within", "differences"):
        before, after = getattr(plain, name), getattr(scaled, name)
        assert (after is None) == (before is None)
        if before is not None:
            assert after == pytest.approx(sign * before, abs=1e-9)


def test_many_items_are_the_sum_of_their_blocks() -> None:
    random = np.random.default_rng(5)
    x, y = random.normal(size=(40_000, 4)), random.normal(size=(40_000, 4))
    x[random.random(x.shape) < 0.1] = NAN
    y += np.nan_to_num(x)
    found = correlation(x, y)
    both = ~np.isnan(x)
    assert found.pooled == pytest.approx(np.corrcoef(x[both], y[both])[0, 1], abs=1e-12)
    assert found.freedom == np.maximum(both.sum(axis=1) - 1, 0).sum()


def test_one_score_for_all_models_of_an_item_has_no_within() -> None:
    x = np.repeat(np.array([[0.1], [0.7], [0.30000000001]]), 3, axis=1)
    found = correlation(x, np.arange(9.0).reshape(3, 3))
    assert found.pooled is not None
    assert (found.within, found.differences, found.items) == (None, None, 0)


def test_nothing_in_common_is_none() -> None:
    x, y = np.array([[1.0, NAN]]), np.array([[NAN, 1.0]])
    found = correlation(x, y)
    assert (found.pooled, found.within, found.differences, found.cells) == (None, None, None, 0)


def test_every_metric_with_every_aspect() -> None:
    scores = [[1.0, 2.0], [3.0, 4.0]]
    data = EvalSet.from_arrays(
        ["a", "b"], ["m", "n"], metrics={"x": scores, "y": scores}, aspects={"p": scores, "q": scores}
    )
    assert [(pair.metric, pair.aspect) for pair in correlations(data)] == [
        ("x", "p"),
        ("x", "q"),
        ("y", "p"),
        ("y", "q"),
    ]
