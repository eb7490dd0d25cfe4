"""The scores that Appraise exports: CSV without a header, in columns that depend on the type of task."""

from __future__ import annotations

import ast
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.run.exchange.appraise_batches import JUDGED, number_of
from sparingly.run.exchange.browser import SPACES, marked_span, take_marks
from sparingly.run.exchange.judgement import Given
from sparingly.run.exchange.key import Question
from sparingly.run.exchange.spans import Span
from sparingly.run.exchange.taking import (
    BAD_SPAN,
    NO_NUMBER,
    NOT_ANSWERED,
    UNKNOWN_OUTPUT,
    UNKNOWN_TASK,
    Taking,
)
from sparingly.run.exchange.values import json_in, list_in, name_in, number_in, seconds_in

WHOLE_DOCUMENT = "a score of a whole document"
CHECK = "a repeat or check of Appraise (BAD, REF, CHK)"
CREDITED = "the same answer, credited to equal outputs already"
HALF_A_PAIR = "one side of a pair is missing"
_LEADING = 7


@dataclass(frozen=True)
class Line:
    """One line of the export.

    Attributes:
        where: The file and line.
        user: The account.
        system: What stood as ``targetID``.
        item: The number of the item.
        type: ``TGT``, or ``BAD``, ``REF`` or ``CHK`` for a check.
        score: The score as text.
        start: When the rater began, in seconds since 1970, if known.
        end: When the rater was done.
        whole: Whether the score is of a whole document.
        marks: What was marked, as text; None where the type of task has no marks.
    """

    where: str
    user: str
    system: str
    item: str
    type: str
    score: str
    start: float | None
    end: float | None
    whole: bool = False
    marks: str | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took; None where a time is missing."""
        return None if self.start is None or self.end is None else seconds_in(max(0.0, self.end - self.start))


@dataclass
class _Scores:
    taking: Taking
    texts: dict[tuple[str, str], str]
    seen: set[tuple[Any, ...]] = field(default_factory=set)
    halves: dict[tuple[Any, ...], dict[str, Line]] = field(default_factory=dict)
    numbers: dict[str, list[Question]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for question in self.taking.key.questions.values():
            self.numbers.setdefault(str(number_of(question.task)), []).append(question)

    def take(self, line: Line) -> None:
        """Take one line, or leave it out."""
        if line.whole:
            self.taking.leave(WHOLE_DOCUMENT, line.where)
            return
        tokens = line.system.split("+")
        asked = self.numbers.get(line.item, ())
        question = next((one for one in asked if self._token(one, tokens)), next(iter(asked), None))
        if question is None:
            self.taking.leave(UNKNOWN_TASK, f"{line.where}: item {line.item}")
            return
        token = self._token(question, tokens)
        if token is None:
            self.taking.leave(UNKNOWN_OUTPUT, f"{line.where}: {line.system}")
        elif self.taking.key.kind != "pair" and _is_check(line, question):
            self.taking.leave(CHECK, line.where)
        else:
            self._answer(question, token, line)

    def _answer(self, question: Question, token: str, line: Line) -> None:
        once = (line.user, question.task, token, line.type, line.start, line.end)
        if once in self.seen:
            self.taking.leave(CREDITED, line.where)
            return
        self.seen.add(once)
        if self.taking.key.kind == "pair":
            given = (question.task, line.user, line.type, line.start, line.end)
            self.halves.setdefault(given, {})[token] = line
        elif self.taking.key.kind == "spans":
            self._spans(question, token, line)
        else:
            aspect = self.taking.key.aspects[0]
            self.taking.score(question, token, aspect, _given_score(line), self._given(question, line))

    def _token(self, question: Question, tokens: Sequence[str]) -> str | None:
        """Return the token that a question credits an output under, from any of the joined ones."""
        models = self.taking.key.models
        for token in tokens:
            for own, credited in question.outputs.items():
                if token == own or models.get(token) in credited:
                    return own
        return None

    def _given(self, question: Question, line: Line, share: int = 1) -> Given:
        # Appraise names accounts itself; a batch of an assignment belongs to the rater that it was made for.
        known = self.taking.raters.get(line.user)
        rater = known if known is not None or question.rater is not None else line.user
        seconds = None if line.seconds is None else line.seconds / share
        return Given(rater, line.where, seconds=seconds, when=line.end)

    def pairs(self) -> None:
        """Take the pairs whose both sides are there: the higher score is better, equal ones are a tie."""
        aspects = self.taking.key.aspects
        for (task, *_), sides in self.halves.items():
            question = self.taking.key.questions[task]
            line = next(iter(sides.values()))
            if _is_check(line, question):
                self.taking.leave(CHECK, line.where, len(aspects))
                continue
            if len(sides) < 2:
                self.taking.leave(HALF_A_PAIR, line.where, len(aspects))
                continue
            left, right = (number_in(_given_score(sides[token])) for token in question.outputs)
            if left is None or right is None:
                self.taking.leave(NO_NUMBER, line.where, len(aspects))
                continue
            for aspect in aspects:
                given = self._given(question, line, len(aspects))
                self.taking.pair(question, aspect, float((left > right) - (left < right)), given)

    def _spans(self, question: Question, token: str, line: Line) -> None:
        given = self._given(question, line)
        aspects = self.taking.key.aspects
        if line.marks is None:
            self.taking.leave(NOT_ANSWERED, line.where, len(self.taking.key.asked_aspects))
            return
        found = [self._span(mark, question, token, line) for mark in _marks(line)]
        if any(span is None for span in found):
            self.taking.leave(BAD_SPAN, line.where, len(self.taking.key.asked_aspects))
            return
        scores = {aspect: _given_score(line) for aspect in aspects}
        whole = [span for span in found if span is not None]
        take_marks(self.taking, question, token, whole, given, scores)

    def _span(self, mark: Any, question: Question, token: str, line: Line) -> Span | None:
        text = self.texts.get((line.item, token))
        if text is None:
            raise InputError(
                "the marks are counted in the texts of the batches, which are not here",
                file=line.where,
                fix="Give batches.json beside the CSV",
            )
        if not isinstance(mark, dict):
            return None
        kind = mark.get("error_type")
        category = " > ".join(name_in(part) or "" for part in list_in(kind))
        # Appraise trims texts before it counts.
        cut = len(text) - len(text.lstrip(SPACES))
        found = marked_span(mark, text.strip(SPACES), (name_in(mark.get("severity")) or "").lower(), category)
        if found is None:
            return None
        return Span(found.start + cut, found.end + cut, found.severity, found.category)


def read_scores(paths: Sequence[Path], taking: Taking) -> None:
    """Take the scores of some CSV files; JSON files among them are the batches that they belong to."""
    texts = {place: text for path in paths if _is_json(path) for place, text in _texts(path)}
    scores = _Scores(taking, texts)
    if all(map(_is_json, paths)):
        raise InputError("these are batches only", file=paths[0], fix="Give the CSV of scores, too")
    for path in paths:
        if not _is_json(path):
            for line in lines_of(path, pairs=taking.key.kind == "pair"):
                scores.take(line)
    scores.pairs()


def lines_of(path: Path, *, pairs: bool = False) -> Iterator[Line]:
    """Yield the lines of an export, whatever the type of task.

    Seven columns are always there; documents add two and marks a third, pairs add what raters said about the
    output and the source; then come start and end, and with ``--batch-info`` columns that are not needed.
    """
    text = "".join(f"{line}\n" for _, line in files.text_lines(path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if row:
                yield _line(row, path, reader.line_num, pairs=pairs)
    except csv.Error as error:
        raise InputError(f"this is not CSV ({error})", file=path, line=reader.line_num) from None


def _line(row: list[str], path: Path, number: int, *, pairs: bool) -> Line:
    first = _first_time(row, pairs=pairs)
    if first is None:
        raise InputError(
            f"{len(row)} columns that are not those of Appraise",
            file=path,
            line=number,
            fix="Export with manage.py ExportSystemScoresToCSV",
        )
    user, system, item, kind, _, _, score = row[:_LEADING]
    whole = not pairs and first > _LEADING and row[8] == "True"
    return Line(
        where=f"{path.name}, line {number}",
        user=user,
        system=system,
        item=item,
        type=kind,
        score=score,
        start=number_in(row[first]),
        end=number_in(row[first + 1]),
        whole=whole,
        marks=row[9] if first == 10 else None,
    )


def _first_time(row: list[str], *, pairs: bool) -> int | None:
    """Return the column of the time when the rater began, or None where nothing fits."""
    if pairs:
        # Comments on output and source stand before the times since 2022.
        places = [9, 7]
    elif len(row) > 8 and row[8] in ("True", "False"):
        places = [10, 9]
    else:
        places = [7]
    fits = (
        place
        for place in places
        if len(row) >= place + 2 and _is_time(row[place]) and _is_time(row[place + 1])
    )
    return next(fits, None)


def _is_time(text: str) -> bool:
    return text == "None" or number_in(text) is not None


def _is_check(line: Line, question: Question) -> bool:
    """Say whether Appraise repeated or spoilt an item that is no control item of ours."""
    return line.type != JUDGED and question.control is None


def _given_score(line: Line) -> str | None:
    return None if line.score in ("", "None") else line.score


def _marks(line: Line) -> list[Any]:
    """Return the marks, from JSON (once or twice encoded) or from a Python list, without undecided ones."""
    held: Any = line.marks
    for _ in range(2):
        if isinstance(held, str):
            held = _parsed(held, line)
    if isinstance(held, dict):
        held = held.get("payload")
    if not isinstance(held, list):
        raise InputError("the marks are no list", file=line.where)
    return [mark for mark in held if not (isinstance(mark, dict) and mark.get("severity") == "undecided")]


def _parsed(text: str, line: Line) -> Any:
    try:
        return json_in(text, line.where)
    except InputError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError("the marks cannot be read", file=line.where) from None


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _texts(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the text of every output in the batches, by the number of the item and the token."""
    held = files.read_json(path)
    try:
        rows = [row for batch in held for row in batch["items"] if not row.get("isCompleteDocument")]
        for row in rows:
            targets = row.get("targets") or [row]
            for target in targets:
                for token in (name_in(target["targetID"]) or "").split("+"):
                    yield (name_in(row["itemID"]) or "", token), name_in(target["targetText"]) or ""
    except (TypeError, KeyError, AttributeError):
        raise InputError("these are no batches of Appraise", file=path) from None
