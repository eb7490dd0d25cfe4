"""The leaderboard's page, Markdown and CSV."""

from __future__ import annotations

import csv
import io
import re
from html.parser import HTMLParser
from pathlib import Path

import polars
import pytest

from benchmarks.leaderboard import write
from benchmarks.leaderboard.board import Board, board
from benchmarks.leaderboard.columns import COLUMNS, OTHER_COLUMNS
from benchmarks.leaderboard.page import Origin, block, csv_text, page, today
from benchmarks.leaderboard.results import Results, read_results
from tests.benchmarks.leaderboard.made import MadeEntry, MadeSet, table

NASTY = 'mix:of="<script>alert(1)</script>"|a'
SETS = (MadeSet("good_set", strong=True), MadeSet("poor_set"), MadeSet("tiny_set", items=40))
ENTRIES = (
    MadeEntry("random", kind="random", runs=20, method="random"),
    MadeEntry("better", 0.6, error=0.8, noise=0.002, coverage=0.96),
    MadeEntry(NASTY, 1.6, error=1.5, noise=0.002),
    MadeEntry("list", 1.1, kind="deterministic", runs=1, resamples=4, not_for=("poor_set",)),
)
FRAME = table(SETS, ENTRIES)
# The same with a rule that ends one entry after 300 labels.
ENDS = (polars.col("entry") == "better") & (polars.col("labels") >= 300)
STOPPED = FRAME.with_columns(
    stop=polars.when(polars.col("entry") == "better").then(polars.lit("best_settled")),
    stopped_at=polars.when(ENDS).then(polars.lit(300, polars.Int64)),
)
RESULTS: Results = read_results(FRAME)
BOARD: Board = board(RESULTS)
ORIGIN = Origin("2026-01-31", "abc1234", '[[entry]]\nmethod = "random"  # < plain\n')
PAGE = page(RESULTS, BOARD, ORIGIN)
VOID = {"meta", "input", "br", "wbr"}


