from __future__ import annotations

import tracemalloc
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import scipy.stats
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.errors import UsageError
from sparingly.base.stats import correlation

Vectors = Callable[[np.ndarray, np.ndarray], float]
Rows = Callable[[np.ndarray, np.ndarray], np.ndarray]

small = st.integers(-3, 3).map(float)
gappy = st.one_of(small, small, small, st.just(float("nan")))
models = st.shared(st.integers(1, 7), key="models")
references = models.flatmap(lambda count: arrays(np.float64, count, elements=gappy))
tables = models.flatmap(lambda count: arrays(np.float64, (5, count), elements=gappy))


def by_scipy(name: str, x: np.ndarray, y: np.ndarray) -> float:
    there = ~(np.isnan(x) | np.isnan(y))
    x, y = x[there], y[there]
    if len(set(x)) < 2 or len(set(y)) < 2:
        return 0.0
    answers: dict[str, Callable[[], Any]] = {
        "pearson": lambda: scipy.stats.pearsonr(x, y),
        "spearman": lambda: scipy.stats.spearmanr(x, y),
        "kendall_b": lambda: scipy.stats.kendalltau(x, y, variant="b"),
        "kendall_c": lambda: scipy.stats.kendalltau(x, y, variant="c"),
    }
    return float(answers[name]().statistic)


NAMES = ["pearson", "spearman", "kendall_b", "kendall_c"]


@pytest.mark.parametrize("name", NAMES)
@given(x=references, y=references)
def test_vectors_as_scipy(name: str, x: np.ndarray, y: np.ndarray) -> None:
    ours: Vectors = getattr(correlation, name)
    assert ours(x, y) == pytest.approx(by_scipy(name, x, y), abs=1e-12)


@pytest.mark.parametrize("name", NAMES)
@given(reference=references, values=tables)
def test_rows_as_scipy_row_by_row(name: str, reference: np.ndarray, values: np.ndarray) -> None:
    ours: Rows = getattr(correlation, f"{name}_rows")
    expected = [by_scipy(name, row, reference) for row in values]
    assert ours(reference, values) == pytest.approx(np.array(expected), abs=1e-12)


@given(reference=references, values=tables)
def test_pairwise_accuracy_counts_pairs(reference: np.ndarray, values: np.ndarray) -> None:
    expected = []
    for row in values:
        right = total = 0
        for i in range(len(row)):
            for j in range(len(row)):
                if reference[i] > reference[j] and not np.isnan(row[i] + row[j]):
                    total += 1
                    right += row[i] > row[j]
        expected.append(right / total if total else 0.0)
    assert correlation.pairwise_accuracy_rows(reference, values) == pytest.approx(np.array(expected))


@pytest.mark.parametrize("name", [*NAMES, "pairwise_accuracy"])
def test_a_constant_row_scores_zero(name: str) -> None:
    rows: Rows = getattr(correlation, f"{name}_rows")
    values = np.array([[0.1] * 5, [np.nan] * 5, [np.nan, 1.0, np.nan, np.nan, np.nan]])
    assert rows(np.arange(5.0), values).tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize("name", NAMES)
def test_a_constant_or_missing_reference_scores_zero(name: str) -> None:
    rows: Rows = getattr(correlation, f"{name}_rows")
    values = np.random.default_rng(0).normal(size=(3, 4))
    assert rows(np.full(4, 0.1), values).tolist() == [0.0] * 3
    assert rows(np.full(4, np.nan), values).tolist() == [0.0] * 3


@pytest.mark.parametrize("name", [*NAMES, "pairwise_accuracy"])
def test_many_models_and_blocks(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """More models than an 8-bit lane can count, in blocks smaller than the table."""
    rows: Rows = getattr(correlation, f"{name}_rows")
    generator = np.random.default_rng(2)
    values = np.round(generator.normal(size=(7, 300)), 1)
    reference = np.round(generator.normal(size=300), 1)
    whole = rows(reference, values)
    monkeypatch.setattr(correlation, "_BLOCK_CELLS", 600)
    assert np.array_equal(rows(reference, values), whole)
    if name != "pairwise_accuracy":
        assert whole == pytest.approx(np.array([by_scipy(name, row, reference) for row in values]), abs=1e-12)


def test_tau_c_by_hand() -> None:
    """Concordant 4, discordant 1, one tie in y; n = 4, m = min(4, 3): 2·3·3 / (16·2)."""
    x, y = np.array([1.0, 2.0, 3.0, 4.0]), np.array([1.0, 3.0, 2.0, 3.0])
    assert correlation.kendall_c(x, y) == pytest.approx(18 / 32)
    assert correlation.kendall_b(x, y) == pytest.approx(3 / np.sqrt(6 * 5))


@pytest.mark.parametrize("variant", ["b", "c"])
def test_long_vectors_take_the_quick_way_to_the_same_value(
    variant: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours: Vectors = getattr(correlation, f"kendall_{variant}")
    generator = np.random.default_rng(0)
    x, y = np.round(generator.normal(size=(2, 80)), 1)
    short = ours(x, y)
    monkeypatch.setattr(correlation, "_PAIRWISE_LIMIT", 10)
    assert ours(x, y) == pytest.approx(short, abs=1e-12)


def test_last_bits_of_the_reference_decide_nothing() -> None:
    values = np.array([[1.0, 2.0, 3.0]])
    exact, noisy = np.array([0.3, 0.3, 0.9]), np.array([0.3, 0.1 + 0.2, 0.9])
    assert exact[1] != noisy[1]
    for rows in (correlation.spearman_rows, correlation.kendall_c_rows, correlation.pairwise_accuracy_rows):
        assert rows(exact, values)[0] == rows(noisy, values)[0]


def test_order_of_models_does_not_matter() -> None:
    generator = np.random.default_rng(1)
    values, reference = np.round(generator.normal(size=(50, 9)), 1), np.round(generator.normal(size=9), 1)
    turn = generator.permutation(9)
    for name in NAMES:
        rows: Rows = getattr(correlation, f"{name}_rows")
        assert rows(reference, values) == pytest.approx(rows(reference[turn], values[:, turn]), abs=1e-12)


def test_very_small_and_very_large_numbers() -> None:
    x = np.array([1.0, 2.0, 4.0, 3.0])
    assert correlation.pearson(x * 1e-200, x * 1e200) == pytest.approx(1.0)
    assert correlation.pearson_rows(x * 1e200, (x * 1e-200)[None])[0] == pytest.approx(1.0)


def test_shapes_are_checked() -> None:
    with pytest.raises(UsageError, match="two vectors of one length"):
        correlation.pearson(np.zeros(3), np.zeros(4))
    with pytest.raises(UsageError, match="one value per column"):
        correlation.spearman_rows(np.zeros(3), np.zeros((2, 4)))


def test_memory_beyond_the_result_does_not_grow_with_the_items() -> None:
    values = np.random.default_rng(0).normal(size=(500_000, 14))
    for rows in (correlation.kendall_c_rows, correlation.spearman_rows):
        tracemalloc.start()
        result = rows(np.arange(14.0), values)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert peak < result.nbytes + 20e6
