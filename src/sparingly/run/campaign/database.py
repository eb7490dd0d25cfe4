"""The database of a campaign: a SQLite file or a PostgreSQL server, used alike.

SQLite runs with a rollback journal, not a write-ahead log: after every acknowledged answer the one file holds
all of it, so that a copy of the file is a copy of the campaign. ``synchronous=EXTRA`` also syncs the folder
when the journal is gone, without which the last transaction can be undone by a power cut. Writers take the
lock when they begin (``BEGIN IMMEDIATE``), so that none finds out half-way that another was quicker.
"""

from __future__ import annotations

import os
import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files
from pathlib import Path
from typing import Any, cast
from urllib.parse import quote

from sqlalchemy import Connection, Engine, create_engine, event, func, insert, inspect, select, text
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError, SQLAlchemyError
from sqlalchemy.pool import QueuePool

from sparingly.base.errors import (
    DataError,
    ExtraMissingError,
    InputError,
    SparinglyError,
    UsageError,
    one_line,
)
from sparingly.data.files import naming_target
from sparingly.run.campaign.soundness import first_problem
from sparingly.run.campaign.sqlite_lock import SqliteWriteLock
from sparingly.run.campaign.tables import CAMPAIGNS, SCHEMA, TABLES

BUSY_SECONDS = 60.0
_HOW = "Give a file, or a URL such as postgresql+psycopg://user@host/name."
_FULL_DISK = ("disk is full", "no space left", "file too large", "could not extend file")
_DAMAGED = (
    "malformed", "not a database", "file is encrypted", "unsupported file format", "could not decode",
    "no such table", "no such column",
)  # fmt: skip
# What Python says of values that are not what was written. Where the database is sound, it is our mistake.
_UNEXPECTED = (LookupError, TypeError, ValueError, ArithmeticError, AttributeError)


class Database:
    """A connection to the database; ``reading`` and ``writing`` give transactions."""

    def __init__(self, where: str | Path, *, create: bool = False) -> None:
        self.url = _url_of(where)
        self.is_sqlite = self.url.get_backend_name() == "sqlite"
        self.file = Path(self.url.database or "") if self.is_sqlite else None
        self.engine = _server(self.url) if self.file is None else _sqlite(self.file, create)
        self._open = True

    @property
    def name(self) -> str:
        """What the database is called in sentences; without a password."""
        return str(self.file) if self.file is not None else self.url.render_as_string(hide_password=True)

    @contextmanager
    def reading(self) -> Iterator[Connection]:
        """Yield a connection that sees one state of the database, however many statements run in it.

        By default every statement on a server sees a state of its own; a file is locked.
        """
        with self.errors_as_sentences(), self._connected() as connection:
            if not self.is_sqlite:
                connection.execution_options(isolation_level="REPEATABLE READ", postgresql_readonly=True)
            with connection.begin():
                yield connection

    @contextmanager
    def writing(self) -> Iterator[Connection]:
        """Yield a connection whose changes are all committed at the end, or none where something fails."""
        with self.errors_as_sentences(), self._connected() as connection:
            connection.execution_options(sparingly_writes=True)
            with connection.begin():
                yield connection

    def close(self) -> None:
        """Let go of the database."""
        self._open = False
        self.engine.dispose()

    def _connected(self) -> Connection:
        if not self._open:
            raise UsageError(f"The database {self.name} was closed: open the campaign again.")
        return self.engine.connect()

    @contextmanager
    def errors_as_sentences(self) -> Iterator[None]:
        """Turn an error of the database into one sentence that says what to do."""
        try:
            yield
        except (SQLAlchemyError, sqlite3.Error) as error:
            problem = str(error.orig if isinstance(error, DBAPIError) else error)
            raise DataError(one_line(_sentence(self.name, problem))) from error
        except SparinglyError:
            raise
        except UnicodeEncodeError as error:
            raise DataError(one_line(f"A text has a letter that no database keeps ({error}).")) from error
        except _UNEXPECTED as error:
            if (damage := self._damage(error)) is None:
                raise
            sentence = f"{self.name} is damaged. {damage} Take another copy of it."
            raise DataError(one_line(sentence)) from error

    def _damage(self, error: Exception) -> str | None:
        """Say what is wrong with the database where rows could not be understood; None where it is sound."""
        if isinstance(error, UnicodeDecodeError):
            return "Some of its texts are no UTF-8."
        try:
            with self._connected() as connection, connection.begin():
                return first_problem(connection)
        except (DBAPIError, sqlite3.Error, UnicodeDecodeError) as problem:
            return f"It cannot be read ({problem})."


