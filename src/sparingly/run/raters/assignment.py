"""The assignment: who judges which item, in which order, and which order the outputs are shown in."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from operator import itemgetter
from typing import Any, Literal, get_args

import numpy as np

from sparingly.base import rng
from sparingly.base.checks import check_names
from sparingly.base.errors import MissingDataError, UsageError
from sparingly.base.summary import Summary, Tabular
from sparingly.base.syntax import argument, either
from sparingly.data import fields, schema
from sparingly.data.evalset import EvalSet
from sparingly.data.files import OwnFile
from sparingly.data.selection import Selection
from sparingly.data.store import as_ids
from sparingly.data.values import as_id, as_list, as_mapping, as_text, as_whole, check_version
from sparingly.infer.estimate.rater_effects import connected_groups
from sparingly.run.raters.controls import controls_of

FORMAT, VERSION = "sparingly/assignment", 1


@dataclass(frozen=True)
class RaterTask:
    """One item for one rater."""

    rater: str
    place: int  # its place in the rater's list, from 0
    item: schema.Id  # the item, or the control item
    models: tuple[schema.Id, ...]  # the models whose outputs are shown, in the order to show them
    unit: schema.Id  # what it was handed out with: the document, or the item itself
    shared: bool = False  # whether another rater judges it, too
    # The kind of a control item, which is never counted in estimates; None for the others.
    control: str | None = None
    context: tuple[schema.Id, ...] = ()  # items to show before it


@dataclass(frozen=True, eq=False, repr=False)
class Assignment(OwnFile, Tabular):
    """Tasks of all raters."""

    raters: tuple[str, ...]  # the raters, in the order of their names
    tasks: tuple[RaterTask, ...]  # their tasks, rater by rater, in the order of their lists
    # The raters that are connected through shared units, largest group first.
    components: tuple[tuple[str, ...], ...]
    unit: str  # what was assigned together: ``item`` or ``document``
    overlap: float  # the share of units that two raters judge, as it came out
    seed: int  # the seed of the draw
    selection: str  # the signature of the selection, as text
    notes: tuple[str, ...] = ()  # what to mind

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[RaterTask]:
        return iter(self.tasks)

    def __repr__(self) -> str:
        return f"Assignment({self.headline})"

    @property
    def headline(self) -> str:
        """The assignment in one line."""
        loads = self.loads.values()
        load = f"{min(loads)}" if min(loads) == max(loads) else f"{min(loads)} to {max(loads)}"
        return (
            f"{len(self.raters)} raters with {load} items each; {self.overlap:.0%} of the {self.unit}s shared"
        )

    def rows(self) -> list[dict[str, Any]]:
        """Return a row for each rater: how many items and control items."""
        return [
            {"rater": name, "items": self.loads[name], "controls": self.controls[name]}
            for name in self.raters
        ]

    def summary(self) -> Summary:
        """Return how much every rater has to judge, whether they can be compared, and what to do next."""
        sentences = [f"{self.headline}."]
        if len(self.raters) > 1:
            connected = "All" if self.is_connected else "Not all"
            sentences.append(f"{connected} raters are connected through shared {self.unit}s.")
        shared = {name: sum(task.shared for task in self.of(name)) for name in self.raters}
        return Summary(
            tuple(sentences),
            ("rater", "items", "of them shared", "control items"),
            tuple(
                (name, *map(str, (self.loads[name], shared[name], self.controls[name])))
                for name in self.raters
            ),
            next_steps=("sparingly serve DATA",),
            notes=self.notes,
        )

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
        check_names("rater", [rater], self.raters)
        return tuple(task for task in self.tasks if task.rater == rater)

    def _counts(self, *, controls: bool) -> dict[str, int]:
        counts = dict.fromkeys(self.raters, 0)
        for task in self.tasks:
            counts[task.rater] += (task.control is not None) == controls
        return counts

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values, as its file holds it."""
        names = ("unit", "overlap", "seed", "selection", "components", "notes")
        tasks = {name: [_plain(task) for task in self.of(name)] for name in self.raters}
        return {
            "format": FORMAT,
            "version": VERSION,
            **{name: schema.write(getattr(self, name)) for name in names},
            "raters": [{**row, "tasks": tasks[row["rater"]]} for row in self.rows()],
        }

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Assignment:
        """Make an assignment from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        rows = [as_mapping(row, "raters") for row in as_list(values.get("raters"), "raters")]
        names = [as_id(row.get("rater"), f"raters[{number}].rater") for number, row in enumerate(rows)]
        tasks = []
        for number, (name, row) in enumerate(zip(names, rows, strict=True)):
            field = f"raters[{number}].tasks"
            for place, task in enumerate(as_list(row.get("tasks"), field)):
                content = as_mapping(task, field)
                content = {"unit": content.get("item"), **content}
                tasks.append(schema.read(RaterTask, content, f"{field}[{place}]", rater=name, place=place))
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
    names = ("item", "models", "unit", "shared", "control", "context")
    values = {name: schema.write(getattr(task, name)) for name in names}
    return {name: value for name, value in values.items() if value not in (False, None, [])}


def _names(values: Any, field: str) -> list[str]:
    return [as_id(name, field) for name in as_list(values, field)]


# --- Units of raters: a connected graph of shared units first, then each to whoever has least ---


@dataclass(frozen=True)
class TaskUnit:
    """What is handed out together: a name, and items in order."""

    name: str
    items: tuple[str, ...]

    def __len__(self) -> int:
        return len(self.items)


class _GrowingLists:
    """The raters' lists while they fill."""

    def __init__(self, raters: Sequence[str], limits: Mapping[str, float]) -> None:
        self.raters, self.limits = list(raters), limits
        self.loads = dict.fromkeys(raters, 0)
        self.units: dict[str, list[TaskUnit]] = {name: [] for name in raters}
        self.together: Counter[tuple[str, ...]] = Counter()

    def with_room(self, unit: TaskUnit, count: int) -> list[str]:
        """Return the raters who can take a unit, those with least first; raise UsageError for too few."""
        free = [name for name in self.raters if self.loads[name] + len(unit) <= self.limits[name]]
        if len(free) < count:
            raise UsageError(
                f'No rater has room for "{unit.name}" with {len(unit)} items: '
                "raise the load, name more raters, or lower the overlap."
            )
        return sorted(free, key=lambda name: self.loads[name])

    def give(self, unit: TaskUnit, *raters: str) -> None:
        """Add a unit to the lists of raters."""
        for name in raters:
            self.loads[name] += len(unit)
            self.units[name].append(unit)
        if len(raters) > 1:
            self.together[tuple(sorted(raters))] += 1

    def share(self, unit: TaskUnit) -> None:
        """Give a unit to the two raters who have least; among equals to those who shared least."""
        first, *peers = self.with_room(unit, 2)
        second = min(peers, key=lambda name: (self.loads[name], self.together[tuple(sorted((first, name)))]))
        self.give(unit, first, second)


