"""The assignment: who judges which item, in which order, and which order the outputs are shown in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.format import html_table
from sparingly.data import fields, files, schema
from sparingly.data.evalset import EvalSet
from sparingly.data.selection import Selection
from sparingly.data.store import as_ids
from sparingly.data.values import as_id, as_list, as_mapping, as_text, as_whole, check_version
from sparingly.run.raters.controls import controls_of

FORMAT, VERSION = "sparingly/assignment", 1


@dataclass(frozen=True)
class RaterTask:
    """One item for one rater.

    Attributes:
        rater: Who judges it.
        place: Its place in the rater's list, from 0.
        item: The item, or the control item.
        models: The models whose outputs are shown, in the order to show them.
        unit: What it was handed out with: the document, or the item itself.
        shared: Whether another rater judges it, too.
        control: The kind of a control item, which is never counted in estimates; None for the others.
        context: Items to show before it.
    """

    rater: str
    place: int
    item: schema.Id
    models: tuple[schema.Id, ...]
    unit: schema.Id
    shared: bool = False
    control: str | None = None
    context: tuple[schema.Id, ...] = ()


@dataclass(frozen=True, eq=False, repr=False)
class Assignment:
    """Tasks of all raters.

    Attributes:
        raters: The raters, in the order of their names.
        tasks: Their tasks, rater by rater, in the order of their lists.
        components: The raters that are connected through shared units, largest group first.
        unit: What was handed out: ``item`` or ``document``.
        overlap: The share of units that two raters judge, as it came out.
        seed: The seed of the draw.
        selection: The signature of the selection, as text.
        notes: What to mind.
    """

    raters: tuple[str, ...]
    tasks: tuple[RaterTask, ...]
    components: tuple[tuple[str, ...], ...]
    unit: str
    overlap: float
    seed: int
    selection: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[RaterTask]:
        return iter(self.tasks)

    def __repr__(self) -> str:
        return f"Assignment({self.headline})"

    @property
    def headline(self) -> str:
        """What was handed out, in one line."""
        loads = self.loads.values()
        load = f"{min(loads)}" if min(loads) == max(loads) else f"{min(loads)} to {max(loads)}"
        return (
            f"{len(self.raters)} raters with {load} items each; {self.overlap:.0%} of the {self.unit}s shared"
        )

    def _repr_html_(self) -> str:
        rows = [(name, self.loads[name], self.controls[name]) for name in self.raters]
        return html_table(("rater", "items", "controls"), rows, self.headline, "; ".join(self.notes))

    @property
    def loads(self) -> dict[str, int]:
        """The number of items of every rater, controls left out."""
        return self._counts(controls=False)

    @property
    def controls(self) -> dict[str, int]:
        """The number of control items of every rater."""
        return self._counts(controls=True)

    @property
    def is_connected(self) -> bool:
        """Whether all raters can be compared through items that two of them judge."""
        return len(self.components) == 1

    def of(self, rater: str) -> tuple[RaterTask, ...]:
        """Return the list of one rater."""
        if rater not in self.raters:
            raise UnknownNameError("rater", rater, self.raters)
        return tuple(task for task in self.tasks if task.rater == rater)

    def _counts(self, *, controls: bool) -> dict[str, int]:
        counts = dict.fromkeys(self.raters, 0)
        for task in self.tasks:
            counts[task.rater] += (task.control is not None) == controls
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values, as its file holds it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "unit": self.unit,
            "overlap": self.overlap,
            "seed": self.seed,
            "selection": self.selection,
            "components": [list(names) for names in self.components],
            "notes": list(self.notes),
            "raters": [
                {
                    "rater": name,
                    "items": self.loads[name],
                    "controls": self.controls[name],
                    "tasks": [_plain(task) for task in self.of(name)],
                }
                for name in self.raters
            ],
        }

    def save(self, path: str | Path) -> None:
        """Write the assignment as JSON, whole or not at all."""
        files.write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Assignment:
        """Read an assignment from its file."""
        with files.naming(Path(path)):
            return cls.from_dict(as_mapping(files.read_json(Path(path)), "assignment"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Assignment:
        """Make an assignment from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        rows = [as_mapping(row, "raters") for row in as_list(values.get("raters"), "raters")]
        names = [as_id(row.get("rater"), f"raters[{number}].rater") for number, row in enumerate(rows)]
        tasks = [
            _task(as_mapping(task, f"raters[{number}].tasks"), f"raters[{number}].tasks[{at}]", name, at)
            for number, (name, row) in enumerate(zip(names, rows, strict=True))
            for at, task in enumerate(as_list(row.get("tasks"), f"raters[{number}].tasks"))
        ]
        groups = as_list(values.get("components"), "components")
        return cls(
            raters=tuple(names),
            tasks=tuple(tasks),
            components=tuple(tuple(_names(group, "components")) for group in groups),
            unit=as_text(values.get("unit"), "unit") or "item",
            overlap=float(values.get("overlap") or 0.0),
            seed=as_whole(values.get("seed"), "seed"),
            selection=as_text(values.get("selection"), "selection") or "",
            notes=tuple(_names(values.get("notes"), "notes")),
        )


