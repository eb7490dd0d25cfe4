"""Appraise: a manifest and batches for a campaign, and the scores it exports."""

from __future__ import annotations

import ast
import csv
import io
import math
import re
import secrets
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import cycle, islice
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base import rng
from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.base.syntax import argument
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import (
    SPACES,
    json_in,
    list_in,
    mapping_in,
    marked_span,
    name_in,
    number_in,
    seconds_in,
    write_json,
)
from sparingly.run.exchange.reading import (
    NO_NUMBER,
    UNKNOWN_OUTPUT,
    UNKNOWN_TASK,
    ImportReport,
    Reading,
    Submission,
)
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, ToolOptions, context_text
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.question import Question
from sparingly.run.forms.spans import Span

BATCH_SIZE = 100
JUDGED, REPEATED = "TGT", "CHK"
TYPES = {"degraded": "BAD", "reference": "REF", "repeat": REPEATED}
_NUMBERS = 2**31 - 2

AppraiseRow = dict[str, Any]

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
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "spans")
    own_scale: ClassVar[Scale | None] = Scale(0, 100)
    write_options: ClassVar[dict[str, str]] = {
        "source": "the language of the sources as a code of three letters, as in eng (needed)",
        "target": "the language of the outputs as a code of three letters, as in deu (needed)",
        "annotators": "how many accounts share the batches; default: one per batch",
        "campaign": "the name of the campaign; default: sparingly1 in the first round",
        "number": "the number of the campaign, from 1 to 255; default: 1",
        "redundancy": "how many annotators judge every batch; default: 1",
        "size": f"how many items a batch has; default: {BATCH_SIZE}",
        "type": "Direct or Document; Document for spans and where there are documents",
        "url": "where accounts sign in; default: http://127.0.0.1:8000/dashboard/sso/",
    }

    def check_write(self, tasks: Tasks, options: ToolOptions) -> None:
        """Raise UsageError for options that do not fit the tasks, before anything is written."""
        super().check_write(tasks, options)
        if tasks.kind != "pair" and len(tasks.aspects) > 1:
            raise UsageError(
                f"Appraise asks for one score: name one of {', '.join(tasks.aspects)} as aspect."
            )
        _campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``manifest.json`` and ``batches.json``."""
        manifest, batches = _campaign(tasks, options)
        return [write_json(folder / "manifest.json", manifest), write_json(folder / "batches.json", batches)]

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read the CSV files of scores; spans need ``batches.json`` among the files, too."""
        batches = [path for path in files if path.suffix.lower() == ".json"]
        texts = {place: text for path in batches for place, text in _texts(path)}
        if len(batches) == len(files):
            raise InputError("these are batches only", file=files[0], fix="Give the CSV of scores, too")
        scores = _AppraiseScores(reading, texts)
        for path in files:
            if path not in batches:
                for line in _lines(path, pairs=reading.key.answers == "pair"):
                    scores.take(line)
        scores.take_pairs()
        return reading.report()