def _sentence(name: str, problem: str) -> str:
    reason = problem.strip().splitlines()[0] if problem.strip() else "no reason given"
    low = reason.lower()
    if any(words in low for words in _FULL_DISK):
        return (
            f"The disk of the campaign {name} is full ({reason}). Acknowledged answers are saved: "
            "make room and send the rest again."
        )
    if "locked" in low:
        return f"Another process has held the campaign {name} for {BUSY_SECONDS:g} s. Try again."
    if any(words in low for words in _DAMAGED):
        return f"{name} is no campaign, or it is damaged ({reason}). Take another copy of the file."
    return (
        f"The database {name} gave an error ({reason.rstrip('.')}). Acknowledged answers are saved: "
        "try again."
    )


def _url_of(address: str | Path) -> URL:
    text = str(address)
    if "\0" in text or "%00" in text:
        raise InputError("the name of a database cannot hold a NUL character", file=text)
    if "://" not in text:
        return URL.create("sqlite", database=text)
    try:
        url = make_url(text)
    except ArgumentError:
        raise UsageError(f"The address of the database cannot be read. {_HOW}") from None
    if url.drivername in ("postgresql", "postgres"):
        url = url.set(drivername="postgresql+psycopg")
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise UsageError(f"There are no campaigns in {url.get_backend_name()} databases. {_HOW}")
    if url.get_backend_name() == "sqlite" and not url.database:
        raise UsageError(f"A campaign lives in a file, not in memory. {_HOW}")
    return url


def _sqlite(path: Path, create: bool) -> Engine:
    if path.is_dir():
        raise InputError("this is a directory, not a campaign's file", file=path)
    if path.exists():
        with path.open("rb") as file:
            start = file.read(16)
        if start and start != b"SQLite format 3\x00":
            raise InputError(
                "this is not a campaign", file=path, fix="Start one with: sparingly campaign new"
            )
    elif not create:
        fix = "Start one with: sparingly campaign new"
        raise InputError("there is no such campaign", file=path, fix=fix)
    elif not path.parent.is_dir():
        raise InputError("the folder to write to does not exist", file=path, fix=f"Make {path.parent}")
    if create:
        # An empty file for its owner alone: it will hold names and answers. The journal follows it.
        with naming_target(path), suppress(FileExistsError):
            os.close(os.open(path, os.O_CREAT | os.O_EXCL | os.O_WRONLY, 0o600))
    address = f"file:{quote(str(path.absolute()))}?mode={'rwc' if create else 'rw'}"

    def connect() -> sqlite3.Connection:
        connection = sqlite3.connect(
            address, uri=True, timeout=BUSY_SECONDS, isolation_level=None, check_same_thread=False
        )
        for pragma in ("foreign_keys=ON", "journal_mode=DELETE", "synchronous=EXTRA"):
            connection.execute(f"PRAGMA {pragma}")
        return connection

    engine = create_engine("sqlite://", creator=connect, poolclass=QueuePool, pool_size=5, max_overflow=50)

    turns = SqliteWriteLock(BUSY_SECONDS)

    @event.listens_for(engine, "begin")
    def begin(connection: Connection) -> None:
        if connection.get_execution_options().get("sparingly_writes", False):
            turns.begin(cast(sqlite3.Connection, connection.connection.dbapi_connection))
        else:
            connection.exec_driver_sql("BEGIN")

    @event.listens_for(engine, "commit")
    def end(connection: Connection) -> None:
        turns.end()

    return engine


