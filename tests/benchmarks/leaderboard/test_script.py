"""The leaderboard's page: made on the demo set, and put between its markers."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.leaderboard import __main__ as leaderboard
from benchmarks.pages import END, block, marker


def test_the_demo_is_printed(capsys: pytest.CaptureFixture[str]) -> None:
    assert leaderboard.main(["--demo"]) == 0
    printed = capsys.readouterr().out
    assert printed.startswith("| entry | sets |")
    assert "| `random\\|greg` | 1 |" in printed
    assert "3 entries on 1 set." in printed


def test_files_go_into_the_docs(tmp_path: Path) -> None:
    made, docs = tmp_path / "made", tmp_path / "docs"
    made.mkdir()
    docs.mkdir()
    files = [made / f"leaderboard.{kind}" for kind in ("html", "md", "csv")]
    for file in files:
        file.write_text(f"{file.suffix}\n", encoding="utf-8")
    page = docs / "leaderboard.md"
    page.write_text(f"# One\n\n{marker('leaderboard')}\n\nold\n\n{END}\n\nafter\n", encoding="utf-8")
    leaderboard.into_docs(files, docs)
    assert page.read_text(encoding="utf-8").endswith(f".md\n\n{END}\n\nafter\n")
    assert (docs / "leaderboard.html").read_text(encoding="utf-8") == ".html\n"


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leaderboard.main(["--data", str(tmp_path / "none")]) == 2
    assert "--data" in capsys.readouterr().err


def test_the_page_has_its_block_and_says_where_it_comes_from() -> None:
    page = (leaderboard.ROOT / "docs" / "research" / "leaderboard.md").read_text(encoding="utf-8")
    found = block(page, "leaderboard")
    assert found.startswith("| entry | sets |")
    assert "Made on " in found
    assert "```toml" in found
