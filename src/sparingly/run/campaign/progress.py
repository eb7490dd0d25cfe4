"""How far a campaign is: every round, every rater, and what it has cost so far."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any

from sqlalchemy import Connection, func, select, true

from sparingly.base.errors import UsageError
from sparingly.run.campaign.datasets import models_of
from sparingly.run.campaign.history import (
    SKIPPED,
    Pause,
    anchors_at,
    paused_at,
    skipped_cells,
    withdrawn_raters,
)
from sparingly.run.campaign.journal import events_at, timestamp
from sparingly.run.campaign.reader import CampaignReader
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, EVENTS, KNOWN_ANSWERS, RATINGS, ROUNDS


@dataclass(frozen=True, kw_only=True)
class TimeSpent:
    """Answers and people's time; some answers come without theirs."""

    answers: int  # how many answers came in, corrections too: these took time as well
    seconds: float
    without_time: int  # how many came without their seconds, so that the sum is too small
    other_seconds: float = 0.0  # the part of the seconds that went into pages without a score

    @property
    def hours(self) -> float:
        """The hours of all answers together."""
        return self.seconds / 3600

    @property
    def seconds_per_answer(self) -> float | None:
        """The mean over the answers that have a time; None where none has."""
        timed = self.answers - self.without_time
        return (self.seconds - self.other_seconds) / timed if timed else None


# --- Rounds, raters and cost, by counting rows ---


@dataclass(frozen=True)
class RoundProgress:
    """How far one round is: how many answers it asks for, and how many of them somebody has given.

    Outputs with the same text are one question, with one answer for each aspect.
    """

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
    """What one rater has done."""

    rater: str
    answers: int  # the answers that count: corrections change one, they add none
    corrections: int  # how often an answer was changed
    seconds: float  # the seconds of all their work
    without_time: int  # how many came without seconds
    last: str
    by_round: Mapping[tuple[str, int], int]  # the answers that count by data set and round
    withdrawn: bool = False  # whether the organiser withdrew them, so that no estimate has them
    other_seconds: float = 0.0  # those of tutorial, control and repeated pages, and of nothing to judge


@dataclass(frozen=True)
class Overview:
    """How far a campaign is at a number of its journal."""

    campaign: str
    seq: int
    closed: bool
    pause: Pause | None  # the pause that it is in; None while questions are handed out
    rounds: tuple[RoundProgress, ...]
    raters: tuple[RaterProgress, ...]  # everybody who has answered
    finished: Mapping[str, str]  # why a data set asks no more, by its name
    skipped: int = 0  # how many of the answers that were asked for cannot be given, as raters said
    # How many answers came in an hour of the last day; None where that cannot be told.
    per_hour: float | None = None

    @property
    def left(self) -> int:
        """How many answers are still to come."""
        return max(0, self.asked - self.answered - self.skipped)

    @property
    def asked(self) -> int:
        """How many answers were asked for."""
        return sum(progress.asked for progress in self.rounds)

    @property
    def answered(self) -> int:
        """How many of them somebody has given."""
        return sum(progress.answered for progress in self.rounds)

    @property
    def cost(self) -> TimeSpent:
        """What it has cost so far; corrections took time, too."""
        parts = ("seconds", "without_time", "other_seconds")
        totals: dict[str, Any] = {name: sum(getattr(rater, name) for rater in self.raters) for name in parts}
        return TimeSpent(answers=sum(rater.answers + rater.corrections for rater in self.raters), **totals)

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        raters = [
            {
                **vars(rater),
                "by_round": [
                    {"data": data, "round": number, "answers": count}
                    for (data, number), count in sorted(rater.by_round.items())
                ],
            }
            for rater in self.raters
        ]
        return {
            **vars(self),
            "pause": None if self.pause is None else vars(self.pause),
            "rounds": [dict(vars(progress)) for progress in self.rounds],
            "raters": raters,
            "finished": dict(self.finished),
            "cost": {**vars(self.cost), "hours": self.cost.hours},
        }


def overview(campaign: CampaignReader) -> Overview:
    """Say how far a campaign is now: every round, every rater, what it cost; nothing is estimated here."""
    name = campaign.name
    with campaign.database.reading() as connection:
        row = connection.execute(
            select(CAMPAIGNS.c.last_seq, CAMPAIGNS.c.closed).where(CAMPAIGNS.c.name == name)
        ).one()
        return Overview(
            campaign=name,
            seq=row.last_seq,
            per_hour=_pace(connection, name),
            closed=row.closed is not None,
            pause=paused_at(connection, name),
            rounds=_rounds(connection, campaign),
            raters=_raters(connection, name, withdrawn_raters(connection, name, row.last_seq)),
            finished={
                data: finished.reason
                for data in campaign.settings.budgets
                if (finished := campaign.history.finished(connection, data, row.last_seq)) is not None
            },
            skipped=len(campaign.settings.aspects)
            * sum(
                _question_counts(
                    connection,
                    campaign,
                    [
                        (cell[0], 0, *cell[1:], "")
                        for data in campaign.settings.budgets
                        for cell in skipped_cells(connection, name, data, row.last_seq)
                    ],
                ).values()
            ),
        )


