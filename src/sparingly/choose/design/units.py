"""What is drawn: items or whole documents, and the groups between which a budget is balanced."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.format import counted
from sparingly.base.syntax import lacking
from sparingly.base.text import format_number
from sparingly.data import fields
from sparingly.data.evalset import EvalSet
from sparingly.data.texts import same_text


@dataclass(frozen=True, eq=False)
class Units:
    """The units of a draw: for every candidate item its unit, and for every unit its id, key and size.

    ``rows`` are the candidate items; ``of_row`` tells the unit of each; within a unit the rows stand in the
    order of their positions.
    """

    rows: Ints
    of_row: Ints
    names: Sequence[str] | Objects
    sizes: Floats
    are_items: bool
    find_keys: Callable[[], rng.Keys]

    def __len__(self) -> int:
        return len(self.sizes)

    @cached_property
    def keys(self) -> rng.Keys:
        """The random key of every unit, found when it is first needed."""
        return self.find_keys()

    def keys_at(self, places: Ints) -> rng.Keys:
        """Return the keys of some units without finding those of all, where they are few."""
        if 2 * len(places) > len(self):
            return self.keys[places]
        return rng.keys_of([self.names[place] for place in places])

    def total(self, values: Floats) -> Floats:
        """Return the sum of a value per candidate item over every unit."""
        if self.are_items:
            return values
        return np.bincount(self.of_row, values, minlength=len(self)).astype(np.float64)

    def mean(self, values: Floats) -> Floats:
        """Return the mean of a value over every unit's items, those without the value left out."""
        if self.are_items:
            return values
        present = ~np.isnan(values)
        counts = np.bincount(self.of_row[present], minlength=len(self))
        sums = np.bincount(self.of_row[present], values[present], minlength=len(self))
        return np.where(counts > 0, sums / np.maximum(counts, 1), np.nan)

    def rows_of(self, units: Ints) -> Ints:
        """Return the items of some units, in the order of the units."""
        if self.are_items:
            return np.asarray(self.rows[units])
        by_unit = np.argsort(self.of_row, kind="stable")
        starts = np.searchsorted(self.of_row[by_unit], np.arange(len(self) + 1))
        return np.concatenate([self.rows[by_unit[starts[unit] : starts[unit + 1]]] for unit in units])


def places_within(sizes: Ints) -> Ints:
    """Return where every item stands in its unit, units of these sizes one after the other."""
    return np.asarray(np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes))


def random_order(keys: rng.Keys, seed: int) -> Ints:
    """Return the order of what was drawn: random, so that whoever stops early has judged a random part."""
    return np.argsort(rng.stream(keys, seed, "order of the drawn"), kind="stable")


def item_units(data: EvalSet, rows: Ints) -> Units:
    """Return units that are single items."""
    ids = data.items if len(rows) == len(data) else data.items[rows]
    places, sizes = np.arange(len(rows)), np.ones(len(rows))
    return Units(rows, places, ids, sizes, True, lambda: data.keys[rows])


def document_units(data: EvalSet, rows: Ints) -> Units:
    """Return units that are whole documents; every item must be in one."""
    if fields.DOCUMENT not in data.columns:
        raise MissingDataError(f"Choosing whole documents needs documents, {lacking('documents')}")
    documents = data.columns[fields.DOCUMENT][rows]
    lost = [data.items[row] for row, name in zip(rows, documents, strict=True) if name is None]
    if lost:
        count_text = counted(len(lost), "item is", "items are")
        raise DataError(f'{count_text} in no document, such as "{lost[0]}". Give each a document.')
    positions = data.columns[fields.POSITION][rows]
    names, of_row = np.unique(documents.astype(str), return_inverse=True)
    order = np.lexsort((positions, of_row))
    ids = [str(name) for name in names]
    sizes = np.bincount(of_row).astype(np.float64)
    return Units(rows[order], of_row[order], ids, sizes, False, lambda: rng.keys_of(ids))


