"""Every table is computed, and holds what was published beside what was computed."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks.papers.catalogue import paper_table
from benchmarks.papers.saldias import published
from benchmarks.papers.saldias.published import EN_DE, ZH_EN
from benchmarks.papers.saldias.simulated import Place, can_be_run, draws_of
from benchmarks.papers.saldias.tables import TABLE_6
from benchmarks.papers.work import FULL, QUICK, Effort, Work
from sparingly.show.figures.save import save_figure

# A row of every table, as published.
PUBLISHED = {
    "s1-table1": "| docs-opt | 0.213 | 0.145 | 32.6 | 1.25 |",
    "s1-table2": "| docs-incr-human | 0.231 | 0.143 | 26.7 | 1.35 |",
    "s1-table3": "| cv-multi | 0.160 | 0.118 | 73.3 | 0.94 |",
    "s1-table4": "| docs-prop+cv-knn | 0.147 | 0.110 | 88.5 | 0.86 |",
    "s1-table5": "| 30% | docs-prop+cv-knn | 96 | 0.20 | 0.31 |",
    "s1-table6": "| docs-prop+cv-knn | 0.188 | 0.140 | 78.1 | 0.93 |",
}


@pytest.mark.parametrize("name", PUBLISHED)
def test_a_table_is_computed_and_shown(name: str, tmp_path: Path) -> None:
    found = paper_table(name)
    assert found.name == name
    work = Work(tmp_path, tmp_path / "kept", Effort(seeds=1), is_demo=True)
    computed = found.figures(work)
    assert computed["draws"] == draws_of(work) == 10
    text = found.text(computed)
    assert PUBLISHED[name] in text
    assert text.startswith("10 draws of each share")
    row = next(line for line in text.splitlines() if line.startswith(PUBLISHED[name]))
    # Something stands in the last column of ours.
    assert row.split("|")[-2].strip() not in ("", "–")
    # What is kept is what was computed.
    assert found.figures(work) == computed


def test_the_baseline_is_its_own_measure() -> None:
    computed = paper_table("s1-table1").figures(Work(Path(), effort=Effort(seeds=1), is_demo=True))
    lines = {line["method"]: line for line in computed["sets"][0]["lines"]}
    assert set(lines) == set(published.TABLE_1)
    assert lines["baseline"]["ratio"] == 1.0
    assert lines["baseline"]["win"] is None
    assert all(line["error"] > 0 for line in lines.values())


def test_draws_follow_the_effort() -> None:
    assert draws_of(Work(Path(), effort=FULL)) == 100
    assert draws_of(Work(Path(), effort=QUICK)) == 20


@pytest.mark.shared_data
def test_a_set_without_documents_has_no_row_by_documents(shared_data: Path) -> None:
    work, place = Work(shared_data), Place(ZH_EN, "wmt21_zhen", "WMT21 zh–en", two=True)
    assert not can_be_run(work, place, "docs-prop+cv-knn")
    assert can_be_run(work, place, "cv-knn")
    one = {
        "direction": ZH_EN,
        "title": "X",
        "raters": 0,
        "systems": 8,
        "items": [650, 650],
        "shown": ["chrF"],
    }
    row = "| docs-prop+cv-knn | 0.283 | 0.212 | 97.9 | 0.79 | – | – | – | – | – |"
    assert row in TABLE_6.text({"draws": 10, "sets": [{**one, "lines": []}]})


def test_published_ratios() -> None:
    assert published.ratio(published.TABLE_4, "docs-prop+cv-knn", EN_DE) == pytest.approx(0.147 / 0.171)
    assert published.ratio(published.TABLE_1, "metrics-opt", EN_DE) is None


@pytest.mark.parametrize("number", range(2, 7))
def test_a_figure_is_computed_and_drawn(number: int, tmp_path: Path) -> None:
    found = paper_table(f"s1-fig{number}")
    assert found.title.startswith(f"Saldías et al. 2022, Figure {number}: ")
    computed = found.figures(Work(tmp_path, tmp_path / "kept", Effort(seeds=1), is_demo=True))
    text = found.text(computed)
    assert "Published" in text
    assert "| 50% |" in text or number == 6
    assert found.picture is not None
    save_figure(found.picture(computed), tmp_path / "curves.svg")
    assert (tmp_path / "curves.svg").read_text(encoding="utf-8").startswith("<svg")


def test_curves_are_those_of_the_tables(tmp_path: Path) -> None:
    work = Work(tmp_path, tmp_path / "kept", Effort(seeds=1), is_demo=True)
    curves = paper_table("s1-fig3").figures(work)["sets"][0]["curves"]
    lines = {line["method"]: line for line in paper_table("s1-table3").figures(work)["sets"][0]["lines"]}
    for name, curve in curves.items():
        assert np.mean(curve["error"]) == pytest.approx(lines[name]["error"], abs=1e-4)
        assert np.mean(curve["sd"]) == pytest.approx(lines[name]["sd"], abs=1e-4)
    # More judgements, smaller errors.
    assert curves["baseline"]["error"][-1] < curves["baseline"]["error"][0]
