"""Items whose answers are known: a tutorial before the work, and control items hidden within it.

They are no part of the data: no round asks for them and no estimate reads their answers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

from sqlalchemy import func, insert, select

from sparingly.base.errors import InputError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.run.campaign.database import Database
from sparingly.run.campaign.journal import Clock, Journal, timestamp, utc_now
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import KNOWN_ANSWERS, rows_of
from sparingly.run.forms.question import Output, Question, QuestionTexts

# A tutorial item counts as ``passed`` once it was answered right; ``tutorial`` keeps the first try. A
# ``repeat`` is an item that the rater judged before: the known answer is their own.
KnownKind = Literal["tutorial", "control", "passed", "repeat"]
# An answer is right within this share of the scale: 25 points of 100, one star of five, pass for pass.
TOLERANCE = 0.25
# A column of this name says why an answer is right.
EXPLANATION = "explanation"


class KnownItems:
    """Items to judge with their known answers: an evaluation set whose labels are the answers."""

    def __init__(self, data: EvalSet, kind: KnownKind, settings: Settings) -> None:
        """Check that every output has an answer on the scale of every aspect that is asked for."""
        if data.outputs is None:
            raise MissingDataError(f"The {kind} items have no outputs to judge.")
        self.data, self.kind, self.settings = data, kind, settings
        self.texts = QuestionTexts(data)
        names = list(settings.aspects)
        # One label goes with one aspect, whatever they are called.
        single = next(iter(data.aspects)) if len(data.aspects) == len(names) == 1 else None
        for name in names:
            if single is None and name not in data.aspects:
                raise UnknownNameError(f"aspect of the {kind} items", name, data.aspects)
        self._scores = {name: data.aspects[single or name] for name in names}
        for item in self.items:
            for question in self.questions(item):
                for aspect in names:
                    self._check(item, question.model, aspect)

    @cached_property
    def items(self) -> tuple[str, ...]:
        """The items, in the order of the file."""
        return tuple(map(str, self.data.items))

    def questions(self, item: str) -> list[Question]:
        """Return a question for every output of an item, with its text."""
        texts = {name: self.texts.output(item, name) for name in self.data.models}
        return [
            Question(item, (Output((name,), text),), tuple(self.settings.aspects))
            for name, text in texts.items()
            if text is not None
        ]

    def expected(self, item: str, model: str, aspect: str) -> float:
        """Return the known answer."""
        return float(self._scores[aspect][self.data.positions([item])[0], self.data.models.index(model)])

    def is_right(self, item: str, model: str, aspect: str, score: float) -> bool:
        """Say whether an answer is close enough to the known one."""
        ends = self.settings.aspects[aspect]
        width = 0.0 if ends is None else ends[1] - ends[0]
        return abs(score - self.expected(item, model, aspect)) <= TOLERANCE * width + 1e-9

    def explanation(self, item: str) -> str:
        """Return why the answer to an item is right, where the file says so."""
        column = self.data.columns.get(EXPLANATION)
        text = None if column is None else column[self.data.positions([item])[0]]
        return "" if text is None else str(text)

    def _check(self, item: str, model: str, aspect: str) -> None:
        score, ends = self.expected(item, model, aspect), self.settings.aspects[aspect]
        if math.isnan(score):
            raise InputError(f'the {self.kind} item "{item}" has no known answer', field=aspect)
        if ends is None:
            raise UsageError(
                f"Items with known answers need a scale, and {aspect} has none: begin the campaign with "
                "--scale, such as 0,100."
            )
        if not ends[0] <= score <= ends[1]:
            raise InputError(
                f'the known answer {score:g} of the {self.kind} item "{item}" is outside the scale, '
                f"{ends[0]:g} to {ends[1]:g}",
                field=aspect,
            )


@dataclass(frozen=True)
class KnownAnswer:
    """An answer of a rater to an output whose answer is known; no score where they could not judge it."""

    item: str
    model: str
    aspect: str
    score: float | None
    expected: float
    is_right: bool
    seconds: float | None


class KnownAnswers:
    """What the raters of a campaign answered to items whose answers are known."""

    def __init__(self, database: Database, campaign: str, clock: Clock = utc_now) -> None:
        self.database, self.campaign, self.clock = database, campaign, clock

    def items(self, rater: str, kind: KnownKind) -> set[str]:
        """Return the items that a rater has answered."""
        query = rows_of(KNOWN_ANSWERS, self.campaign, "item", rater=rater, kind=kind)
        with self.database.reading() as connection:
            return set(connection.execute(query).scalars())

    def save(self, rater: str, kind: KnownKind, answers: Sequence[KnownAnswer]) -> None:
        """Save the answers to an item; of several tries the first counts."""
        key = {"campaign": self.campaign, "rater": rater, "kind": kind, "at": timestamp(self.clock())}
        with self.database.writing() as connection:
            # Whoever presses twice waits here for the first.
            Journal(connection, self.campaign, self.clock)
            earlier = rows_of(KNOWN_ANSWERS, self.campaign, "item", rater=rater, kind=kind)
            present = set(connection.execute(earlier).scalars())
            rows = [
                {**key, **vars(answer), "is_right": int(answer.is_right)}
                for answer in answers
                if answer.item not in present
            ]
            if rows:
                connection.execute(insert(KNOWN_ANSWERS), rows)

    def counts(self) -> Mapping[tuple[str, str], tuple[int, int]]:
        """Return by rater and kind how many answers were right, and of how many."""
        table = KNOWN_ANSWERS.c
        query = (
            select(table.rater, table.kind, func.sum(table.is_right), func.count())
            .where(table.campaign == self.campaign, table.kind != "passed")
            .group_by(table.rater, table.kind)
        )
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(table.rater, table.kind)).all()
        return {(rater, kind): (int(right), count) for rater, kind, right, count in rows}

    def rows(self) -> list[dict[str, object]]:
        """Return every answer, in the order of raters, kinds and items."""
        table = KNOWN_ANSWERS.c
        query = rows_of(KNOWN_ANSWERS, self.campaign)
        with self.database.reading() as connection:
            rows = connection.execute(query.order_by(table.rater, table.kind, table.item, table.model))
            return [
                {**{name: value for name, value in row.items() if name != "campaign"},
                 "is_right": bool(row["is_right"])}
                for row in rows.mappings()
            ]  # fmt: skip
