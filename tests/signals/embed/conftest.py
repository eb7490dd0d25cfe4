"""Every test has a cache of its own."""

from __future__ import annotations

from pathlib import Path

import pytest

from sparingly.signals.embed.texts import VARIABLE


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    folder = tmp_path / "cache"
    monkeypatch.setenv(VARIABLE, str(folder))
    return folder