@dataclass(frozen=True, eq=False)
class Groups:
    """Groups of units, strata or those between which a budget is balanced: their names, and each unit's."""

    names: tuple[str, ...]
    of_unit: Ints

    @property
    def sizes(self) -> Floats:
        """The number of units of every group."""
        return self.totals(np.ones(len(self.of_unit)))

    @property
    def labels(self) -> Objects:
        """The name of every unit's group."""
        return np.array(self.names, object)[self.of_unit]

    def split(self, order: Ints) -> list[Ints]:
        """Return the units of every group, each in the given order."""
        grouped = order[np.argsort(self.of_unit[order], kind="stable")]
        sizes = np.bincount(self.of_unit, minlength=len(self.names))
        return np.split(grouped, np.cumsum(sizes)[:-1])

    def totals(self, values: Floats) -> Floats:
        """Return the sum of a value per unit over every group."""
        return np.bincount(self.of_unit, values, minlength=len(self.names)).astype(np.float64)

    def deviations(self, values: Floats) -> Floats:
        """Return σ_l, the population standard deviation of a value within every group."""
        centred = values - (self.totals(values) / self.sizes)[self.of_unit]
        return np.sqrt(self.totals(centred**2) / self.sizes)


def groups_by(data: EvalSet, units: Units, column: str) -> Groups:
    """Return the groups of a column; a document must lie in one group."""
    labels = np.array([_label(value) for value in data.columns[column][units.rows]], np.str_)
    names, codes = np.unique(labels, return_inverse=True)
    if units.are_items:
        return Groups(tuple(str(name) for name in names), codes.astype(np.int64))
    low = np.full(len(units), len(names))
    high = np.full(len(units), -1)
    np.minimum.at(low, units.of_row, codes)
    np.maximum.at(high, units.of_row, codes)
    if (low != high).any():
        torn = units.names[int(np.flatnonzero(low != high)[0])]
        raise DataError(
            f'The document "{torn}" lies in several groups of "{column}", so it cannot be balanced.'
        )
    return Groups(tuple(str(name) for name in names), low.astype(np.int64))


def _label(value: object) -> str:
    if value is None or (isinstance(value, float) and np.isnan(value)):
        return "(none)"
    return format_number(float(value)) if isinstance(value, float) else str(value)


def quotas(budget: float, capacities: Floats, shares: Floats, *, integral: bool) -> Floats:
    """Divide a budget between groups by shares; what a small group cannot take goes to the others.

    Water-filling: groups whose share exceeds what they hold are filled, and the rest is divided again. With
    ``integral`` the quotas are whole numbers by the largest remainder (ties to the larger group, then the
    first).
    """
    result = np.zeros(len(capacities))
    open_groups = capacities > 0
    remaining = min(budget, float(capacities.sum()))
    while remaining > 0 and open_groups.any():
        part = np.where(open_groups, shares, 0.0)
        offered = remaining * part / part.sum()
        is_full = open_groups & (offered >= capacities - result)
        if not is_full.any():
            result += offered
            break
        remaining -= float((capacities - result)[is_full].sum())
        result[is_full] = capacities[is_full]
        open_groups &= ~is_full
    if not integral:
        return result
    floors = np.floor(result + 1e-9)
    missing = round(min(budget, float(capacities.sum()))) - int(floors.sum())
    order = np.lexsort((np.arange(len(result)), -capacities, -(result - floors)))
    floors[[group for group in order if floors[group] < capacities[group]][:missing]] += 1
    return floors


def rows_with_same_outputs(data: EvalSet, candidates: Ints) -> Ints:
    """Return the candidates on which every model gave the same text; a missing output is none."""
    if data.outputs is None:
        raise MissingDataError("There are no outputs to compare: leave out same_outputs=skip.")
    if len(data.models) < 2:
        raise UsageError("With one model all outputs of an item are the same: leave out same_outputs=skip.")
    outputs = data.outputs[candidates]
    is_same = np.array([row[0] is not None and len(set(map(same_text, row))) == 1 for row in outputs], bool)
    if is_same.all():
        raise UsageError("On every item all models wrote the same, so there is nothing to judge.")
    return np.asarray(candidates[is_same])


def skipped_note(count: int) -> str:
    """Return a note on how many items are skipped, and what that means."""
    if not count:
        return "no item has the same output of all models, so none is skipped."
    items, verb = ("1 item", "is") if count == 1 else (f"{count} items", "are")
    return (
        f"{items} on which all models wrote the same {verb} skipped: there, differences are 0 and scores "
        "stay unknown."
    )
