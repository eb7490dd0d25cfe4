from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.choose.design.knapsack import KnapsackResult, rescale, solve

Problem = tuple[list[float], list[float], float]

VALUES = st.one_of(
    st.floats(0.1, 0.6), st.integers(1, 5).map(float), st.integers(1, 12).map(lambda k: k / 10)
)
COSTS = st.one_of(
    st.floats(0.001, 3.0), st.integers(0, 9).map(float), st.integers(1, 12).map(lambda k: k / 10)
)


def gap(result: KnapsackResult) -> float:
    """The largest share of value that a better set could add."""
    return (result.bound - result.value) / result.bound if result.bound else 0.0


@st.composite
def problems(draw: st.DrawFn, most: int) -> Problem:
    size = draw(st.integers(1, most))
    values = draw(st.lists(VALUES, min_size=size, max_size=size))
    costs = draw(st.lists(COSTS, min_size=size, max_size=size))
    picked = draw(st.lists(st.booleans(), min_size=size, max_size=size))
    exact = math.fsum(cost for cost, yes in zip(costs, picked, strict=True) if yes)
    share = draw(st.floats(0.0, 1.1))
    return values, costs, draw(st.sampled_from([exact, share * sum(costs)]))


def optimum(values: list[float], costs: list[float], budget: float) -> float:
    subsets = (np.arange(2 ** len(values))[:, None] >> np.arange(len(values))) & 1
    fits = [math.fsum(np.asarray(costs)[row == 1]) <= budget for row in subsets]
    return max(math.fsum(np.asarray(values)[row == 1]) for row, fit in zip(subsets, fits, strict=True) if fit)


def greedy(values: Floats, costs: Floats, budget: float) -> float:
    taken: list[int] = []
    for item in np.argsort(-values / np.maximum(costs, 1e-300), kind="stable"):
        if math.fsum([*costs[taken], costs[item]]) <= budget:
            taken.append(int(item))
    return math.fsum(values[taken])


def random_problem(size: int, share: float = 0.1, seed: int = 0) -> tuple[Floats, Floats, float]:
    draw = np.random.default_rng(seed)
    costs = np.asarray(0.15 * draw.integers(3, 80, size) + 33.7, np.float64)
    return rescale(draw.normal(size=size)), costs, share * float(costs.sum())


@settings(max_examples=150, deadline=None)
@given(problems(most=10))
def test_small_problems_are_solved_and_bounded(problem: Problem) -> None:
    values, costs, budget = problem
    result = solve(values, costs, budget)
    # A sum that only rounding brings within the budget need not be found.
    best, sure = optimum(values, costs, budget), optimum(values, costs, budget * (1 - 1e-12))
    assert result.value <= best
    assert result.bound >= sure * (1 - 1e-12)
    assert result.value >= sure * (1 - 2e-6)
    if gap(result) <= 1e-12:
        assert result.value >= sure * (1 - 1e-12)


def test_small_problems_are_solved() -> None:
    draw = np.random.default_rng(7)
    shortfalls = []
    for _ in range(200):
        values, costs = draw.uniform(0.1, 0.6, 10), draw.lognormal(3.0, 0.8, 10)
        budget = float(draw.uniform(0.1, 0.9) * costs.sum())
        shortfalls.append(1 - solve(values, costs, budget).value / optimum(list(values), list(costs), budget))
    assert np.max(shortfalls) < 1e-6


@settings(max_examples=60, deadline=None)
@given(problems(most=60))
def test_fits_is_at_least_greedy_and_the_bound_holds(problem: Problem) -> None:
    values, costs, budget = np.asarray(problem[0]), np.asarray(problem[1]), problem[2]
    result = solve(values, costs, budget)
    assert math.fsum(costs[result.chosen]) == result.cost <= budget
    assert math.fsum(values[result.chosen]) == result.value
    assert result.value >= greedy(values, costs, budget) * (1 - 1e-12)
    assert result.bound >= result.value
    assert result.chosen[costs == 0].all()


