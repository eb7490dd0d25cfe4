"""``run-judge`` on the command line, against a judge on this machine; no other command uses the network."""

from __future__ import annotations

import json
import re
import shlex
import socket
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run
from tests.run.judging.chat_server import Reply, chat_server, shown

Command = Callable[[str], tuple[int, str, str]]
PAGE = Path(__file__).resolve().parents[2] / "docs" / "reference" / "judge.md"


@pytest.fixture
def command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    """Run a command in a folder with 40 answers, the first 20 of them judged by people, and a rubric."""
    rows = [f"q{n:02},How do I do {n}?,Like {n}.,{n % 5 > 0 if n < 20 else ''}" for n in range(40)]
    (tmp_path / "answers.csv").write_text("item,prompt,output,human_pass\n" + "\n".join(rows) + "\n")
    (tmp_path / "rubric.md").write_text("The answer solves the customer's problem.\n")
    (tmp_path / "ab.jsonl").write_text(
        '{"prompt": "Is it?", "response_a": "Yes it is.", "response_b": "No."}\n'
        '{"prompt": "Why?", "response_a": "I know.", "response_b": "It just is."}\n'
    )
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("SPARINGLY_API_KEY", raising=False)

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        printed = capsys.readouterr()
        return code, printed.out, printed.err

    return in_process


def mostly_pass(body: dict[str, Any]) -> str:
    number = int(re.findall(r"Like (\d+)", shown(body))[0])
    if number == 7:
        return "It is fine."
    return (
        '{"score": "fail", "reason": ""}'
        if number % 6 == 0
        else '```json\n{"score": "pass", "reason": ""}\n```'
    )


def test_the_page_prints_what_it_says(command: Command) -> None:
    block = next(part for part in PAGE.read_text().split("```") if part.startswith("text\n$ "))
    _, first, *expected = block.strip().splitlines()
    with chat_server(mostly_pass) as server:
        code, out, err = command(
            first.removeprefix("$ sparingly ").replace("http://localhost:8000/v1", server.url)
        )
    assert (code, err) == (
        EXIT_DONE,
        "answers.csv: prompt → input · human_pass → human labels (pass or fail)\n",
    ) or err

    def steady(lines: list[str]) -> list[str]:
        pattern = r"endpoint:[^|]*|prompt:\w+|date:[\d-]+|version:\S+"
        return [re.sub(pattern, "…", line) for line in lines]

    assert steady(out.splitlines()) == steady(expected)


def test_verdicts_are_a_metric_of_every_command(command: Command) -> None:
    with chat_server(mostly_pass) as server:
        command(f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md")
    code, out, _ = command("info answers.csv -v")
    assert code == EXIT_DONE
    assert "judge-m judge (m, from answers.csv.judge-m.jsonl)" in " ".join(out.split())
    assert "metrics (1)" in out
    code, out, _ = command("estimate answers.csv")
    assert code == EXIT_DONE
    assert "20 of 40 items are judged" in out


def test_a_limit_and_pairs(command: Command) -> None:
    line = "--model m --rubric rubric.md"
    with chat_server(mostly_pass) as server:
        _, out, _ = command(
            f"run-judge answers.csv --endpoint {server.url} {line} --limit 4 --temperature none"
        )
        assert "temperature" not in server.bodies[0]
    assert "Next: the same command judges the 36 that are left." in out
    with chat_server(lambda _: '{"score": "tie"}') as server:
        code, out, _ = command(f"run-judge ab.jsonl --endpoint {server.url} {line} --ask pairs")
        assert len(server.bodies) == 4
    assert code == EXIT_DONE
    assert out.startswith("The judge made 4 of 4 comparisons (two for each pair): ")
    with chat_server(mostly_pass) as server:
        _, out, _ = command(f"run-judge answers.csv --endpoint {server.url} {line} --name n --limit 4 --json")
    values = json.loads(out)
    assert {key: values[key] for key in ("questions", "judged", "left", "mean", "calls")} == {
        "questions": 40,
        "judged": 4,
        "left": 36,
        "mean": 0.75,
        "calls": 4,
    }


USAGE = {"prompt_tokens": 1000, "completion_tokens": 100}
# A question costs 1000 · 10 / 1e6 + 100 · 100 / 1e6 = 0.02.
PRICE = "--token-price 10/100"


@pytest.mark.parametrize("workers", [1, 4])
def test_no_more_is_spent_than_allowed(command: Command, workers: int) -> None:
    with chat_server(lambda _: '{"score": "pass"}', USAGE) as server:
        line = f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md {PRICE}"
        code, out, _ = command(f"{line} --spend 0.21 --workers {workers}")
        calls = len(server.bodies)
        assert code == EXIT_DONE
        assert 0.21 - (workers + 1) * 0.02 <= calls * 0.02 <= 0.21
        _, out, _ = command(f"{line} --json")
        assert json.loads(out)["left"] == 0
        assert json.loads(out)["cost"] == pytest.approx((len(server.bodies) - calls) * 0.02)
        assert len(server.bodies) == 40


def test_what_the_rest_will_cost(command: Command) -> None:
    with chat_server(mostly_pass, USAGE) as server:
        _, out, _ = command(
            f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md {PRICE} --limit 5"
        )
    assert "This run cost 0.10; the 35 that are left take about 0.70." in out


def test_a_judge_that_counts_no_tokens_keeps_no_spending_limit(command: Command) -> None:
    with chat_server(mostly_pass) as server:
        line = f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md --workers 1"
        code, _, err = command(f"{line} {PRICE} --spend 1")
        assert len(server.bodies) <= 2, "nothing is spent unseen"
    assert code == EXIT_WRONG
    assert "does not say how many tokens a call takes: use --limit 20 in place of --spend" in err


def test_a_judge_that_is_down_is_one_sentence(command: Command) -> None:
    with chat_server(lambda _: Reply(status=404, content=b'{"error": "no such model"}')) as server:
        code, out, err = command(
            f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md"
        )
    assert code == EXIT_WRONG
    assert out.startswith("The judge scored 0 of 40 outputs.")
    assert (
        "gives no answer: status 404: no such model. The same command goes on with the 40 that are left."
        in err
    )


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ("--endpoint localhost --rubric rubric.md", "--endpoint is a URL such as"),
        ("--endpoint http://localhost/v1 --rubric none.md", "none.md: there is no such file"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --limit 0", "--limit is 1 or more"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --calls-a-minute -1", "above zero"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --spend 1", "--token-price 0.15/0.60"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --token-price 1/2 --spend 0", "above zero"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --token-price cheap", "sent and written"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --temperature hot", "from 0 to 2, or none"),
        ("--endpoint http://localhost/v1 --rubric rubric.md --verdicts 1-7", "--verdicts"),
    ],
)
def test_wrong_options(command: Command, options: str, sentence: str) -> None:
    code, out, err = command(f"run-judge answers.csv --model m {options}")
    assert (code, out) == (EXIT_WRONG, "")
    assert sentence in err


def test_no_other_command_uses_the_network(command: Command, monkeypatch: pytest.MonkeyPatch) -> None:
    with chat_server(mostly_pass) as server:
        command(f"run-judge answers.csv --endpoint {server.url} --model m --rubric rubric.md")

    def refuse(*_: object) -> None:
        raise AssertionError("a command opened a connection")

    monkeypatch.setattr(socket.socket, "connect", refuse)
    for line in ("info", "plan", "estimate", "select -b 10 -o chosen.json"):
        name, *options = line.split()
        code, _, err = command(f"{name} answers.csv {' '.join(options)}")
        assert code == EXIT_DONE, err
