"""What was asked and known at any number of the journal: rounds, questions, answers, models, pauses."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sqlalchemy import Connection, func, select

from sparingly.base.errors import UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.scale import Ends
from sparingly.data.selection import Selection
from sparingly.data.tables import Preferences, Ratings
from sparingly.run.campaign.datasets import DataSets, models_of
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ASKED, CAMPAIGNS, EVENTS, PLACEMENTS, RATINGS, ROUNDS
from sparingly.run.forms.question import Output, Question
from sparingly.run.rounds.strategy import Finished

PAUSED, RESUMED = "paused", "resumed"
_COLUMNS = ("rater", "item", "model", "other", "aspect", "score", "seconds", "comment")
RATING_COLUMNS = (
    "seq", "at", "data", "round", "rater", "item", "model", "first", "second", "aspect", "score", "seconds",
    "comment", "client", "corrects",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class DataSnapshot:
    """A data set of a campaign at a number of the journal.

    Attributes:
        drawn_from: The set with the models of the first round, which all rounds are drawn from.
        data: The set with the models that are in it at that number, which estimates speak about.
        finished: Why no more is asked; None while it goes on.
    """

    name: str
    seq: int
    drawn_from: EvalSet
    data: EvalSet
    rounds: tuple[Selection, ...]
    finished: Finished | None


@dataclass(frozen=True)
class Pause:
    """A pause that has not ended: its entry, when it began, and the organiser's reason."""

    seq: int
    at: str
    reason: str


class History:
    """Reads the past of a campaign."""

    def __init__(self, settings: Settings, data_sets: DataSets) -> None:
        self.settings, self.data_sets = settings, data_sets

    def last_seq(self, connection: Connection) -> int:
        """Return the number of the last entry."""
        query = select(CAMPAIGNS.c.last_seq).where(CAMPAIGNS.c.name == self.settings.name)
        return int(connection.execute(query).scalar_one())

    def at(self, connection: Connection, data: str, seq: int) -> DataSnapshot:
        """Return what was known of a data set at a number."""
        answers = self.answers(connection, data, seq)
        rounds = self.rounds(connection, data, seq)
        # Rounds are drawn from the models that were there when the first was drawn, however many come later.
        first = self.data_sets.at(connection, data, rounds[0][1] if rounds else seq)
        latest = self.data_sets.at(connection, data, seq)
        return DataSnapshot(
            name=data,
            seq=seq,
            drawn_from=with_answers(first, answers, self.settings.aspects),
            data=with_answers(latest, answers, self.settings.aspects),
            rounds=tuple(selection for selection, _ in rounds),
            finished=self.finished(connection, data, seq),
        )

    def answers(self, connection: Connection, data: str, seq: int) -> list[dict[str, Any]]:
        """Return the answers that count at a number: of each rater about each cell the last."""
        table = RATINGS.c
        rows = connection.execute(
            select(*(table[name] for name in _COLUMNS))
            .where(table.campaign == self.settings.name, table.data == data, table.seq <= seq)
            .order_by(table.seq)
        )
        last = {tuple(row[name] for name in _COLUMNS[:5]): row for row in rows.mappings()}
        # In the order of what they are about, not of their arrival: the same answers give the same set.
        return [dict(last[key]) for key in sorted(last)]

    def round_count(self, connection: Connection, data: str) -> int:
        """Return how many rounds a data set has now."""
        table = ROUNDS.c
        query = select(func.count()).where(table.campaign == self.settings.name, table.data == data)
        return int(connection.execute(query).scalar_one())

    def rounds(self, connection: Connection, data: str, seq: int) -> list[tuple[Selection, int]]:
        """Return the rounds up to a number, each with the number up to which it knew the answers."""
        table = ROUNDS.c
        rows = connection.execute(
            select(table.selection, table.as_of)
            .where(table.campaign == self.settings.name, table.data == data, table.seq <= seq)
            .order_by(table.number)
        )
        return [(Selection.from_dict(json.loads(row.selection)), row.as_of) for row in rows]

    def finished(self, connection: Connection, data: str, seq: int) -> Finished | None:
        """Return why a data set asks no more, where it was finished by a number."""
        for event in self.events(connection, "finished", seq):
            if event["data"] == data:
                return Finished(event["reason"], event["answer"])
        return None

    def events(self, connection: Connection, kind: str, seq: int) -> list[dict[str, Any]]:
        """Return what the events of a kind say, up to a number, in order."""
        table = EVENTS.c
        rows = connection.execute(
            select(table.seq, table.at, table.detail)
            .where(table.campaign == self.settings.name, table.kind == kind, table.seq <= seq)
            .order_by(table.seq)
        )
        return [{**json.loads(row.detail), "seq": row.seq, "at": row.at} for row in rows]


def checked_seq(seq: int | None, last: int) -> int:
    """Return a number of the journal, the last one unless given."""
    if seq is None:
        return last
    if not 1 <= seq <= last:
        raise UsageError(f"There is no entry {seq} in the journal: it goes from 1 to {last}.")
    return seq


