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

from sparingly.base.errors import UsageError
from sparingly.data.scale import Scale
from sparingly.run.exchange.files import mapping_in, moment_in, name_in, read_json_rows, spans_in, write_jsonl
from sparingly.run.exchange.key import Question
from sparingly.run.exchange.reading import BAD_SPAN, CANCELLED, Taking
from sparingly.run.exchange.report import Given, Taken
from sparingly.run.exchange.tasks import Kind, Output, Task, Tasks
from sparingly.run.exchange.tool import (
    REFERENCE,
    Exchange,
    Options,
    carried,
    file_stem,
    page_texts,
    used_texts,
)

REJECTED = "rejected by the rater"
SEVERAL = "more than one option was chosen"
_LEVELS = 11
_SIDES = {"left": 1.0, "tie": 0.0, "right": -1.0}
_ANSWERS = {"reject": REJECTED, "ignore": CANCELLED}


class Prodigy(Exchange):
    """Prodigy's JSON Lines, which other tools read, too."""

    name: ClassVar[str] = "prodigy"
    summary: ClassVar[str] = "Prodigy-style JSON Lines: choices and spans, with input and task hashes"
    kinds: ClassVar[tuple[Kind, ...]] = ("score", "pair", "spans")
    write_options: ClassVar[Mapping[str, str]] = {
        **REFERENCE,
        "levels": "how many scores there are to choose from, from low to high (at most 11 unless given)",
    }

    def write(self, tasks: Tasks, folder: Path, options: Options) -> list[Path]:
        """Write ``tasks.jsonl`` for anyone, or a file for each rater."""
        if tasks.kind == "spans" and tasks.aspects:
            raise UsageError("Prodigy marks spans or asks for scores, not both: export them one by one.")
        levels, written, stems = _count(options.get("levels")), [], set[str]()
        texts = used_texts(tasks, options)
        for rater, held in tasks.by_rater().items():
            rows = [row for task in held for row in _rows(task, tasks, _page(task, texts, options), levels)]
            written.append(write_jsonl(folder / f"{file_stem(rater, stems)}.jsonl", rows))
        return written

    def read(self, files: Sequence[Path], taking: Taking, options: Options) -> Taken:
        """Read answers as ``db-out`` gives them; every line is one answer."""
        for path in files:
            for where, row in read_json_rows(path):
                _take(row, taking, where)
        return taking.done()


def _count(given: str | None) -> int | None:
    if given is None:
        return None
    if not given.isdigit() or not 2 <= int(given) <= 101:
        raise UsageError(f"The option levels is a whole number from 2 to 101, not {given}.")
    return int(given)


# --- tasks --------------------------------------------------------------------------------------------


def _page(task: Task, texts: Sequence[str], options: Options) -> dict[str, str]:
    page = page_texts(task, options)
    return {name: page[name] for name in texts}


def _rows(
    task: Task, tasks: Tasks, around: Mapping[str, str], levels: int | None
) -> Iterator[dict[str, Any]]:
    if tasks.kind == "spans":
        for output in task.outputs:
            yield _hashed({"text": output.text, **around, "meta": _meta(task, output)})
        return
    for aspect, scale in tasks.scales.items():
        if tasks.kind == "pair":
            left, right = task.pair
            options = [
                {"id": "left", "text": left.text},
                {"id": "tie", "text": "="},
                {"id": "right", "text": right.text},
            ]
            held = {"text": task.source or "", "options": options, "label": aspect}
            yield _hashed({**held, **around, "meta": {**carried(task), "aspect": aspect}})
            continue
        for output in task.outputs:
            choices = [{"id": f"{score:g}", "text": f"{score:g}"} for score in scores_of(scale, levels)]
            held = {"text": output.text, "options": choices, "label": aspect}
            yield _hashed({**held, **around, "meta": {**_meta(task, output), "aspect": aspect}})


def _meta(task: Task, output: Output) -> dict[str, Any]:
    return {**carried(task), "token": output.token}


def scores_of(scale: Scale, levels: int | None) -> list[float]:
    """Return the scores to choose from: whole numbers where there are few, else evenly from low to high."""
    width = scale.high - scale.low
    few = width == int(width) and width < _LEVELS
    count = levels or (int(width) + 1 if few else _LEVELS)
    return [scale.low + width * step / (count - 1) for step in range(count)]


def _hashed(row: dict[str, Any]) -> dict[str, Any]:
    """Return a line with a hash of what is shown, and one of what is asked about it."""
    content = f"{row['text']}\x1f{row.get('source', '')}"
    asked = "\x1f".join((content, row.get("label", ""), *(one["text"] for one in row.get("options", ()))))
    named = f"{asked}\x1f{row['meta']['task']}\x1f{row['meta'].get('token', '')}"
    return {**row, "_input_hash": _hash(content), "_task_hash": _hash(named)}


def _hash(text: str) -> int:
    """Return a number of 31 bits, which every database and JavaScript can hold."""
    digest = hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=4).digest()
    return int.from_bytes(digest, "little") % 2**31


# --- answers ------------------------------------------------------------------------------------------


def _take(row: Mapping[str, Any], taking: Taking, where: str) -> None:
    held = mapping_in(row.get("meta"))
    question = taking.question(held.get("task"), where)
    if question is None:
        return
    answer = name_in(row.get("answer", "accept"))
    if answer in _ANSWERS:
        taking.leave(_ANSWERS[answer], where)
        return
    who = row.get("_annotator_id") or row.get("_session_id")
    given = Given(name_in(who), where, when=moment_in(row.get("_timestamp")))
    token, aspect = (name_in(held.get(name)) or "" for name in ("token", "aspect"))
    if taking.key.kind == "spans":
        _take_spans(row, taking, question, token, given)
        return
    chosen = row.get("accept") or []
    if not isinstance(chosen, list) or len(chosen) > 1:
        taking.leave(SEVERAL, where)
        return
    value = chosen[0] if chosen else None
    if taking.key.kind == "pair":
        taking.pair(question, aspect, _SIDES.get(value, value) if isinstance(value, str) else value, given)
    else:
        taking.score(question, token, aspect, value, given)


def _take_spans(row: Mapping[str, Any], taking: Taking, question: Question, token: str, given: Given) -> None:
    spans = spans_in(row.get("spans"), "label")
    if spans is None:
        taking.leave(BAD_SPAN, given.where)
        return
    taking.spans(question, token, spans, given)
