"""Read the answers of a tool one by one: each is taken or left out with a reason, and none is lost."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import DataError, InputError, UsageError
from sparingly.base.format import counted
from sparingly.base.summary import html_table
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.files import without_formulas
from sparingly.data.io.words import SCALE, word_number
from sparingly.data.scale import Ends, Scale
from sparingly.data.tables import Preferences, Ratings
from sparingly.data.values import shown
from sparingly.run.exchange.files import MISSING, number_in, write_csv, write_jsonl
from sparingly.run.exchange.key import POINTS, Key
from sparingly.run.forms.answer import Answer, AnswerRows, as_objects, judgement_columns, places_of
from sparingly.run.forms.pair import SIDES
from sparingly.run.forms.question import Output, Question
from sparingly.run.forms.spans import Span, penalty

if TYPE_CHECKING:
    from sparingly.run.campaign.answers import RecordedCounts
    from sparingly.run.campaign.campaign import Campaign

CANCELLED = "skipped or cancelled by the rater"
DRAFT = "a draft that was not submitted"
NOT_ANSWERED = "no answer was given"
ANSWERED_AGAIN = "answered again later by the same rater"
CONTROL = "a control item (stored separately)"
UNKNOWN_TASK = "a task that the key does not know"
UNKNOWN_OUTPUT = "an output that the key does not know"
UNKNOWN_ASPECT = "an aspect that is not in the task"
NO_RATER = "no rater is named"
NO_NUMBER = "the score is not a number"
NO_CHOICE = "a number that is none of the choices"
BAD_SPAN = "a span outside the text, or of a severity without points"
INCOMPLETE_RANKING = "a ranking that leaves outputs out"
RESET = "undone by a reset of the rater"
_EXAMPLES = 3


@dataclass(frozen=True)
class Submission:
    """Who sent something, when and how, as the files of a tool say it."""

    rater: str | None  # the rater as the tool calls them; None where it does not say
    origin: str  # where it stands in the files, for the report: ``export.json, task 3``
    seconds: float | None = None  # how long an answer took
    comment: str | None = None  # what the rater said
    # When, as seconds since 1970, by which a later answer replaces an earlier one; the order of the files
    # settles what has no time.
    time: float | None = None


@dataclass
class Reading:
    """Collects the answers that a reader sees in the files of a tool.

    A reader calls ``question`` to find what was asked, then ``score``, ``pair``, ``ranking`` or ``spans`` for
    every answer, or ``leave`` with a reason; in the end ``report``.
    """

    key: Key  # the key of the export
    scale: Scale | None = None  # the scale that the numbers in the files are on; default: that of the key
    raters: Mapping[str, str] = field(default_factory=dict)  # names of raters by what the tool calls them
    rater: str | None = None  # who answered, where neither the files nor the key says
    strict: bool = False  # refuse a file with a score outside the scale, instead of leaving the score out
    # Take the rater who was asked for the one who answered, whatever the tool calls them.
    assigned: bool = False
    _answers: list[Answer] = field(default_factory=list)
    _left_out: Counter[str] = field(default_factory=Counter)
    _examples: dict[str, list[str]] = field(default_factory=dict)
    _notes: list[str] = field(default_factory=list)

    def leave(self, reason: str, origin: str, count: int = 1) -> None:
        """Leave answers out for a reason."""
        if count:
            self._left_out[reason] += count
            self._examples.setdefault(reason, []).append(origin)

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

    def output(
        self,
        question: Question,
        token: str,
        scores: Mapping[str, Any],
        submission: Submission,
        spans: Iterable[Span | None] | None = None,
    ) -> None:
        """Take what was said of an output: scores by aspect, and what was marked where that is asked for."""
        if self.key.answers == "spans":
            self.spans(question, token, spans, submission, scores)
            return
        for aspect, score in scores.items():
            self.score(question, token, aspect, score, submission)

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
            model, *equal = output.models
            also = tuple((name,) for name in equal)
            self._take(question, aspect, submission, score=score, model=model, also=also, marks=spans)

    def pair(self, question: Question, aspect: str, value: Any, submission: Submission) -> None:
        """Take a comparison: 1 (or left) where the left output is better, -1 the right, 0 a tie; or None."""
        value = SIDES.get(value, value) if isinstance(value, str) else value
        if aspect not in self.key.asked_aspects:
            self.leave(UNKNOWN_ASPECT, f"{submission.origin}: {shown(aspect)}")
        elif value is None:
            self.leave(NOT_ANSWERED, submission.origin)
        elif (number := number_in(value)) is None or not -1.0 <= number <= 1.0:
            self.leave(NO_NUMBER, f"{submission.origin}: {shown(value)}")
        else:
            pair, *equal = product(*(output.models for output in question.outputs))
            self._take(question, aspect, submission, score=number, pair=pair, also=tuple(equal))

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
        among the spans a mark that cannot be read. A span without a letter, of what is missing from an empty
        output, has points, but no place.
        """
        count = len(self.key.asked_aspects)
        if spans is None:
            self.leave(NOT_ANSWERED, submission.origin, count)
            return
        every_span, values = list(spans), dict(scores or {})
        marks = sorted(span for span in every_span if span is not None)
        placed = tuple(span for span in marks if span.start < span.end or span.category != MISSING)
        letters = question.by_token.get(token, Output(())).letters
        longest = math.inf if letters is None else letters
        is_bad = None in every_span or any(not 0 <= span.start < span.end <= longest for span in placed)
        if not self.key.aspects and not is_bad:
            try:
                values[POINTS] = 0.0 - penalty(marks)
            except DataError:
                is_bad = True
        if is_bad:
            self.leave(BAD_SPAN, submission.origin, count)
            return
        for place, aspect in enumerate(self.key.asked_aspects):
            self.score(question, token, aspect, values.get(aspect), submission, spans=() if place else placed)

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
        # Pairs with equal outputs are ties, on every aspect.
        ties = (
            Answer(
                rater=SAME_OUTPUT,
                item=question.item,
                score=0.0,
                pair=(question.models[0], question.models[1]),
                aspect=aspect,
                data=question.data or None,
                question=question,
                origin="equal outputs",
            )
            for question in self.key.same
            for aspect in self.key.asked_aspects
        )
        return ImportReport(
            answers=tuple(answers),
            read=read,
            left_out=dict(self._left_out),
            examples={reason: tuple(origins[:_EXAMPLES]) for reason, origins in self._examples.items()},
            controls=tuple(controls),
            same=tuple(ties),
            missing=missing_from(self.key, answers),
            scales=self.key.scales,
            notes=tuple(self._notes),
        )


