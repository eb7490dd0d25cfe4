"""The data sets of a campaign, read from the database once and kept."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection, select

from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.content import from_bytes
from sparingly.run.campaign.tables import DATA_VERSIONS, MODELS


@dataclass(frozen=True)
class Presence:
    """When a model came into a data set and when it left, as numbers of the journal."""

    arrived: int
    withdrawn: int | None

    def here(self, seq: int) -> bool:
        """Whether the model was in the data set at a number."""
        return self.arrived <= seq and (self.withdrawn is None or self.withdrawn > seq)


class Library:
    """Reads the versions of the data sets of a campaign; what was read is kept."""

    def __init__(self, campaign: str) -> None:
        self.campaign = campaign
        self._sets: dict[tuple[str, int], EvalSet] = {}

    def at(self, connection: Connection, data: str, seq: int) -> EvalSet:
        """Return a data set as it was at a number of the journal, with the models that were in it then."""
        versions = [number for number in self._versions(connection, data) if number <= seq]
        held = self._read(connection, data, max(versions))
        present = models_of(connection, self.campaign, data)
        here = [name for name in held.models if present[name].here(seq)]
        return held if len(here) == len(held.models) else held.take(models=here)

    def _versions(self, connection: Connection, data: str) -> list[int]:
        table = DATA_VERSIONS.c
        query = select(table.seq).where(table.campaign == self.campaign, table.data == data)
        return list(connection.execute(query).scalars())

    def _read(self, connection: Connection, data: str, version: int) -> EvalSet:
        if (data, version) not in self._sets:
            table = DATA_VERSIONS.c
            row = connection.execute(
                select(table.content, table.digest).where(
                    table.campaign == self.campaign, table.data == data, table.seq == version
                )
            ).one()
            self._sets[data, version] = from_bytes(row.content, row.digest, data)
        return self._sets[data, version]


def models_of(connection: Connection, campaign: str, data: str) -> dict[str, Presence]:
    """Return when each model of a data set came and went."""
    table = MODELS.c
    rows = connection.execute(
        select(table.model, table.arrived, table.withdrawn).where(
            table.campaign == campaign, table.data == data
        )
    )
    return {row.model: Presence(row.arrived, row.withdrawn) for row in rows}
