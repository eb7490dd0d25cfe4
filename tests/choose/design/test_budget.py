from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import UsageError
from sparingly.choose.design.budget import Budget


@pytest.mark.parametrize(
    ("given_as", "kind", "amount"),
    [
        (100, "count", 100),
        (np.int64(7), "count", 7),
        ("100", "count", 100),
        (" 12 ", "count", 12),
        (0.1, "share", 0.1),
        (np.float64(0.25), "share", 0.25),
        ("10%", "share", 0.1),
        ("7 %", "share", 0.07),
        ("12.5%", "share", 0.125),
        ("100%", "share", 1.0),
        ("cost:500", "cost", 500),
        ("cost:0.25", "cost", 0.25),
        ("2h", "cost", 7200),
        ("1.5h", "cost", 5400),
        ("90min", "cost", 5400),
        ("90 min", "cost", 5400),
        ("600s", "cost", 600),
    ],
)
def test_every_form(given_as: Any, kind: str, amount: float) -> None:
    budget = Budget.parse(given_as)
    assert (budget.kind, budget.amount) == (kind, amount)
    assert Budget.parse(budget) is budget
    assert Budget.parse(str(budget)) == budget


@pytest.mark.parametrize(
    ("budget", "text"),
    [
        (100, "100"),
        (0.1, "10%"),
        ("12.5%", "12.5%"),
        (1 / 3, "33.33333333333333%"),
        ("2h", "cost:7200"),
        ("100%", "100%"),
    ],
)
def test_text(budget: Any, text: str) -> None:
    assert str(Budget.parse(budget)) == text


@pytest.mark.parametrize("budget", [0, -1, "0", "-3", 0.0, -0.5, "0%", "-5%", "cost:0", "cost:-1", "0h"])
def test_nothing_and_less_is_refused(budget: Any) -> None:
    with pytest.raises(
        UsageError, match=r"^The budget must be a finite number above zero, not .*\. Write a count"
    ):
        Budget.parse(budget)


@pytest.mark.parametrize("budget", [math.nan, math.inf, "cost:inf", "cost:nan", 10**400, "9" * 400])
def test_endless_budgets_are_refused(budget: Any) -> None:
    with pytest.raises(UsageError, match=r"must be a finite number above zero, not (nan|inf)"):
        Budget.parse(budget)


def test_more_than_everything_is_refused() -> None:
    with pytest.raises(UsageError, match=r"A share of 150\.0000% is more than everything"):
        Budget.parse("150%")


@pytest.mark.parametrize(
    ("budget", "how"),
    [
        (50.0, 'Is 50 a count or a share? Write 50 or "50%".'),
        (1.0, 'Is 1 a count or a share? Write 1 or "100%".'),
    ],
)
def test_ambiguous_numbers_are_asked_back(budget: float, how: str) -> None:
    with pytest.raises(UsageError) as caught:
        Budget.parse(budget)
    assert str(caught.value) == how


@pytest.mark.parametrize(
    "budget",
    [
        "",
        "many",
        "1e3",
        "1.5",
        "nan",
        "%",
        "ten%",
        "1e1%",
        "cost:",
        "cost:much",
        "1.2.3h",
        ".h",
        "2 days",
        "3\n4",
    ],
)
def test_nonsense_is_refused_in_one_line(budget: str) -> None:
    with pytest.raises(UsageError, match=r"is not a budget\. Write a count") as caught:
        Budget.parse(budget)
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize("budget", [True, None, [5], b"5"])
def test_other_things_are_refused(budget: Any) -> None:
    with pytest.raises(UsageError, match="is not a budget"):
        Budget.parse(budget)


def test_a_count_is_whole() -> None:
    with pytest.raises(UsageError, match=r"A count of 2\.5 items is not a whole number"):
        Budget("count", 2.5)


@given(st.floats(min_value=1e-12, max_value=1.0))
def test_a_share_is_read_back_exactly(share: float) -> None:
    budget = Budget("share", share)
    assert Budget.parse(str(budget)).amount == share


@given(st.integers(1, 10**6), st.integers(1, 10**6))
def test_a_share_of_a_pool_is_what_it_means(part: int, whole: int) -> None:
    part, whole = sorted((part, whole))
    assert Budget("share", part / whole).count_of(whole) == part


@pytest.mark.parametrize(
    ("budget", "total", "count"),
    [("29%", 100, 29), ("10%", 48, 4), ("1%", 48, 1), ("100%", 48, 48), (48, 48, 48), (1, 48, 1)],
)
def test_count_of_a_pool(budget: Any, total: int, count: int) -> None:
    assert Budget.parse(budget).count_of(total) == count


def test_larger_than_the_pool_is_refused() -> None:
    with pytest.raises(
        UsageError, match=r"^The budget of 49 items is larger than the 48 that can be chosen\.$"
    ):
        Budget.parse(49).count_of(48)
