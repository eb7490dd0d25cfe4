"""What every analysis gives back: numbers that can be printed, saved, put in a frame, and drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import Any

from sparingly.base.format import html_table
from sparingly.data.values import plain

_SHOWN = 12


@dataclass(frozen=True, repr=False)
class Analysis(ABC):
    """The outcome of an analysis.

    Attributes:
        notes: What to mind: items that were left out, points that were thinned.
    """

    notes: tuple[str, ...]

    @abstractmethod
    def __str__(self) -> str:
        """Return the outcome in one line."""

    @abstractmethod
    def table(self) -> dict[str, list[Any]]:
        """Return the outcome as columns, ready for ``polars.DataFrame`` or ``pandas.DataFrame``."""

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self})"

    def to_dict(self) -> dict[str, Any]:
        """Return the outcome as plain values; what is not known is None."""
        return {part.name: _written(getattr(self, part.name)) for part in fields(self)}

    def _repr_html_(self) -> str:
        columns = self.table()
        rows = list(zip(*columns.values(), strict=True))
        more = [f"… and {len(rows) - _SHOWN} more rows"] if len(rows) > _SHOWN else []
        return html_table(list(columns), rows[:_SHOWN], str(self), "; ".join([*more, *self.notes]))


def columns_of(kind: type, rows: Sequence[object]) -> dict[str, list[Any]]:
    """Return the columns of rows that are all of one dataclass."""
    return {part.name: [getattr(row, part.name) for row in rows] for part in fields(kind)}


def _written(value: Any) -> Any:
    if isinstance(value, tuple) and value and is_dataclass(value[0]):
        return [plain(vars(one)) for one in value]
    return plain(value)
