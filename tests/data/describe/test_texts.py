"""Empty, shared and repeated texts by hand."""

from __future__ import annotations

import pytest

from sparingly.data.describe.documents import SamePair, TextsSummary, texts
from sparingly.data.evalset import EvalSet


def described(outputs: list[list[str | None]], sources: list[str | None] | None = None) -> TextsSummary:
    models = [f"model-{place}" for place in range(len(outputs[0]))]
    found = texts(
        EvalSet.from_arrays(
            [str(row) for row in range(len(outputs))], models, outputs=outputs, sources=sources
        )
    )
    assert found is not None
    return found


def test_identical_outputs_by_hand() -> None:
    found = described([["x", "x ", "y"], ["a", "b", None], ["", "", "c"]])
    assert found.identical_share == pytest.approx(2 / 6)
    assert found.empty_outputs == {"model-0": 1, "model-1": 1}


def test_near_duplicates_share_a_third_of_their_texts() -> None:
    rows: list[list[str | None]] = [
        [f"a{row}", f"a{row}" if row < 4 else "b", f"c{row}"] for row in range(10)
    ]
    assert described(rows).near_duplicates == (SamePair("model-0", "model-1", 0.4),)


def test_near_duplicates_are_counted_where_both_wrote() -> None:
    rows: list[list[str | None]] = [["same", "same"] if row < 5 else ["x", None] for row in range(10)]
    assert described(rows).near_duplicates == (SamePair("model-0", "model-1", 1.0),)


def test_one_item_makes_no_near_duplicates() -> None:
    assert described([["same", "same"]]).near_duplicates == ()


def test_sources_that_come_again_and_empty_ones() -> None:
    found = described([["a"]] * 6, ["one", "two", "one", " one", "", None])
    assert (found.repeated_sources, found.empty_sources) == (2, 1)


def test_sources_alone() -> None:
    found = texts(EvalSet.from_arrays(["a", "b"], ["m"], sources=["x", "x"]))
    assert found == TextsSummary({}, None, (), repeated_sources=1, empty_sources=0)


def test_empty_outputs_are_identical_to_nothing() -> None:
    assert described([["", None], ["", ""]]).identical_share is None
    assert described([["a", "b"]]).identical_share == 0.0


def test_no_texts() -> None:
    assert texts(EvalSet.from_arrays(["a"], ["m"])) is None
