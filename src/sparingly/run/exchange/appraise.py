"""Appraise: a manifest and batches for a campaign, and the scores it exports."""

from __future__ import annotations

import ast
import csv
import io
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base import rng
from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.browser import SPACES, marked_span, take_marks
from sparingly.run.exchange.files import json_in, list_in, name_in, number_in, seconds_in, write_json
from sparingly.run.exchange.reading import (
    BAD_SPAN,
    NO_NUMBER,
    NOT_ANSWERED,
    UNKNOWN_OUTPUT,
    UNKNOWN_TASK,
    Reading,
    Submission,
)
from sparingly.run.exchange.report import ImportReport
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, Options, context_text
from sparingly.run.forms.form import Kind
from sparingly.run.forms.question import Output, Question
from sparingly.run.forms.spans import Span

BATCH_SIZE = 100
JUDGED, REPEATED = "TGT", "CHK"
TYPES = {"degraded": "BAD", "reference": "REF", "repeat": REPEATED}
_NUMBERS = 2**31 - 2

Row = dict[str, Any]


DIRECT, DOCUMENT, PAIRWISE = "Direct", "Document", "Pairwise"
_LANGUAGE = re.compile(r"[a-z]{3}")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9]*")
# Appraise hands out batches so that, beyond two for one annotator, some go to nobody.
_MOST_BATCHES = 2


@register("appraise")
class Appraise(AnnotationTool):
    """Appraise, the tool of the WMT shared tasks: direct, document, ESA, MQM and pairwise assessment."""

    summary: ClassVar[str] = (
        "a manifest and batches for StartNewCampaign, and what ExportSystemScoresToCSV gives"
    )
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "spans")
    own_scale: ClassVar[Scale | None] = Scale(0, 100)
    write_options: ClassVar[dict[str, str]] = {
        "source": "the language of the sources as a code of three letters, as in eng (needed)",
        "target": "the language of the outputs as a code of three letters, as in deu (needed)",
        "annotators": "how many accounts share the batches; one per batch unless given",
        "campaign": "the name of the campaign; sparingly1 in the first round unless given",
        "number": "the number of the campaign, from 1 to 255; 1 unless given",
        "redundancy": "how many annotators judge every batch; 1 unless given",
        "size": f"how many items a batch has; {BATCH_SIZE} unless given",
        "type": "Direct or Document; Document for spans and where there are documents",
        "url": "where accounts sign in; http://127.0.0.1:8000/dashboard/sso/ unless given",
    }

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Raise UsageError for options that do not fit the tasks, before anything is written."""
        super().check_write(tasks, options)
        if tasks.kind != "pair" and len(tasks.aspects) > 1:
            raise UsageError(
                f"Appraise asks for one score: name one of {', '.join(tasks.aspects)} as aspect."
            )
        _campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``manifest.json`` and ``batches.json``."""
        manifest, batches = _campaign(tasks, options)
        return [
            write_json(folder / "manifest.json", manifest),
            write_json(folder / "batches.json", batches),
        ]

    def read(self, files: Sequence[Path], reading: Reading, options: Options) -> ImportReport:
        """Read the CSV files of scores; spans need ``batches.json`` among the files, too."""
        read_scores(files, reading)
        return reading.report()


def _campaign(tasks: Tasks, options: Options) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    languages = _language(options, "source"), _language(options, "target")
    task_type = _task_type(tasks, options)
    batches = batches_of(
        tasks,
        languages,
        whole_documents=task_type == DOCUMENT,
        size=_whole_option(options, "size", BATCH_SIZE, 2000),
        required=_whole_option(options, "redundancy", 1, 50),
    )
    if not batches:
        raise UsageError("There is nothing to ask, and Appraise starts no campaign without a batch.")
    return _manifest(tasks, options, languages, task_type, len(batches)), batches


def _language(options: Options, name: str) -> str:
    code = options.get(name, "")
    if _LANGUAGE.fullmatch(code) is None:
        problem = f'not "{code}"' if code else "and none is given"
        raise UsageError(
            f"Appraise wants the {name} language as a code of three letters, {problem}: {name}=eng."
        )
    return code


def _whole_option(options: Options, name: str, default: int, highest: int) -> int:
    value = options.get(name, str(default))
    if not value.isdecimal() or not 1 <= int(value) <= highest:
        raise UsageError(
            f'The option {name} of Appraise is a whole number from 1 to {highest}, not "{value}".'
        )
    return int(value)


