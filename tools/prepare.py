"""Make ``.venv`` ready: the package, with ``--web`` its pages, and with ``--dev`` the tools that check it.

It uses uv when uv is installed and a plain virtual environment with pip otherwise; both install the
versions in ``uv.lock``. A stamp in ``.venv`` remembers what was installed, so a second call takes no time,
and a lock lets two shells call it at once. It is run by whatever Python the machine has, before anything is
installed: standard library only.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
OLDEST = (3, 11)
# What each kind of environment has: pictures, pages, and everything there is.
KINDS = {"package": ("report",), "pages": ("report", "web"), "dev": ("report", "web")}


def main() -> int:
    """Prepare the environment unless its stamp says that it is ready."""
    if sys.version_info < OLDEST:
        return _fail(
            f"sparingly needs Python 3.11 or newer, and {sys.executable} is {sys.version.split()[0]}."
        )
    kind = "dev" if "--dev" in sys.argv[1:] else "pages" if "--web" in sys.argv[1:] else "package"
    (ROOT / ".cache").mkdir(exist_ok=True)
    with (ROOT / ".cache" / "prepare.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if _is_ready(kind):
            return 0
        code = _install(kind)
        if code == 0:
            _stamp(kind).write_text(_wanted(), encoding="utf-8")
        return code


def _is_ready(kind: str) -> bool:
    # Each kind has what those before it have.
    stamps = [_stamp(name) for name in list(KINDS)[list(KINDS).index(kind) :]]
    return PYTHON.exists() and any(s.exists() and s.read_text(encoding="utf-8") == _wanted() for s in stamps)


def _stamp(kind: str) -> Path:
    return VENV / f".ready-{kind}"


def _wanted() -> str:
    """Return what the stamp must say: the files that decide what is installed, and where."""
    digest = hashlib.sha256(str(ROOT).encode())
    for name in ("pyproject.toml", "uv.lock"):
        digest.update((ROOT / name).read_bytes())
    return digest.hexdigest()


def _install(kind: str) -> int:
    uv = shutil.which("uv")
    if uv is not None:
        code = _install_with_uv(uv, kind)
        if code == 0:
            return 0
        _say(f"uv sync failed with exit code {code}; trying a plain virtual environment with pip instead.")
    return _install_with_pip(kind)


def _install_with_uv(uv: str, kind: str) -> int:
    _say(f"Preparing .venv with uv ({kind}): about half a minute, on a busy machine two.")
    extras = [word for extra in KINDS[kind] for word in ("--extra", extra)]
    groups = ["--group", "dev"] if kind == "dev" else ["--no-default-groups", "--inexact", *extras]
    environment = {key: value for key, value in os.environ.items() if key != "VIRTUAL_ENV"}
    environment["UV_PROJECT_ENVIRONMENT"] = str(VENV)
    command = [uv, "sync", "--quiet", "--frozen", "--python", sys.executable, *groups]
    return subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode


def _install_with_pip(kind: str) -> int:
    _say(f"Preparing .venv with pip ({kind}): about half a minute, on a busy machine two.")
    if not _works([str(PYTHON), "-c", f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"]):
        code = _call([sys.executable, "-m", "venv", "--clear", str(VENV)])
        if code:
            return code
    with tempfile.TemporaryDirectory() as folder:
        pins = Path(folder) / "constraints.txt"
        pins.write_text("\n".join(locked_versions(ROOT / "uv.lock")) + "\n", encoding="utf-8")
        pip = [str(PYTHON), "-m", "pip", "--disable-pip-version-check", "install", "--quiet"]
        # Without the tools little is imported, and Python compiles that by itself.
        group = ["--group", f"{ROOT / 'pyproject.toml'}:dev"] if kind == "dev" else ["--no-compile"]
        what = ["--editable", f"{ROOT}[{','.join(KINDS[kind])}]", *group]
        # Dependency groups are understood from pip 25.1 on.
        return _call([*pip, "--upgrade", "pip>=25.1"]) or _call([*pip, "--constraint", str(pins), *what])


def locked_versions(lock: Path) -> list[str]:
    """Return the lock's versions as pip constraints, with a marker where Pythons differ."""
    import tomllib

    pins = []
    for package in tomllib.loads(lock.read_text(encoding="utf-8"))["package"]:
        if "registry" not in package["source"]:
            continue
        markers = " or ".join(f"({marker})" for marker in package.get("resolution-markers", []))
        pins.append(f"{package['name']}=={package['version']}" + (f" ; {markers}" if markers else ""))
    return pins


def _works(command: list[str]) -> bool:
    try:
        return subprocess.run(command, check=False, stderr=subprocess.DEVNULL).returncode == 0
    except OSError:
        return False


def _call(command: list[str]) -> int:
    return subprocess.run(command, cwd=ROOT, check=False).returncode


def _say(sentence: str) -> None:
    sys.stderr.write(f"{sentence}\n")


def _fail(sentence: str) -> int:
    _say(sentence)
    return 2


if __name__ == "__main__":
    sys.exit(main())