def paused_at(connection: Connection, campaign: str, seq: int | None = None) -> Pause | None:
    """Return the pause at a number of the journal, or now; None while questions are handed out."""
    table = EVENTS.c
    query = select(table.seq, table.at, table.kind, table.detail).where(
        table.campaign == campaign, table.kind.in_((PAUSED, RESUMED))
    )
    if seq is not None:
        query = query.where(table.seq <= seq)
    last = connection.execute(query.order_by(table.seq.desc()).limit(1)).one_or_none()
    if last is None or last.kind == RESUMED:
        return None
    return Pause(last.seq, last.at, json.loads(last.detail).get("reason", ""))


def spent_at(connection: Connection, campaign: str, data: str, models: Sequence[str], seq: int) -> int:
    """Return how many outputs, or comparisons, of the first models were asked for up to a number.

    Models that came late are free, and what was asked about one that was withdrawn stays spent.
    """
    table = ASKED.c
    query = select(func.count()).where(
        table.campaign == campaign, table.data == data, table.model.in_(models), table.seq <= seq
    )
    return int(connection.execute(query).scalar_one())


def rating_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return every answer up to a number as it came in, with the columns that ``record`` reads and more."""
    table = RATINGS.c
    query = select(RATINGS).where(table.campaign == campaign, table.seq <= seq).order_by(table.seq)
    rows = []
    for row in connection.execute(query).mappings():
        models = {"model": row["model"], "first": None, "second": None}
        if row["other"]:
            models = {"model": None, "first": row["model"], "second": row["other"]}
        rows.append({name: {**row, **models}[name] for name in RATING_COLUMNS})
    return rows


def shown_first(
    connection: Connection, campaign: str, data: str, seq: int
) -> dict[tuple[str, str, str, str, str], float]:
    """Return by rater, item, both models and aspect which output was shown first: 1 the first, −1 the second.

    Of each rater's answers about a pair the last one counts.
    """
    ratings, places = RATINGS.c, PLACEMENTS.c
    rows = connection.execute(
        select(ratings.rater, ratings.item, ratings.model, ratings.other, ratings.aspect, places.turned)
        .join_from(RATINGS, PLACEMENTS, (ratings.campaign == places.campaign) & (ratings.seq == places.seq))
        .where(ratings.campaign == campaign, ratings.data == data, ratings.seq <= seq, ratings.other != "")
        .order_by(ratings.seq)
    )
    return {
        (row.rater, row.item, row.model, row.other, row.aspect): -1.0 if row.turned else 1.0 for row in rows
    }


# --- Evaluation sets with answers ---


def with_answers(
    data: EvalSet, answers: Sequence[Mapping[str, Any]], aspects: Mapping[str, Ends | None]
) -> EvalSet:
    """Return an unjudged set with answers about its models, on the scales of the campaign."""
    models, names = set(data.models), tuple(aspects)
    scored = [row for row in answers if not row["other"] and row["model"] in models]
    compared = [row for row in answers if row["other"] and models.issuperset((row["model"], row["other"]))]
    comments = np.array([row["comment"] for row in scored], object)
    ratings = Ratings(
        model=_codes(scored, "model", data.models),
        score=np.array([row["score"] for row in scored], np.float64),
        comment=comments if any(text is not None for text in comments) else None,
        **_shared_columns(data, scored, names),
    )
    preferences = Preferences(
        first=_codes(compared, "model", data.models),
        second=_codes(compared, "other", data.models),
        value=np.array([row["score"] for row in compared], np.float64),
        **_shared_columns(data, compared, names),
    )
    scales = {fields.aspect(name): ends for name, ends in aspects.items() if ends is not None}
    return data.with_parts(
        aspects={name: ratings.means(name, *data.shape) for name in aspects},
        ratings=ratings,
        preferences=preferences,
        scales={**data.scales, **scales},
    )


def _shared_columns(
    data: EvalSet, rows: Sequence[Mapping[str, Any]], aspects: tuple[str, ...]
) -> dict[str, Any]:
    """Return the columns that ratings and preferences have in common."""
    raters = tuple(sorted({row["rater"] for row in rows}))
    seconds = [np.nan if row["seconds"] is None else row["seconds"] for row in rows]
    return {
        "item": data.positions(row["item"] for row in rows).astype(np.int32),
        "aspects": aspects,
        "aspect": _codes(rows, "aspect", aspects),
        "raters": raters,
        "rater": _codes(rows, "rater", raters),
        "seconds": np.array(seconds, np.float64),
    }


def _codes(rows: Sequence[Mapping[str, Any]], column: str, names: Sequence[str]) -> Any:
    code = {name: place for place, name in enumerate(names)}
    return np.array([code[row[column]] for row in rows], np.int32)


# --- Questions: what was asked for, and what of it is still to be judged ---


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
    return [
        Question(
            item,
            tuple(Output((name,)) for name in (model, other) if name),
            aspects,
            "pair" if other else "score",
            data,
            round=number,
            place=place,
        )
        for number, place, item, model, other in cells
    ]


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


def cells_of_round(selection: Selection, models: Sequence[str]) -> list[dict[str, Any]]:
    """Return what a round asks about some models: item, model, other, place and probability."""
    cells = []
    for place, row in enumerate(selection):
        if row.pair is None:
            pairs = [(name, "") for name in models if row.models is None or name in row.models]
        else:
            first, second = sorted(row.pair)
            pairs = [(first, second)] if first in models and second in models else []
        shared = {"item": row.item, "place": place, "probability": row.probability}
        cells += [{**shared, "model": model, "other": other} for model, other in pairs]
    return cells
