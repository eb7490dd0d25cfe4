"""``sparingly info``: it fits a screen, and the command that it names works as printed."""

from __future__ import annotations

import csv
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from sparingly.cli.app import run

_ROWS = range(40)


def table(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.DictWriter(file, rows[0])
        writer.writeheader()
        writer.writerows(rows)


def long(**cells: Any) -> list[dict[str, Any]]:
    return [
        {
            "prompt": f"What is {place} plus one?",
            "model": model,
            "response": f"{model} says it is {place + 1}.",
        }
        | {name: values(place, model) for name, values in cells.items()}
        for place in _ROWS
        for model in ("small", "large")
    ]


def one(**cells: Any) -> list[dict[str, Any]]:
    return [
        {"prompt": f"What is {place} plus one?", "response": f"I think that it is {place + 1}."}
        | {name: values(place) for name, values in cells.items()}
        for place in _ROWS
    ]


FILES: dict[str, tuple[list[dict[str, Any]], str]] = {
    "labels in doubt": (
        long(rating=lambda place, model: (place + (model == "large")) % 5 + 1),
        "rank data.csv --role rating=human",
    ),
    "two labels": (
        long(
            human_fluency=lambda place, model: (place + (model == "large")) % 5 + 1,
            human_accuracy=lambda place, model: (3 * place + (model == "large")) % 5 + 1,
        ),
        "rank data.csv --aspect human_",
    ),
    "a judge": (
        one(
            judge_pass=lambda place: place % 3 > 0,
            human_pass=lambda place: place % 4 > 0 if place < 30 else "",
        ),
        "judge data.csv",
    ),
    "metrics alone": (
        long(judge_score=lambda place, model: (place + (model == "large")) % 5 + 1),
        "plan data.csv",
    ),
    "votes": (
        [
            {"prompt": f"question {place}", "output_a": f"yes, {place}", "output_b": f"no, {place}"}
            | {"winner": "a" if place % 3 else "b"}
            for place in _ROWS
        ],
        "compare data.csv",
    ),
    "nothing but outputs": (one(), "serve data.csv"),
}


@pytest.mark.parametrize("name", FILES)
def test_it_fits_a_screen_and_names_a_command_that_works(
    name: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "80")
    rows, expected = FILES[name]
    table(Path("data.csv"), rows)
    assert run(["info", "data.csv"]) == 0
    shown = capsys.readouterr().out
    assert len(shown.splitlines()) <= 24
    (command,) = re.findall("Next: sparingly (.*)", shown)
    assert command.startswith(expected)
    if not command.startswith("serve"):
        assert run(shlex.split(command)) == 0, capsys.readouterr().err
    assert run(["info", "data.csv", "-v"]) == 0
    assert len(capsys.readouterr().out.splitlines()) > len(shown.splitlines())


def test_several_judges_are_named_in_the_next_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = one(
        judge_pass=lambda place: place % 3 > 0,
        style_judge_pass=lambda place: place % 5 > 0,
        human_pass=lambda place: place % 4 > 0 if place < 30 else "",
    )
    table(Path("data.csv"), rows)
    assert run(["judge", "data.csv"]) == 0
    (command,) = re.findall("Next: sparingly (select .*)", capsys.readouterr().out)
    assert "--method verdicts:metric=" in command
    assert "--budget 10 " in command
    assert run(shlex.split(command)) == 0, capsys.readouterr().err


def test_the_number_of_a_ticket_is_no_input_beside_a_text(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    rows = [
        {
            "ticket": f"T-{place}",
            "customer_message": f"Where is order {place}?",
            "bot_reply": f"It is at {place}.",
        }
        for place in _ROWS
    ]
    table(Path("data.csv"), rows)
    assert run(["info", "data.csv"]) == 0
    assert capsys.readouterr().out.split("\n\n")[1].splitlines() == [
        " ticket            item",
        " customer_message  input",
        " bot_reply         output",
        " all rows          model data (named after the file)",
    ]


def test_votes_are_planned_by_a_win_rate(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    table(Path("data.csv"), FILES["votes"][0])
    assert run(["plan", "data.csv"]) == 2
    (command,) = re.findall("sparingly (plan --win-rate 60%)", capsys.readouterr().err)
    assert run(shlex.split(command)) == 0
