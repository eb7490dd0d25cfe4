"""Agreement against krippendorff 0.9.0: every number by ``python tests/known_answers/peers.py``."""

from __future__ import annotations

import pytest

from sparingly.base.stats.krippendorff import LEVELS, Level, krippendorff_alpha
from tests.known_answers.tables import cells

THEIRS = {
    "alpha_nominal": 0.261652957305,
    "alpha_ordinal": 0.771272617542,
    "alpha_interval": 0.794362956572,
    "alpha_ratio": 0.685700119963,
}


@pytest.mark.parametrize("level", LEVELS)
def test_alpha_with_values_missing(level: Level) -> None:
    assert krippendorff_alpha(cells("codes.csv"), level) == pytest.approx(THEIRS[f"alpha_{level}"], rel=1e-9)
