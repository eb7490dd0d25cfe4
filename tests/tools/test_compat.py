from __future__ import annotations

from pathlib import Path

import pytest

from tools import compat


def test_an_unknown_tool_is_refused(capsys: pytest.CaptureFixture[str]) -> None:
    assert compat.main(["paper"]) == 2
    assert f"There are: {', '.join(sorted(compat.TOOLS))}." in capsys.readouterr().err


def test_a_tool_is_ready_when_it_is_installed_as_wanted(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compat, "ROOT", tmp_path)
    calls: list[list[str]] = []
    monkeypatch.setattr("tools.compat.subprocess.run", lambda command, **_: calls.append(command))
    monkeypatch.setattr("tools.compat.venv.EnvBuilder.create", lambda _, home: Path(home).mkdir(parents=True))
    assert not compat.is_ready("pearmut")
    compat.prepare("pearmut")
    assert compat.is_ready("pearmut")
    assert [command[-1] for command in calls] == ["pearmut==1.1.6", "httpx"]
    compat.prepare("pearmut")
    assert len(calls) == 2
    monkeypatch.setitem(compat.TOOLS, "pearmut", (("pearmut==9.9",),))
    assert not compat.is_ready("pearmut")
