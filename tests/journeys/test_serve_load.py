"""A hundred raters on the served pages for twenty seconds, with a kill -9 in between: nothing is lost."""

from __future__ import annotations

import json
import sys
from dataclasses import asdict
from pathlib import Path

import pytest

from serve_load import measure


@pytest.mark.journey
def test_a_hundred_raters_and_a_server_that_is_killed(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = measure(tmp_path, raters=100, seconds=20.0, kills=1)
    with capsys.disabled():
        sys.stdout.write(f"\n{json.dumps(asdict(found))}\n")
    assert found.pages >= 50
    assert found.sent_again > 0
    assert found.cut_off > 0
    assert (found.lost, found.doubled, found.invented, found.judged_by_two) == (0, 0, 0, 0)
    assert found.verified
    assert found.is_whole
