from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.choose import MetricVar, Top
from sparingly.choose.design import knapsack
from sparingly.data.evalset import EvalSet


def valued(utilities: list[float], **columns: list[Any]) -> EvalSet:
    """A set whose items have these utilities by ``uncertainty``."""
    items = [f"i{place:03d}" for place in range(len(utilities))]
    return EvalSet.from_arrays(items, ["m"], metrics={"u": [[value] for value in utilities]}, columns=columns)


def chosen(data: EvalSet, budget: Any, **design: Any) -> list[str]:
    return list(sparingly.select(data, "uncertainty", budget, **design).items)


# --- counts -----------------------------------------------------------------------------------------


def test_best_first() -> None:
    data = valued([0.2, 0.9, np.nan, 0.5])
    picked = sparingly.select(data, "uncertainty", 4)
    assert list(picked.items) == ["i001", "i003", "i000", "i002"]
    np.testing.assert_array_equal(picked.utility, [0.9, 0.5, 0.2, np.nan])
    assert picked.probability is None
    assert not picked.is_probability_sample
    assert picked.row(0).reason == "among the best by uncertainty:metric=u"
    assert picked.notes == ("1 of 4 items have no utility and come last.",)


def test_ties_are_settled_by_the_seed_alone() -> None:
    data = valued([1.0] * 30 + [2.0])
    picks = {seed: chosen(data, 6, seed=seed) for seed in range(20)}
    assert all(pick[0] == "i030" for pick in picks.values())
    assert len({tuple(pick) for pick in picks.values()}) == 20


def test_last_bits_do_not_decide() -> None:
    data = valued([0.3, 0.1 + 0.2, 0.9, 0.0])
    orders = {tuple(chosen(data, 3, seed=seed)) for seed in range(20)}
    assert orders == {("i002", "i000", "i001"), ("i002", "i001", "i000")}


# --- groups -----------------------------------------------------------------------------------------


def test_equal_quotas_take_the_best_of_every_group() -> None:
    data = valued([9, 8, 7, 6, 5, 4, 3, 2, 1], domain=["x"] * 5 + ["y"] * 4)
    assert chosen(data, 4, balance="domain") == ["i000", "i001", "i005", "i006"]
    # The odd one goes to the larger group.
    assert chosen(data, 5, balance="domain") == ["i000", "i001", "i002", "i005", "i006"]


def test_quotas_by_share() -> None:
    data = valued(list(range(10)), domain=["x"] * 8 + ["y"] * 2)
    assert sorted(chosen(data, 5, balance="domain", quota="share")) == [
        "i004",
        "i005",
        "i006",
        "i007",
        "i009",
    ]


def test_a_short_group_leaves_its_part_to_the_others_and_is_named() -> None:
    data = valued(list(range(9)), domain=["x"] * 4 + ["y"] * 4 + ["z"])
    picked = sparingly.select(data, "uncertainty", 7, balance="domain")
    assert sorted(picked.items) == ["i001", "i002", "i003", "i005", "i006", "i007", "i008"]
    assert picked.notes == ("z has less than an equal quota of items; the other groups took the rest.",)
    assert picked.row(0).reason.endswith(" in its domain")


def test_several_short_groups_are_named() -> None:
    data = valued(list(range(8)), domain=["x"] * 6 + ["y", "z"])
    (note,) = sparingly.select(data, "uncertainty", 6, balance="domain").notes
    assert note.startswith("y, z have less than an equal quota")


def test_any_column_balances_and_gaps_are_a_group() -> None:
    data = valued([5, 4, 3, 2], difficulty=[1, None, 1, None])
    assert sorted(chosen(data, 2, balance="difficulty")) == ["i000", "i001"]


def test_unknown_column() -> None:
    data = valued([1.0], domain=["x"])
    with pytest.raises(
        UnknownNameError, match=r'no column "domian"\. Did you mean domain\? It is the column to balance'
    ):
        chosen(data, 1, balance="domian")


# --- documents --------------------------------------------------------------------------------------


def documented() -> EvalSet:
    """Documents of 3, 2 and 1 items with mean utilities 2, 5 and 4; positions against the order of ids."""
    return valued(
        [1, 2, 3, 6, 4, 4],
        document=["a", "a", "a", "b", "b", "c"],
        position=[2, 1, 0, 1, 0, 0],
        cost=[1, 1, 1, 10, 10, 1],
        domain=["x", "x", "x", "y", "y", "y"],
    )


def test_whole_documents_in_order_of_positions_best_first() -> None:
    data = documented()
    assert chosen(data, 3, unit="document") == ["i004", "i003", "i005"]
    assert chosen(data, 6, unit="document") == ["i004", "i003", "i005", "i002", "i001", "i000"]


