"""``assign``: hand out what was chosen, so that raters can be compared and models are compared fairly."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.data import fields
from sparingly.data.build import as_ids
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.run.raters.assignment import Assignment, Task
from sparingly.run.raters.hand_out import Handed, Unit, hand_out

UnitKind = Literal["item", "document"]
APART = (
    "{shared} shared {unit}s do not connect {raters} raters, which takes {needed} or more: raise the overlap "
    "or severities of some raters can be compared only as far as items were handed out by chance."
)


def assign(
    selection: Selection,
    raters: Sequence[str],
    *,
    data: EvalSet,
    overlap: float = 0.1,
    load: int | Mapping[str, int] | None = None,
    unit: UnitKind = "item",
    controls: EvalSet | None = None,
    seed: int = 0,
) -> Assignment:
    """Hand the chosen items out to raters.

    One rater sees all models' outputs of an item (or of a document, whose items stay together and in order),
    so that severity cancels from differences between models. Loads are equal: they differ by at most one
    unit. A share of the units goes to two raters, such that all raters are connected through them; more items
    teach more than repeated ratings, so the share need not be large. The outputs of an item are shown in a
    drawn order. The answer depends on the seed and on names, never on their order.

    Args:
        selection: What is to be judged.
        raters: The raters' names.
        data: The evaluation set that it was chosen from.
        overlap: The share of units that two raters judge.
        load: The most items that a rater takes: one number for all, or by name; no limit unless given.
        unit: What is handed out together: an ``item``, or a ``document``.
        controls: Control items (``control_items``): each goes to a rater of the item that it was made from,
            as far from it as the list allows.
        seed: Settles draws; the same seed gives the same answer.

    Examples:
        >>> import sparingly
        >>> data = sparingly.load_demo()
        >>> chosen = sparingly.select(data, "random", 60, seed=1)
        >>> handed = sparingly.assign(chosen, ["Ada", "Bo", "Chidi"], data=data)
        >>> handed.loads, handed.is_connected
        ({'Ada': 22, 'Bo': 22, 'Chidi': 22}, True)
    """
    names = sorted(as_ids("rater", raters))
    _check(names, overlap, unit)
    rows = _rows(selection, data)
    units = _units(rows, data, unit)
    shared = round(overlap * len(units)) if len(names) > 1 else 0
    handed = hand_out(units, names, shared, _limits(load, names), seed)
    lists = {name: _ordered(handed, name, rows, seed) for name in names}
    if controls is not None:
        lists = _with_controls(lists, controls, data, seed)
    tasks = tuple(_placed(task, place, seed) for name in names for place, task in enumerate(lists[name]))
    return Assignment(
        raters=tuple(names),
        tasks=tasks,
        components=handed.components,
        unit=unit,
        overlap=shared / len(units),
        seed=seed,
        selection=str(selection.signature),
        notes=(*_notes(handed, unit, shared), *(() if controls is None else _unchecked(lists))),
    )


@dataclass(frozen=True)
class _Row:
    """One chosen item with all models to judge on it."""

    item: str
    models: tuple[str, ...]
    context: tuple[str, ...]


def _check(names: Sequence[str], overlap: float, unit: str) -> None:
    if not names:
        raise UsageError("Nobody is named: give at least one rater.")
    if not 0.0 <= overlap <= 1.0:
        raise UsageError(f"The overlap is a share between 0 and 1, not {overlap}.")
    if unit not in get_args(UnitKind):
        raise UnknownNameError("unit", unit, get_args(UnitKind))


def _rows(selection: Selection, data: EvalSet) -> dict[str, _Row]:
    """Return the chosen items; rows of one item (pairs, or models by themselves) are put together."""
    data.positions(selection.items)
    models: dict[str, set[str]] = {}
    context: dict[str, tuple[str, ...]] = {}
    for row in selection:
        named = row.pair if row.pair is not None else row.models
        models.setdefault(row.item, set()).update(data.models if named is None else named)
        context[row.item] = max(context.get(row.item, ()), row.context, key=len)
    if not models:
        raise UsageError("The selection is empty, so there is nothing to hand out.")
    return {item: _Row(item, tuple(sorted(models[item])), context[item]) for item in sorted(models)}


def _units(rows: Mapping[str, _Row], data: EvalSet, unit: str) -> list[Unit]:
    if unit == "item":
        return [Unit(item, (item,)) for item in rows]
    if fields.DOCUMENT not in data.columns:
        raise MissingDataError('The set has no documents. Hand out items instead: unit="item".')
    places = data.positions(rows)
    document, position = data.columns[fields.DOCUMENT], data.columns[fields.POSITION]
    inside: dict[str, list[tuple[float, str]]] = {}
    for item, place in zip(rows, places, strict=True):
        name = item if document[place] is None else str(document[place])
        inside.setdefault(name, []).append((float(np.nan_to_num(position[place])), item))
    return [Unit(name, tuple(item for _, item in sorted(inside[name]))) for name in sorted(inside)]


def _limits(load: int | Mapping[str, int] | None, names: Sequence[str]) -> dict[str, float]:
    if load is None:
        return dict.fromkeys(names, float("inf"))
    given = dict.fromkeys(names, load) if isinstance(load, int) else dict(load)
    for name in given:
        if name not in names:
            raise UnknownNameError("rater", name, names)
    if any(most < 1 for most in given.values()):
        raise UsageError("A rater takes at least one item: leave out raters who take none.")
    return {name: float(given.get(name, np.inf)) for name in names}


def _ordered(handed: Handed, rater: str, rows: Mapping[str, _Row], seed: int) -> list[Task]:
    """Return a rater's items, unit by unit in a drawn order, each unit in its own."""
    units = handed.of(rater)
    keys = rng.keys_of([f"{rater}\x1f{unit.name}" for unit in units])
    order = np.argsort(rng.stream(keys, seed, "raters order"), kind="stable")
    return [
        Task(
            rater=rater,
            place=0,
            item=item,
            models=rows[item].models,
            unit=units[at].name,
            shared=units[at].name in handed.shared,
            context=rows[item].context,
        )
        for at in order
        for item in units[at].items
    ]