def _task_type(tasks: Tasks, options: Options) -> str:
    if tasks.kind == "pair":
        if "type" in options:
            raise UsageError("Pairs have one type of task in Appraise: leave the option type out.")
        return PAIRWISE
    has_documents = any(question.document is not None for question in tasks)
    task_type = options.get("type", DOCUMENT if has_documents or tasks.kind == "spans" else DIRECT)
    if task_type not in (DIRECT, DOCUMENT):
        raise UsageError(f'The type "{task_type}" is neither {DIRECT} nor {DOCUMENT}.')
    if tasks.kind == "spans" and task_type != DOCUMENT:
        raise UsageError("Appraise marks spans in tasks of the type Document only.")
    return task_type


def _manifest(
    tasks: Tasks, options: Options, languages: tuple[str, str], task_type: str, count: int
) -> dict[str, Any]:
    redundancy = _whole_option(options, "redundancy", 1, 50)
    annotators = len(tasks.raters) or _whole_option(options, "annotators", count * redundancy, 4095)
    _check_shares(tasks, options, count, redundancy, annotators)
    name = options.get("campaign", f"sparingly{max((question.round for question in tasks), default=1)}")
    if _NAME.fullmatch(name) is None:
        raise UsageError(f'The campaign "{name}" of Appraise must be letters and digits, a letter first.')
    manifest = {
        "CAMPAIGN_URL": options.get("url", "http://127.0.0.1:8000/dashboard/sso/"),
        "CAMPAIGN_NAME": name,
        # Passwords are made from the name and this key, so it must not be guessed.
        "CAMPAIGN_KEY": secrets.token_hex(8),
        "CAMPAIGN_NO": _whole_option(options, "number", 1, 255),
        "REDUNDANCY": redundancy,
        "TASKS_TO_ANNOTATORS": [[*languages, "uniform", annotators, count]],
        "TASK_TYPE": task_type,
    }
    protocol = {"spans": "ESA" if tasks.aspects else "MQM"}.get(tasks.kind)
    return manifest if protocol is None else {**manifest, "TASK_OPTIONS": protocol}


def _check_shares(tasks: Tasks, options: Options, count: int, redundancy: int, annotators: int) -> None:
    if tasks.raters:
        superfluous = [name for name in ("annotators", "redundancy", "size") if name in options]
        if superfluous:
            raise UsageError(f"The assignment says who judges what: leave out {', '.join(superfluous)}.")
        return
    if count * redundancy % annotators:
        raise UsageError(
            f"Appraise shares batches evenly, and {count * redundancy} of them are not so many for each of "
            f"{annotators} annotators."
        )
    if count * redundancy > _MOST_BATCHES * annotators:
        raise UsageError(
            f"Appraise leaves batches out where an annotator has more than {_MOST_BATCHES}: "
            f"take at least {-(-count * redundancy // _MOST_BATCHES)} annotators."
        )


# --- batches: items in order, documents whole, control items under Appraise's types ---------------------


def number_of(task: str) -> int:
    """Return the number of a task in Appraise, which knows items by numbers: a hash of the task's id."""
    return int(rng.stream(rng.keys_of([task]), 0, "appraise")[0]) % _NUMBERS + 1


def batches_of(
    tasks: Tasks, languages: tuple[str, str], *, whole_documents: bool, size: int, required: int
) -> list[dict[str, Any]]:
    """Return the batches: one for every rater of an assignment, else of so many items.

    The parts of a batch (an item with its outputs, or a document of one model) are never torn. Appraise loads
    only pairwise batches of 100 items, so those are filled up with repeats, which come back as checks.
    """
    _check_numbers(tasks)
    batches = [rows for _, rows in _batches(tasks, whole_documents, size)]
    if tasks.kind == "pair":
        batches = [_with_repeats(rows) for rows in batches]
    source, target = languages
    return [
        {
            "items": [_with_place(row, place) for place, row in enumerate(rows)],
            "task": {
                "batchNo": number,
                "batchSize": len(rows),
                "randomSeed": tasks.seed,
                "requiredAnnotations": required,
                "sourceLanguage": source,
                "targetLanguage": target,
            },
        }
        for number, rows in enumerate(batches, 1)
    ]


def _check_numbers(tasks: Tasks) -> None:
    numbers = [number_of(question.id) for question in tasks]
    if len(set(numbers)) < len(numbers):
        raise UsageError("Two tasks have the same number by chance. Take another seed.")


