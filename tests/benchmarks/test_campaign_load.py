"""Fifty raters at once, for ten seconds on each database, while somebody opens, verifies and exports."""

from __future__ import annotations

import pytest

from benchmarks.campaign_load import address, measure
from tests.postgres import need_postgres


@pytest.mark.journey
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_fifty_raters_at_once(database: str) -> None:
    if database == "postgresql":
        need_postgres()
    with address(database) as where:
        found = measure(database, where, raters=50, seconds=10.0)
    assert found.answers >= 50
    assert found.sent_again >= 50
    assert found.exported >= 2
    assert found.problems == 0
    assert (found.lost, found.doubled, found.invented, found.verified) == (0, 0, 0, True)
