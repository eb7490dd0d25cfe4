"""What was asked for, what of it is still to be judged, and the question that a rater or a judge sees."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Any

from sqlalchemy import Connection, select

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Row, Selection
from sparingly.run.campaign.datasets import models_of
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
class AskedCells:
    """The cells that were asked for in a data set, and which aspects of them nobody has judged yet."""

    cells: tuple[Cell, ...]
    missing: dict[Cell, tuple[str, ...]]

    @property
    def outstanding(self) -> int:
        """How many answers are still to come."""
        return sum(len(aspects) for aspects in self.missing.values())


def asked_at(connection: Connection, settings: Settings, data: str, seq: int) -> AskedCells:
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
        if all(present[name].is_present(seq) for name in (row.model, row.other) if name)
    )
    judged = _answered_aspects(connection, settings, data, seq)
    missing = {
        cell: aspects
        for cell in cells
        if (aspects := tuple(name for name in settings.aspects if (*cell.key[1:], name) not in judged))
    }
    return AskedCells(tuple(cells), missing)


def _answered_aspects(
    connection: Connection, settings: Settings, data: str, seq: int
) -> set[tuple[str, str, str, str]]:
    table = RATINGS.c
    rows = connection.execute(
        select(table.item, table.model, table.other, table.aspect)
        .where(table.campaign == settings.name, table.data == data, table.seq <= seq)
        .distinct()
    )
    return {(row.item, row.model, row.other, row.aspect) for row in rows}


def cells_of(data: str, selection: Selection, number: int, data_set: EvalSet) -> list[tuple[Cell, Row]]:
    """Return the cells that a round asks for, of the models that are in the data set."""
    return [
        (Cell(data, number, place, row.item, model, other), row)
        for place, row in enumerate(selection)
        for model, other in _models_of_row(row, data_set.models)
    ]


def _models_of_row(row: Row, models: Sequence[str]) -> Iterator[tuple[str, str]]:
    if row.pair is None:
        names = models if row.models is None else [name for name in models if name in row.models]
        yield from ((name, "") for name in names)
    elif all(name in models for name in row.pair):
        first, second = sorted(row.pair)
        yield first, second


# --- Questions with the texts to show ---


@dataclass(frozen=True)
class Question:
    """One output to judge, or two to compare.

    Attributes:
        data: The data set.
        round: The round that asks.
        item: The item.
        model: The model whose output is judged, or the first of two.
        other: The second of two models; None for a single output.
        aspects: What is to be judged.
        source: The source text; None where there is none.
        output: What the model wrote.
        other_output: What the other model wrote.
        references: The references by name.
    """

    data: str
    round: int
    item: str
    model: str
    other: str | None
    aspects: tuple[str, ...]
    source: str | None = None
    output: str | None = None
    other_output: str | None = None
    references: dict[str, str] = field(default_factory=dict)

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a form to fill in, one row per aspect, with the columns that ``record`` reads."""
        models = {"model": self.model} if self.other is None else {"first": self.model, "second": self.other}
        texts: dict[str, Any] = {"source": self.source}
        if self.other is None:
            texts["output"] = self.output
        else:
            texts |= {"first_output": self.output, "second_output": self.other_output}
        blank = {"rater": None, "score": None, "seconds": None, "comment": None}
        return [
            {
                "data": self.data,
                "round": self.round,
                "item": self.item,
                **models,
                "aspect": aspect,
                **blank,
                **texts,
            }
            for aspect in self.aspects
        ]


def question_of(data: EvalSet, cell: Cell, aspects: tuple[str, ...]) -> Question:
    """Return what is asked about a cell."""
    row = int(data.positions([cell.item])[0])
    column = {name: place for place, name in enumerate(data.models)}

    def written(model: str) -> str | None:
        return None if data.outputs is None or not model else data.outputs[row, column[model]]

    texts = data.reference_texts
    references = {} if texts is None else dict(zip(data.references, texts[row], strict=True))
    return Question(
        data=cell.data,
        round=cell.round,
        item=cell.item,
        model=cell.model,
        other=cell.other or None,
        aspects=aspects,
        source=None if data.sources is None else data.sources[row],
        output=written(cell.model),
        other_output=written(cell.other),
        references={name: text for name, text in references.items() if text is not None},
    )
