from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from scipy import stats

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError
from sparingly.choose import MetricCons
from sparingly.data.evalset import EvalSet

NAN = np.nan
Correlation = Literal["spearman", "kendall", "pairwise"]


def consistencies(scores: Floats, correlation: Correlation) -> Floats:
    items, models = (
        [f"i{row:03d}" for row in range(len(scores))],
        [f"m{place}" for place in range(scores.shape[1])],
    )
    data = EvalSet.from_arrays(items, models, metrics={"m": scores})
    return MetricCons(correlation=correlation).resolve(data).values(data)


# The means of the four models are 1, 2, 3 and 4 (with gaps: over the items on which they have a score).
SCORES = np.array(
    [
        [1.0, 2.0, 3.0, 4.0],
        [4.0, 3.0, 2.0, 1.0],
        [-1.0, 1.0, 4.0, 7.0],
        [0.0, 2.0, 2.0, 4.0],
        [1.0, 2.0, 4.0, NAN],
        [NAN, NAN, NAN, NAN],
    ]
)


@pytest.mark.parametrize(
    ("correlation", "expected"),
    [
        # Item 3 ties the middle models: ranks 1, 2.5, 2.5, 4 give 4.5/√(5·4.5); five of six pairs.
        ("spearman", [1.0, -1.0, 1.0, 4.5 / np.sqrt(22.5), 1.0, NAN]),
        # tau-c = 2m(C − D)/(n²(m − 1)): m = 3 levels on item 3, 2·3·5/(16·2); m = 3 of n = 3 on item 4.
        ("kendall", [1.0, -1.0, 1.0, 30 / 32, 1.0, NAN]),
        ("pairwise", [1.0, 0.0, 1.0, 5 / 6, 1.0, NAN]),
    ],
)
def test_values_by_hand(correlation: Correlation, expected: list[float]) -> None:
    np.testing.assert_allclose(consistencies(SCORES, correlation), expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("correlation", ["spearman", "kendall", "pairwise"])
def test_an_item_that_orders_nothing_scores_zero(correlation: Correlation) -> None:
    scores = np.array([[1.0, 2.0, 3.0], [5.0, 5.0, 5.0], [NAN, 4.0, NAN]])
    assert consistencies(scores, correlation).tolist()[1:] == [0.0, 0.0]


@given(arrays(np.float64, (7, 5), elements=st.integers(0, 6).map(float)))
def test_values_are_scipys(scores: Floats) -> None:
    means = scores.mean(axis=0)
    for row, rho, tau in zip(
        scores, consistencies(scores, "spearman"), consistencies(scores, "kendall"), strict=True
    ):
        if np.ptp(row) == 0 or np.ptp(means) == 0:
            assert rho == tau == 0
            continue
        # Means that are equal in truth may differ in their last bits, which scipy would take for an order.
        settled = np.round(means, 9)
        assert rho == pytest.approx(stats.spearmanr(row, settled).statistic, abs=1e-12)
        assert tau == pytest.approx(stats.kendalltau(row, settled, variant="c").statistic, abs=1e-12)


def test_the_pool_is_the_whole_set_of_its_selection() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c"], ["x", "y"], metrics={"m": [[9.0, 0.0], [1.0, 2.0], [3.0, 4.0]]}
    )
    assert list(sparingly.select(data, "metric_cons", 1).items) == ["a"]
    pool = sparingly.select(data, "metric_avg", 2, never=["a"])
    assert sparingly.select(data, "metric_cons", 2, pool=pool).utility == pytest.approx([1.0, 1.0])


def test_unknown_correlation_is_named() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], metrics={"m": [[1.0]]})
    with pytest.raises(UnknownNameError, match=r'"kendal"\. Did you mean kendall'):
        sparingly.select(data, "metric_cons:correlation=kendal", 1)