def _batches(tasks: Tasks, whole_documents: bool, size: int) -> Iterator[tuple[str | None, list[Row]]]:
    size_limit = BATCH_SIZE if tasks.kind == "pair" else size
    for rater, questions in tasks.by_rater().items():
        parts = list(_parts(tasks, questions, whole_documents))
        if rater is not None:
            rows = [row for part in parts for row in part]
            if tasks.kind == "pair" and len(rows) > BATCH_SIZE:
                raise UsageError(
                    f"{rater} has {len(rows)} pairs, and a batch of Appraise holds {BATCH_SIZE}: "
                    "take more raters or fewer items."
                )
            yield rater, rows
            continue
        rows = []
        for part in parts:
            if rows and len(rows) + len(part) > size_limit:
                yield None, rows
                rows = []
            rows = [*rows, *part]
        if rows:
            yield None, rows


def _parts(tasks: Tasks, questions: Sequence[Question], whole_documents: bool) -> Iterator[list[Row]]:
    if not whole_documents:
        for question in questions:
            targets = [_target_id(tasks, output) for output in question.outputs]
            if tasks.kind == "pair":
                yield [_pair(question, targets)]
            else:
                yield [
                    _row(question, *shown_output)
                    for shown_output in zip(question.outputs, targets, strict=True)
                ]
        return
    mine = {question.id for question in questions}
    for run in tasks.by_document():
        if run[0].id in mine:
            yield from _documents(tasks, run)


def _documents(tasks: Tasks, run: Sequence[Question]) -> Iterator[list[Row]]:
    """Yield the document as every model wrote it, in order; then the row for it as a whole, without spans."""
    tokens = dict.fromkeys(output.token for question in run for output in question.outputs)
    for token in tokens:
        rows = [
            {**_row(question, output, token), **_context(question, token), **_document(question, run[0])}
            for question in run
            for output in question.outputs
            if output.token == token
        ]
        if tasks.kind == "spans":
            yield [{**row, "mqm": []} for row in rows]
        else:
            yield [*rows, _document_row(rows)]


def _document(question: Question, first: Question) -> Row:
    # A control item is a document of its own, under a name that tells nothing.
    name = first.document if first.document is not None and question.control is None else question.id
    return {"documentID": name, "isCompleteDocument": False}


def _document_row(rows: Sequence[Row]) -> Row:
    texts = {name: " ".join(row[name] for row in rows) for name in ("sourceText", "targetText")}
    last_row = {name: value for name, value in rows[-1].items() if not name.endswith("ContextLeft")}
    return {**last_row, **texts, "isCompleteDocument": True}


def _row(question: Question, output: Output, target: str) -> Row:
    return {**_item(question), "targetID": target, "targetText": output.text}


def _item(question: Question) -> Row:
    return {
        "itemID": number_of(question.id),
        "itemType": JUDGED if question.control is None else TYPES[question.control],
        "sourceID": question.id,
        "sourceText": question.source or "",
    }


def _pair(question: Question, targets: Sequence[str]) -> Row:
    target_rows = [
        {"_target": place, "targetID": target, "targetText": output.text}
        for place, (output, target) in enumerate(zip(question.outputs, targets, strict=True))
    ]
    context = {"contextLeft": text} if (text := context_text(question.before, "\n")) else {}
    return {**_item(question), **context, "targets": target_rows, "targetsSize": len(target_rows)}


def _target_id(tasks: Tasks, output: Output) -> str:
    """Return the tokens of all models with this output, joined as Appraise joins equal outputs."""
    token_of = {model: token for token, model in tasks.key.models.items()}
    equal_tokens = [token_of[model] for model in output.models if model in token_of]
    return "+".join(dict.fromkeys([output.token, *equal_tokens]))


def _context(question: Question, token: str) -> Row:
    if not question.before:
        return {}
    texts = "\n".join(passage.outputs[token] for passage in question.before if token in passage.outputs)
    return {"sourceContextLeft": context_text(question.before, "\n"), "targetContextLeft": texts}


def _with_repeats(rows: list[Row]) -> list[Row]:
    repeats = islice(cycle(rows), BATCH_SIZE - len(rows))
    return [*rows, *({**row, "itemType": REPEATED} for row in repeats)]


