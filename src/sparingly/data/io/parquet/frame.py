"""An evaluation set as a frame with one row an item, and what its header must say to read it back."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints, Objects
from sparingly.base.errors import DataError
from sparingly.data.build import known_scales
from sparingly.data.evalset import EvalSet
from sparingly.data.io.objects import to_series
from sparingly.data.tables import Preferences, Ratings

if TYPE_CHECKING:
    import polars as pl

SINGLE = ("item", "source", "outputs", "references", "ratings", "preferences")
KINDS = ("metric", "aspect", "reference_aspect", "cell", "column")
RATING = ("model", "reference", "rater", "aspect", "score", "seconds", "comment")
PREFERENCE = ("first", "second", "value", "rater", "aspect", "seconds")


def to_rows(data: EvalSet) -> tuple[pl.DataFrame, dict[str, str]]:
    """Return the rows in the order of the file that the set came from, and the header's further entries."""
    import polars as pl

    writer = _Writer(data)
    columns = [writer.items(), *writer.columns(), *writer.texts(), *writer.scores(), *writer.cells()]
    columns += [*writer.ratings(), *writer.preferences()]
    header: dict[str, Any] = {
        "models": list(data.models),
        "references": list(data.references),
        "json": writer.as_json,
        "objects": writer.as_objects,
        "scales": {name: list(ends) for name, ends in known_scales(data).items()},
    }
    return pl.DataFrame(columns), {
        name: json.dumps(value, ensure_ascii=False) for name, value in header.items()
    }


class _Writer:
    """Makes the columns one kind at a time and remembers which were written in another form."""

    def __init__(self, data: EvalSet) -> None:
        self.data = data
        order = data.file_order
        self.in_order = bool((order == np.arange(len(order))).all())
        self.order: Ints = order
        self.as_json: list[str] = []
        self.as_objects: list[str] = []

    def items(self) -> pl.Series:
        return self._text("item", self.data.items)

    def columns(self) -> list[pl.Series]:
        series = []
        if self.data.sources is not None:
            series.append(self._text("source", self.data.sources))
        for name, values in self.data.columns.items():
            written = column_name(name)
            series.append(self._values(written, self._rows(values)))
            if values.dtype == object and series[-1].dtype.is_numeric():
                self.as_objects.append(written)
        return series

    def texts(self) -> list[pl.Series]:
        held = {"references": self.data.reference_texts, "outputs": self.data.outputs}
        return [self._lists(name, texts) for name, texts in held.items() if texts is not None]

    def scores(self) -> list[pl.Series]:
        import polars as pl

        held = {"metric": self.data.metrics, "aspect": self.data.aspects}
        held["reference_aspect"] = self.data.reference_aspects
        return [
            pl.Series(f"{kind}:{name}", np.ascontiguousarray(self._rows(scores)))
            for kind, matrices in held.items()
            for name, scores in matrices.items()
        ]

    def cells(self) -> list[pl.Series]:
        return [self._lists(f"cell:{name}", values) for name, values in self.data.cells.items()]

    def ratings(self) -> list[pl.Series]:
        table = self.data.ratings
        if not len(table):
            return []
        models = [*self.data.models, *[None] * len(self.data.references)]
        references = [*[None] * len(self.data.models), *self.data.references]
        columns = {
            "model": _named(models, table.model),
            "reference": _named(references, table.model),
            "rater": _named([*table.raters, None], table.rater),
            "aspect": _named([*table.aspects, None], table.aspect),
            "score": table.score,
            "seconds": table.seconds,
        }
        if table.comment is not None:
            columns["comment"] = table.comment
        return [self._table("ratings", table, columns, RATING)]

    def preferences(self) -> list[pl.Series]:
        table = self.data.preferences
        if not len(table):
            return []
        columns = {
            "first": _named(self.data.models, table.first),
            "second": _named(self.data.models, table.second),
            "value": table.value,
            "rater": _named([*table.raters, None], table.rater),
            "aspect": _named([*table.aspects, None], table.aspect),
            "seconds": table.seconds,
        }
        return [self._table("preferences", table, columns, PREFERENCE)]

    def _rows(self, values: NDArray[Any]) -> NDArray[Any]:
        return values if self.in_order else values[self.order]

    def _text(self, name: str, values: Objects) -> pl.Series:
        series, as_json = to_series(name, self._rows(values))
        if as_json:
            raise DataError(f'The column "{name}" holds something that is not text.')
        return series

    def _values(self, name: str, values: NDArray[Any]) -> pl.Series:
        series, as_json = to_series(name, values)
        if as_json:
            self.as_json.append(name)
        return series

    def _lists(self, name: str, values: Objects) -> pl.Series:
        """Return a list an item, one value a model or reference."""
        flat = self._values(name, self._rows(values).ravel())
        return flat.reshape(values.shape).arr.to_list()

    def _table(
        self,
        name: str,
        table: Ratings | Preferences,
        columns: Mapping[str, NDArray[Any]],
        reserved: tuple[str, ...],
    ) -> pl.Series:
        """Return a list an item, one record a judgement."""
        import polars as pl

        extra = {
            f"extra:{key}" if key in reserved or key.startswith("extra:") else key: values
            for key, values in table.extra.items()
        }
        series = [
            self._values(f"{name}.{key}", values).alias(key) for key, values in {**columns, **extra}.items()
        ]
        place = np.empty(len(self.order), np.int64)
        place[self.order] = np.arange(len(self.order))
        records = pl.DataFrame(series).to_struct(name)
        grouped = (
            pl.DataFrame([pl.Series("row", place[table.item]), records])
            .sort("row", maintain_order=True)
            .group_by("row", maintain_order=True)
            .agg(pl.col(name))
        )
        rows = pl.DataFrame({"row": np.arange(len(self.order))})
        return rows.join(grouped, on="row", how="left", maintain_order="left").get_column(name)


def column_name(name: str) -> str:
    """Return the name of an item column in a file, kept apart from the names that the format uses."""
    return f"column:{name}" if name in SINGLE or name.partition(":")[0] in KINDS else name


def _named(names: Any, codes: NDArray[np.int32]) -> Objects:
    return np.array(names, object)[codes]
