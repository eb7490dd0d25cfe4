"""The journal of a campaign: numbered entries, each sealed with the digest of everything before it.

Whoever appends holds the campaign's row until the transaction ends. So numbers are given in the order in
which entries become visible, and *everything up to number s* means the same whenever it is read.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Any

from sqlalchemy import Connection, func, insert, select, update

from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.run.campaign.tables import CAMPAIGNS, EVENTS, RATINGS

Clock = Callable[[], datetime]
_LETTERS = 32


def utc_now() -> datetime:
    """Return the time now, in UTC."""
    return datetime.now(UTC)


def timestamp(moment: datetime) -> str:
    """Return a time in UTC as it is stored; such texts are in the order of time."""
    return moment.astimezone(UTC).isoformat(timespec="microseconds")


def as_json(values: Any) -> str:
    """Return plain values as JSON, always spelled the same."""
    return json.dumps(values, sort_keys=True, ensure_ascii=True, separators=(",", ":"), allow_nan=False)


def sealed(head: str, values: Mapping[str, Any]) -> str:
    """Return the digest of an entry and of everything before it."""
    content = {name: value for name, value in values.items() if name != "digest"}
    return hashlib.sha256(f"{head}\n{as_json(content)}".encode()).hexdigest()[:_LETTERS]


def check_end(connection: Connection, campaign: str, database: str) -> None:
    """Raise DataError where a journal ends elsewhere than its campaign says: a torn copy, say."""
    end = connection.execute(
        select(CAMPAIGNS.c.last_seq, CAMPAIGNS.c.head).where(CAMPAIGNS.c.name == campaign)
    ).one()
    count, last = 0, (0, "")
    for table in (EVENTS, RATINGS):
        in_campaign = table.c.campaign == campaign
        count += connection.execute(select(func.count()).select_from(table).where(in_campaign)).scalar_one()
        newest = connection.execute(
            select(table.c.seq, table.c.digest).where(in_campaign).order_by(table.c.seq.desc()).limit(1)
        ).one_or_none()
        last = max(last, (0, "") if newest is None else (newest.seq, newest.digest))
    if (count, *last) != (end.last_seq, end.last_seq, end.head):
        raise DataError(
            f"{database} is damaged: its journal should have {end.last_seq} entries, and {count} are there. "
            "Take another copy of it."
        )


def events_at(
    connection: Connection, campaign: str, kinds: Sequence[str], seq: int | None = None, after: int = 0
) -> list[dict[str, Any]]:
    """Return what the events of some kinds say, in order, up to a number of the journal or until now."""
    table = EVENTS.c
    conditions = [table.campaign == campaign, table.kind.in_(kinds), table.seq > after]
    conditions += [] if seq is None else [table.seq <= seq]
    query = select(table.seq, table.at, table.kind, table.detail).where(*conditions).order_by(table.seq)
    rows = connection.execute(query)
    return [{**json.loads(row.detail), "seq": row.seq, "at": row.at, "event": row.kind} for row in rows]


class Journal:
    """The end of a campaign's journal, locked while a transaction appends to it."""

    def __init__(self, connection: Connection, campaign: str, clock: Clock) -> None:
        self.connection, self.campaign, self.clock = connection, campaign, clock
        row = connection.execute(
            select(CAMPAIGNS.c.last_seq, CAMPAIGNS.c.head, CAMPAIGNS.c.closed)
            .where(CAMPAIGNS.c.name == campaign)
            .with_for_update()
        ).one_or_none()
        if row is None:
            names = connection.execute(select(CAMPAIGNS.c.name)).scalars()
            raise UnknownNameError("campaign", campaign, names)
        self.last_seq: int = row.last_seq
        self.head: str = row.head
        self.closed: int | None = row.closed

    def event(self, kind: str, **detail: Any) -> int:
        """Append an event and return its number."""
        self.connection.execute(insert(EVENTS), self.entry({"kind": kind, "detail": as_json(detail)}))
        return self.last_seq

    def entry(self, values: Mapping[str, Any]) -> dict[str, Any]:
        """Return the next entry, numbered and sealed; whoever asks for it writes it in this transaction."""
        self.last_seq += 1
        key = {"campaign": self.campaign, "seq": self.last_seq, "at": timestamp(self.clock())}
        row = {**key, **values}
        self.head = sealed(self.head, row)
        return {**row, "digest": self.head}

    def finish(self, **changed: Any) -> None:
        """Remember where the journal ends now; without it the transaction has appended nothing."""
        self.connection.execute(
            update(CAMPAIGNS)
            .where(CAMPAIGNS.c.name == self.campaign)
            .values(last_seq=self.last_seq, head=self.head, **changed)
        )


def open_journal(connection: Connection, campaign: str, clock: Clock) -> Journal:
    """Return the journal of a campaign to write to, or raise UsageError where it is closed."""
    journal = Journal(connection, campaign, clock)
    if journal.closed is not None:
        raise UsageError(f'The campaign "{campaign}" is closed.')
    return journal
