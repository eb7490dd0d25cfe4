"""Check that a database still holds what was written: pages, tables, types of values, seals and contents.

Each check relies on the checks before it: seals cannot be computed where a number has become a text. So only
the first problem is reported.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from typing import Any

from sqlalchemy import Connection, Double, Integer, LargeBinary, Table, Text, inspect, select

from sparingly.base.errors import DataError, SparinglyError
from sparingly.run.campaign.datasets import from_bytes
from sparingly.run.campaign.journal import sealed
from sparingly.run.campaign.tables import (
    CAMPAIGNS,
    DATA_SETS,
    DATA_VERSIONS,
    EVENTS,
    MODELS,
    PREFIX,
    RATERS,
    RATINGS,
    ROUNDS,
    TABLES,
)

# What SQLite keeps of each kind: a column of its takes any value. A server refuses others by itself.
_KINDS: tuple[tuple[type[Any], tuple[str, ...]], ...] = (
    (LargeBinary, ("blob",)),
    (Text, ("text",)),
    (Double, ("real", "integer")),
    (Integer, ("integer",)),
)
JournalRow = dict[str, Any]
_SETTINGS = ("aspect", "strategy", "budget", "size", "seed", "aspects", "stops")


def first_problem(connection: Connection, campaign: str | None = None) -> str | None:
    """Return the first thing that is wrong with a database, or None where it holds what was written.

    Seals and what they cover are checked for one campaign, or for all.
    """
    return next(_problems(connection, campaign), None)


def _problems(connection: Connection, campaign: str | None) -> Iterator[str]:
    is_sqlite = connection.dialect.name == "sqlite"
    if is_sqlite:
        verdict = connection.exec_driver_sql("PRAGMA integrity_check(1)").scalar_one()
        if verdict != "ok":
            yield f"The pages of the file do not fit together ({str(verdict).splitlines()[-1]})."
    inspector = inspect(connection)
    names = set(inspector.get_table_names())
    for table in TABLES:
        if table.name not in names:
            yield f"The table {table.name} is gone."
            continue
        columns = {column["name"] for column in inspector.get_columns(table.name)}
        for column in table.columns:
            if column.name not in columns:
                yield f"The column {column.name} of {table.name} is gone."
    yield from _other_kinds(connection)
    if is_sqlite:
        for row in connection.exec_driver_sql("PRAGMA foreign_key_check"):
            if str(row[0]).startswith(PREFIX):
                yield f"A row of {row[0]} refers to something in {row[2]} that is not there."
    campaigns = connection.execute(select(CAMPAIGNS.c.name).order_by(CAMPAIGNS.c.name)).scalars().all()
    for name in campaigns if campaign is None else [campaign]:
        yield from _broken_journal(connection, name)
        yield from _broken_content(connection, name)


def check_kinds(connection: Connection, name: str) -> None:
    """Raise DataError where a database has values of other kinds than were written, before any is used."""
    for problem in _other_kinds(connection):
        raise DataError(f"{name} is damaged. {problem} Take another copy of it.")


def _other_kinds(connection: Connection) -> Iterator[str]:
    if connection.dialect.name != "sqlite":
        return
    for table in TABLES:
        # The conditions under which values are not of the kind of their column; no number is infinite.
        conditions = []
        for column in table.columns:
            kinds = next(names for kind, names in _KINDS if isinstance(column.type, kind))
            listed = ", ".join(f"'{name}'" for name in (*kinds, *(("null",) if column.nullable else ())))
            infinite = f" OR abs({column.name}) = 9e999" if isinstance(column.type, Double) else ""
            conditions.append(f"sum(typeof({column.name}) NOT IN ({listed}){infinite})")
        # Names of our own, and nothing that anybody sent.
        query = f"SELECT {', '.join(conditions)} FROM {table.name}"  # noqa: S608
        for column, count in zip(table.columns, connection.exec_driver_sql(query).one(), strict=True):
            if count:
                yield f"{count} values of {column.name} in {table.name} are not of the kind that was written."


def beginning_problems(connection: Connection, row: JournalRow) -> Iterator[str]:
    """Compare what a campaign's row and its data sets say with what the journal says was decided."""
    events = _events(connection, row["name"], "begun")
    if [seq for seq, _ in events] != [1] or not isinstance(events[0][1], dict):
        yield "The journal does not begin with the campaign's settings and data."
        return
    decisions = events[0][1]
    for name in _SETTINGS:
        value = _parsed(row[name]) if name in ("aspects", "stops") else row[name]
        if name in decisions and value != decisions[name]:
            yield f"The {name} of the campaign is not the one that it began with."
    table = DATA_SETS.c
    sets = connection.execute(select(table.name, table.budget).where(table.campaign == row["name"]))
    budgets = {data_set.name: data_set.budget for data_set in sets}
    same_sets = set(budgets) == set(decisions.get("data", {}))
    if not same_sets or decisions.get("budgets", budgets) != budgets:
        yield "The data sets and their budgets are not those that the campaign began with."