def hand_out(
    units: Sequence[TaskUnit], raters: Sequence[str], shared: int, limits: Mapping[str, float], seed: int
) -> tuple[dict[str, list[TaskUnit]], set[str], tuple[tuple[str, ...], ...]]:
    """Hand out units, so many of them to two raters each.

    Returns who has which units, the names of those that two raters have, and the groups of raters that are
    connected by these.

    The first shared units make a chain through all raters, which is connected with one unit fewer than
    raters; the others go where least is. Then the rest, the largest first, each to the rater with least:
    loads then differ by at most the largest unit.
    """
    judgements = sum(map(len, units)) * (1.0 + shared / len(units))
    room = sum(limits[name] for name in raters)
    if room < judgements:
        raise UsageError(
            f"The raters take {room:g} items together, and {judgements:.0f} are to be judged, shared ones "
            "twice: raise the load, name more raters, or choose fewer items."
        )
    order = _drawn_order([unit.name for unit in units], seed, "raters units")
    shuffled = [units[number] for number in order]
    chain_order = _drawn_order(raters, seed, "raters chain")
    table = _GrowingLists([raters[number] for number in chain_order], limits)
    twice, once = shuffled[:shared], shuffled[shared:]
    chain = list(pairwise(table.raters))
    for place, unit in enumerate(twice):
        pair = chain[place] if place < len(chain) else ()
        if pair and all(table.loads[name] + len(unit) <= limits[name] for name in pair):
            table.give(unit, *pair)
        else:
            table.share(unit)
    for unit in sorted(once, key=lambda unit: -len(unit)):
        table.give(unit, table.with_room(unit, 1)[0])
    lists = {name: table.units[name] for name in raters}
    return lists, {unit.name for unit in twice}, connected_groups(raters, table.together)


