"""Pearmut: a campaign as one JSON file, and the log of its annotations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from html import escape
from itertools import chain, pairwise
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.browser import fits_link, marked_span, plain_names, take_marks
from sparingly.run.exchange.files import list_in, mapping_in, name_in, number_in, write_json
from sparingly.run.exchange.key import MODEL_LETTERS, Key, letters
from sparingly.run.exchange.reading import CANCELLED, NOT_ANSWERED, RESET, UNKNOWN_TASK, Reading, Submission
from sparingly.run.exchange.report import ImportReport
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, Options, has_whole_steps, question_fields
from sparingly.run.forms.form import Kind
from sparingly.run.forms.question import Passage, Question
from sparingly.run.forms.spans import Span

PROTOCOLS = ("DA", "ESA", "cESA", "MQM")
TASK_BASED, SINGLE_STREAM = "task-based", "single-stream"
# The scale of the one slider that every protocol has.
SCORE = Scale(0, 100)
# Texts that begin so are put into the page as HTML; a word joiner before them makes them text again.
_MEDIA = ("<audio ", "<video ", "<img ", "<iframe ")
GUARD = "\u2060"


@register("pearmut")
class Pearmut(AnnotationTool):
    """Pearmut (Zouhar 2025): direct scores, error spans and several sliders, document by document."""

    summary: ClassVar[str] = "a campaign for pearmut add, and the annotations it logs"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "spans")
    write_options: ClassVar[dict[str, str]] = {
        "assignment": "task-based (a list per rater) or single-stream (one list for all)",
        "campaign": "the name of the campaign; sparingly-1 in the first round unless given",
        "protocol": "DA, ESA, cESA or MQM; DA for scores, ESA for spans with a score, MQM for spans alone",
        "reference": "yes to show the first reference",
        "users": "how many raters share a single stream; 1 unless given",
    }

    def check_write(self, tasks: Tasks, options: Options) -> None:
        """Raise UsageError for options that do not fit the tasks, before anything is written."""
        super().check_write(tasks, options)
        campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write the campaign as ``campaign.json``."""
        return [write_json(folder / "campaign.json", campaign(tasks, options))]

    def read(self, files: Sequence[Path], reading: Reading, options: Options) -> ImportReport:
        """Read ``data/annotations/CAMPAIGN.jsonl``, or what ``/download-annotations`` gives."""
        names = {rater: user_of(reading.key, rater) for rater in _raters(reading.key)}
        read_logs(files, reading, slider_names(reading.key), {user: rater for rater, user in names.items()})
        return reading.report()


def campaign(tasks: Tasks, options: Options) -> dict[str, Any]:
    """Return the campaign as Pearmut reads it."""
    name = options.get("campaign", f"sparingly-{max((question.round for question in tasks), default=1)}")
    if not fits_link(name) or name in (".", ".."):
        raise UsageError(f'The campaign "{name}" is part of links: take letters, digits, dots and hyphens.')
    assignment = _assignment(tasks, options)
    documents = [[_item(question, order, options) for question in run] for run, order in _ordered(tasks)]
    users: Any = _count(options)
    data: Any = documents
    if assignment == TASK_BASED:
        lists: dict[str, list[Any]] = {}
        for document, run in zip(documents, tasks.by_document(), strict=True):
            lists.setdefault(_rater(run[0]), []).append(document)
        users, data = [user_of(tasks.key, rater) for rater in lists], list(lists.values())
    info: dict[str, Any] = {
        "assignment": assignment,
        "protocol": _protocol(tasks, options),
        "users": users,
        "seed": tasks.seed,
        # Outputs are in a drawn order already, and it must be the same in all items of a document.
        "shuffle": False,
    }
    if (sliders := _sliders(tasks)) is not None:
        info["sliders"] = sliders
    return {"campaign_id": name, "info": info, "data": data}


def slider_names(key: Key) -> dict[str, str]:
    """Return the slider of every aspect; none where the one score of Pearmut says it."""
    aspects = tuple(key.scales)
    return {} if len(aspects) == 1 and key.scales[aspects[0]] == SCORE else plain_names(aspects)


