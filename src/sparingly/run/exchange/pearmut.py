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

from sparingly.base.errors import InputError, UsageError
from sparingly.data import files
from sparingly.data.scale import Scale
from sparingly.run.exchange.browser import fits_link, marked_span, plain_names, take_marks
from sparingly.run.exchange.files import list_in, mapping_in, name_in, number_in, write_json
from sparingly.run.exchange.key import MODEL_LETTERS, Key, Question, letters
from sparingly.run.exchange.reading import CANCELLED, NOT_ANSWERED, RESET, UNKNOWN_TASK, Taking
from sparingly.run.exchange.report import Given, Taken
from sparingly.run.exchange.tasks import Kind, Passage, Task, Tasks
from sparingly.run.exchange.tool import Exchange, Options, carried
from sparingly.run.forms.spans import Span

EXTRA_PAGE = "a welcome, random or goodbye page"
BAD_MARK = "a mark without a place or a severity"
_RESET = "__RESET__"
# Pearmut counts a pause as this many seconds at most.
_LONGEST_PAUSE = 61.0

Entry = dict[str, Any]
Log = list[tuple[str, Entry]]


def read_logs(
    paths: Sequence[Path], taking: Taking, sliders: Mapping[str, str], raters: Mapping[str, str]
) -> None:
    """Take the answers of some logs.

    A reset voids the user's earlier entries of the same log, pages with a name instead of a number are not
    judged, a skipped item is null, and of repeated submissions the last one counts.

    Args:
        paths: The files.
        taking: Takes the answers.
        sliders: The slider of every aspect; empty where the one score says it.
        raters: The raters by their names in Pearmut.
    """
    failed: dict[str, int] = {}
    for log in (log for path in paths for log in _logs(path)):
        last_reset = {_user(entry): at for at, (_, entry) in enumerate(log) if _is_reset(entry)}
        for at, (where, entry) in enumerate(log):
            if _is_reset(entry):
                continue
            user = _user(entry)
            reader = _Entry(taking, sliders, raters.get(user, user), where, entry)
            if isinstance(entry.get("item_i"), str):
                taking.leave(EXTRA_PAGE, where, max(1, len(reader.items)))
            elif at < last_reset.get(user, -1):
                reader.leave(RESET)
            else:
                reader.take()
                checks = entry.get("validations")
                wrong = [check for check in checks if check is False] if isinstance(checks, list) else []
                failed[reader.rater] = failed.get(reader.rater, 0) + len(wrong)
    for rater, count in sorted(failed.items()):
        if count:
            taking.note(f"{rater} failed {count} of Pearmut's checks.")


def _user(entry: Entry) -> str:
    return name_in(entry.get("user_id")) or ""


