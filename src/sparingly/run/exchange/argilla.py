"""Argilla: records and dataset settings out, records with responses in, nested or flattened.

Ratings of Argilla are whole numbers from 0 to 10. A scale that fits is used as it is; any other is asked on
0 to 10 and converted back. The nested form drops the status of responses, so drafts and discarded ones cannot
be told from the rest there; the flattened form (``to_datasets``) has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import (
    list_in,
    moment_in,
    name_in,
    number_in,
    read_json_rows,
    spans_in,
    write_json,
)
from sparingly.run.exchange.key import Key
from sparingly.run.exchange.reading import BAD_SPAN, CANCELLED, DRAFT, UNKNOWN_ASPECT, Reading, Submission
from sparingly.run.exchange.report import ImportReport
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import (
    HEADINGS,
    REFERENCE,
    AnnotationTool,
    Options,
    file_stem,
    page_texts,
    question_fields,
    slot_count,
    used_texts,
)
from sparingly.run.forms.form import Kind
from sparingly.run.forms.pair import SIDES
from sparingly.run.forms.question import Question, output_label
from sparingly.run.forms.spans import SEVERITIES

OWN_SCALE = Scale(0.0, 10.0)
NO_STATUS = (
    "The nested form does not tell drafts and discarded responses from submitted ones: export the flattened "
    "form (to_datasets) to leave them out."
)
# Metadata are terms unless they are numbers.
_TYPES = {"round": "integer", "inclusion_probability": "float", "position": "float"}
_STATUS = {"discarded": CANCELLED, "draft": DRAFT}


@register("argilla")
class Argilla(AnnotationTool):
    """Argilla 2, which takes records and settings as JSON."""

    summary: ClassVar[str] = "Argilla: records and settings as JSON; records with responses, also flattened"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "ranking", "spans")
    write_options: ClassVar[Mapping[str, str]] = REFERENCE

    def key_for(self, tasks: Tasks) -> Key:
        """Return the key; aspects whose scale is not of whole numbers from 0 to 10 are asked on 0 to 10."""
        tool_scales = {name: OWN_SCALE for name, scale in tasks.scales.items() if not _fits(scale)}
        return replace(tasks.key, tool=self.name, tool_scales=tool_scales)

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``settings.json``, and ``tasks.json`` for anyone or a file of records for each rater."""
        paths, stems = [write_json(folder / "settings.json", settings_of(tasks, options))], set[str]()
        for rater, questions in tasks.by_rater().items():
            records = [_record(question, options) for question in questions]
            paths.append(write_json(folder / f"{file_stem(rater, stems)}.json", records))
        return paths

    def read(self, files: Sequence[Path], reading: Reading, options: Options) -> ImportReport:
        """Read records with responses; every response to a question is one answer."""
        for path in files:
            for origin, record in read_json_rows(path):
                _take(record, reading, origin)
        return reading.report()


def _fits(scale: Scale) -> bool:
    ends = (scale.low, scale.high)
    return all(end == int(end) and end in OWN_SCALE for end in ends)


# --- tasks --------------------------------------------------------------------------------------------


def settings_of(tasks: Tasks, options: Options) -> dict[str, Any]:
    """Return the settings of a dataset: its fields, questions and metadata."""
    fewest, slots = slot_count(tasks)
    fields = [_field(name, HEADINGS[name], required=False) for name in used_texts(tasks, options)]
    fields += [
        _field(f"output_{slot}", f"Output {output_label(slot)}", required=slot == 1)
        for slot in range(1, slots + 1)
    ]
    names = sorted({name for question in tasks for name in _metadata(question)})
    return {
        "guidelines": None,
        "fields": fields,
        "questions": [*_questions(tasks, fewest, slots), _comment()],
        "metadata": [{"name": name, "settings": {"type": _TYPES.get(name, "terms")}} for name in names],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
    }


def _field(name: str, title: str, *, required: bool) -> dict[str, Any]:
    return {
        "name": name,
        "title": title,
        "required": required,
        "settings": {"type": "text", "use_markdown": False},
    }


