"""Make the peer's own environment: ``.bench/subset2evaluate-venv``, with plain venv and pip.

It is kept apart from ``.venv``, because the peer needs torch and 70 packages more (about 1.8 GB). A stamp
remembers which requirements were installed, so a second call takes no time.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDER = ROOT / ".bench"
REQUIREMENTS = ROOT / "benchmarks" / "peers" / "subset2evaluate.txt"
_VENV = FOLDER / "subset2evaluate-venv"
_STAMP = _VENV / ".ready"


def peer_python() -> Path:
    """Return the interpreter of the peer's environment, installing it first where it is missing."""
    python = _VENV / "bin" / "python"
    wanted = REQUIREMENTS.read_text(encoding="utf-8")
    if python.exists() and _STAMP.exists() and _STAMP.read_text(encoding="utf-8") == wanted:
        return python
    print(
        f"Installing subset2evaluate into {_VENV.relative_to(ROOT)} (about 1.8 GB, a few minutes).",
        flush=True,
    )
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(_VENV)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    torch = next(line for line in wanted.splitlines() if line.startswith("torch=="))
    subprocess.run([*pip, torch], check=True)
    subprocess.run([*pip, "--requirement", str(REQUIREMENTS)], check=True)
    _STAMP.write_text(wanted, encoding="utf-8")
    return python


if __name__ == "__main__":
    print(peer_python())
