"""Run the tests that embed with, or train, a real transformer, in an environment of their own.

torch is large, so it stays out of ``.venv`` and of ``uv.lock``: this makes ``.cache/transformer`` with pip
(torch first, which takes a build for the processor where the index offers one), then runs the marked tests,
or what is given: ``python tools/transformer_tests.py -m benchmarks.minilm``.
"""

from __future__ import annotations

import os
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HOME = ROOT / ".cache" / "transformer"
PYTHON = HOME / "bin" / "python"
STAMP = HOME / ".ready"
WEIGHTS = ROOT / "tests" / "signals" / "embed" / "transformer.txt"
PACKAGES = ("sentence-transformers==6.2.0", "pytest>=8.3", "hypothesis>=6.100")


def main() -> int:
    """Make the environment unless it is there, and run the tests in it."""
    if not STAMP.exists():
        venv.EnvBuilder(with_pip=True, clear=True).create(HOME)
        pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
        for arguments in (
            ["torch==2.13.0"],
            [*PACKAGES, "--editable", str(ROOT)],
            ["--no-deps", "--require-hashes", "-r", str(WEIGHTS)],
        ):
            subprocess.run([*pip, *arguments], check=True, cwd=ROOT)
        STAMP.touch()
    tests = [
        "-m",
        "pytest",
        "-q",
        "-m",
        "transformer",
        "-p",
        "no:cacheprovider",
        "tests/signals/embed",
        "tests/choose/distil/encoder",
    ]
    command = [str(PYTHON), *(sys.argv[1:] or tests)]
    # The transformers are tiny: threads would only wait for each other.
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
