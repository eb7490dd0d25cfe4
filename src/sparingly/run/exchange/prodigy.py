"""Prodigy-style JSON Lines: one choice or one text to mark a line, with hashes of content and question.

``{"text", "options": [{"id", "text"}], "meta": {…}, "_input_hash", "_task_hash"}``; answers add ``answer``
(accept, reject or ignore), ``accept`` with the ids chosen, or ``spans``, and ``_annotator_id``,
``_session_id`` and ``_timestamp``. The input hash is the same for the same text, the task hash for the same
question about it. Offsets of spans are code points.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import mapping_in, moment_in, name_in, read_json_rows, spans_in, write_jsonl
from sparingly.run.exchange.reading import CANCELLED, ImportReport, Reading, Submission
from sparingly.run.exchange.tasks import Tasks
from sparingly.run.exchange.tool import (
    REFERENCE,
    AnnotationTool,
    ToolOptions,
    page_texts,
    question_fields,
    rater_files,
    used_texts,
)
from sparingly.run.forms.form import FormKind
from sparingly.run.forms.question import Question

REJECTED = "rejected by the rater"
SEVERAL = "more than one option was chosen"
_LEVELS = 11
_ANSWERS = {"reject": REJECTED, "ignore": CANCELLED}


@register("prodigy")
class Prodigy(AnnotationTool):
    """Prodigy's JSON Lines, which other tools read, too."""

    summary: ClassVar[str] = "Prodigy-style JSON Lines: choices and spans, with input and task hashes"
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "spans")
    write_options: ClassVar[Mapping[str, str]] = {
        **REFERENCE,
        "levels": "how many scores there are to choose from, from low to high (default: at most 11)",
    }

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``tasks.jsonl`` for anyone, or a file for each rater."""
        if tasks.kind == "spans" and tasks.aspects:
            raise UsageError("Prodigy marks spans or asks for scores, not both: export them one by one.")
        levels = options.get("levels")
        if levels is not None and (not levels.isdigit() or not 2 <= int(levels) <= 101):
            raise UsageError(f"The option levels is a whole number from 2 to 101, not {levels}.")
        level_count = None if levels is None else int(levels)
        texts, paths = used_texts(tasks, options), []
        for path, questions in rater_files(tasks, folder, ".jsonl"):
            pages = ((question, page_texts(question, options, texts)) for question in questions)
            rows = [row for question, page in pages for row in _rows(question, tasks, page, level_count)]
            paths.append(write_jsonl(path, rows))
        return paths

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read answers as ``db-out`` gives them; every line is one answer."""
        for path in files:
            for origin, row in read_json_rows(path):
                _take_row(row, reading, origin)
        return reading.report()


# --- tasks --------------------------------------------------------------------------------------------


def _rows(
    question: Question, tasks: Tasks, context: Mapping[str, str], levels: int | None
) -> Iterator[dict[str, Any]]:
    meta = question_fields(question)
    if tasks.kind == "spans":
        for output in question.outputs:
            yield _hashed({"text": output.text, **context, "meta": {**meta, "token": output.token}})
        return
    for aspect, scale in tasks.scales.items():
        if tasks.kind == "pair":
            first, second = question.outputs
            options = [
                {"id": "left", "text": first.text},
                {"id": "tie", "text": "="},
                {"id": "right", "text": second.text},
            ]
            line = {"text": question.source or "", "options": options, "label": aspect}
            yield _hashed({**line, **context, "meta": {**meta, "aspect": aspect}})
            continue
        choices = [{"id": f"{score:g}", "text": f"{score:g}"} for score in scores_of(scale, levels)]
        for output in question.outputs:
            line = {"text": output.text or "", "options": choices, "label": aspect}
            output_meta = {**meta, "token": output.token, "aspect": aspect}
            yield _hashed({**line, **context, "meta": output_meta})


def scores_of(scale: Scale, levels: int | None) -> list[float]:
    """Return the scores to choose from: whole numbers where there are few, else evenly from low to high."""
    width = scale.high - scale.low
    is_short = width == int(width) and width < _LEVELS
    count = levels or (int(width) + 1 if is_short else _LEVELS)
    return [scale.low + width * step / (count - 1) for step in range(count)]


def _hashed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line with a hash of what is shown, and one of what is asked about it."""
    content = f"{row['text']}\x1f{row.get('source', '')}"
    asks = "\x1f".join(
        (content, row.get("label", ""), *(option["text"] for option in row.get("options", ())))
    )
    named_question = f"{asks}\x1f{row['meta']['task']}\x1f{row['meta'].get('token', '')}"
    return {**row, "_input_hash": _hash(content), "_task_hash": _hash(named_question)}


def _hash(text: str) -> int:
    """Return a number of 31 bits, which every database and JavaScript can hold."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little") % 2**31


# --- answers ------------------------------------------------------------------------------------------


def _take_row(row: Mapping[str, Any], reading: Reading, origin: str) -> None:
    meta = mapping_in(row.get("meta"))
    question = reading.question(meta.get("task"), origin)
    if question is None:
        return
    answer = name_in(row.get("answer", "accept"))
    if answer in _ANSWERS:
        reading.leave(_ANSWERS[answer], origin)
        return
    rater = row.get("_annotator_id") or row.get("_session_id")
    submission = Submission(name_in(rater), origin, time=moment_in(row.get("_timestamp")))
    token, aspect = (name_in(meta.get(name)) or "" for name in ("token", "aspect"))
    if reading.key.answers == "spans":
        reading.spans(question, token, spans_in(row.get("spans"), "label"), submission)
        return
    chosen = row.get("accept") or []
    if not isinstance(chosen, list) or len(chosen) > 1:
        reading.leave(SEVERAL, origin)
        return
    value = chosen[0] if chosen else None
    if reading.key.answers == "pair":
        reading.pair(question, aspect, value, submission)
    else:
        reading.score(question, token, aspect, value, submission)
