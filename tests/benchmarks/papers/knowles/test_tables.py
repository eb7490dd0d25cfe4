"""Every table is computed, and holds what was published beside what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers import lo_knowles
from benchmarks.papers.catalogue import paper_table
from benchmarks.papers.context import _places
from benchmarks.papers.lo_knowles import (
    BUDGETED,
    COVERAGES,
    FIXED,
    Method,
    Set,
    band_figures,
    ranking_figures,
)
from benchmarks.papers.work import DEMO, QUICK, Work
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented

NAMES = [f"s2-table{number}" for number in range(1, 5)]
# A figure of every table that is nowhere else.
PUBLISHED = {
    "s2-table1": "| 1 / 1 / 2 of 3 |",
    "s2-table2": "| 25 / 27 / 29 of 35 |",
    "s2-table3": "| 7 / 10 / 11 of 12 |",
    "s2-table4": "| fixed | 43 | 35 | 11 | 4 | 4 | 4 |",
}


@pytest.mark.parametrize("name", NAMES)
def test_a_table_is_computed_and_shown(name: str, tmp_path: Path) -> None:
    found = paper_table(name)
    assert found.name == name
    work = Work(tmp_path, tmp_path / "kept", QUICK, is_demo=True)
    computed = found.figures(work)
    text = found.text(computed)
    assert PUBLISHED[name] in text
    assert "13" in text
    # What is kept is what was computed.
    assert found.figures(work) == computed


def test_one_draw_for_all_changes_fewer_rankings() -> None:
    work = Work(Path(), effort=QUICK, is_demo=True)
    drawn = lo_knowles.change_figures(work, 2)["sets"]["demo"]["drawn"]
    means = {title: np.mean(changes["human score"]) for title, changes in drawn.items()}
    assert means["whole documents, one draw for all"] < means["whole documents, a draw for each model"]


def test_counts_are_of_sets_in_the_best_median_and_worst_run() -> None:
    sets = [
        {"drawn": {"x": {"chrF": [0, 2, 2, 0, 3], "BLEU": [0, 0, 0, 0, 0]}}},
        {"drawn": {"x": {"chrF": [0, 0, 2, 2, 2]}}},
    ]
    assert lo_knowles.changed(sets, "x", "chrF") == "0 / 1 / 2 of 2"
    assert lo_knowles.changed(sets, "x", "BLEU") == "0 / 0 / 0 of 1"
    assert lo_knowles.changed(sets, "x", "COMET") == "–"


def test_every_run_takes_the_next_coverage() -> None:
    data = load_invented()
    demo = Set(DEMO, "demo", "overall", (("chrF", "surface"),))
    method = Method("segments", "snippets:kind=segment")
    both = ranking_figures(data, demo, method, [0.2, 0.9], 2)["chrF"]["changes"]
    for place, share in enumerate((0.2, 0.9)):
        assert both[place] == ranking_figures(data, demo, method, share, 2)["chrF"]["changes"][place]


def test_every_direction_has_its_coverage() -> None:
    for number, known in COVERAGES.items():
        assert len(known) == lo_knowles.PUBLISHED_BUDGETED[number][1].of


@pytest.mark.shared_data
def test_fixed_snippets_have_more_of_short_documents(shared_data: Path) -> None:
    found = band_figures(Work(shared_data).load("wmt21_ende"), lo_knowles.BAND_SHARE, 3)
    assert found[FIXED][0] > found["full"][0]
    assert found[BUDGETED][0] == pytest.approx(found["full"][0], abs=0.01)


def test_what_context_costs_is_computed_and_shown(tmp_path: Path) -> None:
    found = paper_table("s2-context")
    text = found.text(found.figures(Work(tmp_path, tmp_path / "kept", QUICK, is_demo=True)))
    row = next(line for line in text.splitlines() if line.startswith("| segments |"))
    taus = [float(cell) for cell in row.split("|")[2:-1]]
    # The dearer reading is, the fewer segments are judged.
    assert taus[0] > taus[-1]
    assert "**Time.**" not in text


def test_places_are_counted_within_documents() -> None:
    data = EvalSet.from_arrays(
        ["a", "b", "c", "d"],
        ["m"],
        aspects={"x": np.zeros((4, 1))},
        columns={"document": ["p", "q", "p", "p"], "position": [7, 0, 2, 4]},
    )
    place, length = _places(data)
    assert place.tolist() == [2, 0, 0, 1]
    assert length.tolist() == [3, 1, 3, 3]
