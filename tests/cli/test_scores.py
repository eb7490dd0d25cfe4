"""``estimate`` and ``rank`` on the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_NO, EXIT_WRONG
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented

Command = Callable[[str], tuple[int, str, str]]
ESTIMATE = "estimate data.jsonl drawn.json -a overall -e weighted_mean"
RANK = "rank data.jsonl drawn.json -a overall -e weighted_mean"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The demo's data, a random draw of it, and the top of a list."""
    place = tmp_path_factory.mktemp("scores")
    data = load_invented()
    sparingly.save(data, place / "data.jsonl")
    sparingly.select(data, "random", 120, seed=1).save(place / "drawn.json")
    sparingly.select(data, "metric_var:metric=learned", 48).save(place / "top.json")
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


def test_estimates_name_their_target_and_their_signature(command: Command) -> None:
    code, out, err = command(ESTIMATE)
    assert (code, err) == (EXIT_DONE, "")
    assert "on this set of 240 items; 120 of 240 items are judged." in " ".join(out.split())
    assert "signature: " not in out
    out = command(f"{ESTIMATE} -v")[1]
    assert "over this set of 240 items, from 120 judged items by weighted_mean" in " ".join(out.split())
    assert "signature: weighted_mean:" in out
    assert " on inputs like these; " in " ".join(command(f"{ESTIMATE} --target population")[1].split())


def test_estimates_as_json_equal_those_in_python(command: Command, folder: Path) -> None:
    held = json.loads(command(f"{ESTIMATE} --by domain --level 0.9 --json")[1])
    data = sparingly.load(folder / "data.jsonl")
    drawn = sparingly.Selection.load(folder / "drawn.json")
    found = sparingly.estimate(data, drawn, "overall", estimator="weighted_mean", by="domain", level=0.9)
    assert held == json.loads(json.dumps(found.to_dict()))
    assert set(held["groups"]) == {"literary", "news", "social", "speech"}


def test_the_top_of_a_list_gives_no_scores_of_the_set(command: Command) -> None:
    out = command("estimate data.jsonl top.json -a overall")[1]
    assert "ranking only: scores are of the selected items, not of the test set" in out
    held = json.loads(command("estimate data.jsonl top.json -a overall --json")[1])
    assert all(model["low"] is None for model in held["models"])


def test_intervals_from_the_scale_alone(command: Command) -> None:
    held = json.loads(command(f"{ESTIMATE} --interval hoeffding --scale 0,100 --json")[1])
    assert {model["interval"] for model in held["models"]} == {"hoeffding"}
    code, _, err = command(f"{ESTIMATE} --scale 0-")
    assert code == EXIT_WRONG
    assert err == 'sparingly: The scale "0-" is not two numbers: write 0,100.\n'


@pytest.mark.parametrize("format", ["markdown", "latex"])
def test_tables_for_papers(command: Command, format: str) -> None:
    for line in (ESTIMATE, RANK):
        code, out, err = command(f"{line} --format {format}")
        assert (code, err) == (EXIT_DONE, "")
        assert ("| `Rowan` |" if format == "markdown" else r"\texttt{Rowan}") in out


def test_a_ranking_in_text_and_json(command: Command) -> None:
    code, out, err = command(f"{RANK} -v")
    assert (code, err) == (EXIT_DONE, "")
    assert out.startswith("Rowan has the highest score, but ")
    assert "8 models compared on overall, 120 of 240 items judged" in out
    assert "judging everything" in out
    held = json.loads(command(f"{RANK} --groups-by algorithm1 --test wilcoxon --json")[1])
    assert held["groups_by"] == "algorithm1"
    assert held["test"] == "wilcoxon"
    assert held["claim"] is None


@pytest.mark.parametrize("verb", ["estimate", "rank"])
def test_wrong_names_are_one_sentence(command: Command, verb: str) -> None:
    code, out, err = command(f"{verb} data.jsonl drawn.json -a overal")
    assert (code, out) == (EXIT_WRONG, "")
    assert err.count("\n") == 1
    assert "overall" in err


@pytest.mark.parametrize("verb", ["estimate", "rank", "plan"])
def test_without_an_aspect_the_option_is_named(command: Command, tmp_path: Path, verb: str) -> None:
    way = f"sparingly {verb} data.jsonl drawn.json --aspect overall"
    said = f"sparingly: There are 2 aspects: overall, fluency. Name one: {way}\n"
    assert command(f"{verb} data.jsonl drawn.json") == (EXIT_WRONG, "", said)
    data = load_invented()
    sparingly.save(data.without_labels(), tmp_path / "none.jsonl")
    code, _, err = command(f"{verb} {tmp_path / 'none.jsonl'}")
    if verb == "plan":
        assert code == EXIT_DONE
    else:
        assert (code, "no human labels, so scores are those of judge" in err) == (EXIT_DONE, True)
    if verb != "plan":
        file = tmp_path / "none.jsonl"
        code, _, err = command(f"{verb} {file} drawn.json")
        lack = f"{file}: there are no human labels in it."
        assert err == f"sparingly: {lack} To ask people: sparingly serve {file} drawn.json\n"


