"""``judge`` on the command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from sparingly.base.errors import EXIT_DONE, EXIT_WRONG
from sparingly.cli.app import run

Command = Callable[[str], tuple[int, str, str]]
HEAD = "id,input,output,gpt,human"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A log of 600 outputs with a judge's verdicts and 120 labels; and one without labels."""
    place = tmp_path_factory.mktemp("judge")
    random = np.random.default_rng(1)
    good = random.random(600) < 0.8
    passed = np.where(good, random.random(600) < 0.93, random.random(600) < 0.4)
    lines, bare = [HEAD], [HEAD.removesuffix(",human")]
    for row in range(600):
        label = int(good[row]) if row < 120 else ""
        words = " ".join(["so"] * int(random.integers(3, 40)))
        lines.append(f"a{row:04d},question {row},{words},{int(passed[row])},{label}")
        bare.append(lines[-1].rpartition(",")[0])
    (place / "log.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    (place / "bare.csv").write_text("\n".join(bare) + "\n", encoding="utf-8")
    return place


@pytest.fixture
def command(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> Command:
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "100")

    def in_process(line: str) -> tuple[int, str, str]:
        code = run(shlex.split(line))
        shown = capsys.readouterr()
        return code, shown.out, shown.err

    return in_process


def test_the_answer_comes_first(command: Command) -> None:
    code, shown, _ = command("judge log.csv")
    lines = shown.splitlines()
    assert code == EXIT_DONE
    assert lines[0].startswith("True pass rate ")
    assert lines[0].endswith(" %.")
    assert lines[1].startswith("It passes ")
    assert lines[2].startswith("With it, 100 labels are worth about ")
    assert "judge passes  judge fails" in shown
    assert "passed, people failed it" not in shown
    assert "passed, people failed it (judge 1, people 0)" in command("judge log.csv -v")[1]
    assert "select log.csv --question judge" in shown
    assert "signature:" not in shown


def test_details_on_request(command: Command) -> None:
    _, shown, _ = command("judge log.csv -v")
    assert "gpt and labels" in shown
    agreement = shown[shown.index(" agreement of") :].splitlines()
    assert [row.split()[0] for row in agreement[2:6]] == ["outputs", "κ", "AC1", "correlation"]
    assert max(map(len, agreement[:6])) < 60
    assert "MOVER-R" in shown
    assert "signature: greg:" in shown


def test_the_rate_is_the_one_that_estimate_prints(command: Command) -> None:
    audit, found = (json.loads(command(f"{verb} log.csv --json")[1]) for verb in ("judge", "estimate"))
    assert audit["estimate"] == found


def test_labels_from_another_file(command: Command) -> None:
    code, shown, _ = command("judge bare.csv --labels-from log.csv")
    assert code == EXIT_DONE
    assert "if it errs here as it does elsewhere" in shown
    assert "note: the labels are not a random sample" in shown


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("judge log.csv --judge gtp", "Did you mean gpt"),
        ("judge bare.csv", "there are no human labels in it"),
        ("judge log.csv --level 2", "A level lies between 0 and 1"),
    ],
)
def test_bad_input_is_one_sentence(command: Command, line: str, sentence: str) -> None:
    code, shown, error = command(line)
    assert code == EXIT_WRONG
    assert shown == ""
    assert sentence in error.splitlines()[-1]
