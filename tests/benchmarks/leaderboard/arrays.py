"""Results put together from arrays, without a table."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import ArrayLike

from benchmarks.leaderboard.results import (
    ANNOTATION_SECONDS,
    LABELS,
    MEASURES,
    SPA,
    EntryInfo,
    Results,
    Runs,
    SetInfo,
)

ITEMS, MODELS = 200, 10


def runs_of(
    whole: ArrayLike,
    shares: ArrayLike = (0.1, 0.2),
    *,
    resampled: ArrayLike | None = None,
    measure: str = SPA,
    **more: ArrayLike,
) -> Runs:
    """Runs of one measure: rows on the whole set, then one row per resample."""
    rows = np.atleast_2d(np.asarray(whole, float))
    resamples = np.zeros(len(rows), np.int64)
    if resampled is not None:
        extra = np.atleast_2d(np.asarray(resampled, float))
        resamples = np.concatenate([resamples, np.arange(1, len(extra) + 1)])
        rows = np.concatenate([rows, extra])
    places = np.asarray(shares, float)
    values = {name: np.full(rows.shape, np.nan) for name in MEASURES}
    values[LABELS] = np.tile(places * ITEMS * MODELS, (len(rows), 1))
    values[ANNOTATION_SECONDS] = 30.0 * values[LABELS]
    values[measure] = rows
    for name, array in more.items():
        values[name] = np.broadcast_to(np.asarray(array, float), rows.shape).copy()
    return Runs(places, resamples, values)


def set_info(name: str, *, strong: bool = False, counts: bool = True) -> SetInfo:
    return SetInfo(name, "made", "overall", "chrF", strong, counts, ITEMS, MODELS)


def entry_info(
    name: str, method: str = "made", estimator: str | None = None, p_values: str = "own"
) -> EntryInfo:
    return EntryInfo(
        name, "random" if name == "random" else method, estimator, p_values, None, None, "stochastic"
    )


def results_of(
    runs: Mapping[tuple[str, str], Runs],
    *,
    strong: tuple[str, ...] = (),
    apart: tuple[str, ...] = (),
    infos: tuple[EntryInfo, ...] = (),
) -> Results:
    names, entries = sorted({name for name, _ in runs}), sorted({entry for _, entry in runs})
    told = {info.entry: info for info in infos}
    return Results(
        {name: set_info(name, strong=name in strong, counts=name not in apart) for name in names},
        {entry: told.get(entry, entry_info(entry)) for entry in entries},
        runs,
        [],
    )
