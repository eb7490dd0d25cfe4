"""What was asked for in a campaign, and what of it is still to be judged."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from sqlalchemy import Connection, select

from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Row, Selection
from sparingly.run.campaign.datasets import models_of
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ASKED, RATINGS
from sparingly.run.forms.question import Output, Question


def questions_at(connection: Connection, settings: Settings, data: str, seq: int) -> list[Question]:
    """Return what was asked for at a number, of models that are in the campaign then, without texts.

    The questions are in the order in which people are asked.
    """
    table = ASKED.c
    rows = connection.execute(
        select(table.round, table.place, table.item, table.model, table.other).where(
            table.campaign == settings.name, table.data == data, table.seq <= seq
        )
    )
    present = models_of(connection, settings.name, data)
    cells = sorted(
        tuple(row)
        for row in rows
        if all(present[name].is_present(seq) for name in (row.model, row.other) if name)
    )
    aspects = tuple(settings.aspects)
    return [_question(data, *cell, aspects=aspects) for cell in cells]


def unanswered(
    connection: Connection, settings: Settings, seq: int, questions: Iterable[Question]
) -> list[Question]:
    """Return the questions that are not fully judged at a number, with the aspects that nobody has judged."""
    questions, table = list(questions), RATINGS.c
    sets = sorted({question.data for question in questions})
    rows = connection.execute(
        select(table.data, table.item, table.model, table.other, table.aspect)
        .where(table.campaign == settings.name, table.data.in_(sets), table.seq <= seq)
        .distinct()
    )
    judged = {tuple(row) for row in rows}
    return [
        replace(question, aspects=aspects)
        for question in questions
        if (aspects := tuple(name for name in question.aspects if (*question.cell, name) not in judged))
    ]


def questions_of_round(data: str, selection: Selection, number: int, models: EvalSet) -> list[Question]:
    """Return the questions of a round, of the models that are in the data set."""
    return [
        _question(data, number, place, row.item, model, second, probability=row.probability)
        for place, row in enumerate(selection)
        for model, second in _models_of_row(row, models.models)
    ]


def _question(
    data: str,
    number: int,
    place: int,
    item: str,
    model: str,
    second: str,
    *,
    aspects: tuple[str, ...] = (),
    probability: float | None = None,
) -> Question:
    return Question(
        item,
        (Output((model,)), Output((second,))) if second else (Output((model,)),),
        aspects,
        "pair" if second else "score",
        data,
        number,
        place,
        probability=probability,
    )


def _models_of_row(row: Row, models: Sequence[str]) -> Iterator[tuple[str, str]]:
    if row.pair is None:
        names = models if row.models is None else [name for name in models if name in row.models]
        yield from ((name, "") for name in names)
    elif all(name in models for name in row.pair):
        first, second = sorted(row.pair)
        yield first, second
