"""Argilla: records and dataset settings out, records with responses in, nested or flattened.

Ratings of Argilla are whole numbers from 0 to 10. A scale that fits is used as it is; any other is asked on
0 to 10 and converted back. The nested form drops the status of responses, so drafts and discarded ones cannot
be told from the rest there; the flattened form (``to_datasets``) has it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

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
from sparingly.run.exchange.reading import CANCELLED, DRAFT, UNKNOWN_ASPECT, ImportReport, Reading, Submission
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import (
    HEADINGS,
    REFERENCE,
    AnnotationTool,
    ToolOptions,
    page_texts,
    question_fields,
    rater_files,
    slot_count,
    used_texts,
)
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.pair import SIDES
from sparingly.run.forms.question import Question, output_label
from sparingly.run.forms.spans import SEVERITIES

OWN_SCALE = Scale(0.0, 10.0)
NO_STATUS = (
    "The nested form does not distinguish drafts and discarded responses from submitted ones: export the "
    "flattened form (to_datasets) to leave them out."
)
# Metadata are terms unless they are numbers.
_TYPES = {"round": "integer", "inclusion_probability": "float", "position": "float"}
_STATUS = {"discarded": CANCELLED, "draft": DRAFT}


@register("argilla")
class Argilla(AnnotationTool):
    """Argilla 2, which takes records and settings as JSON."""

    summary: ClassVar[str] = "Argilla: records and settings as JSON; records with responses, also flattened"
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "ranking", "spans")
    write_options: ClassVar[Mapping[str, str]] = REFERENCE

    def asked_scale(self, scale: Scale) -> Scale:
        """Return a scale of whole numbers from 0 to 10; any other is asked on 0 to 10."""
        fits = all(end == int(end) and end in OWN_SCALE for end in scale)
        return scale if fits else OWN_SCALE

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``settings.json``, and ``tasks.json`` for anyone or a file of records for each rater."""
        paths = [write_json(folder / "settings.json", _settings(self, tasks, options))]
        for path, questions in rater_files(tasks, folder, ".json"):
            records = []
            for question in questions:
                fields = {name: text for name, text in page_texts(question, options).items() if text}
                for slot, output in enumerate(question.outputs, 1):
                    fields[f"output_{slot}"] = output.text or ""
                empty: dict[str, Any] = {"suggestions": {}, "responses": {}, "vectors": {}}
                record = {"id": question.id, "fields": fields, "metadata": _metadata(question)}
                records.append({**record, **empty, "status": "pending"})
            paths.append(write_json(path, records))
        return paths

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read records with responses; every response to a question is one answer."""
        for path in files:
            for origin, record in read_json_rows(path):
                _take_record(record, reading, origin)
        return reading.report()


# --- tasks --------------------------------------------------------------------------------------------


def _settings(tool: Argilla, tasks: Tasks, options: ToolOptions) -> dict[str, Any]:
    """Return the settings of a dataset: its fields, questions and metadata."""
    texts = [_text_box(name, HEADINGS[name], required=False) for name in used_texts(tasks, options)]
    outputs = [
        _text_box(f"output_{slot}", f"Output {output_label(slot)}", required=slot == 1)
        for slot in range(1, slot_count(tasks)[1] + 1)
    ]
    names = sorted({name for question in tasks for name in _metadata(question)})
    return {
        "guidelines": None,
        "fields": [*texts, *outputs],
        "questions": [*_questions(tool, tasks), _text_box("comment", "Comment", required=False)],
        "metadata": [{"name": name, "settings": {"type": _TYPES.get(name, "terms")}} for name in names],
        "vectors": [],
        "allow_extra_metadata": True,
        "distribution": {"strategy": "overlap", "min_submitted": 1},
    }


def _question(name: str, title: str, settings: dict[str, Any], *, required: bool) -> dict[str, Any]:
    return {"name": name, "title": title, "required": required, "settings": settings}


def _text_box(name: str, title: str, *, required: bool) -> dict[str, Any]:
    return _question(name, title, {"type": "text", "use_markdown": False}, required=required)


def _questions(tool: Argilla, tasks: Tasks) -> Iterator[dict[str, Any]]:
    fewest, slot_limit = slot_count(tasks)
    labels = {slot: output_label(slot) for slot in range(1, slot_limit + 1)}
    if tasks.kind in ("pair", "ranking"):
        names = {f"output_{slot}": f"Output {label}" for slot, label in labels.items()}
        name, title, kind, more = "ranking", "Best first: {}", "ranking", {}
        if tasks.kind == "pair":
            names = {side: side for side in SIDES}
            name, title, kind = "preference", "Which is better: {}?", "label_selection"
            more = {"visible_options": 3}
        options = [{"value": value, "text": text} for value, text in names.items()]
        for place, aspect in enumerate(tasks.aspects, 1):
            settings = {"type": kind, "options": options, **more}
            yield _question(f"{name}_{place}", title.format(aspect), settings, required=True)
        return
    for slot, label in labels.items():
        if tasks.kind == "spans":
            settings = {
                "type": "span",
                "field": f"output_{slot}",
                "options": [{"value": severity, "text": severity} for severity in SEVERITIES],
                "allow_overlapping": True,
                "allow_character_annotation": True,
            }
            yield _question(f"spans_{slot}", f"Errors in output {label}", settings, required=False)
        for place, (aspect, scale) in enumerate(tasks.scales.items(), 1):
            shown_scale = tool.asked_scale(scale)
            values = range(int(shown_scale.low), int(shown_scale.high) + 1)
            title = f"Output {label}: {aspect} ({shown_scale})"
            settings = {"type": "rating", "options": [{"value": value} for value in values]}
            yield _question(f"score_{place}_{slot}", title, settings, required=slot <= fewest)


def _metadata(question: Question) -> dict[str, Any]:
    tokens = {f"token_{slot}": output.token for slot, output in enumerate(question.outputs, 1)}
    return {**question_fields(question), **tokens}


# --- answers ------------------------------------------------------------------------------------------


class ArgillaResponse(NamedTuple):
    """What one user answered to one question."""

    question: str
    user: str | None
    value: Any
    status: str | None


def _take_record(record: Mapping[str, Any], reading: Reading, origin: str) -> None:
    responses = list(_responses(record))
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
        # A status holds for all of a user's answers.
        statuses = [reply.status for reply in answers.values() if isinstance(reply.status, str)]
        reason = next((_STATUS[status] for status in statuses if status in _STATUS), None)
        if reason is not None:
            reading.leave_question(reason, question, origin)
            continue
        submission = Submission(user, origin, comment=comments.get(user), time=time)
        values = {name: reply.value for name, reply in answers.items()}
        _take_values(question, values, reading, submission)


def _responses(record: Mapping[str, Any]) -> Iterator[ArgillaResponse]:
    nested = record.get("responses")
    if isinstance(nested, dict):
        for name, responses in nested.items():
            for reply in list_in(responses):
                if isinstance(reply, dict):
                    user = name_in(reply.get("user_id"))
                    yield ArgillaResponse(name, user, reply.get("value"), reply.get("status"))
        return
    for column, values in record.items():
        name, dot, suffix = column.rpartition(".")
        if not dot or suffix != "responses" or not isinstance(values, list):
            continue
        # Lists that are too short know nothing about the last values.
        users, statuses = (
            chain(listed if isinstance(listed, list) else (), repeat(None))
            for listed in (record.get(f"{column}.users"), record.get(f"{column}.status"))
        )
        for value, user, status in zip(values, users, statuses, strict=False):
            yield ArgillaResponse(name, name_in(user), value, status)


def _take_values(
    question: Question, values: Mapping[str, Any], reading: Reading, submission: Submission
) -> None:
    """Take what one user answered about a record, by the names of its questions."""
    kind, tokens = reading.key.answers, dict(enumerate(question.by_token, 1))
    aspects = dict(enumerate(reading.key.aspects, 1))
    if kind in ("pair", "ranking"):
        expected = {f"{'preference' if kind == 'pair' else kind}_{place}" for place in aspects}
    else:
        expected = {f"score_{place}_{slot}" for place in aspects for slot in tokens}
        expected |= {f"spans_{slot}" for slot in tokens if kind == "spans"}
    for name in values:
        if name not in expected:
            reading.leave(UNKNOWN_ASPECT, f"{submission.origin}: {name}")
    if kind == "pair":
        for place, aspect in aspects.items():
            reading.pair(question, aspect, values.get(f"preference_{place}"), submission)
    elif kind == "ranking":
        for place, aspect in aspects.items():
            ranks = _ranks(values.get(f"ranking_{place}"), question)
            reading.ranking(question, aspect, ranks, submission)
    else:
        for slot, token in tokens.items():
            scores = {aspect: values.get(f"score_{place}_{slot}") for place, aspect in aspects.items()}
            spans = spans_in(values.get(f"spans_{slot}"), "label")
            reading.output(question, token, scores, submission, spans)


def _ranks(entries: Any, question: Question) -> dict[str, Any]:
    """Return the ranks by token; places that a record does not fill are ranked by the form, too."""
    tokens = {f"output_{slot}": token for slot, token in enumerate(question.by_token, 1)}
    return {
        tokens[name]: entry.get("rank")
        for entry in (entries if isinstance(entries, list) else ())
        if isinstance(entry, dict)
        and (name := name_in(entry.get("value")) or "") in tokens
        and number_in(entry.get("rank")) is not None
    }
