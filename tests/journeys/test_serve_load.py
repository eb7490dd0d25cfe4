"""A hundred raters on the served pages, with a kill -9 in between, on both databases: nothing is lost.

All the while the organiser looks at every page, and somebody opens, verifies and exports the campaign.
"""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from benchmarks.serve_load import ORGANISER_PAGES, measure
from tests.postgres import need_postgres


@pytest.mark.journey
@pytest.mark.parametrize("database", ["sqlite", "postgresql"])
def test_a_hundred_raters_and_a_server_that_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], database: str
) -> None:
    if database == "postgresql":
        need_postgres()
    found = measure(tmp_path, raters=100, seconds=15.0, kills=1, database=database)
    with capsys.disabled():
        sys.stdout.write(f"\n{json.dumps(asdict(found))}\n")
    assert found.pages >= 50
    assert found.organiser_pages >= len(ORGANISER_PAGES)
    assert found.exported >= 2
    assert found.problems == 0
    assert found.sent_again > 0
    assert found.cut_off > 0
    assert (found.lost, found.doubled, found.invented, found.judged_by_two) == (0, 0, 0, 0)
    assert found.verified
    assert found.is_whole
