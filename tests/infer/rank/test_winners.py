from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.method_studies import success_rate
from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.data.tables import Preferences, derive_preferences
from sparingly.infer.rank import winners
from sparingly.infer.rank.winners import pair_margins

A = np.array([0.3, 0.9, 0.5, 0.2, np.nan])
B = np.array([0.2, 0.4, 0.5, 0.6, 0.1])


def margin(first: np.ndarray, second: np.ndarray, tie: float = 0.0) -> float:
    return float(pair_margins(np.column_stack([first, second]), tie)[0])


def test_ties_count_in_the_denominator_and_missing_scores_do_not() -> None:
    assert (margin(A, B), margin(B, A)) == (0.25, -0.25)
    assert margin(A, B, tie=0.1) == 0.0
    assert margin(A, B, tie=0.45) == 0.25
    assert np.isnan(margin(np.array([np.nan]), np.array([1.0])))


def test_margins_of_all_pairs_by_definition() -> None:
    values = np.round(np.random.default_rng(0).normal(size=(40, 4)), 1)
    values[3, 2] = np.nan
    first, second = np.triu_indices(4, 1)
    gaps = [values[:, i] - values[:, j] for i, j in zip(first, second, strict=True)]
    by_definition = [
        (int((gap > 0.2 + 1e-9).sum()) - int((gap < -0.2 - 1e-9).sum())) / int((~np.isnan(gap)).sum())
        for gap in gaps
    ]
    assert pair_margins(values, 0.2) == pytest.approx(by_definition)


@given(st.lists(st.integers(1, 30), min_size=1, max_size=6))
def test_margins_of_growing_subsets_are_those_of_each(sizes: list[int]) -> None:
    values = np.round(np.random.default_rng(1).normal(size=(30, 4)), 1)
    values[:4, 2] = np.nan
    expected = np.stack([pair_margins(values[:size], 0.1) for size in sizes])
    assert np.array_equal(winners.prefix_margins(values, sizes, 0.1), expected, equal_nan=True)


def test_means_over_pairs_leave_tied_pairs_out() -> None:
    full = np.array([0.2, -0.2, 0.4, 0.0, np.nan])
    subsets = np.array([[0.5, -0.1, -0.3, 0.3, 0.1], [np.nan, 0.0, 0.4, 0.0, 0.0]])
    assert winners.mean_success(subsets, full) == pytest.approx([2 / 3, 1 / 3])
    assert winners.mean_bias(subsets, full) == pytest.approx([-0.5 / 3, (-0.2 - 0.2) / 3])
    assert np.isnan(winners.mean_success(subsets, 0.0 * full)).all()
    assert np.isnan(winners.mean_bias(subsets, 0.0 * full)).all()


def test_bias_and_success_look_towards_the_true_winner() -> None:
    full = np.array([0.2, -0.2, 0.4, 0.0, np.nan])
    subset = np.array([0.5, -0.1, -0.3, 0.3, 0.1])
    bias = winners.distance_bias(subset, full)
    assert bias[:3] == pytest.approx([0.3, -0.1, -0.7])
    assert np.isnan(bias[3:]).all()
    succeeded = winners.success(subset, full)
    assert succeeded[:3].tolist() == [1.0, 1.0, 0.0]
    assert np.isnan(succeeded[3:]).all()
    assert winners.success(np.array([0.0]), np.array([0.2])).tolist() == [0.0]


def made(items: int = 200) -> tuple[np.ndarray, np.ndarray]:
    values = np.random.default_rng(0).normal(size=(items, 4)) + 0.3 * np.arange(4)
    return values, rng.keys_of([f"item {number}" for number in range(items)])


def test_judging_everything_always_succeeds_and_is_unbiased() -> None:
    values, keys = made()
    result = success_rate(values, lambda rows, seed: rows, keys=keys, seeds=range(4))
    assert (result.rate, result.inconclusive, result.standard_error) == (1.0, 0.0, 0.0)
    assert result.bias == 0.0
    assert result.runs + result.tied == 6 * 4
    assert result.distance == result.estimated_distance


def test_random_subsets_are_unbiased_and_informative_ones_are_not() -> None:
    values, keys = made()

    def at_random(rows: np.ndarray, seed: int) -> np.ndarray:
        return rows[np.argsort(rng.stream(keys[rows], seed, "test"))[:20]]

    def for_the_best(rows: np.ndarray, seed: int) -> np.ndarray:
        return rows[np.argsort(values[rows, 0] - values[rows, 3])[:20]]

    seeds = list(range(60))
    fair = success_rate(values, at_random, keys=keys, seeds=seeds)
    assert abs(fair.bias) < 0.03
    assert 0.6 < fair.rate < 1.0
    assert fair.standard_error == pytest.approx(np.sqrt(fair.rate * (1 - fair.rate) / fair.runs))
    partial = success_rate(values, for_the_best, keys=keys, seeds=seeds[:5])
    assert partial.bias > 0.1


