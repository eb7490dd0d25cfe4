from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.infer.estimate.estimators import FEWEST
from sparingly.infer.plan.plan import JudgeMix, divide, explained, items_with


def test_a_judge_that_explains_half_saves_half_of_few_items() -> None:
    assert items_with(0.5, 50, 100_000) == 26  # 25.01 items, rounded up
    assert explained(50, 26, 100_000) == pytest.approx(0.5, abs=0.025)
    assert items_with(1.0, 50, 100) == 1
    assert items_with(0.0, 50, 100) == 50


def test_a_judge_that_is_free_sees_everything() -> None:
    assert divide(60, 40, 1000, judge_price=0.0, human_price=2.0) == (40, 1000, 80.0)


def test_a_judge_with_a_price_sees_some_items_only() -> None:
    """k/m = √((1 − ρ²)j/(ρ²p)) = 1/10 with ρ² = 1/2, j = 0.01, p = 1: 0.55 n and 5.5 n items."""
    items, judged, cost = divide(400, 200, 10**9, judge_price=0.01, human_price=1.0)
    assert items == pytest.approx(220, abs=1)
    assert judged == pytest.approx(2200, abs=1)
    assert cost == items + judged * 0.01


@given(st.integers(40, 300), st.integers(400, 5000), st.floats(0.05, 0.9), st.floats(0.001, 0.2))
def test_no_other_mix_is_as_precise_and_much_cheaper(n: int, size: int, share: float, price: float) -> None:
    with_judge = items_with(share, n, size)
    items, judged, cost = divide(n, with_judge, size, judge_price=price, human_price=1.0)
    share = explained(n, with_judge, size)
    assert (1 - share) / items + share / judged <= 1 / n * (1 + 1e-9)
    others = (
        price * other + max(items_with(share, n, other), FEWEST)
        for other in range(n, size + 1)
        if share < 1 and 1 / n > share / other
    )
    # Whole items: one person's item more than the very best.
    assert cost <= min(others, default=cost) + 1 + price


def test_the_sentence_says_how_many_of_each() -> None:
    mix = JudgeMix(("gpt",), 70, 1000, 132.0, 155, 248.0, 1000, 2, 0.6)
    assert mix.sentence("For ± 3 points") == (
        "For ± 3 points: 140 labels of people and 2,000 calls of gpt, 132 in all; "
        "people alone: 310 labels, 248."
    )
    part = JudgeMix(("gpt", "llama"), 70, 500, 132.5, 155, 248.0, 1000, 1, 0.6).sentence("For ± 3")
    assert "500 calls of gpt and 500 calls of llama on 500 random items, 132.50 in all" in part
    alone = JudgeMix((), 155, 0, 248.0, 155, 248.0, 1000, 2).sentence("For ± 3 points")
    assert alone == "For ± 3 points: 310 labels of people, 248 in all; no judge saves its price."


def test_numbers_that_cannot_be() -> None:
    for alone, with_judge, size in ((5, 6, 10), (11, 5, 10), (5, 0, 10)):
        with pytest.raises(UsageError, match="at most as many items"):
            divide(alone, with_judge, size, judge_price=1, human_price=1)
