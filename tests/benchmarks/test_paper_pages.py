"""The callers that write the papers' tables into pages."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks import casf_tables, diffuse_pairs
from benchmarks.pages import replaced
from benchmarks.papers.ashury.sets import BUDGETS, RISKS, RULES


@pytest.mark.parametrize("caller", [casf_tables, diffuse_pairs])
def test_a_folder_that_is_not_there_is_named(
    caller: Any, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert caller.main(["--data", str(tmp_path / "none")]) == 2
    assert "none: name it with --data." in capsys.readouterr().err


def test_every_table_of_pairs_has_its_place_in_the_page() -> None:
    zeros = [0.0] * len(BUDGETS)
    curve = {"runs": 1, "hits": zeros, "bias": zeros, "squares": zeros}
    curves = {truth: {method: curve for method in ("random", "diffuse")} for truth in ("human", "chrF")}
    three = [[1.0, 0.0, 0.0]] * len(RISKS)
    ends = {"runs": 1, "labels": [5.0] * len(RISKS), "ended": three, "distance": three}
    by_rule = {f"{rule} {truth}": ends for rule in RULES for truth in ("human", "metrics")}
    found = {"seeds": 1, "sets": [{"title": "X", "items": 80, "curves": curves}]}
    made = diffuse_pairs.blocks(found, {"sets": [{"title": "X", "ends": by_rule}]}, "2026-01-01")
    page = replaced(diffuse_pairs.PAGE.read_text(encoding="utf-8"), made)
    assert "| X | human | 1 | 0.0 / 0.0 |" in page
    assert "`python -m benchmarks.diffuse_pairs`, 2026-01-01, 1 seeds." in page