def _plain(task: RaterTask) -> dict[str, Any]:
    values: dict[str, Any] = {"item": task.item, "models": list(task.models), "unit": task.unit}
    if task.shared:
        values["shared"] = True
    if task.control is not None:
        values["control"] = task.control
    if task.context:
        values["context"] = list(task.context)
    return values


def _task(values: Mapping[str, Any], field: str, rater: str, place: int) -> RaterTask:
    return schema.read(RaterTask, {"unit": values.get("item"), **values}, field, rater=rater, place=place)


def _names(values: Any, field: str) -> list[str]:
    return [as_id(name, field) for name in as_list(values, field)]


# Handing units out to raters: a connected graph of shared units first, then each to whoever has least.


@dataclass(frozen=True)
class TaskUnit:
    """What is handed out together: a name, and items in order."""

    name: str
    items: tuple[str, ...]

    @property
    def size(self) -> int:
        """How many items it holds."""
        return len(self.items)


@dataclass(frozen=True, eq=False)
class UnitLists:
    """Who has which units, which of them two raters have, and which raters are connected by these."""

    units: Mapping[str, tuple[TaskUnit, ...]]
    shared: frozenset[str]
    components: tuple[tuple[str, ...], ...]


class _GrowingLists:
    """The raters' lists while they fill."""

    def __init__(self, raters: Sequence[str], limits: Mapping[str, float]) -> None:
        self.raters, self.limits = list(raters), limits
        self.loads = dict.fromkeys(raters, 0)
        self.units: dict[str, list[TaskUnit]] = {name: [] for name in raters}
        self.together: dict[tuple[str, ...], int] = {}

    def with_room(self, size: int) -> list[str]:
        """Return the raters who can take so many items more, those with least first."""
        free = [name for name in self.raters if self.loads[name] + size <= self.limits[name]]
        return sorted(free, key=lambda name: self.loads[name])

    def give(self, unit: TaskUnit, *raters: str) -> None:
        """Add a unit to the lists of raters."""
        for name in raters:
            self.loads[name] += unit.size
            self.units[name].append(unit)
        if len(raters) > 1:
            pair = tuple(sorted(raters))
            self.together[pair] = self.together.get(pair, 0) + 1

    def share(self, unit: TaskUnit) -> None:
        """Give a unit to the two raters who have least; among equals to those who shared least."""
        free = self.with_room(unit.size)
        if len(free) < 2:
            raise _no_room(unit)
        first = free[0]
        second = min(
            free[1:],
            key=lambda name: (self.loads[name], self.together.get(tuple(sorted((first, name))), 0)),
        )
        self.give(unit, first, second)

    def give_to_one(self, unit: TaskUnit) -> None:
        """Give a unit to the rater who has least."""
        free = self.with_room(unit.size)
        if not free:
            raise _no_room(unit)
        self.give(unit, free[0])


