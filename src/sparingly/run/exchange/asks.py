"""What is to be asked of a selection: an item, the models to judge on it, and who judges them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import MissingDataError, UsageError
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Row, Selection
from sparingly.run.raters.assignment import Assignment
from sparingly.run.raters.assignment import Task as Assigned
from sparingly.run.raters.controls import ORIGINAL


@dataclass(frozen=True)
class Ask:
    """One question set, with the models' own names.

    Attributes:
        held: The set that the item is in: the data, or the control items.
        item: The item.
        models: The models to judge; in the order to show where ``in_order``.
        data: The name of the data set, where a campaign has several.
        round: The round that asks, from 1.
        probability: The inclusion probability, where all models share it.
        probabilities: That of the models, where they differ.
        context: Items to show before it.
        rater: Who judges.
        control: The kind of a control item.
        original: The item that a control item was made from.
        in_order: Whether the order of the models is drawn already.
    """

    held: EvalSet
    item: str
    models: tuple[str, ...]
    data: str = ""
    round: int = 1
    probability: float | None = None
    probabilities: Mapping[str, float] = field(default_factory=dict)
    context: tuple[str, ...] = ()
    rater: str | None = None
    control: str | None = None
    original: str | None = None
    in_order: bool = False


def asks_of(
    held: EvalSet,
    selection: Selection,
    *,
    pairs: bool,
    assignment: Assignment | None = None,
    controls: EvalSet | None = None,
    data: str = "",
) -> list[Ask]:
    """Return what a selection asks for, rater by rater where there is an assignment.

    Rows of one item are asked together, pairs one by one.
    """
    held.positions(selection.items)
    chosen = _by_item(held, selection, pairs, data)
    if assignment is None:
        return [ask for asks in chosen.values() for ask in asks]
    return [ask for task in assignment.tasks for ask in _assigned(task, chosen, controls)]


def _by_item(held: EvalSet, selection: Selection, pairs: bool, data: str) -> dict[str, list[Ask]]:
    rows: dict[str, list[Row]] = {}
    for row in selection:
        rows.setdefault(row.item, []).append(row)
    number = selection.signature.round or 1
    if pairs:
        return {item: [_pair(held, row, data, number) for row in together] for item, together in rows.items()}
    return {item: [_whole(held, together, data, number)] for item, together in rows.items()}


def _pair(held: EvalSet, row: Row, data: str, number: int) -> Ask:
    models = row.pair or row.models or held.models
    if len(models) != 2:
        raise UsageError(
            f'The item "{row.item}" has {len(models)} models and a pair has two: ask for a ranking, or '
            "choose pairs with a method that does."
        )
    return Ask(held, row.item, tuple(models), data, number, row.probability, context=row.context)


def _whole(held: EvalSet, rows: Iterable[Row], data: str, number: int) -> Ask:
    chances: dict[str, float | None] = {}
    context: tuple[str, ...] = ()
    for row in rows:
        if row.pair is not None:
            raise UsageError("The selection names pairs of models: ask for pairs.")
        chances |= dict.fromkeys(held.models if row.models is None else row.models, row.probability)
        context, item = max(context, row.context, key=len), row.item
    common = set(chances.values())
    alike = len(common) == 1
    return Ask(
        held,
        item,
        tuple(chances),
        data,
        number,
        probability=common.pop() if alike else None,
        probabilities={} if alike else {name: p for name, p in chances.items() if p is not None},
        context=context,
    )


def _assigned(task: Assigned, chosen: Mapping[str, list[Ask]], controls: EvalSet | None) -> list[Ask]:
    if task.control is not None:
        return [_control(task, controls)]
    if task.item not in chosen:
        raise UsageError(
            f'The assignment hands out the item "{task.item}", which is not in the selection: assign again.'
        )
    asks = []
    for ask in chosen[task.item]:
        models = tuple(name for name in task.models if name in ask.models)
        changed: dict[str, Any] = {"rater": task.rater, "models": models, "in_order": True}
        asks.append(Ask(**{**vars(ask), **changed, "context": ask.context or task.context}))
    return asks


def _control(task: Assigned, controls: EvalSet | None) -> Ask:
    if controls is None:
        raise MissingDataError(
            f'The assignment hands out the control item "{task.item}": give the control items, too.'
        )
    place = int(controls.positions([task.item])[0])
    return Ask(
        controls,
        task.item,
        task.models,
        rater=task.rater,
        control=task.control,
        original=str(controls.columns[ORIGINAL][place]),
        in_order=True,
    )


def in_document_order(asks: Iterable[Ask]) -> list[Ask]:
    """Return questions with those of one rater and document together, in the order of the document."""
    groups: dict[tuple[Any, ...], list[tuple[float, int, Ask]]] = {}
    for number, ask in enumerate(asks):
        document, position = document_of(ask.held, ask.item)
        name = ("item", number) if document is None else ("document", document)
        groups.setdefault((ask.rater, ask.data, ask.round, *name), []).append((position or 0.0, number, ask))
    return [ask for group in groups.values() for _, _, ask in sorted(group, key=lambda one: one[:2])]


def document_of(held: EvalSet, item: str) -> tuple[str | None, float | None]:
    """Return the document of an item and its place in it, or None."""
    place = int(held.positions([item])[0])
    if fields.DOCUMENT not in held.columns or held.columns[fields.DOCUMENT][place] is None:
        return None, None
    position = float(held.columns[fields.POSITION][place])
    return str(held.columns[fields.DOCUMENT][place]), None if position != position else position
