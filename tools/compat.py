"""Exchange tasks and answers with the real annotation tools, each in an environment of its own.

The tools are large and want versions of their own, so they stay out of ``.venv`` and of ``uv.lock``: this
makes ``.bench/compat-TOOL`` with pip where it is not there yet, then runs the marked tests, which start the
tools as users do. ``python tools/compat.py pearmut`` does one tool only.
"""

from __future__ import annotations

import subprocess
import sys
import venv
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
# What pip installs for a tool, call by call. Pearmut asks for Python 3.12, but runs on 3.11 without the
# package that it needs for PDF files only.
TOOLS: dict[str, tuple[tuple[str, ...], ...]] = {
    # Its SDK does not name a package that it imports.
    "argilla": (("argilla==2.8.0", "requests"),),
    "label-studio": (("label-studio-sdk==2.1.2",),),
    "pearmut": (
        ("--no-deps", "--ignore-requires-python", "pearmut==1.1.6"),
        ("fastapi", "uvicorn", "wonderwords", "scipy", "httpx"),
    ),
    "potato": (("potato-annotation==2.12.1",),),
}


def home_of(tool: str) -> Path:
    """Return the folder of a tool's environment."""
    return ROOT / ".bench" / f"compat-{tool}"


def python_of(tool: str) -> Path:
    """Return the Python of a tool's environment."""
    return home_of(tool) / "bin" / "python"


def is_ready(tool: str) -> bool:
    """Say whether a tool is installed as it is wanted now."""
    stamp = home_of(tool) / ".ready"
    return stamp.exists() and stamp.read_text(encoding="utf-8") == _wanted(tool)


def prepare(tool: str) -> None:
    """Make the environment of a tool unless it is there."""
    if is_ready(tool):
        return
    if not python_of(tool).exists():
        venv.EnvBuilder(with_pip=True, clear=True).create(home_of(tool))
    pip = [str(python_of(tool)), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    for packages in TOOLS[tool]:
        subprocess.run([*pip, *packages], check=True, cwd=ROOT)
    (home_of(tool) / ".ready").write_text(_wanted(tool), encoding="utf-8")


def main(arguments: Sequence[str]) -> int:
    """Prepare the tools named, or all of them, and run their tests."""
    tools = list(arguments) or sorted(TOOLS)
    if unknown := [tool for tool in tools if tool not in TOOLS]:
        sys.stderr.write(f"Unknown tool {unknown[0]}. There are: {', '.join(sorted(TOOLS))}.\n")
        return 2
    for tool in tools:
        prepare(tool)
    tests = [path for tool in tools if (path := _tests_of(tool)).exists()]
    command = [sys.executable, "-m", "pytest", "-q", "-m", "compat", "-p", "no:cacheprovider"]
    return subprocess.run([*command, *map(str, tests)], cwd=ROOT, check=False).returncode


def _tests_of(tool: str) -> Path:
    return ROOT / "tests" / "compat" / f"test_{tool.replace('-', '_')}.py"


def _wanted(tool: str) -> str:
    return "\n".join(" ".join(packages) for packages in TOOLS[tool])


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
