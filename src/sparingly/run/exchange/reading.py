"""Read the answers of a tool one by one: each is taken or left out with a reason, and none is lost."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.data.io.words import SCALE, word_number
from sparingly.data.scale import Scale
from sparingly.data.values import shown
from sparingly.run.exchange.files import number_in
from sparingly.run.exchange.key import POINTS, Key
from sparingly.run.exchange.report import ImportReport, answers_to, missing_from, ties_of
from sparingly.run.forms.answer import Answer
from sparingly.run.forms.question import Output, Question
from sparingly.run.forms.spans import Span, penalty

CANCELLED = "skipped or cancelled by the rater"
DRAFT = "a draft that was not submitted"
NOT_ANSWERED = "no answer was given"
ANSWERED_AGAIN = "answered again later by the same rater"
CONTROL = "a control item (stored separately)"
UNKNOWN_TASK = "a task that the key does not know"
UNKNOWN_OUTPUT = "an output that the key does not know"
UNKNOWN_ASPECT = "an aspect that is not in the task"
NO_RATER = "no rater is named"
NO_NUMBER = "the score is no number"
NO_CHOICE = "a number that is none of the choices"
BAD_SPAN = "a span outside the text, or of a severity without points"
INCOMPLETE_RANKING = "a ranking that leaves outputs out"
RESET = "undone by a reset of the rater"
_EXAMPLES = 3


@dataclass(frozen=True)
class Submission:
    """Who sent something, when and how, as the files of a tool say it.

    Attributes:
        rater: The rater as the tool calls them; None where it does not say.
        origin: Where it stands in the files, for the report: ``export.json, task 3``.
        seconds: How long an answer took.
        comment: What the rater said.
        time: When, as seconds since 1970, by which a later answer replaces an earlier one; the order of the
            files settles what has no time.
    """

    rater: str | None
    origin: str
    seconds: float | None = None
    comment: str | None = None
    time: float | None = None


@dataclass
class Reading:
    """Collects the answers that a reader sees in the files of a tool.

    A reader calls ``question`` to find what was asked, then ``score``, ``pair``, ``ranking`` or ``spans`` for
    every answer, or ``leave`` with a reason; in the end ``report``.

    Attributes:
        key: The key of the export.
        scale: The scale that the numbers in the files are on; default: that of the key.
        raters: Names of raters by what the tool calls them.
        rater: Who answered, where neither the files nor the key says.
        assigned: Take the assigned rater to be the one who answered, whatever the tool calls them.
        strict: Refuse a file with a score outside the scale, instead of leaving the score out.
    """

    key: Key
    scale: Scale | None = None
    raters: Mapping[str, str] = field(default_factory=dict)
    rater: str | None = None
    strict: bool = False
    assigned: bool = False
    _answers: list[Answer] = field(default_factory=list)
    _left_out: dict[str, int] = field(default_factory=dict)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def leave(self, reason: str, origin: str, count: int = 1) -> None:
        """Leave answers out for a reason."""
        if count:
            self._left_out[reason] = self._left_out.get(reason, 0) + count
            examples = self._examples.setdefault(reason, [])
            if len(examples) < _EXAMPLES:
                examples.append(origin)

    def leave_question(self, reason: str, question: Question, origin: str) -> None:
        """Leave out everything that a question asked for."""
        self.leave(reason, origin, answers_to(self.key, question))

    def note(self, sentence: str) -> None:
        """Add a sentence to the report."""
        if sentence not in self._notes:
            self._notes.append(sentence)

    def question(self, task: Any, origin: str) -> Question | None:
        """Return what a task asked; where the key does not know it, count one answer as left out."""
        question = self.key.questions.get(task) if isinstance(task, str) else None
        if question is None:
            self.leave(UNKNOWN_TASK, f"{origin}: {shown(task)}")
        return question

    def score(
        self,
        question: Question,
        token: str,
        aspect: str,
        value: Any,
        submission: Submission,
        *,
        spans: tuple[Span, ...] = (),
    ) -> None:
        """Take a score of an output, as a number on the tool's scale; None is no answer."""
        output = question.by_token.get(token)
        if output is None:
            self.leave(UNKNOWN_OUTPUT, f"{submission.origin}: {shown(token)}")
        elif aspect not in self.key.asked_aspects:
            self.leave(UNKNOWN_ASPECT, f"{submission.origin}: {shown(aspect)}")
        elif (score := self._on_scale(value, aspect, submission.origin)) is not None:
            model, *equal_models = output.models
            self._take(
                question,
                aspect,
                submission,
                score=score,
                model=model,
                also=tuple((equal_model,) for equal_model in equal_models),
                marks=spans,
            )

    def pair(self, question: Question, aspect: str, value: Any, submission: Submission) -> None:
        """Take a comparison: 1 where the output on the left is better, -1 the right, 0 a tie; None: none."""
        if aspect not in self.key.asked_aspects:
            self.leave(UNKNOWN_ASPECT, f"{submission.origin}: {shown(aspect)}")
        elif value is None:
            self.leave(NOT_ANSWERED, submission.origin)
        elif (number := number_in(value)) is None or not -1.0 <= number <= 1.0:
            self.leave(NO_NUMBER, f"{submission.origin}: {shown(value)}")
        else:
            first_output, second_output = question.outputs
            pair, *further_pairs = [
                (first, second) for first in first_output.models for second in second_output.models
            ]
            self._take(question, aspect, submission, score=number, pair=pair, also=tuple(further_pairs))

    def ranking(
        self, question: Question, aspect: str, ranks: Mapping[str, Any] | None, submission: Submission
    ) -> None:
        """Take a ranking: a rank per token, 1 the best, equal ranks tied."""
        outputs = question.by_token
        if aspect not in self.key.asked_aspects:
            self.leave(UNKNOWN_ASPECT, f"{submission.origin}: {shown(aspect)}")
        elif not ranks:
            self.leave(NOT_ANSWERED, submission.origin)
        elif ranks.keys() - outputs.keys():
            self.leave(UNKNOWN_OUTPUT, f"{submission.origin}: {shown(sorted(ranks))}")
        elif ranks.keys() != outputs.keys():
            self.leave(INCOMPLETE_RANKING, submission.origin)
        else:
            numbers = {token: rank for token in ranks if (rank := number_in(ranks[token])) is not None}
            if len(numbers) < len(ranks):
                self.leave(NO_NUMBER, f"{submission.origin}: {shown(list(ranks.values()))}")
                return
            best_first = sorted(outputs, key=lambda token: numbers[token])
            by_model = {model: numbers[token] for token in best_first for model in outputs[token].models}
            self._take(question, aspect, submission, score=0.0, ranks=by_model)

    def spans(
        self,
        question: Question,
        token: str,
        spans: Iterable[Span | None] | None,
        submission: Submission,
        scores: Mapping[str, Any] | None = None,
    ) -> None:
        """Take what was marked in an output and the scores beside it, one answer per aspect asked for.

        Without aspects, the answer is minus the points of all errors. ``spans=None`` is no answer, and None
        among the spans a mark that cannot be read.
        """
        count = len(self.key.asked_aspects)
        if spans is None:
            self.leave(NOT_ANSWERED, submission.origin, count)
            return
        every_span = list(spans)
        marks = tuple(sorted(span for span in every_span if span is not None))
        letters = question.by_token.get(token, Output(())).letters
        longest = math.inf if letters is None else letters
        if None in every_span or any(not 0 <= span.start < span.end <= longest for span in marks):
            self.leave(BAD_SPAN, submission.origin, count)
        elif not self.key.aspects:
            self.points(question, token, marks, submission, spans=marks)
        else:
            for place, aspect in enumerate(self.key.aspects):
                score = (scores or {}).get(aspect)
                self.score(question, token, aspect, score, submission, spans=() if place else marks)

    def points(
        self,
        question: Question,
        token: str,
        marks: Iterable[Span],
        submission: Submission,
        *,
        spans: tuple[Span, ...] = (),
    ) -> None:
        """Take minus the points of all errors as the score of an output."""
        try:
            score = 0.0 - penalty(marks)
        except DataError:
            self.leave(BAD_SPAN, submission.origin)
        else:
            self.score(question, token, POINTS, score, submission, spans=spans)

    def _on_scale(self, value: Any, aspect: str, origin: str) -> float | None:
        """Return a number on the scale of the ratings, or leave it out."""
        if value is None or value == "":
            self.leave(NOT_ANSWERED, origin)
            return None
        scale = self.key.scales.get(aspect)
        if scale is not None and (scale.low, scale.high) == SCALE:
            # Two-valued words (pass and fail, yes and no …) stand for 0 and 1.
            word = word_number(value)
            if word is not None:
                return word
        number = number_in(value)
        if number is None:
            self.leave(NO_NUMBER, f"{origin}: {shown(value)}")
            return None
        from_scale = self.scale or self.key.tool_scale(aspect)
        if from_scale is None:
            return number
        if number not in from_scale:
            if self.strict:
                raise InputError(
                    f"the score {number:g} is outside the scale {from_scale}", file=origin, field=aspect
                )
            self.leave(f"a score outside the scale {from_scale}", f"{origin}: {number:g}")
            return None
        scale = scale or from_scale
        score = from_scale.convert(number, scale)
        try:
            self.key.form.check_value(score, scale)
        except UsageError:
            self.leave(NO_CHOICE, f"{origin}: {number:g}")
            return None
        return score

    def _take(self, question: Question, aspect: str, submission: Submission, **values: Any) -> None:
        # Who answered: as the tool says, else who was asked, else who was named for all.
        sender = self.raters.get(submission.rater, submission.rater) if submission.rater else None
        if self.assigned and question.rater is not None:
            sender = question.rater
        rater = sender or question.rater or self.rater
        if rater is None:
            self.leave(NO_RATER, submission.origin)
            return
        self._answers.append(
            Answer(
                rater=rater,
                item=question.item,
                aspect=aspect,
                data=question.data or None,
                seconds=submission.seconds,
                comment=submission.comment,
                client=question.id,
                question=question,
                time=submission.time,
                origin=submission.origin,
                **values,
            )
        )

    def report(self) -> ImportReport:
        """Return the report: of answers of one rater to one question, the last one counts."""
        read = len(self._answers) + sum(self._left_out.values())
        last: dict[tuple[Any, ...], tuple[tuple[float, int], Answer]] = {}
        for place, answer in enumerate(self._answers):
            time = (-math.inf if answer.time is None else answer.time, place)
            cell = (answer.data, answer.item, answer.models, answer.aspect, answer.rater)
            previous = last.get(cell)
            if previous is not None:
                earlier = answer if time < previous[0] else previous[1]
                self.leave(ANSWERED_AGAIN, earlier.origin)
            if previous is None or time >= previous[0]:
                last[cell] = (time, answer)
        answers: list[Answer] = []
        controls: list[Answer] = []
        for _, answer in last.values():
            if answer.question is not None and answer.question.control is not None:
                self.leave(CONTROL, answer.origin)
                controls.append(answer)
            else:
                answers.append(answer)
        return ImportReport(
            answers=tuple(answers),
            read=read,
            left_out=dict(self._left_out),
            examples={reason: tuple(origins) for reason, origins in self._examples.items()},
            controls=tuple(controls),
            same=ties_of(self.key),
            missing=missing_from(self.key, answers),
            scales=self.key.scales,
            notes=tuple(self._notes),
        )
