from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.testing import assert_allclose

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, UsageError
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.probability import (
    affordable_probabilities,
    greatest_cost,
    inclusion_probabilities,
    sizes_of,
)

NUMBERS = st.floats(0.0, 1e6) | st.sampled_from([0.0, 1e-12, 1.0])
TAUS = st.sampled_from([0.0, 0.1, 0.5, 0.9, 0.99])


@st.composite
def sizes_and_share(draw: st.DrawFn) -> tuple[Floats, float]:
    sizes = np.array(draw(st.lists(NUMBERS, min_size=1, max_size=60)))
    return sizes, draw(st.integers(1, len(sizes)))


# --- by hand ------------------------------------------------------------------------------------------


def test_half_by_size() -> None:
    # f = 1/4, κ = 1/10: 1/8 for everyone and 1/20 for every unit of size.
    found = inclusion_probabilities(np.array([1.0, 2.0, 3.0, 4.0]), 1, tau=0.5)
    assert_allclose(found, [0.175, 0.225, 0.275, 0.325], rtol=1e-15)


def test_the_capped_stay_and_the_others_are_raised_in_proportion() -> None:
    # By size alone 2·(1, 1, 1, 7)/10 = (.2, .2, .2, 1.4): the last is certain, the others share what is left.
    found = inclusion_probabilities(np.array([1.0, 1.0, 1.0, 7.0]), 2, tau=1.0)
    assert_allclose(found, [1 / 3, 1 / 3, 1 / 3, 1.0], rtol=1e-15)
    lower = inclusion_probabilities(np.array([1.0, 1.0, 1.0, 7.0]), 2, tau=1.0, cap=0.8)
    assert_allclose(lower, [0.4, 0.4, 0.4, 0.8], rtol=1e-15)


def test_a_floor_lifts_the_small_and_the_others_pay() -> None:
    found = inclusion_probabilities(np.array([0.0, 1.0, 3.0, 4.0]), 1, tau=1.0, floor=0.1)
    assert_allclose(found, [0.1, 0.9 / 8, 2.7 / 8, 3.6 / 8], rtol=1e-15)


def test_costs_divide_by_their_root() -> None:
    # B = 4 of Σc = 5; by size alone π ∝ s/√c = (1, 1/2) and Σcπ = κ·(1 + 2) = 4 would need κ = 4/3: capped.
    costs = np.array([1.0, 4.0])
    found = inclusion_probabilities(np.array([1.0, 1.0]), tau=1.0, costs=costs, budget=4.0)
    assert_allclose(found, [1.0, 0.75], rtol=1e-15)
    mixed = inclusion_probabilities(np.array([1.0, 1.0]), tau=0.5, costs=costs, budget=1.0)
    assert_allclose(mixed, [0.1 + 1 / 6, 0.1 + 1 / 12], rtol=1e-15)


def test_without_tau_all_are_alike_to_the_last_bit() -> None:
    found = inclusion_probabilities(np.arange(7.0), 3, tau=0.0)
    assert found.tolist() == [3 / 7] * 7
    assert inclusion_probabilities(np.zeros(4), 1, tau=0.7).tolist() == [0.25] * 4


# --- what always holds --------------------------------------------------------------------------------


@given(case=sizes_and_share(), tau=TAUS)
def test_they_add_up_and_are_probabilities(case: tuple[Floats, float], tau: float) -> None:
    sizes, n = case
    found = inclusion_probabilities(sizes, n, tau=tau)
    assert found.sum() == pytest.approx(n, abs=1e-9)
    assert (found > 0).all()
    assert (found <= 1).all()


@given(case=sizes_and_share(), tau=TAUS)
def test_larger_sizes_have_larger_probabilities(case: tuple[Floats, float], tau: float) -> None:
    sizes, n = case
    found = inclusion_probabilities(sizes, n, tau=tau)
    assert (np.diff(found[np.argsort(sizes, kind="stable")]) >= -1e-15).all()


@given(case=sizes_and_share(), tau=TAUS, seed=st.integers(0, 5))
def test_the_variance_is_bounded_by_that_of_uniform_draws(
    case: tuple[Floats, float], tau: float, seed: int
) -> None:
    sizes, n = case
    share = n / len(sizes)
    found = inclusion_probabilities(sizes, n, tau=tau)
    assert (found >= (1 - tau) * share * (1 - 1e-9)).all()
    if n == len(sizes):
        return
    squares = np.random.default_rng(seed).gamma(0.3, size=len(sizes))
    variance, uniform = (squares * (1 / found - 1)).sum(), (squares * (1 / share - 1)).sum()
    assert variance <= (1 / (1 - tau) - share) / (1 - share) * uniform * (1 + 1e-9)


