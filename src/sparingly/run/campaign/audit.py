"""Who did what on the web pages, line by line; nothing in it is ever changed."""

from __future__ import annotations

import json
import secrets
from dataclasses import dataclass
from datetime import UTC
from typing import Any

from sqlalchemy import Connection, insert, select

from sparingly.run.campaign.database import Database
from sparingly.run.campaign.journal import Clock, as_json, utc_now
from sparingly.run.campaign.tables import AUDIT


@dataclass(frozen=True)
class Deed:
    """One line: when, who, what, and the particulars by name."""

    at: str
    who: str
    what: str
    detail: dict[str, Any]


class Audit:
    """The log of a campaign's web pages."""

    def __init__(self, database: Database, campaign: str, clock: Clock = utc_now) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock

    def write(self, who: str, what: str, **detail: Any) -> None:
        """Add a line."""
        with self.database.writing() as connection:
            self.note(connection, who, what, **detail)

    def note(self, connection: Connection, who: str, what: str, **detail: Any) -> None:
        """Add a line in a transaction that is under way: the line is there where the deed is."""
        at = self.clock().astimezone(UTC).isoformat(timespec="microseconds")
        line = {"at": at, "id": secrets.token_hex(8), "who": who, "what": what, "detail": as_json(detail)}
        connection.execute(insert(AUDIT), {"campaign": self.campaign, **line})

    def entries(self, most: int = 200) -> list[Deed]:
        """Return the last lines, newest first."""
        table = AUDIT.c
        query = select(AUDIT).where(table.campaign == self.campaign)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(table.at.desc(), table.id).limit(most)).all()
        return [Deed(row.at, row.who, row.what, json.loads(row.detail)) for row in rows]