UnitKind = Literal["item", "document"]
NOT_CONNECTED = (
    "{shared} shared {unit}s do not connect {raters} raters, which takes {needed} or more: raise the overlap "
    "or severities of some raters can be compared only if items were assigned at random."
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
        load: The most items that a rater takes: one number for all, or by name; default: no limit.
        unit: What one rater gets together: an ``item``, or a ``document``.
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
    if not names:
        raise UsageError(f"Name the raters: {either('--raters anna,ben', 'raters=[…]')}.")
    if not 0.0 <= overlap <= 1.0:
        raise UsageError(f"The overlap is a share between 0 and 1, not {overlap}.")
    check_names("unit", [unit], get_args(UnitKind))
    models, context = _chosen_items(selection, data)
    units = _units(list(models), data, unit)
    shared = round(overlap * len(units)) if len(names) > 1 else 0
    units_of, shared_units, components = hand_out(units, names, shared, _limits(load, names), seed)
    lists: dict[str, list[RaterTask]] = {}
    for name, own_units in units_of.items():
        # Unit by unit in a drawn order, each unit in its own.
        order = _drawn_order([f"{name}\x1f{task_unit.name}" for task_unit in own_units], seed, "raters order")
        lists[name] = [
            RaterTask(
                rater=name,
                place=0,
                item=item,
                models=models[item],
                unit=task_unit.name,
                shared=task_unit.name in shared_units,
                context=context[item],
            )
            for task_unit in (own_units[number] for number in order)
            for item in task_unit.items
        ]
    notes = []
    if len(components) > 1:
        notes.append(NOT_CONNECTED.format(shared=shared, unit=unit, raters=len(names), needed=len(names) - 1))
    if controls is not None:
        _add_controls(lists, controls, data, seed)
        unchecked = [name for name in names if all(task.control is None for task in lists[name])]
        if unchecked:
            notes.append(f"no control items for {', '.join(unchecked)}: make more of them.")
    return Assignment(
        raters=tuple(names),
        tasks=_placed(lists, names, seed),
        components=components,
        unit=unit,
        overlap=shared / len(units),
        seed=seed,
        selection=str(selection.signature),
        notes=tuple(notes),
    )


def _placed(
    lists: Mapping[str, Sequence[RaterTask]], names: Sequence[str], seed: int
) -> tuple[RaterTask, ...]:
    """Return the tasks of all raters, each with its place in its list and its outputs in a drawn order."""
    place_tasks = [(place, task) for name in names for place, task in enumerate(lists[name])]
    # One stream for all outputs of all tasks: a stream for each task would take most of the time.
    keys = [f"{task.rater}\x1f{task.item}\x1f{model}" for _, task in place_tasks for model in task.models]
    draws = rng.stream(rng.keys_of(keys), seed, "raters outputs").tolist()
    tasks, start = [], 0
    for place, task in place_tasks:
        stop = start + len(task.models)
        pairs = zip(draws[start:stop], task.models, strict=True)
        shown_models = tuple(model for _, model in sorted(pairs, key=itemgetter(0)))
        tasks.append(replace(task, place=place, models=shown_models))
        start = stop
    return tuple(tasks)


def _drawn_order(keys: Sequence[str], seed: int, purpose: str) -> list[int]:
    return [int(place) for place in np.argsort(rng.stream(rng.keys_of(keys), seed, purpose), kind="stable")]


def _chosen_items(
    selection: Selection, data: EvalSet
) -> tuple[dict[str, tuple[str, ...]], dict[str, tuple[str, ...]]]:
    """Return the models to judge on every chosen item, and its context, over all rows of the item."""
    data.positions(selection.items)
    models: dict[str, set[str]] = {}
    context: dict[str, tuple[str, ...]] = {}
    for row in selection:
        names = row.pair if row.pair is not None else row.models
        models.setdefault(row.item, set()).update(data.models if names is None else names)
        context[row.item] = max(context.get(row.item, ()), row.context, key=len)
    if not models:
        raise UsageError("The selection is empty, so there is nothing to assign.")
    return {item: tuple(sorted(models[item])) for item in sorted(models)}, context


def _units(items: Sequence[str], data: EvalSet, unit: str) -> list[TaskUnit]:
    if unit == "item":
        return [TaskUnit(item, (item,)) for item in items]
    if fields.DOCUMENT not in data.columns:
        raise MissingDataError(f"The set has no documents. Assign items instead: {argument('unit', 'item')}.")
    document, position = data.columns[fields.DOCUMENT], data.columns[fields.POSITION]
    inside: dict[str, list[tuple[float, str]]] = {}
    for item, place in zip(items, data.positions(items), strict=True):
        name = item if document[place] is None else str(document[place])
        inside.setdefault(name, []).append((float(np.nan_to_num(position[place])), item))
    return [TaskUnit(name, tuple(item for _, item in sorted(inside[name]))) for name in sorted(inside)]


def _limits(load: int | Mapping[str, int] | None, names: Sequence[str]) -> dict[str, float]:
    if load is None:
        return dict.fromkeys(names, float("inf"))
    limits = dict.fromkeys(names, load) if isinstance(load, int) else dict(load)
    check_names("rater", limits, names)
    if any(limit < 1 for limit in limits.values()):
        raise UsageError("A rater takes at least one item: leave out raters who take none.")
    return {name: float(limits.get(name, np.inf)) for name in names}


def _add_controls(lists: Mapping[str, list[RaterTask]], controls: EvalSet, data: EvalSet, seed: int) -> None:
    """Add control items, each to the list of a rater of its original item.

    It comes half a list after the original (or before it), between two units, so that documents stay whole.
    """
    for control in controls_of(controls, data):
        holders = [name for name in lists if any(task.item == control.original for task in lists[name])]
        if not holders:
            raise UsageError(
                f'The control item "{control.item}" was made from "{control.original}", which no rater has.'
            )
        draw = rng.stream(
            rng.keys_of([f"{name}\x1f{control.item}" for name in holders]), seed, "raters controls"
        )
        rater = holders[int(np.argmin(draw))]
        tasks = lists[rater]
        origin = next(place for place, task in enumerate(tasks) if task.item == control.original)
        spot = (origin + max(1, len(tasks) // 2)) % (len(tasks) + 1)
        while 0 < spot < len(tasks) and tasks[spot - 1].unit == tasks[spot].unit:
            spot += 1
        models = (control.model,)
        tasks.insert(spot, RaterTask(rater, 0, control.item, models, control.item, control=control.kind))
