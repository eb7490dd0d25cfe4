"""What a command is about: data, data with a selection, a selection alone, or a campaign."""

from __future__ import annotations

import json
import shlex
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import sparingly
from sparingly.cli.app import run
from sparingly.data.selection import Selection
from sparingly.data.synthetic import load_invented

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in a folder with the demo's data, judged and not, and a selection of it."""
    monkeypatch.chdir(tmp_path)
    data = load_invented()
    sparingly.save(data, tmp_path / "data.jsonl")
    sparingly.save(data.without_labels(), tmp_path / "outputs.jsonl")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    assert in_process("select data.jsonl -b 30 -o chosen.json")[0] == 0
    return in_process


def answered(budget: int = 24) -> None:
    """Begin a campaign on the demo's data, and answer its first round from the demo's labels."""
    data = load_invented()
    labels = {
        (item, model): float(score)
        for item, row in zip(data.items, data.aspects["overall"], strict=True)
        for model, score in zip(data.models, row, strict=True)
    }
    outputs = sparingly.load("outputs.jsonl")
    with sparingly.Campaign.new("c.db", outputs, "uniform", budget, aspects="overall", seed=4) as running:
        running.run(lambda question: labels[question.item, question.model], rater="Ada")


@pytest.mark.parametrize("verb", ["estimate", "rank"])
def test_a_selection_alone_knows_its_data(command: Command, verb: str) -> None:
    both = command(f"{verb} data.jsonl chosen.json -a overall --json")
    assert both[0] == 0
    assert command(f"{verb} chosen.json -a overall --json") == both
    assert command(f"{verb} chosen.json data.jsonl -a overall --json") == both


def test_the_data_of_a_selection_are_found_from_another_folder(command: Command, tmp_path: Path) -> None:
    (tmp_path / "chosen").mkdir()
    assert command("select data.jsonl -b 30 -o chosen/first.json")[0] == 0
    assert Selection.load("chosen/first.json").data_files == ("../data.jsonl",)
    assert command("verify chosen/first.json")[0] == 0
    moved = json.loads(Path("chosen/first.json").read_text())
    del moved["data"]
    Path("chosen/first.json").write_text(json.dumps(moved))
    code, _, err = command("estimate chosen/first.json -a overall")
    assert (code, err) == (
        2,
        "sparingly: chosen/first.json does not say what it was chosen from: give the data, too.\n",
    )


def test_a_campaign_gives_what_its_judged_set_gives(command: Command) -> None:
    answered()
    code, out, _ = command("estimate c.db -e mean --json")
    assert code == 0
    scores = {row["model"]: row["score"] for row in json.loads(out)["models"]}
    assert command("campaign export c.db judged.jsonl")[0] == 0
    exported = json.loads(command("estimate judged.jsonl -e mean --json")[1])
    assert scores == pytest.approx({row["model"]: row["score"] for row in exported["models"]})
    ranking = json.loads(command("rank c.db -e mean --json")[1])
    assert {row["model"]: row["score"] for row in ranking["models"]} == pytest.approx(scores)
    assert command("rank c.db --expect")[0] == 0
    for line in (
        "info c.db",
        "plan c.db -b 60",
        "raters c.db",
        "report c.db -o r.md --no-figures",
        "verify c.db",
    ):
        code, out, err = command(line)
        assert (code, err) == (0, ""), line
    code, out, _ = command("assign c.db -r Bo,Chidi")
    assert code == 0
    assert out.startswith("2 raters")


def test_a_plan_before_the_first_answer(command: Command) -> None:
    assert command("campaign new c.db outputs.jsonl -b 24 -a overall")[0] == 0
    code, out, _ = command("plan c.db -b 60")
    assert code == 0
    assert "Planned from a metric" in out


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            "estimate c.db data.jsonl",
            "A campaign knows its data and selections: give nothing",
        ),
        ("select c.db -b 3", "A campaign knows its budget: leave out --budget: sparingly select c.db"),
        ("estimate c.db", "c.db: no labels yet. To collect some: sparingly serve c.db"),
        ("report c.db", "c.db: no labels yet. To collect some: sparingly serve c.db"),
        ("import a.json --into c.db", "Nothing was exported from c.db yet: sparingly export c.db --to"),
        ("rank c.db --test wilcoxon", "--test is for files: sparingly campaign export c.db data.jsonl"),
        (
            "estimate c.db -a fluency",
            "The campaign is about overall, which cannot be changed to fluency: leave",
        ),
        ("rank data.jsonl --at 3", "--data, --at and --name are for campaigns: leave them out"),
        (
            "agree data.jsonl -a overall",
            "Name a selection, too: sparingly select data.jsonl -b 10% -o chosen.json, then",
        ),
    ],
)
def test_what_does_not_fit_is_said_in_a_sentence(command: Command, line: str, sentence: str) -> None:
    assert command("campaign new c.db outputs.jsonl -b 24 -a overall")[0] == 0
    code, out, err = command(line)
    assert (code, out, err.count("\n")) == (2, "", 1)
    assert err.startswith(f"sparingly: {sentence}")


