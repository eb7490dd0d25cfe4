from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.base.stats.pairs import holm
from sparingly.infer.rank.decisions import margin_test, published_groups
from sparingly.infer.rank.pair_tests import pair_errors, pair_tells
from sparingly.infer.rank.rank import rank_scores


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


def test_pair_errors_by_hand() -> None:
    covariance = np.array([[4.0, 1.0], [1.0, 9.0]])
    np.testing.assert_allclose(pair_errors(covariance), [[0, np.sqrt(11)], [np.sqrt(11), 0]])


def test_rounding_is_judged_pair_by_pair() -> None:
    # A score of 10⁹ beside others: its error must not hide theirs.
    covariance = np.diag([6e14, 0.02, 0.03])
    assert pair_tells(covariance, np.array([2.5e7, 0.2, 0.1]))[1, 2]
    alike = np.array([[1.0, 1.0 - 1e-16], [1.0 - 1e-16, 1.0]])
    assert not pair_tells(alike).any()


def test_published_group_rules_differ_where_steps_are_small() -> None:
    order = np.arange(3)
    worse = np.ones((3, 3))
    worse[2, 0] = 0.01  # the third is worse than the first, but not than the second
    assert published_groups(order, worse, "algorithm1").tolist() == [1, 1, 1]
    assert published_groups(order, worse, "mt_metrics_eval").tolist() == [1, 1, 2]
    worse[2, 0] = 0.05
    assert published_groups(order, worse, "mt_metrics_eval").tolist() == [1, 1, 2]


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
        rank_scores(np.ones(3), np.eye(2))
    with pytest.raises(UsageError, match="nothing to rank"):
        rank_scores(np.full(2, np.nan), np.eye(2))
    with pytest.raises(UsageError, match="alpha"):
        rank_scores(np.ones(2), np.eye(2), alpha=1.0)
