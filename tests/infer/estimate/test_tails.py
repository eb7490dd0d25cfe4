from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from sparingly.infer.estimate.intervals import Reach, Tails, own_skewness, pair_tails, score_tails
from sparingly.infer.estimate.variance import ScoreErrors


def errors_of(
    scores: np.ndarray[tuple[int, ...], np.dtype[np.float64]], fraction: float = 0.0
) -> ScoreErrors:
    """The errors of plain means of n judged items."""
    n = len(scores)
    shape = (scores - scores.mean(axis=0)) / n * math.sqrt(1 - fraction)
    return ScoreErrors(shape.T @ shape, n - 1.0, float(n), shape, np.zeros(n, np.int64), fraction=fraction)


def reach_of(
    skew: float, pooled: float = 0.0, fraction: float = 0.0, n: float = 25.0, kurtosis: float = 3.0
) -> Reach:
    return Reach(
        np.array([0.2]),
        np.array([skew]),
        np.array([n]),
        n - 1,
        Tails(1.0, 2.0, pooled, kurtosis, 5, fraction),
    )


def test_tails_of_scores_are_semivariances_over_all_models() -> None:
    scores = np.random.default_rng(0).exponential(size=(30, 4))
    tails = score_tails(errors_of(scores))
    away = scores - scores.mean(axis=0)
    assert tails.low == pytest.approx((np.minimum(away, 0) ** 2).mean())
    assert tails.high == pytest.approx((np.maximum(away, 0) ** 2).mean())
    assert tails.skew == pytest.approx((away**3).mean() / (away**2).mean() ** 1.5)
    assert tails.kurtosis == pytest.approx((away**4).mean() / (away**2).mean() ** 2)
    assert tails.models == 4


def test_tails_of_pairs_are_the_mean_over_all_pairs() -> None:
    scores = np.random.default_rng(0).normal(size=(30, 4))
    first, second = np.triu_indices(4, 1)
    apart = (scores - scores.mean(axis=0))[:, first] - (scores - scores.mean(axis=0))[:, second]
    tails = pair_tails(errors_of(scores))
    assert tails.low == tails.high == pytest.approx((apart**2).mean())
    assert tails.kurtosis == pytest.approx((apart**4).mean() / (apart**2).mean() ** 2)
    floored = pair_tails(errors_of(scores, 0.5), floor=1e3)
    assert floored.low == pytest.approx(1e3 * 0.5 / floored.unseen)


def test_own_skewness_is_that_of_the_sum() -> None:
    shape = np.array([[1.0, 0.0], [1.0, 0.0], [-2.0, 0.0]])
    assert own_skewness(shape).tolist() == pytest.approx([-6 / 6**1.5, 0.0])


def test_without_skewness_sides_differ_by_their_tails_alone() -> None:
    reach = reach_of(0.0)
    low, high = reach.halves(0.95)
    quantile = stats.t.ppf(0.975, 24)
    unseen = 14 / 5
    assert low[0] == pytest.approx(quantile * math.sqrt(0.04 + unseen * 1.0 / 625))
    assert high[0] == pytest.approx(quantile * math.sqrt(0.04 + unseen * 2.0 / 625))


def test_skewness_moves_the_quantile_as_cornish_and_fisher_have_it() -> None:
    plain, skewed = reach_of(0.0).halves(0.95), reach_of(-0.3).halves(0.95)
    quantile, weight = stats.t.ppf(0.975, 24), 1.25 + 1.25 / 5
    # Of an infinite population: γ/√n·(1 + 2q²)/6.
    beyond = 0.3 - (1 - 2 / 5) * math.sqrt(6) / 25
    moved = weight * beyond * (1 + 2 * quantile**2) / 6
    assert skewed[0] / plain[0] == pytest.approx((quantile + moved) / quantile)
    assert skewed[1] == pytest.approx(plain[1])
    pooled = reach_of(0.0, pooled=-beyond * 5).halves(0.95)
    assert pooled[0] == pytest.approx(skewed[0])


def test_long_tails_count_by_the_kurtosis_of_all_models() -> None:
    unseen = [reach_of(0.0, kurtosis=kurtosis).tails.unseen for kurtosis in (1.8, 3.0, 6.0, 9.0, 50.0)]
    assert unseen == pytest.approx([2.8, 2.8, 5.8, 8.8, 8.8])


def test_a_skewness_that_chance_may_give_moves_nothing() -> None:
    assert reach_of(0.05).halves(0.95)[1] == pytest.approx(reach_of(0.0).halves(0.95)[1])
    # Two models tell too little of what is usual: all of a skewness counts.
    alone = Reach(np.full(1, 0.2), np.full(1, 0.05), np.full(1, 25.0), 24.0, Tails(1, 1, 0.0, 3.0, 2))
    low, high = alone.halves(0.95)
    assert high[0] > 1.01 * low[0]


@settings(max_examples=200, deadline=None)
@given(
    centre=st.floats(-2, 2),
    skew=st.floats(-0.9, 0.9),
    pooled=st.floats(-5, 5),
    fraction=st.floats(0, 0.95),
    n=st.integers(10, 400),
)
def test_a_p_value_is_the_level_at_which_the_interval_reaches_zero(
    centre: float, skew: float, pooled: float, fraction: float, n: int
) -> None:
    reach = reach_of(skew, pooled, fraction, float(n))
    p_value = float(reach.p_values(np.array([centre]))[0])
    assert 0 <= p_value <= 1
    if 1e-9 < p_value < 0.4:
        low, high = reach.halves(1 - p_value)
        assert (low[0] if centre > 0 else high[0]) == pytest.approx(abs(centre), rel=1e-6)


def test_p_values_fall_with_the_difference_and_are_nan_without_an_error() -> None:
    reach = Reach(np.full(5, 0.2), np.full(5, 0.3), np.full(5, 20.0), math.inf, Tails(1, 1, 0.0, 9.0, 3))
    p_values = reach.p_values(np.array([0.0, 0.2, 0.5, 1.0, 3.0]))
    assert (np.diff(p_values) < 0).all()
    assert p_values[0] == 1.0
    none = Reach(np.zeros(1), np.zeros(1), np.full(1, 20.0), 19.0, Tails(0, 0, 0.0, 3.0, 2))
    assert np.isnan(none.p_values(np.ones(1))).all()


def test_a_model_of_another_order_of_magnitude_tells_nothing_of_the_others() -> None:
    scores = np.random.default_rng(0).normal(size=(40, 2))
    alone = score_tails(errors_of(scores[:, :1]))
    slipped = scores.copy()
    slipped[3, 1] = 1e9
    assert score_tails(errors_of(slipped)).high < 12_000 * alone.high
    assert pair_tails(errors_of(slipped)).high < 11_000 * pair_tails(errors_of(scores)).high
