"""Who may come in, by links of which only the digest is stored, and the log of who did what."""

from __future__ import annotations

import hashlib
import json
import re
import secrets
from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Literal

from sqlalchemy import Connection, delete, insert, update

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.journal import Clock, as_json, timestamp, utc_now
from sparingly.run.campaign.tables import ACCESS, AUDIT, ENDED_SESSIONS, LEASES, of_campaign, rows_of

# --- The log of the web pages ---


@dataclass(frozen=True)
class AuditEntry:
    """One line of the log: when somebody did something, and the particulars by name."""

    at: str
    actor: str
    action: str
    detail: dict[str, Any]

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, with the names that files have."""
        return {"at": self.at, "who": self.actor, "what": self.action, "detail": self.detail}


class Audit:
    """The log of a campaign's web pages."""

    def __init__(self, database: Database, campaign: str, clock: Clock = utc_now) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock

    def write(self, actor: str, action: str, **detail: Any) -> None:
        """Add a line."""
        with self.database.writing() as connection:
            self.note(connection, actor, action, **detail)

    def note(self, connection: Connection, actor: str, action: str, **detail: Any) -> None:
        """Add a line in a transaction that is under way: it is there only if the change is."""
        at = timestamp(self.clock())
        line = {"at": at, "id": secrets.token_hex(8), "who": actor, "what": action, "detail": as_json(detail)}
        connection.execute(insert(AUDIT), {"campaign": self.campaign, **line})

    def entries(self, limit: int = 200) -> list[AuditEntry]:
        """Return the last lines, newest first."""
        query = rows_of(AUDIT, self.campaign).order_by(AUDIT.c.at.desc(), AUDIT.c.id).limit(limit)
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return [AuditEntry(row.at, row.who, row.what, json.loads(row.detail)) for row in rows]


# --- Links ---

Role = Literal["rater", "organiser", "reviewer", "viewer"]
# Whom the organiser's pages open to; viewers only read, and reviewers decide where raters disagree.
STAFF: tuple[Role, ...] = ("organiser", "reviewer", "viewer")
# What a reviewer is called as a rater.
REVIEWER = "reviewer: "
_BYTES = 32
_LONGEST_NAME = 100
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")


@dataclass(frozen=True)
class AccessLink:
    """One link that was made, until it is retired."""

    digest: str  # the SHA-256 digest of its token
    role: Role  # what it opens: the pages of a ``rater``, or the organiser's (others read them)
    rater: str  # whose it is; empty for the organiser
    made_at: str
    retired_at: str | None = None


