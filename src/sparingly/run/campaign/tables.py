"""The tables of a campaign's database, as the numbered SQL steps make them.

``campaigns`` hold what was decided at the start and the end of the journal (``last_seq`` and ``head``);
``ratings`` and ``events`` are the journal: no row of theirs is ever changed. The others say what the entries
speak about, each with the number of the entry that brought it.
"""

from __future__ import annotations

from sqlalchemy import BigInteger, Column, Double, Integer, LargeBinary, MetaData, Table, Text

PREFIX = "sparingly_"
_METADATA = MetaData()


def _key(name: str) -> Column[str]:
    return Column(name, Text, primary_key=True)


def _text(name: str, *, optional: bool = False) -> Column[str]:
    return Column(name, Text, nullable=optional)


def _whole(name: str, *, optional: bool = False, key: bool = False) -> Column[int]:
    return Column(name, Integer, nullable=optional, primary_key=key)


def _seq(name: str, *, optional: bool = False, key: bool = False) -> Column[int]:
    return Column(name, BigInteger, nullable=optional, primary_key=key, autoincrement=False)


def _number(name: str, *, optional: bool = False) -> Column[float]:
    return Column(name, Double, nullable=optional)


def _table(name: str, *columns: Column[str] | Column[int] | Column[float] | Column[bytes]) -> Table:
    return Table(f"{PREFIX}{name}", _METADATA, *columns)


SCHEMA = _table("schema", _whole("version", key=True), _text("applied_at"))
CAMPAIGNS = _table(
    "campaigns",
    _key("name"),
    _text("created_at"),
    _text("aspect"),
    _text("aspects"),
    _text("strategy"),
    _text("stops"),
    _text("budget"),
    _whole("size", optional=True),
    _seq("seed"),
    _seq("last_seq"),
    _text("head"),
    _seq("closed", optional=True),
)
DATA_SETS = _table("data_sets", _key("campaign"), _key("name"), _text("budget"))
DATA_VERSIONS = _table(
    "data_versions",
    _key("campaign"),
    _key("data"),
    _seq("seq", key=True),
    _text("digest"),
    Column("content", LargeBinary, nullable=False),
)
MODELS = _table(
    "models", _key("campaign"), _key("data"), _key("model"), _seq("arrived"), _seq("withdrawn", optional=True)
)
ROUNDS = _table(
    "rounds",
    _key("campaign"),
    _key("data"),
    _whole("number", key=True),
    _seq("seq"),
    _seq("as_of"),
    _text("strategy"),
    _text("aspect"),
    _text("budget"),
    _whole("size", optional=True),
    _seq("seed"),
    _text("inputs"),
    _text("labels", optional=True),
    _text("digest"),
    _text("selection"),
)
ASKED = _table(
    "asked",
    _key("campaign"),
    _key("data"),
    _key("item"),
    _key("model"),
    _key("other"),
    _whole("round"),
    _whole("place"),
    _seq("seq"),
    _number("probability", optional=True),
)
RATERS = _table("raters", _key("campaign"), _key("rater"), _seq("seq"))
RATINGS = _table(
    "ratings",
    _key("campaign"),
    _seq("seq", key=True),
    _text("at"),
    _text("data"),
    _whole("round"),
    _text("rater"),
    _text("item"),
    _text("model"),
    _text("other"),
    _text("aspect"),
    _text("client"),
    _whole("revision"),
    _seq("corrects", optional=True),
    _number("score"),
    _number("seconds", optional=True),
    _text("comment", optional=True),
    _text("digest"),
)
EVENTS = _table(
    "events",
    _key("campaign"),
    _seq("seq", key=True),
    _text("at"),
    _text("kind"),
    _text("detail"),
    _text("digest"),
)
CLAIMS = _table(
    "claims",
    _key("campaign"),
    _key("data"),
    _key("item"),
    _key("model"),
    _key("other"),
    _key("rater"),
    _text("holder"),
    _text("until"),
    _whole("calls"),
)
ACCESS = _table(
    "access",
    _key("campaign"),
    _key("digest"),
    _text("role"),
    _text("rater"),
    _text("made_at"),
    _text("retired_at", optional=True),
)
LEASES = _table("leases", _key("campaign"), _key("data"), _key("unit"), _text("rater"), _text("until"))
DRAFTS = _table(
    "drafts", _key("campaign"), _key("rater"), _key("data"), _key("item"), _text("at"), _text("content")
)
MARKS = _table("marks", _key("campaign"), _seq("seq", key=True), _text("marks"))
PLACEMENTS = _table(
    "placements", _key("campaign"), _seq("seq", key=True), _whole("place"), _whole("cards"), _whole("turned")
)
ENDED_SESSIONS = _table("ended_sessions", _key("campaign"), _key("session"), _text("at"))
AUDIT = _table(
    "audit", _key("campaign"), _key("at"), _key("id"), _text("who"), _text("what"), _text("detail")
)
TABLES = tuple(_METADATA.tables.values())
