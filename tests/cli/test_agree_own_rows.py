"""``agree`` on the command line for a selection in which every model has rows of its own."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import sparingly
from sparingly.base.errors import EXIT_DONE
from sparingly.cli.app import run
from sparingly.data.synthetic import load_invented


def test_agree_and_draws_by_each_models_own_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    data = load_invented()
    sparingly.save(data, tmp_path / "data.jsonl")
    chosen = sparingly.select(data, "snippets:kind=segment,matching=false", 60, seed=2)
    chosen.save(tmp_path / "apart.json")
    asked = ["agree", "data.jsonl", "apart.json", "--aspect", "overall", "--draws", "3"]
    assert run([*asked, "--json"]) == EXIT_DONE
    told = json.loads(capsys.readouterr().out)
    assert told["notes"][-1].startswith("models are judged on items of their own, 60 each")
    means = {one["model"]: one["mean"] for one in told["models"]}
    assert chosen.models is not None
    own = [item for item, (model,) in zip(chosen.items, chosen.models, strict=True) if model == "Birch"]
    column = data.models.index("Birch")
    assert means["Birch"] == pytest.approx(data.truth("overall")[data.positions(own), column].mean())
    # Of each model so many items as were chosen for it, not as many as there are rows in all.
    assert told["draws"]["budget"] == "60"
    assert run(asked) == EXIT_DONE
    assert "winners of pairs by the items that two models share" in " ".join(capsys.readouterr().out.split())
