from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sparingly.base.errors import DataError, MissingDataError
from sparingly.choose.design.units import (
    Groups,
    document_units,
    groups_by,
    item_units,
    quotas,
)
from sparingly.data.evalset import EvalSet

# --- quotas -----------------------------------------------------------------------------------------

sizes = st.lists(st.integers(0, 40), min_size=1, max_size=8)


def divide(budget: float, capacities: list[int], shares: list[float], *, integral: bool) -> list[float]:
    found = quotas(budget, np.array(capacities, np.float64), np.array(shares, np.float64), integral=integral)
    return [float(quota) for quota in found]


@pytest.mark.parametrize(
    ("budget", "capacities", "shares", "expected"),
    [
        (9, [10, 10, 10], [1, 1, 1], [3, 3, 3]),
        # Ten over three groups: the odd one goes to the largest group, then to the first of equals.
        (10, [10, 30, 20], [1, 1, 1], [3, 4, 3]),
        (10, [10, 10, 10], [1, 1, 1], [4, 3, 3]),
        # A group of one takes one; what it leaves is divided by the others.
        (9, [1, 10, 10], [1, 1, 1], [1, 4, 4]),
        (12, [1, 2, 30], [1, 1, 1], [1, 2, 9]),
        # By size, 60:30:10 of 7 is 4.2, 2.1, 0.7: the largest remainder goes up.
        (7, [60, 30, 10], [60, 30, 10], [4, 2, 1]),
        (3, [0, 5, 5], [0, 1, 1], [0, 2, 1]),
        (100, [3, 4], [1, 1], [3, 4]),
    ],
)
def test_whole_quotas_by_hand(
    budget: int, capacities: list[int], shares: list[float], expected: list[int]
) -> None:
    assert divide(budget, capacities, shares, integral=True) == expected


@given(st.integers(1, 200), sizes)
def test_whole_quotas_spend_the_budget_within_the_groups(budget: int, capacities: list[int]) -> None:
    shares = [float(size > 0) for size in capacities]
    given_out = divide(budget, capacities, shares, integral=True)
    assert sum(given_out) == min(budget, sum(capacities))
    assert all(0 <= quota <= most for quota, most in zip(given_out, capacities, strict=True))
    assert all(quota == int(quota) for quota in given_out)


@given(st.integers(1, 200), sizes)
def test_equal_quotas_differ_only_where_a_group_is_full(budget: int, capacities: list[int]) -> None:
    given_out = divide(budget, capacities, [float(size > 0) for size in capacities], integral=True)
    open_groups = [quota for quota, most in zip(given_out, capacities, strict=True) if quota < most]
    if open_groups:
        assert max(open_groups) - min(open_groups) <= 1
        assert all(quota <= min(open_groups) + 1 for quota in given_out)


@given(st.integers(1, 200), st.lists(st.integers(1, 40), min_size=1, max_size=8))
def test_quotas_by_size_are_the_share_rounded_up_or_down(budget: int, capacities: list[int]) -> None:
    assume(budget <= sum(capacities))
    given_out = divide(budget, capacities, [float(size) for size in capacities], integral=True)
    for quota, size in zip(given_out, capacities, strict=True):
        exact = budget * size / sum(capacities)
        assert math.floor(exact - 1e-9) <= quota <= math.ceil(exact + 1e-9)


@given(st.floats(0.01, 300), st.lists(st.floats(0.5, 40), min_size=1, max_size=8))
def test_quotas_of_a_cost_add_up_and_fit(budget: float, capacities: list[float]) -> None:
    given_out = quotas(budget, np.array(capacities), np.ones(len(capacities)), integral=False)
    assert given_out.sum() == pytest.approx(min(budget, sum(capacities)))
    assert (given_out <= np.array(capacities) * (1 + 1e-12)).all()
    assert (
        given_out.max() - given_out[given_out < np.array(capacities) * (1 - 1e-9)].min(initial=np.inf)
        <= 1e-6 * budget
    )


# --- units and groups -------------------------------------------------------------------------------


