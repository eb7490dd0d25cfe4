"""Who is working on what: two raters at once are not given the same item or document."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import UTC, datetime, timedelta

from sqlalchemy import Connection, delete, insert, select

from sparingly.run.campaign.journal import Clock, utc_now
from sparingly.run.campaign.tables import LEASES

Unit = tuple[str, str]
SECONDS = 1800.0


class Leases:
    """The leases of a campaign: a unit (a data set with an item or a document) is lent for a while."""

    def __init__(self, campaign: str, clock: Clock = utc_now, seconds: float = SECONDS) -> None:
        self.campaign, self.clock, self.seconds = campaign, clock, seconds

    def held(self, connection: Connection) -> dict[Unit, tuple[str, str]]:
        """Return the units that are lent now, each with its rater and the time at which it is free again."""
        table = LEASES.c
        rows = connection.execute(
            select(table.data, table.unit, table.rater, table.until).where(
                table.campaign == self.campaign, table.until > _text(self.clock())
            )
        )
        return {(row.data, row.unit): (row.rater, row.until) for row in rows}

    def is_fresh(self, until: str) -> bool:
        """Say whether more than half of a lease is left, so that it need not be written again."""
        return until > _text(self.clock() + timedelta(seconds=self.seconds / 2))

    def lend(self, connection: Connection, unit: Unit, rater: str) -> None:
        """Lend a unit, or lend it for longer."""
        self.give_back(connection, [unit])
        until = _text(self.clock() + timedelta(seconds=self.seconds))
        row = {"campaign": self.campaign, "data": unit[0], "unit": unit[1], "rater": rater, "until": until}
        connection.execute(insert(LEASES), row)

    def give_back(self, connection: Connection, units: Iterable[Unit]) -> None:
        """End leases."""
        table = LEASES.c
        for data, unit in units:
            connection.execute(
                delete(LEASES).where(table.campaign == self.campaign, table.data == data, table.unit == unit)
            )


def _text(moment: datetime) -> str:
    return moment.astimezone(UTC).isoformat(timespec="microseconds")
