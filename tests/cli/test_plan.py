"""``plan`` on the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's data with and without labels, and a pilot."""
    place = tmp_path_factory.mktemp("plan")
    data = sparingly.load_demo()
    sparingly.save(data, place / "data.jsonl")
    sparingly.save(data.without_labels(), place / "bare.jsonl")
    sparingly.select(data, "uniform", 60, seed=1).save(place / "pilot.json")
    return place


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "120")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_a_plan_as_json_equals_that_in_python(command: Command, folder: Path) -> None:
    options = "--width 2.5 -b 50 -b 30% -b 4h --cost fit --level 0.9 --seed 3 --json"
    code, out, err = command(f"plan data.jsonl pilot.json -a overall {options}")
    assert (code, err) == (EXIT_DONE, "")
    data, pilot = sparingly.load(folder / "data.jsonl"), sparingly.Selection.load(folder / "pilot.json")
    found = sparingly.plan(
        data, pilot, "overall", width=2.5, budgets=[50, "30%", "4h"], cost="fit", level=0.9, seed=3
    )
    assert json.loads(out) == json.loads(json.dumps(found.to_dict()))


def test_what_a_plan_says_to_type_works(command: Command) -> None:
    code, out, _ = command("plan data.jsonl pilot.json -a overall --width 2.5")
    assert code == EXIT_DONE
    typed = [line.strip() for line in out.splitlines() if line.startswith("  sparingly ")]
    assert len(typed) == 2
    for line in typed:
        code, out, err = command(line.removeprefix("sparingly "))
        assert (code, err) == (EXIT_DONE, "")
    assert "judged items by greg" in out


def test_without_labels_a_pilot_is_recommended(command: Command) -> None:
    code, out, err = command("plan bare.jsonl")
    assert (code, err) == (EXIT_DONE, "")
    assert "Judge a pilot of 40 items" in out
    assert "  sparingly select bare.jsonl --method uniform --budget 40 --out chosen.json" in out


def test_prices_of_a_judge(command: Command) -> None:
    told = "plan data.jsonl pilot.json -a overall --width 2.5 --judge judge"
    out = command(f"{told} --judge-price 0.001 --person-price 1")[1]
    assert "the judge pays for itself" in out
    code, _, err = command(f"{told} --judge-price 0.001")
    assert code == EXIT_WRONG
    assert "give two prices" in err


def test_errors_are_one_sentence(command: Command) -> None:
    code, out, err = command("plan data.jsonl pilot.json --width 2.5")
    assert (code, out) == (EXIT_WRONG, "")
    assert "There are 2 aspects" in err
    assert err.count("\n") == 1
