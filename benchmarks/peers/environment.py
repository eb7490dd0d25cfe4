"""Make the environments of the peers, ``.bench/NAME-venv``, with plain venv and pip.

They are kept apart from ``.venv`` and from each other, because every peer needs torch and packages in
versions of its own. A stamp remembers which requirements were installed, so a second call takes no time.
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / ".bench"
REQUIREMENTS = Path(__file__).resolve().parent
_GIGABYTES = {"subset2evaluate": 1.8, "py-irt": 1.3}
# The first Python that a peer refuses.
_TOO_NEW = {"py-irt": (3, 12)}


def requirements(peer: str) -> Path:
    """Return the file that lists what a peer's environment has."""
    return REQUIREMENTS / f"{peer}.txt"


def peer_python(peer: str) -> Path:
    """Return the interpreter of a peer's environment, installing it first where it is missing."""
    venv = FOLDER / f"{peer}-venv"
    python, stamp = venv / "bin" / "python", venv / ".ready"
    wanted = requirements(peer).read_text(encoding="utf-8")
    if python.exists() and stamp.exists() and stamp.read_text(encoding="utf-8") == wanted:
        return python
    if sys.version_info >= _TOO_NEW.get(peer, (4,)):
        newest = ".".join(map(str, _TOO_NEW[peer]))
        raise SystemExit(f"{peer} needs a Python before {newest}: run the benchmark with one.")
    print(
        f"Installing {peer} into {venv.relative_to(ROOT)} (about {_GIGABYTES[peer]} GB, a few minutes).",
        flush=True,
    )
    FOLDER.mkdir(exist_ok=True)
    subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
    pip = [str(python), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
    torch = next(line for line in wanted.splitlines() if line.startswith("torch=="))
    subprocess.run([*pip, torch], check=True)
    subprocess.run([*pip, "--requirement", str(requirements(peer))], check=True)
    stamp.write_text(wanted, encoding="utf-8")
    return python


if __name__ == "__main__":
    for name in sys.argv[1:] or _GIGABYTES:
        print(peer_python(name))