@dataclass
class _Entry:
    """One entry of a log: the items of a document, and what a user said about each."""

    taking: Taking
    sliders: Mapping[str, str]
    rater: str
    where: str
    entry: Entry

    @property
    def items(self) -> list[Any]:
        held = self.entry.get("item")
        return held if isinstance(held, list) else []

    @property
    def answers(self) -> list[Any]:
        held = self.entry.get("annotation")
        return held if isinstance(held, list) else []

    def leave(self, reason: str) -> None:
        """Leave out everything that was asked here."""
        for item in self.items:
            if (question := self._question(item)) is not None:
                self.taking.leave_question(reason, question, self.where)

    def take(self) -> None:
        """Take the answers about every item."""
        if len(self.answers) != len(self.items):
            self.leave(NOT_ANSWERED)
            return
        given = self._given()
        for item, answer in zip(self.items, self.answers, strict=True):
            question = self._question(item)
            if question is None:
                continue
            if not isinstance(answer, dict):
                self.taking.leave_question(CANCELLED, question, self.where)
                continue
            for token, said in answer.items():
                self._output(question, token, said, _text(item, token), given)

    def _question(self, item: Any) -> Question | None:
        """Return what an item asked: by the task's id, or by the item where somebody left it out."""
        held = mapping_in(item)
        if "task" in held:
            return self.taking.question(held["task"], self.where)
        item_id, tokens = name_in(held.get("item_id")) or "", mapping_in(held.get("tgt"))
        found = self.taking.key.find(item_id, rater=self.rater, tokens=tokens)
        if found is None:
            self.taking.leave(UNKNOWN_TASK, self.where)
        return found

    def _given(self) -> Given:
        said = (number_in(mapping_in(one).get("time")) for one in list_in(self.entry.get("actions")))
        times = [time for time in said if time is not None]
        shown = sum(len(answer) for answer in self.answers if isinstance(answer, dict))
        each = max(1, shown * len(self.taking.key.asked_aspects))
        spent = sum(min(max(later - one, 0.0), _LONGEST_PAUSE) for one, later in pairwise(times))
        comment = self.entry.get("comment")
        return Given(
            self.rater,
            self.where,
            seconds=spent / each if len(times) > 1 else None,
            comment=comment if isinstance(comment, str) else None,
            when=max(times, default=None),
        )

    @property
    def _skipped(self) -> bool:
        actions = list_in(self.entry.get("actions"))
        return any(mapping_in(one).get("action") == "submit_skip" for one in actions)

    def _output(self, question: Question, token: str, said: Any, text: str | None, given: Given) -> None:
        key, place = self.taking.key, f"{self.where}, {token}"
        if not isinstance(said, dict) or (self._skipped and not self._has_all_scores(said)):
            self.taking.leave(CANCELLED if self._skipped else NOT_ANSWERED, place, len(key.asked_aspects))
            return
        own = said.get("textfield")
        given = replace(given, where=place, comment=own if isinstance(own, str) and own else given.comment)
        scores = {aspect: self._score(aspect, said) for aspect in key.aspects}
        if key.kind == "spans":
            self._spans(question, token, said, text, given, scores)
            return
        for aspect in key.aspects:
            self.taking.score(question, token, aspect, scores[aspect], given)

    def _has_all_scores(self, said: Mapping[str, Any]) -> bool:
        aspects = self.taking.key.aspects
        return bool(aspects) and all(self._score(aspect, said) is not None for aspect in aspects)

    def _score(self, aspect: str, said: Mapping[str, Any]) -> Any:
        """Return the slider of an aspect, or the score, for which the mean of all sliders stands in."""
        values = mapping_in(said.get("sliders"))
        if aspect in self.sliders and self.sliders[aspect] in values:
            return values[self.sliders[aspect]]
        if said.get("score") is not None:
            return said["score"]
        numbers = [number for value in values.values() if (number := number_in(value)) is not None]
        # Divided before they are added, so that no sum of numbers is infinite.
        return math.fsum(number / len(numbers) for number in numbers) if numbers else None

    def _spans(
        self,
        question: Question,
        token: str,
        said: Mapping[str, Any],
        text: str | None,
        given: Given,
        scores: Mapping[str, Any],
    ) -> None:
        marks = list_in(said.get("error_spans"))
        found = [_span(mark, text or "", question.texts.get(token)) for mark in marks]
        whole = [span for span in found if span is not None]
        if len(whole) < len(found):
            self.taking.leave(BAD_MARK, given.where, len(self.taking.key.asked_aspects))
            return
        take_marks(self.taking, question, token, whole, given, scores)


def _span(mark: Any, text: str, letters: int | None) -> Span | None:
    """Return a mark in the output as it was written, without what was put before it in the page."""
    if not isinstance(mark, dict) or not isinstance(mark.get("severity"), str):
        return None
    found = marked_span(mark, text, mark["severity"].lower(), name_in(mark.get("category")) or "")
    extra = len(text) - letters if letters is not None and letters < len(text) else 0
    if found is None or not extra:
        return found
    return replace(found, start=max(0, found.start - extra), end=max(0, found.end - extra))


def _text(item: Any, token: str) -> str | None:
    text = mapping_in(mapping_in(item).get("tgt")).get(token)
    return text if isinstance(text, str) else None


def _is_reset(entry: Entry) -> bool:
    return entry.get("annotation") == _RESET


def _logs(path: Path) -> Iterator[Log]:
    """Yield the logs of a file: one of JSON Lines, or one per campaign of a download."""
    held: Any = None
    with suppress(InputError):
        held = next((entry for _, entry in files.json_lines(path)), None)
    if held is None or "annotation" not in held:
        # Not one entry a line: the whole file is one value.
        held = files.read_json(path)
    if isinstance(held, dict) and "annotation" in held:
        yield [(f"{path.name}, line {line}", entry) for line, entry in files.json_lines(path)]
        return
    if not isinstance(held, dict) or not all(_is_log(log) for log in held.values()):
        raise InputError(
            "these are no annotations of Pearmut",
            file=path,
            fix="Take data/annotations/CAMPAIGN.jsonl or what the dashboard downloads",
        )
    for name, log in held.items():
        yield [(f"{path.name}, {name}, entry {at + 1}", entry) for at, entry in enumerate(log)]


def _is_log(held: Any) -> bool:
    return isinstance(held, list) and all(isinstance(entry, dict) for entry in held)


