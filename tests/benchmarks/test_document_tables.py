"""Tables of documents and snippets: counts, ratios, and pages that show what was computed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import sparingly
from benchmarks import document_tables
from benchmarks import document_tables as errors
from benchmarks import document_tables as pages
from benchmarks.document_tables import METHODS, SHARES
from benchmarks.method_studies import stability_over_sets
from benchmarks.pages import block
from benchmarks.papers.lo_knowles import BUDGETED, FIXED, HUMAN, RUNS
from benchmarks.papers.lo_knowles import DEMO_SET as DEMO
from sparingly.data.synthetic import load_invented
from sparingly.infer.rank.compare import stability


@pytest.fixture(scope="module")
def demo() -> sparingly.EvalSet:
    return load_invented()


def figures(**counts: list[int]) -> dict[str, Any]:
    """Figures of two sets in which every method has the same changes by run."""
    ranks = {
        file: {
            method.name: {
                f"{share:g}": {
                    truth: {"changes": changes, "changed": 0.5, "kendall": 0.9}
                    for truth in (HUMAN, "chrF", "BLEU")
                }
                for share in SHARES
            }
            for method in METHODS
        }
        for file, changes in counts.items()
    }
    bands = {file: {"full": [0.5, 0.5, 0, 0, 0, 0], "items": 20.0, "budget": 0.4} for file in counts}
    for held in bands.values():
        held |= {FIXED: [0.6, 0.4, 0, 0, 0, 0], BUDGETED: [0.5, 0.5, 0, 0, 0, 0]}
    return {"ranks": ranks, "bands": bands, "date": {"ranks": "2026-01-02"}, "draws": {"ranks": 26}}


def test_best_median_and_worst_are_over_runs_as_in_the_package() -> None:
    made = figures(wmt21_ende=[0, 2, 2, 0, 3], biomqm_enru=[0, 0, 2, 2, 2])
    told = pages.changed_sets(made, ["wmt21_ende", "biomqm_enru"], METHODS[0].name, 0.4, HUMAN)
    assert told == "0 / 1 / 2 of 2"
    full = np.arange(4.0)
    swapped = full[[1, 0, 2, 3]]
    sets = [
        stability(np.array([swapped if change else full for change in changes]), full)
        for changes in ([0, 2, 2, 0, 3], [0, 0, 2, 2, 2])
    ]
    over = stability_over_sets(sets)
    assert f"{over.best} / {over.median:g} / {over.worst} of {over.sets}" == told


def test_sets_that_a_method_cannot_draw_are_left_out_for_all_and_named() -> None:
    made = figures(wmt21_ende=[1] * RUNS, ted21_ende=[1] * RUNS)
    for method in METHODS:
        if FIXED in method.text:
            made["ranks"]["ted21_ende"][method.name] = dict.fromkeys(made["ranks"]["ted21_ende"][method.name])
    told = pages.changes_block(made, 0.4)
    assert "Without TED21 en–de: fixed snippets there cannot be of so many items." in told
    assert "| segments, one draw for all | 1 / 1 / 1 of 1 |" in told
    row = next(
        line
        for line in pages.kendall_block(made, HUMAN).splitlines()
        if line.startswith("| fixed snippets, one")
    )
    assert row == "| fixed snippets, one draw for all | 0.900 | 0.90 | – |"


def test_published_figures_stand_beside_ours() -> None:
    told = pages.published_block(figures(wmt21_ende=[0, 1, 1])).splitlines()
    assert (
        "| whole documents, a draw for each model | 82 % | 32 / 35 / 37 of 43 | 31 / 33 / 37 of 43 | 80 % | "
        "0 / 1 / 1 of 1 | 0 / 1 / 1 of 1 | 0 / 1 / 1 of 1 |"
    ) in told
    assert len(told) == 2 + len(pages.PUBLISHED)


def test_bands_show_what_there_is() -> None:
    told = pages.bands_block(figures(wmt21_ende=[0])).splitlines()
    assert told[2] == "| WMT21 en–de | full set | 50 % | 50 % | – | – | – | – |"
    assert told[3] == "|  | fixed, 20 items | 60 % | 40 % | – | – | – | – |"


def test_errors_are_ratios_with_their_standard_errors() -> None:
    share, error = errors.ratio({"error": 3.0, "spread": 0.3}, {"error": 2.0, "spread": 0.1})
    assert share == 1.5
    assert error == pytest.approx(np.hypot(0.15, 0.075))


def test_errors_of_documents_are_larger(demo: sparingly.EvalSet) -> None:
    found = {
        text: errors.error_figures(demo, DEMO, text, 60)["error"]
        for text in ("uniform", "documents", "snippets:wrap=true")
    }
    assert found["uniform"] < found["documents"]
    assert found["snippets:wrap=true"] < found["documents"]


def test_the_command_computes_keeps_and_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, demo: sparingly.EvalSet
) -> None:
    sparingly.save(demo.at(range(0, len(demo), 2)), tmp_path / "demo.jsonl.gz")
    monkeypatch.setattr(document_tables, "SETS", (DEMO,))
    monkeypatch.setattr(pages, "SETS", (DEMO,))
    monkeypatch.setattr(document_tables, "METHODS", METHODS[:3])
    monkeypatch.setattr(pages, "METHODS", METHODS[:3])
    monkeypatch.setattr(pages, "PUBLISHED", pages.PUBLISHED[:1])
    monkeypatch.setattr(pages, "COLUMNS", (HUMAN, "chrF"))
    page = tmp_path / "page.md"
    names = [*pages.blocks(figures(wmt21_ende=[0])), "documents-ranks-made"]
    page.write_text("\n".join(f"<!-- table: {name} -->\n<!-- end -->" for name in names), encoding="utf-8")
    folders = ["--data", str(tmp_path), "--keep", str(tmp_path / "kept")]
    files = ["--results", str(tmp_path / "found.json"), "--page", str(page)]
    asked = ["ranks", "--draws", "2", "--docs", *folders, *files]
    assert document_tables.main(asked) == 0
    first = json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))
    assert len(first["ranks"]["demo"][METHODS[0].name]["0.4"][HUMAN]["changes"]) == 2
    assert "| segments, one draw for all |" in block(page.read_text(encoding="utf-8"), "documents-changes")
    # What is kept is not computed again: the set is not even read.
    (tmp_path / "demo.jsonl.gz").unlink()
    assert document_tables.main(asked) == 0
    assert json.loads((tmp_path / "found.json").read_text(encoding="utf-8"))["ranks"] == first["ranks"]


@pytest.mark.parametrize("name", [*document_tables.PAGES])
def test_pages_show_the_figures_that_were_computed(name: str) -> None:
    held = json.loads(document_tables.RESULTS.read_text(encoding="utf-8"))
    page = document_tables.PAGES[name].read_text(encoding="utf-8")
    for marker, text in document_tables.blocks_of(name, held).items():
        assert block(page, marker) == text
