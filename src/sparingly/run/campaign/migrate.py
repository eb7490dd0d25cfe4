"""Bring a database to the schema of this version, step by numbered step."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from functools import cache
from importlib.resources import files

from sqlalchemy import Connection, func, insert, inspect, select, text

from sparingly.base.errors import DataError
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.tables import SCHEMA

# Any fixed number: who brings the schema up to date holds it on a server.
_LOCK = 7_331_204


@cache
def steps() -> tuple[tuple[int, str], ...]:
    """Return the numbered steps, in order, each with its SQL."""
    folder = files("sparingly.run.campaign").joinpath("schema")
    found = [(path.name, path) for path in folder.iterdir() if path.name.endswith(".sql")]
    return tuple((int(name.split("_")[0]), path.read_text("utf-8")) for name, path in sorted(found))


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
        here = _checked(database, version_of(connection))
    if here == newest():
        return
    if here == 0 and not create:
        raise DataError(f"There is no campaign in {database.name}. Start one with: sparingly campaign new.")
    with database.writing() as connection:
        if not database.is_sqlite:
            connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": _LOCK})
        here = _checked(database, version_of(connection))
        for number, sql in steps():
            if number > here:
                _apply(connection, number, sql)


def _apply(connection: Connection, number: int, sql: str) -> None:
    for statement in statements(sql):
        connection.exec_driver_sql(statement)
    connection.execute(insert(SCHEMA), {"version": number, "applied_at": datetime.now(UTC).isoformat()})


def statements(sql: str) -> list[str]:
    """Return the single statements of a step, without comments."""
    plain = re.sub(r"^--.*$", "", sql, flags=re.MULTILINE)
    return [part.strip() for part in plain.split(";") if part.strip()]


def _checked(database: Database, version: int) -> int:
    if version > newest():
        raise DataError(
            f"{database.name} was written by a newer sparingly (schema {version}; this one: {newest()}). "
            "Update sparingly."
        )
    return version
