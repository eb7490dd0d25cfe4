"""Ratings that came in a file of their own, put into the evaluation set that they are about."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import DataError, listing
from sparingly.data.build import known_scales, rebuild
from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings


def with_ratings_of(data: EvalSet, judged: EvalSet) -> EvalSet:
    """Return a set with the ratings of another one, which may hold only some of its items and models.

    What the set itself says of the rated aspects is left out, so that nothing counts twice.

    Args:
        data: The evaluation set.
        judged: The ratings, as ``load`` reads them from a table with the columns rater, item, model, aspect,
            score and seconds, say.
    """
    if not len(judged.ratings):
        raise DataError("There are no ratings in it: a row needs an item, a model, a rater and a score.")
    _check("items", judged.items, data.items)
    _check("models", judged.models, data.models)
    own = judged.ratings.take(judged.ratings.model < len(judged.models))
    columns = np.array([data.models.index(name) for name in judged.models], np.int32)
    ratings: Ratings = replace(
        own,
        item=data.positions(judged.items)[own.item].astype(np.int32),
        model=columns[own.model],
    )
    means = {name: ratings.means(name, *data.shape) for name in ratings.aspects}
    scales = {**known_scales(data), **known_scales(judged)}
    return rebuild(data, aspects={**data.aspects, **means}, ratings=ratings, scales=scales)


def _check(
    kind: str, given: NDArray[np.object_] | tuple[str, ...], known: NDArray[np.object_] | tuple[str, ...]
) -> None:
    there = set(known)
    if lost := [str(name) for name in given if name not in there]:
        raise DataError(f"The ratings are about {kind} that the set does not have: {listing(lost, 5)}.")
