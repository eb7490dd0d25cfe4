"""Results as frames and pictures."""

from __future__ import annotations

from typing import Any

import pytest

import sparingly
from sparingly.base.errors import UsageError
from sparingly.base.summary import Tabular
from sparingly.data.synthetic import load_invented


@pytest.fixture(scope="module")
def results() -> dict[str, Tabular]:
    data = load_invented()
    chosen = sparingly.select(data, "uniform", 60, seed=2)
    compared = data.with_preferences_from("overall", 5.0)
    return {
        "selection": chosen,
        "estimate": sparingly.estimate(data, chosen, "overall"),
        "ranking": sparingly.rank(data, chosen, "overall"),
        "plan": sparingly.plan(data, chosen, "overall", budgets=[40, 80]),
        "strengths": sparingly.bradley_terry(compared),
        "curve": sparingly.curve(data, "random", "overall", runs=2),
    }


def test_frames_hold_the_rows_of_the_file(results: dict[str, Tabular]) -> None:
    for name, result in results.items():
        rows = result.rows()
        frame = result.to_polars()
        assert frame.height == len(rows) > 0, name
        assert frame.columns == list(dict.fromkeys(key for row in rows for key in row)), name
    estimate: Any = results["estimate"]
    assert results["estimate"].to_polars()["model"].to_list() == [row["model"] for row in estimate.rows()]
    assert results["estimate"].to_polars()["score"].to_list() == [row["score"] for row in estimate.rows()]


def test_pandas_frames_are_the_same(results: dict[str, Tabular]) -> None:
    pytest.importorskip("pandas", reason="pandas is not installed")
    for result in results.values():
        frame = result.to_pandas()
        assert list(frame.columns) == result.to_polars().columns
        assert len(frame) == len(result.rows())


def test_results_have_pictures(results: dict[str, Tabular]) -> None:
    pytest.importorskip("altair", reason="the extra report is not installed")
    for result in results.values():
        assert "vconcat" in result.plot().to_dict()
    with pytest.raises(UsageError, match="There is no picture of Tabular"):
        Tabular().plot()
