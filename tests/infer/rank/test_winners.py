from __future__ import annotations

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.infer.rank import winners
from sparingly.infer.rank.winners import pair_margins, preferences, success_rate, winner

A = np.array([0.3, 0.9, 0.5, 0.2, np.nan])
B = np.array([0.2, 0.4, 0.5, 0.6, 0.1])


def test_preferences_with_ties_and_missing_scores() -> None:
    assert preferences(A, B).tolist()[:4] == [1.0, 1.0, 0.0, -1.0]
    assert np.isnan(preferences(A, B)[4])
    assert preferences(A, B, tie=0.1).tolist()[:4] == [0.0, 1.0, 0.0, -1.0]
    assert preferences(A, B, tie=0.45).tolist()[:4] == [0.0, 1.0, 0.0, 0.0]


def test_ties_count_in_the_denominator() -> None:
    outcome = winner(A, B)
    assert outcome == winners.Winner(winner=0, distance=0.25, margin=0.25)
    assert winner(B, A) == winners.Winner(winner=1, distance=0.25, margin=-0.25)
    assert winner(A, B, tie=0.1) == winners.Winner(winner=None, distance=0.0, margin=0.0)
    assert winner(np.array([np.nan]), np.array([1.0])).winner is None


def test_margins_of_all_pairs_are_those_of_each() -> None:
    values = np.round(np.random.default_rng(0).normal(size=(40, 4)), 1)
    values[3, 2] = np.nan
    first, second = np.triu_indices(4, 1)
    expected = [winner(values[:, i], values[:, j], 0.2).margin for i, j in zip(first, second, strict=True)]
    assert pair_margins(values, 0.2).tolist() == expected
    gaps = [values[:, i] - values[:, j] for i, j in zip(first, second, strict=True)]
    by_definition = [
        (int((gap > 0.2 + 1e-9).sum()) - int((gap < -0.2 - 1e-9).sum())) / int((~np.isnan(gap)).sum())
        for gap in gaps
    ]
    assert expected == pytest.approx(by_definition)


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