def _broken_journal(connection: Connection, campaign: str) -> Iterator[str]:
    """Number and seal all entries again, then read what they say."""
    end = connection.execute(select(CAMPAIGNS).where(CAMPAIGNS.c.name == campaign)).mappings().one()
    entries = sorted(
        (row for table in (EVENTS, RATINGS) for row in _rows(connection, table, campaign)),
        key=lambda entry: int(entry["seq"]),
    )
    if [entry["seq"] for entry in entries] != list(range(1, end["last_seq"] + 1)):
        yield f"The journal says that it has {end['last_seq']} entries, and {len(entries)} are there."
        return
    head = ""
    for entry in entries:
        head = sealed(head, entry)
        if head != entry["digest"]:
            yield f"The entry {entry['seq']} of the journal, or one before it, was changed."
            return
    if head != end["head"]:
        yield "The end of the journal is not the one that was written last."
    yield from beginning_problems(connection, dict(end))


def _broken_content(connection: Connection, campaign: str) -> Iterator[str]:
    """Compare what the events say with the tables they describe."""
    digests = {
        (name, seq): digest
        for seq, event in _events(connection, campaign, "begun")
        for name, digest in event["data"].items()
    }
    digests |= {
        (event["data"], seq): event["digest"] for seq, event in _events(connection, campaign, "arrived")
    }
    versions = list(_rows(connection, DATA_VERSIONS, campaign))
    if digests != {(row["data"], row["seq"]): row["digest"] for row in versions}:
        yield "The data sets are not those in the journal."
        return
    yield from _broken_sets(connection, campaign, versions)
    yield from _broken_rounds(connection, campaign)
    first: dict[str, int] = {}
    table = RATINGS.c
    for row in connection.execute(select(table.rater, table.seq).where(table.campaign == campaign)):
        first[row.rater] = min(row.seq, first.get(row.rater, row.seq))
    if {row["rater"]: row["seq"] for row in _rows(connection, RATERS, campaign)} != first:
        yield "The raters are not those that answered."


def _broken_sets(connection: Connection, campaign: str, versions: Sequence[JournalRow]) -> Iterator[str]:
    """Compare the models and when they came and went with the versions of the data and the journal."""
    withdrawn = {
        (event["data"], event["model"]): seq for seq, event in _events(connection, campaign, "withdrawn")
    }
    arrived: dict[tuple[str, str], int] = {}
    for row in sorted(versions, key=lambda row: int(row["seq"])):
        try:
            data = from_bytes(row["content"], row["digest"], row["data"])
        except SparinglyError:
            yield f'The content of the data set "{row["data"]}" was changed.'
            return
        for model in data.models:
            arrived.setdefault((row["data"], model), row["seq"])
    stored = {
        (row["data"], row["model"]): (row["arrived"], row["withdrawn"])
        for row in _rows(connection, MODELS, campaign)
    }
    if stored != {key: (seq, withdrawn.get(key)) for key, seq in arrived.items()}:
        yield "The models are not those in the journal."


def _broken_rounds(connection: Connection, campaign: str) -> Iterator[str]:
    events = {
        (event["data"], event["number"]): (seq, event["as_of"], event["digest"])
        for seq, event in _events(connection, campaign, "round")
    }
    rows = {(row["data"], row["number"]): row for row in _rows(connection, ROUNDS, campaign)}
    table = CAMPAIGNS.c
    settings = connection.execute(select(table.aspect, table.size).where(table.name == campaign)).one()
    if set(rows) != set(events):
        yield "The rounds are not those in the journal."
        return
    for (data, number), row in rows.items():
        digest = hashlib.sha256(row["selection"].encode()).hexdigest()[:32]
        is_same = (row["seq"], row["as_of"], digest) == events[data, number] and row["digest"] == digest
        is_same = is_same and (row["aspect"], row["size"]) == tuple(settings)
        # The columns of a round are those of its selection's signature.
        signature = json.loads(row["selection"])["signature"] if is_same else {}
        columns = {**row, "method": row["strategy"]}
        names = ("method", "budget", "seed", "inputs", "labels")
        if not is_same or any(signature.get(name) != columns[name] for name in names):
            yield f"Round {number} of {data} is not the one in the journal."


def _rows(connection: Connection, table: Table, campaign: str) -> list[JournalRow]:
    rows = connection.execute(select(table).where(table.c.campaign == campaign)).mappings()
    return [dict(row) for row in rows]


def _events(connection: Connection, campaign: str, kind: str) -> list[tuple[int, Any]]:
    """Return what the events of a kind say, with their numbers, in order."""
    table = EVENTS.c
    rows = connection.execute(
        select(table.seq, table.detail)
        .where(table.campaign == campaign, table.kind == kind)
        .order_by(table.seq)
    )
    return [(row.seq, _parsed(row.detail)) for row in rows]


def _parsed(text: str) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError, RecursionError):
        return None
