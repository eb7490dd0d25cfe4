"""Crowds on the command line: select, verify, agree and writeup of one selection."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_NO, EXIT_WRONG
from sparingly.cli.app import run
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented

Command = Callable[..., tuple[int, str, str]]
SELECT = "select data.jsonl -m metric_var:metric=learned -b 20%"
CROWD = "--crowd Birch --crowd 'Elm + rerank (beam = 4)' --crowd Rowan"


@pytest.fixture(scope="module")
def demo() -> EvalSet:
    return load_invented()


@pytest.fixture
def command(
    demo: EvalSet, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> Command:
    """Run a command line in a folder with the demo's data."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "100")
    sparingly.save(demo, tmp_path / "data.jsonl")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_a_crowd_from_selection_to_writeup(command: Command, demo: EvalSet) -> None:
    code, out, err = command(f"{SELECT} {CROWD} -o chosen.json")
    assert (code, err) == (EXIT_DONE, "")
    assert "Computed on: Birch, Elm + rerank (beam = 4), Rowan.\n" in out
    assert "To judge: Alder 70B, Alder 7B, Cedar-MT, Hazel-instruct, Juniper.\n" in out
    chosen = Selection.load("chosen.json")
    crowd = ["Birch", "Elm + rerank (beam = 4)", "Rowan"]
    drawn = sparingly.select(demo, "metric_var:metric=learned", "20%", crowd=crowd)
    assert chosen.to_dict() == {**drawn.to_dict(), "data": ["data.jsonl"]}
    assert command("verify chosen.json data.jsonl")[0] == EXIT_DONE
    code, out, _ = command("agree data.jsonl chosen.json -a overall")
    assert code == EXIT_DONE
    assert "note: Only the 5 of 8 models that the selection judges are compared: Alder 70B, " in out
    assert "Rowan" not in out
    assert "an artificial crowd of 3 models, `Birch`, " in command("writeup chosen.json")[1]


def test_curve_parity_and_draws_are_of_the_crowd(command: Command, demo: EvalSet) -> None:
    command(f"{SELECT} {CROWD} -o chosen.json")
    code, out, _ = command(
        "agree data.jsonl chosen.json -a overall --curve --parity --draws 3 --runs 2 --json"
    )
    assert code == EXIT_DONE
    held = json.loads(out)
    crowd = ["Birch", "Elm + rerank (beam = 4)", "Rowan"]
    method = "metric_var:metric=learned"
    drawn = sparingly.curve(demo, method, "overall", crowd=crowd, runs=2).to_dict()
    assert held["curve"] == json.loads(json.dumps(drawn))
    assert held["parity"]["share"] == sparingly.parity(demo, method, "overall", crowd=crowd, runs=2).share
    often = sparingly.draws(demo, method, 48, "overall", crowd=crowd, runs=3).to_dict()
    assert held["draws"] == json.loads(json.dumps(often))


def test_replays_of_a_crowd_that_is_judged_are_on_all_models(command: Command, demo: EvalSet) -> None:
    command(f"{SELECT} {CROWD} --crowd-too -o chosen.json")
    code, out, _ = command("agree data.jsonl chosen.json -a overall --curve --runs 2 --json")
    assert code == EXIT_DONE
    held = json.loads(out)
    assert len(held["models"]) == 8
    crowd = ["Birch", "Elm + rerank (beam = 4)", "Rowan"]
    drawn = sparingly.curve(
        demo, "metric_var:metric=learned", "overall", crowd=crowd, judge="all", runs=2
    ).to_dict()
    assert held["curve"] == json.loads(json.dumps(drawn))


def test_a_model_on_both_sides_is_warned_of(command: Command) -> None:
    _, out, _ = command("select data.jsonl -m metric_avg:metric=learned -b 5 --crowd Rowan --crowd-too")
    assert "note: metric_avg was computed on models that are judged too: Rowan; each is at a dis" in out
    _, out, _ = command("select data.jsonl -m metric_avg:metric=learned -b 5 --crowd Rowan")
    assert "disadvantage" not in out


def test_a_changed_list_of_models_does_not_pass(command: Command) -> None:
    command(f"{SELECT} {CROWD} -o chosen.json")
    path = Path("chosen.json")
    held = json.loads(path.read_text(encoding="utf-8"))
    for row in held["rows"]:
        row["models"].remove("Cedar-MT")
    path.write_text(json.dumps(held), encoding="utf-8")
    code, out, _ = command("verify chosen.json data.jsonl")
    assert code == EXIT_NO
    assert "The models to judge are not those of the signature." in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (f"{SELECT} --crowd Brich", 'There is no model "Brich". Did you mean Birch'),
        (
            f"{SELECT} --crowd Birch",
            "With the crowd of Birch alone, metric_var:metric=learned is the same for every item",
        ),
        (f"{SELECT} --crowd Birch,Rowan", 'There is no model "Birch,Rowan".'),
    ],
)
def test_an_error_is_one_line(command: Command, line: str, sentence: str) -> None:
    code, out, err = command(line)
    assert (code, out) == (EXIT_WRONG, "")
    assert err.count("\n") == 1
    assert sentence in err
