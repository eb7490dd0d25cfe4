"""Ordinary raters are flagged in fewer than one panel of twenty."""

from __future__ import annotations

import pytest

from tests.run.raters.test_flags import checks, judged

pytestmark = pytest.mark.statistics


def test_ordinary_panels_are_seldom_flagged() -> None:
    # Panels of six ordinary raters; the seeds are not those of the quick test.
    assert sum(bool(checks(judged(seed))) for seed in range(1000, 1200)) <= 0.05 * 200
