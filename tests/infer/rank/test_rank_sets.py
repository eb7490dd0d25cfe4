from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.base.stats.holm import holm
from sparingly.infer.rank.group_rules import any_member_groups, last_member_groups
from sparingly.infer.rank.margin_tests import margin_test
from sparingly.infer.rank.max_t import max_t_critical
from sparingly.infer.rank.pair_errors import pair_errors
from sparingly.infer.rank.rank_sets import overlapping_groups, rank_sets


def test_holm_by_hand() -> None:
    found = holm(np.array([0.01, 0.04, 0.03, 0.005]))
    np.testing.assert_allclose(found, [0.03, 0.06, 0.06, 0.02])


@given(st.lists(st.floats(0, 1), min_size=1, max_size=12))
def test_holm_rejects_what_stepping_down_rejects(given_p: list[float]) -> None:
    p = np.array(given_p)
    order = np.argsort(p, kind="stable")
    rejected = np.zeros(len(p), bool)
    for place, test in enumerate(order):
        if (len(p) - place) * p[test] > 0.05:
            break
        rejected[test] = True
    np.testing.assert_array_equal(holm(p) <= 0.05, rejected)


def test_critical_value_of_one_pair_is_the_normal_quantile() -> None:
    assert max_t_critical(np.diag([1.0, 4.0]), draws=200_000) == pytest.approx(
        stats.norm.ppf(0.975), abs=0.02
    )


@pytest.mark.parametrize(("models", "degrees"), [(4, np.inf), (10, np.inf), (6, 12.0)])
def test_critical_value_of_independent_models_is_the_studentised_range(models: int, degrees: float) -> None:
    exact = stats.studentized_range.ppf(0.95, models, degrees if np.isfinite(degrees) else 1e5) / np.sqrt(2)
    found = max_t_critical(np.eye(models), degrees=degrees, draws=100_000)
    assert found == pytest.approx(exact, rel=0.02)


def test_pairs_that_never_differ_do_not_count() -> None:
    alike = np.ones((3, 3))
    assert max_t_critical(alike) == 0.0
    found = rank_sets(np.array([1.0, 1.0, 1.0]), alike)
    assert found.low.tolist() == [1, 1, 1]
    assert found.high.tolist() == [3, 3, 3]
    two_alike = np.array([[1.0, 1.0, 0.0], [1.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
    assert max_t_critical(two_alike, draws=100_000) == pytest.approx(1.96, abs=0.03)


def test_pair_errors_by_hand() -> None:
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    np.testing.assert_allclose(pair_errors(covariance), [[0, np.sqrt(11)], [np.sqrt(11), 0]])


def test_rank_sets_hold_the_true_ranks_at_once() -> None:
    generator = np.random.default_rng(5)
    truth, covariance = np.array([2.0, 1.5, 1.4, 0.0, -1.0]), 0.09 * (np.eye(5) + 0.5)
    root = np.linalg.cholesky(covariance)
    ranks, runs, held = np.arange(1, 6), 150, 0
    for run in range(runs):
        drawn = truth + root @ generator.standard_normal(5)
        found = rank_sets(drawn, covariance, seed=run)
        held += bool(((found.low <= ranks) & (ranks <= found.high)).all())
    # At least 95 %, less three standard errors of 150 runs.
    assert held / runs > 0.95 - 3 * np.sqrt(0.05 * 0.95 / runs)


@given(st.permutations(range(6)))
def test_rank_sets_do_not_depend_on_the_order_of_models(order: list[int]) -> None:
    scores = np.array([5.0, 4.0, 4.0, 1.0, 0.5, -3.0])
    found, again = rank_sets(scores, np.eye(6)), rank_sets(scores[order], np.eye(6))
    np.testing.assert_array_equal(found.group[order], again.group)


def test_a_model_without_a_score_may_have_any_rank() -> None:
    scores = np.array([9.0, np.nan, 1.0])
    found = rank_sets(scores, np.diag([0.01, np.nan, 0.01]))
    assert (found.low[1], found.high[1]) == (1, 3)
    # The unknown model may stand before, between or behind the others.
    assert (found.low[0], found.high[0]) == (1, 2)
    assert (found.low[2], found.high[2]) == (2, 3)


def test_groups_are_joined_through_others() -> None:
    low, high = np.array([1, 1, 2, 4]), np.array([2, 3, 3, 4])
    assert overlapping_groups(low, high).tolist() == [1, 1, 1, 2]


def test_published_group_rules_differ_where_steps_are_small() -> None:
    order = np.arange(3)
    worse = np.ones((3, 3))
    worse[2, 0] = 0.01  # the third is worse than the first, but not than the second
    assert last_member_groups(order, worse).tolist() == [1, 1, 1]
    assert any_member_groups(order, worse).tolist() == [1, 1, 2]
    worse[2, 0] = 0.05
    assert any_member_groups(order, worse).tolist() == [1, 1, 2]


def test_margins_by_hand() -> None:
    found = margin_test("non-inferior", -0.5, 0.5, 1.0, degrees=20)
    assert found.p_value == pytest.approx(stats.t.sf(1.0, 20))
    assert not found.shown
    assert "was not shown to be non-inferior" in str(found)
    both = margin_test("equivalent", 0.2, 0.1, 0.5)
    assert both.p_value == pytest.approx(stats.norm.sf(3.0))
    assert both.shown
    assert margin_test("superior", 1.0, 0.0, 0.5).p_value == 0.0
    assert margin_test("non-inferior", -1.0, 0.0, 0.5).p_value == 1.0


def test_what_cannot_be_tested_is_said() -> None:
    with pytest.raises(UsageError, match="margin is a number above zero"):
        margin_test("equivalent", 0.0, 1.0, 0.0)
    with pytest.raises(UsageError, match="no known difference"):
        margin_test("superior", float("nan"), 1.0, 1.0)
    with pytest.raises(UsageError, match="one score per model"):
        rank_sets(np.ones(3), np.eye(2))
    with pytest.raises(UsageError, match="nothing to rank"):
        rank_sets(np.full(2, np.nan), np.eye(2))
    with pytest.raises(UsageError, match="alpha"):
        max_t_critical(np.eye(2), alpha=1.0)