def user_of(key: Key, rater: str) -> str:
    """Return the name of a rater in Pearmut, which goes into links as it is."""
    return rater if fits_link(rater) else letters(key.seed, key.salt, "raters", [rater], MODEL_LETTERS)[0]


def _raters(key: Key) -> list[str]:
    return sorted({question.rater for question in key.questions.values() if question.rater is not None})


def _rater(question: Question) -> str:
    if question.rater is None:
        raise UsageError("Some tasks have no rater: write them with assignment=single-stream.")
    return question.rater


def _assignment(tasks: Tasks, options: Options) -> str:
    assignment = options.get("assignment", TASK_BASED if tasks.raters else SINGLE_STREAM)
    if assignment not in (TASK_BASED, SINGLE_STREAM):
        raise UsageError(f'The assignment "{assignment}" is neither {TASK_BASED} nor {SINGLE_STREAM}.')
    if assignment == TASK_BASED and not tasks.raters:
        raise UsageError("A task-based campaign has a list per rater: give an assignment (sparingly assign).")
    return assignment


def _count(options: Options) -> int:
    count = options.get("users", "1")
    if not count.isdecimal() or int(count) < 1:
        raise UsageError(f'The number of users "{count}" is no whole number above 0.')
    return int(count)


def _protocol(tasks: Tasks, options: Options) -> str:
    default = "DA" if tasks.kind == "score" else "ESA" if tasks.aspects else "MQM"
    protocol = options.get("protocol", default)
    if protocol not in PROTOCOLS:
        raise UsageError(f'The protocol "{protocol}" is none of {", ".join(PROTOCOLS)}.')
    if tasks.kind == "spans" and protocol == "DA":
        raise UsageError("The protocol DA has no spans: take ESA or MQM.")
    if tasks.kind == "score" and protocol != "DA":
        raise UsageError(f"The protocol {protocol} marks spans: ask for the kind spans.")
    return protocol


def _sliders(tasks: Tasks) -> list[dict[str, Any]] | None:
    """Return the sliders; None leaves the usual one, and an empty list takes it away."""
    names = slider_names(tasks.key)
    if not names and tasks.scales:
        return None
    return [
        {"name": names[aspect], "min": scale.low, "max": scale.high, "step": _step(scale)}
        for aspect, scale in tasks.scales.items()
    ]


def _step(scale: Scale) -> float:
    return 1 if has_whole_steps(scale) else (scale.high - scale.low) / 100


def _ordered(tasks: Tasks) -> list[tuple[list[Question], list[str]]]:
    """Return every document with the order of its outputs: a model stands in one column all the way."""
    runs = tasks.by_document()
    return [
        (run, list(dict.fromkeys(output.token for question in run for output in question.outputs)))
        for run in runs
    ]


def _item(question: Question, order: list[str], options: Options) -> dict[str, Any]:
    texts = {output.token: _guarded(output.text or "") for output in question.outputs}
    item: dict[str, Any] = {**question_fields(question), "item_id": question.shown_item}
    if question.source is not None:
        item["src"] = _guarded(question.source)
    if options.get("reference") == "yes" and question.reference is not None:
        item["ref"] = _guarded(question.reference)
    if context := _context(question):
        item["instructions"] = context
    return {**item, "tgt": {token: texts[token] for token in order if token in texts}}


def _guarded(text: str) -> str:
    return f"{GUARD}{text}" if text.startswith(_MEDIA) else text


def _context(question: Question) -> str:
    """Return what comes before and after as a line of HTML above the item."""
    parts = [("Before", question.before), ("After", question.after)]
    return "".join(f"<p><b>{title}:</b> {_passages(passages)}</p>" for title, passages in parts if passages)


def _passages(passages: Sequence[Passage]) -> str:
    texts = (
        [passage.source] if passage.source else list(passage.outputs.values())[:1] for passage in passages
    )
    return "<br>".join(escape(text) for text in chain.from_iterable(texts))


# --- the log: entries of one user and one document each, with resets ------------------------------------


EXTRA_PAGE = "a welcome, random or goodbye page"
BAD_MARK = "a mark without a place or a severity"
_RESET = "__RESET__"
# Pearmut counts a pause as this many seconds at most.
_LONGEST_PAUSE = 61.0

