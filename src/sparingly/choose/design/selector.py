"""What every selector is: it turns data and a budget into chosen items."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, replace
from pathlib import Path
from threading import Lock
from typing import Any, ClassVar, Literal, Self, TypeVar
from weakref import WeakKeyDictionary

import numpy as np

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import UnknownNameError, UsageError, listing
from sparingly.base.registry import Method, parameter
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.units import Groups, Units, document_units, groups_by, item_units
from sparingly.data import fields
from sparingly.data.evalset import EvalSet, Store
from sparingly.signals.cost import SECONDS, cost_fields, item_costs, resolve_cost

Unit = Literal["item", "document"]
COST_HELP = "the cost: a column, length, or fit (seconds of the set's own ratings)"


@dataclass(frozen=True, eq=False)
class Chosen:
    """What a selector chose: rows of the evaluation set, best first, and what is known of each.

    A row is an item, or an item with some of the models where ``models`` names them (a tuple; None for all).
    ``unit`` is the id of what was drawn where that is not the item itself, ``stratum`` the group it was drawn
    in, and ``pool_probability`` the first factor of ``probability`` where the design drew in two phases.
    ``context`` names the items to show before a row. ``pairs`` names the two models to compare on each row,
    where these are what is judged. ``shut`` are rows that the method by its own rules can never choose: like
    items on a never-select list, they are not what the selection speaks for. ``same_outputs`` are rows that
    were skipped because all models wrote the same: only differences between models are spoken for.
    """

    rows: Ints
    utility: Floats | None = None
    probability: Floats | None = None
    pool_probability: Floats | None = None
    stratum: Objects | None = None
    unit: Objects | None = None
    models: Objects | None = None
    pairs: Objects | None = None
    context: Objects | None = None
    shut: Ints | None = None
    same_outputs: Ints | None = None
    cluster_weight: Floats | None = None
    cost: Floats | None = None
    cost_unit: str = ""
    mean_cost: float | None = None
    reason: str = ""
    reasons: Objects | None = None
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class Selector(Method, ABC):
    """Turns data and a budget into a selection."""

    kind: ClassVar[str] = "selector"

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Return the selector with every choice that depends on the data made, or say what is missing."""
        return self

    @property
    def is_nested(self) -> bool:
        """Whether what it chooses under a small count is part of what it chooses under a larger one."""
        return False

    @abstractmethod
    def reads(self, data: EvalSet) -> frozenset[str]:
        """Return the fields that the selector reads; it is shown no others."""

    @abstractmethod
    def choose(self, data: EvalSet, budget: Budget, candidates: Ints, seed: int) -> Chosen:
        """Choose among the candidate rows."""


@dataclass(frozen=True, kw_only=True)
class ListSelector(Selector):
    """A selector that walks down a list of units, within groups, until the budget is spent."""

    balance: str | None = parameter(None, "a column of the items: equal numbers from each of its groups")
    quota: Literal["equal", "share"] = parameter("equal", "groups get equal parts, or parts by their size")
    unit: Literal["item", "document"] = parameter("item", "what is chosen: items or whole documents")
    cost: str | None = parameter(None, COST_HELP)

    def resolve(self, data: EvalSet, budget: Budget) -> Self:
        """Resolve the cost; raise UnknownNameError for a column to balance over that is missing."""
        if self.balance is not None and self.balance not in data.columns:
            raise UnknownNameError("column", self.balance, data.columns, "It is the column to balance over.")
        return replace(self, cost=cost_to_count(data, budget, self.cost))

    def reads(self, data: EvalSet) -> frozenset[str]:
        """Read the columns of the groups, the documents and the costs."""
        groups = set() if self.balance is None else {fields.column(self.balance)}
        return unit_fields(data, self.unit, self.cost) | (groups & set(data.fields))

    @property
    def is_nested(self) -> bool:
        """Single items without groups are taken from one list."""
        return self.unit == "item" and self.balance is None

    def units_of(self, data: EvalSet, candidates: Ints) -> tuple[Units, Groups]:
        """Return the units to draw and their groups."""
        units = units_of(data, candidates, self.unit)
        if self.balance is None:
            return units, Groups(("all",), np.zeros(len(units), np.int64))
        return units, groups_by(data, units, self.balance)

    def costs_of(self, data: EvalSet) -> tuple[Floats | None, str]:
        """Return the cost of every item and its unit, where a cost is named."""
        return (None, "") if self.cost is None else item_costs(data, self.cost)

    def group_shares(self, units: Units, groups: Groups) -> Floats:
        """Return the part of the budget that every group is meant to get."""
        sizes = groups.totals(units.sizes)
        return (sizes > 0).astype(np.float64) if self.quota == "equal" else sizes


def units_of(data: EvalSet, rows: Ints, unit: Unit) -> Units:
    """Return the units of some items: single ones, or whole documents."""
    return item_units(data, rows) if unit == "item" else document_units(data, rows)


