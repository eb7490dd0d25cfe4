"""A plain table: one row for each output (or pair), filled in with any spreadsheet.

Scores, ranks or sides (``left``, ``right``, ``tie``) go into the columns of the aspects, marked spans as JSON
(``[{"start": 0, "end": 4, "severity": "major"}]``, code points, the end not included) into ``spans``.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from sparingly.base.errors import InputError, UsageError
from sparingly.data.files import without_formulas
from sparingly.run.exchange.files import json_in, mapping_in, read_csv_rows, seconds_in, spans_in, write_csv
from sparingly.run.exchange.key import Question
from sparingly.run.exchange.reading import BAD_SPAN, NOT_ANSWERED, Taking
from sparingly.run.exchange.report import Given, Taken
from sparingly.run.exchange.tasks import Kind, Task, Tasks
from sparingly.run.exchange.tool import (
    REFERENCE,
    Exchange,
    Options,
    carried,
    file_stem,
    page_texts,
    slot_label,
    used_texts,
)
from sparingly.run.forms.spans import Span

_CARRIED = (
    "task", "item", "data", "round", "inclusion_probability", "assigned", "document", "position", "context",
)  # fmt: skip
_SIDES = {"left": 1.0, "a": 1.0, "tie": 0.0, "equal": 0.0, "right": -1.0, "b": -1.0}
# Other people's texts.
_TEXTS = ("before", "source", "after", "reference", "output", "left", "right")
_RESERVED = frozenset((*_CARRIED, "rater", "token", "label", "output", "left", "right", "before", "source"))
_RESERVED |= {"after", "reference", "spans", "seconds", "comment"}


class CsvTable(Exchange):
    """Plain CSV."""

    name: ClassVar[str] = "csv"
    summary: ClassVar[str] = "plain CSV: a row for each output, filled in with a spreadsheet"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "ranking", "spans")
    write_options: ClassVar[Mapping[str, str]] = REFERENCE

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``tasks.csv`` for anyone, or a file for each rater."""
        if odd := next((name for name in tasks.aspects if name in _RESERVED), None):
            raise UsageError(f'The aspect "{odd}" is the name of another column: call it otherwise.')
        texts, written, stems = used_texts(tasks, options), [], set[str]()
        shown = ("left", "right") if tasks.kind == "pair" else ("label", "token", "output")
        spans = ("spans",) if tasks.kind == "spans" else ()
        columns = (*_CARRIED, "rater", *texts, *shown, *tasks.aspects, *spans, "seconds", "comment")
        for rater, held in tasks.by_rater().items():
            rows = [row for task in held for row in _rows(task, tasks.kind, options)]
            written.append(write_csv(folder / f"{file_stem(rater, stems)}.csv", columns, rows))
        return written

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read tables that were filled in; what is left empty is no answer."""
        for path in files:
            rows = list(read_csv_rows(path))
            _check_columns(path, rows, taking)
            if taking.key.kind == "ranking":
                _take_rankings(rows, taking)
            else:
                for where, row in rows:
                    _take(where, row, taking)
        return taking.done()


def _rows(task: Task, kind: Kind, options: Options) -> list[dict[str, Any]]:
    common: dict[str, Any] = {**carried(task), "rater": task.rater, **page_texts(task, options)}
    if "context" in common:
        common["context"] = json.dumps(common["context"], ensure_ascii=False)
    if kind == "pair":
        left, right = task.pair
        return [without_formulas({**common, "left": left.text, "right": right.text}, _TEXTS)]
    rows = [
        {**common, "label": slot_label(slot), "token": output.token, "output": output.text}
        for slot, output in enumerate(task.outputs, 1)
    ]
    # Offsets of spans count from the text as it is.
    return rows if kind == "spans" else [without_formulas(row, _TEXTS) for row in rows]


# --- answers ------------------------------------------------------------------------------------------


def _check_columns(path: Path, rows: Sequence[tuple[str, Mapping[str, str]]], taking: Taking) -> None:
    if not rows:
        return
    wanted = ["task", *taking.key.aspects, *(() if taking.key.kind == "pair" else ("token",))]
    for name in wanted:
        if name not in rows[0][1]:
            raise InputError(
                f'there is no column "{name}"',
                file=path,
                line=1,
                fix="Fill in the table that was exported and keep its columns",
            )


def _take(where: str, row: Mapping[str, str], taking: Taking) -> None:
    question = taking.question(row["task"], where)
    if question is None:
        return
    given, token = _given(where, row), row.get("token", "")
    if taking.key.kind == "spans":
        _take_spans(row, taking, question, given)
        return
    for aspect in taking.key.aspects:
        if taking.key.kind == "pair":
            taking.pair(question, aspect, _side(row[aspect]), given)
        else:
            taking.score(question, token, aspect, row[aspect].strip(), given)


def _side(text: str) -> Any:
    word = text.strip().lower()
    return _SIDES.get(word, word) if word else None


def _given(where: str, row: Mapping[str, str]) -> Given:
    return Given(
        row.get("rater", "").strip() or None,
        where,
        seconds=seconds_in(row.get("seconds")),
        comment=row.get("comment", "").strip() or None,
    )


def _take_spans(row: Mapping[str, str], taking: Taking, question: Question, given: Given) -> None:
    written = row.get("spans", "").strip()
    scores = {aspect: row[aspect].strip() for aspect in taking.key.aspects}
    if not written and not any(scores.values()):
        taking.leave(NOT_ANSWERED, given.where, len(taking.key.asked_aspects))
        return
    spans = _spans(written, given.where)
    if spans is None:
        taking.leave(BAD_SPAN, given.where, len(taking.key.asked_aspects))
        return
    taking.spans(question, row.get("token", ""), spans, given, scores)


def _spans(written: str, where: str) -> list[Span] | None:
    """Return the spans that a cell holds; a severity that is left out is minor."""
    try:
        marks = json_in(written or "[]", where)
    except InputError:
        return None
    if not isinstance(marks, list):
        return None
    return spans_in([{"severity": "minor", **mapping_in(mark)} for mark in marks], "severity")


def _take_rankings(rows: Sequence[tuple[str, Mapping[str, str]]], taking: Taking) -> None:
    """Put the rows of a task and rater together: a ranking is one answer."""
    found: dict[tuple[str, str], list[tuple[str, Mapping[str, str]]]] = {}
    for where, row in rows:
        found.setdefault((row["task"], row.get("rater", "")), []).append((where, row))
    for (task, _), together in found.items():
        where = together[0][0]
        question = taking.question(task, where)
        if question is None:
            continue
        for aspect in taking.key.aspects:
            ranks = {row["token"]: row[aspect].strip() for _, row in together}
            said = {token: rank for token, rank in ranks.items() if rank}
            taking.ranking(question, aspect, said, _given(where, together[0][1]))