@given(
    sizes=st.lists(st.floats(0.0, 100.0), min_size=2, max_size=40),
    part=st.floats(0.05, 1.0),
    tau=TAUS,
    seed=st.integers(0, 9),
)
def test_costs_add_up_to_the_budget(sizes: list[float], part: float, tau: float, seed: int) -> None:
    costs = np.random.default_rng(seed).gamma(1.0, size=len(sizes)) + 0.01
    budget = part * costs.sum()
    found = inclusion_probabilities(np.array(sizes), tau=tau, costs=costs, budget=budget)
    assert costs @ found == pytest.approx(budget, rel=1e-12)
    assert (found > 0).all()
    assert (found <= 1).all()


@given(
    sizes=st.lists(st.floats(0.0, 100.0), min_size=2, max_size=40),
    part=st.floats(0.0, 1.0),
    tau=TAUS,
    seed=st.integers(0, 9),
    in_order=st.booleans(),
)
def test_an_affordable_draw_is_a_whole_number_of_units(
    sizes: list[float], part: float, tau: float, seed: int, in_order: bool
) -> None:
    costs = np.random.default_rng(seed).integers(1, 9, len(sizes)).astype(float)
    limit = costs.max() + part * (costs.sum() - costs.max())
    found = affordable_probabilities(np.array(sizes), costs, limit, tau=tau, in_order=in_order)
    count = round(found.sum())
    assert found.sum() == pytest.approx(count, abs=1e-9)
    assert greatest_cost(found, costs, in_order=in_order) <= limit + 1e-9
    if count < len(costs):
        more = inclusion_probabilities(np.array(sizes), count + 1, tau=tau, costs=costs)
        assert greatest_cost(more, costs, in_order=in_order) > limit - 1e-9, "one more could cost too much"


def test_the_greatest_cost_is_that_of_the_dearest_possible_draw() -> None:
    costs, chances = np.array([1.0, 2.0, 3.0, 4.0, 5.0]), np.array([0.4, 0.4, 0.4, 0.4, 0.4])
    # Dearest first, the running sums are .4, .8, 1.2 …: the second unit may be the third dearest.
    assert greatest_cost(chances, costs, in_order=True) == 5.0 + 3.0
    assert greatest_cost(chances, costs, in_order=False) == 5.0 + 4.0
    assert greatest_cost(np.array([1.0, 1.0, 1.0, 0.5, 0.5]), costs, in_order=False) == 6.0 + 5.0


@given(case=sizes_and_share(), seed=st.integers(0, 99))
def test_no_draw_along_the_costs_is_dearer_than_the_greatest(case: tuple[Floats, float], seed: int) -> None:
    generator = np.random.default_rng(seed)
    chances = inclusion_probabilities(case[0], case[1], tau=0.5)
    costs = generator.integers(1, 9, len(chances)).astype(float)
    taken = draw_pivotal(chances, generator, np.argsort(-costs, kind="stable"))
    assert costs[taken].sum() <= greatest_cost(chances, costs, in_order=True) + 1e-9


def test_units_that_cost_the_same_are_as_many_as_fit() -> None:
    found = affordable_probabilities(np.ones(10), np.full(10, 3.0), 20.0, tau=0.0)
    assert_allclose(found, 0.6, rtol=1e-15)
    assert affordable_probabilities(np.ones(3), np.array([1.0, 2.0, 3.0]), 6.0, tau=0.0).tolist() == [1.0] * 3


@given(sizes=st.lists(st.floats(0.0, 100.0), min_size=2, max_size=40), part=st.floats(0.3, 1.0), tau=TAUS)
def test_on_average_the_limit_is_spent_up_to_one_unit(sizes: list[float], part: float, tau: float) -> None:
    costs = np.random.default_rng(0).integers(1, 9, len(sizes)).astype(float)
    limit = costs.max() + part * (costs.sum() - costs.max())
    found = affordable_probabilities(np.array(sizes), costs, limit, tau=tau, spend="on_average")
    assert found.sum() == pytest.approx(round(found.sum()), abs=1e-9)
    assert limit - costs.max() - 1e-9 <= costs @ found <= limit + 1e-9


def test_what_costs_nothing_is_taken_and_breaks_nothing() -> None:
    costs = np.array([0.0, 1.0, 2.0])
    found = inclusion_probabilities(np.ones(3), tau=0.5, costs=costs, budget=1.5)
    assert costs @ found == pytest.approx(1.5)
    assert found[0] == 1.0


