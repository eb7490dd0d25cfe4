"""The two kinds of database: every test that asks for ``where`` runs on both."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.postgres import need_postgres
from tools.postgres_server import Server, running_server


@pytest.fixture(scope="session")
def postgres() -> Iterator[Server]:
    """A real PostgreSQL server; skipped where there is none to start, but failed under CI=true."""
    need_postgres()
    with running_server(in_memory=True) as server:
        yield server


@pytest.fixture(params=["sqlite", "postgresql"])
def where(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of an empty database."""
    if request.param == "sqlite":
        return str(tmp_path / "campaign.db")
    server: Server = request.getfixturevalue("postgres")
    return server.new_address()
