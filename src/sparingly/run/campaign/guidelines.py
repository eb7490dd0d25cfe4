"""The guidelines of a campaign: versions in its journal, and which raters accepted which.

A version is an event, so an answer was given under the last version before it in the journal: pages take no
answer from somebody who has not seen the newest one.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from hashlib import sha256

from sqlalchemy import Connection, func, insert, select

from sparingly.run.campaign.database import Database
from sparingly.run.campaign.journal import (
    Clock,
    Journal,
    as_json,
    events_at,
    open_journal,
    timestamp,
    utc_now,
)
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ACCEPTED, EVENTS, rows_of
from sparingly.run.forms.guidelines import Guidelines

KIND = "guidelines"


def guidelines_at(connection: Connection, campaign: str, seq: int | None = None) -> Guidelines | None:
    """Return the last version of the guidelines, now or at a number of the journal; None without any."""
    versions = events_at(connection, campaign, [KIND], seq)
    return Guidelines.parse(versions[-1]["text"], len(versions)) if versions else None


def version_now(connection: Connection, campaign: str) -> int:
    """Return the number of the last version; 0 without any."""
    table = EVENTS.c
    query = select(func.count()).select_from(EVENTS).where(table.campaign == campaign, table.kind == KIND)
    return int(connection.execute(query).scalar_one())


def write_guidelines(database: Database, settings: Settings, text: str, clock: Clock = utc_now) -> Guidelines:
    """Write a new version, unless the text is that of the last one; return what holds now."""
    text = text.replace("\r\n", "\n").strip() + "\n"
    guidelines = Guidelines.parse(text)
    guidelines.check(settings.aspects)
    with database.writing() as connection:
        last = guidelines_at(connection, settings.name)
        if last is not None and last.text == text:
            return last
        journal = open_journal(connection, settings.name, clock)
        journal.event(KIND, text=text)
        journal.finish()
        return Guidelines.parse(text, 1 if last is None else last.version + 1)


@dataclass(frozen=True)
class Acceptance:
    """What a rater accepted last: the version, the consent's digest, and the details they gave."""

    version: int
    consent: str
    details: Mapping[str, str]


class Acceptances:
    """Which guidelines each rater of a campaign accepted."""

    def __init__(self, database: Database, campaign: str, clock: Clock = utc_now) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock
        self._last: dict[str, Acceptance] = {}

    def last(self, rater: str) -> Acceptance | None:
        """Return what a rater accepted last."""
        query = rows_of(ACCEPTED, self.campaign, rater=rater).order_by(ACCEPTED.c.version.desc()).limit(1)
        with self.database.reading() as connection:
            row = connection.execute(query).one_or_none()
        return None if row is None else Acceptance(row.version, row.consent, json.loads(row.details))

    def missing(self, rater: str, guidelines: Guidelines) -> tuple[bool, bool, tuple[str, ...]]:
        """Say whether a rater has to read the guidelines, whether to consent, and which details to give."""
        last = self._last.get(rater)
        if last is None or last.version < guidelines.version:
            last = self.last(rater)
        if last is None:
            return True, bool(guidelines.consent), guidelines.details
        self._last[rater] = last
        if last.version >= guidelines.version:
            return False, False, ()
        lacking = tuple(name for name in guidelines.details if name not in last.details)
        return True, last.consent != digest_of(guidelines.consent), lacking

    def save(self, rater: str, guidelines: Guidelines, details: Mapping[str, str]) -> None:
        """Write that a rater accepted the guidelines, and what they said about themselves."""
        row = {"campaign": self.campaign, "rater": rater, "version": guidelines.version}
        with self.database.writing() as connection:
            # Whoever presses twice waits here for the first.
            Journal(connection, self.campaign, self.clock)
            record: dict[str, str] = {}
            earlier = rows_of(ACCEPTED, self.campaign, "version details", rater=rater)
            for version, text in connection.execute(earlier):
                if version == guidelines.version:
                    return
                record |= json.loads(text)
            record |= details
            connection.execute(
                insert(ACCEPTED),
                {
                    **row,
                    "consent": digest_of(guidelines.consent),
                    "details": as_json(record),
                    "at": timestamp(self.clock()),
                },
            )

    def rows(self, connection: Connection) -> list[dict[str, object]]:
        """Return what every rater accepted and said, in the order of their names."""
        query = rows_of(ACCEPTED, self.campaign, "rater version at details")
        rows = connection.execute(query.order_by(ACCEPTED.c.rater, ACCEPTED.c.version))
        return [{**row, "details": json.loads(row["details"])} for row in rows.mappings()]


def digest_of(consent: str) -> str:
    """Return what is stored of a consent text; empty where there is none."""
    return sha256(consent.encode()).hexdigest()[:32] if consent else ""