Entry = dict[str, Any]
Log = list[tuple[str, Entry]]


def read_logs(
    paths: Sequence[Path], reading: Reading, sliders: Mapping[str, str], raters: Mapping[str, str]
) -> None:
    """Take the answers of some logs.

    A reset voids the user's earlier entries of the same log, pages with a name instead of a number are not
    judged, a skipped item is null, and of repeated submissions the last one counts.

    Args:
        paths: The files.
        reading: Takes the answers.
        sliders: The slider of every aspect; empty where the one score says it.
        raters: The raters by their names in Pearmut.
    """
    failed: dict[str, int] = {}
    for log in (log for path in paths for log in _logs(path)):
        last_reset = {_user(entry): at for at, (_, entry) in enumerate(log) if _is_reset(entry)}
        for at, (origin, entry) in enumerate(log):
            if _is_reset(entry):
                continue
            user = _user(entry)
            reader = _PearmutEntry(reading, sliders, raters.get(user, user), origin, entry)
            if isinstance(entry.get("item_i"), str):
                reading.leave(EXTRA_PAGE, origin, max(1, len(reader.items)))
            elif at < last_reset.get(user, -1):
                reader.leave(RESET)
            else:
                reader.take()
                checks = entry.get("validations")
                failures = [check for check in checks if check is False] if isinstance(checks, list) else []
                failed[reader.rater] = failed.get(reader.rater, 0) + len(failures)
    for rater, count in sorted(failed.items()):
        if count:
            reading.note(f"{rater} failed {count} of Pearmut's checks.")


def _user(entry: Entry) -> str:
    return name_in(entry.get("user_id")) or ""


@dataclass
class _PearmutEntry:
    """One entry of a log: the items of a document, and what a user said about each."""

    reading: Reading
    sliders: Mapping[str, str]
    rater: str
    origin: str
    entry: Entry

    @property
    def items(self) -> list[Any]:
        return _list_or_empty(self.entry.get("item"))

    @property
    def answers(self) -> list[Any]:
        return _list_or_empty(self.entry.get("annotation"))

    def leave(self, reason: str) -> None:
        """Leave out everything that was asked here."""
        for item in self.items:
            if (question := self._question(item)) is not None:
                self.reading.leave_question(reason, question, self.origin)

    def take(self) -> None:
        """Take the answers about every item."""
        if len(self.answers) != len(self.items):
            self.leave(NOT_ANSWERED)
            return
        submission = self._submission()
        for item, answer in zip(self.items, self.answers, strict=True):
            question = self._question(item)
            if question is None:
                continue
            if not isinstance(answer, dict):
                self.reading.leave_question(CANCELLED, question, self.origin)
                continue
            for token, judgement in answer.items():
                self._output(question, token, judgement, _text(item, token), submission)

    def _question(self, item: Any) -> Question | None:
        """Return what an item asked: by the task's id, or by the item where somebody left it out."""
        fields = mapping_in(item)
        if "task" in fields:
            return self.reading.question(fields["task"], self.origin)
        item_id, tokens = name_in(fields.get("item_id")) or "", mapping_in(fields.get("tgt"))
        question = self.reading.key.find(item_id, rater=self.rater, tokens=tokens)
        if question is None:
            self.reading.leave(UNKNOWN_TASK, self.origin)
        return question

    def _submission(self) -> Submission:
        stamps = (number_in(mapping_in(action).get("time")) for action in list_in(self.entry.get("actions")))
        times = [time for time in stamps if time is not None]
        output_count = sum(len(answer) for answer in self.answers if isinstance(answer, dict))
        answer_count = max(1, output_count * len(self.reading.key.asked_aspects))
        spent = sum(min(max(later - action, 0.0), _LONGEST_PAUSE) for action, later in pairwise(times))
        comment = self.entry.get("comment")
        return Submission(
            self.rater,
            self.origin,
            seconds=spent / answer_count if len(times) > 1 else None,
            comment=comment if isinstance(comment, str) else None,
            time=max(times, default=None),
        )

    @property
    def _skipped(self) -> bool:
        actions = list_in(self.entry.get("actions"))
        return any(mapping_in(action).get("action") == "submit_skip" for action in actions)

    def _output(
        self, question: Question, token: str, judgement: Any, text: str | None, submission: Submission
    ) -> None:
        key, place = self.reading.key, f"{self.origin}, {token}"
        if not isinstance(judgement, dict) or (self._skipped and not self._has_all_scores(judgement)):
            self.reading.leave(CANCELLED if self._skipped else NOT_ANSWERED, place, len(key.asked_aspects))
            return
        comment = judgement.get("textfield")
        submission = replace(
            submission,
            origin=place,
            comment=comment if isinstance(comment, str) and comment else submission.comment,
        )
        scores = {aspect: self._score(aspect, judgement) for aspect in key.aspects}
        if key.answers == "spans":
            self._spans(question, token, judgement, text, submission, scores)
            return
        for aspect in key.aspects:
            self.reading.score(question, token, aspect, scores[aspect], submission)

    def _has_all_scores(self, judgement: Mapping[str, Any]) -> bool:
        aspects = self.reading.key.aspects
        return bool(aspects) and all(self._score(aspect, judgement) is not None for aspect in aspects)

    def _score(self, aspect: str, judgement: Mapping[str, Any]) -> Any:
        """Return the slider of an aspect, or the score, for which the mean of all sliders stands in."""
        values = mapping_in(judgement.get("sliders"))
        if aspect in self.sliders and self.sliders[aspect] in values:
            return values[self.sliders[aspect]]
        if judgement.get("score") is not None:
            return judgement["score"]
        numbers = [number for value in values.values() if (number := number_in(value)) is not None]
        # Divided before they are added, so that no sum of numbers is infinite.
        return math.fsum(number / len(numbers) for number in numbers) if numbers else None

    def _spans(
        self,
        question: Question,
        token: str,
        judgement: Mapping[str, Any],
        text: str | None,
        submission: Submission,
        scores: Mapping[str, Any],
    ) -> None:
        marks = list_in(judgement.get("error_spans"))
        letters = question.by_token[token].letters if token in question.by_token else None
        spans = [_span(mark, text or "", letters) for mark in marks]
        complete = [span for span in spans if span is not None]
        if len(complete) < len(spans):
            self.reading.leave(BAD_MARK, submission.origin, len(self.reading.key.asked_aspects))
            return
        take_marks(self.reading, question, token, complete, submission, scores)


