from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest

from tools.compat import is_ready, python_of


@pytest.fixture
def tool_python() -> Callable[[str], Path]:
    """Return the Python in which a tool is installed; without it the test fails, since it says nothing."""

    def found(tool: str) -> Path:
        if not is_ready(tool):
            pytest.fail(f"{tool} is not installed: run make compat", pytrace=False)
        return python_of(tool)

    return found
