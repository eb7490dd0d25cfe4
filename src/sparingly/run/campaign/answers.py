"""Record answers: each is checked, numbered and stored, or refused with a sentence.

The answer of a rater about a cell (an item and a model, or a pair) on an aspect is the last one given. Under
one client id the same answer is written once, however often it is sent; a changed answer is a new row that
corrects the one before. Errors that were marked, and where an output was shown, are written with their
answer, or not at all.
"""

from __future__ import annotations

import csv
import json
import math
import sys
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import chain
from pathlib import Path
from typing import Any, Literal

from sqlalchemy import Connection, insert, select

from sparingly.base.errors import DataError, InputError, SparinglyError, UnknownNameError
from sparingly.data import files
from sparingly.data.io.words import SCALE
from sparingly.data.values import PlainFields
from sparingly.run.campaign.access import is_reviewer
from sparingly.run.campaign.datasets import DataSets, models_of
from sparingly.run.campaign.guidelines import version_now
from sparingly.run.campaign.history import ADJUDICATED, SKIPPED, anchors_at, skips_at, withdrawn_raters
from sparingly.run.campaign.journal import Journal, as_json
from sparingly.run.campaign.settings import Settings
from sparingly.run.campaign.tables import ASKED, MARKS, PLACEMENTS, RATERS, RATINGS, rows_of
from sparingly.run.forms.answer import Answer, Placement, check_columns
from sparingly.run.forms.spans import Span

# --- Answers from a file or a stream, as CSV or JSON Lines ---

Numbered = tuple[int, Answer | SparinglyError]
AnswerRow = tuple[int, dict[str, Any] | InputError]
STANDARD_INPUT = "-"


def read_answers(path: str | Path) -> Iterator[Numbered]:
    """Yield the answers of a file with their lines; one that cannot be read is yielded as its error.

    JSON Lines begin with a brace, everything else is CSV with a header. Rows without a score are passed over:
    a form may be filled in bit by bit. ``-`` reads what is sent to the command, line by line.
    """
    if str(path) == STANDARD_INPUT:
        yield from parse_answers(enumerate(sys.stdin, 1), Path("standard input"))
    else:
        yield from parse_answers(files.text_lines(Path(path)), Path(path))


def file_rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """Yield the rows of a CSV or JSON Lines file with the columns of answers, each with its line."""
    for number, row in _rows(files.text_lines(path), path):
        if isinstance(row, InputError):
            raise row.at(file=path, line=number)
        yield number, row