# --- what was taken, and what was left out -------------------------------------------------------------

# Who "judged" two equal outputs: nobody need be asked.
SAME_OUTPUT = "same_output"
COLUMNS = (
    "data", "item", "model", "first", "second", "aspect", "rater", "score", "seconds", "comment", "client",
    "round", "probability", "assigned", "document", "context", "spans",
)  # fmt: skip


@dataclass(frozen=True)
class ImportReport:
    """The answers that were taken, and the count of those left out by reason.

    ``read == len(answers) + sum(left_out.values())``: an answer is one output (or pair, or ranking) on one
    aspect by one rater, and one that belongs to nothing that is known counts once.
    """

    answers: tuple[Answer, ...]  # the answers taken
    read: int  # how many answers the files hold
    left_out: Mapping[str, int] = field(default_factory=dict)  # how many were left out, by reason
    # Where the first few of them stand, by reason.
    examples: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    # The answers about control items, left out of the ratings and kept for ``control_report``.
    controls: tuple[Answer, ...] = ()
    same: tuple[Answer, ...] = ()  # ties of models whose outputs are equal; nobody was asked
    missing: int = 0  # how many answers are still to come
    # The lowest and the highest score of every aspect that was asked for.
    scales: Mapping[str, Scale] = field(default_factory=dict)
    notes: tuple[str, ...] = ()  # what to mind, in sentences

    def __len__(self) -> int:
        return len(self.answers)

    @property
    def headline(self) -> str:
        """What was taken, in one line."""
        omitted = sum(self.left_out.values())
        missing = f"{self.missing} {'is' if self.missing == 1 else 'are'} missing"
        return f"{counted(self.read, 'answer')} read: {len(self)} taken, {omitted} left out; {missing}"

    def __repr__(self) -> str:
        return f"ImportReport({self.headline})"

    def _repr_html_(self) -> str:
        rows = [(count, reason, "; ".join(self.examples[reason])) for reason, count in self.left_out.items()]
        return html_table(("left out", "because", "such as"), rows, self.headline, "; ".join(self.notes))

    def rows(self) -> list[dict[str, Any]]:
        """Return the ratings, one row per model credited, with what a campaign records and more."""
        return [row for answer in (*self.answers, *self.same) for row in answer.rows()]

    def save(self, path: str | Path) -> None:
        """Write the ratings as CSV, or as JSON Lines where the name ends in ``.jsonl``."""
        path, rows = Path(path), self.rows()
        if ".jsonl" in path.suffixes:
            write_jsonl(path, [{name: row.get(name) for name in COLUMNS} for row in rows])
            return
        filled_columns = {name for row in rows for name, value in row.items() if value is not None}
        columns = filled_columns or {"item", "model", "aspect", "rater", "score"}
        safe = [without_formulas(row, ("comment",)) for row in rows]
        write_csv(path, [name for name in COLUMNS if name in columns], safe)

    def into(self, data: EvalSet) -> EvalSet:
        """Return an evaluation set with these ratings and preferences added to its own."""
        return with_rows(
            data, self.rows(), {name: (scale.low, scale.high) for name, scale in self.scales.items()}
        )

    def controls_into(self, controls: EvalSet) -> EvalSet:
        """Return a set of control items with the ratings of them, for ``control_report``."""
        return with_rows(controls, [row for answer in self.controls for row in answer.rows()])

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        return {
            "read": self.read,
            "taken": len(self),
            "left_out": [
                {"reason": reason, "count": count, "examples": list(self.examples[reason])}
                for reason, count in self.left_out.items()
            ],
            "ratings": len(self.rows()),
            "controls": len(self.controls),
            "same_output": len(self.same),
            "missing": self.missing,
            "notes": list(self.notes),
        }


