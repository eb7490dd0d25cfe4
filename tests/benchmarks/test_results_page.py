"""docs/research/results.md shows the figures that were computed, of methods that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sparingly
from benchmarks import results_page
from benchmarks.pages import block, marker
from benchmarks.papers.work import Setting
from benchmarks.papers.zouhar import diffuse
from benchmarks.papers.zouhar.spa import ROWS
from sparingly.base.registry import registered
from sparingly.data.synthetic import load_invented

PAGE = results_page.PAGE.read_text(encoding="utf-8")
TABLES = "\n".join(block(PAGE, name) for name in re.findall(r"<!-- table: ([\w-]+) -->", PAGE))
# The first cell of a row, and in tables of pairs the second.
METHOD = re.compile(r"^ *\|(?: `([^`|]+)`[^|]*\|)(?: `([^`|]+)` \|)?", re.MULTILINE)
# No public set has a column of it; the others need a pilot, or a model that was trained elsewhere.
EXTERNAL = {"comet_instant_confidence", "precomet", "sentinel_src"}
WITHOUT_A_ROW = {"distilled", "residual_size", "uncertainty"} | EXTERNAL


def named_methods() -> list[str]:
    return sorted({name for found in METHOD.findall(TABLES) for name in found if name})


def test_rows_are_found() -> None:
    assert {"random", "metric_cons", "diffuse:pairs=concat,weighted=true"} <= set(named_methods())


@pytest.mark.parametrize("text", named_methods())
def test_rows_name_methods_that_there_are(text: str) -> None:
    assert str(sparingly.parse_method(text)).split(":")[0] in registered()


def test_every_row_of_a_table_names_a_method() -> None:
    lines = [line.strip() for line in TABLES.splitlines() if line.strip().startswith("|")]
    inside = [line for line in lines if not line.startswith(("| ---", "| method", "| *"))]
    assert [line for line in inside if not METHOD.match(line)] == []


def test_every_utility_is_in_the_main_table() -> None:
    there = {row.method.split(":")[0] for row in ROWS}
    assert {name for name, kind in registered().items() if kind.kind == "utility"} - there == WITHOUT_A_ROW


@pytest.mark.parametrize("name", results_page.TABLES)
def test_page_shows_the_figures(name: str) -> None:
    computed = json.loads((results_page.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    for part, text in results_page.TABLES[name].blocks(computed).items():
        assert block(PAGE, part) == text


def test_figures_hold_no_data() -> None:
    for path in results_page.RESULTS.glob("*.json"):
        assert path.stat().st_size < 200_000
    assert {path.stem for path in results_page.RESULTS.glob("*.json")} >= set(results_page.TABLES)


def test_command_without_data_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert results_page.main(["spa", "--data", str(tmp_path / "nowhere")]) == 2
    assert "--data" in capsys.readouterr().err


def test_command_writes_figures_and_page(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load_invented()
    sparingly.save(demo.at(range(0, len(demo), 6)), tmp_path / "small.jsonl.gz")
    setting = Setting("small", "overall", "learned", "a small set", shares=(0.1, 0.25, 0.5))
    monkeypatch.setattr(diffuse, "UNSEEN", (setting, setting))
    monkeypatch.setattr(diffuse, "ROWS", diffuse.ROWS[:6])
    monkeypatch.setenv("SPARINGLY_CACHE", "off")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n{marker('diffuse')}\n<!-- end -->\n", encoding="utf-8")
    places = [
        "--data",
        tmp_path,
        "--results",
        tmp_path / "results",
        "--page",
        page,
        "--kept",
        tmp_path / "kept",
    ]
    assert results_page.main(["diffuse", *map(str, places)]) == 0
    computed = json.loads((tmp_path / "results" / "diffuse.json").read_text(encoding="utf-8"))
    assert computed["version"] == sparingly.__version__
    assert "`diffuse:pairs=distance`" in block(page.read_text(encoding="utf-8"), "diffuse")
