"""Fixtures of the whole suite: where the fully judged data sets and the other programs' answers lie."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import settings
from hypothesis.internal.conjecture import providers

ROOT = Path(__file__).resolve().parents[1]

# The same examples in every run, and no clock: a busy machine must not fail a test.
settings.register_profile("house", deadline=None, derandomize=True)
settings.load_profile("house")
# Hypothesis also tries the numbers and texts that it finds in the modules loaded so far. Which those are
# depends on how the tests are spread over workers, so examples would differ between runs.
if hasattr(providers, "_get_local_constants"):
    nothing = providers._local_constants
    setattr(providers, "_get_local_constants", lambda: nothing)  # noqa: B010 - a private name


SLOW = frozenset((ROOT / "tests" / "slow.txt").read_text(encoding="utf-8").split())


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the tests that ``make check`` leaves to ``make test`` (see tools/slow_tests.py)."""
    for item in items:
        if item.nodeid.partition("[")[0] in SLOW:
            item.add_marker("slow")


def _beside_the_checkout(name: str) -> Path:
    folder = ROOT.parent / "shared" / name
    if folder.is_dir():
        return folder
    reason = f"the folder ../shared/{name} does not lie beside the checkout"
    if os.environ.get("CI", "").lower() == "true":
        pytest.fail(f"{reason}, and under CI=true it must", pytrace=False)
    pytest.skip(reason)


@pytest.fixture(scope="session")
def shared_data() -> Path:
    """The fully judged data sets; a test without them is skipped, but fails under CI=true."""
    return _beside_the_checkout("data")


@pytest.fixture(scope="session")
def shared_checks() -> Path:
    """What other programs answer on those data sets; skipped or failed as ``shared_data``."""
    return _beside_the_checkout("checks")


@pytest.fixture(scope="session")
def shared_journeys() -> Path:
    """Files as people have them; skipped or failed as ``shared_data``."""
    return _beside_the_checkout("journeys")
