"""The assignment: who judges which item, in which order, and which order the outputs are shown in."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from sparingly.base.errors import InputError, UnknownNameError
from sparingly.base.format import html_table
from sparingly.data import files
from sparingly.data.values import as_id, as_list, as_mapping, as_text, as_whole, check_version

FORMAT, VERSION = "sparingly/assignment", 1


@dataclass(frozen=True)
class Task:
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
    item: str
    models: tuple[str, ...]
    unit: str
    shared: bool = False
    control: str | None = None
    context: tuple[str, ...] = ()


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
    tasks: tuple[Task, ...]
    components: tuple[tuple[str, ...], ...]
    unit: str
    overlap: float
    seed: int
    selection: str
    notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.tasks)

    def __iter__(self) -> Iterator[Task]:
        return iter(self.tasks)

    def __repr__(self) -> str:
        return f"Assignment({self.headline})"

    @property
    def headline(self) -> str:
        """What was handed out, in one line."""
        loads = self.loads.values()
        each = f"{min(loads)}" if min(loads) == max(loads) else f"{min(loads)} to {max(loads)}"
        return (
            f"{len(self.raters)} raters with {each} items each; {self.overlap:.0%} of the {self.unit}s shared"
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

    def of(self, rater: str) -> tuple[Task, ...]:
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
        try:
            return cls.from_dict(as_mapping(files.read_json(Path(path)), "assignment"))
        except InputError as error:
            raise error.at(file=Path(path)) from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Assignment:
        """Make an assignment from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        rows = [as_mapping(row, "raters") for row in as_list(values.get("raters"), "raters")]
        names = [as_id(row.get("rater"), f"raters[{place}].rater") for place, row in enumerate(rows)]
        tasks = [
            _task(name, at, as_mapping(task, f"raters[{place}].tasks"), f"raters[{place}].tasks[{at}]")
            for place, (name, row) in enumerate(zip(names, rows, strict=True))
            for at, task in enumerate(as_list(row.get("tasks"), f"raters[{place}].tasks"))
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


def _plain(task: Task) -> dict[str, Any]:
    values: dict[str, Any] = {"item": task.item, "models": list(task.models), "unit": task.unit}
    if task.shared:
        values["shared"] = True
    if task.control is not None:
        values["control"] = task.control
    if task.context:
        values["context"] = list(task.context)
    return values


def _task(rater: str, place: int, values: dict[str, Any], field: str) -> Task:
    item = as_id(values.get("item"), f"{field}.item")
    return Task(
        rater=rater,
        place=place,
        item=item,
        models=tuple(_names(values.get("models"), f"{field}.models")),
        unit=as_text(values.get("unit"), f"{field}.unit") or item,
        shared=values.get("shared") is True,
        control=as_text(values.get("control"), f"{field}.control"),
        context=tuple(_names(values.get("context"), f"{field}.context")),
    )


def _names(values: Any, field: str) -> list[str]:
    return [as_id(name, field) for name in as_list(values, field)]