def _pace(connection: Connection, name: str) -> float | None:
    """Return how many answers came in an hour of the day before the last one, nights included."""
    at, mine = RATINGS.c.at, RATINGS.c.campaign == name
    first, last = connection.execute(select(func.min(at), func.max(at)).where(mine)).one()
    if first is None or first == last:
        return None
    end = datetime.fromisoformat(last)
    start = max(datetime.fromisoformat(first), end - timedelta(days=1))
    count = connection.execute(select(func.count()).where(mine, at > timestamp(start))).scalar_one()
    return count * 3600 / (end - start).total_seconds()


def _rounds(connection: Connection, campaign: CampaignReader) -> tuple[RoundProgress, ...]:
    name, settings = campaign.name, campaign.settings
    names = ("data", "round", "item", "model", "other")
    asked = select(*(ASKED.c[one] for one in names)).where(ASKED.c.campaign == name)
    asked_counts = _question_counts(connection, campaign, [(*row, "") for row in connection.execute(asked)])
    for data in settings.budgets:
        anchor_cells = anchors_at(connection, name, data, campaign.history.last_seq(connection))
        asked_counts.update((data, cell.round) for cell in anchor_cells)
    # However many raters judged an aspect of a cell, it counts once.
    table = RATINGS.c
    gone = withdrawn_raters(connection, name, campaign.history.last_seq(connection))
    aspects = select(*(table[one] for one in (*names, "aspect"))).where(
        table.campaign == name, table.rater.not_in(gone)
    )
    aspects = aspects.distinct()
    judged_counts = _question_counts(
        connection, campaign, [tuple(row) for row in connection.execute(aspects)]
    )
    rows = connection.execute(
        select(ROUNDS.c.data, ROUNDS.c.number, EVENTS.c.at)
        .join(EVENTS, (EVENTS.c.campaign == ROUNDS.c.campaign) & (EVENTS.c.seq == ROUNDS.c.seq))
        .where(ROUNDS.c.campaign == name)
        .order_by(ROUNDS.c.data, ROUNDS.c.number)
    )
    return tuple(
        RoundProgress(
            data, number, at, asked_counts[data, number] * len(settings.aspects), judged_counts[data, number]
        )
        for data, number, at in rows
    )


def _question_counts(
    connection: Connection, campaign: CampaignReader, cells: Sequence[tuple[Any, ...]]
) -> Counter[tuple[str, int]]:
    """Count cells by data set and round; outputs with the same text are one question.

    What is about a model that was withdrawn is asked no more.
    """
    counts: Counter[tuple[str, int]] = Counter()
    for data in campaign.settings.budgets:
        presence = models_of(connection, campaign.name, data)
        present = {name for name, model in presence.items() if model.withdrawn is None} | {""}
        last = campaign.history.last_seq(connection)
        shared = campaign.history.data_sets.shared_texts(connection, data, last)
        questions = {
            (
                number,
                item,
                *sorted((shared.get((item, model), model), shared.get((item, other), other))),
                about,
            )
            for name, number, item, model, other, about in cells
            if name == data and model in present and other in present
        }
        counts.update((data, question[0]) for question in questions)
    return counts


def _raters(connection: Connection, name: str, withdrawn: set[str]) -> tuple[RaterProgress, ...]:
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
    by_rater: dict[str, list[Any]] = {}
    for row in rows:
        by_rater.setdefault(row.rater, []).append(row)
    other: dict[str, list[tuple[float, str]]] = {}
    for rater, seconds, at in _other_work(connection, name):
        by_rater.setdefault(rater, [])
        other.setdefault(rater, []).append((seconds, at))
    progress = []
    for rater, counts in sorted(by_rater.items()):
        other_seconds = sum(seconds for seconds, _ in other.get(rater, ()))
        total, corrections = sum(row.rows for row in counts), sum(row.corrections for row in counts)
        progress.append(
            RaterProgress(
                rater=rater,
                answers=total - corrections,
                corrections=corrections,
                seconds=float(sum(row.seconds for row in counts)) + other_seconds,
                without_time=total - sum(row.timed for row in counts),
                last=max([row.last for row in counts] or [at for _, at in other[rater]]),
                by_round={(row.data, row.round): row.rows - row.corrections for row in counts},
                withdrawn=rater in withdrawn,
                other_seconds=other_seconds,
            )
        )
    return tuple(progress)