@settings(max_examples=40, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([0.02, 0.1, 0.5]), st.sampled_from([-20.0, 0.0, 20.0]))
def test_bound_holds_where_values_follow_costs(seed: int, share: float, offset: float) -> None:
    # Whole numbers, so that a table over budgets gives the true optimum.
    costs = np.random.default_rng(seed).integers(25, 60, 120).astype(float)
    values = costs + offset
    budget = math.floor(share * costs.sum())
    table = np.zeros(budget + 1)
    for value, cost in zip(values, costs.astype(int), strict=True):
        table[cost:] = np.maximum(table[cost:], table[: budget + 1 - cost] + value)
    result = solve(values, costs, float(budget))
    assert result.value <= table[-1] <= result.bound * (1 + 1e-12)
    if gap(result) <= 1e-12:
        assert result.value == pytest.approx(table[-1], rel=1e-12)


def test_hand_computed() -> None:
    # Greedy by density takes the first item (2 of 3) and nothing else fits; the other two are worth more.
    result = solve([2.1, 1.5, 1.5], [2.0, 1.5, 1.5], 3.0)
    assert result.chosen.tolist() == [False, True, True]
    assert (result.value, result.cost) == (3.0, 3.0)
    # Every other set was looked at, so the bound is tighter than the relaxation's 2.1 + 1.0.
    assert result.bound == pytest.approx(3.0)


@pytest.mark.parametrize(
    ("budget", "count"), [(4.0, 4), (2.0, 2), (3.9, 3), (5.0, 5), (9.0, 5), (0.5, 0), (0.0, 0)]
)
def test_budgets_may_be_spent_exactly(budget: float, count: int) -> None:
    result = solve([0.1] * 5, [1.0] * 5, budget)
    assert result.chosen.tolist() == [True] * count + [False] * (5 - count)
    assert gap(result) <= 1e-12


def test_ten_tenths_fit_into_one() -> None:
    assert solve(np.ones(12), np.full(12, 0.1), 1.0).chosen.sum() == 10


def test_equal_values_take_the_cheapest() -> None:
    costs = np.random.default_rng(1).uniform(1, 2, 50_000)
    budget = 0.3 * float(costs.sum())
    result = solve(np.full(50_000, 0.1), costs, budget)
    assert result.chosen.sum() == np.searchsorted(np.cumsum(np.sort(costs)), budget)
    assert gap(result) <= 1e-12


def test_items_without_cost_are_always_taken() -> None:
    result = solve([0.1, 0.6, 0.2], [0.0, 5.0, 0.0], 0.0)
    assert result.chosen.tolist() == [True, False, True]
    assert result.value == result.bound == pytest.approx(0.3)


@pytest.mark.parametrize(("budget", "taken"), [(0.9, False), (1.0, True), (math.inf, True)])
def test_one_item(budget: float, taken: bool) -> None:
    result = solve([0.4], [1.0], budget)
    assert result.chosen.tolist() == [taken]
    assert result.value == result.bound == (0.4 if taken else 0.0)


def test_nothing_fits_and_no_items() -> None:
    for result in (solve([0.4, 0.5], [3.0, 4.0], 2.0), solve([], [], 2.0)):
        assert not result.chosen.any()
        assert (result.value, result.cost, result.bound) == (0.0, 0.0, 0.0)


def test_one_dear_item_beats_a_dense_cheap_one() -> None:
    result = solve([0.2, 10.0], [0.1, 100.0], 100.0)
    assert result.chosen.tolist() == [False, True]
    assert gap(result) <= 1e-12


def test_huge_spread_of_costs() -> None:
    draw = np.random.default_rng(2)
    costs = 10 ** draw.uniform(-9, 9, 5_000)
    result = solve(draw.uniform(0.1, 0.6, 5_000), costs, 1e6)
    assert math.fsum(costs[result.chosen]) <= 1e6
    assert gap(result) < 1e-3


def test_order_of_items_does_not_matter() -> None:
    values, costs, budget = random_problem(3_000)
    shuffled = np.random.default_rng(3).permutation(3_000)
    result, again = solve(values, costs, budget), solve(values[shuffled], costs[shuffled], budget)
    np.testing.assert_array_equal(result.chosen[shuffled], again.chosen)
    assert result.value == again.value


