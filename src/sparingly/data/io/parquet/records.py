"""Ratings and preferences as records of a Parquet column."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.base.errors import InputError, UnknownNameError
from sparingly.data.io.objects import to_objects
from sparingly.data.io.parquet.frame import PREFERENCE, RATING
from sparingly.data.tables import Preferences, Ratings

if TYPE_CHECKING:
    import polars as pl


class Records:
    """The records of a column of judgements."""

    def __init__(
        self,
        name: str,
        frame: pl.DataFrame,
        models: list[str],
        references: list[str],
        json: frozenset[str],
    ) -> None:
        self.name, self.frame = name, frame
        self.models, self.references, self.json = models, references, json

    def ratings(self, item: NDArray[np.int32]) -> Ratings:
        """Return the records as ratings of the given items."""
        models = self._codes("model", self.models, "model")
        references = self._codes("reference", self.references, "reference")
        if ((models >= 0) == (references >= 0)).any():
            raise InputError("a rating needs either a model or a reference", field=self.name)
        (rater, raters), (aspect, aspects) = self._coded("rater"), self._coded("aspect")
        return Ratings(
            item=item,
            model=np.where(models >= 0, models, references + len(self.models)).astype(np.int32),
            rater=rater,
            aspect=aspect,
            score=self._numbers("score"),
            seconds=self._numbers("seconds"),
            comment=to_objects(self.frame.get_column("comment")) if "comment" in self.frame.columns else None,
            raters=raters,
            aspects=aspects,
            extra=self._extra(RATING),
        )

    def preferences(self, item: NDArray[np.int32]) -> Preferences:
        """Return the records as preferences about the given items."""
        first = self._codes("first", self.models, "model")
        second = self._codes("second", self.models, "model")
        if (first < 0).any() or (second < 0).any():
            raise InputError("a preference needs its first and its second model", field=self.name)
        (rater, raters), (aspect, aspects) = self._coded("rater"), self._coded("aspect")
        return Preferences(
            item=item,
            first=first,
            second=second,
            value=self._numbers("value"),
            rater=rater,
            aspect=aspect,
            seconds=self._numbers("seconds"),
            raters=raters,
            aspects=aspects,
            extra=self._extra(PREFERENCE),
        )

    def _numbers(self, key: str) -> Floats:
        import polars as pl

        if key not in self.frame.columns:
            return np.full(len(self.frame), np.nan)
        series = self.frame.get_column(key)
        if not (series.dtype.is_numeric() or series.dtype == pl.Null):
            raise InputError(f"numbers are wanted, not {series.dtype}", field=f"{self.name}.{key}")
        return np.array(series.cast(pl.Float64).to_numpy())

    def _coded(self, key: str) -> tuple[NDArray[np.int32], tuple[str, ...]]:
        import polars as pl

        if key not in self.frame.columns:
            return np.full(len(self.frame), -1, np.int32), ()
        names = self.frame.get_column(key).cast(pl.String).drop_nulls().unique().sort().to_list()
        return self._codes(key, names, key), tuple(names)

    def _codes(self, key: str, names: list[str], kind: str) -> NDArray[np.int32]:
        """Return positions in the names, -1 where there is none."""
        import polars as pl

        if key not in self.frame.columns:
            return np.full(len(self.frame), -1, np.int32)
        series = self.frame.get_column(key).cast(pl.String)
        unknown = set(series.drop_nulls().unique()) - set(names)
        if unknown:
            raise UnknownNameError(kind, min(unknown), names)
        codes = series.cast(pl.Enum(names)).to_physical().cast(pl.Int32)
        return np.array(codes.fill_null(-1).to_numpy(), np.int32)

    def _extra(self, taken: tuple[str, ...]) -> dict[str, Objects]:
        return {
            key.removeprefix("extra:"): to_objects(
                self.frame.get_column(key), f"{self.name}.{key}" in self.json
            )
            for key in self.frame.columns
            if key not in taken
        }