def _campaign(tasks: Tasks, options: ToolOptions) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Return the manifest and the batches."""
    languages = _language(options, "source"), _language(options, "target")
    task_type = _task_type(tasks, options)
    size = _whole_option(options, "size", BATCH_SIZE, 2000)
    redundancy = _whole_option(options, "redundancy", 1, 50)
    numbers = {number_of(question.id) for question in tasks}
    if len(numbers) < len(tasks):
        raise UsageError(
            f"Two tasks have the same number by chance: choose another, {argument('seed', '1')}."
        )
    batches = list(_batches(tasks, size, whole_documents=task_type == DOCUMENT))
    if not batches:
        raise UsageError("There is nothing to ask, and Appraise starts no campaign without a batch.")
    count = len(batches)
    annotators = len(tasks.raters) or _whole_option(options, "annotators", count * redundancy, 4095)
    _check_shares(tasks, options, count * redundancy, annotators)
    name = options.get("campaign", f"sparingly{max((question.round for question in tasks), default=1)}")
    if _NAME.fullmatch(name) is None:
        raise UsageError(f'The campaign "{name}" of Appraise must be letters and digits, a letter first.')
    manifest: dict[str, Any] = {
        "CAMPAIGN_URL": options.get("url", "http://127.0.0.1:8000/dashboard/sso/"),
        "CAMPAIGN_NAME": name,
        # Passwords are made from the name and this key, so it must not be guessed.
        "CAMPAIGN_KEY": secrets.token_hex(8),
        "CAMPAIGN_NO": _whole_option(options, "number", 1, 255),
        "REDUNDANCY": redundancy,
        "TASKS_TO_ANNOTATORS": [[*languages, "uniform", annotators, count]],
        "TASK_TYPE": task_type,
    }
    if tasks.kind == "spans":
        manifest["TASK_OPTIONS"] = "ESA" if tasks.aspects else "MQM"
    return manifest, [
        {
            "items": [{"_block": place // 10, "_item": place, **row} for place, row in enumerate(rows)],
            "task": {
                "batchNo": number,
                "batchSize": len(rows),
                "randomSeed": tasks.key.seed,
                "requiredAnnotations": redundancy,
                "sourceLanguage": languages[0],
                "targetLanguage": languages[1],
            },
        }
        for number, rows in enumerate(batches, 1)
    ]


def _language(options: ToolOptions, name: str) -> str:
    code = options.get(name, "")
    if _LANGUAGE.fullmatch(code) is None:
        problem = f'not "{code}"' if code else "and none is given"
        raise UsageError(
            f"Appraise wants the {name} language as a code of three letters, {problem}: {name}=eng."
        )
    return code


def _whole_option(options: ToolOptions, name: str, default: int, highest: int) -> int:
    value = options.get(name, str(default))
    if not value.isdecimal() or not 1 <= int(value) <= highest:
        raise UsageError(
            f'The option {name} of Appraise is a whole number from 1 to {highest}, not "{value}".'
        )
    return int(value)


def _task_type(tasks: Tasks, options: ToolOptions) -> str:
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


def _check_shares(tasks: Tasks, options: ToolOptions, count: int, annotators: int) -> None:
    """Raise UsageError unless Appraise can share so many batches (with repeats) among the annotators."""
    if tasks.raters:
        superfluous = [name for name in ("annotators", "redundancy", "size") if name in options]
        if superfluous:
            raise UsageError(f"The assignment says who judges what: leave out {', '.join(superfluous)}.")
    elif count % annotators:
        raise UsageError(
            f"Appraise shares batches evenly, and {count} of them cannot be divided equally among "
            f"{annotators} annotators."
        )
    elif count > _MOST_BATCHES * annotators:
        raise UsageError(
            f"Appraise leaves batches out where an annotator has more than {_MOST_BATCHES}: "
            f"take at least {-(-count // _MOST_BATCHES)} annotators."
        )


# --- batches: items in order, documents whole, control items under Appraise's types ---------------------


def number_of(task: str) -> int:
    """Return the number of a task in Appraise, which knows items by numbers: a hash of the task's id."""
    return int(rng.stream(rng.keys_of([task]), 0, "appraise")[0]) % _NUMBERS + 1


def _batches(tasks: Tasks, size: int, *, whole_documents: bool) -> Iterator[list[AppraiseRow]]:
    """Yield the rows of every batch: one for every rater of an assignment, else of so many items.

    Appraise loads only pairwise batches of 100 items, so those are filled up with repeats, which come back as
    checks.
    """
    pairs = tasks.kind == "pair"
    for rater, questions in tasks.by_rater().items():
        size_limit = math.inf if rater is not None else BATCH_SIZE if pairs else size
        batches: list[list[AppraiseRow]] = [[]]
        for part in _parts(tasks, questions, whole_documents=whole_documents):
            if batches[-1] and len(batches[-1]) + len(part) > size_limit:
                batches.append([])
            batches[-1] += part
        for rows in batches:
            if pairs and len(rows) > BATCH_SIZE:
                raise UsageError(
                    f"{rater} has {len(rows)} pairs, and a batch of Appraise holds {BATCH_SIZE}: "
                    "take more raters or fewer items."
                )
            repeats = islice(cycle(rows), BATCH_SIZE - len(rows) if pairs else 0)
            yield [*rows, *({**row, "itemType": REPEATED} for row in repeats)]


def _parts(
    tasks: Tasks, questions: Sequence[Question], *, whole_documents: bool
) -> Iterator[list[AppraiseRow]]:
    """Yield what is never torn: an item with its outputs, or a document of one model."""
    if whole_documents:
        ids = {question.id for question in questions}
        for run in tasks.by_document():
            if run[0].id in ids:
                yield from _documents(tasks, run)
        return
    token_of = {model: token for token, model in tasks.key.models.items()}
    for question in questions:
        targets = []
        for output in question.outputs:
            # The tokens of all models with this output, joined as Appraise joins equal outputs.
            tokens = [output.token, *(token_of[model] for model in output.models)]
            targets.append({"targetID": "+".join(dict.fromkeys(tokens)), "targetText": output.text})
        item = _item(question)
        if tasks.kind == "pair":
            if context := context_text(question.before, "\n"):
                item["contextLeft"] = context
            item["targets"] = [{"_target": place, **target} for place, target in enumerate(targets)]
            yield [{**item, "targetsSize": len(targets)}]
        else:
            yield [{**item, **target} for target in targets]


