"""What every analysis gives back: numbers that can be printed, saved, put in a frame, and drawn."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields, is_dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Ints
from sparingly.base.summary import html_table
from sparingly.data.values import plain
from sparingly.show.figures.look import need_report

if TYPE_CHECKING:
    from altair import VConcatChart

_SHOWN = 12
_NAME_LETTERS = 40


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

    @abstractmethod
    def picture(self) -> VConcatChart:
        """Return the picture."""

    def draw(self) -> VConcatChart:
        """Return the picture as an Altair chart, which notebooks show; it needs the extra ``report``."""
        need_report()
        return self.picture()

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


# --- fewer points, and notes on what is not there --------------------------------------------------------
# Points are drawn by the keys of what they are of, so that the same seed shows the same ones.


def thinned(keys: rng.Keys, most: int | None, seed: int, keep: NDArray[np.bool_] | None = None) -> Ints:
    """Return the positions of at most ``most`` points in order; those to ``keep`` are there in any case."""
    if most is None or len(keys) <= most:
        return np.arange(len(keys))
    places = rng.stream(keys, seed, "thinned")
    first = np.zeros(len(keys), np.bool_) if keep is None else keep
    drawn = np.lexsort((places, ~first))[: max(most, int(first.sum()))]
    return np.sort(drawn)


def left_out_note(lost: int, of: int, what: str) -> tuple[str, ...]:
    """Say how many are left out, of what and why (``items, which …``)."""
    return () if not lost else (f"Left out: {lost} of {of} {what}.",)


def thinning_note(shown: int, of: int, what: str) -> tuple[str, ...]:
    """Say that not everything is shown."""
    return () if shown == of else (f"Shown: {shown} of {of} {what}, drawn at random.",)


def rows_of(columns: Mapping[str, Sequence[Any]]) -> list[dict[str, Any]]:
    """Return columns as rows."""
    return [dict(zip(columns, row, strict=True)) for row in zip(*columns.values(), strict=True)]


def name_list(models: Sequence[str]) -> str:
    """Return the models in words: two by their names, more by their number."""
    return f"{short(models[0])} against {short(models[1])}" if len(models) == 2 else f"{len(models)} models"


def short(name: str) -> str:
    """Return a name that fits into a title or a legend: the middle of a long one is left out."""
    half = _NAME_LETTERS // 2
    return name if len(name) <= _NAME_LETTERS else f"{name[:half].rstrip()} … {name[-half:].lstrip()}"