def answers_to(key: Key, question: Question) -> int:
    """Return how many answers a question asks for."""
    return len(_separate(key, question)) * len(key.asked_aspects)


def missing_from(key: Key, answers: Iterable[Answer]) -> int:
    """Return how many answers are still to come: as many raters for a cell as were asked about it.

    Raters are counted, not compared by name: a tool may call them otherwise.
    """
    raters: dict[tuple[Any, ...], set[str]] = {}
    for answer in answers:
        cell = (answer.data or "", answer.item, answer.models, answer.aspect)
        raters.setdefault(cell, set()).add(answer.rater)
    counts: dict[tuple[Any, ...], int] = {}
    for question in key.questions.values():
        for models in _separate(key, question) if question.control is None else ():
            for aspect in key.asked_aspects:
                cell = (question.data, question.item, models, aspect)
                counts[cell] = counts.get(cell, 0) + 1
    return sum(max(0, count - len(raters.get(cell, ()))) for cell, count in counts.items())


def _separate(key: Key, question: Question) -> list[tuple[str, ...]]:
    """Return the models of what is answered by itself: an output, or all outputs that are compared."""
    if key.form.compares:
        return [tuple(sorted(question.models))]
    return [tuple(sorted(output.models)) for output in question.outputs]


# --- into an evaluation set -----------------------------------------------------------------------------

# What ratings carry beside their own columns.
_EXTRA_COLUMNS = ("round", "spans")


def with_rows(data: EvalSet, rows: AnswerRows, scales: Mapping[str, Ends] | None = None) -> EvalSet:
    """Return a set with further ratings and preferences; a rated cell has the mean of its ratings.

    ``scales`` are those of the aspects that were asked for; earlier scores off such a scale leave it unknown.
    """
    single = [row for row in rows if row.get("model") is not None]
    pairs = [row for row in rows if row.get("model") is None]
    ratings = _ratings(data, single)
    aspects = dict(data.aspects)
    for name in sorted({row["aspect"] for row in single}):
        means = ratings.means(name, len(data), len(data.models) + len(data.references))
        means = means[:, : len(data.models)]
        aspects[name] = np.where(np.isnan(means), aspects[name], means) if name in aspects else means
    fitting_scales = {
        fields.aspect(name): (low, high)
        for name, (low, high) in (scales or {}).items()
        if name in aspects and not ((aspects[name] < low) | (aspects[name] > high)).any()
    }
    return data.with_parts(
        aspects=aspects,
        ratings=ratings,
        preferences=_preferences(data, pairs),
        scales={**data.scales, **fitting_scales},
    )


def _aspects(present: Ratings | Preferences, rows: AnswerRows) -> tuple[str, ...]:
    return (*present.aspects, *sorted({row["aspect"] for row in rows} - set(present.aspects)))


def _ratings(data: EvalSet, rows: AnswerRows) -> Ratings:
    present = data.ratings
    if not rows:
        return present
    earlier = [None] * len(present) if present.comment is None else list(present.comment)
    return Ratings(
        model=np.concatenate([present.model, places_of(rows, "model", data.models)]),
        score=np.concatenate([present.score, [row["score"] for row in rows]]),
        comment=as_objects([*earlier, *(row.get("comment") for row in rows)]),
        **judgement_columns(data, present, rows, _aspects(present, rows), _EXTRA_COLUMNS),
    )


def _preferences(data: EvalSet, rows: AnswerRows) -> Preferences:
    present = data.preferences
    if not rows:
        return present
    return Preferences(
        first=np.concatenate([present.first, places_of(rows, "first", data.models)]),
        second=np.concatenate([present.second, places_of(rows, "second", data.models)]),
        value=np.concatenate([present.value, [row["score"] for row in rows]]),
        **judgement_columns(data, present, rows, _aspects(present, rows), _EXTRA_COLUMNS),
    )


def record_answers(campaign: Campaign, report: ImportReport) -> RecordedCounts:
    """Record the answers of an import with the errors that were marked; doing it again changes nothing.

    The id of a task is the client id of its answers: an answer that was changed in the tool and is imported
    again is a correction of the one before.
    """
    answers = [
        # Without its question an answer is checked for what no database keeps.
        replace(single, question=None, client=single.client or SAME_OUTPUT, marks=single.marks or None)
        for answer in (*report.answers, *report.same)
        for single in answer.each()
    ]
    return campaign.record(answers)
