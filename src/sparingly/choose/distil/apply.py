"""A model's numbers put into an evaluation set, for every method that takes a column or a metric."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal, NamedTuple

import numpy as np

from sparingly.base.errors import UsageError
from sparingly.choose.distil.model import DistilledModel, Scored
from sparingly.choose.distil.notes import both_sides_notes, unlike_notes, weak_notes
from sparingly.data.evalset import EvalSet

Kind = Literal["column", "metric"]
SUFFIX, UNLIKE = "_src", "unlike"


class Applied(NamedTuple):
    """An evaluation set with what a model says of its sources.

    Attributes:
        data: The set with a column (or metric) ``NAME_src`` for every utility, and the column ``unlike``.
        names: The utilities.
        scored: Values of these utilities, and which texts are unlike the training texts.
        notes: What to mind.
    """

    data: EvalSet
    names: tuple[str, ...]
    scored: Scored
    notes: tuple[str, ...]


def apply_distilled(
    model: DistilledModel,
    data: EvalSet,
    utilities: Sequence[str] | None = None,
    kind: Kind = "column",
    embedding: str | None = None,
) -> Applied:
    """Add the utilities that a model tells to a set: as columns, or as metrics, the same for all models.

    Items can be chosen by a metric with ``uncertainty:metric=NAME_src``; a column can stratify or order a
    draw. The column ``unlike`` says in what a source is unlike the training texts.
    """
    names = tuple(utilities or model.card.names)
    places = [model.place_of(name) for name in names]
    if kind == "metric" and not data.models:
        raise UsageError("The set has no models, and a metric has a score for each: add columns instead.")
    found = model.score(data, embedding)
    scored = Scored(found.values[:, places], found.unlike)
    for place, name in enumerate(names):
        column = scored.values[:, place]
        if kind == "metric":
            data = data.with_metric(f"{name}{SUFFIX}", np.repeat(column[:, None], len(data.models), axis=1))
        else:
            data = data.with_column(f"{name}{SUFFIX}", column)
    notes = (
        *both_sides_notes(model.card, data.models),
        *unlike_notes(model.card, scored.unlike),
        *weak_notes(model.card, names),
    )
    flags = [", ".join(why) if why else None for why in scored.unlike]
    return Applied(data.with_column(UNLIKE, flags), names, scored, notes)
