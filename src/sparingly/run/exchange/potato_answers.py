"""What users of Potato answered, from their states or from an export."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError
from sparingly.data import files
from sparingly.run.exchange.browser import units, whole_letters
from sparingly.run.exchange.files import read_csv_rows
from sparingly.run.exchange.judgement import Given
from sparingly.run.exchange.key import Question
from sparingly.run.exchange.spans import Span
from sparingly.run.exchange.taking import BAD_SPAN, DRAFT, NO_NUMBER, UNKNOWN_OUTPUT, Taking
from sparingly.run.exchange.values import (
    json_in,
    mapping_in,
    moment_in,
    name_in,
    number_in,
    seconds_in,
    span_in,
)

MACHINE = "answered by a machine"
MARKS, CHECKED, OUTPUT = "error_spans", "checked", "output"
_STATE, _LABELS = "user_state.json", "instance_id_to_label_to_value"
_CHOICES = {"A": 1.0, "B": -1.0, "tie": 0.0}

Labels = dict[str, dict[str, Any]]


@dataclass(frozen=True)
class Record:
    """What one user said about one instance: values by scheme and label."""

    where: str
    user: str
    instance: str
    labels: Labels
    seconds: float | None = None
    when: float | None = None
    is_machine: bool = False


@dataclass
class _Answers:
    taking: Taking
    schemes: Mapping[str, str]
    texts: dict[str, str] = field(default_factory=dict)

    def take(self, record: Record) -> None:
        """Take one record, or leave it out."""
        task, _, token = record.instance.partition("-")
        question = self.taking.question(task, record.where)
        if question is None:
            return
        count = len(self.taking.key.asked_aspects)
        if self.taking.key.kind != "pair" and token not in question.outputs:
            self.taking.leave(UNKNOWN_OUTPUT, f"{record.where}: {record.instance}", count)
        elif record.is_machine:
            self.taking.leave(MACHINE, record.where, count)
        else:
            seconds = None if record.seconds is None else record.seconds / count
            given = Given(record.user, record.where, seconds=seconds, when=record.when)
            self._answer(question, token, record, given)

    def _answer(self, question: Question, token: str, record: Record, given: Given) -> None:
        key = self.taking.key
        if key.kind == "pair":
            for aspect in key.aspects:
                self._pair(question, aspect, record.labels.get(self.schemes[aspect], {}), given)
            return
        scores = {aspect: _only(record.labels.get(self.schemes[aspect], {})) for aspect in key.aspects}
        if key.kind == "spans":
            self._spans(question, token, record, given, scores)
            return
        for aspect, score in scores.items():
            self.taking.score(question, token, aspect, score, given)

    def _pair(self, question: Question, aspect: str, labels: Mapping[str, Any], given: Given) -> None:
        """Take a choice, or the side of 0 that a scale is on: below, the left is better."""
        if "scale_value" in labels:
            place = number_in(labels["scale_value"])
            if place is None:
                self.taking.leave(NO_NUMBER, given.where)
                return
            self.taking.pair(question, aspect, float((place < 0) - (place > 0)), given)
            return
        chosen = labels.get("selection")
        self.taking.pair(question, aspect, _CHOICES.get(name_in(chosen) or "", chosen), given)

    def _spans(
        self, question: Question, token: str, record: Record, given: Given, scores: Mapping[str, Any]
    ) -> None:
        count = len(self.taking.key.asked_aspects)
        if not scores and not record.labels.get(self.schemes[CHECKED]):
            self.taking.leave(DRAFT, record.where, count)
            return
        marks = _marks(record, self.schemes[MARKS])
        found = [self._span(mark, record) for mark in marks]
        if any(span is None for span in found):
            self.taking.leave(BAD_SPAN, record.where, count)
            return
        self.taking.spans(question, token, [span for span in found if span is not None], given, scores)

    def _span(self, mark: Any, record: Record) -> Span | None:
        text = self.texts.get(record.instance)
        if text is None:
            raise InputError(
                "the marks are counted in the texts of the items, which are not here",
                file=record.where,
                fix="Give items.jsonl, too",
            )
        if not isinstance(mark, dict):
            return None
        kind = "/".join(name_in(mark[part]) or "" for part in ("type", "subtype") if mark.get(part))
        severity = mark.get("severity")
        span = span_in(mark.get("start"), mark.get("end"), severity, "" if kind == "error" else kind)
        if span is None or not isinstance(severity, str) or not span.start < span.end <= units(text):
            return None
        # Potato trims what was selected after it has counted where it began.
        first, last = whole_letters(text, span.start, span.end)
        said = mark.get("text")
        if isinstance(said, str) and text[first:last] != said and (at := text.find(said, first)) >= 0:
            first, last = at, at + len(said)
        return replace(span, start=first, end=last)


def read_answers(paths: Sequence[Path], taking: Taking, schemes: Mapping[str, str]) -> None:
    """Take the answers of some files or folders; a file of items among them gives the texts of marks."""
    answers = _Answers(taking, schemes)
    found: list[Record] = []
    for path in _all_files(paths):
        if path.suffix.lower() == ".jsonl":
            for line, row in files.json_lines(path):
                if "instance_id" in row:
                    found.append(_exported(row, f"{path.name}, line {line}"))
                elif "id" in row:
                    answers.texts[name_in(row["id"]) or ""] = name_in(row.get(OUTPUT)) or ""
                else:
                    raise InputError("neither an item nor an answer of Potato", file=path, line=line)
        else:
            found += _state(path) if path.suffix.lower() == ".json" else _table(path)
    for record in found:
        answers.take(record)


def _all_files(paths: Sequence[Path]) -> Iterator[Path]:
    for path in paths:
        if not path.is_dir():
            yield path
            continue
        states = sorted(path.rglob(_STATE))
        if not states:
            raise InputError(f"there is no {_STATE} in this folder", file=path)
        yield from states


def _state(path: Path) -> Iterator[Record]:
    """Yield what a user's state holds."""
    state = files.read_json(path)
    held = state.get(_LABELS) if isinstance(state, dict) else None
    if not isinstance(held, dict):
        raise InputError(f"this is no {_STATE} of Potato", file=path)
    user, origin = name_in(state.get("user_id")) or path.parent.name, state.get("origin")
    spent = state.get("instance_id_to_behavioral_data")
    for instance, labels in held.items():
        times = mapping_in(mapping_in(spent).get(instance))
        milliseconds = number_in(times.get("total_time_ms"))
        yield Record(
            f"{path.parent.name}/{path.name}, {instance}",
            user,
            instance,
            _labels(labels),
            seconds=seconds_in(milliseconds / 1000) if milliseconds else None,
            when=moment_in(times.get("session_end")),
            is_machine=_is_machine(origin),
        )