class Access:
    """The links of a campaign."""

    def __init__(self, database: Database, campaign: str, clock: Clock = utc_now) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock
        self._audit = Audit(database, campaign, clock)

    def invite(self, role: Role, rater: str = "", *, by: str = "organiser", token: str | None = None) -> str:
        """Make a link and return its token, which is stored nowhere; a token can open several campaigns."""
        name = "" if role == "organiser" else checked_rater(rater)
        token = token or secrets.token_urlsafe(_BYTES)
        row = {"campaign": self.campaign, "digest": digest_of(token), "role": role, "rater": name}
        with self.database.writing() as connection:
            connection.execute(insert(ACCESS), {**row, "made_at": timestamp(self.clock())})
            self._audit.note(connection, by, "link made", role=role, rater=name)
        return token

    def retire(self, rater: str, role: Role = "rater", *, by: str = "organiser") -> int:
        """Take back all links of a person, whose pages close at once; return how many there were."""
        with self.database.writing() as connection:
            query = rows_of(ACCESS, self.campaign, "rater", role=role)
            names = sorted(set(connection.execute(query).scalars()))
            if rater not in names:
                raise UnknownNameError(role, rater, names)
            links = self._retire(connection, role=role, rater=rater)
            if role == "reviewer":
                self._retire(connection, role="rater", rater=REVIEWER + rater)
            self.give_back(connection, rater if role == "rater" else REVIEWER + rater)
            self._audit.note(connection, by, f"{role} retired", rater=rater, links=links)
        return links

    def give_back(self, connection: Connection, rater: str) -> None:
        """End what is lent to a rater: others may take it at once."""
        connection.execute(delete(LEASES).where(*of_campaign(LEASES, self.campaign, rater=rater)))

    def retire_organiser(self, *, by: str = "organiser") -> int:
        """Take back all links of the organiser, whose pages close at once; return how many there were."""
        with self.database.writing() as connection:
            links = self._retire(connection, role="organiser")
            self._retire(connection, role="rater", rater=f"{REVIEWER}organiser")
            self.give_back(connection, f"{REVIEWER}organiser")
            self._audit.note(connection, by, "organiser's links retired", links=links)
        return links

    def _retire(self, connection: Connection, **values: str) -> int:
        links = of_campaign(ACCESS, self.campaign, retired_at=None, **values)
        query = update(ACCESS).where(*links).values(retired_at=timestamp(self.clock()))
        return connection.execute(query).rowcount

    def entries(self) -> list[AccessLink]:
        """Return every link that was made, oldest first; nothing in it opens a page."""
        query = rows_of(ACCESS, self.campaign).order_by(ACCESS.c.made_at, ACCESS.c.digest)
        with self.database.reading() as connection:
            rows = connection.execute(query).all()
        return [AccessLink(row.digest, row.role, row.rater, row.made_at, row.retired_at) for row in rows]

    def is_retired(self, rater: str) -> bool:
        """Say whether a rater had links, and all of them were taken back."""
        query = rows_of(ACCESS, self.campaign, "retired_at", role="rater", rater=rater)
        with self.database.reading() as connection:
            dates = connection.execute(query).scalars().all()
        return bool(dates) and None not in dates

    def open_to(self, digest: str) -> AccessLink | None:
        """Return the link with a digest, where it opens."""
        with self.database.reading() as connection:
            return self._find(connection, digest)

    def open_session(self, digest: str, session: str) -> AccessLink | None:
        """Return the link that a session began with, where it opens and the session was not ended."""
        query = rows_of(ENDED_SESSIONS, self.campaign, session=session)
        with self.database.reading() as connection:
            is_ended = connection.execute(query).one_or_none() is not None
            return None if is_ended else self._find(connection, digest)

    def end_session(self, session: str, *, after: float) -> None:
        """End a session for good; those that are older than ``after`` seconds end by themselves."""
        table, campaign = ENDED_SESSIONS, self.campaign
        oldest = timestamp(self.clock() - timedelta(seconds=after))
        with self.database.writing() as connection:
            connection.execute(delete(table).where(*of_campaign(table, campaign), table.c.at < oldest))
            connection.execute(delete(table).where(*of_campaign(table, campaign, session=session)))
            row = {"campaign": campaign, "session": session, "at": timestamp(self.clock())}
            connection.execute(insert(table), row)

    def _find(self, connection: Connection, digest: str) -> AccessLink | None:
        query = rows_of(ACCESS, self.campaign, digest=digest, retired_at=None)
        row = connection.execute(query).one_or_none()
        return None if row is None else AccessLink(row.digest, row.role, row.rater, row.made_at)


def digest_of(token: str) -> str:
    """Return what is stored of a token; it is random, so that a plain digest cannot be reversed."""
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()


def is_reviewer(rater: str) -> bool:
    """Say whether a rater decides where two others disagree, and is asked nothing else."""
    return rater.startswith(REVIEWER)


def checked_rater(name: str) -> str:
    """Return the name of a rater, or raise UsageError where it cannot be one."""
    if not name.strip() or name != name.strip() or len(name) > _LONGEST_NAME or _HIDDEN.search(name):
        raise UsageError(
            f"A rater's name has 1 to {_LONGEST_NAME} letters that can be seen, and no blank at its ends."
        )
    return name
