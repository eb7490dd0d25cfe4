"""A made evaluation set that has everything, in any order of its items and models."""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.data.evalset import EvalSet
from sparingly.data.tables import Ratings

ITEMS = [f"item {place:02d}" if place % 3 else f"größe-{place:02d}" for place in range(48)]
MODELS = ["base", "large (beam = 4)", "SWSS+METEOR", "tiny", "zero|shot"]
DOCUMENTS = [f"doc {place // 3:02d}" for place in range(48)]
DOMAINS = ["news" if place < 24 else "social" if place < 39 else "speech" for place in range(48)]
SCORELESS = 7


def scores() -> NDArray[np.float64]:
    """Scores with ties, gaps and, on one item, no score at all."""
    drawn = np.random.default_rng(5).normal(size=(48, 5)).round(1)
    drawn[11, 2] = drawn[30, :4] = np.nan
    drawn[SCORELESS] = np.nan
    # Items on which all models are equal, and two pairs of items that no utility can tell apart.
    drawn[20] = 0.5
    drawn[21], drawn[23] = drawn[40], drawn[41]
    return drawn


@cache
def made_set(*, shuffled: int | None = None) -> EvalSet:
    """Return the set, built from arrays in the order of the ids or shuffled."""
    return build(scores(), shuffled)


def build(metric: NDArray[np.float64], shuffled: int | None = None) -> EvalSet:
    """Build the set with other scores."""
    rows, columns = np.arange(48), np.arange(5)
    if shuffled is not None:
        drawn = np.random.default_rng(shuffled)
        rows, columns = drawn.permutation(48), drawn.permutation(5)
    human = np.random.default_rng(6).normal(size=(48, 5)).round(2)
    outputs = np.array(
        [[f"output {'so ' * (row % 4 + place)}" for place in range(5)] for row in range(48)], object
    )
    by_item: dict[str, list[Any]] = {
        "document": DOCUMENTS,
        "position": [place % 3 for place in range(48)],
        "domain": DOMAINS,
        "cost": [1.0 + place * 7 % 11 for place in range(48)],
        "weight": [1.0 + place % 2 for place in range(48)],
        "topic": [None if place == 3 else place % 4 for place in range(48)],
    }
    return EvalSet.from_arrays(
        [ITEMS[row] for row in rows],
        [MODELS[column] for column in columns],
        metrics={"score": metric[np.ix_(rows, columns)]},
        aspects={"overall": human[np.ix_(rows, columns)]},
        sources=[f"source {'word ' * (row % 9)}" for row in rows],
        outputs=outputs[np.ix_(rows, columns)],
        references={"A": [f"reference {row}" for row in rows]},
        columns={name: [values[row] for row in rows] for name, values in by_item.items()},
        ratings=_ratings(np.argsort(rows), np.argsort(columns)),
    )


def _ratings(rows: NDArray[np.int64], columns: NDArray[np.int64]) -> Ratings:
    """Forty ratings with seconds that grow with the length of the source."""
    item = np.arange(40)
    return Ratings(
        item=rows[item].astype(np.int32),
        model=columns[item % 5].astype(np.int32),
        rater=(item % 2).astype(np.int32),
        aspect=np.zeros(40, np.int32),
        score=(item % 7).astype(np.float64),
        seconds=np.asarray(10.0 + 3.0 * (item % 9) + item % 2, np.float64),
        raters=("r1", "r2"),
        aspects=("adequacy",),
    )