def test_documents_are_counted_in_items() -> None:
    picked = sparingly.select(documented(), "uncertainty", 3, unit="document")
    assert picked.notes[0].startswith("worth 1.03333; no set that fits is worth over 1.03333 (0.0000%")
    assert picked.notes[0].endswith("3 of 3 items used.")
    assert len(sparingly.select(documented(), "uncertainty", "50%", unit="document")) == 3


def test_documents_under_a_cost_and_in_groups() -> None:
    data = documented()
    assert chosen(data, "cost:4", unit="document") == ["i005", "i002", "i001", "i000"]
    assert set(chosen(data, "cost:6", unit="document", balance="domain")) == {"i000", "i001", "i002", "i005"}


def test_a_document_without_a_name() -> None:
    with pytest.raises(DataError, match='1 item is in no document, such as "i001"'):
        chosen(valued([1, 2], document=["a", None]), 1, unit="document")


def test_budget_too_small_for_a_document() -> None:
    data = valued([1, 2, 3], document=["a", "a", "a"])
    with pytest.raises(
        UsageError, match=r"^The budget 2 is too small: the cheapest document costs 3 items\.$"
    ):
        chosen(data, 2, unit="document")


# --- costs ------------------------------------------------------------------------------------------


def test_cost_column_is_taken_for_a_cost_budget() -> None:
    data = valued([5, 4, 3], cost=[10, 3, 3])
    picked = sparingly.select(data, "uncertainty", "cost:6")
    assert sorted(picked.items) == ["i001", "i002"]
    assert picked.total_cost == 6
    assert "cost=cost" in picked.signature.method
    assert picked.notes[-1] == (
        "judging the 2 chosen items costs 6; 2 random ones would cost 10.6667 on average."
    )


def test_seconds_are_told_in_hours() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"], ["m"], metrics={"u": [[1.0], [2.0]]}, sources=["w " * 100, "w " * 200]
    )
    picked = sparingly.select(data, "uncertainty", "100s", cost="length")
    assert picked.cost_unit == "seconds"
    assert list(picked.items) == ["b"]
    assert picked.total_cost == pytest.approx(0.15 * 200 + 33.7)
    assert re.search(r"costs 0\.02 hours; 1 random ones would cost 0\.02 hours", picked.notes[-1])


def test_another_column_as_cost_and_counts_that_only_report_it() -> None:
    data = valued([5, 4, 3], minutes=[10, 3, 3])
    assert sorted(chosen(data, "cost:6", cost="minutes")) == ["i001", "i002"]
    picked = sparingly.select(data, "uncertainty", 1, cost="minutes")
    assert (list(picked.items), picked.total_cost) == (["i000"], 10.0)


def test_floor_decides_between_few_good_and_many_cheap() -> None:
    data = valued([10, 1, 1, 1], cost=[3, 1, 1, 1])
    # With a low floor the good item is worth more than three others; with a high one it is not.
    assert chosen(data, "cost:3") == ["i000"]
    assert sorted(chosen(data, "cost:3", floor=1)) == ["i001", "i002", "i003"]


costs_and_utilities = st.lists(
    st.tuples(st.integers(1, 30).map(float), st.floats(-5, 5).map(lambda value: round(value, 3))),
    min_size=2,
    max_size=25,
)


@settings(max_examples=60)
@given(costs_and_utilities, st.floats(0.05, 0.95))
def test_the_set_fits_and_is_never_worse_than_greedy(pairs: list[tuple[float, float]], share: float) -> None:
    costs, utilities = (np.array(side) for side in zip(*pairs, strict=True))
    budget = float(max(costs.min(), share * costs.sum()))
    data = valued(utilities.tolist(), cost=costs.tolist())
    picked = sparingly.select(data, "uncertainty", f"cost:{budget!r}")
    rows = data.positions(picked.items)
    assert costs[rows].sum() <= budget
    worth = knapsack.rescale(utilities)
    left, greedy = budget, 0.0
    for row in np.lexsort((-worth, -worth / costs)):
        if costs[row] <= left:
            left -= costs[row]
            greedy += worth[row]
    assert worth[rows].sum() >= greedy - 1e-9


def test_groups_share_a_cost_budget() -> None:
    data = valued(list(range(8)), cost=[1.0] * 8, domain=["x"] * 4 + ["y"] * 4)
    picked = sparingly.select(data, "uncertainty", "cost:4", balance="domain")
    assert sorted(picked.items) == ["i002", "i003", "i006", "i007"]


def test_free_items_are_always_taken() -> None:
    data = valued([1, 2, 3, 4], cost=[0, 0, 5, 6])
    assert set(chosen(data, "cost:5")) == {"i000", "i001", "i002"}


def test_items_without_utility_count_as_the_least_useful_under_a_cost() -> None:
    data = valued([np.nan, 1.0, 5.0], cost=[1, 1, 1])
    picked = sparingly.select(data, "uncertainty", "cost:1")
    assert list(picked.items) == ["i002"]
    assert "1 of 3 items have no utility and count as the least useful." in picked.notes


# --- what cannot be done ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("columns", "budget", "design", "error", "sentence"),
    [
        (
            {},
            "cost:5",
            {},
            UsageError,
            "A cost budget needs costs: give the items a cost column, or name one",
        ),
        ({}, "cost:5", {"cost": "price"}, UnknownNameError, 'no column of costs "price"'),
        ({"price": [1, None, 2]}, "cost:1", {"cost": "price"}, DataError, '1 item has no cost by "price"'),
        ({"price": [1, -1, 2]}, "cost:1", {"cost": "price"}, DataError, '"price" is negative for 1 item'),
        (
            {"price": [1, np.inf, 2]},
            "cost:1",
            {"cost": "price"},
            DataError,
            '"price" is infinite for 1 item',
        ),
        (
            {"price": ["a", "b", "c"]},
            "cost:1",
            {"cost": "price"},
            DataError,
            '"price" holds something that is not a',
        ),
        ({"cost": [2, 2, 3]}, "cost:1", {}, UsageError, "cost:1 is too small: the cheapest item costs 2"),
        (
            {"cost": [2, 2, 3]},
            "cost:8",
            {},
            UsageError,
            "cost:8 is larger than everything there is, which costs 7",
        ),
        ({}, 4, {}, UsageError, "The budget of 4 items is larger than the 3 that can be chosen"),
        ({}, 4, {"balance": "domain"}, UsageError, "The budget of 4 items is larger than the 3"),
        ({}, 1, {"unit": "document"}, DataError, "Choosing whole documents needs documents"),
        ({}, 1, {"floor": 0.0}, UsageError, "must be at least 1e-06, not 0"),
    ],
)
def test_errors_are_sentences(
    columns: dict[str, Any], budget: Any, design: dict[str, Any], error: type[Exception], sentence: str
) -> None:
    data = valued([1, 2, 3], domain=["x", "x", "y"], **columns)
    with pytest.raises(error, match=re.escape(sentence)):
        chosen(data, budget, **design)


def test_a_budget_too_small_for_any_group_says_so() -> None:
    data = valued([1, 2, 3], cost=[2, 2, 2], domain=["x", "y", "z"])
    assert len(chosen(data, "cost:3", balance="domain")) == 1, "no quota pays for one, but together they do"
    with pytest.raises(UsageError, match="The budget cost:1 is too small: the cheapest item costs 2"):
        chosen(data, "cost:1", balance="domain")


# --- as text ----------------------------------------------------------------------------------------


def test_short_form_stands_for_the_design() -> None:
    method = Top(utility=MetricVar(metric="X"), balance="domain")
    assert str(method) == "metric_var:metric=X,balance=domain"
    assert method.full_text == (
        "top:utility=(metric_var:metric=X),balance=domain,quota=equal,unit=item,cost=none,floor=0.1"
    )


def test_only_single_items_without_groups_are_nested() -> None:
    utility = MetricVar()
    assert Top(utility=utility).is_nested
    assert not Top(utility=utility, balance="domain").is_nested
    assert not Top(utility=utility, unit="document").is_nested


# --- utilities that say nothing, and what quotas leave over ---------------------------------------------


def nine_documents(**columns: list[object]) -> EvalSet:
    spread = np.arange(9.0)
    return EvalSet.from_arrays(
        items=[f"i{place}" for place in range(9)],
        models=["m", "n"],
        metrics={"s": np.stack([spread, -spread], axis=1)},
        columns={"domain": ["A"] * 5 + ["B"] * 4, "document": [f"d{place}" for place in range(9)], **columns},
    )


def test_equal_utilities_are_said_to_leave_the_choice_to_the_seed() -> None:
    data = EvalSet.from_arrays(["a", "b", "c"], ["m", "n"], metrics={"s": [[1, 1], [1, 1], [1, 1]]})
    chosen = sparingly.select(data, "metric_var", 1)
    assert "all utilities are equal, so the seed alone has chosen." in chosen.notes


def test_a_utility_that_is_nowhere_is_an_error() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"], ["m"], metrics={"s": [[np.nan], [np.nan]]}, columns={"cost": [1, 1]}
    )
    for budget in (1, "cost:1"):
        with pytest.raises(DataError, match="metric_var:metric=s says nothing about any item"):
            sparingly.select(data, "metric_var", budget)


def test_balanced_documents_use_the_whole_count() -> None:
    assert len(sparingly.select(nine_documents(), "metric_var", 9, balance="domain", unit="document")) == 9


def test_what_quotas_leave_over_is_spent() -> None:
    chosen = sparingly.select(nine_documents(cost=[6.0] * 9), "metric_var", "cost:20", balance="domain")
    assert chosen.total_cost == 18.0
    assert "within the groups' quotas" in chosen.notes[0]