@pytest.mark.parametrize("verb", ["assign {} -r Ada", "export {} --to csv -o out"])
def test_what_is_handed_out(command: Command, verb: str) -> None:
    assert command("campaign new c.db outputs.jsonl -b 24 -a overall --size 8")[0] == 0
    for subject, note in (
        ("data.jsonl chosen.json", ""),
        ("outputs.jsonl", "nothing was chosen, so it is all 240 items. To choose fewer: sparingly select"),
        ("c.db", ""),
    ):
        shutil.rmtree("out", ignore_errors=True)
        code, _, err = command(verb.format(subject))
        assert (code, note in err, err == "") == (0, True, note == "")


def test_select_asks_for_the_next_round_of_a_campaign(command: Command) -> None:
    assert command("campaign new c.db outputs.jsonl -m uniform -b 24 -a overall --size 8")[0] == 0
    code, out, _ = command("select c.db -o first.json")
    assert (code, "round 1 drawn: 8 rows" in out) == (0, True)
    assert len(Selection.load("first.json")) == 8
    assert "round 1 waiting" in command("select c.db")[1]


def test_a_selection_is_what_is_chosen_from(command: Command) -> None:
    assert command("select data.jsonl chosen.json -m random -b 5 -o fewer.json")[0] == 0
    fewer = Selection.load("fewer.json")
    assert set(fewer.items) < set(Selection.load("chosen.json").items)
    assert fewer.data_files == ("data.jsonl",)
    assert command("verify fewer.json")[0] == command("verify data.jsonl fewer.json")[0] == 0


def test_labels_in_a_file_of_their_own(command: Command) -> None:
    data = load_invented()
    rows = ["item,model,rater,score"]
    rows += [
        f"{item},{json.dumps(model)},Ada,{score}"
        for item, row in zip(data.items[:40], data.aspects["overall"], strict=False)
        for model, score in zip(data.models, row, strict=True)
    ]
    Path("labels.csv").write_text("\n".join(rows))
    code, out, _ = command("estimate outputs.jsonl --labels labels.csv --json")
    assert code == 0
    assert json.loads(out)["n"] == 40


def test_comparisons_give_strengths_and_ranks(command: Command) -> None:
    rows = ["prompt,model_a,model_b,response_a,response_b,winner"]
    for place in range(40):
        winner = "model_a" if place % 4 else "model_b"
        rows.append(f"question {place},large,small,long answer {place},short answer {place},{winner}")
    Path("ab.csv").write_text("\n".join(rows))
    code, out, _ = command("estimate ab.csv --json")
    assert (code, json.loads(out)["tally"]["votes"]) == (0, 40)
    code, out, _ = command("rank ab.csv")
    assert code == 0
    assert out.startswith("large is better on inputs like these (p = .00")


def test_serve_makes_a_campaign_of_a_file_and_goes_on_with_it(command: Command, capsys: Any) -> None:
    from sparingly.cli.options import ReadOptions
    from sparingly.cli.serve import _new_campaign

    rows = ["prompt,gpt-4o,claude-3.5"]
    rows += [f"question {place},one answer to {place},another answer to {place}" for place in range(30)]
    Path("wide.csv").write_text("\n".join(rows))
    assert _new_campaign(("wide.csv",), "10", ReadOptions()) == "wide.db"
    with sparingly.Campaign("wide.db") as running:
        assert running.settings.aspects == {"overall": (0.0, 100.0)}
        assert running.status().sets[0].limit == 20
    assert _new_campaign(("wide.csv",), None, ReadOptions()) == "wide.db"
    assert "continuing wide.db" in capsys.readouterr().err


def test_serve_asks_what_a_selection_chose(command: Command) -> None:
    from sparingly.cli.options import ReadOptions
    from sparingly.cli.serve import _new_campaign

    assert command("select outputs.jsonl -m uniform -b 12 --seed 5 -o drawn.json")[0] == 0
    address = _new_campaign(("drawn.json",), None, ReadOptions())
    with sparingly.Campaign(address) as running:
        running.next()
        assert set(running.rounds()[0].items) == set(Selection.load("drawn.json").items)
    Path(address).unlink()
    edited = json.loads(Path("drawn.json").read_text())
    edited["rows"] = edited["rows"][:-1]
    Path("drawn.json").write_text(json.dumps(edited))
    code, _, err = command("serve drawn.json --port 0")
    assert (code, "was not made from this data" in err) == (2, True)
    assert not Path(address).exists()
