from __future__ import annotations

import math

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.infer.plan.judge_mix import judge_mix


def test_a_free_judge_that_explains_half_saves_half_of_few_items() -> None:
    found = judge_mix(50, 100_000, 4, 0.5, judge_price=0.0, person_price=1.0)
    assert found.items_with_judge == 26  # 25.01 items, rounded up
    assert found.judged == 100_000
    assert found.worth_it
    assert (found.people_alone, found.with_judge) == (200, 104)
    assert "for the judge on everything and people on 26 of them" in str(found)


def test_a_judge_with_a_price_sees_some_items_only() -> None:
    """k/m = √((1 − ρ²)j/(ρ²p)) = 1/10 with ρ² = 1/2, j = 0.01, p = 1: 27.5 and 275 items."""
    found = judge_mix(50, 100_000, 4, 0.5, judge_price=0.01, person_price=1.0)
    assert (found.items_with_judge, found.judged) == (28, 275)
    assert found.with_judge == pytest.approx(4 * (28 + 2.75))
    assert "on 275 random items" in str(found)
    assert found.worth_it


def test_a_dear_judge_or_one_that_explains_nothing_is_not_worth_it() -> None:
    dear = judge_mix(50, 100_000, 4, 0.5, judge_price=0.9, person_price=1.0)
    assert not dear.worth_it
    assert "is not worth its price" in str(dear)
    assert not judge_mix(50, 100, 4, 0.0, judge_price=0.01, person_price=1.0).worth_it


def test_judging_everything_leaves_nothing_to_save() -> None:
    found = judge_mix(100, 100, 2, 0.9, judge_price=0.1, person_price=1.0)
    assert found.items_with_judge == 100
    assert not found.worth_it


def test_a_judge_that_explains_everything_still_needs_a_person() -> None:
    assert judge_mix(50, 100, 2, 1.0, judge_price=0.0, person_price=1.0).items_with_judge == 1


@given(
    st.integers(1, 300),
    st.integers(300, 5000),
    st.floats(0.02, 0.95),
    st.floats(0.001, 0.2),
)
def test_no_other_mix_is_as_precise_and_much_cheaper(n: int, size: int, saving: float, price: float) -> None:
    found = judge_mix(n, size, 1, saving, judge_price=price, person_price=1.0)
    left = (1 - saving) / found.items_with_judge + saving / found.judged
    if found.worth_it:
        assert left <= 1 / n * (1 + 1e-9)
    cheapest = (
        min(
            price * judged + math.ceil((1 - saving) / (1 / n - saving / judged) - 1e-9)
            for judged in range(n, size + 1)
            if 1 / n > saving / judged
        )
        if size > n * saving
        else math.inf
    )
    # Whole items: one person's item more than the very best.
    assert found.with_judge <= cheapest + 1 + price or not found.worth_it


def test_wrong_prices_and_shares() -> None:
    with pytest.raises(UsageError, match="price of a judge's judgement"):
        judge_mix(5, 10, 2, 0.5, judge_price=-1, person_price=1)
    with pytest.raises(UsageError, match="price of a person's judgement"):
        judge_mix(5, 10, 2, 0.5, judge_price=1, person_price=math.inf)
    with pytest.raises(UsageError, match="between 0 and 1"):
        judge_mix(5, 10, 2, 1.5, judge_price=1, person_price=1)
    with pytest.raises(UsageError, match="11 of 10"):
        judge_mix(11, 10, 2, 0.5, judge_price=1, person_price=1)