class Tree(HTMLParser):
    """Every element with its attributes, and whether they are closed in order."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.open: list[str] = []
        self.found: list[tuple[str, dict[str, str | None]]] = []
        self.feed(text)
        assert self.open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.found.append((tag, dict(attrs)))

    def handle_endtag(self, tag: str) -> None:
        assert self.open.pop() == tag

    def all(self, tag: str) -> list[dict[str, str | None]]:
        return [attributes for name, attributes in self.found if name == tag]


TREE = Tree(PAGE)


def cells(row: int, key: str = "board") -> list[str]:
    body = PAGE.split(f'<table id="{key}">')[1].split("<tbody>")[1].split("</tbody>")[0]
    return re.findall(r'data-value="([^"]*)"', body.split("<tr")[row + 1])


def test_the_page_needs_nothing_else() -> None:
    assert not re.findall(r"https?://|@import|url\(", PAGE)
    assert not any(name in attributes for _, attributes in TREE.found for name in ("src", "href"))
    assert {tag for tag, _ in TREE.found}.isdisjoint({"link", "img", "iframe"})


def test_names_of_entries_cannot_break_out() -> None:
    assert len(TREE.all("script")) == 1
    assert "<script>alert" not in PAGE
    assert "&lt;script&gt;alert(1)" in PAGE


def test_heads_sort_and_say_how_the_table_is_sorted() -> None:
    heads = [head for head in TREE.all("th") if "aria-sort" in head]
    assert [head["aria-sort"] for head in heads].count("ascending") == 1
    assert heads[3]["aria-sort"] == "ascending"
    assert {head["scope"] for head in heads} == {"col"}
    assert {head.get("scope") for head in TREE.all("th")} == {"col", "row", "colgroup"}
    # One cell with a value to sort by under every head.
    assert {len(cells(row)) for row in range(len(BOARD.rows))} == {2 + len(COLUMNS)}
    assert {len(cells(row, "others")) for row in range(len(BOARD.rows))} == {2 + len(OTHER_COLUMNS)}
    assert len(TREE.all("button")) == len(heads) == 4 + len(COLUMNS) + len(OTHER_COLUMNS)


def test_other_measures_are_folded_away_below_the_board() -> None:
    board_part, after = PAGE.split("<details><summary>Other measures</summary>")
    assert '<table id="board">' in board_part
    assert after.index('<table id="others">') < after.index("</details>")
    place = 2 + [column.key for column in OTHER_COLUMNS].index("kendall_b")
    for number, row in enumerate(BOARD.rows):
        shown = float(cells(number, "others")[place])
        assert shown == pytest.approx(row.others["kendall_b"].mean.value, rel=1e-5)
    assert "Labels to stop" not in PAGE


def test_the_set_with_the_lowest_coverage_is_named() -> None:
    row = PAGE.split('data-value="better"')[1].split("</tr>")[0]
    found = next(row for row in BOARD.rows if row.info.entry == "better").trust.lowest
    assert found is not None
    assert f'data-value="{found[1].rate.value:.6g}"' in row
    assert found[0].replace("_", "_<wbr>") in row


def test_entries_with_a_rule_have_a_table_of_their_own() -> None:
    results = read_results(STOPPED)
    made = board(results)
    text = page(results, made, ORIGIN)
    Tree(text)
    inside = text.split('<table id="stops">')[1].split("</table>")[0]
    assert inside.count('scope="row"') == 1
    # 300 of 4000 labels.
    assert ">7.5</td>" in inside
    markdown = block(results, made, ORIGIN).split('??? note "Labels to stop"')[1]
    lines = [line for line in markdown.splitlines() if line.startswith("    | ")]
    assert len(lines) == 3
    assert "| 100 (" in lines[-1]
    rows = {row["entry"]: row for row in csv.DictReader(io.StringIO(csv_text(made)))}
    assert rows["better"]["stop_labels"] == "0.075"
    assert float(rows["better"]["stop_matched_low"]) < float(rows["better"]["stop_matched"])
    assert rows["list"]["stop_labels"] == ""


def test_rows_stand_as_the_head_says() -> None:
    needs = [float(cells(row)[3]) for row in range(len(BOARD.rows))]
    assert needs == sorted(needs)
    assert needs[0] == pytest.approx(BOARD.rows[0].parity.mean.value, rel=1e-5)


def test_better_and_worse_are_marked() -> None:
    row = PAGE.split('data-value="better"')[1].split("</tr>")[0]
    assert 'class="better"' in row
    assert 'class="worse"' not in row
    row = PAGE.split('data-value="mix:of=')[1].split("</tr>")[0]
    assert 'class="worse"' in row
    assert 'class="better"' not in row


def test_every_set_has_its_picture() -> None:
    figures = PAGE.split("<figure>")[1:]
    assert len(figures) == len(SETS)
    counted, apart = PAGE.split("Shown, and not counted")
    assert "<b>good_set</b>" in counted
    assert "<b>tiny_set</b>" in apart
    for figure in figures:
        assert figure.count('class="band"') == 1
        assert figure.count('class="random"') == 1
        assert 'role="img" aria-label="Accuracy on' in figure
    assert figures[0].count("data-entry") == 3
    assert "strong" in figures[0]
    assert "weak" in figures[1]


def test_lines_lie_where_the_values_are() -> None:
    """The higher the accuracy the smaller y; the first budget lies at the left edge."""
    drawn = PAGE.split("<figure>")[1].split('class="random" points="')[1].split('"')[0]
    points = [tuple(map(float, point.split(","))) for point in drawn.split()]
    assert len(points) == 10
    assert points[0][0] == 0.0
    curve = RESULTS.runs["good_set", "random"].curve("soft_pairwise_accuracy")
    heights = [y for _, y in points]
    assert [round(y, 1) for y in heights] == heights
    slope = (heights[-1] - heights[0]) / (curve[-1] - curve[0])
    assert slope < 0.0
    assert heights[5] == pytest.approx(heights[0] + slope * (curve[5] - curve[0]), abs=0.2)


def test_boxes_of_the_drawn_entries_are_ticked() -> None:
    boxes = [box for box in TREE.all("input") if box["type"] == "checkbox"]
    assert len(boxes) == len(ENTRIES) - 1
    assert all("checked" in box for box in boxes)
    numbers = {box["value"] for box in boxes}
    lines = {line["data-entry"] for line in TREE.all("polyline") if "data-entry" in line}
    assert lines == numbers


def test_the_page_says_when_from_what_and_with_which_grid() -> None:
    assert "Made on 2026-01-31 by sparingly" in PAGE
    assert "commit abc1234" in PAGE
    assert "4 entries on 2 sets and 1 more that does not count" in PAGE
    assert "# &lt; plain" in PAGE
    assert "does not apply on poor_set: The set has no texts." in PAGE.replace("</b>", "")
    assert re.fullmatch(r"\d{4}-\d{2}-\d{2}", today())


def test_markdown_has_one_line_per_entry() -> None:
    text = block(RESULTS, BOARD, ORIGIN)
    lines = [line for line in text.splitlines() if line.startswith("|")]
    assert len(lines) == 2 + len(ENTRIES)
    widths = {len(re.findall(r"(?<!\\)\|", line)) for line in lines}
    assert len(widths) == 1
    assert "Sets that do not count: `tiny_set`." in text
    assert "    [[entry]]" in text
    better = next(line for line in lines if "`better`" in line)
    assert "**" in better
    others = text.split('??? note "Other measures"')[1].split("???")[0]
    assert len([line for line in others.splitlines() if line.startswith("    | ")]) == 2 + len(ENTRIES)
    assert "Kendall b" in others


def test_csv_has_every_figure() -> None:
    rows = [*csv.DictReader(io.StringIO(csv_text(BOARD)))]
    assert [row["entry"] for row in rows] == [row.info.entry for row in BOARD.rows]
    by_name = {row["entry"]: row for row in rows}
    for row in BOARD.rows:
        assert float(by_name[row.info.entry]["parity"]) == pytest.approx(row.parity.mean.value, rel=1e-5)
        assert float(by_name[row.info.entry]["gain_low"]) == pytest.approx(row.gain.low, rel=1e-5)
        for key, other in row.others.items():
            assert float(by_name[row.info.entry][f"{key}_high"]) == pytest.approx(other.mean.high, rel=1e-5)
            above = by_name[row.info.entry][f"{key}_above_random"]
            assert float(above) == pytest.approx(other.above.value, rel=1e-5, abs=1e-9)
        assert float(by_name[row.info.entry]["bias_low"]) == pytest.approx(row.trust.bias.low, rel=1e-5)
    assert by_name["list"]["coverage"] == ""
    assert by_name["list"]["coverage_lowest"] == by_name["list"]["coverage_lowest_set"] == ""
    assert by_name["better"]["coverage_lowest_set"] in ("good_set", "poor_set")
    assert float(by_name["better"]["coverage_lowest"]) <= float(by_name["better"]["coverage"])
    assert 0.0 < float(by_name["better"]["p"]) <= 1.0
    assert by_name["random"]["p"] == ""
    assert by_name["better"]["parity_worst_set"] in ("good_set", "poor_set")


def test_all_files_are_written(tmp_path: Path) -> None:
    FRAME.write_parquet(tmp_path / "table.parquet")
    files = write(
        tmp_path / "table.parquet",
        tmp_path / "new" / "folder",
        grid_text=ORIGIN.grid,
        commit="abc1234",
        date="2026-01-31",
    )
    assert [file.name for file in files] == ["leaderboard.html", "leaderboard.md", "leaderboard.csv"]
    assert files[0].read_text(encoding="utf-8") == PAGE
    assert files[2].read_text(encoding="utf-8") == csv_text(BOARD)


def test_a_table_without_random_still_has_a_page() -> None:
    results = read_results(table(SETS[:1], ENTRIES[1:2]))
    found = board(results)
    alone = page(results, found, ORIGIN)
    Tree(alone)
    assert 'class="band" points' not in alone
    assert alone.count('<polyline class="line c0" data-entry="0"') == 1
    assert found.rows[0].parity.mean.value != found.rows[0].parity.mean.value


def test_a_set_without_accuracies_has_an_empty_picture() -> None:
    blank = FRAME.with_columns(polars.lit(None, polars.Float64).alias("soft_pairwise_accuracy"))
    results = read_results(blank)
    Tree(page(results, board(results), ORIGIN))
