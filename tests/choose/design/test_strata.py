from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.choose.design.stratified import (
    allocation,
    bins,
    draw_within,
    groups,
    rounded_as_published,
    rounded_at_random,
    without_empty,
)
from sparingly.choose.design.units import Groups

SIZES = st.lists(st.integers(1, 30), min_size=1, max_size=12).map(lambda sizes: np.array(sizes, np.float64))


def strata_of(sizes: list[int] | Ints) -> Groups:
    codes = np.repeat(np.arange(len(sizes)), sizes)
    return Groups(tuple(f"s{place}" for place in range(len(sizes))), codes)


# --- strata -------------------------------------------------------------------------------------------


def test_bins_are_as_equal_as_they_can_be_and_in_order() -> None:
    values = np.array([5.0, 1.0, 3.0, 3.0, 9.0, 7.0, 2.0, 8.0, 6.0, 4.0, 0.0])
    found = bins(values, rng.keys_of([f"i{place}" for place in range(11)]), size=4)
    assert found.names == ("bin 1 of 3", "bin 2 of 3", "bin 3 of 3")
    assert found.sizes.tolist() == [4, 4, 3]
    ordered = found.of_unit[np.argsort(values, kind="stable")]
    assert (np.diff(ordered) >= 0).all()
    assert bins(values, rng.keys_of([str(place) for place in range(11)]), size=80).names == ("bin 1 of 1",)


def test_groups_are_labels_in_order() -> None:
    found = groups(np.array(["b", "a", "b"], object))
    assert found.names == ("a", "b")
    assert found.of_unit.tolist() == [1, 0, 1]
    assert found.labels.tolist() == ["b", "a", "b"]


def test_deviations_are_numpys_population_deviations() -> None:
    values = np.random.default_rng(1).normal(5.0, 2.0, 20)
    strata = strata_of([12, 1, 7])
    expected = [values[:12].std(), 0.0, values[13:].std()]
    np.testing.assert_allclose(strata.deviations(values), expected, atol=1e-12)


# --- allocation ---------------------------------------------------------------------------------------


def test_optimal_allocation_by_hand() -> None:
    # Eq. 2: 10·(40·1)/(40·1 + 20·3 + 10·0) and so on.
    found = allocation(np.array([40.0, 20.0, 10.0]), np.array([40.0, 60.0, 0.0]), 10)
    np.testing.assert_allclose(found, [4.0, 6.0, 0.0], atol=1e-6)


def one_by_one(sizes: Floats, weights: Floats, count: float) -> Floats:
    """Fix the worst stratum at what it has and allocate the rest again, as the paper words it."""
    wanted = count * weights / weights.sum()
    over = wanted - sizes
    if over.max() <= 1e-9:
        return np.asarray(wanted)
    worst = int(over.argmax())
    rest = np.delete(np.arange(len(sizes)), worst)
    wanted[worst] = sizes[worst]
    if len(rest):
        wanted[rest] = one_by_one(sizes[rest], weights[rest], count - sizes[worst])
    return np.asarray(wanted)


@given(SIZES, st.data())
def test_overflow_is_reallocated_worst_first(sizes: Floats, data: st.DataObject) -> None:
    spread = st.lists(st.floats(0.01, 10.0), min_size=len(sizes), max_size=len(sizes))
    weights = sizes * np.array(data.draw(spread))
    count = data.draw(st.integers(1, int(sizes.sum())))
    found = allocation(sizes, weights, count)
    np.testing.assert_allclose(found, one_by_one(sizes, weights, count), rtol=1e-9, atol=1e-7)
    assert found.sum() == pytest.approx(count)
    assert (found <= sizes + 1e-9).all()


def test_without_any_spread_the_sizes_decide() -> None:
    assert allocation(np.array([6.0, 3.0]), np.zeros(2), 3).tolist() == [2.0, 1.0]


# --- rounding -----------------------------------------------------------------------------------------


@given(SIZES, st.integers(0, 1000), st.data())
def test_random_rounding_keeps_the_sum_and_stays_next_to_the_expectation(
    sizes: Floats, seed: int, data: st.DataObject
) -> None:
    count = data.draw(st.integers(1, int(sizes.sum())))
    expected = allocation(sizes, sizes, count)
    found = rounded_at_random(expected, np.random.default_rng(seed))
    assert found.sum() == count
    assert (np.abs(found - expected) < 1.0).all()
    assert (found <= sizes).all()


def test_published_rounding_is_nearest_of_all_whole_numbers() -> None:
    for seed in range(30):
        drawn = np.random.default_rng(seed)
        sizes = drawn.integers(1, 6, 4).astype(np.float64)
        count = int(drawn.integers(1, sizes.sum() + 1))
        expected = allocation(sizes, sizes * drawn.gamma(1.0, size=4), count)
        found = rounded_as_published(expected, sizes)
        fitting = [
            np.abs(np.array(whole) - expected).sum()
            for whole in itertools.product(*(range(int(size) + 1) for size in sizes))
            if sum(whole) == count
        ]
        assert found.sum() == count
        assert np.abs(found - expected).sum() == pytest.approx(min(fitting), abs=1e-9)


def test_empty_strata_are_merged_with_the_nearest() -> None:
    strata = strata_of([2, 3, 4, 5, 6, 1])
    merged, counts, lost = without_empty(strata, np.array([0.0, 1.0, 0.0, 0.0, 2.0, 0.0]))
    assert merged.names == ("s1 and 2 more", "s4 and 2 more")
    assert merged.sizes.tolist() == [2 + 3 + 4, 5 + 6 + 1]
    assert counts.tolist() == [1, 2]
    assert lost == ("s0", "s2", "s3", "s5")
    # Of two that are as near the earlier.
    assert without_empty(strata_of([1, 1, 1]), np.array([1.0, 0.0, 1.0]))[0].of_unit.tolist() == [0, 0, 1]


def test_nothing_is_merged_without_need() -> None:
    strata = strata_of([2, 3])
    merged, counts, lost = without_empty(strata, np.array([1.0, 2.0]))
    assert (merged.names, counts.tolist(), lost) == (strata.names, [1, 2], ())
    assert merged.of_unit.tolist() == strata.of_unit.tolist()


# --- draws --------------------------------------------------------------------------------------------


def test_a_draw_takes_so_many_of_every_stratum() -> None:
    codes = np.random.default_rng(2).permutation(np.repeat([0, 1, 2], [5, 1, 9]))
    strata = Groups(("a", "b", "c"), codes)
    for seed in range(20):
        taken = draw_within(strata, np.array([2, 1, 0]), np.random.default_rng(seed))
        assert np.bincount(codes[taken], minlength=3).tolist() == [2, 1, 0]