PROTOCOLS = ("DA", "ESA", "cESA", "MQM")
TASK_BASED, SINGLE_STREAM = "task-based", "single-stream"
# The scale of the one slider that every protocol has.
SCORE = Scale(0, 100)
# Texts that begin so are put into the page as HTML; a word joiner before them makes them text again.
_MEDIA = ("<audio ", "<video ", "<img ", "<iframe ")
GUARD = "\u2060"


class Pearmut(Exchange):
    """Pearmut (Zouhar 2025): direct scores, error spans and several sliders, document by document."""

    name: ClassVar[str] = "pearmut"
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
        """Complain about options that do not fit the tasks before anything is written."""
        super().check_write(tasks, options)
        campaign(tasks, options)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write the campaign as ``campaign.json``."""
        return [write_json(folder / "campaign.json", campaign(tasks, options))]

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read ``data/annotations/CAMPAIGN.jsonl``, or what ``/download-annotations`` gives."""
        names = {rater: user_of(taking.key, rater) for rater in _raters(taking.key)}
        read_logs(files, taking, slider_names(taking.key), {user: rater for rater, user in names.items()})
        return taking.done()


def campaign(tasks: Tasks, options: Options) -> dict[str, Any]:
    """Return the campaign as Pearmut reads it."""
    name = options.get("campaign", f"sparingly-{max((task.round for task in tasks), default=1)}")
    if not fits_link(name) or name in (".", ".."):
        raise UsageError(f'The campaign "{name}" is part of links: take letters, digits, dots and hyphens.')
    assignment = _assignment(tasks, options)
    documents = [[_item(task, order, options) for task in run] for run, order in _ordered(tasks)]
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
    return sorted({one.rater for one in key.questions.values() if one.rater is not None})


def _rater(task: Task) -> str:
    if task.rater is None:
        raise UsageError("Some tasks have no rater: write them with assignment=single-stream.")
    return task.rater


def _assignment(tasks: Tasks, options: Options) -> str:
    given = options.get("assignment", TASK_BASED if tasks.raters else SINGLE_STREAM)
    if given not in (TASK_BASED, SINGLE_STREAM):
        raise UsageError(f'The assignment "{given}" is neither {TASK_BASED} nor {SINGLE_STREAM}.')
    if given == TASK_BASED and not tasks.raters:
        raise UsageError("A task-based campaign has a list per rater: give an assignment (sparingly assign).")
    return given


def _count(options: Options) -> int:
    given = options.get("users", "1")
    if not given.isdecimal() or int(given) < 1:
        raise UsageError(f'The number of users "{given}" is no whole number above 0.')
    return int(given)


def _protocol(tasks: Tasks, options: Options) -> str:
    usual = "DA" if tasks.kind == "score" else "ESA" if tasks.aspects else "MQM"
    given = options.get("protocol", usual)
    if given not in PROTOCOLS:
        raise UsageError(f'The protocol "{given}" is none of {", ".join(PROTOCOLS)}.')
    if tasks.kind == "spans" and given == "DA":
        raise UsageError("The protocol DA has no spans: take ESA or MQM.")
    if tasks.kind == "score" and given != "DA":
        raise UsageError(f"The protocol {given} marks spans: ask for the kind spans.")
    return given


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
    whole = float(scale.low).is_integer() and float(scale.high).is_integer()
    return 1 if whole and scale.high - scale.low > 1 else (scale.high - scale.low) / 100


def _ordered(tasks: Tasks) -> list[tuple[list[Task], list[str]]]:
    """Return every document with the order of its outputs: a model stands in one column all the way."""
    runs = tasks.by_document()
    return [
        (run, list(dict.fromkeys(output.token for task in run for output in task.outputs))) for run in runs
    ]


def _item(task: Task, order: list[str], options: Options) -> dict[str, Any]:
    texts = {output.token: _shown(output.text) for output in task.outputs}
    item: dict[str, Any] = {**carried(task), "item_id": task.item}
    if task.source is not None:
        item["src"] = _shown(task.source)
    if options.get("reference") == "yes" and task.reference is not None:
        item["ref"] = _shown(task.reference)
    if around := _context(task):
        item["instructions"] = around
    return {**item, "tgt": {token: texts[token] for token in order if token in texts}}


def _shown(text: str) -> str:
    return f"{GUARD}{text}" if text.startswith(_MEDIA) else text


def _context(task: Task) -> str:
    """Return what comes before and after as a line of HTML above the item."""
    parts = [("Before", task.before), ("After", task.after)]
    return "".join(f"<p><b>{title}:</b> {_passages(around)}</p>" for title, around in parts if around)


def _passages(around: Sequence[Passage]) -> str:
    texts = ([one.source] if one.source else list(one.outputs.values())[:1] for one in around)
    return "<br>".join(escape(text) for text in chain.from_iterable(texts))
