"""The environment is prepared from the lock, with pip as with uv."""

from __future__ import annotations

from pathlib import Path

import pytest
from packaging.requirements import Requirement

from tools import prepare

ROOT = Path(__file__).resolve().parents[2]

LOCK = """
[[package]]
name = "plain"
version = "1.2"
source = { registry = "https://example.org/simple" }

[[package]]
name = "forked"
version = "1.0"
source = { registry = "https://example.org/simple" }
resolution-markers = ["python_full_version < '3.12'"]

[[package]]
name = "forked"
version = "2.0"
source = { registry = "https://example.org/simple" }
resolution-markers = ["python_version >= '3.12' and os_name == 'nt'", "python_version >= '3.13'"]

[[package]]
name = "itself"
source = { editable = "." }
"""


def test_constraints_are_the_locked_versions(tmp_path: Path) -> None:
    lock = tmp_path / "uv.lock"
    lock.write_text(LOCK, encoding="utf-8")
    assert prepare.locked_versions(lock) == [
        "plain==1.2",
        "forked==1.0 ; (python_full_version < '3.12')",
        "forked==2.0 ; (python_version >= '3.12' and os_name == 'nt') or (python_version >= '3.13')",
    ]


def test_every_constraint_of_our_lock_can_be_read() -> None:
    pins = [Requirement(line) for line in prepare.locked_versions(ROOT / "uv.lock")]
    names = [pin.name for pin in pins if pin.marker is None or pin.marker.evaluate()]
    assert "numpy" in names
    assert len(names) == len(set(names)), "one version of each package for this Python"


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An empty project with an environment that has a Python."""
    for name in ("pyproject.toml", "uv.lock"):
        (tmp_path / name).write_text(name, encoding="utf-8")
    (tmp_path / ".venv" / "bin").mkdir(parents=True)
    (tmp_path / ".venv" / "bin" / "python").touch()
    monkeypatch.setattr(prepare, "ROOT", tmp_path)
    monkeypatch.setattr(prepare, "VENV", tmp_path / ".venv")
    monkeypatch.setattr(prepare, "PYTHON", tmp_path / ".venv" / "bin" / "python")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *arguments: str, code: int = 0) -> list[str]:
    """Run the script with an installer that only notes its calls; return what was to be installed."""
    calls: list[str] = []

    def install(kind: str) -> int:
        calls.append(kind)
        return code

    monkeypatch.setattr(prepare, "_install", install)
    monkeypatch.setattr("sys.argv", ["prepare.py", *arguments])
    assert prepare.main() == code
    return calls


def test_a_ready_environment_is_left_alone(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, "--dev") == ["dev"]
    assert run(monkeypatch, "--dev") == []
    assert run(monkeypatch, "--web") == []
    assert run(monkeypatch) == [], "an environment with the tools is also one without them"


def test_the_package_alone_is_not_the_tools(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch) == ["package"]
    assert run(monkeypatch, "--web") == ["pages"]
    assert run(monkeypatch, "--dev") == ["dev"]


@pytest.mark.parametrize("name", ["pyproject.toml", "uv.lock"])
def test_a_changed_project_is_prepared_again(
    name: str, project: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(monkeypatch)
    (project / name).write_text("changed", encoding="utf-8")
    assert run(monkeypatch) == ["package"]


def test_a_failed_installation_is_tried_again(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run(monkeypatch, code=3) == ["package"]
    assert run(monkeypatch) == ["package"]