def _labels(stored: Any) -> Labels:
    """Return labels by scheme, from pairs of label and value or from objects."""
    if isinstance(stored, dict):
        return {name: held if isinstance(held, dict) else {"": held} for name, held in stored.items()}
    found: Labels = {}
    for entry in stored if isinstance(stored, list) else ():
        if isinstance(entry, list) and len(entry) == 2 and isinstance(entry[0], dict):
            scheme, label = (name_in(entry[0].get(part)) or "" for part in ("schema", "name"))
            found.setdefault(scheme, {})[label] = entry[1]
    return found


def _exported(row: Mapping[str, Any], where: str) -> Record:
    return Record(
        where,
        name_in(row.get("user_id")) or "",
        name_in(row["instance_id"]) or "",
        _labels(row.get("labels")),
        is_machine=_is_machine(row.get("annotator_origin")),
    )


def _table(path: Path) -> Iterator[Record]:
    """Yield the rows of an export as a table, whose columns are called ``scheme.label``."""
    for where, row in read_csv_rows(path):
        if "instance_id" not in row:
            raise InputError("there is no column instance_id", file=path, fix="Export with potato.export")
        labels: Labels = {}
        for column, value in row.items():
            scheme, dot, label = column.partition(".")
            if dot and value != "":
                labels.setdefault(scheme, {})[label] = value
        yield Record(where, row.get("user_id", ""), row["instance_id"], labels)


def _is_machine(origin: Any) -> bool:
    return isinstance(origin, dict) and origin.get("kind") not in (None, "human")


def _only(labels: Mapping[str, Any]) -> Any:
    """Return the value of a slider."""
    return next(iter(labels.values()), None)


def _marks(record: Record, scheme: str) -> list[Any]:
    held = _only(record.labels.get(scheme, {}))
    if not held:
        return []
    value = json_in(held, record.where) if isinstance(held, str) else held
    marks = value.get("errors") if isinstance(value, dict) else value
    return marks if isinstance(marks, list) else []
