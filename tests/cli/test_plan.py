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
from sparingly.data.synthetic import load_invented

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's data with and without labels, and a pilot."""
    place = tmp_path_factory.mktemp("plan")
    data = load_invented()
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
    typed = [line.removeprefix("Next: ") for line in out.splitlines() if line.startswith("Next: ")]
    assert len(typed) == 2
    for line in typed:
        code, out, err = command(line.removeprefix("sparingly "))
        assert (code, err) == (EXIT_DONE, "")
    assert "items are judged" in " ".join(out.split())


def test_without_labels_a_pilot_is_recommended(command: Command) -> None:
    code, out, err = command("plan bare.jsonl")
    assert (code, err) == (EXIT_DONE, "")
    assert "Judge a pilot of 40 random items" in out
    assert "Next: sparingly select bare.jsonl --method uniform --budget 40 --out chosen.json" in out
    assert "Next: sparingly serve bare.jsonl chosen.json" in out


def test_prices_of_a_judge(command: Command) -> None:
    line = "plan data.jsonl pilot.json -a overall --width 2.5"
    out = command(f"{line} --price judge=0.001 --price human=1")[1]
    assert out.startswith("For ± 2.5: ")
    assert "calls of judge" in out
    for prices, sentence in (
        ("--price judge=0.001", "Give two prices or more"),
        ("--price judge", "not of the form NAME=PRICE"),
        ("--price human=1 --price jugde=1", "Did you mean judge?"),
    ):
        code, _, err = command(f"{line} {prices}")
        assert code == EXIT_WRONG
        assert sentence in err
    assert "leave it out" in command("plan --win-rate 60% --price human=1")[2]


def test_errors_are_one_sentence(command: Command) -> None:
    code, out, err = command("plan data.jsonl pilot.json --width 2.5")
    assert (code, out) == (EXIT_WRONG, "")
    assert "There are 2 aspects" in err
    assert err.count("\n") == 1


def test_plans_without_data(command: Command) -> None:
    for question in ("--win-rate 60%", "--pass-rate 90% --width 4%", "--detect 0.3sd --models 4"):
        code, out, err = command(f"plan {question}")
        assert (code, err) == (EXIT_DONE, "")
        assert out.startswith(("Get ", "Judge "))
        ask = "campaign new c.db DATA --ask pairs" if "win" in question else "select DATA --method uniform"
        assert f"Next: sparingly {ask} --budget " in out
    answered = json.loads(command("plan --detect 0.3sd --json")[1])
    assert answered["n"] == sparingly.sample_size(detect="0.3sd").n


def test_a_pass_rate_speaks_of_the_data(command: Command) -> None:
    found = sparingly.sample_size(pass_rate=0.9, width=0.08, of=240)
    code, out, _ = command("plan data.jsonl --pass-rate 90% --width 8%")
    assert code == EXIT_DONE
    assert out.startswith(f"Judge {found.n} of the 240 outputs")
    assert f"Next: sparingly select data.jsonl --method uniform --budget {found.n}" in out


def test_a_plan_without_data_needs_a_question(command: Command) -> None:
    for line, words in (
        ("plan", "--win-rate 60%"),
        ("plan --width 3", "--pass-rate 90% --width 4%"),
        ("plan data.jsonl --models 3", "plans without data"),
        ("plan data.jsonl pilot.json -a overall --width 4%", "rates between 0 and 1"),
    ):
        code, out, err = command(line)
        assert (code, out, err.count("\n")) == (EXIT_WRONG, "", 1)
        assert words in err


def test_differences_in_standard_deviations(command: Command) -> None:
    code, out, _ = command("plan data.jsonl pilot.json -a overall --detect 1sd --json")
    assert code == EXIT_DONE
    assert 5 < json.loads(out)["wanted"]["detect"] < 50


def test_a_win_rate_ends_in_commands_that_ask_for_preferences_and_read_them(
    command: Command, folder: Path
) -> None:
    lines = [{"prompt": f"p{at}", "response_a": f"one {at}", "response_b": f"two {at}"} for at in range(80)]
    (folder / "duels.jsonl").write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    code, out, _ = command("plan duels.jsonl --win-rate 70%")
    assert code == EXIT_DONE
    ask, read = [line.removeprefix("Next: ") for line in out.splitlines() if line.startswith("Next: ")]
    assert command(ask.removeprefix("sparingly "))[0] == EXIT_DONE
    with sparingly.Campaign("c.db") as campaign:
        campaign.run(lambda question: -1.0 if question.item[-1] in "012" else 1.0)
    code, out, err = command(read.removeprefix("sparingly "))
    assert (code, err) == (EXIT_DONE, "")
    assert "% of decided comparisons" in out


def test_a_plan_in_a_campaign_goes_on_with_it(command: Command) -> None:
    assert command("campaign new rounds.db data.jsonl -a overall -b 40 --scale 0,100")[0] == EXIT_DONE
    data = load_invented()
    overall, row = data.aspects["overall"], {name: at for at, name in enumerate(data.items)}
    with sparingly.Campaign("rounds.db") as campaign:
        campaign.run(lambda asked: float(overall[row[asked.item], data.models.index(asked.model)]))
    code, out, _ = command("plan rounds.db")
    assert code == EXIT_DONE
    steps = [line for line in out.splitlines() if line.startswith("Next: ")]
    assert steps == ["Next: sparingly serve rounds.db"]


def test_a_plan_for_differences_ends_in_rank(command: Command) -> None:
    code, out, _ = command("plan data.jsonl pilot.json -a overall --detect 20")
    assert code == EXIT_DONE
    typed = [line.removeprefix("Next: ") for line in out.splitlines() if line.startswith("Next: ")]
    assert typed[-1] == "sparingly rank data.jsonl chosen-39.json --aspect overall"


@pytest.mark.parametrize("goal", ["--win-rate -5%", "--pass-rate -5% --width 4%", "--detect -1sd"])
def test_goals_below_zero_get_one_sentence(command: Command, goal: str) -> None:
    code, out, err = command(f"plan {goal}")
    assert (code, out, err.count("\n")) == (EXIT_WRONG, "", 1)
    assert "Give a number above zero, not -" in err
