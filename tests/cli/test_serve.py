from __future__ import annotations

import errno
import os
import resource
import signal
import socket
import sqlite3
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from sparingly.base.errors import InputError
from sparingly.cli.app import run
from sparingly.cli.serve import ServerOptions, _secret, _write_private
from tests.run.campaign.made import begin


def test_a_secret_is_made_once_and_read_only_by_its_owner(tmp_path: Path) -> None:
    where = tmp_path / "c.db"
    begin(str(where)).disconnect()
    secret = _secret(str(where), None)
    file = tmp_path / "c.db.secret"
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert _secret(str(where), None) == secret == file.read_text(encoding="utf-8")
    assert len(secret) >= 43
    assert _secret(str(where), tmp_path / "other") != secret
    file.write_text("short", encoding="utf-8")
    with pytest.raises(InputError, match="at least 32 letters"):
        _secret(str(where), None)


@contextmanager
def a_full_disk() -> Iterator[None]:
    """No file may grow."""
    before, signalled = (
        resource.getrlimit(resource.RLIMIT_FSIZE),
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN),
    )
    resource.setrlimit(resource.RLIMIT_FSIZE, (0, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
        signal.signal(signal.SIGXFSZ, signalled)


def test_a_full_disk_leaves_no_empty_secret(tmp_path: Path) -> None:
    where = tmp_path / "c.db"
    begin(str(where)).disconnect()
    with a_full_disk(), pytest.raises(InputError, match="the file cannot be written"):
        _secret(str(where), None)
    assert [one.name for one in tmp_path.iterdir()] == ["c.db"]
    assert len(_secret(str(where), None)) >= 43


def test_a_secret_is_made_where_the_file_system_has_no_hard_links(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def refuse(*_: object, **__: object) -> None:
        raise OSError(errno.EPERM, "Operation not permitted")

    monkeypatch.setattr(os, "link", refuse)
    where, file = tmp_path / "c.db", tmp_path / "c.db.secret"
    begin(str(where)).disconnect()
    with a_full_disk(), pytest.raises(InputError, match="the file cannot be written"):
        _secret(str(where), None)
    assert [one.name for one in tmp_path.iterdir()] == ["c.db"]
    secret = _secret(str(where), None)
    assert len(secret) >= 43
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    # A second process that saw no file yet leaves the first one's secret as it is.
    _write_private(file, "x" * 43)
    assert _secret(str(where), None) == secret
    assert sorted(one.name for one in tmp_path.iterdir()) == ["c.db", "c.db.secret"]


def test_nothing_is_written_beside_a_database_of_others(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = tmp_path / "other.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (a TEXT)")
    connection.close()
    assert run(["serve", str(path)]) == 2
    assert "There is no campaign in" in capsys.readouterr().err
    assert [one.name for one in tmp_path.iterdir()] == ["other.db"]


def test_a_server_without_a_file_tells_that_sessions_end(capsys: pytest.CaptureFixture[str]) -> None:
    address = "postgresql+psycopg://user@host/name"
    assert _secret(address, None) != _secret(address, None)
    assert "--secret-file" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("host", "local"),
    [("127.0.0.1", True), ("127.8.8.8", True), ("localhost", True), ("::1", True), ("10.0.0.1", False),
     ("::", False), ("example.org", False)],
)  # fmt: skip
def test_which_addresses_are_this_machine(host: str, local: bool) -> None:
    assert ServerOptions(host=host).is_local is local
    hosts = ServerOptions(host=host).hosts
    assert (hosts is not None) is local
    assert not local or {host, "127.0.0.1"} <= set(hosts or ())


def test_what_cannot_be_served_is_said_in_a_sentence(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    begin("c.db").disconnect()
    with socket.create_server(("127.0.0.1", 0)) as taken:
        for line, words in (
            ("serve none.db", "none.db: there is no such file"),
            ("serve c.db --port 99999", "from 0 to 65535"),
            (f"serve c.db --port {taken.getsockname()[1]}", "Give another --port"),
            ("serve c.db --assignment none.json", "none.json"),
            ("serve c.db --public judge.example.org", "such as https://judge.example.org"),
        ):
            assert run(line.split()) == 2
            assert words in capsys.readouterr().err
    assert not (tmp_path / "none.db.secret").exists()


def test_marks_are_written_as_json_lines(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    begin("c.db").disconnect()
    assert run(["campaign", "marks", "c.db", "marks.jsonl"]) == 0
    assert (tmp_path / "marks.jsonl").read_text(encoding="utf-8") == ""
    assert run(["campaign", "marks", "c.db", "marks.csv"]) == 2
    assert "marks.jsonl" in capsys.readouterr().err
