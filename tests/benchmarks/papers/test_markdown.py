"""Tables are written as Markdown, and only between their markers."""

from __future__ import annotations

import pytest

from benchmarks.pages import block, bold, folded, points, replaced, signed, table
from sparingly.base.errors import UsageError

PAGE = "# Page\n\n<!-- table: one -->\nold\n<!-- end -->\ntext\n<!-- table: two -->\n<!-- end -->\nend\n"


def test_table_aligns_numbers() -> None:
    assert table(["a", "b"], [["x", "1"]]) == "| a | b |\n| --- | ---: |\n| x | 1 |"
    assert table(["a", "b", "c"], [], texts=2).splitlines()[1] == "| --- | --- | ---: |"


def test_only_the_named_parts_are_replaced() -> None:
    page = replaced(PAGE, {"two": "new", "one": "| a |"})
    assert (block(page, "one"), block(page, "two")) == ("| a |", "new")
    assert page.startswith("# Page\n\n<!-- table: one -->\n")
    assert "<!-- end -->\ntext\n<!-- table: two -->" in page
    assert page.endswith("<!-- end -->\nend\n")
    assert replaced(page, {"two": "new", "one": "| a |"}) == page


@pytest.mark.parametrize("page", [PAGE, "<!-- table: three -->\nnever closed"])
def test_a_page_without_the_markers_is_refused(page: str) -> None:
    with pytest.raises(UsageError, match="<!-- table: three -->"):
        replaced(page, {"three": "new"})


def test_a_marker_that_is_not_closed_swallows_no_other_part() -> None:
    page = "<!-- table: a -->\n<!-- table: b -->\n<!-- end -->\n"
    with pytest.raises(UsageError, match="table: a"):
        replaced(page, {"a": "new"})


def test_numbers() -> None:
    assert points(0.9456) == "94.6"
    assert points(None) == "–"
    assert signed(-0.0123) == "−1.2"
    assert signed(-1e-9) == signed(0.0) == "+0.0"
    assert bold("1", True) == "**1**"
    assert folded("title", "a\n\nb") == '??? note "title"\n\n    a\n\n    b'