def test_a_million() -> None:
    sizes = np.random.default_rng(0).gamma(0.5, size=1_000_000)
    found = inclusion_probabilities(sizes, 50_000, tau=0.9)
    assert found.sum() == pytest.approx(50_000, abs=1e-9)
    assert found.max() == 1.0


# --- utilities as sizes -------------------------------------------------------------------------------


def test_utilities_below_zero_are_moved_up_and_gaps_get_the_mean() -> None:
    assert_allclose(sizes_of(np.array([-3.0, 1.0, np.nan, -1.0])), [0.0, 4.0, 2.0, 2.0], atol=1e-8)
    assert_allclose(sizes_of(np.array([2.0, np.nan, 6.0])), [2.0, 4.0, 6.0], atol=1e-8)
    assert sizes_of(np.array([5.0, 5.0])).tolist() == [1.0, 1.0]


@given(st.lists(st.floats(-1e3, 1e3), min_size=2, max_size=20))
def test_the_last_bits_of_utilities_do_not_matter(values: list[float]) -> None:
    utility = np.array(values)
    shaken = utility + np.ptp(utility) * 1e-13 * np.sin(np.arange(len(utility)))
    assert_allclose(sizes_of(shaken), sizes_of(utility), atol=3e-9 * (np.ptp(utility) or 1.0))


@pytest.mark.parametrize(
    ("values", "sentence"), [([np.nan, np.nan], "missing everywhere"), ([1.0, np.inf], "infinite somewhere")]
)
def test_utilities_that_say_nothing(values: list[float], sentence: str) -> None:
    with pytest.raises(DataError, match=sentence):
        sizes_of(np.array(values))


# --- errors -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"n": 1, "tau": 1.5}, "tau is a share from 0"),
        ({"n": 1, "tau": 0.5, "floor": 0.6, "cap": 0.5}, "the floor at most at the cap"),
        ({"n": 1, "tau": 0.5, "cap": 0.0}, "the floor at most at the cap"),
        ({"n": 3, "tau": 0.5, "cap": 0.5}, "A budget of 3 cannot be met: .* between 0 and 2"),
        ({"n": 1, "tau": 0.5, "floor": 0.5}, "A budget of 1 cannot be met: .* between 2 and 4"),
        ({"n": 5, "tau": 0.5}, "A budget of 5 cannot be met"),
        ({"n": 0, "tau": 0.5}, "A budget of 0 cannot be met"),
        ({"n": 1, "tau": 1.0}, "1 of 4 units would never be drawn.*lower tau, or give a floor"),
        ({"tau": 0.5}, "either the number of units or a budget"),
        ({"n": 1, "budget": 2.0, "tau": 0.5}, "either the number of units or a budget"),
        ({"budget": 2.0, "tau": 0.5}, "needs the cost of every unit"),
        ({"budget": 2.0, "tau": 0.5, "costs": np.array([1.0, -1.0, 2.0, 1.0])}, "Costs are finite numbers"),
        ({"budget": 2.0, "tau": 0.5, "costs": np.zeros(4)}, "not all of them are 0"),
    ],
)
def test_what_cannot_be_met_is_said(given: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UsageError, match=sentence):
        inclusion_probabilities(np.array([0.0, 1.0, 2.0, 3.0]), **given)


def test_sizes_must_be_sizes() -> None:
    with pytest.raises(UsageError, match="0 or more"):
        inclusion_probabilities(np.array([-1.0, 2.0]), 1, tau=0.5)


def test_a_floor_that_no_draw_can_afford() -> None:
    with pytest.raises(UsageError, match=r"The budget of 9 is too small for the floor 0\.5"):
        affordable_probabilities(np.ones(4), np.array([1.0, 1.0, 8.0, 9.0]), 9.0, tau=0.0, floor=0.5)


def test_a_unit_that_no_draw_can_afford() -> None:
    costs = np.array([1.0, 9.0])
    with pytest.raises(
        UsageError, match=r"The most expensive unit costs 9, more than the budget of 4.*on_average"
    ):
        affordable_probabilities(np.ones(2), costs, 4.0, tau=0.0)
    with pytest.raises(UsageError, match="less than one unit costs on average"):
        affordable_probabilities(np.ones(2), costs, 4.0, tau=0.0, spend="on_average")
    assert affordable_probabilities(np.ones(2), costs, 5.0, tau=0.0, spend="on_average").sum() == 1.0