def columned(**columns: list[Any]) -> EvalSet:
    count = len(next(iter(columns.values())))
    return EvalSet.from_arrays([f"i{place}" for place in range(count)], ["m"], columns=columns)


def test_items_are_units_of_their_own() -> None:
    data = columned(domain=["x", "y", "z"])
    units = item_units(data, np.array([0, 2]))
    assert len(units) == 2
    assert list(units.names) == ["i0", "i2"]
    assert units.rows_of(np.array([1, 0])).tolist() == [2, 0]
    assert (
        units.total(np.array([1.0, 2.0])).tolist() == units.mean(np.array([1.0, 2.0])).tolist() == [1.0, 2.0]
    )


def test_documents_hold_their_items_in_order_of_position() -> None:
    data = columned(document=["b", "a", "b", "a", "b"], position=[2, 0, 0, 1, 1])
    units = document_units(data, np.arange(5))
    assert list(units.names) == ["a", "b"]
    assert units.sizes.tolist() == [2.0, 3.0]
    assert units.rows_of(np.array([1, 0])).tolist() == [2, 4, 0, 1, 3]
    values = np.array([5.0, 1.0, np.nan, 3.0, 9.0])[units.rows]
    assert units.mean(values).tolist() == [2.0, 7.0], "a missing value is left out of the mean"
    assert units.total(np.ones(5)).tolist() == [2.0, 3.0]


def test_a_document_without_any_value_has_none() -> None:
    data = columned(document=["a", "b"], position=[0, 0])
    assert np.isnan(document_units(data, np.arange(2)).mean(np.array([np.nan, 1.0]))).tolist() == [
        True,
        False,
    ]


def test_only_candidates_count() -> None:
    data = columned(document=["a", "a", "b"], position=[0, 1, 0])
    units = document_units(data, np.array([1, 2]))
    assert units.sizes.tolist() == [1.0, 1.0]
    assert units.rows_of(np.array([0, 1])).tolist() == [1, 2]


def test_documents_must_be_there() -> None:
    with pytest.raises(MissingDataError, match="needs documents, and the evaluation set has none"):
        document_units(columned(domain=["x"]), np.arange(1))
    with pytest.raises(DataError, match=r'2 items are in no document, such as "i1"\. Give each a document'):
        document_units(columned(document=["a", None, None]), np.arange(3))


@pytest.mark.parametrize(
    ("values", "names", "groups"),
    [
        (["x", None, "y", "x"], ("(none)", "x", "y"), [1, 0, 2, 1]),
        ([1, 2.0, 1.0, np.nan], ("(none)", "1", "2"), [1, 2, 1, 0]),
        ([1234567.25, 1234567.5, 1e-9, 1e-9], ("1234567.25", "1234567.5", "1e-09"), [0, 1, 2, 2]),
        ([True, False, True, "b"], ("False", "True", "b"), [1, 0, 1, 2]),
    ],
)
def test_groups_of_a_column(values: list[Any], names: tuple[str, ...], groups: list[int]) -> None:
    data = columned(kind=values)
    found = groups_by(data, item_units(data, np.arange(4)), "kind")
    assert found.names == names
    assert found.of_unit.tolist() == groups


def test_groups_of_documents() -> None:
    data = columned(document=["a", "a", "b"], kind=["x", "x", "y"])
    found = groups_by(data, document_units(data, np.arange(3)), "kind")
    assert (found.names, found.of_unit.tolist()) == (("x", "y"), [0, 1])


def test_a_torn_document_cannot_be_balanced() -> None:
    data = columned(document=["a", "a", "b"], kind=["x", "y", "y"])
    with pytest.raises(DataError, match=r'The document "a" lies in several groups of "kind"'):
        groups_by(data, document_units(data, np.arange(3)), "kind")


def test_groups_split_an_order_and_keep_it() -> None:
    groups = Groups(("x", "y", "empty"), np.array([0, 1, 0, 1, 0]))
    split = groups.split(np.array([4, 3, 2, 1, 0]))
    assert [part.tolist() for part in split] == [[4, 2, 0], [3, 1], []]
    assert groups.totals(np.arange(5.0)).tolist() == [6.0, 4.0, 0.0]
