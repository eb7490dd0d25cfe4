"""The leaderboard's page: made on the demo set, and put between its markers."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import sparingly
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


GRID = """
[runs]
random = 4
stochastic = 2
resamples = 2
[[entry]]
method = "random"
[[entry]]
method = "random|greg"
kind = "stochastic"
"""


def judged_sets(folder: Path) -> Path:
    data = folder / "data"
    data.mkdir()
    for name, items in (("short", 60), ("long", 160)):
        made = sparingly.make_evalset(items, 5, seed=items, aspects=["overall"])
        sparingly.save(made, data / f"{name}.jsonl")
    return data


def command(*more: object) -> int:
    return leaderboard.main([str(part) for part in more])


def test_parts_made_in_several_calls_and_folders_are_one_leaderboard(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    data, grid = judged_sets(tmp_path), tmp_path / "grid.toml"
    grid.write_text(GRID, encoding="utf-8")
    shared = ("--data", data, "--grid", grid, "--commit", "abc123", "--out")
    assert command(*shared, tmp_path / "none", "--minutes", 0) == 3
    assert "tasks are left" in capsys.readouterr().out
    for name in ("short", "long"):
        assert command(*shared, tmp_path / name, "--only", name) == 0
        assert not (tmp_path / name / "leaderboard.md").exists()
    tables = [tmp_path / name / "table.parquet" for name in ("short", "long")]
    capsys.readouterr()
    assert command(*shared, tmp_path / "joined", "--add", *tables) == 0
    assert not capsys.readouterr().err, "nothing was left to compute"
    page = (tmp_path / "joined" / "leaderboard.md").read_text(encoding="utf-8")
    assert "commit abc123: 2 entries on 2 sets." in page
    assert command(*shared, tmp_path / "at once", "--jobs", 1) == 0
    seconds = re.compile(r"\| 0\.\d\d \|")
    at_once = (tmp_path / "at once" / "leaderboard.md").read_text(encoding="utf-8")
    assert seconds.sub("", at_once) == seconds.sub("", page)


def test_pages_of_the_docs_say_that_their_sets_were_used_for_tuning(tmp_path: Path) -> None:
    data, grid, docs = judged_sets(tmp_path), tmp_path / "grid.toml", tmp_path / "docs"
    grid.write_text(GRID, encoding="utf-8")
    docs.mkdir()
    page = docs / "leaderboard.md"
    page.write_text(f"# One\n\n{marker('leaderboard')}\n\n{END}\n", encoding="utf-8")
    saved = tmp_path / "saved"
    assert command("--data", data, "--grid", grid, "--saved", saved, "--docs", docs) == 0
    for file in (page, docs / "leaderboard.html"):
        assert "was developed on these sets" in file.read_text(encoding="utf-8")


def test_sets_that_take_longest_come_first(tmp_path: Path) -> None:
    data = judged_sets(tmp_path)
    assert leaderboard.largest_first(data, None) == ("long", "short")
    assert leaderboard.largest_first(data, "short") == ("short",)


def test_without_git_no_commit_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")
    assert leaderboard.commit() is None


def test_a_folder_that_is_not_there_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert leaderboard.main(["--data", str(tmp_path / "none")]) == 2
    assert "--data" in capsys.readouterr().err


def test_the_page_has_its_block_and_says_where_it_comes_from() -> None:
    page = (leaderboard.ROOT / "docs" / "research" / "leaderboard.md").read_text(encoding="utf-8")
    found = block(page, "leaderboard")
    assert found.startswith("| entry | sets |")
    assert "Made on " in found
    assert "```toml" in found
