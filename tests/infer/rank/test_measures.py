from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.stats.pairs import soft_pairwise_accuracy
from sparingly.base.stats.signed_rank import SignedRank
from sparingly.infer.rank import measures

means_strategy = arrays(np.float64, 6, elements=st.integers(0, 5).map(float))


def test_soft_pairwise_accuracy_by_hand() -> None:
    full = np.array([0.1, 0.5, 0.9])
    assert soft_pairwise_accuracy(full, full) == 1.0
    rows = soft_pairwise_accuracy(np.array([[0.1, 0.5, 0.6], [0.9, 0.5, 0.1]]), full)
    assert rows == pytest.approx([0.9, 1 - 1.6 / 3])


@given(means_strategy, means_strategy)
def test_pairwise_accuracy_is_the_soft_one_with_certain_p_values(
    subset: np.ndarray, full: np.ndarray
) -> None:
    first, second = np.triu_indices(6, 1)

    def certain(means: np.ndarray) -> np.ndarray:
        return np.asarray(0.5 - 0.5 * np.sign(means[first] - means[second]))

    expected = soft_pairwise_accuracy(certain(subset), certain(full))
    assert measures.pairwise_accuracy(subset, full) == pytest.approx(float(expected))
    assert measures.pairwise_accuracy(full, full) == 1.0


def test_pairwise_accuracy_counts_half_for_one_sided_ties_and_for_unjudged_models() -> None:
    full = np.array([3.0, 2.0, 1.0])
    assert measures.pairwise_accuracy(np.array([1.0, 1.0, 0.0]), full) == pytest.approx(2.5 / 3)
    assert measures.pairwise_accuracy(np.array([3.0, np.nan, 1.0]), full) == pytest.approx(2.0 / 3)


@given(means_strategy, means_strategy)
def test_correlations_as_scipy(subset: np.ndarray, full: np.ndarray) -> None:
    if len(set(subset)) < 2 or len(set(full)) < 2:
        for name in ("pearson", "spearman", "kendall_b", "kendall_c"):
            assert measures.MEANS_MEASURES[name](subset, full) == 0.0
        return
    assert measures.pearson(subset, full) == pytest.approx(scipy.stats.pearsonr(subset, full).statistic)
    assert measures.spearman(subset, full) == pytest.approx(scipy.stats.spearmanr(subset, full).statistic)
    tau_b = scipy.stats.kendalltau(subset, full, variant="b").statistic
    tau_c = scipy.stats.kendalltau(subset, full, variant="c").statistic
    assert measures.kendall_b(subset, full) == pytest.approx(tau_b)
    assert measures.kendall_c(subset, full) == pytest.approx(tau_c)


def test_the_winner_and_its_place() -> None:
    full = np.array([1.0, 4.0, 3.0, 2.0, 0.0])
    assert measures.top1_match(np.array([0.0, 9.0, 3.0, 2.0, 0.0]), full) == 1.0
    second_best = np.array([0.0, 5.0, 9.0, 2.0, 0.0])
    assert measures.top1_match(second_best, full) == 0.0
    assert measures.top1_percentile(second_best, full) == 0.75
    assert measures.top1_percentile(np.array([0.0, 0.0, 0.0, 0.0, 1.0]), full) == 0.0
    tied = np.array([0.0, 9.0, 9.0, 2.0, 0.0])
    assert measures.top1_match(tied, full) == 0.5
    assert measures.top1_percentile(tied, full) == 0.875


def test_the_winner_among_models_that_tie_on_the_full_set() -> None:
    full = np.array([2.0, 2.0, 1.0])
    subset = np.array([1.0, 3.0, 0.0])
    assert measures.top1_match(subset, full) == 1.0
    assert measures.top1_percentile(subset, full) == 0.75


def test_errors_of_the_means() -> None:
    subset, full = np.array([1.0, 3.0, np.nan]), np.array([2.0, 5.0, 1.0])
    assert measures.mean_absolute_error(subset, full) == 1.5
    assert measures.root_mean_squared_error(subset, full) == pytest.approx(np.sqrt(2.5))


def test_rank_changes_count_models() -> None:
    full = np.array([4.0, 3.0, 2.0, 1.0])
    assert measures.rank_changes(full * 10, full) == 0.0
    assert measures.rank_changes(np.array([3.0, 4.0, 2.0, 1.0]), full) == 2.0
    assert measures.rank_changes(np.array([4.0, 2.5, 2.5, 1.0]), full) == 2.0
    assert measures.rank_changes(np.array([4.0, 3.0, 2.0, np.nan]), full) == 4.0


@pytest.mark.parametrize("name", list(measures.MEANS_MEASURES))
def test_one_row_per_subset(name: str) -> None:
    measure = measures.MEANS_MEASURES[name]
    generator = np.random.default_rng(0)
    rows, full = generator.normal(size=(4, 5)), generator.normal(size=5)
    together = measure(rows, full)
    assert together.shape == (4,)
    assert together == pytest.approx(np.array([float(measure(row, full)) for row in rows]))


@pytest.mark.parametrize("name", list(measures.MEANS_MEASURES))
def test_the_full_set_agrees_with_itself(name: str) -> None:
    full = np.array([0.3, 0.1, 0.7, 0.2])
    expected = 0.0 if name in measures.LOWER_IS_BETTER else 1.0
    assert measures.MEANS_MEASURES[name](full.copy(), full) == pytest.approx(expected)


@pytest.mark.parametrize("name", list(measures.MEANS_MEASURES))
def test_a_subset_without_any_judgement_raises_no_warning(name: str) -> None:
    measures.MEANS_MEASURES[name](np.full(4, np.nan), np.arange(4.0))


def test_dice_of_the_best_groups() -> None:
    assert measures.top_group_dice(((0, 1), (2,)), ((1,), (0, 2))) == pytest.approx(2 / 3)
    assert measures.top_group_dice(((0,),), ((1,), (0,))) == 0.0
    assert measures.top_group_dice((), ((0,),)) == 0.0


def test_significance_retained_needs_the_same_sign() -> None:
    full = SignedRank(np.array([0.01, 0.04, 0.0001, 0.3]), np.array([1, 1, -1, 1]))
    subset = SignedRank(np.array([0.02, 0.03, 0.04, 0.01]), np.array([1, -1, -1, 1]))
    assert measures.significance_retained(subset, full) == pytest.approx(2 / 3)
    assert measures.significance_retained(subset, full, 0.001) == 0.0
    assert np.isnan(measures.significance_retained(subset, full, 1e-6))
