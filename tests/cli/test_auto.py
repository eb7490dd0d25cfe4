"""Commands without a method: what was chosen is said, checked again, and ranked with what is expected."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from sparingly.cli.app import run
from sparingly.data import io as files
from sparingly.data.synthetic.generate import make_evalset
from sparingly.infer.expect.expect import EVERY_LABEL


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder with a small set, and the commands run in it."""
    files.save(make_evalset(items=60, models=4, aspects=("overall",)), tmp_path / "data.jsonl")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def said(capsys: pytest.CaptureFixture[str]) -> str:
    return " ".join(capsys.readouterr().out.split())


def test_select_without_a_method_says_what_it_chose(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "data.jsonl", "--budget", "20", "-v", "-o", "chosen.json"]) == 0
    shown = said(capsys)
    assert (
        "auto draws items with equal probabilities, spread over 3 metrics and documents (local_pivotal)"
        in shown
    )
    assert "signature: local_pivotal:" in shown
    assert run(["verify", "chosen.json", "data.jsonl"]) == 0
    assert "verified" in said(capsys)
    assert run(["select", "data.jsonl", "-m", "auto", "--budget", "20", "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert held == json.loads((folder / "chosen.json").read_text(encoding="utf-8"))
    assert held["why"].startswith("auto draws")


@pytest.mark.usefixtures("folder")
def test_a_question_goes_without_a_method(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "data.jsonl", "-b", "20", "--question", "scores", "--unit", "document", "-v"]) == 0
    assert "unit=document" in said(capsys)
    assert run(["select", "data.jsonl", "-b", "20", "-m", "uniform", "--question", "best"]) == 2
    assert "A question goes without a method" in capsys.readouterr().err
    assert run(["select", "data.jsonl", "-b", "20", "--question", "order"]) == 2


@pytest.mark.usefixtures("folder")
def test_estimate_after_it_says_which_estimator_was_taken(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "data.jsonl", "-b", "20", "-o", "chosen.json"]) == 0
    capsys.readouterr()
    assert run(["estimate", "data.jsonl", "chosen.json", "-v"]) == 0
    # Under 30 judged items greg falls back, and the headline says to what.
    assert "the weighted mean: too few judged items" in said(capsys)
    assert run(["select", "data.jsonl", "-b", "40", "-o", "more.json"]) == 0
    capsys.readouterr()
    assert run(["estimate", "data.jsonl", "more.json", "-v"]) == 0
    assert "from 40 judged items by greg" in said(capsys)


@pytest.mark.usefixtures("folder")
def test_rank_says_what_is_expected_beside_the_tests(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["select", "data.jsonl", "-b", "20", "-o", "chosen.json"]) == 0
    capsys.readouterr()
    assert run(["rank", "data.jsonl", "chosen.json"]) == 0
    assert "expected" not in said(capsys)
    assert run(["rank", "data.jsonl", "chosen.json", "--expect", "-o", "ranking.json"]) == 0
    shown = said(capsys)
    assert "Expected scores if everything were judged: " in shown
    assert "p, expected" in shown
    assert EVERY_LABEL in shown
    assert run(["verify", "ranking.json", "data.jsonl"]) == 0
    capsys.readouterr()
    assert run(["rank", "data.jsonl", "chosen.json", "--expect", "--json"]) == 0
    held = json.loads(capsys.readouterr().out)
    assert held["expected"]["note"] == EVERY_LABEL
    scores = held["expected"]["scores"]
    assert ", ".join(f"{model} {scores[model]:.3g}" for model in held["expected"]["order"]) in shown
    assert run(["rank", "data.jsonl", "chosen.json", "--expect", "--format", "markdown"]) == 2
    assert "leave out --expect or --format" in capsys.readouterr().err


@pytest.mark.usefixtures("folder")
def test_a_campaign_without_a_strategy_is_auto(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["campaign", "new", "c.db", "data.jsonl", "-b", "20", "-a", "overall"]) == 0
    shown = said(capsys)
    assert "in an order fixed at random beforehand, spread over 3 metrics" in shown
    assert "Next: sparingly serve c.db" in shown
    assert run(["campaign", "status", "c.db", "-v"]) == 0
    assert "strategy: auto:rounds=5," in said(capsys)
    assert run(["campaign", "new", "c.db", "a=data.jsonl", "b=data.jsonl", "-b", "40", "-a", "overall",
                "--name", "two", "--json"]) == 0  # fmt: skip
    assert set(json.loads(capsys.readouterr().out)["why"]) == {"a", "b"}
    assert run(["campaign", "new", "d.db", "data.jsonl", "-m", "uniform", "-b", "20", "-a", "overall",
                "--json"]) == 0  # fmt: skip
    assert json.loads(capsys.readouterr().out)["why"] == {}
    assert run(["campaign", "new", "e.db", "data.jsonl", "-a", "overall"]) == 2
