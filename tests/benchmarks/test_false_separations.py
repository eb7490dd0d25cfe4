from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

from benchmarks import false_separations
from benchmarks.false_separations import FAMILIES, Cell, above, blocks, run_cell
from benchmarks.pages import block, marker


def test_families_are_what_they_say() -> None:
    generator = np.random.default_rng(1)
    equal, half = np.zeros(6), np.array([1.0, 1.0, 1.0, 0.0, 0.0, 0.0])
    for name, share in (("binary .5", 0.5), ("binary .9", 0.9), ("mqm", 0.8)):
        scores = FAMILIES[name](generator, 50, 200, equal)
        assert scores.shape == (50, 200, 6)
        assert float((scores == (0.0 if name == "mqm" else 1.0)).mean()) == pytest.approx(share, abs=0.01)
    for name, make in FAMILIES.items():
        means = make(generator, 50, 200, half).mean(axis=(0, 1))
        better, worse = (means[3:], means[:3]) if name == "binary .9" else (means[:3], means[3:])
        assert better.min() > worse.max()
        # Items are hard or easy for all models alike.
        scores = make(generator, 1, 2000, equal)[0]
        assert np.corrcoef(scores.T)[0, 1] > 0.1


def test_a_clear_difference_is_decided_and_equal_models_are_not() -> None:
    row = run_cell(Cell("gaussian", "half", 4, 100), 20)
    assert row["decided"] >= row["holm"] > 3.9
    assert row["false"] <= 4


def test_command_writes_figures_and_page_and_goes_on(tmp_path: Path) -> None:
    page, results = tmp_path / "page.md", tmp_path / "figures.json"
    page.write_text(f"# Page\n{marker('false separations')}\n<!-- end -->\n", encoding="utf-8")
    places = ["--page", str(page), "--results", str(results), "--kept", str(tmp_path / "kept"), "--docs"]
    few = ["--runs", "4", "--only", "binary", "--models", "4", "--n", "10", "--n", "12"]
    assert false_separations.main([*few, *places]) == 0
    computed = json.loads(results.read_text(encoding="utf-8"))
    assert len(computed["rows"]) == 8
    assert (
        block(page.read_text(encoding="utf-8"), "false separations") == blocks(computed)["false separations"]
    )
    kept = {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}
    false_separations.main([*few, *places])
    assert kept == {path: path.stat().st_mtime_ns for path in (tmp_path / "kept").iterdir()}


def test_a_cell_above_is_named_after_the_correction_for_all() -> None:
    cell = {"family": "mqm", "situation": "equal", "models": 4, "n": 10, "runs": 2000}
    fair = [{**cell, "false": 100}] * 400
    assert above([*fair, {**cell, "false": 130}]) == []
    assert above([*fair, {**cell, "false": 150}]) == [{**cell, "false": 150}]


def test_page_shows_the_figures() -> None:
    computed = json.loads(false_separations.RESULTS.read_text(encoding="utf-8"))
    page = false_separations.PAGE.read_text(encoding="utf-8")
    assert block(page, "false separations") == blocks(computed)["false separations"]
