"""The installed command, run as a user runs it."""

from __future__ import annotations

import json
import os
import subprocess
import sysconfig
from pathlib import Path
from typing import Any, NoReturn

SCRIPT = Path(sysconfig.get_path("scripts")) / "sparingly"
DONE, NO, WRONG, INTERRUPTED = 0, 1, 2, 130


def environment(**changed: str) -> dict[str, str]:
    """The environment without what would change widths and colours."""
    kept = {
        name: value
        for name, value in os.environ.items()
        if name not in ("COLUMNS", "FORCE_COLOR", "PYTHONPATH")
    }
    return {**kept, "NO_COLOR": "1", "PYTHONUTF8": "1", **changed}


def start(*arguments: str, cwd: Path, **options: Any) -> subprocess.Popen[str]:
    """Start the command with both of its outputs caught."""
    return subprocess.Popen(
        [str(SCRIPT), *arguments],
        cwd=cwd,
        env=options.pop("env", environment()),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        encoding="utf-8",
        **options,
    )


def run(*arguments: str, cwd: Path, code: int = DONE, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; its exit code is what is expected."""
    process = start(*arguments, cwd=cwd, **options)
    out, err = process.communicate(timeout=120)
    assert process.returncode == code, (arguments, process.returncode, out[-2000:], err)
    return subprocess.CompletedProcess(arguments, process.returncode, out, err)


def parsed(text: str) -> Any:
    """Read JSON that holds no NaN and no infinity."""

    def refuse(constant: str) -> NoReturn:
        raise AssertionError(f"{constant} is not JSON")

    return json.loads(text, parse_constant=refuse)
