"""Bradley–Terry strengths against choix 0.4.1: every number by ``python tests/known_answers/peers.py``."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.infer.estimate.bradley_terry import Comparisons, fit_strengths, win_chances
from tests.known_answers.tables import columns

THEIRS = {
    "strength_0": -0.732482238165,
    "strength_1": -0.14816214074,
    "strength_2": 0.132927064063,
    "strength_3": 0.272489639833,
    "strength_4": 0.475227675009,
    "chance_4_0": 0.769893493829,
}


def comparisons() -> Comparisons:
    """Return the comparisons of the table, none a tie."""
    table = columns("comparisons.csv")
    first, second, item = (table[name].astype(np.int64) for name in ("first", "second", "item"))
    won = 2.0 * table["won"] - 1.0
    return Comparisons(first, second, won, item, np.ones(len(won)), np.zeros((len(won), 0)))


@pytest.mark.parametrize("ties", ["davidson", "half"])
def test_strengths(ties: str) -> None:
    found = fit_strengths(comparisons(), 5, "half" if ties == "half" else "davidson")
    assert found.strengths == pytest.approx([THEIRS[f"strength_{place}"] for place in range(5)], abs=1e-7)
    win, tie = win_chances(np.array(found.strengths[4] - found.strengths[0]), found.log_ties)
    assert (float(win), float(tie)) == pytest.approx((THEIRS["chance_4_0"], 0.0), rel=1e-6)
