"""Tests of published methods keep no embeddings on disk."""

from __future__ import annotations

import pytest

from sparingly.signals.embed.texts import OFF, VARIABLE


@pytest.fixture(autouse=True)
def without_cache(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(VARIABLE, OFF)
