"""The selection: which items to judge, in which order, why, and with which inclusion probabilities."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from itertools import compress, islice
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from sparingly.base.arrays import Floats, Mask, Objects
from sparingly.base.errors import InputError, listing
from sparingly.base.format import counted, number_text, share_text
from sparingly.base.registry import Method
from sparingly.base.summary import Summary, Tabular
from sparingly.data import files, schema
from sparingly.data.signature import Signature
from sparingly.data.values import as_id, as_list, as_mapping, as_number, as_text, check_version, plain, shown

FORMAT, VERSION = "sparingly/selection", 1
_FIRST_ROWS = 8
RANKING_ONLY = "ranking only: scores are of the selected items, not of the test set"


@dataclass(frozen=True)
class Row:
    """One row of a selection: an item with the models to judge on it, or a pair of models."""

    item: str  # the item's id
    models: tuple[str, ...] | None = None  # the models to judge; None means all of them
    pair: tuple[str, str] | None = None  # the two models to compare, or None
    # The row's inclusion probability; None for the top of a list, which has none.
    probability: float | None = None
    # The chance of the first phase, a factor of the probability; None without a pool.
    pool_probability: float | None = None
    weight: float | None = None  # the design weight, one over the probability
    stratum: str | None = None  # the group within which it was drawn, or None
    # The id of what was drawn (a document, a snippet) where that is not the item itself, or None.
    unit: str | None = None
    # How many items it stands for by a cluster: good for rankings, no design weight.
    cluster_weight: float | None = None
    utility: float | None = None  # how much judging it teaches, as the method saw it
    cost: float | None = None  # what judging it costs
    context: tuple[str, ...] = ()  # items to show before it
    reason: str = ""  # why it was chosen


@dataclass(frozen=True, eq=False, repr=False)
class Selection(Tabular):
    """Rows in order, best first, with the signature from which they can be re-derived.

    Columns are arrays with one value per row, or None where the method gives none. ``pool`` holds the ids of
    the selection that this one chose from, ``never`` those that were not to be chosen, ``same_outputs`` those
    that were skipped because all models wrote the same: there, differences are 0. ``why`` says in two
    sentences why the method was taken, where none was named. ``data_files`` are the files that it was chosen
    from, as seen from the folder of its own file. ``method`` is the method itself, as long as the
    selection is in memory: in a file, the signature names it. What a file says beyond that, as a whole
    (``unknown``) and of its rows (``unknown_in_rows``), is kept when it is saved.
    """

    rows_key: ClassVar[str] = "rows"

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
    data_files: tuple[str, ...] = ()
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

    def summary(self) -> Summary:
        """Return how many are chosen and why, the first of them, and what to do next."""
        signature, counts = self.signature, f"{len(self):,} of {self.signature.of:,} items chosen"
        share = f" ({share_text(len(self) / signature.of, 0)})" if 0 < len(self) < signature.of else ""
        sentences = [f"{counts}{share}.", self.why]
        if signature.crowd:
            sentences.append(f"Computed on: {listing(signature.crowd)}.")
        if signature.crowd or signature.judged:
            sentences.append(f"To judge: {listing(self.judged or ['all models'])}.")
        rows = [
            (
                row.item,
                *map(number_text, (row.utility, row.probability, row.cost)),
                row.reason.removeprefix("drawn by ") if row.reason else "",
            )
            for row in islice(self, _FIRST_ROWS)
        ]
        columns = ("item", "utility", "probability", "cost", "reason")
        # A column that says the same of every row is in a sentence or says nothing.
        useful = [len({row[place] for row in rows}) > 1 for place in range(len(columns))]
        if not any(useful[1:]):
            sentences.append(f"The first: {listing([row[0] for row in rows], _FIRST_ROWS)}.")
            rows = []
        meaning = self.meaning[:1].upper() + self.meaning[1:]
        return Summary(
            tuple(part for part in (*sentences, f"{meaning}.") if part),
            tuple(compress(columns, useful)),
            tuple(tuple(compress(row, useful)) for row in rows),
            texts=len(columns),
            more=len(self) - len(rows) if rows else 0,
            next_steps=("sparingly serve DATA",),
            notes=tuple(note for note in self.notes if not note.startswith("tau ")),
            signature=str(signature),
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
        subject = "differences between models" if self.same_outputs else "scores"
        return f"probability sample: {subject}{weighted} estimate the whole set{exception}"

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
            **({"data": list(self.data_files)} if self.data_files else {}),
            "pool": None if self.pool is None else list(self.pool),
            **self.unknown,
            "rows": self._row_values(),
        }

    def _row_values(self) -> list[dict[str, Any]]:
        """Return the rows as plain values, what is missing left out; by columns, as there may be many."""
        reasons = () if self.reasons is None else self.reasons
        columns = {
            "item": self.items.tolist(),
            "models": _lists(self.models),
            "pair": _lists(self.pairs),
            "probability": _numbers(self.probability),
            "pool_probability": _numbers(self.pool_probability),
            "weight": _numbers(self.weight),
            "stratum": None if self.stratum is None else self.stratum.tolist(),
            "unit": None if self.unit is None else self.unit.tolist(),
            "cluster_weight": _numbers(self.cluster_weight),
            "utility": _numbers(self.utility),
            "cost": _numbers(self.cost),
            "context": _lists(self.context),
            "reason": [None if reason == self.reason else reason for reason in reasons] or None,
        }
        given = {name: column for name, column in columns.items() if column is not None}
        rows = [
            {name: value for name, value in zip(given, row, strict=True) if value is not None}
            for row in zip(*given.values(), strict=True)
        ]
        if self.unknown_in_rows is None:
            return rows
        return [{**row, **unknown} for row, unknown in zip(rows, self.unknown_in_rows, strict=True)]

    def save(self, path: str | Path) -> None:
        """Write the selection as JSON, whole or not at all."""
        files.write_json(Path(path), self.to_dict())

    @classmethod
    def load(cls, path: str | Path) -> Selection:
        """Read a selection from its file."""
        with files.naming(Path(path)):
            return cls.from_dict(as_mapping(files.read_json(Path(path)), "selection"))

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Selection:
        """Make a selection from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        rows = _Rows(values.get("rows"))
        common = as_text(values.get("reason"), "reason") or ""
        reasons = [common if reason is None else reason for reason in rows.texts("reason")]
        unknown = [schema.unknown_keys(row, Row) for row in rows.records]
        pool = values.get("pool")
        selection = cls(
            items=np.array(rows.ids, object),
            signature=Signature.from_dict(values.get("signature")),
            utility=rows.numbers("utility"),
            probability=rows.probabilities("probability"),
            pool_probability=rows.probabilities("pool_probability"),
            stratum=rows.labels("stratum"),
            unit=rows.labels("unit"),
            cluster_weight=rows.numbers("cluster_weight"),
            cost=rows.numbers("cost"),
            models=rows.id_lists("models"),
            pairs=rows.id_lists("pair"),
            context=rows.id_lists("context"),
            reasons=np.array(reasons, object) if any(reason != common for reason in reasons) else None,
            reason=common,
            cost_unit=as_text(values.get("cost_unit"), "cost_unit") or "",
            notes=tuple(as_text(note, "notes") or "" for note in as_list(values.get("notes"), "notes")),
            pool=None if pool is None else np.array(_ids(pool, "pool"), object),
            never=tuple(_ids(values.get("never"), "never")),
            same_outputs=tuple(_ids(values.get("same_outputs"), "same_outputs")),
            why=as_text(values.get("why"), "why") or "",
            data_files=tuple(_ids(values.get("data"), "data")),
            unknown=schema.unknown_keys(values, *_FILE_KEYS),
            unknown_in_rows=np.array(unknown, object) if any(unknown) else None,
        )
        # Weights and the total cost follow from the rows; where they do not, somebody edited one of them.
        weights, total = rows.numbers("weight"), as_number(values.get("cost"), "cost")
        if weights is not None and not _is_close(weights, selection.weight):
            raise InputError("the weights are not one over the probabilities", field="rows[].weight")
        if not np.isnan(total) and not _is_close(total, selection.total_cost):
            raise InputError("the total cost is not the sum of the rows' costs", field="cost")
        return selection