def test_among_equal_items_the_first_are_taken() -> None:
    result = solve([0.3] * 6, [2.0] * 6, 7.0)
    assert result.chosen.tolist() == [True, True, True, False, False, False]


@pytest.mark.parametrize("size", [100, 240])
def test_middling_problems_are_nearly_always_solved(size: int) -> None:
    gaps = [gap(solve(*random_problem(size, share, seed))) for share in (0.05, 0.2, 0.5) for seed in range(4)]
    assert max(gaps) < 2e-3
    assert np.median(gaps) < 1e-4


@pytest.mark.parametrize("share", [0.01, 0.1, 0.5])
@pytest.mark.parametrize("kind", ["noise", "length", "five steps", "exact copies of cost"])
def test_ten_thousand_items_have_a_small_gap(kind: str, share: float) -> None:
    values, costs, budget = random_problem(10_000, share)
    utilities = {
        "noise": values,
        "length": costs,
        "five steps": np.round(values * 8),
        "exact copies of cost": costs,
    }[kind]
    values = costs if kind.startswith("exact") else rescale(utilities)
    result = solve(values, costs, budget)
    assert math.fsum(costs[result.chosen]) <= budget
    # A set of about 90 items is within a fraction of one of them.
    assert gap(result) < (1e-2 if share < 0.1 else 1e-3)


def test_a_million_items() -> None:
    values, costs, budget = random_problem(1_000_000)
    result = solve(values, costs, budget)
    assert math.fsum(costs[result.chosen].tolist()) <= budget
    assert gap(result) < 1e-6


def test_inputs_are_left_alone() -> None:
    values, costs, budget = random_problem(500)
    before = values.copy(), costs.copy()
    solve(values, costs, budget)
    np.testing.assert_array_equal(values, before[0])
    np.testing.assert_array_equal(costs, before[1])


@pytest.mark.parametrize(
    ("values", "costs", "budget", "sentence"),
    [
        ([0.0, 1.0], [1.0, 1.0], 1.0, "above 0"),
        ([math.nan, 1.0], [1.0, 1.0], 1.0, "finite"),
        ([1.0, 1.0], [-1.0, 1.0], 1.0, "not negative"),
        ([1.0, 1.0], [math.inf, 1.0], 1.0, "finite"),
        ([1.0, 1.0], [1.0], 1.0, "one length"),
        ([1.0, 1.0], [1.0, 1.0], -1.0, "0 or more"),
        ([1.0, 1.0], [1.0, 1.0], math.nan, "0 or more"),
    ],
)
def test_wrong_use_is_said(values: list[float], costs: list[float], budget: float, sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        solve(values, costs, budget)


def test_rescale_hand_computed() -> None:
    np.testing.assert_allclose(rescale([-2.0, 0.0, 2.0]), [0.1, 0.35, 0.6])
    np.testing.assert_allclose(rescale([1.0, 3.0], floor=1.0, spread=2.0), [1.0, 3.0])
    np.testing.assert_array_equal(rescale([7.0, 7.0]), [0.1, 0.1])
    assert rescale([]).shape == (0,)


@given(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=20))
def test_rescale_keeps_the_order_and_the_range(utilities: list[float]) -> None:
    values = rescale(utilities)
    assert values.min() == pytest.approx(0.1)
    assert values.max() <= 0.6 + 1e-12
    assert (np.diff(values[np.argsort(utilities)]) >= 0).all()


@pytest.mark.parametrize("arguments", [{"floor": 0.0}, {"spread": -1.0}, {"floor": math.nan}])
def test_rescale_refuses_values_that_are_not_positive(arguments: dict[str, float]) -> None:
    with pytest.raises(UsageError):
        rescale([1.0, 2.0], **arguments)


def test_rescale_refuses_missing_utilities() -> None:
    with pytest.raises(UsageError, match="finite"):
        rescale([1.0, math.nan])
