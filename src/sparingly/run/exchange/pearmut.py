"""Pearmut: a campaign as one JSON file, and the log of its annotations."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from html import escape
from itertools import pairwise
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import (
    fits_link,
    list_in,
    mapping_in,
    marked_span,
    name_in,
    number_in,
    plain_names,
    write_json,
)
from sparingly.run.exchange.key import MODEL_LETTERS, Key, letters
from sparingly.run.exchange.reading import (
    CANCELLED,
    NOT_ANSWERED,
    RESET,
    UNKNOWN_TASK,
    ImportReport,
    Reading,
    Submission,
)
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import AnnotationTool, ToolOptions, has_whole_steps, question_fields
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.question import Question

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
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "spans")
    write_options: ClassVar[dict[str, str]] = {
        "assignment": "task-based (a list per rater) or single-stream (one list for all)",
        "campaign": "the name of the campaign; default: sparingly-1 in the first round",
        "protocol": "DA, ESA, cESA or MQM; DA for scores, ESA for spans with a score, MQM for spans alone",
        "reference": "yes to show the first reference",
        "users": "how many raters share a single stream; default: 1",
    }

    def check_write(self, tasks: Tasks, options: ToolOptions) -> None:
        """Raise UsageError for options that do not fit the tasks, before anything is written."""
        super().check_write(tasks, options)
        campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write the campaign as ``campaign.json``."""
        return [write_json(folder / "campaign.json", campaign(tasks, options))]

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read ``data/annotations/CAMPAIGN.jsonl``, or what ``/download-annotations`` gives.

        A reset voids the user's earlier entries of the same log, pages with a name instead of a number are
        not judged, a skipped item is null, and of repeated submissions the last one counts.
        """
        key = reading.key
        raters = {question.rater for question in key.questions.values() if question.rater is not None}
        rater_of = {user_of(key, rater): rater for rater in sorted(raters)}
        sliders = slider_names(key)
        failed: dict[str, int] = {}
        for log in (log for path in files for log in _logs(path)):
            is_reset = [entry.get("annotation") == _RESET for _, entry in log]
            last_reset = {_user(entry): at for at, (_, entry) in enumerate(log) if is_reset[at]}
            for at, (origin, entry) in enumerate(log):
                if is_reset[at]:
                    continue
                user = _user(entry)
                rater = rater_of.get(user, user)
                reader = _PearmutEntry(reading, sliders, rater, origin, entry)
                if isinstance(entry.get("item_i"), str):
                    reading.leave(EXTRA_PAGE, origin, max(1, len(reader.items)))
                elif at < last_reset.get(user, -1):
                    reader.leave(RESET)
                else:
                    reader.take()
                    checks = _list_or_empty(entry.get("validations"))
                    failed[rater] = failed.get(rater, 0) + sum(check is False for check in checks)
        for rater, count in sorted(failed.items()):
            if count:
                reading.note(f"{rater} failed {count} of Pearmut's checks.")
        return reading.report()


def campaign(tasks: Tasks, options: ToolOptions) -> dict[str, Any]:
    """Return the campaign as Pearmut reads it."""
    name = options.get("campaign", f"sparingly-{max((question.round for question in tasks), default=1)}")
    if not fits_link(name) or name in (".", ".."):
        raise UsageError(f'The campaign "{name}" is part of links: take letters, digits, dots and hyphens.')
    assignment = options.get("assignment", TASK_BASED if tasks.raters else SINGLE_STREAM)
    if assignment not in (TASK_BASED, SINGLE_STREAM):
        raise UsageError(f'The assignment "{assignment}" is neither {TASK_BASED} nor {SINGLE_STREAM}.')
    if assignment == TASK_BASED and not tasks.raters:
        raise UsageError("A task-based campaign has a list per rater: give an assignment (sparingly assign).")
    count = options.get("users", "1")
    if not count.isdecimal() or int(count) < 1:
        raise UsageError(f'The number of users "{count}" is not a whole number above 0.')
    runs = tasks.by_document()
    users: Any = int(count)
    data: Any = [_document(run, options) for run in runs]
    if assignment == TASK_BASED:
        lists: dict[str, list[Any]] = {}
        for document, run in zip(data, runs, strict=True):
            rater = run[0].rater
            if rater is None:
                raise UsageError("Some tasks have no rater: write them with assignment=single-stream.")
            lists.setdefault(rater, []).append(document)
        users, data = [user_of(tasks.key, rater) for rater in lists], list(lists.values())
    info: dict[str, Any] = {
        "assignment": assignment,
        "protocol": _protocol(tasks, options),
        "users": users,
        "seed": tasks.key.seed,
        # Outputs are in a drawn order already, and it must be the same in all items of a document.
        "shuffle": False,
    }
    sliders = slider_names(tasks.key)
    if sliders or not tasks.scales:
        # Without this field there is the usual slider; an empty list takes it away.
        info["sliders"] = [
            {
                "name": sliders[aspect],
                "min": scale.low,
                "max": scale.high,
                "step": 1 if has_whole_steps(scale) else (scale.high - scale.low) / 100,
            }
            for aspect, scale in tasks.scales.items()
        ]
    return {"campaign_id": name, "info": info, "data": data}


def slider_names(key: Key) -> dict[str, str]:
    """Return the slider of every aspect; none where the one score of Pearmut says it."""
    aspects = tuple(key.scales)
    return {} if len(aspects) == 1 and key.scales[aspects[0]] == SCORE else plain_names(aspects)


def user_of(key: Key, rater: str) -> str:
    """Return the name of a rater in Pearmut, which goes into links as it is."""
    return rater if fits_link(rater) else letters(key.seed, key.salt, "raters", [rater], MODEL_LETTERS)[0]


def _protocol(tasks: Tasks, options: ToolOptions) -> str:
    default = "DA" if tasks.kind == "score" else "ESA" if tasks.aspects else "MQM"
    protocol = options.get("protocol", default)
    if protocol not in PROTOCOLS:
        raise UsageError(f'The protocol "{protocol}" is none of {", ".join(PROTOCOLS)}.')
    if tasks.kind == "spans" and protocol == "DA":
        raise UsageError("The protocol DA has no spans: take ESA or MQM.")
    if tasks.kind == "score" and protocol != "DA":
        raise UsageError(f"The protocol {protocol} marks spans: ask for the kind spans.")
    return protocol


def _document(run: Sequence[Question], options: ToolOptions) -> list[dict[str, Any]]:
    """Return the items of a document; a model stands in one column all the way."""
    order = dict.fromkeys(output.token for question in run for output in question.outputs)
    items = []
    for question in run:
        item: dict[str, Any] = {**question_fields(question), "item_id": question.shown_item}
        if question.source is not None:
            item["src"] = _guarded(question.source)
        if options.get("reference") == "yes" and question.reference is not None:
            item["ref"] = _guarded(question.reference)
        # What comes before and after is a line of HTML above the item.
        context = {"Before": question.before, "After": question.after}
        for title, passages in context.items():
            if passages:
                # The source of every passage or, where there is none, its first output.
                shown = (passage.source or next(iter(passage.outputs.values()), None) for passage in passages)
                text = "<br>".join(escape(part) for part in shown if part is not None)
                item["instructions"] = f"{item.get('instructions', '')}<p><b>{title}:</b> {text}</p>"
        texts = {output.token: _guarded(output.text or "") for output in question.outputs}
        item["tgt"] = {token: texts[token] for token in order if token in texts}
        items.append(item)
    return items


def _guarded(text: str) -> str:
    return f"{GUARD}{text}" if text.startswith(_MEDIA) else text


# --- the log: entries of one user and one document each, with resets ------------------------------------


EXTRA_PAGE = "a welcome, random or goodbye page"
BAD_MARK = "a mark without a place or a severity"
_RESET = "__RESET__"
# Pearmut counts a pause as this many seconds at most.
_LONGEST_PAUSE = 61.0

Entry = dict[str, Any]
Log = list[tuple[str, Entry]]


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
    logs = content.values() if isinstance(content, dict) else [None]
    if not all(isinstance(log, list) and all(isinstance(entry, dict) for entry in log) for log in logs):
        raise InputError(
            "these are not annotations of Pearmut",
            file=path,
            fix="Take data/annotations/CAMPAIGN.jsonl or what the dashboard downloads",
        )
    for name, log in content.items():
        yield [(f"{path.name}, {name}, entry {place}", entry) for place, entry in enumerate(log, 1)]


def _user(entry: Entry) -> str:
    return name_in(entry.get("user_id")) or ""


def _list_or_empty(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


class _PearmutEntry:
    """One entry of a log: the items of a document, and what a user said about each."""

    def __init__(
        self, reading: Reading, sliders: Mapping[str, str], rater: str, origin: str, entry: Entry
    ) -> None:
        self.reading = reading
        self.sliders = sliders
        self.rater = rater
        self.origin = origin
        self.items = _list_or_empty(entry.get("item"))
        self.answers = _list_or_empty(entry.get("annotation"))
        self.actions = [mapping_in(action) for action in list_in(entry.get("actions"))]
        self.is_skipped = any(action.get("action") == "submit_skip" for action in self.actions)
        self.comment = entry.get("comment")

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
        stamps = (number_in(action.get("time")) for action in self.actions)
        times = [time for time in stamps if time is not None]
        spent = sum(min(max(later - action, 0.0), _LONGEST_PAUSE) for action, later in pairwise(times))
        output_count = sum(len(answer) for answer in self.answers if isinstance(answer, dict))
        answer_count = max(1, output_count * len(self.reading.key.asked_aspects))
        submission = Submission(
            self.rater,
            self.origin,
            seconds=spent / answer_count if len(times) > 1 else None,
            comment=self.comment if isinstance(self.comment, str) else None,
            time=max(times, default=None),
        )
        for item, answer in zip(self.items, self.answers, strict=True):
            question = self._question(item)
            if question is None:
                continue
            if not isinstance(answer, dict):
                self.reading.leave_question(CANCELLED, question, self.origin)
                continue
            texts = mapping_in(mapping_in(item).get("tgt"))
            for token, judgement in answer.items():
                self._take_output(question, token, judgement, texts.get(token), submission)

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

    def _take_output(
        self, question: Question, token: str, judgement: Any, shown_text: Any, submission: Submission
    ) -> None:
        key, origin = self.reading.key, f"{self.origin}, {token}"
        fields = mapping_in(judgement)
        scores = {aspect: self._score(aspect, fields) for aspect in key.aspects}
        has_all_scores = bool(scores) and all(score is not None for score in scores.values())
        if not isinstance(judgement, dict) or (self.is_skipped and not has_all_scores):
            reason = CANCELLED if self.is_skipped else NOT_ANSWERED
            self.reading.leave(reason, origin, len(key.asked_aspects))
            return
        submission = replace(submission, origin=origin)
        comment = fields.get("textfield")
        if isinstance(comment, str) and comment:
            submission = replace(submission, comment=comment)
        text = shown_text if isinstance(shown_text, str) else ""
        letters = question.by_token[token].letters if token in question.by_token else None
        # How much was put before the output in the page.
        extra = 0 if letters is None else max(0, len(text) - letters)
        spans = []
        for mark in list_in(fields.get("error_spans")):
            severity, span = mapping_in(mark).get("severity"), None
            if isinstance(severity, str):
                span = marked_span(mark, text, severity.lower(), name_in(mark.get("category")) or "")
            if span is None:
                self.reading.leave(BAD_MARK, origin, len(key.asked_aspects))
                return
            spans.append(replace(span, start=max(0, span.start - extra), end=max(0, span.end - extra)))
        self.reading.output(question, token, scores, submission, spans)

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
