from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings
from sparingly.signals.cost import cost_fields, fit_seconds, item_costs, resolve_cost


def words(*counts: int | None) -> list[str | None]:
    return [None if count is None else "w " * count for count in counts]


def timed(lengths: list[int | None], seconds: list[float], models: int = 2) -> EvalSet:
    """One rating an item, of the first model."""
    count = len(seconds)
    ratings = Ratings(
        item=np.arange(count, dtype=np.int32),
        model=np.zeros(count, np.int32),
        rater=np.full(count, -1, np.int32),
        aspect=np.zeros(count, np.int32),
        score=np.ones(count),
        seconds=np.array(seconds, np.float64),
        aspects=("overall",),
    )
    items = [f"i{place:03d}" for place in range(count)]
    return EvalSet.from_arrays(
        items, [f"m{place}" for place in range(models)], sources=words(*lengths), ratings=ratings
    )


# --- the published line, and columns ----------------------------------------------------------------


def test_published_line_times_the_models() -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x", "y", "z"], sources=words(0, 20))
    costs, unit = item_costs(data, "length")
    assert unit == "seconds"
    assert costs == pytest.approx([3 * 33.7, 3 * (33.7 + 0.15 * 20)])


@pytest.mark.parametrize("values", [[1, 2.5], [1.0, 2.5], np.array([1.0, 2.5])])
def test_a_column_is_in_its_own_unit(values: Any) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x", "y"], columns={"minutes": values})
    costs, unit = item_costs(data, "minutes")
    assert (costs.tolist(), unit) == ([1.0, 2.5], "")


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ([1, None], '1 item has no cost by "price". Give every item one.'),
        ([1, -2], 'The cost "price" is negative for 1 item.'),
        ([1, float("inf")], 'The cost "price" is infinite for 1 item.'),
        ([1, "much"], 'The column "price" holds something that is not a number, so it cannot be a cost.'),
        ([1, {"a": 2}], 'The column "price" holds something that is not a number'),
    ],
)
def test_columns_that_are_no_costs(values: list[Any], sentence: str) -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x"], columns={"price": values})
    with pytest.raises(DataError, match=re.escape(sentence)):
        item_costs(data, "price")


def test_unknown_column_names_the_nearest_and_the_other_ways() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], columns={"minutes": [1]})
    with pytest.raises(
        UnknownNameError, match=r'"minute"\. Did you mean minutes\? Write length or fit for seconds'
    ):
        item_costs(data, "minute")


def test_sources_must_be_there() -> None:
    with pytest.raises(MissingDataError, match="Source lengths need sources"):
        item_costs(EvalSet.from_arrays(["a"], ["x"]), "length")
    with pytest.raises(DataError, match='1 item has no cost by "length"'):
        item_costs(EvalSet.from_arrays(["a", "b"], ["x"], sources=words(3, None)), "length")


@pytest.mark.parametrize(
    ("cost", "fields"),
    [("line:33.7:0.15", {"sources"}), ("minutes", {"column:minutes"}), ("line:a", {"column:line:a"})],
)
def test_fields_of_a_settled_cost(cost: str, fields: set[str]) -> None:
    assert cost_fields(cost) == fields


def test_a_settled_cost_is_a_line_for_all_models() -> None:
    data = EvalSet.from_arrays(["a", "b"], ["x", "y"], sources=words(10, 20))
    settled = resolve_cost(data, "length")
    assert settled == "line:67.4:0.3"
    assert item_costs(data, settled)[0].tolist() == pytest.approx([70.4, 73.4])
    assert item_costs(data, settled)[0] == pytest.approx(item_costs(data, "length")[0])
    assert resolve_cost(data, "minutes") == "minutes"


def test_without_models_an_item_takes_the_time_of_one_judgement() -> None:
    data = EvalSet.from_arrays(["a"], [], sources=words(10))
    assert item_costs(data, "length")[0].tolist() == pytest.approx([35.2])


# --- a line through the set's own ratings -----------------------------------------------------------


def test_an_exact_line_is_found() -> None:
    lengths = list(range(1, 21)) * 2
    intercept, slope = fit_seconds(timed(list(lengths), [5.0 + 2 * length for length in lengths]))
    # Times above the 95 % quantile are cut, which pulls the line down a little.
    assert slope == pytest.approx(2, abs=0.1)
    assert intercept == pytest.approx(5, abs=1)


def test_breaks_do_not_bend_the_line() -> None:
    lengths: list[int | None] = [5, 10, 15, 20] * 10
    seconds = [10.0 + length for length in (5, 10, 15, 20) * 10]
    seconds[7] = 50_000.0
    intercept, slope = fit_seconds(timed(lengths, seconds))
    assert (intercept, slope) == pytest.approx((10, 1), abs=0.2)


def test_costs_are_the_line_times_the_models() -> None:
    lengths: list[int | None] = [5, 10] * 10
    data = timed(lengths, [10.0 + length for length in (5, 10) * 10], models=3)
    costs, unit = item_costs(data, "fit")
    assert unit == "seconds"
    assert costs == pytest.approx([3 * 15, 3 * 20] * 10)


@pytest.mark.parametrize(
    ("short", "long", "line"),
    [
        # Seconds that fall with the length: their mean, whatever the length.
        (35.0, 20.0, (27.5, 0.0)),
        # A line that would start below zero: the best one through zero, Σ s·l / Σ l².
        (5.0, 50.0, (0.0, (5 * 5 + 50 * 20) / (5 * 5 + 20 * 20))),
    ],
)
def test_lines_are_never_negative(short: float, long: float, line: tuple[float, float]) -> None:
    assert fit_seconds(timed([5, 20] * 10, [short, long] * 10)) == pytest.approx(line)


def test_one_length_only_gives_the_mean() -> None:
    assert fit_seconds(timed([7] * 12, [10.0, 20.0] * 6)) == (15.0, 0.0)


@pytest.mark.parametrize(
    ("lengths", "seconds", "there"),
    [
        ([5] * 9, [1.0] * 9, 9),
        ([5] * 12, [1.0] * 8 + [np.nan, 0.0, -1.0, np.nan], 8),
        ([None] * 12, [1.0] * 12, 0),
    ],
)
def test_too_few_timed_ratings(lengths: list[int | None], seconds: list[float], there: int) -> None:
    with pytest.raises(MissingDataError, match=f"at least 10 ratings with seconds, and there are {there}"):
        fit_seconds(timed(lengths, seconds))


def test_no_ratings_at_all() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], sources=["text"])
    with pytest.raises(MissingDataError, match=r"there are 0\. Use cost=length, or a column"):
        item_costs(data, "fit")


def test_costs_are_arrays_of_numbers() -> None:
    costs: Floats = item_costs(EvalSet.from_arrays(["a"], ["x"], columns={"cost": [3]}), "cost")[0]
    assert costs.dtype == np.float64
