"""The figures on plans: what is computed is what is shown, and it lies within its limits."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks import plan_holds
from benchmarks.pages import block
from sparingly.data.synthetic import load_invented

CODE = {"plan": "this", "draws": "this"}


def test_the_page_shows_the_results_and_names_what_is_outside_the_limits() -> None:
    results = json.loads(plan_holds.RESULTS.read_text(encoding="utf-8"))
    assert list(results["sets"]) == list(plan_holds.SETS)
    assert block(plan_holds.PAGE.read_text(encoding="utf-8"), "plan-holds") == plan_holds.shown(results)
    # Two cells, with standard errors near 0.1, are named on the page; no other may join them.
    assert set(plan_holds.outside(results)) <= {
        "alpacaeval2_llmjudge n=12 whole 1.17",
        "alpacaeval2_llmjudge n=16 ratio 0.89",
    }


def test_the_page_shows_how_often_planned_differences_are_decided() -> None:
    results = json.loads(plan_holds.POWERS.read_text(encoding="utf-8"))
    page = plan_holds.PAGE.read_text(encoding="utf-8")
    assert block(page, "plan-power") == plan_holds.shown_powers(results)
    questions = [(row["effect"], row["models"]) for row in results["rows"]]
    assert questions == list(plan_holds.QUESTIONS)
    # The plan counts on the first step of the correction and rank on all of them, so that it decides more.
    assert plan_holds.outside_powers(results) == ["1 sd with 8 models"]
    assert all(row["power"] >= plan_holds.LEAST_POWER for row in results["rows"])


def test_a_large_difference_is_always_decided_and_none_seldom() -> None:
    generator = np.random.default_rng(0)
    assert plan_holds.decided(generator, 5.0, 3, 20) == 1.0
    assert np.mean([plan_holds.decided(generator, 0.0, 2, 20) for _ in range(20)]) <= 0.1


def test_a_small_run_resumes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    demo = load_invented()
    sparingly.save(demo.at(range(0, 240, 4)), tmp_path / "demo.jsonl.gz")
    monkeypatch.setattr(plan_holds, "SETS", {"demo": "overall"})
    monkeypatch.setattr(plan_holds, "SIZES", (12,))
    monkeypatch.setattr(plan_holds, "KEPT", tmp_path / "finished")
    work = plan_holds.parts_of(tmp_path, "demo", 3, 2)
    assert len(work) == 4
    parts = {part: plan_holds.finished(CODE, tmp_path, part) for part in work}
    row = plan_holds.figures(parts, "demo")[0]
    assert row["n"] == 12
    assert 0.5 < row["ratio"] < 2.0
    monkeypatch.setattr(plan_holds, "printed", None)
    monkeypatch.setattr(plan_holds, "planned", None)
    assert {part: plan_holds.finished(CODE, tmp_path, part) for part in work} == parts


def test_figures_outside_the_limits_are_named() -> None:
    rows = [{"n": 12, "ratio": 1.2, "whole": 1.0}, {"n": 16, "ratio": 1.1, "whole": 0.89}]
    assert plan_holds.outside({"sets": {"a": {"rows": rows}}}) == ["a n=12 ratio 1.20", "a n=16 whole 0.89"]
