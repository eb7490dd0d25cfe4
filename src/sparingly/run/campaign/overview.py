"""How far a campaign is: every round, every rater, and what it has cost so far. Quick, by counting rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sqlalchemy import Connection, func, select

from sparingly.run.campaign.history import History
from sparingly.run.campaign.library import Library, Presence, models_of
from sparingly.run.campaign.pause import Pause, paused_at
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, EVENTS, RATINGS, ROUNDS
from sparingly.run.campaign.time_spent import TimeSpent

if TYPE_CHECKING:
    from sparingly.run.campaign.campaign import Campaign


@dataclass(frozen=True)
class RoundProgress:
    """How far one round is: how many answers it asks for, and how many of them somebody has given."""

    data: str
    number: int
    drawn: str
    asked: int
    answered: int

    @property
    def share(self) -> float:
        """The part that is answered."""
        return self.answered / self.asked if self.asked else 0.0


@dataclass(frozen=True)
class RaterProgress:
    """What one rater has done.

    Attributes:
        rater: The rater.
        answers: The answers that count: corrections change one, they add none.
        corrections: How often an answer was changed.
        seconds: The seconds that came with all of them.
        without_time: How many came without seconds.
        last: When the last one came in.
        by_round: The answers that count by data set and round.
    """

    rater: str
    answers: int
    corrections: int
    seconds: float
    without_time: int
    last: str
    by_round: Mapping[tuple[str, int], int]


@dataclass(frozen=True)
class Cost(TimeSpent):
    """What was spent so far: answers, outputs out of those that the budget allows, and people's time."""

    answers: int
    seconds: float
    without_time: int


@dataclass(frozen=True)
class Overview:
    """How far a campaign is at a number of its journal.

    Attributes:
        campaign: The campaign.
        seq: The number of the last entry.
        closed: Whether it was ended.
        pause: The pause that it is in; None while questions are handed out.
        rounds: Every round, by data set and number.
        raters: Everybody who has answered.
        finished: Why a data set asks no more, by its name.
    """

    campaign: str
    seq: int
    closed: bool
    pause: Pause | None
    rounds: tuple[RoundProgress, ...]
    raters: tuple[RaterProgress, ...]
    finished: Mapping[str, str]

    @property
    def asked(self) -> int:
        """How many answers were asked for."""
        return sum(one.asked for one in self.rounds)

    @property
    def answered(self) -> int:
        """How many of them somebody has given."""
        return sum(one.answered for one in self.rounds)

    @property
    def cost(self) -> Cost:
        """What it has cost so far; corrections took time, too."""
        return Cost(
            sum(one.answers + one.corrections for one in self.raters),
            sum(one.seconds for one in self.raters),
            sum(one.without_time for one in self.raters),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        raters = [
            {
                **vars(one),
                "by_round": [
                    {"data": data, "round": number, "answers": count}
                    for (data, number), count in sorted(one.by_round.items())
                ],
            }
            for one in self.raters
        ]
        return {
            **vars(self),
            "pause": None if self.pause is None else vars(self.pause),
            "rounds": [dict(vars(one)) for one in self.rounds],
            "raters": raters,
            "finished": dict(self.finished),
            "cost": {**vars(self.cost), "hours": self.cost.hours},
        }


def overview(campaign: Campaign) -> Overview:
    """Say how far a campaign is now: every round, every rater, what it cost; nothing is estimated here."""
    name, history = campaign.name, History(campaign.settings, Library(campaign.name))
    with campaign.database.reading() as connection:
        row = connection.execute(
            select(CAMPAIGNS.c.last_seq, CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == name)
        ).one()
        return Overview(
            campaign=name,
            seq=row.last_seq,
            closed=row.closed is not None,
            pause=paused_at(connection, name),
            rounds=_rounds(connection, campaign),
            raters=_raters(connection, name),
            finished={
                data: ended.reason
                for data in campaign.settings.budgets
                if (ended := history.finished(connection, data, row.last_seq)) is not None
            },
        )


def last_entry(campaign: Campaign) -> int:
    """Return the number of the last entry of the journal, which tells whether anything has changed."""
    with campaign.database.reading() as connection:
        query = select(CAMPAIGNS.c.last_seq).where(CAMPAIGNS.c.name == campaign.name)
        return int(connection.execute(query).scalar_one())


def _rounds(connection: Connection, campaign: Campaign) -> tuple[RoundProgress, ...]:
    name, settings = campaign.name, campaign.settings
    present = {data: models_of(connection, name, data) for data in settings.budgets}
    asked = _counted(connection, _cells(name), present)
    answered = _counted(connection, _answers(name), present)
    drawn = connection.execute(
        select(ROUNDS.c.data, ROUNDS.c.number, EVENTS.c.at)
        .join(EVENTS, (EVENTS.c.campaign == ROUNDS.c.campaign) & (EVENTS.c.seq == ROUNDS.c.seq))
        .where(ROUNDS.c.campaign == name)
        .order_by(ROUNDS.c.data, ROUNDS.c.number)
    )
    return tuple(
        RoundProgress(
            row.data,
            row.number,
            row.at,
            asked[row.data, row.number] * len(settings.aspects),
            answered[row.data, row.number],
        )
        for row in drawn
    )


def _cells(name: str) -> Any:
    """Return a query of how many cells were asked for, by data set, round and models."""
    table = ASKED.c
    keys = (table.data, table.round, table.model, table.other)
    return select(*keys, func.count().label("count")).where(table.campaign == name).group_by(*keys)


def _answers(name: str) -> Any:
    """Return a query of how many of them somebody has answered, aspect by aspect."""
    table = RATINGS.c
    once = (
        select(table.data, table.round, table.item, table.model, table.other, table.aspect)
        .where(table.campaign == name)
        .distinct()
        .subquery()
        .c
    )
    keys = (once.data, once.round, once.model, once.other)
    return select(*keys, func.count().label("count")).group_by(*keys)


def _counted(
    connection: Connection, query: Any, present: Mapping[str, Mapping[str, Presence]]
) -> Counter[tuple[str, int]]:
    """Add up counts by data set and round; what is about a model that was withdrawn is asked no more."""
    total: Counter[tuple[str, int]] = Counter()
    for row in connection.execute(query).mappings():
        models = present[row["data"]]
        if all(models[name].withdrawn is None for name in (row["model"], row["other"]) if name):
            total[row["data"], row["round"]] += row["count"]
    return total


def _raters(connection: Connection, name: str) -> tuple[RaterProgress, ...]:
    table = RATINGS.c
    rows = connection.execute(
        select(
            table.rater,
            table.data,
            table.round,
            func.count().label("rows"),
            func.count(table.corrects).label("corrections"),
            func.count(table.seconds).label("timed"),
            func.coalesce(func.sum(table.seconds), 0.0).label("seconds"),
            func.max(table.at).label("last"),
        )
        .where(table.campaign == name)
        .group_by(table.rater, table.data, table.round)
    )
    parts: dict[str, list[Any]] = {}
    for row in rows:
        parts.setdefault(row.rater, []).append(row)
    return tuple(_rater(rater, parts[rater]) for rater in sorted(parts))


def _rater(rater: str, parts: list[Any]) -> RaterProgress:
    total, corrections = sum(row.rows for row in parts), sum(row.corrections for row in parts)
    return RaterProgress(
        rater=rater,
        answers=total - corrections,
        corrections=corrections,
        seconds=float(sum(row.seconds for row in parts)),
        without_time=total - sum(row.timed for row in parts),
        last=max(row.last for row in parts),
        by_round={(row.data, row.round): row.rows - row.corrections for row in parts},
    )