def hand_out(
    units: Sequence[TaskUnit], raters: Sequence[str], shared: int, limits: Mapping[str, float], seed: int
) -> UnitLists:
    """Hand out units, so many of them to two raters each.

    The first shared units make a chain through all raters, which is connected with one unit fewer than
    raters; the others go where least is. Then the rest, the largest first, each to the rater with least:
    loads then differ by at most the largest unit.
    """
    _check_room(units, shared, raters, limits)
    keys = rng.keys_of([unit.name for unit in units])
    shuffled = [units[number] for number in np.argsort(rng.stream(keys, seed, "raters units"), kind="stable")]
    order = np.argsort(rng.stream(rng.keys_of(list(raters)), seed, "raters chain"), kind="stable")
    table = _GrowingLists([raters[number] for number in order], limits)
    twice, once = shuffled[:shared], shuffled[shared:]
    chain = list(pairwise(table.raters))
    for place, unit in enumerate(twice):
        pair = chain[place] if place < len(chain) else ()
        if pair and all(table.loads[name] + unit.size <= limits[name] for name in pair):
            table.give(unit, *pair)
        else:
            table.share(unit)
    for unit in sorted(once, key=lambda unit: -unit.size):
        table.give_to_one(unit)
    return UnitLists(
        units={name: tuple(table.units[name]) for name in raters},
        shared=frozenset(unit.name for unit in twice),
        components=_components(raters, table.together),
    )


def _check_room(
    units: Sequence[TaskUnit], shared: int, raters: Sequence[str], limits: Mapping[str, float]
) -> None:
    needed = sum(unit.size for unit in units) * (1.0 + shared / len(units))
    room = sum(limits[name] for name in raters)
    if room < needed:
        raise UsageError(
            f"The raters take {room:g} items together, and {needed:.0f} are to be judged, shared ones twice: "
            "raise the load, name more raters, or choose fewer items."
        )


def _no_room(unit: TaskUnit) -> UsageError:
    return UsageError(
        f'Nobody has room for "{unit.name}" with {unit.size} items: raise the load, name more raters, or '
        "lower the overlap."
    )


def _components(
    raters: Sequence[str], together: Mapping[tuple[str, ...], int]
) -> tuple[tuple[str, ...], ...]:
    """Return the groups of raters that are connected by shared units, largest first."""
    group = {name: name for name in raters}
    for first, second in together:
        old, new = group[first], group[second]
        group = {name: new if group_name == old else group_name for name, group_name in group.items()}
    groups = [
        tuple(name for name in raters if group[name] == group_name)
        for group_name in sorted(set(group.values()))
    ]
    return tuple(sorted(groups, key=lambda names: (-len(names), names)))


