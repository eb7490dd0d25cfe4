"""docs/results.md shows the figures that were computed, of methods that there are."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

import sparingly
import tables
from _tables_markdown import block, marker
from _tables_spa import ROWS
from sparingly.base.registry import registered

PAGE = tables.PAGE.read_text(encoding="utf-8")
TABLES = "\n".join(block(PAGE, name) for name in re.findall(r"<!-- table: ([\w-]+) -->", PAGE))
# The first cell of a row, and in tables of pairs the second.
METHOD = re.compile(r"^ *\|(?: `([^`|]+)`[^|]*\|)(?: `([^`|]+)` \|)?", re.MULTILINE)
# No public set has a column of it; the other needs a pilot.
WITHOUT_A_ROW = {"residual_size", "uncertainty"}


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


@pytest.mark.parametrize("name", tables.TABLES)
def test_page_shows_the_figures(name: str) -> None:
    computed = json.loads((tables.RESULTS / f"{name}.json").read_text(encoding="utf-8"))
    for part, text in tables.TABLES[name].blocks(computed).items():
        assert block(PAGE, part) == text


def test_figures_hold_no_data() -> None:
    for path in tables.RESULTS.glob("*.json"):
        assert path.stat().st_size < 200_000
    assert {path.stem for path in tables.RESULTS.glob("*.json")} >= set(tables.TABLES)


def test_command_without_data_says_so(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert tables.main(["spa", "--data", str(tmp_path / "nowhere")]) == 2
    assert "--data" in capsys.readouterr().err


def test_command_writes_figures_and_page(
    folder: Path, setting: object, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import _tables_diffuse

    monkeypatch.setattr(_tables_diffuse, "UNSEEN", (setting, setting))
    monkeypatch.setattr(_tables_diffuse, "ROWS", _tables_diffuse.ROWS[:6])
    monkeypatch.setenv("SPARINGLY_CACHE", "off")
    page = tmp_path / "page.md"
    page.write_text(f"# Page\n{marker('diffuse')}\n<!-- end -->\n", encoding="utf-8")
    places = [
        "--data",
        folder,
        "--results",
        tmp_path / "results",
        "--page",
        page,
        "--kept",
        tmp_path / "kept",
    ]
    assert tables.main(["diffuse", *map(str, places)]) == 0
    computed = json.loads((tmp_path / "results" / "diffuse.json").read_text(encoding="utf-8"))
    assert computed["version"] == sparingly.__version__
    assert "`diffuse:pairs=distance`" in block(page.read_text(encoding="utf-8"), "diffuse")