def _span(mark: Any, text: str, letters: int | None) -> Span | None:
    """Return a mark in the output as it was written, without what was put before it in the page."""
    if not isinstance(mark, dict) or not isinstance(mark.get("severity"), str):
        return None
    span = marked_span(mark, text, mark["severity"].lower(), name_in(mark.get("category")) or "")
    extra = len(text) - letters if letters is not None and letters < len(text) else 0
    if span is None or not extra:
        return span
    return replace(span, start=max(0, span.start - extra), end=max(0, span.end - extra))


def _text(item: Any, token: str) -> str | None:
    text = mapping_in(mapping_in(item).get("tgt")).get(token)
    return text if isinstance(text, str) else None


def _is_reset(entry: Entry) -> bool:
    return entry.get("annotation") == _RESET


def _logs(path: Path) -> Iterator[Log]:
    """Yield the logs of a file: one of JSON Lines, or one per campaign of a download."""
    content: Any = None
    with suppress(InputError):
        content = next((entry for _, entry in files.json_lines(path)), None)
    if content is None or "annotation" not in content:
        # Not one entry a line: the whole file is one value.
        content = files.read_json(path)
    if isinstance(content, dict) and "annotation" in content:
        yield [(f"{path.name}, line {line}", entry) for line, entry in files.json_lines(path)]
        return
    if not isinstance(content, dict) or not all(_is_log(log) for log in content.values()):
        raise InputError(
            "these are no annotations of Pearmut",
            file=path,
            fix="Take data/annotations/CAMPAIGN.jsonl or what the dashboard downloads",
        )
    for name, log in content.items():
        yield [(f"{path.name}, {name}, entry {at + 1}", entry) for at, entry in enumerate(log)]


def _is_log(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(entry, dict) for entry in value)


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []
