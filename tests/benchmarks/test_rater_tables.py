"""The tables of raters: they run, and the page holds them."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from benchmarks import rater_tables
from benchmarks.pages import block
from sparingly.data.synthetic import load_invented


def test_demo(capsys: pytest.CaptureFixture[str]) -> None:
    assert rater_tables.main(["--demo"]) == 0
    printed = capsys.readouterr().out
    assert "| demo | 5 | 475 | 0.84 |" in printed
    assert printed.count("| demo |") == 1 + 6 + 1


def test_tables_go_between_their_markers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    sparingly.save(load_invented(), tmp_path / "small.jsonl.gz")
    monkeypatch.setattr(rater_tables, "SETS", {"small": ("overall", "learned")})
    page = tmp_path / "page.md"
    page.write_text(rater_tables.PAGE.read_text(encoding="utf-8"), encoding="utf-8")
    assert rater_tables.main(["--data", str(tmp_path), "--page", str(page)]) == 0
    assert "| small | learned |" in block(page.read_text(encoding="utf-8"), "rater-slopes")


@pytest.mark.parametrize("name", ["rater-overview", "rater-predictions", "rater-slopes"])
def test_the_page_names_every_set_that_a_table_can_be_made_of(name: str) -> None:
    held = block(rater_tables.PAGE.read_text(encoding="utf-8"), name)
    # Nobody judged the same output as somebody else there.
    missing = {"ted21_ende"} if name == "rater-predictions" else set()
    assert {one for one in rater_tables.SETS if f"| {one} |" in held} == set(rater_tables.SETS) - missing


def test_the_page_shows_what_is_computed(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "biomqm_enru.jsonl.gz")
    report = sparingly.rater_report(data, "mqm", metric="chrF")
    page = rater_tables.PAGE.read_text(encoding="utf-8")
    for name, table in rater_tables.blocks({"biomqm_enru": report}).items():
        rows = [line for line in table.splitlines() if line.startswith("| biomqm_enru |")]
        assert rows
        assert all(row in block(page, name) for row in rows)