def _documents(tasks: Tasks, run: Sequence[Question]) -> Iterator[list[AppraiseRow]]:
    """Yield the document as every model wrote it, in order; then the row for it as a whole, without spans."""
    tokens = dict.fromkeys(output.token for question in run for output in question.outputs)
    for token in tokens:
        rows = []
        for question in run:
            output = question.by_token.get(token)
            if output is None:
                continue
            row = {**_item(question), "targetID": token, "targetText": output.text}
            if question.before:
                outputs = [passage.outputs[token] for passage in question.before if token in passage.outputs]
                row["sourceContextLeft"] = context_text(question.before, "\n")
                row["targetContextLeft"] = "\n".join(outputs)
            # A control item is a document of its own, under a name that tells nothing.
            has_name = run[0].document is not None and question.control is None
            row["documentID"] = run[0].document if has_name else question.id
            row["isCompleteDocument"] = False
            rows.append(row)
        if tasks.kind == "spans":
            yield [{**row, "mqm": []} for row in rows]
            continue
        document = {name: value for name, value in rows[-1].items() if not name.endswith("ContextLeft")}
        for name in ("sourceText", "targetText"):
            document[name] = " ".join(row[name] for row in rows)
        yield [*rows, {**document, "isCompleteDocument": True}]


def _item(question: Question) -> AppraiseRow:
    return {
        "itemID": number_of(question.id),
        "itemType": JUDGED if question.control is None else TYPES[question.control],
        "sourceID": question.id,
        "sourceText": question.source or "",
    }


# --- scores: CSV without a header, in columns that depend on the type of task ---------------------------


WHOLE_DOCUMENT = "a score of a whole document"
CHECK = "a repeat or check of Appraise (BAD, REF, CHK)"
CREDITED = "the same answer, credited to equal outputs already"
HALF_A_PAIR = "one side of a pair is missing"


@dataclass(frozen=True)
class AppraiseLine:
    """One line of the export, with what is not there as None.

    ``system`` stood as ``targetID``, ``type`` is TGT, or BAD, REF or CHK for a check, ``start`` and ``end``
    are seconds since 1970, and ``marks`` are the text that stands for them.
    """

    origin: str
    user: str
    system: str
    item: str
    type: str
    score: str | None
    start: float | None
    end: float | None
    is_document: bool
    marks: str | None


class _AppraiseScores:
    """Takes lines; the two sides of a pair are two lines, which are put together in the end."""

    def __init__(self, reading: Reading, texts: Mapping[tuple[str, str], str]) -> None:
        self.reading = reading
        self.key = reading.key
        self.texts = texts
        self.answers: set[tuple[Any, ...]] = set()
        self.halves: dict[tuple[Any, ...], dict[str, AppraiseLine]] = {}
        self.numbers: dict[str, list[Question]] = {}
        for question in self.key.questions.values():
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
            return
        if self.key.answers != "pair" and _is_check(line, question):
            self.reading.leave(CHECK, line.origin)
            return
        once = (line.user, question.id, token, line.type, line.start, line.end)
        if once in self.answers:
            self.reading.leave(CREDITED, line.origin)
            return
        self.answers.add(once)
        if self.key.answers == "pair":
            pair = (question.id, line.user, line.type, line.start, line.end)
            self.halves.setdefault(pair, {})[token] = line
        else:
            spans = self._spans(token, line) if self.key.answers == "spans" else None
            scores = dict.fromkeys(self.key.aspects, line.score)
            self.reading.output(question, token, scores, self._submission(question, line), spans)

    def _token(self, question: Question, tokens: Sequence[str]) -> str | None:
        """Return the token that a question credits an output under, from any of the joined ones."""
        for token in tokens:
            for shown_token, credited in question.models_by_token.items():
                if token == shown_token or self.key.models.get(token) in credited:
                    return shown_token
        return None

    def _submission(self, question: Question, line: AppraiseLine, share: int = 1) -> Submission:
        # Appraise names accounts itself; a batch of an assignment belongs to the rater that it was made for.
        rater_name = self.reading.raters.get(line.user)
        rater = rater_name if rater_name is not None or question.rater is not None else line.user
        seconds = None
        if line.start is not None and line.end is not None:
            seconds = seconds_in(max(0.0, line.end - line.start))
        return Submission(
            rater, line.origin, seconds=None if seconds is None else seconds / share, time=line.end
        )

    def _spans(self, token: str, line: AppraiseLine) -> list[Span | None] | None:
        """Return the marks, from JSON (once or twice encoded) or a Python list, without undecided ones."""
        if line.marks is None:
            return None
        marks: Any = line.marks
        for _ in range(2):
            if isinstance(marks, str):
                marks = _parsed(marks, line)
        if isinstance(marks, dict):
            marks = marks.get("payload")
        if not isinstance(marks, list):
            raise InputError("the marks are not a list", file=line.origin)
        spans: list[Span | None] = []
        for mark in marks:
            fields = mapping_in(mark)
            if fields.get("severity") == "undecided":
                continue
            text = self.texts.get((line.item, token))
            if text is None:
                raise InputError(
                    "the marks are counted in the texts of the batches, which are not here",
                    file=line.origin,
                    fix="Give batches.json together with the CSV",
                )
            category = " > ".join(name_in(part) or "" for part in list_in(fields.get("error_type")))
            severity = (name_in(fields.get("severity")) or "").lower()
            # Appraise trims texts before it counts.
            leading = len(text) - len(text.lstrip(SPACES))
            span = marked_span(fields, text.strip(SPACES), severity, category)
            moved = span and replace(span, start=span.start + leading, end=span.end + leading)
            spans.append(moved)
        return spans

    def take_pairs(self) -> None:
        """Take the pairs whose both sides are there: the higher score is better, equal ones are a tie."""
        aspects = self.key.aspects
        for (task, *_), sides in self.halves.items():
            question = self.key.questions[task]
            line = next(iter(sides.values()))
            if _is_check(line, question):
                self.reading.leave(CHECK, line.origin, len(aspects))
                continue
            if len(sides) < 2:
                self.reading.leave(HALF_A_PAIR, line.origin, len(aspects))
                continue
            left, right = (number_in(sides[token].score) for token in question.by_token)
            if left is None or right is None:
                self.reading.leave(NO_NUMBER, line.origin, len(aspects))
                continue
            better = float((left > right) - (left < right))
            submission = self._submission(question, line, len(aspects))
            for aspect in aspects:
                self.reading.pair(question, aspect, better, submission)


