from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE, EXIT_NO, EXIT_WRONG
from sparingly.base.stats.discordant import discordant_p
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented

Command = Callable[[str], tuple[int, str, str]]


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command line in a folder with the demo's data, two of its models apart, and an A/B file."""
    monkeypatch.chdir(tmp_path)

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    data = load_invented()
    sparingly.save(data, "data.jsonl")
    sparingly.save(data.take(models=["Birch"]), "old.jsonl")
    sparingly.save(data.take(models=["Alder 7B"]), "new.jsonl")
    rows = [
        {"prompt": f"question {place}", "response_a": f"one {place % 7}", "response_b": f"other {place % 7}"}
        for place in range(30)
    ]
    rows += [{"prompt": f"same {place}", "response_a": "yes", "response_b": "yes"} for place in range(10)]
    Path("ab.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    return in_process


def test_a_gate_leaves_with_0_for_yes_and_with_1_for_no_or_not_yet(command: Command) -> None:
    base = "compare data.jsonl Juniper Birch -a overall"
    code, out, _ = command(f"{base} --margin 2 --gate")
    assert code == EXIT_DONE
    assert "Is Juniper at most 2 worse than Birch? Yes: at most 1.32 worse" in out
    code, out, _ = command("compare data.jsonl Birch Juniper -a overall --margin 2 --gate")
    assert code == EXIT_NO
    assert "Not yet" in out
    assert command("compare data.jsonl Birch Juniper -a overall --margin 2")[0] == EXIT_DONE
    assert command("compare data.jsonl Cedar-MT Rowan -a overall --margin 2 --gate")[0] == EXIT_NO
    for line, sentence in (
        (f"{base} --gate", "A gate needs a margin"),
        (f"{base} --gate --margin 2%", "Scores of overall are not rates"),
        ("compare data.jsonl Juniper Brch -a overall", "Did you mean Birch?"),
        ("compare data.jsonl Birch Birch -a overall", "of two models, not of Birch and itself"),
        ("compare data.jsonl A B C -a overall", "of two models, and 3 are named"),
    ):
        code, out, err = command(line)
        assert (code, out) == (EXIT_WRONG, "")
        assert sentence in err
        assert err.count("\n") == 1


def test_two_files_are_compared_in_their_order(command: Command) -> None:
    code, out, err = command("compare new.jsonl old.jsonl -a overall --margin 5 --gate")
    assert (code, err) == (EXIT_NO, "")
    assert out.startswith("Birch scores 3.7 more than Alder 7B")
    assert "Is Alder 7B at most 5 worse than Birch?" in out


def test_pairs_from_a_file_to_the_sentence(command: Command) -> None:
    code, out, _ = command("campaign new ab.db ab.jsonl --ask pairs -b 20 --size 15")
    assert code == EXIT_DONE
    assert "0 of 20" in out
    assert "comparisons" in out
    assert "On 10 of 40 items both wrote the same" in " ".join(out.split())
    assert "15 rows" in command("campaign next ab.db")[1]
    for _ in range(2):
        with sparingly.Campaign("ab.db") as running:
            running.next()
            for question in running.questions():
                assert question.output != question.other_output
                score = {"1": 0.0, "2": -1.0}.get(question.item[-1], 1.0)
                answer = {"rater": "ann", "item": question.item, "score": score}
                running.record([{**answer, "first": question.model, "second": question.other}])
    code, out, _ = command("compare ab.db --json")
    found = json.loads(out)
    assert found["tally"]["votes"] == 20
    assert found["tally"]["same_texts"] == 10
    printed = command("compare ab.db")[1]
    assert " ".join(printed.split()).startswith(found["sentence"])
    # Of two models, scores and strengths are who won.
    assert command("estimate ab.db")[1] == printed
    assert "a won" in command("compare ab.db a b --margin 5% --gate")[1]


def test_the_report_on_two_versions_says_how_often_each_won(command: Command) -> None:
    command("campaign new ab.db ab.jsonl --ask pairs -b 20")
    with sparingly.Campaign("ab.db") as running:
        running.run(lambda question: -1.0 if question.item[-1] in "0123456" else 1.0)
    sentence = json.loads(command("compare ab.db --json")[1])["sentence"]
    code, out, _ = command("report ab.db")
    assert code == EXIT_DONE
    shown = " ".join(out.split())
    assert sentence.split(";")[0] in shown
    assert "Next: nothing is left to judge in this campaign; " in shown


def test_what_cannot_be_asked_in_pairs(command: Command) -> None:
    for line, sentence in (
        ("campaign new c.db old.jsonl --ask pairs -b 20 -a overall", "there is only Birch"),
        ("campaign new c.db data.jsonl --ask pairs -b 20 -m waves -a overall", "waves asks for scores"),
    ):
        code, _, err = command(line)
        assert code == EXIT_WRONG
        assert sentence in err


@pytest.mark.parametrize(("wins", "losses"), [(44, 24), (14, 0), (5, 5)])
def test_two_versions_have_one_decision_everywhere(command: Command, wins: int, losses: int) -> None:
    """``compare``, ``rank`` and ``report`` answer with the same sign test, also where one side won all."""
    rows = [
        {"prompt": f"question {at}", "response_a": f"yes {at}", "response_b": f"no {at}", "winner": side}
        for at, side in enumerate(["model_b"] * wins + ["model_a"] * losses + ["tie"] * 3)
    ]
    Path("votes.jsonl").write_text("".join(f"{json.dumps(row)}\n" for row in rows))
    compared, ranked = (json.loads(command(f"{verb} votes.jsonl --json")[1]) for verb in ("compare", "rank"))
    assert command("report votes.jsonl -o page.json -o page.md")[0] == EXIT_DONE
    report, shown = json.loads(Path("page.json").read_text()), Path("page.md").read_text()
    assert compared["p_value"] == pytest.approx(float(discordant_p(wins, losses, wins + losses + 3)))
    assert ranked["p_values"][0][1] == report["ranking"]["p_values"][0][1] == compared["p_value"]
    rates = {row["model"]: (row["low"], row["score"], row["high"]) for row in ranked["models"]}
    assert rates["b"][1] == pytest.approx(wins / (wins + losses))
    assert rates["a"] == (compared["low"], compared["estimate"], compared["high"])
    assert ("Won by the better model" in shown) == (wins > 0)
    assert ("Won by the other" in shown) == (losses > 0)


@pytest.mark.parametrize("command", ["rank", "estimate", "compare", "report"])
def test_votes_are_counted_whole_or_not_at_all(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = [f"q{n},Yes {n}.,No {n}.,{'a' if n % 3 else 'b'}" for n in range(30)]
    file, chosen = tmp_path / "ab.csv", tmp_path / "chosen.json"
    file.write_text("prompt,response_a,response_b,winner\n" + "\n".join(rows) + "\n")
    assert run(["select", str(file), "--method", "random", "--budget", "10", "--out", str(chosen)]) == 0
    capsys.readouterr()
    assert run([command, str(file), str(chosen)]) == 2
    assert "which are all counted, and a selection of items does not say" in capsys.readouterr().err