def _comment() -> dict[str, Any]:
    return {
        "name": "comment",
        "title": "Comment",
        "required": False,
        "settings": {"type": "text", "use_markdown": False},
    }


def _questions(tasks: Tasks, fewest: int, slot_limit: int) -> Iterator[dict[str, Any]]:
    slots = range(1, slot_limit + 1)
    if tasks.kind in ("pair", "ranking"):
        for place, aspect in enumerate(tasks.aspects, 1):
            yield _comparison(tasks.kind, place, aspect, slot_limit)
        return
    for slot in slots:
        if tasks.kind == "spans":
            yield _marking(slot)
        for place, (aspect, scale) in enumerate(tasks.scales.items(), 1):
            shown_scale = scale if _fits(scale) else OWN_SCALE
            yield {
                "name": f"score_{place}_{slot}",
                "title": f"Output {output_label(slot)}: {aspect} ({shown_scale})",
                "required": slot <= fewest,
                "settings": {
                    "type": "rating",
                    "options": [
                        {"value": value} for value in range(int(shown_scale.low), int(shown_scale.high) + 1)
                    ],
                },
            }


def _comparison(kind: Kind, place: int, aspect: str, slot_limit: int) -> dict[str, Any]:
    if kind == "pair":
        options = [{"value": side, "text": side} for side in SIDES]
        return {
            "name": f"preference_{place}",
            "title": f"Which is better: {aspect}?",
            "required": True,
            "settings": {"type": "label_selection", "options": options, "visible_options": 3},
        }
    return {
        "name": f"ranking_{place}",
        "title": f"Best first: {aspect}",
        "required": True,
        "settings": {
            "type": "ranking",
            "options": [
                {"value": f"output_{slot}", "text": f"Output {output_label(slot)}"}
                for slot in range(1, slot_limit + 1)
            ],
        },
    }


def _marking(slot: int) -> dict[str, Any]:
    return {
        "name": f"spans_{slot}",
        "title": f"Errors in output {output_label(slot)}",
        "required": False,
        "settings": {
            "type": "span",
            "field": f"output_{slot}",
            "options": [{"value": severity, "text": severity} for severity in SEVERITIES],
            "allow_overlapping": True,
            "allow_character_annotation": True,
        },
    }


def _record(question: Question, options: Options) -> dict[str, Any]:
    fields = {name: text for name, text in page_texts(question, options).items() if text}
    fields |= {f"output_{slot}": output.text or "" for slot, output in enumerate(question.outputs, 1)}
    return {
        "id": question.id,
        "fields": fields,
        "metadata": _metadata(question),
        "suggestions": {},
        "responses": {},
        "vectors": {},
        "status": "pending",
    }


def _metadata(question: Question) -> dict[str, Any]:
    tokens = {f"token_{slot}": output.token for slot, output in enumerate(question.outputs, 1)}
    return {**question_fields(question), **tokens}


# --- answers ------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class ArgillaResponse:
    """What one user answered to one question."""

    question: str
    user: str | None
    value: Any
    status: str | None


def _take(record: Mapping[str, Any], reading: Reading, origin: str) -> None:
    responses = list(_nested(record) if isinstance(record.get("responses"), dict) else _flat(record))
    if not responses:
        return
    metadata = record.get("metadata")
    fields = metadata if isinstance(metadata, dict) else record
    question = reading.question(fields.get("task") or record.get("id"), origin)
    if question is None:
        return
    if any(response.status is None for response in responses):
        reading.note(NO_STATUS)
    time = moment_in(record.get("updated_at"))
    comments = {
        reply.user: name_in(reply.value) for reply in responses if reply.question == "comment" and reply.value
    }
    by_user: dict[str | None, dict[str, ArgillaResponse]] = {}
    for reply in responses:
        if reply.question != "comment":
            by_user.setdefault(reply.user, {})[reply.question] = reply
    for user, answers in by_user.items():
        submission = Submission(user, origin, comment=comments.get(user), time=time)
        _take_user(question, answers, reading, submission)


