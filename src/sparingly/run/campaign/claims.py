"""Who is asking a judge about what: no answer is paid for twice, and every call is counted first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, timedelta

from sqlalchemy import ColumnElement, Connection, func, insert, select, update

from sparingly.run.campaign.database import Database
from sparingly.run.campaign.history import History
from sparingly.run.campaign.journal import Clock, Journal
from sparingly.run.campaign.pause import paused_at
from sparingly.run.campaign.tables import CLAIMS
from sparingly.run.campaign.todo import Cell, asked_at

Claimed = list[tuple[Cell, tuple[str, ...]]]


class Claims:
    """The claims of one caller, which end by themselves after a while."""

    def __init__(
        self, database: Database, history: History, clock: Clock, *, rater: str, holder: str, lease: float
    ) -> None:
        self.database, self.history, self.clock = database, history, clock
        self.rater, self.holder, self.lease = rater, holder, lease
        self.campaign = history.settings.name

    def take(self, data: Sequence[str], most: int, most_calls: int | None) -> Claimed:
        """Claim cells that nobody has judged or is judging now, and count a call for each."""
        with self.database.writing() as connection:
            # Held for what it keeps others from doing; nothing is appended.
            journal = Journal(connection, self.campaign, self.clock)
            if journal.closed is not None or paused_at(connection, self.campaign) is not None:
                return []
            now, until = self._times()
            left = most if most_calls is None else min(most, most_calls - self.calls(connection))
            held = self._held(connection)
            free: Claimed = []
            for name in data:
                asked = asked_at(connection, self.history.settings, name, journal.last_seq)
                free += [
                    (cell, aspects)
                    for cell, aspects in asked.missing.items()
                    if held.get(cell.key, ("", 0))[0] <= now
                ]
            taken = free[: max(0, left)]
            for cell, _ in taken:
                self._count(connection, cell, until, known=cell.key in held)
        return taken

    def again(self, cell: Cell, most_calls: int | None) -> bool:
        """Count one more call about a claimed cell; False where no call is left."""
        with self.database.writing() as connection:
            Journal(connection, self.campaign, self.clock)
            if most_calls is not None and self.calls(connection) >= most_calls:
                return False
            self._count(connection, cell, self._times()[1], known=True)
        return True

    def release(self, cells: Mapping[Cell, int]) -> None:
        """Give cells back that were not judged, each with the calls about it that were not made."""
        with self.database.writing() as connection:
            Journal(connection, self.campaign, self.clock)
            for cell, unmade in cells.items():
                left = {"until": "", "calls": CLAIMS.c.calls - unmade}
                connection.execute(update(CLAIMS).where(*self._where(cell)).values(left))

    def calls(self, connection: Connection) -> int:
        """Return how many calls were made in this campaign, failed ones and those of other callers too."""
        table = CLAIMS.c
        query = select(func.coalesce(func.sum(table.calls), 0)).where(table.campaign == self.campaign)
        return int(connection.execute(query).scalar_one())

    def _held(self, connection: Connection) -> dict[tuple[str, str, str, str], tuple[str, int]]:
        table = CLAIMS.c
        rows = connection.execute(
            select(table.data, table.item, table.model, table.other, table.until, table.calls).where(
                table.campaign == self.campaign, table.rater == self.rater
            )
        )
        return {(row.data, row.item, row.model, row.other): (row.until, row.calls) for row in rows}

    def _count(self, connection: Connection, cell: Cell, until: str, *, known: bool) -> None:
        held = {"holder": self.holder, "until": until}
        if known:
            more = {**held, "calls": CLAIMS.c.calls + 1}
            connection.execute(update(CLAIMS).where(*self._where(cell)).values(more))
            return
        key = {"campaign": self.campaign, "rater": self.rater, "data": cell.data, "item": cell.item}
        connection.execute(
            insert(CLAIMS), {**key, "model": cell.model, "other": cell.other, **held, "calls": 1}
        )

    def _where(self, cell: Cell) -> tuple[ColumnElement[bool], ...]:
        table = CLAIMS.c
        return (
            table.campaign == self.campaign,
            table.rater == self.rater,
            table.data == cell.data,
            table.item == cell.item,
            table.model == cell.model,
            table.other == cell.other,
        )

    def _times(self) -> tuple[str, str]:
        now = self.clock().astimezone(UTC)
        return tuple(  # type: ignore[return-value]
            moment.isoformat(timespec="microseconds") for moment in (now, now + timedelta(seconds=self.lease))
        )
