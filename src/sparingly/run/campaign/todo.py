"""What was asked for, and what of it is still to be judged."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from sqlalchemy import Connection, select

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Row, Selection
from sparingly.run.campaign.library import models_of
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ASKED, RATINGS


@dataclass(frozen=True, order=True)
class Cell:
    """What one answer is about, in the order in which people are asked.

    Attributes:
        data: The data set.
        round: The round that asks for it.
        place: The place of its row in the round.
        item: The item.
        model: The model, or the first of a pair.
        other: The second of a pair; empty for a single output.
    """

    data: str
    round: int
    place: int
    item: str
    model: str
    other: str = ""

    @property
    def key(self) -> tuple[str, str, str, str]:
        """What tells cells of a campaign apart."""
        return self.data, self.item, self.model, self.other


@dataclass(frozen=True)
class Asked:
    """The cells that were asked for in a data set, and which aspects of them nobody has judged yet."""

    cells: tuple[Cell, ...]
    missing: dict[Cell, tuple[str, ...]]

    @property
    def outstanding(self) -> int:
        """How many answers are still to come."""
        return sum(len(aspects) for aspects in self.missing.values())


def asked_at(connection: Connection, settings: Settings, data: str, seq: int) -> Asked:
    """Return what was asked for at a number, of models that are in the campaign then."""
    table = ASKED.c
    rows = connection.execute(
        select(table.round, table.place, table.item, table.model, table.other).where(
            table.campaign == settings.name, table.data == data, table.seq <= seq
        )
    )
    present = models_of(connection, settings.name, data)
    cells = sorted(
        Cell(data, *row)
        for row in rows
        if all(present[name].here(seq) for name in (row.model, row.other) if name)
    )
    answered = _answered(connection, settings, data, seq)
    missing = {
        cell: left
        for cell in cells
        if (left := tuple(name for name in settings.aspects if (*cell.key[1:], name) not in answered))
    }
    return Asked(tuple(cells), missing)


def _answered(
    connection: Connection, settings: Settings, data: str, seq: int
) -> set[tuple[str, str, str, str]]:
    table = RATINGS.c
    rows = connection.execute(
        select(table.item, table.model, table.other, table.aspect)
        .where(table.campaign == settings.name, table.data == data, table.seq <= seq)
        .distinct()
    )
    return {(row.item, row.model, row.other, row.aspect) for row in rows}


def cells_of(data: str, selection: Selection, number: int, here: EvalSet) -> list[tuple[Cell, Row]]:
    """Return the cells that a round asks for, of the models that are in the data set."""
    return [
        (Cell(data, number, place, row.item, model, other), row)
        for place, row in enumerate(selection)
        for model, other in _models(row, here.models)
    ]


def _models(row: Row, models: Sequence[str]) -> Iterator[tuple[str, str]]:
    if row.pair is None:
        wanted = models if row.models is None else [name for name in models if name in row.models]
        yield from ((name, "") for name in wanted)
    elif all(name in models for name in row.pair):
        first, second = sorted(row.pair)
        yield first, second