def _server(url: URL) -> Engine:
    try:
        engine = create_engine(url, pool_pre_ping=True, pool_size=5, max_overflow=50)
    except NoSuchModuleError:
        raise UsageError(f"There is no driver for {url.drivername}. {_HOW}") from None
    except ModuleNotFoundError as error:
        if error.name != "psycopg":
            raise UsageError(f"The driver of {url.drivername} is not installed. {_HOW}") from None
        raise ExtraMissingError("A campaign in PostgreSQL", "campaign") from None

    @event.listens_for(engine, "connect")
    def prepare(connection: Any, _: object) -> None:
        # An answer that is acknowledged must survive the server, whatever its settings say.
        with connection.cursor() as cursor:
            cursor.execute("SET synchronous_commit TO on")
        connection.commit()

    return engine


# --- Migrations ---

# Any fixed number: the advisory lock of whoever migrates a server.
_LOCK = 7_331_204


@cache
def steps() -> tuple[tuple[int, str], ...]:
    """Return the numbered steps, in order, each with its SQL."""
    folder = files("sparingly.run.campaign").joinpath("schema")
    paths = sorted((path.name, path) for path in folder.iterdir() if path.name.endswith(".sql"))
    return tuple((int(name.split("_")[0]), path.read_text("utf-8")) for name, path in paths)


def newest() -> int:
    """Return the version of the schema that this package writes."""
    return steps()[-1][0]


def version_of(connection: Connection) -> int:
    """Return the version of a database's schema; 0 where it has none."""
    if not inspect(connection).has_table(SCHEMA.name):
        return 0
    return connection.execute(select(func.max(SCHEMA.c.version))).scalar_one() or 0


def migrate(database: Database, *, create: bool = False) -> None:
    """Apply the steps that are missing, all or none; a database of a newer package is refused.

    A database without any of our tables gets them only to ``create`` a campaign in it.
    """
    with database.reading() as connection:
        version = _checked_version(database, connection)
    if version == newest():
        return
    if version == 0 and not create:
        raise DataError(f"There is no campaign in {database.name}. Start one with: sparingly campaign new.")
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        version = _checked_version(database, connection)
        for number, sql in steps():
            if number > version:
                for statement in statements(sql):
                    connection.exec_driver_sql(statement)
                row = {"version": number, "applied_at": datetime.now(UTC).isoformat()}
                connection.execute(insert(SCHEMA), row)


def statements(sql: str) -> list[str]:
    """Return the single statements of a step, without comments."""
    plain = re.sub(r"^--.*$", "", sql, flags=re.MULTILINE)
    return [part.strip() for part in plain.split(";") if part.strip()]


def _checked_version(database: Database, connection: Connection) -> int:
    version = version_of(connection)
    if version > newest():
        raise DataError(
            f"{database.name} was written by a newer sparingly (schema {version}; this one: {newest()}). "
            "Update sparingly."
        )
    return version


# --- Copies of a live campaign, from a file or a server, in a file of their own ---


# Rows that are in memory at a time.
_ROWS = 2000


def back_up(database: Database, campaign: str, target: Path) -> int:
    """Copy one state of a campaign into a new file while others work on it; return its journal's last entry.

    The file appears whole or not at all.
    """
    if target.exists():
        raise InputError("there is such a file already", file=target, fix="Give a new name")
    with naming_target(target):
        handle, name = tempfile.mkstemp(prefix=f".{target.name}.", dir=target.parent)
    os.close(handle)
    copy = Database(name, create=True)
    try:
        migrate(copy, create=True)
        with database.reading() as source, copy.writing() as made:
            for table in (table for table in TABLES if table is not SCHEMA):
                owner = table.c.name if table is CAMPAIGNS else table.c.campaign
                rows = source.execution_options(yield_per=_ROWS).execute(
                    select(table).where(owner == campaign)
                )
                for part in rows.mappings().partitions(_ROWS):
                    made.execute(insert(table), [dict(row) for row in part])
            last_seq: int = made.execute(select(CAMPAIGNS.c.last_seq)).scalar_one()
        copy.close()
        # Linking refuses a file that somebody has made meanwhile; the database has synced what it wrote.
        with naming_target(target):
            os.link(name, target)
    finally:
        copy.close()
        Path(name).unlink(missing_ok=True)
    return last_seq