def _placed(task: Task, place: int, seed: int) -> Task:
    """Return a task with its place and its outputs in a drawn order."""
    keys = rng.keys_of([f"{task.rater}\x1f{task.item}\x1f{model}" for model in task.models])
    order = np.argsort(rng.stream(keys, seed, "raters outputs"), kind="stable")
    return Task(**{**vars(task), "place": place, "models": tuple(task.models[at] for at in order)})


def _with_controls(
    lists: Mapping[str, list[Task]], controls: EvalSet, data: EvalSet, seed: int
) -> dict[str, list[Task]]:
    """Return the lists with control items, each in the list of a rater of its original item.

    It comes half a list after the original (or before it), between two units, so that documents stay whole.
    """
    from sparingly.run.raters.controls import controls_of

    grown = {name: list(tasks) for name, tasks in lists.items()}
    for control in controls_of(controls, data):
        holders = [name for name in lists if any(task.item == control.original for task in lists[name])]
        if not holders:
            raise UsageError(
                f'The control item "{control.item}" was made from "{control.original}", which nobody judges.'
            )
        draw = rng.stream(
            rng.keys_of([f"{name}\x1f{control.item}" for name in holders]), seed, "raters controls"
        )
        rater = holders[int(np.argmin(draw))]
        tasks = grown[rater]
        origin = next(place for place, task in enumerate(tasks) if task.item == control.original)
        wanted = (origin + max(1, len(tasks) // 2)) % (len(tasks) + 1)
        while 0 < wanted < len(tasks) and tasks[wanted - 1].unit == tasks[wanted].unit:
            wanted += 1
        models = (control.model,)
        tasks.insert(wanted, Task(rater, 0, control.item, models, control.item, control=control.kind))
    return grown


def _unchecked(lists: Mapping[str, list[Task]]) -> tuple[str, ...]:
    """Name raters who got no control item: nothing will be known of their care."""
    without = [name for name, tasks in lists.items() if all(task.control is None for task in tasks)]
    return (f"no control items for {', '.join(without)}: make more of them.",) if without else ()


def _notes(handed: Handed, unit: str, shared: int) -> tuple[str, ...]:
    if len(handed.components) == 1:
        return ()
    raters = sum(map(len, handed.components))
    return (APART.format(shared=shared, unit=unit, raters=raters, needed=raters - 1),)
