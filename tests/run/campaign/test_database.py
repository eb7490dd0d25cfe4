from __future__ import annotations

import os
import sqlite3
import stat
import subprocess
import sys
from pathlib import Path

import pytest

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.run.campaign.campaign import Campaign
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.sqlite_lock import SqliteWriteLock
from tests.run.campaign.made import begin


def test_how_sqlite_is_set(tmp_path: Path) -> None:
    database = Database(tmp_path / "a.db", create=True)
    with database.reading() as connection:
        found = {
            name: connection.exec_driver_sql(f"PRAGMA {name}").scalar()
            for name in ("journal_mode", "synchronous", "foreign_keys", "busy_timeout")
        }
    assert found == {"journal_mode": "delete", "synchronous": 3, "foreign_keys": 1, "busy_timeout": 60_000}
    database.close()


@pytest.mark.parametrize(
    ("where", "error", "sentence"),
    [
        ("no/folder/a.db", InputError, "there is no such campaign"),
        ("folder", InputError, "this is a directory"),
        ("text.txt", InputError, "this is not a campaign"),
        ("mysql://host/name", UsageError, "There are no campaigns in mysql databases"),
        ("sqlite://", UsageError, "A campaign lives in a file, not in memory"),
        ("postgresql+nothing://host/name", UsageError, "There is no driver for postgresql"),
        ("://", UsageError, "The address of the database cannot be read"),
    ],
)
def test_what_is_no_database(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str, error: type[Exception], sentence: str
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("folder").mkdir()
    Path("text.txt").write_text("some words, more than sixteen letters", encoding="utf-8")
    with pytest.raises(error, match=sentence):
        Database(where)


def test_a_password_is_never_said() -> None:
    assert "secret" not in Database("postgresql+psycopg://me:secret@host/name").name


def test_a_writer_that_waits_too_long_says_so(tmp_path: Path) -> None:
    path = tmp_path / "a.db"
    holder = sqlite3.connect(path, isolation_level=None)
    holder.execute("BEGIN IMMEDIATE")
    waiter = sqlite3.connect(path, isolation_level=None)
    with pytest.raises(sqlite3.OperationalError, match="locked"):
        SqliteWriteLock(0.05).begin(waiter)
    assert waiter.execute("PRAGMA busy_timeout").fetchone() == (50,)
    holder.execute("COMMIT")
    SqliteWriteLock(0.05).begin(waiter)
    assert waiter.in_transaction
    holder.close()
    waiter.close()


def test_an_error_inside_leaves_nothing(where: str) -> None:
    def fail(campaign: Campaign) -> None:
        with campaign.database.writing() as held:
            held.exec_driver_sql("DELETE FROM sparingly_models")
            held.exec_driver_sql("SELECT nothing FROM nowhere")

    with begin(where) as campaign:
        with pytest.raises(DataError, match="gave an error") as complaint:
            fail(campaign)
        assert "\n" not in str(complaint.value)
        assert campaign.data().models == ("Ash", "Beech", "Cedar")


def test_foreign_keys_hold(where: str) -> None:
    """An answer about something that nobody was asked for cannot be written, whoever writes it."""
    with begin(where) as campaign:
        campaign.next()
        values = (
            "('campaign', 99, '', 'data', 1, 'r', 'no', 'Ash', '', 'overall', '', 0, NULL, 1, NULL, NULL, '')"
        )
        with pytest.raises(DataError, match=r"(?i)foreign key"), campaign.database.writing() as held:
            held.exec_driver_sql(f"INSERT INTO sparingly_ratings VALUES {values}")  # noqa: S608


def test_the_package_does_without_sqlalchemy_until_a_campaign_is_used() -> None:
    code = (
        "import sys; sys.modules['sqlalchemy'] = None; import sparingly, sparingly.cli.app;"
        "sparingly.cli.app.build(); sparingly.load_demo()\n"
        "try: sparingly.Campaign\n"
        "except ImportError as error: print(error)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == 'A campaign needs an extra. Install it with: pip install "sparingly[campaign]"\n'


def test_a_new_file_is_its_owners_alone(tmp_path: Path) -> None:
    """Also what SQLite writes beside it while it works, under the umask that most people have."""
    path, modes = tmp_path / "campaign.db", set()
    before = os.umask(0o022)
    try:
        with begin(str(path)) as campaign:
            with campaign.database.writing() as connection:
                connection.exec_driver_sql("UPDATE sparingly_campaigns SET created_at = 'later'")
                modes |= {(one.name, stat.S_IMODE(one.stat().st_mode)) for one in tmp_path.iterdir()}
            campaign.next()
    finally:
        os.umask(before)
    assert modes == {("campaign.db", 0o600), ("campaign.db-journal", 0o600)}
    assert stat.S_IMODE(path.stat().st_mode) == 0o600


def test_the_permissions_of_a_file_that_is_there_are_kept(tmp_path: Path) -> None:
    path = tmp_path / "campaign.db"
    begin(str(path)).disconnect()
    path.chmod(0o640)
    begin(str(path), name="another").disconnect()
    assert stat.S_IMODE(path.stat().st_mode) == 0o640


@pytest.mark.parametrize("where", ["a\0b.db", "sqlite:///a%00b.db", "postgresql://user@/na\0me"])
def test_a_path_with_nul_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, where: str) -> None:
    monkeypatch.chdir(tmp_path)
    for use in (Campaign, begin):
        with pytest.raises(InputError, match="cannot hold a NUL character"):
            use(where)
    assert list(tmp_path.iterdir()) == []
