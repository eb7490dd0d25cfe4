from __future__ import annotations

import csv
import io
from typing import Any

import pytest

from sparingly.run.campaign.release import csv_bytes


def _back(rows: list[dict[str, Any]]) -> list[dict[str, str]]:
    text = csv_bytes(rows, ("item", "rater", "score", "comment")).decode()
    return list(csv.DictReader(io.StringIO(text, newline="")))


@pytest.mark.parametrize("text", ["=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", '=HYPERLINK("http://x")'])
def test_no_comment_and_no_name_is_a_formula(text: str) -> None:
    (row,) = _back([{"item": "-1", "rater": text, "score": -2.5, "comment": text}])
    assert row == {"item": "-1", "rater": f"'{text}", "score": "-2.5", "comment": f"'{text}"}


def test_ordinary_texts_stay() -> None:
    (row,) = _back([{"item": "a", "rater": "Ann-Marie", "score": 1.0, "comment": None}])
    assert row == {"item": "a", "rater": "Ann-Marie", "score": "1.0", "comment": ""}
    (row,) = _back([{"item": "a", "rater": "B", "score": 1.0, "comment": "a=b, say"}])
    assert row["comment"] == "a=b, say"


@pytest.mark.parametrize("text", ["a\rb", "a\nb", "a\r\nb", 'a"b,c', "\r"])
def test_ends_of_lines_inside_a_text_end_no_row(text: str) -> None:
    found = _back([{"item": "a", "rater": "B", "score": 1.0, "comment": text}] * 2)
    assert [row["comment"].lstrip("'") for row in found] == [text, text]
