"""An evaluation set as a long frame: one row for each item and model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import DataError
from sparingly.data.evalset import EvalSet
from sparingly.data.io.objects import to_series
from sparingly.data.io.table.roles import ITEM_COLUMNS, has_part
from sparingly.data.plain import EXACT

if TYPE_CHECKING:
    import polars as pl


def to_frame(data: EvalSet) -> pl.DataFrame:
    """Return the set as a long polars frame, one row for each item and model; missing is null.

    Columns: ``item``, ``model``, ``output``, ``source``, ``reference:NAME``, the columns of the items, then
    ``cell:NAME``, ``metric:NAME`` and ``aspect:NAME``. Ratings, preferences and what people said of the
    references have no place in it.
    """
    import polars as pl

    if not data.models:
        raise DataError("The set has no models, and a table has a row for each item and model.")
    order, width = data.file_order, len(data.models)
    per_item = [_values("item", data.items[order])]
    if data.sources is not None:
        per_item.append(_values("source", data.sources[order]))
    per_item += _references(data)
    per_item += [
        _whole(_values(_column_name(name, width), values[order])) for name, values in data.columns.items()
    ]
    places = np.repeat(np.arange(len(data)), width)
    repeated = [series.gather(places) for series in per_item]
    models = pl.Series("model", list(data.models)).gather(np.tile(np.arange(width), len(data)))
    return pl.DataFrame([repeated[0], models, *_cells(data), *repeated[1:]])


def _column_name(name: str, models: int) -> str:
    """Return the name of an item column in a table, such that reading takes it for one and for no other.

    With a single model nothing tells numbers of the items from those of the model.
    """
    if name in ITEM_COLUMNS or (models > 1 and not has_part(name)):
        return name
    return f"column:{name}"


def changed_by_writing(data: EvalSet) -> list[str]:
    """Return the columns and cell columns whose values are mixed, lists or objects: they turn into texts."""
    held = {f"column:{name}": values for name, values in data.columns.items()}
    held |= {f"cell:{name}": values.ravel() for name, values in data.cells.items()}
    return [name for name, values in held.items() if to_series(name, values)[1]]


def _references(data: EvalSet) -> list[pl.Series]:
    import polars as pl

    texts = data.reference_texts
    if texts is None:
        return [pl.Series(f"reference:{name}", [None] * len(data), pl.String) for name in data.references]
    return [
        _values(f"reference:{name}", texts[data.file_order, place])
        for place, name in enumerate(data.references)
    ]


def _cells(data: EvalSet) -> list[pl.Series]:
    order = data.file_order
    held: dict[str, Any] = {} if data.outputs is None else {"output": data.outputs}
    held |= {f"cell:{name}": values for name, values in data.cells.items()}
    held |= {f"metric:{name}": values for name, values in data.metrics.items()}
    held |= {f"aspect:{name}": values for name, values in data.aspects.items()}
    return [_values(name, values[order].ravel()) for name, values in held.items()]


def _values(name: str, values: NDArray[Any]) -> pl.Series:
    """Return values with null where missing."""
    import polars as pl

    series = to_series(name, values)[0]
    return series.fill_nan(None) if series.dtype == pl.Float64 else series


def _whole(series: pl.Series) -> pl.Series:
    """Return numbers as whole ones where all of them are."""
    import polars as pl

    if series.dtype != pl.Float64 or not series.drop_nulls().is_between(-EXACT, EXACT).all():
        return series
    return series.cast(pl.Int64) if bool((series.drop_nulls() % 1 == 0).all()) else series