def _with_place(row: Row, place: int) -> Row:
    return {"_block": place // 10, "_item": place, **row}


# --- scores: CSV without a header, in columns that depend on the type of task ---------------------------


WHOLE_DOCUMENT = "a score of a whole document"
CHECK = "a repeat or check of Appraise (BAD, REF, CHK)"
CREDITED = "the same answer, credited to equal outputs already"
HALF_A_PAIR = "one side of a pair is missing"
_LEADING = 7


@dataclass(frozen=True)
class AppraiseLine:
    """One line of the export.

    Attributes:
        origin: The file and line.
        user: The account.
        system: What stood as ``targetID``.
        item: The number of the item.
        type: ``TGT``, or ``BAD``, ``REF`` or ``CHK`` for a check.
        score: The score as text.
        start: When the rater began, in seconds since 1970, if known.
        end: When the rater was done.
        is_document: Whether the score is of a whole document.
        marks: What was marked, as text; None where the type of task has no marks.
    """

    origin: str
    user: str
    system: str
    item: str
    type: str
    score: str
    start: float | None
    end: float | None
    is_document: bool = False
    marks: str | None = None

    @property
    def seconds(self) -> float | None:
        """How long it took; None where a time is missing."""
        return None if self.start is None or self.end is None else seconds_in(max(0.0, self.end - self.start))


@dataclass
class _AppraiseScores:
    reading: Reading
    texts: dict[tuple[str, str], str]
    answers: set[tuple[Any, ...]] = field(default_factory=set)
    halves: dict[tuple[Any, ...], dict[str, AppraiseLine]] = field(default_factory=dict)
    numbers: dict[str, list[Question]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for question in self.reading.key.questions.values():
            self.numbers.setdefault(str(number_of(question.id)), []).append(question)

    def take(self, line: AppraiseLine) -> None:
        """Take one line, or leave it out."""
        if line.is_document:
            self.reading.leave(WHOLE_DOCUMENT, line.origin)
            return
        tokens = line.system.split("+")
        candidates = self.numbers.get(line.item, ())
        question = next(
            (candidate for candidate in candidates if self._token(candidate, tokens)),
            next(iter(candidates), None),
        )
        if question is None:
            self.reading.leave(UNKNOWN_TASK, f"{line.origin}: item {line.item}")
            return
        token = self._token(question, tokens)
        if token is None:
            self.reading.leave(UNKNOWN_OUTPUT, f"{line.origin}: {line.system}")
        elif self.reading.key.answers != "pair" and _is_check(line, question):
            self.reading.leave(CHECK, line.origin)
        else:
            self._answer(question, token, line)

    def _answer(self, question: Question, token: str, line: AppraiseLine) -> None:
        once = (line.user, question.id, token, line.type, line.start, line.end)
        if once in self.answers:
            self.reading.leave(CREDITED, line.origin)
            return
        self.answers.add(once)
        if self.reading.key.answers == "pair":
            pair = (question.id, line.user, line.type, line.start, line.end)
            self.halves.setdefault(pair, {})[token] = line
        elif self.reading.key.answers == "spans":
            self._spans(question, token, line)
        else:
            aspect = self.reading.key.aspects[0]
            self.reading.score(question, token, aspect, _given_score(line), self._submission(question, line))

    def _token(self, question: Question, tokens: Sequence[str]) -> str | None:
        """Return the token that a question credits an output under, from any of the joined ones."""
        models = self.reading.key.models
        for token in tokens:
            for shown_token, credited in question.models_by_token.items():
                if token == shown_token or models.get(token) in credited:
                    return shown_token
        return None

    def _submission(self, question: Question, line: AppraiseLine, share: int = 1) -> Submission:
        # Appraise names accounts itself; a batch of an assignment belongs to the rater that it was made for.
        rater_name = self.reading.raters.get(line.user)
        rater = rater_name if rater_name is not None or question.rater is not None else line.user
        seconds = None if line.seconds is None else line.seconds / share
        return Submission(rater, line.origin, seconds=seconds, time=line.end)

    def pairs(self) -> None:
        """Take the pairs whose both sides are there: the higher score is better, equal ones are a tie."""
        aspects = self.reading.key.aspects
        for (task, *_), sides in self.halves.items():
            question = self.reading.key.questions[task]
            line = next(iter(sides.values()))
            if _is_check(line, question):
                self.reading.leave(CHECK, line.origin, len(aspects))
                continue
            if len(sides) < 2:
                self.reading.leave(HALF_A_PAIR, line.origin, len(aspects))
                continue
            left_score, right_score = (number_in(_given_score(sides[token])) for token in question.by_token)
            if left_score is None or right_score is None:
                self.reading.leave(NO_NUMBER, line.origin, len(aspects))
                continue
            for aspect in aspects:
                submission = self._submission(question, line, len(aspects))
                self.reading.pair(
                    question,
                    aspect,
                    float((left_score > right_score) - (left_score < right_score)),
                    submission,
                )

    def _spans(self, question: Question, token: str, line: AppraiseLine) -> None:
        submission = self._submission(question, line)
        aspects = self.reading.key.aspects
        if line.marks is None:
            self.reading.leave(NOT_ANSWERED, line.origin, len(self.reading.key.asked_aspects))
            return
        spans = [self._span(mark, question, token, line) for mark in _marks(line)]
        if any(span is None for span in spans):
            self.reading.leave(BAD_SPAN, line.origin, len(self.reading.key.asked_aspects))
            return
        scores = {aspect: _given_score(line) for aspect in aspects}
        complete = [span for span in spans if span is not None]
        take_marks(self.reading, question, token, complete, submission, scores)

    def _span(self, mark: Any, question: Question, token: str, line: AppraiseLine) -> Span | None:
        text = self.texts.get((line.item, token))
        if text is None:
            raise InputError(
                "the marks are counted in the texts of the batches, which are not here",
                file=line.origin,
                fix="Give batches.json beside the CSV",
            )
        if not isinstance(mark, dict):
            return None
        kind = mark.get("error_type")
        category = " > ".join(name_in(part) or "" for part in list_in(kind))
        # Appraise trims texts before it counts.
        leading = len(text) - len(text.lstrip(SPACES))
        span = marked_span(mark, text.strip(SPACES), (name_in(mark.get("severity")) or "").lower(), category)
        if span is None:
            return None
        return Span(span.start + leading, span.end + leading, span.severity, span.category)


def read_scores(paths: Sequence[Path], reading: Reading) -> None:
    """Take the scores of some CSV files; JSON files among them are the batches that they belong to."""
    texts = {place: text for path in paths if _is_json(path) for place, text in _texts(path)}
    scores = _AppraiseScores(reading, texts)
    if all(map(_is_json, paths)):
        raise InputError("these are batches only", file=paths[0], fix="Give the CSV of scores, too")
    for path in paths:
        if not _is_json(path):
            for line in lines_of(path, pairs=reading.key.answers == "pair"):
                scores.take(line)
    scores.pairs()


def lines_of(path: Path, *, pairs: bool = False) -> Iterator[AppraiseLine]:
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


def _line(row: list[str], path: Path, number: int, *, pairs: bool) -> AppraiseLine:
    first = _first_time(row, pairs=pairs)
    if first is None:
        raise InputError(
            f"{len(row)} columns that are not those of Appraise",
            file=path,
            line=number,
            fix="Export with manage.py ExportSystemScoresToCSV",
        )
    user, system, item, kind, _, _, score = row[:_LEADING]
    is_document = not pairs and first > _LEADING and row[8] == "True"
    return AppraiseLine(
        origin=f"{path.name}, line {number}",
        user=user,
        system=system,
        item=item,
        type=kind,
        score=score,
        start=number_in(row[first]),
        end=number_in(row[first + 1]),
        is_document=is_document,
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


def _is_check(line: AppraiseLine, question: Question) -> bool:
    """Say whether Appraise repeated or spoilt an item that is no control item of ours."""
    return line.type != JUDGED and question.control is None


def _given_score(line: AppraiseLine) -> str | None:
    return None if line.score in ("", "None") else line.score


def _marks(line: AppraiseLine) -> list[Any]:
    """Return the marks, from JSON (once or twice encoded) or from a Python list, without undecided ones."""
    marks: Any = line.marks
    for _ in range(2):
        if isinstance(marks, str):
            marks = _parsed(marks, line)
    if isinstance(marks, dict):
        marks = marks.get("payload")
    if not isinstance(marks, list):
        raise InputError("the marks are no list", file=line.origin)
    return [mark for mark in marks if not (isinstance(mark, dict) and mark.get("severity") == "undecided")]


def _parsed(text: str, line: AppraiseLine) -> Any:
    try:
        return json_in(text, line.origin)
    except InputError:
        pass
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError("the marks cannot be read", file=line.origin) from None


def _is_json(path: Path) -> bool:
    return path.suffix.lower() == ".json"


def _texts(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the text of every output in the batches, by the number of the item and the token."""
    batches = files.read_json(path)
    try:
        rows = [row for batch in batches for row in batch["items"] if not row.get("isCompleteDocument")]
        for row in rows:
            targets = row.get("targets") or [row]
            for target in targets:
                for token in (name_in(target["targetID"]) or "").split("+"):
                    yield (name_in(row["itemID"]) or "", token), name_in(target["targetText"]) or ""
    except (TypeError, KeyError, AttributeError):
        raise InputError("these are no batches of Appraise", file=path) from None