def test_subsamples_depend_on_keys_and_seed_alone() -> None:
    values, keys = made(50)
    seen: list[set[int]] = []

    def watch(rows: np.ndarray, seed: int) -> np.ndarray:
        assert len(rows) == 40
        assert rows.tolist() == sorted(rows.tolist())
        seen.append({int(key) for key in keys_now[rows]})
        return rows

    keys_now = keys
    success_rate(values, watch, keys=keys_now, seeds=[0, 1])
    keys_now = keys[::-1]
    success_rate(values[::-1], watch, keys=keys_now, seeds=[0, 1])
    assert seen[:2] == seen[2:]
    assert seen[0] != seen[1]


def test_ids_stand_for_keys_and_rows_for_ids() -> None:
    values, keys = made(50)
    ids = [f"item {number}" for number in range(50)]

    def choose(rows: np.ndarray, seed: int) -> np.ndarray:
        return rows[:5]

    by_ids = success_rate(values, choose, ids=ids, seeds=[0, 1])
    assert by_ids == success_rate(values, choose, keys=keys, seeds=[0, 1])
    assert by_ids != success_rate(values, choose, seeds=[0, 1])
    with pytest.raises(UsageError, match="not both"):
        success_rate(values, choose, ids=ids, keys=keys, seeds=[0])


def test_preferences_that_were_given_count_as_scores_do() -> None:
    values, keys = made(60)
    given_preferences = derive_preferences(values, "any", tie=0.1)

    def choose(rows: np.ndarray, seed: int) -> np.ndarray:
        return rows[seed::7]

    by_scores = success_rate(values, choose, keys=keys, seeds=[0, 1, 2], tie=0.1)
    by_votes = success_rate(given_preferences, choose, keys=keys, seeds=[0, 1, 2])
    assert vars(by_votes) == pytest.approx(vars(by_scores))
    assert success_rate(given_preferences, choose, seeds=[0]).runs > 0
    with pytest.raises(UsageError, match="goes with scores"):
        success_rate(given_preferences, choose, seeds=[0], tie=0.1)
    with pytest.raises(UsageError, match="at least one preference"):
        success_rate(Preferences(), choose, keys=keys, seeds=[0])


def test_a_notebook_shows_the_rate() -> None:
    values, _ = made(20)
    shown = success_rate(values, lambda rows, seed: rows, seeds=[0])._repr_html_()
    assert "100.0%" in shown
    assert "<td>estimated distance</td>" in shown


def test_pairs_without_a_winner_are_counted_apart() -> None:
    values = np.tile([[1.0, 1.0, 0.0]], (10, 1))
    keys = np.arange(10, dtype=np.uint64)
    result = success_rate(values, lambda rows, seed: rows[:2], keys=keys, seeds=[0, 1, 2])
    assert (result.runs, result.tied, result.rate) == (6, 3, 1.0)
    nothing = success_rate(values[:, :2], lambda rows, seed: rows[:2], keys=keys, seeds=[0])
    assert (nothing.runs, nothing.tied) == (0, 1)
    assert np.isnan(nothing.rate)


def test_a_subset_that_ties_is_inconclusive_and_no_success() -> None:
    values = np.array([[1.0, 0.0], [1.0, 0.0], [0.0, 1.0]])
    keys = np.arange(3, dtype=np.uint64)
    result = success_rate(values, lambda rows, seed: rows[1:], keys=keys, seeds=[0], share=1.0)
    assert (result.rate, result.inconclusive, result.runs) == (0.0, 1.0, 1)
    assert result.bias == pytest.approx(-1 / 3)


def test_wrong_calls_get_one_sentence() -> None:
    values, keys = made(20)
    with pytest.raises(UsageError, match="at least one seed"):
        success_rate(values, lambda rows, seed: rows, keys=keys, seeds=[])
    with pytest.raises(UsageError, match="at most 1"):
        success_rate(values, lambda rows, seed: rows, keys=keys, seeds=[0], share=1.2)
    with pytest.raises(UsageError, match="only rows that it was given"):
        success_rate(values, lambda rows, seed: rows + 100, keys=keys, seeds=[0])
    with pytest.raises(UsageError, match="tie width"):
        pair_margins(values, -0.1)
