"""What a rater has typed and not sent yet, so that a closed laptop loses nothing."""

from __future__ import annotations

from datetime import UTC

from sqlalchemy import ColumnElement, Connection, delete, insert, select, update

from sparingly.run.campaign.database import Database
from sparingly.run.campaign.joint import Joint
from sparingly.run.campaign.journal import Clock, utc_now
from sparingly.run.campaign.tables import DRAFTS


class Drafts:
    """The drafts of a campaign: one for a rater and an item, as text."""

    def __init__(
        self, database: Database, campaign: str, clock: Clock = utc_now, joint: Joint | None = None
    ) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock
        self._joint = joint or Joint(database)

    def save(self, rater: str, data: str, item: str, content: str) -> None:
        """Keep a draft in place of the one before."""
        at = self.clock().astimezone(UTC).isoformat(timespec="microseconds")
        where = self._where(rater, data, item)

        def write(connection: Connection) -> None:
            changed = connection.execute(update(DRAFTS).where(*where).values(at=at, content=content))
            if not changed.rowcount:
                key = {"campaign": self.campaign, "rater": rater, "data": data, "item": item}
                connection.execute(insert(DRAFTS), {**key, "at": at, "content": content})

        self._joint.do(write)

    def read(self, rater: str, data: str, item: str) -> str | None:
        """Return a draft, where there is one."""
        with self.database.reading() as connection:
            query = select(DRAFTS.c.content).where(*self._where(rater, data, item))
            return connection.execute(query).scalar_one_or_none()

    def drop(self, connection: Connection, rater: str, data: str, item: str) -> None:
        """Forget a draft, in a transaction that is under way."""
        connection.execute(delete(DRAFTS).where(*self._where(rater, data, item)))

    def _where(self, rater: str, data: str, item: str) -> tuple[ColumnElement[bool], ...]:
        table = DRAFTS.c
        return (
            table.campaign == self.campaign,
            table.rater == rater,
            table.data == data,
            table.item == item,
        )
