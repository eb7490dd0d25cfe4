"""Batches of Appraise: items in order, documents whole, control items under the types that Appraise has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, islice
from typing import Any

from sparingly.base import rng
from sparingly.base.errors import UsageError
from sparingly.run.exchange.key import Question
from sparingly.run.exchange.tasks import Output, Passage, Task, Tasks

FULL = 100
JUDGED, REPEATED = "TGT", "CHK"
TYPES = {"degraded": "BAD", "reference": "REF", "repeat": REPEATED}
_NUMBERS = 2**31 - 2

Row = dict[str, Any]


def number_of(task: str) -> int:
    """Return the number of a task in Appraise, which knows items by numbers: a hash of the task's id."""
    return int(rng.stream(rng.keys_of([task]), 0, "appraise")[0]) % _NUMBERS + 1


def batches_of(
    tasks: Tasks, languages: tuple[str, str], *, whole_documents: bool, size: int, required: int
) -> list[dict[str, Any]]:
    """Return the batches: one for every rater of an assignment, else of so many items.

    The parts of a batch (an item with its outputs, or a document of one model) are never torn. Appraise loads
    only pairwise batches of 100 items, so those are filled up with repeats, which come back as checks.
    """
    _check_numbers(tasks)
    full = [rows for _, rows in _filled(tasks, whole_documents, size)]
    if tasks.kind == "pair":
        full = [_filled_up(rows) for rows in full]
    source, target = languages
    return [
        {
            "items": [_placed(row, place) for place, row in enumerate(rows)],
            "task": {
                "batchNo": number,
                "batchSize": len(rows),
                "randomSeed": tasks.seed,
                "requiredAnnotations": required,
                "sourceLanguage": source,
                "targetLanguage": target,
            },
        }
        for number, rows in enumerate(full, 1)
    ]


def _check_numbers(tasks: Tasks) -> None:
    numbers = [number_of(task.id) for task in tasks]
    if len(set(numbers)) < len(numbers):
        raise UsageError("Two tasks have the same number by chance. Take another seed.")


def _filled(tasks: Tasks, whole_documents: bool, size: int) -> Iterator[tuple[str | None, list[Row]]]:
    most = FULL if tasks.kind == "pair" else size
    for rater, own in tasks.by_rater().items():
        parts = list(_parts(tasks, own, whole_documents))
        if rater is not None:
            rows = [row for part in parts for row in part]
            if tasks.kind == "pair" and len(rows) > FULL:
                raise UsageError(
                    f"{rater} has {len(rows)} pairs, and a batch of Appraise holds {FULL}: "
                    "take more raters or fewer items."
                )
            yield rater, rows
            continue
        rows = []
        for part in parts:
            if rows and len(rows) + len(part) > most:
                yield None, rows
                rows = []
            rows = [*rows, *part]
        if rows:
            yield None, rows


def _parts(tasks: Tasks, own: Sequence[Task], whole_documents: bool) -> Iterator[list[Row]]:
    if not whole_documents:
        for task in own:
            targets = [_target_id(tasks, task, output) for output in task.outputs]
            if tasks.kind == "pair":
                yield [_pair(task, targets)]
            else:
                yield [_row(task, *both) for both in zip(task.outputs, targets, strict=True)]
        return
    mine = {task.id for task in own}
    for run in tasks.by_document():
        if run[0].id in mine:
            yield from _documents(tasks, run)


def _documents(tasks: Tasks, run: Sequence[Task]) -> Iterator[list[Row]]:
    """Yield the document as every model wrote it, in order; then the row for it as a whole, without spans."""
    tokens = dict.fromkeys(output.token for task in run for output in task.outputs)
    for token in tokens:
        rows = [
            {**_row(task, output, token), **_context(task, token), **_document(task, run[0])}
            for task in run
            for output in task.outputs
            if output.token == token
        ]
        if tasks.kind == "spans":
            yield [{**row, "mqm": []} for row in rows]
        else:
            yield [*rows, _whole(rows)]


def _document(task: Task, first: Task) -> Row:
    # A control item is a document of its own, under a name that tells nothing.
    name = first.document if first.document is not None and task.control is None else task.id
    return {"documentID": name, "isCompleteDocument": False}


def _whole(rows: Sequence[Row]) -> Row:
    texts = {name: " ".join(row[name] for row in rows) for name in ("sourceText", "targetText")}
    kept = {name: value for name, value in rows[-1].items() if not name.endswith("ContextLeft")}
    return {**kept, **texts, "isCompleteDocument": True}


def _row(task: Task, output: Output, target: str) -> Row:
    return {**_item(task), "targetID": target, "targetText": output.text}


def _item(task: Task) -> Row:
    return {
        "itemID": number_of(task.id),
        "itemType": JUDGED if task.control is None else TYPES[task.control],
        "sourceID": task.id,
        "sourceText": task.source or "",
    }


def _pair(task: Task, targets: Sequence[str]) -> Row:
    shown = [
        {"_target": place, "targetID": target, "targetText": output.text}
        for place, (output, target) in enumerate(zip(task.outputs, targets, strict=True))
    ]
    context = {"contextLeft": text} if (text := _sources(task.before)) else {}
    return {**_item(task), **context, "targets": shown, "targetsSize": len(shown)}


def _target_id(tasks: Tasks, task: Task, output: Output) -> str:
    """Return the tokens of all models with this output, joined as Appraise joins equal outputs."""
    question: Question = tasks.key.questions[task.id]
    token_of = {model: token for token, model in tasks.key.models.items()}
    others = [token_of[model] for model in question.outputs[output.token] if model in token_of]
    return "+".join(dict.fromkeys([output.token, *others]))


def _context(task: Task, token: str) -> Row:
    if not task.before:
        return {}
    written = "\n".join(one.outputs[token] for one in task.before if token in one.outputs)
    return {"sourceContextLeft": _sources(task.before), "targetContextLeft": written}


def _sources(passages: Iterable[Passage]) -> str:
    return "\n".join(one.source for one in passages if one.source)


def _filled_up(rows: list[Row]) -> list[Row]:
    repeats = islice(cycle(rows), FULL - len(rows))
    return [*rows, *({**row, "itemType": REPEATED} for row in repeats)]


def _placed(row: Row, place: int) -> Row:
    return {"_block": place // 10, "_item": place, **row}