def _lines(path: Path, *, pairs: bool) -> Iterator[AppraiseLine]:
    """Yield the lines of an export, whatever the type of task.

    Seven columns are always there; documents add two and marks a third, pairs add what raters said about the
    output and the source (since 2022); then come start and end, and with ``--batch-info`` columns that are
    not needed.
    """
    text = "".join(f"{line}\n" for _, line in files.text_lines(path))
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    try:
        for row in reader:
            if not row:
                continue
            has_document = not pairs and len(row) > 8 and row[8] in ("True", "False")
            places = (9, 7) if pairs else (10, 9) if has_document else (7,)
            # Where two columns are times, or say that there are none.
            are_times = [text == "None" or number_in(text) is not None for text in row]
            first = next((place for place in places if are_times[place : place + 2] == [True, True]), None)
            if first is None:
                raise InputError(
                    f"{len(row)} columns that are not those of Appraise",
                    file=path,
                    line=reader.line_num,
                    fix="Export with manage.py ExportSystemScoresToCSV",
                )
            user, system, item, kind, _, _, score = row[:7]
            yield AppraiseLine(
                origin=f"{path.name}, line {reader.line_num}",
                user=user,
                system=system,
                item=item,
                type=kind,
                score=None if score in ("", "None") else score,
                start=number_in(row[first]),
                end=number_in(row[first + 1]),
                is_document=has_document and row[8] == "True",
                marks=row[9] if first == 10 else None,
            )
    except csv.Error as error:
        raise InputError(f"this is not CSV ({error})", file=path, line=reader.line_num) from None


def _is_check(line: AppraiseLine, question: Question) -> bool:
    """Say whether Appraise repeated or spoilt an item that is no control item of ours."""
    return line.type != JUDGED and question.control is None


def _parsed(text: str, line: AppraiseLine) -> Any:
    with suppress(InputError):
        return json_in(text, line.origin)
    try:
        return ast.literal_eval(text)
    except (ValueError, SyntaxError, RecursionError, MemoryError):
        raise InputError("the marks cannot be read", file=line.origin) from None


def _texts(path: Path) -> Iterator[tuple[tuple[str, str], str]]:
    """Yield the text of every output in the batches, by the number of the item and the token."""
    batches = files.read_json(path)
    try:
        rows = [row for batch in batches for row in batch["items"] if not row.get("isCompleteDocument")]
        for row in rows:
            for target in row.get("targets") or [row]:
                for token in (name_in(target["targetID"]) or "").split("+"):
                    yield (name_in(row["itemID"]) or "", token), name_in(target["targetText"]) or ""
    except (TypeError, KeyError, AttributeError):
        raise InputError("these are not batches of Appraise", file=path) from None
