from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

import casf_tables
import sparingly
from _casf_runs import Case, chosen_rows, mean_of_runs, measured

DEMO = Case("demo", "demo", ("overall",), "learned", ())


def figures(**tau: float) -> list[dict[str, Any]]:
    """Build the figures of a set with two aspects."""
    parts = {
        "top1": [1.0, 0.0],
        "retained_05": [0.5, 0.5],
        "retained_001": [0.5, 0.5],
        "kendall_sd": [0.1, 0.1],
    }
    named = {name: tau.get(name.lower(), 0.5) for name in casf_tables.all_methods()}
    methods = {name: {**parts, "kendall": [value, value + 0.1]} for name, value in named.items()}
    return [{"file": "x", "title": "X", "aspects": ["a", "b"], "methods": methods}]


def test_wins_and_losses_against_random_are_counted() -> None:
    rows = casf_tables.main_table(figures(casf=0.7, sm=0.3, random=0.5)).splitlines()
    assert next(row for row in rows if row.startswith("| CASF")).split("|")[6].strip() == "2 / 0"
    assert next(row for row in rows if row.startswith("| SM")).split("|")[6].strip() == "0 / 2"


def test_every_table_of_the_page_is_made() -> None:
    made = casf_tables.blocks({"sets": figures(), "date": "2026-01-01", "runs": 100})
    page = (Path(casf_tables.__file__).parent.parent / "docs" / "casf.md").read_text(encoding="utf-8")
    for name in made:
        assert f"<!-- table: {name} -->" in page


def test_a_full_set_agrees_with_itself() -> None:
    data = sparingly.load_demo()
    found = measured(data, DEMO, np.arange(len(data)))
    assert found == {"kendall": [1.0], "top1": [1.0], "retained_05": [1.0], "retained_001": [1.0]}


def test_casf_and_selectors_choose_the_same_number_of_items() -> None:
    data = sparingly.load_demo()
    method = DEMO.method("phases=2,controller=false,regressor=linear")
    for one in ("random", method):
        assert len(chosen_rows(data, DEMO, one, "25%")) == 60


def test_changes_take_the_place_of_what_a_case_says() -> None:
    case = Case("x", "X", ("a", "b"), "m", ("m", "n"))
    assert case.method() == 'casf:metric=m,metrics=["m","n"],aspects=[a,b]'
    assert case.method("phases=2") == 'casf:metric=m,metrics=["m","n"],aspects=[a,b],phases=2'


def test_runs_are_averaged_aspect_by_aspect() -> None:
    runs = [
        {name: [value, 1.0] for name in ("kendall", "top1", "retained_05", "retained_001")}
        for value in (0.0, 1.0)
    ]
    found = mean_of_runs(runs)
    assert found["kendall"] == [0.5, 1.0]
    assert found["kendall_sd"] == pytest.approx([np.sqrt(0.5), 0.0])
