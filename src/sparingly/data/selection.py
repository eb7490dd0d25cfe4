"""The selection: which items to judge, in which order, why, and with which inclusion probabilities."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.base.html import html_table
from sparingly.data.io import files
from sparingly.data.io.jsonl import check_version, plain
from sparingly.data.io.values import as_id, as_list, as_mapping, as_number, as_text
from sparingly.data.signature import Signature

FORMAT, VERSION = "sparingly/selection", 1
RANKING_ONLY = "ranking only: scores are of the selected items, not of the test set"

Floats = NDArray[np.float64]
Objects = NDArray[np.object_]


@dataclass(frozen=True)
class Row:
    """One row of a selection: an item with the models to judge on it, or a pair of models.

    Attributes:
        item: The item's id.
        models: The models to judge; None means all of them.
        pair: The two models to compare, or None.
        probability: The row's inclusion probability; None for the top of a list, which has none.
        weight: The design weight, one over the probability.
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
    weight: float | None = None
    cluster_weight: float | None = None
    utility: float | None = None
    cost: float | None = None
    context: tuple[str, ...] = ()
    reason: str = ""


@dataclass(frozen=True, eq=False, repr=False)
class Selection:
    """Rows in order, best first, with the signature from which they can be re-derived.

    Columns are arrays with one value per row, or None where the method gives none. ``pool`` holds the ids
    of the selection that this one chose from, ``never`` those that were not to be chosen.
    """

    items: Objects
    signature: Signature
    utility: Floats | None = None
    probability: Floats | None = None
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
    unknown: Mapping[str, Any] = field(default_factory=dict)

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
        shown = [self.row(place) for place in range(min(10, len(self)))]
        rows = [(place + 1, row.item, row.utility, row.probability, row.reason) for place, row in enumerate(shown)]
        more = f"… and {len(self) - len(shown)} more. " if len(self) > len(shown) else ""
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
    def weight(self) -> Floats | None:
        """The design weights, one over the inclusion probabilities."""
        return None if self.probability is None else np.asarray(1.0 / self.probability)

    @property
    def total_cost(self) -> float | None:
        """What judging all rows costs."""
        return None if self.cost is None else float(self.cost.sum())

    def row(self, place: int) -> Row:
        """Return one row."""
        return Row(
            item=self.items[place],
            models=None if self.models is None else self.models[place],
            pair=None if self.pairs is None else self.pairs[place],
            probability=_at(self.probability, place),
            weight=_at(self.weight, place),
            cluster_weight=_at(self.cluster_weight, place),
            utility=_at(self.utility, place),
            cost=_at(self.cost, place),
            context=() if self.context is None else tuple(self.context[place]),
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
            "pool": None if self.pool is None else list(self.pool),
            **self.unknown,
            "rows": [_row_to_dict(row, self.reason) for row in self],
        }

    def save(self, path: str | Path) -> None:
        """Write the selection as JSON, whole or not at all."""
        text = json.dumps(self.to_dict(), ensure_ascii=False, indent=1, allow_nan=False)
        files.write_atomically(Path(path), lambda file: file.write(text.encode() + b"\n") and None)

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
        rows = [as_mapping(row, f"rows[{place}]") for place, row in enumerate(as_list(values.get("rows"), "rows"))]
        ids = [as_id(row.get("item"), f"rows[{place}].item") for place, row in enumerate(rows)]
        if twice := _first_twice(rows):
            raise InputError(f'the item "{twice}" is there twice', field="rows")
        common = as_text(values.get("reason"), "reason") or ""
        reasons = [row.get("reason", common) for row in rows]
        pool = values.get("pool")
        return cls(
            items=np.array(ids, object),
            signature=Signature.from_dict(as_mapping(values.get("signature"), "signature")),
            utility=_numbers(rows, "utility"),
            probability=_probabilities(rows),
            cluster_weight=_numbers(rows, "cluster_weight"),
            cost=_numbers(rows, "cost"),
            models=_tuples(rows, "models"),
            pairs=_tuples(rows, "pair"),
            context=_tuples(rows, "context"),
            reasons=np.array(reasons, object) if any(reason != common for reason in reasons) else None,
            reason=common,
            cost_unit=values.get("cost_unit") or "",
            notes=tuple(as_list(values.get("notes"), "notes")),
            pool=None if pool is None else np.array(as_list(pool, "pool"), object),
            never=tuple(as_list(values.get("never"), "never")),
            unknown={name: value for name, value in values.items() if name not in _KNOWN},
        )


_KNOWN = {"format", "version", "signature", "kind", "cost", "cost_unit", "notes", "reason", "never", "pool", "rows"}


def _at(column: Floats | None, place: int) -> float | None:
    return None if column is None or np.isnan(column[place]) else float(column[place])


def _row_to_dict(row: Row, common_reason: str) -> dict[str, Any]:
    values = {
        "item": row.item,
        "models": None if row.models is None else list(row.models),
        "pair": None if row.pair is None else list(row.pair),
        "probability": row.probability,
        "weight": row.weight,
        "cluster_weight": row.cluster_weight,
        "utility": row.utility,
        "cost": row.cost,
        "context": list(row.context) or None,
        "reason": row.reason if row.reason != common_reason else None,
    }
    return {name: value for name, value in values.items() if value is not None}


def _first_twice(rows: list[dict[str, Any]]) -> str | None:
    """Return the first item that is there twice with the same models or pair."""
    seen: set[tuple[Any, ...]] = set()
    for row in rows:
        key = (row.get("item"), *map(str, (row.get("models"), row.get("pair"))))
        if key in seen:
            return str(row.get("item"))
        seen.add(key)
    return None


def _numbers(rows: list[dict[str, Any]], name: str) -> Floats | None:
    values = [as_number(row.get(name), f"rows[{place}].{name}") for place, row in enumerate(rows)]
    column = np.array(values, np.float64)
    return None if not len(column) or np.isnan(column).all() else column


def _probabilities(rows: list[dict[str, Any]]) -> Floats | None:
    column = _numbers(rows, "probability")
    if column is None:
        return None
    wrong = np.flatnonzero(~((column > 0) & (column <= 1)))
    if len(wrong):
        place = int(wrong[0])
        raise InputError(
            f"{column[place]} is no inclusion probability",
            field=f"rows[{place}].probability",
            fix="It lies above 0 and is at most 1, for every row or for none",
        )
    return column


def _tuples(rows: list[dict[str, Any]], name: str) -> Objects | None:
    if not any(row.get(name) for row in rows):
        return None
    column = np.empty(len(rows), object)
    for place, row in enumerate(rows):
        column[place] = tuple(as_list(row[name], f"rows[{place}].{name}")) if row.get(name) is not None else None
    return column
