from __future__ import annotations

import numpy as np
import pytest

from sparingly.show.terminal.console import Series, chart


def grid(drawn: str) -> list[str]:
    """The rows of the drawing without the axis."""
    return [row.partition("┤")[2] for row in drawn.splitlines() if "┤" in row]


def test_points_stand_in_their_columns_high_values_high() -> None:
    rows = grid(chart(["a", "b", "c"], [Series("one", "x", [0.0, 0.5, 1.0])], height=11, column=4))
    places = {(row, place) for row, text in enumerate(rows) for place, sign in enumerate(text) if sign == "x"}
    # Four characters a column, drawn in its middle; a margin of 5 % above and below.
    assert places == {(10, 2), (5, 6), (0, 10)}
    assert len(rows) == 11


def test_later_series_cover_earlier_ones() -> None:
    drawn = chart(["a"], [Series("below", "o", [1.0]), Series("above", "x", [1.0])])
    assert "x" in "".join(grid(drawn))
    assert "o" not in "".join(grid(drawn))


def test_axis_and_legend() -> None:
    drawn = chart(["10%", "20%"], [Series("mine", "x", [0.2, 0.8]), Series("", "·", [0.1, 0.3])]).splitlines()
    assert drawn[-1] == "  x mine", "a curve without a name is not in the legend"
    assert drawn[-2].split() == ["10%", "20%"]
    low, high = float(drawn[11].split("┤")[0]), float(drawn[0].split("┤")[0])
    assert low == pytest.approx(0.1 - 0.035, abs=5e-4)
    assert high == pytest.approx(0.8 + 0.035, abs=5e-4)


def test_missing_values_are_not_drawn() -> None:
    drawn = chart(["a", "b"], [Series("gap", "x", [np.nan, 2.0])])
    assert "".join(grid(drawn)).count("x") == 1
    assert "".join(grid(chart(["a"], [Series("none", "x", [np.nan])]))).strip() == ""


def test_a_flat_curve_lies_in_the_middle() -> None:
    rows = grid(chart(["a", "b"], [Series("flat", "x", [3.0, 3.0])], height=11))
    assert [row for row, text in enumerate(rows) if "x" in text] == [5]