# --- files that can be verified ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "said"),
    [
        (
            f"{ESTIMATE} --by domain --scale 0,100",
            "verified: the scores of 8 models follow from the signature",
        ),
        (f"{RANK} --alpha 0.1", "verified: the ranking of 8 models follows from the signature"),
        (
            "rank data.jsonl top.json -a overall",
            "verified: the ranking of 8 models follows from the signature",
        ),
    ],
)
def test_what_is_written_is_verified(command: Command, tmp_path: Path, line: str, said: str) -> None:
    file = tmp_path / "result.json"
    code, out, _ = command(f"{line} -v --out {file}")
    assert code == EXIT_DONE
    assert f"written to {file}" in out
    signature = next(text for text in out.splitlines() if text.startswith("signature: "))
    code, out, _ = command(f"verify {file} data.jsonl -v")
    assert (code, out) == (EXIT_DONE, f"{said}\n{signature}\n")


def test_what_is_printed_as_json_is_what_is_written(command: Command, tmp_path: Path) -> None:
    for line in (ESTIMATE, RANK):
        out = command(f"{line} --json --out {tmp_path / 'result.json'}")[1]
        assert json.loads(out) == json.loads((tmp_path / "result.json").read_text())


def test_an_edited_result_is_not_verified(command: Command, tmp_path: Path) -> None:
    file = tmp_path / "result.json"
    command(f"{ESTIMATE} -o {file}")
    values = json.loads(file.read_text())
    values["models"][0]["score"] += 0.5
    file.write_text(json.dumps(values))
    code, out, err = command(f"verify {file} data.jsonl")
    assert (code, err) == (EXIT_NO, "")
    said = "The scores of the estimate do not follow from its signature."
    assert out.startswith(f"NOT verified\n- {said}\n")
    code, out, _ = command(f"verify {file} data.jsonl --json")
    assert (code, json.loads(out)) == (
        EXIT_NO,
        {"ok": False, "partial": False, "problems": [said], "notes": []},
    )


@pytest.mark.parametrize(
    ("values", "said"),
    [
        ({"format": "sparingly/estimate", "version": 2}, "field version: version 2 is newer"),
        (
            {"format": "sparingly/ranking", "version": 1},
            "field models: a model is named twice, or there is none.",
        ),
        ({"format": "else"}, 'field format: this is a "else" file, none of sparingly/selection,'),
    ],
)
def test_a_broken_result_is_one_sentence(
    command: Command, tmp_path: Path, values: dict[str, object], said: str
) -> None:
    file = tmp_path / "result.json"
    file.write_text(json.dumps(values))
    code, out, err = command(f"verify {file} data.jsonl")
    assert (code, out, err.count("\n")) == (EXIT_WRONG, "", 1)
    assert err.startswith(f"sparingly: {file}, {said}")


def test_raters_can_be_counted_and_the_file_verified(command: Command) -> None:
    plain = json.loads(command(f"{ESTIMATE} --json")[1])
    code, out, err = command(f"{ESTIMATE} --rater-errors --out counted.json --json")
    assert (code, err) == (EXIT_DONE, "")
    wider = json.loads(out)
    assert "|raters:" in wider["signature"]["text"]
    assert command("verify counted.json data.jsonl")[0] == EXIT_DONE
    widths = [[row["standard_error"] for row in one["models"]] for one in (plain, wider)]
    assert all(more > less for less, more in zip(*widths, strict=True))


def test_the_scale_is_an_option_everywhere_and_is_verified(command: Command) -> None:
    line = "rank data.jsonl drawn.json -a overall --scale=-25,100 -v --out ranking.json"
    code, out, _ = command(line)
    assert code == EXIT_DONE
    assert "|scale:-25,100|" in out
    assert command("verify ranking.json data.jsonl")[0] == EXIT_DONE
    for verb, more in (("plan", ""), ("report", " --no-figures --no-curve --out r.md")):
        code, _, err = command(f"{verb} data.jsonl drawn.json -a overall --scale 0,1{more}")
        assert code == EXIT_WRONG
        assert "is not on the scale from 0 to 1" in err
        assert command(f"{verb} data.jsonl drawn.json -a overall --scale 5{more}")[0] == EXIT_WRONG
    assert "leave it out" in command("plan --win-rate 60% --scale 0,1")[2]


def test_pass_rates_are_in_percent_throughout(command: Command, tmp_path: Path) -> None:
    path = tmp_path / "passed.csv"
    often = {"a": 8, "b": 3}
    rows = [
        f"i{row},{name},{'pass' if row % step else 'fail'}"
        for row in range(40)
        for name, step in often.items()
    ]
    rows += [f"j{row},{name}," for row in range(40) for name in "ab"]
    path.write_text("item,model,aspect:ok\n" + "\n".join(rows) + "\n")
    for line in (f"estimate {path}", f"rank {path}", f"estimate {path} --format markdown"):
        out = command(line)[1]
        assert "87.5 %" in out
        assert "3.7 points" in out
        assert "0.87" not in out
    assert command(f"report {path} --no-figures --no-curve --out {tmp_path / 'r.md'}")[0] == EXIT_DONE
    written = (tmp_path / "r.md").read_text()
    assert "| a | 87.5 % ± 3.7 points |" in written
    assert "0.875" not in written
