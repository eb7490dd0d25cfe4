"""The selection: which items to judge, in which order, why, and with which inclusion probabilities."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from sparingly.base.arrays import Floats, Mask, Objects
from sparingly.base.errors import InputError
from sparingly.base.format import counted, html_table
from sparingly.base.registry import Method
from sparingly.data import files
from sparingly.data.signature import Signature
from sparingly.data.values import as_id, as_list, as_mapping, as_number, as_text, check_version, plain, shown

FORMAT, VERSION = "sparingly/selection", 1
RANKING_ONLY = "ranking only: scores are of the selected items, not of the test set"


@dataclass(frozen=True)
class Row:
    """One row of a selection: an item with the models to judge on it, or a pair of models.

    Attributes:
        item: The item's id.
        models: The models to judge; None means all of them.
        pair: The two models to compare, or None.
        probability: The row's inclusion probability; None for the top of a list, which has none.
        pool_probability: The chance of the first phase, a factor of the probability; None without a pool.
        weight: The design weight, one over the probability.
        stratum: The group within which it was drawn, or None.
        unit: The id of what was drawn (a document, a snippet) where that is not the item itself, or None.
        cluster_weight: How many items it stands for by a cluster: good for rankings, no design weight.
        utility: How much judging it teaches, as the method saw it.
        cost: What judging it costs.
        context: Items to show before it.
        reason: Why it was chosen.
    """

    item: str
    models: tuple[str, ...] | None = None
    pair: tuple[str, str] | None = None
    probability: float | None = None
    pool_probability: float | None = None
    weight: float | None = None
    stratum: str | None = None
    unit: str | None = None
    cluster_weight: float | None = None
    utility: float | None = None
    cost: float | None = None
    context: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Rows in order, best first, with the signature from which they can be re-derived.

    Columns are arrays with one value per row, or None where the method gives none. ``pool`` holds the ids of
    the selection that this one chose from, ``never`` those that were not to be chosen, ``same_outputs`` those
    that were skipped because all models wrote the same: there, differences are 0. ``why`` says in two
    sentences why the method was taken, where none was named. ``method`` is the method itself, as long as the
    selection is in memory: in a file, the signature names it. What a file says beyond that, as a whole
    (``unknown``) and of its rows (``unknown_in_rows``), is kept when it is saved.
    """

    items: Objects
    signature: Signature
    utility: Floats | None = None
    probability: Floats | None = None
    pool_probability: Floats | None = None
    stratum: Objects | None = None
    unit: Objects | None = None
    cluster_weight: Floats | None = None
    cost: Floats | None = None
    models: Objects | None = None
    pairs: Objects | None = None
    context: Objects | None = None
    reasons: Objects | None = None
    reason: str = ""
    cost_unit: str = ""
    notes: tuple[str, ...] = ()
    pool: Objects | None = None
    never: tuple[str, ...] = ()
    same_outputs: tuple[str, ...] = ()
    why: str = ""
    method: Method | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)
    unknown_in_rows: Objects | None = None

    def __post_init__(self) -> None:
        for part in fields(self):
            if isinstance(value := getattr(self, part.name), np.ndarray):
                value.flags.writeable = False

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[Row]:
        return (self.row(place) for place in range(len(self)))

    def __repr__(self) -> str:
        return f"Selection({len(self)} of {self.signature.of} items; {self.signature})"

    def _repr_html_(self) -> str:
        first_rows = [self.row(place) for place in range(min(10, len(self)))]
        rows = [
            (place + 1, row.item, row.utility, row.probability, row.reason)
            for place, row in enumerate(first_rows)
        ]
        more = f"… and {len(self) - len(first_rows)} more. " if len(self) > len(first_rows) else ""
        return html_table(
            ("", "item", "utility", "probability", "reason"),
            rows,
            f"{len(self)} of {self.signature.of} items",
            f"{more}{self.signature}",
        )

    @property
    def is_probability_sample(self) -> bool:
        """Whether every row has a known inclusion probability, so that scores can be estimated."""
        return self.probability is not None

    @property
    def has_unequal_weights(self) -> bool:
        """Whether the rows have inclusion probabilities that differ."""
        return self.probability is not None and float(np.ptp(self.probability)) > 1e-12

    @property
    def meaning(self) -> str:
        """What scores of the chosen items may be used for, in words."""
        if not self.is_probability_sample:
            return RANKING_ONLY
        weighted = ", weighted by one over the probabilities," if self.has_unequal_weights else ""
        exception = " without the items that are never chosen" if self.never else ""
        if self.same_outputs:
            return (
                f"probability sample: differences between models{weighted} estimate the whole set{exception}"
            )
        return f"probability sample: scores{weighted} estimate the whole set{exception}"

    @property
    def weight(self) -> Floats | None:
        """The design weights, one over the inclusion probabilities."""
        return None if self.probability is None else np.asarray(1.0 / self.probability)

    @property
    def judged(self) -> tuple[str, ...] | None:
        """The models that the rows ask to judge, in the order of their names; None where all of them are."""
        if self.models is None or any(names is None for names in self.models):
            return None
        return tuple(sorted(set().union(*self.models)))

    def model_mask(self, models: Sequence[str]) -> Mask:
        """Return rows × models: which models each row asks for; a pair asks for both of its models."""
        mask: Mask = np.ones((len(self), len(models)), bool)
        names_by_row = self.models if self.pairs is None else self.pairs
        if names_by_row is not None:
            columns = {name: column for column, name in enumerate(models)}
            for row, names in enumerate(names_by_row):
                if names is not None:
                    mask[row] = False
                    mask[row, [columns[name] for name in names if name in columns]] = True
        return mask

    @property
    def total_cost(self) -> float | None:
        """What judging all rows costs."""
        return None if self.cost is None else float(self.cost.sum())

    def row(self, place: int) -> Row:
        """Return one row."""
        probability = _at(self.probability, place)
        return Row(
            item=self.items[place],
            models=None if self.models is None else self.models[place],
            pair=None if self.pairs is None else self.pairs[place],
            probability=probability,
            pool_probability=_at(self.pool_probability, place),
            stratum=None if self.stratum is None else self.stratum[place],
            unit=None if self.unit is None else self.unit[place],
            weight=None if probability is None else 1.0 / probability,
            cluster_weight=_at(self.cluster_weight, place),
            utility=_at(self.utility, place),
            cost=_at(self.cost, place),
            context=() if self.context is None else tuple(self.context[place] or ()),
            reason=self.reason if self.reasons is None else self.reasons[place],
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the selection as plain values, as its file holds it."""
        return {
            "format": FORMAT,
            "version": VERSION,
            "signature": self.signature.to_dict(),
            "kind": "probability sample" if self.is_probability_sample else RANKING_ONLY,
            "cost": plain(self.total_cost),
            "cost_unit": self.cost_unit or None,
            "notes": list(self.notes),
            "reason": self.reason,
            "never": list(self.never),
            **({"same_outputs": list(self.same_outputs)} if self.same_outputs else {}),
            **({"why": self.why} if self.why else {}),
            "pool": None if self.pool is None else list(self.pool),
            **self.unknown,
            "rows": [self._row_to_dict(place) for place in range(len(self))],
        }

    def _row_to_dict(self, place: int) -> dict[str, Any]:
        row = self.row(place)
        values: dict[str, Any] = {**vars(row), "reason": None if row.reason == self.reason else row.reason}
        values |= {name: list(values[name] or ()) or None for name in ("models", "pair", "context")}
        known = {name: value for name, value in values.items() if value is not None}
        return known if self.unknown_in_rows is None else {**known, **self.unknown_in_rows[place]}

    def save(self, path: str | Path) -> None:
        """Write the selection as JSON, whole or not at all."""
        files.write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Selection:
        """Read a selection from its file."""
        path = Path(path)
        try:
            return cls.from_dict(as_mapping(files.read_json(path), "selection"))
        except InputError as error:
            raise error.at(file=path) from None

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Selection:
        """Make a selection from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        rows = [
            as_mapping(row, f"rows[{place}]") for place, row in enumerate(as_list(values.get("rows"), "rows"))
        ]
        ids = [as_id(row.get("item"), f"rows[{place}].item") for place, row in enumerate(rows)]
        if twice := _first_twice(ids, rows):
            raise InputError(f'the item "{twice}" is there twice', field="rows")
        common = as_text(values.get("reason"), "reason") or ""
        reasons = [_reason(row, f"rows[{place}].reason", common) for place, row in enumerate(rows)]
        made = cls(
            items=np.array(ids, object),
            signature=Signature.from_dict(values.get("signature")),
            utility=_numbers(rows, "utility"),
            probability=_probabilities(rows, "probability"),
            pool_probability=_probabilities(rows, "pool_probability"),
            stratum=_labels(rows, "stratum"),
            unit=_labels(rows, "unit"),
            cluster_weight=_numbers(rows, "cluster_weight"),
            cost=_numbers(rows, "cost"),
            models=_tuples(rows, "models"),
            pairs=_tuples(rows, "pair"),
            context=_tuples(rows, "context"),
            reasons=np.array(reasons, object) if any(reason != common for reason in reasons) else None,
            reason=common,
            cost_unit=as_text(values.get("cost_unit"), "cost_unit") or "",
            notes=tuple(as_text(note, "notes") or "" for note in as_list(values.get("notes"), "notes")),
            pool=None if values.get("pool") is None else np.array(_ids(values, "pool"), object),
            never=tuple(_ids(values, "never")),
            same_outputs=tuple(_ids(values, "same_outputs")),
            why=as_text(values.get("why"), "why") or "",
            unknown={name: value for name, value in values.items() if name not in _KNOWN},
            unknown_in_rows=_unknown_in_rows(rows),
        )
        _check_derived(made, rows, values)
        return made


_KNOWN = frozenset(
    (
        "format",
        "version",
        "signature",
        "kind",
        "cost",
        "cost_unit",
        "notes",
        "reason",
        "never",
        "same_outputs",
        "why",
        "pool",
        "rows",
    )
)
_HOW_MANY = {"models": "Name at least one, or leave it out for all models", "pair": "A pair is two models"}
_KNOWN_IN_ROWS = frozenset(part.name for part in fields(Row))


def _at(column: Floats | None, place: int) -> float | None:
    return None if column is None or np.isnan(column[place]) else float(column[place])


def _reason(row: dict[str, Any], field: str, common: str) -> str:
    given = as_text(row.get("reason"), field)
    return common if given is None else given


def _ids(values: Mapping[str, Any], name: str, field: str | None = None) -> list[str]:
    where = field or name
    return [as_id(given, f"{where}[{place}]") for place, given in enumerate(as_list(values.get(name), where))]


def _unknown_in_rows(rows: list[dict[str, Any]]) -> Objects | None:
    found = [{name: row[name] for name in row if name not in _KNOWN_IN_ROWS} for row in rows]
    return np.array(found, object) if any(found) else None


def _first_twice(ids: list[str], rows: list[dict[str, Any]]) -> str | None:
    """Return the first item that is there twice with the same models or pair."""
    seen: set[tuple[str, ...]] = set()
    for name, row in zip(ids, rows, strict=True):
        key = (name, *map(str, (row.get("models"), row.get("pair"))))
        if key in seen:
            return name
        seen.add(key)
    return None


def _numbers(rows: list[dict[str, Any]], name: str) -> Floats | None:
    values = [as_number(row.get(name), f"rows[{place}].{name}") for place, row in enumerate(rows)]
    column = np.array(values, np.float64)
    return None if not len(column) or np.isnan(column).all() else column


def _check_derived(made: Selection, rows: list[dict[str, Any]], values: Mapping[str, Any]) -> None:
    """Refuse a file whose weights or total cost do not follow from its rows: somebody edited one of them."""
    given, right = _numbers(rows, "weight"), made.weight
    if given is not None and (right is None or not np.allclose(given, right, rtol=1e-9)):
        raise InputError("the weights are not one over the probabilities", field="rows[].weight")
    total = as_number(values.get("cost"), "cost")
    if not np.isnan(total) and (made.total_cost is None or not np.isclose(total, made.total_cost, rtol=1e-9)):
        raise InputError("the total cost is not the sum of the rows' costs", field="cost")


def _probabilities(rows: list[dict[str, Any]], name: str) -> Floats | None:
    column = _numbers(rows, name)
    if column is None:
        return None
    wrong = np.flatnonzero(~((column > 0) & (column <= 1)))
    if len(wrong):
        place = int(wrong[0])
        raise InputError(
            f"{column[place]} is no inclusion probability",
            field=f"rows[{place}].{name}",
            fix="It lies above 0 and is at most 1, for every row or for none",
        )
    return column


def _labels(rows: list[dict[str, Any]], name: str) -> Objects | None:
    held = [as_text(row.get(name), f"rows[{place}].{name}") for place, row in enumerate(rows)]
    return None if all(label is None for label in held) else np.array(held, object)


def _tuples(rows: list[dict[str, Any]], name: str) -> Objects | None:
    if all(row.get(name) is None for row in rows):
        return None
    column = np.empty(len(rows), object)
    for place, row in enumerate(rows):
        field = f"rows[{place}].{name}"
        held = tuple(as_id(given, field) for given in as_list(row.get(name), field))
        if row.get(name) is not None and not _enough(name, len(held)):
            raise InputError(
                f"{shown(list(held))} names {counted(len(held), 'model')}", field=field, fix=_HOW_MANY[name]
            )
        column[place] = None if row.get(name) is None else held
    return column


def _enough(name: str, count: int) -> bool:
    return count == 2 if name == "pair" else count > 0 or name == "context"
