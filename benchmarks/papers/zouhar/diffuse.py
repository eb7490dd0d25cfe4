"""Which form of ``diffuse`` is best on sets that nobody had looked at when its default was chosen."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks.pages import folded, signed, table
from benchmarks.papers.work import UNSEEN, Interval, Work
from benchmarks.papers.zouhar.spa import Row, mark, setting_figures
from sparingly.base.arrays import Floats

Figures = dict[str, Any]

DISTANCE, CONCAT, MEAN = "diffuse:pairs=distance", "diffuse:pairs=concat", "diffuse:pairs=mean"
WEIGHTED = ",weighted=true"
FORMS = (DISTANCE, CONCAT, MEAN, *(f"{form}{WEIGHTED}" for form in (DISTANCE, CONCAT, MEAN)))
ROWS = (*(Row(form) for form in FORMS), Row("max_norm"), Row("kmeans", is_seeded=True))
CONTRASTS = (
    (DISTANCE, CONCAT),
    (DISTANCE, MEAN),
    (CONCAT, MEAN),
    *((form, f"{form}{WEIGHTED}") for form in (DISTANCE, CONCAT, MEAN)),
)


def figures(work: Work) -> Figures:
    """Compute the figures of the table."""
    return {"settings": [setting_figures(work, setting, ROWS) for setting in work.settings(UNSEEN)]}


def blocks(computed: Figures) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    settings = computed["settings"]
    by_set = folded("Gain over random, set by set", _by_set(settings))
    return {"diffuse": f"{_gains(settings)}\n\n{_contrasts(settings)}\n\n{by_set}"}


def gains(settings: Sequence[Figures], method: str) -> Floats:
    """Return a method's gain over random's mean in every setting."""
    return np.array([_found(setting, method)["mean"] - setting["random"]["mean"] for setting in settings])


def _found(setting: Mapping[str, Any], method: str) -> Figures:
    return next(row for row in setting["methods"] if row["method"] == method)


def _gains(settings: Sequence[Figures]) -> str:
    rows = []
    for row in ROWS:
        gain = gains(settings, row.method)
        high = [_found(setting, row.method)["mean"] > setting["random"]["high"] for setting in settings]
        low = [mark(_found(setting, row.method), setting["random"]) == "▼▼" for setting in settings]
        counts = [f"{sum(which)} of {len(settings)}" for which in ((gain > 0).tolist(), high, low)]
        rows.append([f"`{row.method}`", *_mean_and_interval(gain), *counts])
    head = ["method", "mean gain, points", "90 % interval over sets", "sets above random's mean"]
    return table([*head, "above its 90 % interval", "below it"], rows)


def _contrasts(settings: Sequence[Figures]) -> str:
    rows = []
    for first, second in CONTRASTS:
        difference = gains(settings, first) - gains(settings, second)
        better = f"{int((difference > 0).sum())} of {len(settings)}"
        rows.append([f"`{first}`", f"`{second}`", *_mean_and_interval(difference), better])
    head = ["method", "against", "mean difference, points", "90 % interval over sets", "sets where better"]
    return table(head, rows, texts=2)


def _mean_and_interval(values: Floats) -> tuple[str, str]:
    found = Interval.of(values)
    if found.low is None or found.high is None:
        return signed(found.mean), "–"
    return signed(found.mean), f"{signed(found.low)} to {signed(found.high)}"


def _by_set(settings: Sequence[Figures]) -> str:
    rows = []
    for row in ROWS:
        marks = [mark(_found(setting, row.method), setting["random"]) for setting in settings]
        cells = zip(gains(settings, row.method), marks, strict=True)
        rows.append([f"`{row.method}`", *(f"{signed(gain)} {sign}".strip() for gain, sign in cells)])
    return table(["method", *(setting["title"] for setting in settings)], rows)
