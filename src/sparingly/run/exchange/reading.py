"""Take answers one by one: each is taken or left out with a reason, and none is lost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import DataError, InputError
from sparingly.data.io.words import SCALE, word_number
from sparingly.data.scale import Scale
from sparingly.data.values import shown
from sparingly.run.exchange.files import number_in
from sparingly.run.exchange.key import POINTS, Key, Question
from sparingly.run.exchange.report import Given, Judgement, Taken, answers_to, missing_from, ties_of
from sparingly.run.forms.spans import Span, penalty

CANCELLED = "skipped or cancelled by the rater"
DRAFT = "a draft that was not submitted"
NOT_ANSWERED = "no answer was given"
ANSWERED_AGAIN = "answered again later by the same rater"
CONTROL = "a control item (kept apart)"
UNKNOWN_TASK = "a task that the key does not know"
UNKNOWN_OUTPUT = "an output that the key does not know"
UNKNOWN_ASPECT = "an aspect that was not asked for"
NO_RATER = "nobody says who answered (name one with rater=NAME)"
NO_NUMBER = "the score is no number"
BAD_SPAN = "a span outside the text, or of a severity without points"
INCOMPLETE_RANKING = "a ranking that leaves outputs out"
RESET = "undone by a reset of the rater"
_EXAMPLES = 3


@dataclass
class Taking:
    """Collects what a reader finds in the files of a tool.

    A reader calls ``question`` to find what was asked, then ``score``, ``pair``, ``ranking`` or ``spans`` for
    every answer, or ``leave`` with a reason; in the end ``done``.

    Attributes:
        key: The key of the export.
        scale: The scale that the numbers in the files are on; that of the key unless given.
        raters: Names of raters by what the tool calls them.
        rater: Who answered, where neither the files nor the key says.
        assigned: Take the rater who was asked for the one who answered, whatever the tool calls them.
        strict: Refuse a file with a score outside the scale, instead of leaving the score out.
    """

    key: Key
    scale: Scale | None = None
    raters: Mapping[str, str] = field(default_factory=dict)
    rater: str | None = None
    strict: bool = False
    assigned: bool = False
    _read: int = 0
    _found: list[Judgement] = field(default_factory=list)
    _left: dict[str, int] = field(default_factory=dict)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    # --- what is left out -------------------------------------------------------------------------------

    def leave(self, reason: str, where: str, count: int = 1) -> None:
        """Leave answers out for a reason."""
        self._read += count
        self._leave(reason, where, count)

    def leave_question(self, reason: str, question: Question, where: str) -> None:
        """Leave out everything that a task asked for."""
        self.leave(reason, where, answers_to(self.key, question))

    def note(self, sentence: str) -> None:
        """Add a sentence to the report."""
        if sentence not in self._notes:
            self._notes.append(sentence)

    def _leave(self, reason: str, where: str, count: int) -> None:
        if count:
            self._left[reason] = self._left.get(reason, 0) + count
            held = self._examples.setdefault(reason, [])
            if len(held) < _EXAMPLES:
                held.append(where)

    # --- what is found ----------------------------------------------------------------------------------

    def question(self, task: Any, where: str) -> Question | None:
        """Return what a task asked; where the key does not know it, count one answer as left out."""
        found = self.key.questions.get(task) if isinstance(task, str) else None
        if found is None:
            self.leave(UNKNOWN_TASK, f"{where}: {shown(task)}")
        return found

    def score(
        self,
        question: Question,
        token: str,
        aspect: str,
        value: Any,
        given: Given,
        *,
        spans: tuple[Span, ...] = (),
    ) -> None:
        """Take a score of an output, as a number on the tool's scale; None is no answer."""
        self._read += 1
        if token not in question.outputs:
            self._leave(UNKNOWN_OUTPUT, f"{given.where}: {shown(token)}", 1)
        elif aspect not in self.key.asked_aspects:
            self._leave(UNKNOWN_ASPECT, f"{given.where}: {shown(aspect)}", 1)
        elif (score := self._on_scale(value, aspect, given.where)) is not None:
            self._take(question, aspect, (question.outputs[token],), given, score=score, spans=spans)

    def pair(self, question: Question, aspect: str, value: Any, given: Given) -> None:
        """Take a comparison: 1 where the output on the left is better, -1 the right, 0 a tie; None: none."""
        self._read += 1
        if aspect not in self.key.asked_aspects:
            self._leave(UNKNOWN_ASPECT, f"{given.where}: {shown(aspect)}", 1)
        elif value is None:
            self._leave(NOT_ANSWERED, given.where, 1)
        elif (number := number_in(value)) is None or not -1.0 <= number <= 1.0:
            self._leave(NO_NUMBER, f"{given.where}: {shown(value)}", 1)
        else:
            self._take(question, aspect, tuple(question.outputs.values()), given, score=number)

    def ranking(self, question: Question, aspect: str, ranks: Mapping[str, Any] | None, given: Given) -> None:
        """Take a ranking: a rank per token, 1 the best, equal ranks tied."""
        self._read += 1
        if aspect not in self.key.asked_aspects:
            self._leave(UNKNOWN_ASPECT, f"{given.where}: {shown(aspect)}", 1)
        elif not ranks:
            self._leave(NOT_ANSWERED, given.where, 1)
        elif set(ranks) - set(question.outputs):
            self._leave(UNKNOWN_OUTPUT, f"{given.where}: {shown(sorted(ranks))}", 1)
        elif set(ranks) != set(question.outputs):
            self._leave(INCOMPLETE_RANKING, given.where, 1)
        else:
            numbers = {token: rank for token in ranks if (rank := number_in(ranks[token])) is not None}
            if len(numbers) < len(ranks):
                self._leave(NO_NUMBER, f"{given.where}: {shown(list(ranks.values()))}", 1)
                return
            order = sorted(question.outputs, key=lambda token: numbers[token])
            groups = tuple(question.outputs[token] for token in order)
            self._take(question, aspect, groups, given, ranks=tuple(numbers[token] for token in order))

    def spans(
        self,
        question: Question,
        token: str,
        spans: Iterable[Span] | None,
        given: Given,
        scores: Mapping[str, Any] | None = None,
    ) -> None:
        """Take what was marked in an output and the scores beside it, one answer per aspect asked for.

        Without aspects, the answer is minus the points of all errors. ``spans=None`` is no answer.
        """
        marked = self._checked(question, token, spans, given)
        if marked is None:
            return
        if not self.key.aspects:
            self._points(question, token, marked, given)
            return
        for place, aspect in enumerate(self.key.aspects):
            self.score(
                question, token, aspect, (scores or {}).get(aspect), given, spans=() if place else marked
            )

    def _checked(
        self, question: Question, token: str, spans: Iterable[Span] | None, given: Given
    ) -> tuple[Span, ...] | None:
        """Return spans that lie in the output, or leave the answers out."""
        count = len(self.key.asked_aspects)
        if spans is None:
            self.leave(NOT_ANSWERED, given.where, count)
            return None
        marked = tuple(sorted(spans))
        most = question.texts.get(token, math.inf)
        if any(not 0 <= span.start < span.end <= most for span in marked):
            self.leave(BAD_SPAN, given.where, count)
            return None
        return marked

    def _points(self, question: Question, token: str, marked: tuple[Span, ...], given: Given) -> None:
        try:
            score = penalty(marked)
        except DataError:
            self.leave(BAD_SPAN, given.where)
        else:
            self.score(question, token, POINTS, score, given, spans=marked)

    # --- inside -----------------------------------------------------------------------------------------

    def _on_scale(self, value: Any, aspect: str, where: str) -> float | None:
        """Return a number on the scale of the ratings, or leave it out."""
        if value is None or value == "":
            self._leave(NOT_ANSWERED, where, 1)
            return None
        if (word := self._word(value, aspect)) is not None:
            return word
        number = number_in(value)
        if number is None:
            self._leave(NO_NUMBER, f"{where}: {shown(value)}", 1)
            return None
        from_scale = self.scale or self.key.tool_scale(aspect)
        if from_scale is None:
            return number
        if number not in from_scale:
            if self.strict:
                raise InputError(
                    f"the score {number:g} is outside the scale {from_scale}", file=where, field=aspect
                )
            self._leave(f"a score outside the scale {from_scale}", f"{where}: {number:g}", 1)
            return None
        return from_scale.convert(number, self.key.scales.get(aspect, from_scale))

    def _word(self, value: Any, aspect: str) -> float | None:
        """Return what a two-valued word (pass and fail, yes and no …) stands for on a scale from 0 to 1."""
        scale = self.key.scales.get(aspect)
        return word_number(value) if scale is not None and (scale.low, scale.high) == SCALE else None

    def _take(
        self,
        question: Question,
        aspect: str,
        groups: tuple[tuple[str, ...], ...],
        given: Given,
        **answer: Any,
    ) -> None:
        rater = self._rater(question, given)
        if rater is None:
            self._leave(NO_RATER, given.where, 1)
            return
        self._found.append(Judgement(question, aspect, rater, groups, given=given, **answer))

    def _rater(self, question: Question, given: Given) -> str | None:
        """Return who answered: as the tool says, else who was asked, else who was named for all."""
        told = self.raters.get(given.rater, given.rater) if given.rater else None
        if self.assigned and question.rater is not None:
            return question.rater
        return told or question.rater or self.rater

    def done(self) -> Taken:
        """Return the report: of answers of one rater to one question, the last one counts."""
        last: dict[tuple[Any, ...], tuple[tuple[float, int], Judgement]] = {}
        for place, one in enumerate(self._found):
            when = (-math.inf if one.given.when is None else one.given.when, place)
            before = last.get(one.cell)
            if before is not None:
                earlier = one if when < before[0] else before[1]
                self._leave(ANSWERED_AGAIN, earlier.given.where, 1)
            if before is None or when >= before[0]:
                last[one.cell] = (when, one)
        kept = [one for _, one in last.values()]
        controls = tuple(one for one in kept if one.question.control is not None)
        for one in controls:
            self._leave(CONTROL, one.given.where, 1)
        judgements = tuple(one for one in kept if one.question.control is None)
        return Taken(
            judgements=judgements,
            read=self._read,
            left_out=dict(self._left),
            examples={reason: tuple(held) for reason, held in self._examples.items()},
            controls=controls,
            same=ties_of(self.key),
            missing=missing_from(self.key, judgements),
            scales=self.key.scales,
            notes=tuple(self._notes),
        )
