"""How far a campaign is: every round, every rater, and what it has cost so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection, func, select

from sparingly.base.errors import UsageError
from sparingly.run.campaign.datasets import DataSets, Presence, models_of
from sparingly.run.campaign.history import History, Pause, paused_at
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, EVENTS, RATINGS, ROUNDS


class TimeSpent:
    """Hours and seconds an answer, from what was counted; some answers come without their time."""

    answers: int
    seconds: float
    without_time: int

    @property
    def hours(self) -> float:
        """The hours of all answers together."""
        return self.seconds / 3600

    @property
    def seconds_per_answer(self) -> float | None:
        """The mean over the answers that have a time; None where none has."""
        timed = self.answers - self.without_time
        return self.seconds / timed if timed else None


# --- Rounds, raters and cost, by counting rows ---


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


def overview(campaign: CampaignReader) -> Overview:
    """Say how far a campaign is now: every round, every rater, what it cost; nothing is estimated here."""
    name, history = campaign.name, History(campaign.settings, DataSets(campaign.name))
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


def last_entry(campaign: CampaignReader) -> int:
    """Return the number of the last entry of the journal, which tells whether anything has changed."""
    with campaign.database.reading() as connection:
        query = select(CAMPAIGNS.c.last_seq).where(CAMPAIGNS.c.name == campaign.name)
        return int(connection.execute(query).scalar_one())


def _rounds(connection: Connection, campaign: CampaignReader) -> tuple[RoundProgress, ...]:
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


# --- Hours, from which raters are paid ---


COLUMNS = (
    "rater", "answers", "corrections", "without_time", "seconds", "hours", "seconds_per_answer", "days",
    "first", "last",
)  # fmt: skip
PAID = ("rate", "amount")


@dataclass(frozen=True)
class RaterHours(TimeSpent):
    """What one rater did, and for how long.

    Attributes:
        rater: The rater.
        answers: How many answers came in, corrections too: these took time as well.
        corrections: How many of them changed an earlier one.
        without_time: How many came without their seconds, so that the sum is too small.
        seconds: The seconds of all answers together.
        days: On how many days (UTC) there was an answer.
        first: When the first answer came in.
        last: When the last one did.
    """

    rater: str
    answers: int
    corrections: int
    without_time: int
    seconds: float
    days: int
    first: str
    last: str

    def to_row(self, rate: float | None = None) -> dict[str, Any]:
        """Return the columns of the sheet, with the amount due at a rate per hour."""
        row = {name: getattr(self, name) for name in COLUMNS}
        each = self.seconds_per_answer
        row |= {
            "seconds": round(self.seconds, 1),
            "hours": round(self.hours, 4),
            "seconds_per_answer": None if each is None else round(each, 1),
        }
        return row if rate is None else {**row, "rate": rate, "amount": round(self.hours * rate, 2)}


def hours(campaign: CampaignReader, *, at: int | None = None) -> tuple[RaterHours, ...]:
    """Return the hours of every rater who has answered, in the order of their names.

    The seconds are those that came with the answers. Of several answers about the same thing all count, since
    a correction is work, too.
    """
    return hours_of(campaign.ratings(at=at))


def hours_of(ratings: Sequence[Mapping[str, Any]]) -> tuple[RaterHours, ...]:
    """Return the hours of every rater of some answers."""
    by_rater: dict[str, list[Mapping[str, Any]]] = {}
    for row in ratings:
        by_rater.setdefault(row["rater"], []).append(row)
    return tuple(_of_rater(rater, by_rater[rater]) for rater in sorted(by_rater))


def _of_rater(rater: str, rows: list[Mapping[str, Any]]) -> RaterHours:
    seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
    moments = sorted(row["at"] for row in rows)
    return RaterHours(
        rater=rater,
        answers=len(rows),
        corrections=sum(row["corrects"] is not None for row in rows),
        without_time=len(rows) - len(seconds),
        seconds=float(sum(seconds)),
        days=len({moment[:10] for moment in moments}),
        first=moments[0],
        last=moments[-1],
    )


def sheet(
    found: Sequence[RaterHours], rate: float | None = None
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return the columns and rows of the sheet; with a rate per hour, what is due to everybody, too."""
    if rate is not None and not 0 <= rate < float("inf"):
        raise UsageError(f"An hour is paid with 0 or more, not {rate:g}.")
    columns = COLUMNS if rate is None else (*COLUMNS, *PAID)
    return columns, [one.to_row(rate) for one in found]
