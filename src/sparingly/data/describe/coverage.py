"""How much of every field is there, and which models and items lack the rest."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Mask
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

_EXAMPLES = 5


@dataclass(frozen=True)
class Coverage:
    """How much of a field is there.

    Attributes:
        field: The field's name, such as ``metric:chrF`` or ``outputs``; ``reference:NAME`` is one reference.
        present: The number of cells (of items, for texts that items have) that are there.
        of: The number that could be there.
        share: ``present / of``.
        models: How many cells each model lacks; models that lack none are left out.
        items: The number of items that lack at least one cell.
        examples: The first few of those items.
    """

    field: str
    present: int
    of: int
    share: float
    models: dict[str, int]
    items: int
    examples: tuple[str, ...]


def coverage(data: EvalSet) -> tuple[Coverage, ...]:
    """Return the coverage of every metric, aspect and text, and of the columns that methods know."""
    return tuple(_covered(data, field, there) for field, there in _presence(data))


def _presence(data: EvalSet) -> Iterator[tuple[str, Mask]]:
    yield from ((fields.metric(name), is_there(scores)) for name, scores in data.metrics.items())
    yield from ((fields.aspect(name), is_there(scores)) for name, scores in data.aspects.items())
    if data.outputs is not None:
        yield "outputs", is_there(data.outputs)
    if data.sources is not None:
        yield "sources", is_there(data.sources)
    if data.reference_texts is not None:
        for place, name in enumerate(data.references):
            yield f"reference:{name}", is_there(data.reference_texts[:, place])
    for name in (*fields.TEXT_COLUMNS, *fields.NUMBER_COLUMNS):
        if name in data.columns:
            yield fields.column(name), is_there(data.columns[name])


def is_there(values: NDArray[Any]) -> Mask:
    """Say which texts are not None, or which numbers are not NaN."""
    there: Mask = values != np.empty(1, object) if values.dtype == object else ~np.isnan(values)
    return there.astype(bool, copy=False)


def _covered(data: EvalSet, field: str, there: Mask) -> Coverage:
    present, of = int(there.sum()), there.size
    lacking = ~(there if there.ndim == 1 else there.all(axis=1))
    by_model = (~there).sum(axis=0).tolist() if there.ndim == 2 else []
    return Coverage(
        field=field,
        present=present,
        of=of,
        share=present / of if of else 1.0,
        models={name: count for name, count in zip(data.models, by_model, strict=False) if count},
        items=int(lacking.sum()),
        examples=tuple(data.items[np.flatnonzero(lacking)[:_EXAMPLES]]),
    )