def parse_answers(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[Numbered]:
    """Yield the answers of some numbered lines."""
    for number, row in _rows(lines, path):
        try:
            if isinstance(row, InputError):
                raise row
            answer = Answer.from_values(row, from_text=isinstance(row, _TextRow))
        except InputError as error:
            yield number, error.at(file=path, line=number)
        else:
            if answer is not None:
                yield number, answer


class _TextRow(dict[str, Any]):
    """A row of a table, in which numbers are text and what is empty is missing."""


def _rows(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[AnswerRow]:
    stripped = ((number, line.rstrip("\r\n")) for number, line in lines)
    first = next(((number, line) for number, line in stripped if line.strip()), None)
    if first is None:
        return
    reader = _json_rows if first[1].lstrip().startswith("{") else _csv_rows
    yield from reader(chain([first], stripped), path)


def _json_rows(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[AnswerRow]:
    for number, line in lines:
        if not line.strip():
            continue
        try:
            value = files.parse_json(line, path, number)
        except InputError as error:
            yield number, error
            continue
        yield number, value if isinstance(value, dict) else InputError("expected an object {…}")


def _csv_rows(lines: Iterable[tuple[int, str]], path: Path) -> Iterator[AnswerRow]:
    place = {"line": 0}

    def texts() -> Iterator[str]:
        for number, line in lines:
            place["line"] = number
            yield f"{line}\n"

    stream = texts()
    head = next(stream)
    # Spreadsheets in many countries write semicolons.
    separator = next((letter for letter in "\t,;" if letter in head), ",")
    reader = csv.reader(chain([head], stream), delimiter=separator, strict=True)
    try:
        header = [name.strip() for name in next(reader)]
        check_columns(header)
        for row in reader:
            if len(row) == len(header):
                yield place["line"], _TextRow(zip(header, row, strict=True))
            elif row:
                problem = f"there are {len(row)} fields below {len(header)} columns"
                yield place["line"], InputError(problem, fix="Put quotes around fields with commas")
    except csv.Error as error:
        raise InputError(f"this is not CSV ({error})", file=path, line=place["line"]) from None
    except InputError as error:
        raise error.at(file=path, line=place["line"]) from None


# --- Why an answer is refused ---


class RefusedError(DataError):
    """An answer that does not belong to the campaign."""


# These sentences name no model, so that raters may read them.
OUTDATED = "The guidelines have changed. Read them again, then send your answers."
JUDGED = "You have judged this output: change your answer instead."


def aspect_of(settings: Settings, answer: Answer) -> str:
    """Return the aspect of an answer: the one it names, or the only one that is asked for."""
    if answer.aspect is None and len(settings.aspects) == 1:
        return next(iter(settings.aspects))
    if answer.aspect is None:
        raise RefusedError(f"The answer names none of the aspects {', '.join(settings.aspects)}.")
    if answer.aspect not in settings.aspects:
        raise UnknownNameError("aspect", answer.aspect, settings.aspects)
    return answer.aspect


def cell_of(answer: Answer) -> tuple[str, str, float]:
    """Return the two models of an answer (the second empty for a single output), and its score.

    A pair is stored in the order of the names; the sign of its score is turned where it came the other way.
    """
    if answer.pair is None:
        if answer.model is None:
            raise RefusedError("The answer names no model.")
        return answer.model, "", float(answer.score)
    first, second = sorted(answer.pair)
    swapped = (first, second) != tuple(answer.pair)
    return first, second, -answer.score + 0.0 if swapped else float(answer.score)


def check_score(settings: Settings, aspect: str, answer: Answer) -> None:
    """Raise RefusedError for a score that is not a finite number, or outside the scale."""
    if not math.isfinite(answer.score):
        raise RefusedError(f"The score {answer.score} of the item {answer.item} is not a finite number.")
    ends = (-1.0, 1.0) if answer.pair is not None else settings.aspects[aspect]
    if answer.word and (answer.pair is not None or ends != SCALE):
        raise RefusedError(
            f'The score "{answer.word}" of the item "{answer.item}" is a word, and {aspect} is scored in '
            "numbers: words go with a scale from 0 to 1."
        )
    if ends is not None and not ends[0] <= answer.score <= ends[1]:
        raise RefusedError(
            f'The score {answer.score:g} of the item "{answer.item}" is outside the scale of {aspect}, '
            f"{ends[0]:g} to {ends[1]:g}."
        )


def why_not_asked(
    connection: Connection, data_sets: DataSets, names: Sequence[str], answer: Answer, seq: int
) -> SparinglyError:
    """Return why an answer is about nothing that was asked: an unknown name, or something else."""
    sets = [data_sets.at(connection, name, seq) for name in names]
    with_item = [data for data in sets if answer.item in set(data.items)]
    if not with_item:
        return UnknownNameError(
            "item", answer.item, [str(item) for data in sets for item in data.items[:500]]
        )
    models = sorted({model for data in with_item for model in data.models})
    for name in answer.pair or (answer.model or "",):
        if name not in models:
            return UnknownNameError("model", name, models)
    whom = f'"{answer.model}"' if answer.pair is None else " and ".join(f'"{name}"' for name in answer.pair)
    return RefusedError(f'No rater was given {whom} on the item "{answer.item}".')


# --- Recording ---

Outcome = Literal["new", "correction", "same", "refused"]
OnError = Literal["keep", "rollback"]
BATCH = 500
# Two raters disagree where their scores are further apart than this share of the scale.
FAR = 0.25
Cell = tuple[str, str, str, str]
# What makes two answers of one sender the same.
_CONTENT = ("score", "seconds", "comment")
_CELL = ("data", "item", "model", "other")
_KEY = ("data", "round", "rater", "item", "model", "other", "aspect")


@dataclass(frozen=True)
class Acknowledgement:
    """What became of one answer; where it was not refused, it is in the database for good."""

    line: int  # its line in the file, or its place among the answers given, from 1
    what: Outcome
    seq: int | None = None  # its number in the journal; None where it was refused
    sentence: str | None = None  # why it was refused; None where it was not

    def to_dict(self) -> dict[str, Any]:
        """Return what became of the answer as plain values."""
        return {name: value for name, value in vars(self).items() if value is not None}


@dataclass
class RecordedCounts(PlainFields):
    """How many answers were new, corrections, the same as before, or refused."""

    new: int = 0
    correction: int = 0
    same: int = 0
    refused: int = 0
    sentences: list[str] = field(default_factory=list)

    def add(self, acknowledgement: Acknowledgement) -> None:
        """Count one answer."""
        setattr(self, acknowledgement.what, getattr(self, acknowledgement.what) + 1)
        if acknowledgement.sentence is not None:
            self.sentences.append(with_line(acknowledgement.line, acknowledgement.sentence))


class AnswerBatch:
    """The answers of one transaction, and what the database knows about them."""

    def __init__(
        self,
        connection: Connection,
        journal: Journal,
        settings: Settings,
        data_sets: DataSets,
        answers: Sequence[Numbered],
    ) -> None:
        self.connection, self.journal = connection, journal
        self.settings, self.data_sets = settings, data_sets
        name, budgets = settings.name, list(settings.budgets)
        readable = [answer for _, answer in answers if isinstance(answer, Answer)]
        items = sorted({answer.item for answer in readable})
        raters = sorted({answer.rater for answer in readable})
        self.models = {data: models_of(connection, name, data) for data in budgets}
        cells = ASKED.c
        query = rows_of(ASKED, name, "data item model other round")
        query = query.where(cells.data.in_(budgets), cells.item.in_(items))
        self.round_of_cell = {tuple(cell): number for *cell, number in connection.execute(query)}
        # From when it was asked for again, an answer about an anchor belongs to the round that did.
        for data in budgets:
            for cell in anchors_at(connection, name, data, journal.last_seq):
                self.round_of_cell[data, cell.item, cell.model, ""] = cell.round

        # Earlier rows, by the question and by the sender; the last one counts.
        self.by_client: dict[tuple[Any, ...], dict[str, Any]] = {}
        self.last: dict[tuple[Any, ...], int] = {}
        table = RATINGS.c
        query = rows_of(RATINGS, name, " ".join((*_KEY, *_CONTENT, "client", "revision", "seq")))
        query = query.where(table.data.in_(budgets), table.item.in_(items), table.rater.in_(raters))
        for row in connection.execute(query.order_by(table.seq)).mappings():
            self._remember(dict(row))

        # The marks of the rows that are there, where an answer comes with some.
        senders = {answer.client for answer in readable if answer.marks is not None}
        seqs = [row["seq"] for row in self.by_client.values() if row["client"] in senders]
        self.marks = marks_at(connection, name, seqs) if senders else {}
        self.new_marks: dict[int, tuple[Span, ...]] = {}
        self.placements: dict[int, Placement] = {}
        known_raters = select(RATERS.c.rater).where(RATERS.c.campaign == name, RATERS.c.rater.in_(raters))
        self.known_raters = set(connection.execute(known_raters).scalars())
        self.skips: dict[tuple[Any, ...], int] = {}
        if any(answer.skip for answer in readable):
            for skip in skips_at(connection, name, journal.last_seq):
                self.skips[skip.data, skip.round, skip.rater, skip.item, skip.model, skip.other] = skip.seq
        self.guidelines = version_now(connection, name)
        self.adjudicated: set[tuple[Any, ...]] = set()
        self.start = journal.last_seq
        self.rows: list[dict[str, Any]] = []
        self.new_raters: list[dict[str, Any]] = []

    def take(self, answers: Sequence[Numbered], *, together: bool = False) -> list[Acknowledgement]:
        """Number answers, and say why some are refused; ``together`` none is taken where one is refused."""
        checked: list[tuple[int, Answer, dict[str, Any]] | Acknowledgement] = []
        for line, answer in answers:
            try:
                if not isinstance(answer, Answer):
                    raise answer
                checked.append((line, answer, self._checked(answer)))
            except SparinglyError as error:
                checked.append(Acknowledgement(line, "refused", sentence=str(error)))
        if together and (refused := [one for one in checked if isinstance(one, Acknowledgement)]):
            return refused
        return [one if isinstance(one, Acknowledgement) else self._number(*one) for one in checked]

    def _number(self, line: int, answer: Answer, values: dict[str, Any]) -> Acknowledgement:
        if answer.skip:
            cell = {name: values[name] for name in _KEY[:-1]}
            key = tuple(cell.values())
            is_new = key not in self.skips
            if is_new:
                spent = {} if answer.seconds is None else {"seconds": answer.seconds}
                self.skips[key] = self.journal.event(SKIPPED, **cell, reason=answer.skip, **spent)
            return Acknowledgement(line, "new" if is_new else "same", self.skips[key])
        earlier = self.by_client.get(_key(values, with_client=True))
        if earlier is not None and all(earlier[name] == values[name] for name in _CONTENT):
            earlier_marks = self.marks.get(earlier["seq"])
            if answer.marks is None or earlier_marks in (None, stored_marks(answer.marks)):
                self._mark(earlier["seq"], answer.marks)
                return Acknowledgement(line, "same", earlier["seq"])
        values["revision"] = 0 if earlier is None else earlier["revision"] + 1
        values["corrects"] = self.last.get(_key(values))
        row = self.journal.entry(values)
        self._remember(row)
        self._mark(row["seq"], answer.marks)
        if answer.placement is not None:
            self.placements[row["seq"]] = answer.placement
        self.rows.append(row)
        if answer.adjudicates or (is_reviewer(answer.rater) and self._is_disputed(values)):
            decided = {column: values[column] for column in (*_CELL, "rater")}
            if tuple(decided.values()) not in self.adjudicated:
                self.adjudicated.add(tuple(decided.values()))
                self.journal.event(ADJUDICATED, **decided)
        if answer.rater not in self.known_raters:
            self.known_raters.add(answer.rater)
            self.new_raters.append({"campaign": self.settings.name, "rater": answer.rater, "seq": row["seq"]})
        return Acknowledgement(line, "new" if row["corrects"] is None else "correction", row["seq"])

    def _is_disputed(self, values: dict[str, Any]) -> bool:
        """Say whether two raters disagree about a cell, in the database or in this transaction."""
        name, cell = self.settings.name, {column: values[column] for column in _CELL}
        query = rows_of(RATINGS, name, " ".join((*_CELL, "aspect", "rater", "score")), **cell)
        rows = [*self.connection.execute(query.order_by(RATINGS.c.seq)).mappings()]
        rows += [row for row in self.rows if all(row[column] == cell[column] for column in _CELL)]
        withdrawn = withdrawn_raters(self.connection, name, self.journal.last_seq)
        return bool(disputes(self.settings, rows, withdrawn))

    def write(self) -> None:
        """Write what was taken."""
        name = self.settings.name
        if self.new_raters:
            self.connection.execute(insert(RATERS), self.new_raters)
        if self.rows:
            self.connection.execute(insert(RATINGS), self.rows)
        save_marks(self.connection, name, self.new_marks)
        placements = [
            {"campaign": name, "seq": seq, **vars(placement), "turned": int(placement.turned)}
            | {"helped": None if placement.helped is None else int(placement.helped)}
            for seq, placement in sorted(self.placements.items())
        ]
        if placements:
            self.connection.execute(insert(PLACEMENTS), placements)
        if self.journal.last_seq > self.start:
            self.journal.finish()

    def _checked(self, answer: Answer) -> dict[str, Any]:
        """Return the columns of an answer, or raise RefusedError."""
        aspect = "" if answer.skip else aspect_of(self.settings, answer)
        model, second, score = cell_of(answer)
        if not answer.skip:
            check_score(self.settings, aspect, answer)
        if answer.guidelines not in (None, self.guidelines):
            raise RefusedError(OUTDATED)
        sets = list(self.settings.budgets) if answer.data is None else [self.settings.data_named(answer.data)]
        places = [
            (data, self.round_of_cell[cell])
            for data in sets
            if (cell := (data, answer.item, model, second)) in self.round_of_cell
        ]
        if not places:
            raise why_not_asked(self.connection, self.data_sets, sets, answer, self.journal.last_seq)
        if len(places) > 1:
            raise RefusedError(f'The item "{answer.item}" is in {len(places)} data sets. Name one: data.')
        data, round = places[0]
        for name in (model, second):
            presence = self.models[data].get(name)
            if presence is not None and presence.withdrawn is not None:
                raise RefusedError(f'The model "{name}" was withdrawn from the campaign.')
        question = (data, round, answer.rater, answer.item, model, second)
        if answer.skip and any((*question, name) in self.last for name in self.settings.aspects):
            raise RefusedError(JUDGED)
        return {
            "data": data,
            "round": round,
            "rater": answer.rater,
            "item": answer.item,
            "model": model,
            "other": second,
            "aspect": aspect,
            "client": answer.client,
            "score": score,
            "seconds": answer.seconds,
            "comment": answer.comment,
        }

    def _mark(self, seq: int, marks: tuple[Span, ...] | None) -> None:
        if marks is not None and seq not in self.marks:
            self.new_marks[seq] = marks
            self.marks[seq] = stored_marks(marks)

    def _remember(self, row: dict[str, Any]) -> None:
        self.by_client[_key(row, with_client=True)] = row
        self.last[_key(row)] = row["seq"]


def disputes(
    settings: Settings, rows: Iterable[Mapping[str, Any]], withdrawn: Collection[str]
) -> dict[Cell, set[str]]:
    """Return by cell which raters disagree about it; reviewers only decide, and no dispute is theirs."""
    scores: dict[tuple[Cell, str], dict[str, float]] = {}
    for row in rows:
        if row["rater"] not in withdrawn and not is_reviewer(row["rater"]):
            cell = (row["data"], row["item"], row["model"], row["other"])
            scores.setdefault((cell, row["aspect"]), {})[row["rater"]] = row["score"]
    disputed: dict[Cell, set[str]] = {}
    for (cell, aspect), by_rater in scores.items():
        ends = (-1.0, 1.0) if cell[3] else settings.aspects[aspect]
        gap = max(by_rater.values()) - min(by_rater.values())
        if ends is not None and gap > (0.0 if cell[3] else FAR * (ends[1] - ends[0])):
            disputed.setdefault(cell, set()).update(by_rater)
    return disputed


def with_line(line: int, sentence: str) -> str:
    """Say where an answer stands, unless the sentence does: a file may have thousands."""
    return sentence if f"line {line}" in sentence else f"line {line}: {sentence}"


def _key(row: dict[str, Any], *, with_client: bool = False) -> tuple[Any, ...]:
    return tuple(row[name] for name in ((*_KEY, "client") if with_client else _KEY))


# --- Placements: where an output was shown, to examine order effects ---


def placement_rows(connection: Connection, campaign: str, seq: int) -> list[dict[str, Any]]:
    """Return where the outputs of all ratings up to a number were shown, by the ratings' numbers.

    Answers that did not come from the web pages, or came before this was saved, have no row.
    """
    table = PLACEMENTS.c
    rows = connection.execute(
        select(table.seq, table.place, table.cards, table.turned, table.helped, table.help_probability)
        .where(table.campaign == campaign, table.seq <= seq)
        .order_by(table.seq)
    )
    return [
        {
            name: bool(value) if name in ("turned", "helped") else value
            for name, value in row.items()
            if value is not None
        }
        for row in rows.mappings()
    ]


# --- Marked errors ---


def stored_marks(marks: Sequence[Span]) -> list[dict[str, Any]]:
    """Return marked errors as the database has them."""
    return [mark.to_dict() for mark in marks]


def save_marks(connection: Connection, campaign: str, marks_by_rating: Mapping[int, Sequence[Span]]) -> None:
    """Keep the marks of ratings by their numbers; those that are there already are left as they are."""
    stored = marks_at(connection, campaign, list(marks_by_rating))
    rows = [
        {"campaign": campaign, "seq": seq, "marks": as_json(stored_marks(marks))}
        for seq, marks in sorted(marks_by_rating.items())
        if seq not in stored
    ]
    if rows:
        connection.execute(insert(MARKS), rows)


def marks_at(
    connection: Connection, campaign: str, seq: int | Sequence[int]
) -> dict[int, list[dict[str, Any]]]:
    """Return the marks of all ratings up to a number, or of some ratings, by the ratings' numbers."""
    table = MARKS.c
    condition = table.seq <= seq if isinstance(seq, int) else table.seq.in_(seq)
    query = select(table.seq, table.marks).where(table.campaign == campaign, condition).order_by(table.seq)
    return {row.seq: json.loads(row.marks) for row in connection.execute(query)}
