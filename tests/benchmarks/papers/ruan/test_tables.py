"""The tables of Ruan et al. 2024: what is counted, and that each can be computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from benchmarks.papers.catalogue import HOMES, paper_table
from benchmarks.papers.ruan import first_metric, methods, phases, published, regressors, sizes
from benchmarks.papers.ruan.sets import CASES, ORDERINGS
from benchmarks.papers.work import Work

NAMES = [name for name in HOMES if name.startswith("s3-")]


def figures(names: Any, file: str = "x", **tau: float) -> list[dict[str, Any]]:
    """Build the figures of a set with two aspects."""
    parts = {
        "top1": [1.0, 0.0],
        "retained_05": [0.5, 0.5],
        "retained_001": [0.5, 0.5],
        "kendall_sd": [0.1, 0.1],
        "first_runs": [0.1, 0.3, 0.2],
        "runs": 3,
    }
    found = {
        name: {**parts, "kendall": [tau.get(name.lower(), 0.5) + add for add in (0, 0.1)]} for name in names
    }
    about = {"file": file, "title": "X", "task": "SUM", "aspects": ["coherence", "fluency"], "items": 60}
    return [{**about, "is_published": True, "methods": found}]


def row(text: str, start: str) -> list[str]:
    """Return the cells of the first row of a table that starts so."""
    line = next(line for line in text.splitlines() if line.startswith(f"| {start}"))
    return [cell.strip() for cell in line.strip("|").split("|")]


@pytest.mark.parametrize("name", NAMES)
def test_every_table_can_be_computed(name: str, small: Work, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(phases, "PHASES", (2, 3))
    monkeypatch.setattr(published, "RATIOS", published.RATIOS[-2:])
    monkeypatch.setattr(published, "BY_RATIO", {})
    monkeypatch.setattr(regressors, "REGRESSORS", ("linear", "tree"))
    monkeypatch.setattr(published, "BY_REGRESSOR", {})
    table = paper_table(name)
    text = table.text(json.loads(json.dumps(table.figures(small))))
    assert table.name == name
    assert table.title.startswith("Ruan et al. 2024, ")
    assert text.count("| ---") >= (1 if name == "s3-claim" else 2)
    assert "nan" not in text


def test_wins_and_losses_against_random_are_counted() -> None:
    text = methods.summary_table(figures(methods.METHODS, casf=0.7, sm=0.3))
    assert row(text, "CASF")[5] == "2 / 0"
    assert row(text, "SM")[5] == "0 / 2"


def test_a_place_is_one_more_than_the_number_of_better_methods() -> None:
    text = methods.places(figures(methods.METHODS, casf=0.7, ol=0.7, sm=0.6, random=0.3))
    assert row(text, "CASF")[1:3] == ["100 % (80 %)", "100 % (91 %)"]
    assert row(text, "OL")[1:3] == ["100 %", "100 %"]
    # Two are better: the third place.
    assert row(text, "SM")[1:3] == ["0 %", "0 %"]
    assert row(text, "OL")[3] == "1.000"


def test_published_figures_stand_beside_ours() -> None:
    text = methods.aspects_table(figures(methods.METHODS, file="newsroom", casf=0.7))
    assert row(text, "X | fluency")[2:] == [
        "0.60 ± 0.10 (0.84)",
        "0.60 (0.81)",
        "0.60 (1.00)",
        "0.60 (1.00)",
        "0.60 (1.00)",
        "**0.80** (1.00)",
    ]
    both = methods.same_aspects(figures(methods.METHODS, file="newsroom"))
    assert row(both, "published")[3] == "1.00"
    assert row(both, "ours")[3] == "0.55"


def test_few_items_make_fewer_phases() -> None:
    by_count = {count: sizes._methods(count)["CASF"] for count in (2, 6, 9, 10, 100)}
    assert by_count == {2: "phases=1", 6: "phases=3", 9: "phases=4", 10: "", 100: ""}


def test_the_published_mean_is_over_the_sets_that_have_the_metric() -> None:
    sets = [*figures(["BLEU"], file="newsroom"), *figures(["ROUGE-1"], file="summeval")]
    text = first_metric.text_of_aspects({"sets": sets})
    means = row(text, "mean")[2:]
    assert means[ORDERINGS.index("BLEU")] == "0.55 (1.00)"
    assert means[ORDERINGS.index("ROUGE-1")] == "0.55 (0.66)"
    assert means[ORDERINGS.index("METEOR")] == "–"


def test_larger_samples_leave_small_sets_out(small: Work) -> None:
    sets = sizes.size_figures(small)["sets"]
    assert sorted(sets[0]["methods"]) == ["CASF 50", "heuristic 50", "random 50"]
    text = sizes.text_of_sizes({"runs": 3, "sets": sets})
    assert row(text, "sets")[1:3] == ["1 (16)", "0 (14)"]


def test_single_runs_are_averaged_over_aspects() -> None:
    names = [f"{name} {size}" for name in sizes.METHODS for size in published.SIZES]
    text = sizes.text_of_sizes({"runs": 3, "sets": figures(names)})
    assert row(text, "random, single runs")[1] == "0.10 to 0.30"


def test_published_rows_are_whole() -> None:
    known = {(case.file, aspect) for case in CASES if case.is_published for aspect in case.aspects}
    for rows, width in (
        (published.TAU, len(published.METHODS)),
        (published.FIRST_BY_ASPECT, len(ORDERINGS)),
        (published.BY_REGRESSOR, len(published.REGRESSORS)),
    ):
        assert set(rows) == known
        assert {len(row) for row in rows.values()} == {width}
    assert {len(row) for row in published.BY_RATIO.values()} == {len(published.RATIOS)}


def test_published_tables_agree_where_they_show_the_same() -> None:
    for key, taus in published.TAU.items():
        assert published.BY_REGRESSOR[key][-1] == pytest.approx(taus[-1], abs=0.006)
        assert published.FIRST_BY_ASPECT[key][1] == pytest.approx(taus[-1], abs=0.006)


def test_every_table_of_the_page_has_its_place() -> None:
    page = (Path(__file__).parents[4] / "docs" / "research" / "results-diffuse-casf.md").read_text(
        encoding="utf-8"
    )
    found = {"sets": figures([*methods.METHODS, *phases.methods(), *regressors.REGRESSORS]), "runs": 3}
    made = [*methods.blocks(found), *phases.blocks(found), *regressors.blocks(found)]
    assert len(made) == 3
    for name in made:
        assert f"<!-- table: {name} -->" in page