def _other_work(connection: Connection, name: str, seq: int | None = None) -> list[tuple[str, float, str]]:
    """Return by rater the seconds of work that gives no score, each with when it ended.

    It is the tutorial (with all tries, once it is passed), control items, repeats, and pages of which nothing
    could be judged. What has no number in the journal belongs to the last entry before it.
    """
    table = KNOWN_ANSWERS.c
    conditions = [table.campaign == name, table.seconds.is_not(None)]
    if seq is not None:
        for entries in (EVENTS.c, RATINGS.c):
            next_at = select(entries.at).where(entries.campaign == name, entries.seq == seq + 1)
            conditions.append(func.coalesce(table.at < next_at.scalar_subquery(), true()))
    rows = connection.execute(
        select(table.rater, table.kind, table.item, table.model, table.aspect, table.seconds, table.at)
        .where(*conditions)
        .order_by(table.rater, table.item, table.model, table.aspect, table.kind)
    ).all()
    passed = {tuple(row)[:1] + tuple(row)[2:5] for row in rows if row.kind == "passed"}
    work = [
        (row.rater, row.seconds, row.at)
        for row in rows
        if row.kind != "tutorial" or (row.rater, row.item, row.model, row.aspect) not in passed
    ]
    skips = events_at(connection, name, [SKIPPED], seq)
    work += [(skip["rater"], skip.get("seconds") or 0.0, skip["at"]) for skip in skips]
    return [one for one in work if one[1]]


# --- Hours, from which raters are paid ---

HOURS_COLUMNS = (
    "rater", "answers", "corrections", "without_time", "seconds", "other_seconds", "hours",
    "seconds_per_answer", "days", "first", "last",
)  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class RaterHours(TimeSpent):
    """What one rater did, and for how long."""

    rater: str
    corrections: int
    days: int  # on how many days (UTC) there was an answer
    first: str
    last: str


def rater_hours(campaign: CampaignReader, at: int | None = None) -> tuple[RaterHours, ...]:
    """Return the hours of every rater, now or at a number of the journal, in the order of their names.

    The seconds are those that came with the answers. Of several answers about the same thing all count, since
    a correction is work, too; so do pages that give no score.
    """
    by_rater: dict[str, list[Mapping[str, Any]]] = {}
    for row in campaign.ratings(at=at):
        by_rater.setdefault(row["rater"], []).append(row)
    with campaign.database.reading() as connection:
        work = _other_work(connection, campaign.name, at)
    hours = []
    for rater in sorted({*by_rater, *(name for name, _, _ in work)}):
        rows = by_rater.get(rater, [])
        seconds = [row["seconds"] for row in rows if row["seconds"] is not None]
        other = [(spent, moment) for name, spent, moment in work if name == rater]
        moments = sorted([row["at"] for row in rows] + [moment for _, moment in other])
        hours.append(
            RaterHours(
                rater=rater,
                answers=len(rows),
                corrections=sum(row["corrects"] is not None for row in rows),
                without_time=len(rows) - len(seconds),
                seconds=float(sum(seconds)) + sum(spent for spent, _ in other),
                other_seconds=float(sum(spent for spent, _ in other)),
                days=len({moment[:10] for moment in moments}),
                first=moments[0],
                last=moments[-1],
            )
        )
    return tuple(hours)


def hours_table(
    hours: Sequence[RaterHours], rate: float | None = None
) -> tuple[tuple[str, ...], list[dict[str, Any]]]:
    """Return columns and rows of the hours; with a rate per hour, the amount due to everybody, too."""
    if rate is not None and not 0 <= rate < float("inf"):
        raise UsageError(f"The pay per hour is 0 or more, not {rate:g}.")
    rows = []
    for worker in hours:
        mean = worker.seconds_per_answer
        row = {name: getattr(worker, name) for name in HOURS_COLUMNS} | {
            "seconds": round(worker.seconds, 1),
            "other_seconds": round(worker.other_seconds, 1),
            "hours": round(worker.hours, 4),
            "seconds_per_answer": None if mean is None else round(mean, 1),
        }
        if rate is not None:
            row |= {"rate": rate, "amount": round(worker.hours * rate, 2)}
        rows.append(row)
    return HOURS_COLUMNS if rate is None else (*HOURS_COLUMNS, "rate", "amount"), rows
