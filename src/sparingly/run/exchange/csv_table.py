"""A plain table: one row for each output (or pair), filled in with any spreadsheet.

Scores, ranks or sides (``left``, ``right``, ``tie``) go into the columns of the aspects, marked spans as JSON
(``[{"start": 0, "end": 4, "severity": "major"}]``, code points, the end not included) into ``spans``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.catalogue import register
from sparingly.base.errors import InputError, UsageError
from sparingly.data.files import without_formulas
from sparingly.run.exchange.files import json_in, mapping_in, read_csv_rows, seconds_in, spans_in, write_csv
from sparingly.run.exchange.reading import ImportReport, Reading, Submission
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
from sparingly.run.forms.question import Question, output_label
from sparingly.run.forms.spans import Span

_QUESTION_COLUMNS = (
    "task", "item", "data", "round", "inclusion_probability", "assigned", "document", "position", "context",
)  # fmt: skip
# Other people's texts.
_TEXTS = ("before", "source", "after", "reference", "output", "left", "right")
_RESERVED = {*_QUESTION_COLUMNS, *_TEXTS, "rater", "token", "label", "spans", "seconds", "comment"}


@register("csv")
class CsvTable(AnnotationTool):
    """Plain CSV."""

    summary: ClassVar[str] = "plain CSV: a row for each output, filled in with a spreadsheet"
    kinds: ClassVar[tuple[FormKind, ...]] = ("score", "pair", "ranking", "spans")
    write_options: ClassVar[Mapping[str, str]] = REFERENCE

    def write(self, tasks: Tasks, folder: Path, options: ToolOptions) -> list[Path]:
        """Write ``tasks.csv`` for anyone, or a file for each rater."""
        if odd := next((name for name in tasks.aspects if name in _RESERVED), None):
            raise UsageError(f'The aspect "{odd}" is the name of another column: rename it.')
        outputs = ("left", "right") if tasks.kind == "pair" else ("label", "token", "output")
        answers = (*tasks.aspects, "spans") if tasks.kind == "spans" else tasks.aspects
        texts = used_texts(tasks, options)
        columns = (*_QUESTION_COLUMNS, "rater", *texts, *outputs, *answers, "seconds", "comment")
        return [
            write_csv(path, columns, [row for one in questions for row in _rows(one, tasks.kind, options)])
            for path, questions in rater_files(tasks, folder, ".csv")
        ]

    def read(self, files: Sequence[Path], reading: Reading, options: ToolOptions) -> ImportReport:
        """Read tables that were filled in; what is left empty is no answer."""
        token = () if reading.key.answers == "pair" else ("token",)
        for path in files:
            rows = list(read_csv_rows(path))
            for name in ("task", *reading.key.aspects, *token):
                if rows and name not in rows[0][1]:
                    raise InputError(
                        f'there is no column "{name}"',
                        file=path,
                        line=1,
                        fix="Fill in the table that was exported and keep its columns",
                    )
            if reading.key.answers != "ranking":
                for origin, row in rows:
                    _take_row(origin, row, reading)
                continue
            # The rows of a task and rater together are one answer.
            rankings: dict[tuple[str, str], list[tuple[str, Mapping[str, str]]]] = {}
            for origin, row in rows:
                rankings.setdefault((row["task"], row.get("rater", "")), []).append((origin, row))
            for ranked in rankings.values():
                _take_ranking(ranked, reading)
        return reading.report()


def _rows(question: Question, kind: FormKind, options: ToolOptions) -> list[dict[str, Any]]:
    texts = page_texts(question, options)
    common: dict[str, Any] = {**question_fields(question), "rater": question.rater, **texts}
    if "context" in common:
        common["context"] = json.dumps(common["context"], ensure_ascii=False)
    if kind == "pair":
        first, second = question.outputs
        return [without_formulas({**common, "left": first.text, "right": second.text}, _TEXTS)]
    rows = [
        {**common, "label": output_label(slot), "token": output.token, "output": output.text}
        for slot, output in enumerate(question.outputs, 1)
    ]
    # Offsets of spans count from the text as it is.
    return rows if kind == "spans" else [without_formulas(row, _TEXTS) for row in rows]


# --- answers ------------------------------------------------------------------------------------------


def _take_row(origin: str, row: Mapping[str, str], reading: Reading) -> None:
    question = reading.question(row["task"], origin)
    if question is None:
        return
    submission, token = _submission(origin, row), row.get("token", "")
    if reading.key.answers == "spans":
        text = row.get("spans", "").strip()
        scores = {aspect: row[aspect].strip() for aspect in reading.key.aspects}
        is_empty = not text and not any(scores.values())
        reading.spans(question, token, None if is_empty else _spans(text, origin), submission, scores)
        return
    values = {aspect: reading.key.form.from_text(row[aspect]) for aspect in reading.key.aspects}
    if reading.key.answers != "pair":
        reading.output(question, token, values, submission)
        return
    for aspect, value in values.items():
        reading.pair(question, aspect, value, submission)


def _submission(origin: str, row: Mapping[str, str]) -> Submission:
    return Submission(
        row.get("rater", "").strip() or None,
        origin,
        seconds=seconds_in(row.get("seconds")),
        comment=row.get("comment", "").strip() or None,
    )


def _spans(text: str, origin: str) -> list[Span | None]:
    """Return the spans that a cell holds; a severity that is left out is minor."""
    marks = None
    with suppress(InputError):
        marks = json_in(text or "[]", origin)
    if not isinstance(marks, list):
        return [None]
    return spans_in([{"severity": "minor", **mapping_in(mark)} for mark in marks], "severity")


def _take_ranking(ranked: Sequence[tuple[str, Mapping[str, str]]], reading: Reading) -> None:
    origin, first = ranked[0]
    question = reading.question(first["task"], origin)
    if question is None:
        return
    for aspect in reading.key.aspects:
        ranks = {row["token"]: rank for _, row in ranked if (rank := row[aspect].strip())}
        reading.ranking(question, aspect, ranks, _submission(origin, first))