def _nested(record: Mapping[str, Any]) -> Iterator[ArgillaResponse]:
    for name, responses in record["responses"].items():
        for response in list_in(responses):
            if isinstance(response, dict):
                yield ArgillaResponse(
                    name, name_in(response.get("user_id")), response.get("value"), response.get("status")
                )


def _flat(record: Mapping[str, Any]) -> Iterator[ArgillaResponse]:
    for column, values in record.items():
        name, dot, suffix = column.rpartition(".")
        if not dot or suffix != "responses" or not isinstance(values, list):
            continue
        users = _padded(record.get(f"{column}.users"), len(values))
        statuses = _padded(record.get(f"{column}.status"), len(values))
        for value, user, status in zip(values, users, statuses, strict=True):
            yield ArgillaResponse(name, name_in(user), value, status)


def _padded(values: Any, count: int) -> list[Any]:
    present = list(values) if isinstance(values, list) else []
    return [*present[:count], *[None] * (count - len(present))]


def _take_user(
    question: Question, answers: Mapping[str, ArgillaResponse], reading: Reading, submission: Submission
) -> None:
    """Take what one user answered about a record; a status holds for all of a user's answers."""
    statuses = [response.status for response in answers.values() if isinstance(response.status, str)]
    reason = next((_STATUS[status] for status in statuses if status in _STATUS), None)
    if reason is not None:
        reading.leave_question(reason, question, submission.origin)
        return
    expected = _expected(question, reading.key)
    for name in answers:
        if name not in expected:
            reading.leave(UNKNOWN_ASPECT, f"{submission.origin}: {name}")
    values = {name: response.value for name, response in answers.items()}
    _TAKERS[reading.key.answers](question, values, reading, submission)


def _expected(question: Question, key: Key) -> set[str]:
    places, slots = range(1, len(key.aspects) + 1), range(1, len(question.outputs) + 1)
    if key.answers in ("pair", "ranking"):
        word = "preference" if key.answers == "pair" else "ranking"
        return {f"{word}_{place}" for place in places}
    return {f"score_{place}_{slot}" for place in places for slot in slots} | {
        f"spans_{slot}" for slot in slots if key.answers == "spans"
    }


def _take_scores(
    question: Question, values: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    for slot, token in enumerate(question.by_token, 1):
        for place, aspect in enumerate(reading.key.aspects, 1):
            reading.score(question, token, aspect, values.get(f"score_{place}_{slot}"), submission)


def _take_spans(
    question: Question, values: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    for slot, token in enumerate(question.by_token, 1):
        scores = {
            aspect: values.get(f"score_{place}_{slot}") for place, aspect in enumerate(reading.key.aspects, 1)
        }
        spans = spans_in(values.get(f"spans_{slot}"), "label")
        if spans is None:
            reading.leave(BAD_SPAN, submission.origin, len(reading.key.asked_aspects))
        else:
            reading.spans(question, token, spans, submission, scores)


def _take_pairs(
    question: Question, values: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    for place, aspect in enumerate(reading.key.aspects, 1):
        side = values.get(f"preference_{place}")
        reading.pair(question, aspect, SIDES.get(side, side) if isinstance(side, str) else side, submission)


def _take_rankings(
    question: Question, values: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    tokens = {f"output_{slot}": token for slot, token in enumerate(question.by_token, 1)}
    for place, aspect in enumerate(reading.key.aspects, 1):
        entries = values.get(f"ranking_{place}")
        ranks = {
            tokens[name]: entry.get("rank")
            for entry in (entries if isinstance(entries, list) else ())
            # Places that a record does not fill are ranked by the form, too.
            if isinstance(entry, dict)
            and (name := name_in(entry.get("value")) or "") in tokens
            and number_in(entry.get("rank")) is not None
        }
        reading.ranking(question, aspect, ranks, submission)


_TAKERS = {"score": _take_scores, "spans": _take_spans, "pair": _take_pairs, "ranking": _take_rankings}