UnitKind = Literal["item", "document"]
NOT_CONNECTED = (
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
        seed: Seed of the draws; the same seed gives the same answer.

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
    tasks = tuple(
        _shuffled_outputs(task, place, seed) for name in names for place, task in enumerate(lists[name])
    )
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
class _ChosenItem:
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


def _rows(selection: Selection, data: EvalSet) -> dict[str, _ChosenItem]:
    """Return the chosen items; rows of one item (pairs, or models by themselves) are put together."""
    data.positions(selection.items)
    models: dict[str, set[str]] = {}
    context: dict[str, tuple[str, ...]] = {}
    for row in selection:
        names = row.pair if row.pair is not None else row.models
        models.setdefault(row.item, set()).update(data.models if names is None else names)
        context[row.item] = max(context.get(row.item, ()), row.context, key=len)
    if not models:
        raise UsageError("The selection is empty, so there is nothing to hand out.")
    return {item: _ChosenItem(item, tuple(sorted(models[item])), context[item]) for item in sorted(models)}


def _units(rows: Mapping[str, _ChosenItem], data: EvalSet, unit: str) -> list[TaskUnit]:
    if unit == "item":
        return [TaskUnit(item, (item,)) for item in rows]
    if fields.DOCUMENT not in data.columns:
        raise MissingDataError('The set has no documents. Hand out items instead: unit="item".')
    places = data.positions(rows)
    document, position = data.columns[fields.DOCUMENT], data.columns[fields.POSITION]
    inside: dict[str, list[tuple[float, str]]] = {}
    for item, place in zip(rows, places, strict=True):
        name = item if document[place] is None else str(document[place])
        inside.setdefault(name, []).append((float(np.nan_to_num(position[place])), item))
    return [TaskUnit(name, tuple(item for _, item in sorted(inside[name]))) for name in sorted(inside)]


def _limits(load: int | Mapping[str, int] | None, names: Sequence[str]) -> dict[str, float]:
    if load is None:
        return dict.fromkeys(names, float("inf"))
    limits = dict.fromkeys(names, load) if isinstance(load, int) else dict(load)
    for name in limits:
        if name not in names:
            raise UnknownNameError("rater", name, names)
    if any(limit < 1 for limit in limits.values()):
        raise UsageError("A rater takes at least one item: leave out raters who take none.")
    return {name: float(limits.get(name, np.inf)) for name in names}


def _ordered(handed: UnitLists, rater: str, rows: Mapping[str, _ChosenItem], seed: int) -> list[RaterTask]:
    """Return a rater's items, unit by unit in a drawn order, each unit in its own."""
    units = handed.units[rater]
    keys = rng.keys_of([f"{rater}\x1f{unit.name}" for unit in units])
    order = np.argsort(rng.stream(keys, seed, "raters order"), kind="stable")
    return [
        RaterTask(
            rater=rater,
            place=0,
            item=item,
            models=rows[item].models,
            unit=unit.name,
            shared=unit.name in handed.shared,
            context=rows[item].context,
        )
        for unit in (units[number] for number in order)
        for item in unit.items
    ]


def _shuffled_outputs(task: RaterTask, place: int, seed: int) -> RaterTask:
    """Return a task with its place and its outputs in a drawn order."""
    keys = rng.keys_of([f"{task.rater}\x1f{task.item}\x1f{model}" for model in task.models])
    order = np.argsort(rng.stream(keys, seed, "raters outputs"), kind="stable")
    return RaterTask(
        **{**vars(task), "place": place, "models": tuple(task.models[number] for number in order)}
    )


def _with_controls(
    lists: Mapping[str, list[RaterTask]], controls: EvalSet, data: EvalSet, seed: int
) -> dict[str, list[RaterTask]]:
    """Return the lists with control items, each in the list of a rater of its original item.

    It comes half a list after the original (or before it), between two units, so that documents stay whole.
    """
    longer = {name: list(tasks) for name, tasks in lists.items()}
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
        tasks = longer[rater]
        origin = next(place for place, task in enumerate(tasks) if task.item == control.original)
        spot = (origin + max(1, len(tasks) // 2)) % (len(tasks) + 1)
        while 0 < spot < len(tasks) and tasks[spot - 1].unit == tasks[spot].unit:
            spot += 1
        models = (control.model,)
        tasks.insert(spot, RaterTask(rater, 0, control.item, models, control.item, control=control.kind))
    return longer


def _unchecked(lists: Mapping[str, list[RaterTask]]) -> tuple[str, ...]:
    """Name the raters without a control item."""
    unchecked = [name for name, tasks in lists.items() if all(task.control is None for task in tasks)]
    return (f"no control items for {', '.join(unchecked)}: make more of them.",) if unchecked else ()


def _notes(handed: UnitLists, unit: str, shared: int) -> tuple[str, ...]:
    if len(handed.components) == 1:
        return ()
    raters = sum(map(len, handed.components))
    return (NOT_CONNECTED.format(shared=shared, unit=unit, raters=raters, needed=raters - 1),)
