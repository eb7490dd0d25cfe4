"""Whether tests on PostgreSQL can run: skipped where they cannot, but failed under CI=true."""

from __future__ import annotations

import os
from typing import NoReturn

import pytest

from tools.postgres_server import NoServerError, find_programs


def need_postgres() -> None:
    """Leave the test where there is no server to start."""
    try:
        find_programs()
    except NoServerError as error:
        leave(error)


def leave(error: NoServerError) -> NoReturn:
    """Skip a test that has no server, or fail it under CI=true."""
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{error}, and under CI=true it must run", pytrace=False)
    pytest.skip(str(error))
