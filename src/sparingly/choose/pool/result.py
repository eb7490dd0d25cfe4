"""What a draw from a pool gives: the selection, where its sources come from, and who was left out."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from io import BytesIO
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.choose.pool.languages import LANGUAGE
from sparingly.data import files
from sparingly.data.selection import Selection
from sparingly.data.values import plain

if TYPE_CHECKING:
    import polars as pl

_OWN = ("item", "source", "probability", "utility", "cost", "stratum", "reason", "file", "line")
_GIVEN = "given_"
_WIDE = 2**63


@dataclass(frozen=True, eq=False)
class PoolSelection:
    """A selection from a pool.

    Attributes:
        selection: The chosen sources with their inclusion probabilities and the signature.
        scored: How many sources the pool has.
        removed: How many of them could not be chosen, by reason; the others are ``selection.signature.of``.
        rows: The chosen sources with their texts and all that was kept of them.
        pool_notes: What to mind about the files of the pool; no part of the selection.
    """

    selection: Selection
    scored: int
    removed: Mapping[str, int]
    rows: Sequence[Mapping[str, Any]]
    pool_notes: tuple[str, ...] = ()

    def __len__(self) -> int:
        return len(self.selection)

    @classmethod
    def of(
        cls,
        bare: Selection,
        chosen: pl.DataFrame,
        scored: int,
        removed: Mapping[str, int],
        pool_notes: tuple[str, ...] = (),
    ) -> PoolSelection:
        """Add the texts and the provenance of the chosen sources, which stand in the order of the rows."""
        rows = list(chosen.iter_rows(named=True))
        kept = [json.loads(row["kept"]) for row in rows]
        origin = [
            {"provenance": {"file": row["file"], "line": row["line"], **given}}
            for row, given in zip(rows, kept, strict=True)
        ]
        selection = replace(bare, unknown_in_rows=np.array(origin, object))
        table = [_row(selection, place, row, kept[place]) for place, row in enumerate(rows)]
        return cls(selection, scored, dict(removed), table, pool_notes)

    def frame(self) -> pl.DataFrame:
        """Return the chosen sources as a table: item, source, probability, place, what was kept."""
        import polars as pl

        names = dict.fromkeys(name for row in self.rows for name in row)
        return pl.DataFrame([_column(name, [row.get(name) for row in self.rows]) for name in names])

    def save(self, path: str | Path) -> None:
        """Write the selection (``.json``), or its sources as ``.jsonl``, ``.csv`` or ``.parquet``."""
        path = Path(path)
        kind = files.extension(path)
        if kind == ".json":
            self.selection.save(path)
            return
        writers = {".jsonl": self._jsonl, ".csv": self._csv, ".parquet": self._parquet}
        if kind not in writers:
            raise UsageError(f'The extension "{kind}" of {path.name} is none of .json, {", ".join(writers)}.')
        files.write_atomically(path, writers[kind])

    def _jsonl(self, file: IO[bytes]) -> None:
        for row in self.rows:
            file.write(json.dumps(row, ensure_ascii=False).encode() + b"\n")

    def _csv(self, file: IO[bytes]) -> None:
        self.frame().write_csv(file)

    def _parquet(self, file: IO[bytes]) -> None:
        packed = BytesIO()
        self.frame().write_parquet(packed)
        file.write(packed.getbuffer())


def _row(
    selection: Selection, place: int, source: Mapping[str, Any], kept: Mapping[str, Any]
) -> dict[str, Any]:
    """Return one source as a row; a kept column that has a name of ours gets a longer one."""
    row = selection.row(place)
    own = {
        "item": row.item,
        "source": source["source"],
        "probability": row.probability,
        "utility": plain(row.utility),
        "cost": plain(row.cost),
        "stratum": row.stratum,
        "reason": row.reason,
        LANGUAGE: source.get(LANGUAGE),
        "file": source["file"],
        "line": source["line"],
    }
    ours = {name: value for name, value in own.items() if value is not None}
    # A language that only the record says is a column like others.
    taken = {*_OWN, *(ours.keys() & {LANGUAGE})}
    given = {f"{_GIVEN}{name}" if name in taken else name: value for name, value in kept.items()}
    if given.get(f"{_GIVEN}{LANGUAGE}") == own[LANGUAGE]:
        given.pop(f"{_GIVEN}{LANGUAGE}", None)
    return ours | given


def _column(name: str, values: list[Any]) -> pl.Series:
    """Return values as a column of one type; where they are of several, or no plain values, as texts."""
    import polars as pl

    kinds = {type(value) for value in values if value is not None}
    if kinds == {int} and all(value is None or -_WIDE <= value < _WIDE for value in values):
        return pl.Series(name, values, pl.Int64)
    if kinds and kinds <= {int, float}:
        return pl.Series(name, [None if value is None else float(value) for value in values], pl.Float64)
    if kinds == {bool}:
        return pl.Series(name, values, pl.Boolean)
    return pl.Series(name, [_text(value) for value in values], pl.String)


def _text(value: Any) -> str | None:
    return value if value is None or isinstance(value, str) else json.dumps(value, ensure_ascii=False)
