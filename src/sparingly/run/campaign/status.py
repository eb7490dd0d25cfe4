"""Where a campaign stands, now or at any number of its journal."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from sparingly.base.errors import UsageError
from sparingly.base.format import html_table
from sparingly.run.campaign.history import History
from sparingly.run.campaign.library import models_of
from sparingly.run.campaign.pause import paused_at
from sparingly.run.campaign.spending import compares, limit_of, spent_at
from sparingly.run.campaign.tables import CAMPAIGNS, RATINGS
from sparingly.run.campaign.todo import asked_at


@dataclass(frozen=True)
class SetStatus:
    """Where one data set of a campaign stands.

    Attributes:
        data: The data set.
        items: Its number of items.
        models: The models that are judged.
        late: Those of them that came after the first round.
        withdrawn: Models that were taken out.
        rounds: How many rounds were drawn.
        spent: How many outputs (or comparisons) were asked for, of the models of the first round.
        limit: How many outputs (or comparisons) the budget allows.
        asked: How many answers were asked for.
        outstanding: How many of them nobody has given yet.
        answers: How many answers count: of each rater about each cell and aspect the last.
        corrections: How many answers were changed.
        raters: How many people (or judges) answered.
        finished: Why no more is asked; None while it goes on.
        answer: What the strategy found by itself, where it gives an answer.
    """

    data: str
    items: int
    models: tuple[str, ...]
    late: tuple[str, ...]
    withdrawn: tuple[str, ...]
    rounds: int
    spent: int
    limit: int
    asked: int
    outstanding: int
    answers: int
    corrections: int
    raters: int
    finished: str | None
    answer: str | None


@dataclass(frozen=True)
class Status:
    """Where a campaign stands at a number of its journal."""

    campaign: str
    seq: int
    last_seq: int
    aspect: str
    aspects: tuple[str, ...]
    strategy: str
    stops: tuple[str, ...]
    budget: str
    closed: bool
    sets: tuple[SetStatus, ...]
    paused: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the status as plain values."""
        return {
            **vars(self),
            "aspects": list(self.aspects),
            "stops": list(self.stops),
            "sets": [_plain(one) for one in self.sets],
        }

    def _repr_html_(self) -> str:
        rows = [
            (
                one.data,
                one.rounds,
                f"{one.spent} of {one.limit}",
                one.answers,
                one.outstanding,
                one.corrections,
            )
            for one in self.sets
        ]
        columns = ("data set", "rounds", "outputs asked for", "answers", "outstanding", "corrections")
        return html_table(columns, rows, self.campaign, f"entry {self.seq}; {self.strategy}")


def _plain(one: SetStatus) -> dict[str, Any]:
    return {name: list(value) if isinstance(value, tuple) else value for name, value in vars(one).items()}


def status_at(connection: Connection, history: History, seq: int | None) -> Status:
    """Return where a campaign stands at a number, or now."""
    settings, last = history.settings, history.last_seq(connection)
    here = checked_seq(seq, last)
    closed = connection.execute(
        select(CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == settings.name)
    ).scalar_one()
    return Status(
        campaign=settings.name,
        seq=here,
        last_seq=last,
        aspect=settings.aspect,
        aspects=tuple(settings.aspects),
        strategy=settings.strategy,
        stops=settings.stops,
        budget=settings.budget,
        closed=closed is not None and closed <= here,
        sets=tuple(_set_status(connection, history, data, here) for data in settings.budgets),
        paused=paused_at(connection, settings.name, here) is not None,
    )


def checked_seq(seq: int | None, last: int) -> int:
    """Return a number of the journal, the last one unless given."""
    if seq is None:
        return last
    if not 1 <= seq <= last:
        raise UsageError(f"There is no entry {seq} in the journal: it goes from 1 to {last}.")
    return seq


def _set_status(connection: Connection, history: History, data: str, seq: int) -> SetStatus:
    settings = history.settings
    known = history.at(connection, data, seq)
    asked = asked_at(connection, settings, data, seq)
    began, now = known.drawn_from, known.data
    present = models_of(connection, settings.name, data)
    table = RATINGS.c
    where = (table.campaign == settings.name, table.data == data, table.seq <= seq)
    corrections = connection.execute(
        select(func.count()).where(*where, table.corrects.is_not(None))
    ).scalar_one()
    raters = connection.execute(select(func.count(func.distinct(table.rater))).where(*where)).scalar_one()
    finished = known.finished
    return SetStatus(
        data=data,
        items=len(now),
        models=now.models,
        late=tuple(name for name in now.models if name not in began.models),
        withdrawn=tuple(
            sorted(
                name for name, one in present.items() if one.withdrawn is not None and one.withdrawn <= seq
            )
        ),
        rounds=len(known.rounds),
        spent=spent_at(connection, settings.name, data, began, seq),
        limit=limit_of(
            settings.budgets[data], began, pairs=compares(settings.strategy, began, settings.aspect)
        ),
        asked=len(asked.cells) * len(settings.aspects),
        outstanding=asked.outstanding,
        answers=len(history.answers(connection, data, seq)),
        corrections=corrections,
        raters=raters,
        finished=None if finished is None else finished.reason,
        answer=None if finished is None else finished.answer,
    )
