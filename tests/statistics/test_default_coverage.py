"""What the default path prints holds: a few cells of ``benchmarks/default_coverage.py`` with few draws.

With 120 draws the standard error of a coverage is 1 to 2 points: a cell fails when it lies below 94 % by more
than three of its standard errors, which correct intervals do in about one of a thousand cells.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.default_coverage import BOTH, LEAST, TARGETS, WITHHELD, run_chunk, summary

pytestmark = pytest.mark.statistics

CELLS = [
    ("biomqm_deen mqm_crit25", 30, "set"),
    ("biomqm_enru mqm_crit25", 20, "population"),
    ("summeval consistency", 50, "set"),
    ("mqm80", 12, BOTH),
    ("mqm80", 50, BOTH),
    ("ordinal", 10, BOTH),
    ("documents", 30, BOTH),
    ("binary 0.9", 20, BOTH),
    ("binary 0.95 judge", 50, BOTH),
]


@pytest.mark.parametrize(("case", "n", "which"), CELLS)
def test_intervals_of_the_default_path_hold(
    case: str, n: int, which: str, shared_data: Path, tmp_path: Path
) -> None:
    chunk = run_chunk(((case, n, which), 0), 120, shared_data, tmp_path)
    for target in TARGETS if which == BOTH else (which,):
        for what in ("scores", "differences"):
            figures = summary([chunk], f"{target} {what}")
            assert figures is not None
            assert figures["coverage"] >= LEAST - 3 * max(figures["error"], 0.005), (target, what, figures)
            assert figures["nothing"] == 0.0
            assert n < 30 or figures["bounds"] <= WITHHELD
