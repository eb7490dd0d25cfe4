"""Any false separation in at most 5 % of runs: cells of ``benchmarks/false_separations.py``, few runs each.

The cells are those in which rank sets by the max-t of N(0, Σ̂) were wrong in 10 to 47 % of runs, and those in
which scores are as coarse or as skewed as they get.
"""

from __future__ import annotations

import pytest

from benchmarks.false_separations import Cell, above, run_cell

pytestmark = pytest.mark.statistics

CELLS = [
    Cell("gaussian", "equal", 4, 10),
    Cell("gaussian", "equal", 8, 12),
    Cell("gaussian", "equal", 25, 30),
    Cell("gaussian", "equal", 40, 20),
    Cell("gaussian", "half", 8, 20),
    Cell("binary .5", "equal", 2, 20),
    Cell("binary .5", "half", 8, 30),
    Cell("binary .9", "equal", 4, 100),
    Cell("mqm", "equal", 4, 16),
    Cell("mqm", "half", 15, 50),
]


def test_false_separations_are_rare_and_no_power_is_lost() -> None:
    rows = [run_cell(cell, 300) for cell in CELLS]
    assert above(rows) == []
    assert all(row["decided"] >= row["holm"] for row in rows)
    assert sum(row["decided"] - row["holm"] for row in rows) > 0
    # The bar can be missed: 10.7 % was the share of 8 models and 10 items before.
    assert above([{**rows[0], "runs": 300, "false": 32}, *rows[1:]])