def unit_fields(data: EvalSet, unit: Unit, cost: str | None) -> frozenset[str]:
    """Return the fields that units and their costs are made from."""
    names = set() if cost is None else set(cost_fields(cost))
    if unit == "document":
        names |= {fields.column(fields.DOCUMENT), fields.column(fields.POSITION)}
    return frozenset(names & set(data.fields))


def cost_to_count(data: EvalSet, budget: Budget, cost: str | None) -> str | None:
    """Return the cost of a design: the one named, or the cost column where the budget is a cost."""
    if cost is not None:
        item_costs(data, cost)
        return resolve_cost(data, cost)
    if budget.kind != "cost":
        return None
    if fields.COST in data.columns:
        return fields.COST
    raise UsageError(
        "A cost budget needs costs: give the items a cost column, or name one with cost= "
        "(a column, length for seconds from the length of the source, or fit for seconds learned "
        "from ratings)."
    )


def cost_columns(costs: Floats | None, unit: str, rows: Ints, candidates: Ints) -> dict[str, Any]:
    """Return what a selection says of the costs of its rows, where costs are named."""
    if costs is None:
        return {}
    return {"cost": costs[rows], "cost_unit": unit, "mean_cost": float(costs[candidates].mean())}


def chances_note(chances: Floats, unit: str) -> str:
    """Return a note on the range of the inclusion probabilities."""
    low, high = float(chances.min()), float(chances.max())
    if high - low <= 1e-12:
        return f"every {unit} had the inclusion probability {high:.4g}."
    return f"inclusion probabilities lie between {low:.4g} and {high:.4g}."


def amount_text(total: float, unit: str) -> str:
    """Write an amount of cost: seconds as hours."""
    return f"{total / 3600:.2f} hours" if unit == SECONDS else f"{total:.6g}"


def short_groups_note(groups: Groups, quota: Floats, count: Floats, noun: str) -> tuple[str, ...]:
    """Return a note on groups that were smaller than their quota."""
    short = [name for name, more, less in zip(groups.names, quota, count, strict=True) if less < more - 1e-9]
    if not short:
        return ()
    verb = "has" if len(short) == 1 else "have"
    return (f"{listing(short)} {verb} less than an equal quota of {noun}; the other groups took the rest.",)


Value = TypeVar("Value")
_CACHED_ANSWERS = 4
_answers_of: WeakKeyDictionary[Store, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()
_lock = Lock()


@dataclass(frozen=True)
class WholeSetSelector(Selector):
    """A selector whose items are chosen together, so many of them."""

    def count(self, budget: Budget, candidates: Ints) -> int:
        """Return how many items to choose; a cost is refused."""
        if budget.kind == "cost":
            raise UsageError(
                f"The method {self.name} chooses a number of items, so its budget is a count or a share, "
                f"not {budget}."
            )
        return budget.count_of(len(candidates))


def remembered(data: EvalSet, key: tuple[Any, ...], make: Callable[[], Value]) -> Value:
    """Return what ``make`` gives for this view of a set, made once for as long as the set is in use.

    Nothing in a set can be written to, so the same items, models and fields of it mean the same answer. Only
    the last few answers are kept: enough for a sweep over budgets.
    """
    whole_key = (data.keys.tobytes(), data.models, frozenset(data.fields), *key)
    with _lock:
        answers = _answers_of.setdefault(data.store, {})
        if whole_key in answers:
            answers[whole_key] = answers.pop(whole_key)
            return answers[whole_key]  # type: ignore[no-any-return]
    answer = make()
    with _lock:
        answers[whole_key] = answer
        while len(answers) > _CACHED_ANSWERS:
            del answers[next(iter(answers))]
    return answer


def file_stamp(name: str) -> tuple[int, int] | None:
    """Return what changes when a file does, or None where there is no such file."""
    path = Path(name.partition("#")[0])
    if not path.is_file():
        return None
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size


# --- a parameter that is called kind, beside the kind of the method itself ---
# Every method class has a kind (``SubsetSearch.kind`` is "selector"), and some methods have a parameter of
# that name (``search:kind=beam``). The class shows the one, its instances the other.


class _Kind(str):
    """The parameter's default, which on the class stands for the kind of the method."""

    __slots__ = ("method_kind",)
    method_kind: str

    def __get__(self, instance: object | None, owner: type | None = None) -> str:
        return self.method_kind if instance is None else str(vars(instance)["kind"])

    def __set__(self, instance: object, value: str) -> None:
        vars(instance)["kind"] = value


def kind_parameter(default: str, help: str, method_kind: str = "selector") -> Any:
    """Declare the parameter ``kind`` of a method class."""
    kind = _Kind(default)
    kind.method_kind = method_kind
    return parameter(kind, help)
