"""A user's way through the command line, in processes of their own."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.base.registry import registered
from sparingly.cli.app import run as run_here
from tests.journeys.command import DONE, NO, environment, parsed, run

pytestmark = pytest.mark.journey

COMMANDS = (
    "info", "methods", "select", "verify", "writeup", "plan", "estimate", "rank", "agree", "figure",
    "convert", "report", "diff", "demo", "assign", "raters", "serve", "export", "import",
    "pool", "distil",
)  # fmt: skip
VAR = "metric_var:metric=learned"


# --- demo -------------------------------------------------------------------------------------------


def test_demo_answers_on_one_screen_and_leaves_files(demo_folder: Path) -> None:
    shown = (demo_folder / "shown.txt").read_text(encoding="utf-8")
    lines = shown.splitlines()
    assert len(lines) < 40
    assert max(map(len, lines)) <= 80
    assert lines[0].startswith("Which of six systems translates medical abstracts best")
    # Every name is whole, above the samples that were tried and what to do next.
    places = [shown.index(name) for name in (*sparingly.load_demo().models, "such samples", "Next")]
    assert max(places[:-2]) < places[-2] < places[-1]
    left = {path.name for path in (demo_folder / "d").iterdir()}
    assert left == {"data.jsonl", "sample.json", "ranking.json", "report.html"}
    page = (demo_folder / "d" / "report.html").read_text(encoding="utf-8")
    assert page.startswith("<!DOCTYPE html>")
    assert "<figure>" in page


def test_demo_again_gives_the_same_files(demo_folder: Path, tmp_path: Path) -> None:
    told = parsed(run("demo", "--out", "d", "--json", cwd=tmp_path).stdout)
    assert told["folder"] == "d"
    assert told["files"] == sorted(path.name for path in (tmp_path / "d").iterdir())
    for name in told["files"]:
        first, again = (folder / "d" / name for folder in (demo_folder, tmp_path))
        assert first.read_bytes() == again.read_bytes(), name


def test_next_step_of_the_demo_works(demo_folder: Path) -> None:
    shown = (demo_folder / "shown.txt").read_text(encoding="utf-8")
    assert "\n\nHow close is that to judging everything?" in shown
    step = next(line.split() for line in shown.splitlines() if line.startswith("  sparingly rank "))
    again = run(*step[1:], cwd=demo_folder).stdout
    saved = sparingly.Ranking.load(demo_folder / "d" / "ranking.json")
    assert saved.answer() in " ".join(again.split())


# --- info and methods -------------------------------------------------------------------------------


def test_info(folder: Path) -> None:
    shown = run("info", "data.jsonl", cwd=folder).stdout
    assert "outputs of 8 models for 240 items, with human labels" in shown
    told = parsed(run("info", "data.jsonl", "--json", cwd=folder).stdout)
    assert told["items"] == 240
    assert len(told["models"]) == 8


def test_info_of_a_selection(folder: Path) -> None:
    shown = run("info", "data.jsonl", "selection.json", cwd=folder).stdout
    assert "48 chosen items against the 240 of the set" in shown
    assert parsed(run("info", "data.jsonl", "selection.json", "--json", cwd=folder).stdout)["n"] == 48


def test_info_of_a_table_with_named_columns(tmp_path: Path) -> None:
    table = "segment,system,chrF,TER\n1,a,50,0.5\n1,b,60,0.4\n2,a,70,0.3\n2,b,65,0.2\n"
    (tmp_path / "scores.csv").write_text(table, encoding="utf-8")
    options = ("--role", "segment=item", "--role", "system=model", "--lower-is-better", "TER")
    assert parsed(run("info", "scores.csv", *options, "--json", cwd=tmp_path).stdout)["items"] == 2


def test_methods(tmp_path: Path) -> None:
    listed = parsed(run("methods", "--json", cwd=tmp_path).stdout)
    assert [method["name"] for method in listed] == list(registered())
    for method in listed:
        assert set(method) == {"name", "kind", "needs", "parameters", "summary", "reference"}
        assert method["summary"]
        assert method["reference"]
    shown = run("methods", cwd=tmp_path).stdout
    assert all(name in shown for name in registered())


# --- select, verify, writeup ------------------------------------------------------------------------


def test_select_writes_what_python_gives(folder: Path) -> None:
    shown = run(
        "select", "data.jsonl", "-m", VAR, "-b", "10%", "--seed", "4", "-o", "chosen.json", cwd=folder
    ).stdout
    assert "24 of 240 items chosen" in shown
    assert "written to chosen.json" in shown
    expected = sparingly.select(sparingly.load(folder / "data.jsonl"), VAR, "10%", seed=4)
    # Beside what Python gives, the file says which data it was chosen from.
    assert parsed((folder / "chosen.json").read_text(encoding="utf-8")) == {
        **expected.to_dict(),
        "data": ["data.jsonl"],
    }


def test_select_verifies_and_is_written_up(folder: Path) -> None:
    options = (
        "-m",
        VAR,
        "-b",
        "2h",
        "--cost",
        "length",
        "--balance",
        "domain",
        "-o",
        "chosen.json",
        "--json",
    )
    chosen = parsed(run("select", "data.jsonl", *options, cwd=folder).stdout)
    assert chosen == parsed((folder / "chosen.json").read_text(encoding="utf-8"))
    assert run("verify", "chosen.json", "data.jsonl", cwd=folder).stdout.startswith("verified: ")
    assert run("writeup", "chosen.json", cwd=folder).stdout.startswith(f"We chose {len(chosen['rows'])} of ")


def test_a_tampered_selection_is_not_verified(folder: Path) -> None:
    held = json.loads((folder / "selection.json").read_text(encoding="utf-8"))
    held["rows"][0], held["rows"][1] = held["rows"][1], held["rows"][0]
    (folder / "selection.json").write_text(json.dumps(held), encoding="utf-8")
    done = run("verify", "selection.json", "data.jsonl", cwd=folder, code=NO)
    assert done.stdout.startswith("NOT verified\n- ")
    assert done.stderr == ""
    told = parsed(run("verify", "selection.json", "data.jsonl", "--json", cwd=folder, code=NO).stdout)
    assert told == {
        "ok": False,
        "partial": False,
        "problems": ["The items are the right ones, but in another order."],
        "notes": [],
    }


def test_verify_says_yes_in_json(folder: Path) -> None:
    told = parsed(run("verify", "selection.json", "data.jsonl", "--json", cwd=folder).stdout)
    assert told == {"ok": True, "partial": False, "problems": [], "notes": []}


def test_writeup(folder: Path) -> None:
    markdown = run("writeup", "selection.json", cwd=folder).stdout
    assert "| signature | `top:utility=(metric_var:metric=learned)" in markdown
    latex = run("writeup", "selection.json", "--format", "latex", cwd=folder).stdout
    assert "\\begin{tabular}" in latex
    told = parsed(run("writeup", "selection.json", "--json", cwd=folder).stdout)
    assert set(told) == {"paragraph", "table", "items"}
    assert len(told["items"]) == 48


# --- agree and convert ------------------------------------------------------------------------------


def test_agree_with_curve_parity_and_draws(folder: Path) -> None:
    arguments = (
        "agree",
        "data.jsonl",
        "selection.json",
        "--aspect",
        "overall",
        "--runs",
        "3",
        "--flips",
        "200",
    )
    shown = run(*arguments, "--curve", "--parity", "--draws", "2", "-v", cwd=folder).stdout
    for part in (
        "The 48 chosen items find the same best model as all 240",
        "Kendall b",
        "parity: ",
        "2 runs of",
        "● metric_var",
    ):
        assert part in shown
    told = parsed(run(*arguments, "--curve", "--parity", "--draws", "2", "--json", cwd=folder).stdout)
    assert told["truth"] == "overall"
    assert len(told["curve"]["values"]) == len(told["curve"]["random"]["values"]) == 10
    assert told["parity"]["share"] > 0
    assert told["draws"]["budget"] == "48"
    one = parsed(run(*arguments[:-4], "--runs", "1", "--curve", "--json", cwd=folder).stdout)
    assert one["curve"]["random"]["low"] == [None] * 10


def test_agree_by_a_metric_and_a_combination(folder: Path) -> None:
    for truth in ("judge", "mean:of=[overall,fluency]"):
        told = parsed(run("agree", "data.jsonl", "selection.json", "-a", truth, "--json", cwd=folder).stdout)
        assert told["truth"] == truth
        assert told["curve"] is told["parity"] is told["draws"] is None


def test_convert_there_and_back(folder: Path) -> None:
    shown = run("convert", "data.jsonl", "data.parquet", cwd=folder).stdout
    assert "240 items x 8 models written to data.parquet" in shown
    assert "everything was carried over" in shown
    run("convert", "data.parquet", "again.jsonl.gz", cwd=folder)
    first, again = (sparingly.load(folder / name) for name in ("data.jsonl", "again.jsonl.gz"))
    assert again.digest() == first.digest()
    assert run("verify", "selection.json", "data.parquet", cwd=folder).stdout.startswith("verified")


def test_convert_lists_what_is_lost(folder: Path) -> None:
    shown = run("convert", "data.jsonl", "peer.jsonl", "--to", "subset2evaluate", cwd=folder).stdout
    assert "not carried by this format: " in shown
    told = parsed(
        run("convert", "data.jsonl", "peer.jsonl", "--to", "subset2evaluate", "--json", cwd=folder).stdout
    )
    assert "ratings" in told["not_carried"]
    assert told["written"] == "peer.jsonl"


# --- help and the rest ------------------------------------------------------------------------------


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_an_example(command: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run_here([command, "--help"]) == DONE
    shown = capsys.readouterr().out
    assert shown.startswith(f"Usage: sparingly {command}")
    examples = [
        line.strip() for line in shown.splitlines() if line.strip().startswith(f"sparingly {command}")
    ]
    assert examples
    assert "Exit codes: 0 done" in shown


def test_help_lists_every_command(tmp_path: Path) -> None:
    shown = run("--help", cwd=tmp_path).stdout
    assert all(f"│ {command} " in shown for command in COMMANDS)
    assert run(cwd=tmp_path).stdout == shown, "without arguments the help is shown"


def test_version_and_citation(tmp_path: Path) -> None:
    assert run("--version", cwd=tmp_path).stdout.strip() == sparingly.__version__
    cited = run("--cite", cwd=tmp_path).stdout
    assert cited.startswith("@software{sparingly,")
    assert f"version = {{{sparingly.__version__}}}" in cited
    assert cited.count("{") == cited.count("}")


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_shell_completion_is_made(shell: str, tmp_path: Path) -> None:
    target = tmp_path / "completion"
    run(
        "--install-completion",
        "--shell",
        shell,
        "--output",
        str(target),
        cwd=tmp_path,
        env=environment(HOME=str(tmp_path)),
    )
    script = target.read_text(encoding="utf-8")
    assert all(command in script for command in COMMANDS)
    if shell == "bash":
        subprocess.run(["bash", "-n", str(target)], check=True, timeout=30)


def test_letters_that_the_terminal_lacks_are_spelled(folder: Path) -> None:
    plain = environment(PYTHONIOENCODING="ascii", PYTHONUTF8="0", LC_ALL="C")
    shown = run(
        "agree",
        "data.jsonl",
        "selection.json",
        "-a",
        "overall",
        "--curve",
        "--runs",
        "2",
        cwd=folder,
        env=plain,
    )
    assert "\\u25cf metric_var" in shown.stdout
    assert shown.returncode == DONE


def test_json_is_utf_8_and_names_are_kept(tmp_path: Path) -> None:
    names = ["größe", "日本語", 'quo"te', "[bold]x[/bold]"]
    data = sparingly.EvalSet.from_arrays(names, ["ä & b", "y"], metrics={"m": [[1.0, 2.0]] * 4})
    sparingly.save(data, tmp_path / "data.jsonl")
    told: dict[str, Any] = parsed(
        run("select", "data.jsonl", "-m", "random", "-b", "4", "--json", cwd=tmp_path).stdout
    )
    assert {row["item"] for row in told["rows"]} == set(names)
    shown = run("select", "data.jsonl", "-m", "random", "-b", "4", cwd=tmp_path).stdout
    assert all(name in shown for name in names)
