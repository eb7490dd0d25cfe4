"""A gate that is asked at every look errs no more often than it says, just at the margin."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.gate_looks import CELLS, answer

pytestmark = pytest.mark.statistics

DRAWS, ALPHA = 300, 0.05
SLACK = 3 * np.sqrt(ALPHA * (1 - ALPHA) / DRAWS)


@pytest.mark.parametrize("name", ["grades", "90 % pass"])
def test_yes_and_no_are_rarely_wrong_over_all_looks(name: str) -> None:
    cell = next(cell for cell in CELLS if cell.name == name)
    cell = cell._replace(judged=200)
    answers = [answer(cell, cell.margin, seed, budget=80, items=200).answer for seed in range(DRAWS)]
    assert answers.count("yes") / DRAWS < ALPHA + SLACK
    assert answers.count("no") / DRAWS < ALPHA + SLACK
    # Asked at nine looks as if each were the only one, it would err twice as often; now it uses its share.
    assert (answers.count("yes") + answers.count("no")) / DRAWS > 2 * ALPHA - 2 * SLACK