_FILE_KEYS = (
    *("format", "version", "signature", "kind", "cost", "cost_unit", "notes", "reason", "never"),
    *("same_outputs", "why", "data", "pool", "rows"),
)
_MODEL_COUNTS = {
    "models": "Name at least one, or leave it out for all models",
    "pair": "A pair is two models",
}


class _Rows:
    """The rows of a file, read column by column; a column without any value is None."""

    def __init__(self, rows: Any) -> None:
        self.records = [as_mapping(row, f"rows[{place}]") for place, row in enumerate(as_list(rows, "rows"))]
        self.ids = self._read("item", as_id)
        earlier: set[tuple[str, ...]] = set()
        for name, row in zip(self.ids, self.records, strict=True):
            key = (name, str(row.get("models")), str(row.get("pair")))
            if key in earlier:
                raise InputError(f'the item "{name}" is there twice', field="rows")
            earlier.add(key)

    def _read(self, name: str, read: Callable[[Any, str], Any]) -> list[Any]:
        return [read(row.get(name), f"rows[{place}].{name}") for place, row in enumerate(self.records)]

    def texts(self, name: str) -> list[str | None]:
        return self._read(name, as_text)

    def labels(self, name: str) -> Objects | None:
        texts = self.texts(name)
        return None if all(text is None for text in texts) else np.array(texts, object)

    def numbers(self, name: str) -> Floats | None:
        column = np.array(self._read(name, as_number), np.float64)
        return None if not len(column) or np.isnan(column).all() else column

    def probabilities(self, name: str) -> Floats | None:
        column = self.numbers(name)
        for place, value in enumerate([] if column is None else column.tolist()):
            if not 0 < value <= 1:
                raise InputError(
                    f"{value} is not an inclusion probability",
                    field=f"rows[{place}].{name}",
                    fix="It lies above 0 and is at most 1, for every row or for none",
                )
        return column

    def id_lists(self, name: str) -> Objects | None:
        if all(row.get(name) is None for row in self.records):
            return None
        column = np.empty(len(self.records), object)
        for place, row in enumerate(self.records):
            if row.get(name) is None:
                continue
            field = f"rows[{place}].{name}"
            ids = tuple(as_id(value, field) for value in as_list(row[name], field))
            if (name == "pair" and len(ids) != 2) or (name == "models" and not ids):
                raise InputError(
                    f"{shown(list(ids))} names {counted(len(ids), 'model')}",
                    field=field,
                    fix=_MODEL_COUNTS[name],
                )
            column[place] = ids
        return column


def _ids(values: Any, field: str) -> list[str]:
    return [as_id(value, f"{field}[{place}]") for place, value in enumerate(as_list(values, field))]


def _is_close(numbers: Floats | float, expected: Floats | float | None) -> bool:
    return expected is not None and bool(np.allclose(numbers, expected, rtol=1e-9))


def _numbers(column: Floats | None) -> list[float | None] | None:
    return None if column is None else [None if value != value else value for value in column.tolist()]


def _lists(column: Objects | None) -> list[list[str] | None] | None:
    return None if column is None else [list(values) if values else None for values in column]


def _at(column: Floats | None, place: int) -> float | None:
    return None if column is None or np.isnan(column[place]) else float(column[place])
