"""The tables of a campaign's database, as the numbered SQL steps make them.

``campaigns`` hold what was decided at the start and the end of the journal (``last_seq`` and ``head``);
``ratings`` and ``events`` are the journal: no row of theirs is ever changed. The others say what the entries
describe, each with the number of the entry that brought it.
"""

from __future__ import annotations

from typing import Any

from sqlalchemy import (
    BigInteger,
    Column,
    ColumnElement,
    Double,
    Integer,
    LargeBinary,
    MetaData,
    Select,
    Table,
    Text,
    select,
)

PREFIX = "sparingly_"
_METADATA = MetaData()
# A seq is a number of the journal.
_TYPES: dict[str, Any] = {
    "text": Text,
    "int": Integer,
    "seq": BigInteger,
    "float": Double,
    "bytes": LargeBinary,
}


def _table(name: str, key: str, columns: str) -> Table:
    """Return a table from the columns of its primary key and the others.

    A column is written ``name:type``, text unless it has a type, with ``?`` at the end where it may be null.
    """
    key_columns = [_column(text, is_key=True) for text in key.split()]
    return Table(f"{PREFIX}{name}", _METADATA, *key_columns, *map(_column, columns.split()))


def _column(text: str, *, is_key: bool = False) -> Column[Any]:
    name, _, kind = text.rstrip("?").partition(":")
    numbering: Any = False if kind == "seq" else "auto"
    return Column(
        name, _TYPES[kind or "text"], nullable=text.endswith("?"), primary_key=is_key, autoincrement=numbering
    )


SCHEMA = _table("schema", "version:int", "applied_at")
CAMPAIGNS = _table(
    "campaigns",
    "name",
    "created_at aspect aspects strategy stops budget size:int? seed:seq last_seq:seq head closed:seq?",
)
DATA_SETS = _table("data_sets", "campaign name", "budget")
DATA_VERSIONS = _table("data_versions", "campaign data seq:seq", "digest content:bytes")
MODELS = _table("models", "campaign data model", "arrived:seq withdrawn:seq?")
ROUNDS = _table(
    "rounds",
    "campaign data number:int",
    "seq:seq as_of:seq strategy aspect budget size:int? seed:seq inputs labels? digest selection",
)
ASKED = _table("asked", "campaign data item model other", "round:int place:int seq:seq probability:float?")
RATERS = _table("raters", "campaign rater", "seq:seq")
RATINGS = _table(
    "ratings",
    "campaign seq:seq",
    "at data round:int rater item model other aspect client revision:int corrects:seq? score:float "
    "seconds:float? comment? digest",
)
EVENTS = _table("events", "campaign seq:seq", "at kind detail digest")
CLAIMS = _table("claims", "campaign data item model other rater", "holder until calls:int")
ACCESS = _table("access", "campaign digest", "role rater made_at retired_at?")
LEASES = _table("leases", "campaign data unit", "rater until")
DRAFTS = _table("drafts", "campaign rater data item", "at content")
MARKS = _table("marks", "campaign seq:seq", "marks")
PLACEMENTS = _table(
    "placements", "campaign seq:seq", "place:int cards:int turned:int helped:int? help_probability:float?"
)
ENDED_SESSIONS = _table("ended_sessions", "campaign session", "at")
ACCEPTED = _table("accepted", "campaign rater version:int", "consent details at")
KNOWN_ANSWERS = _table(
    "known_answers",
    "campaign rater kind item model aspect",
    "at score:float? expected:float is_right:int seconds:float?",
)
AUDIT = _table("audit", "campaign at id", "who what detail")
TABLES = tuple(_METADATA.tables.values())


def of_campaign(table: Table, campaign: str, **values: Any) -> list[ColumnElement[bool]]:
    """Return the conditions for the rows of a campaign in which some columns have these values."""
    columns = {"campaign": campaign, **values}
    return [table.c[name] == value for name, value in columns.items()]


def rows_of(table: Table, campaign: str, columns: str = "", **values: Any) -> Select[Any]:
    """Return a query for these rows, or for some columns of them."""
    parts: list[Any] = [table.c[name] for name in columns.split()] or [table]
    return select(*parts).where(*of_campaign(table, campaign, **values))
