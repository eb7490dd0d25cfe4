"""Errors of scores by designs that draw within documents, beside those of a uniform draw of as many items."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.papers.knowles.draws import draws, means_of, seeds_of
from benchmarks.papers.knowles.sets import Set
from sparingly import EvalSet

SHARE = 0.2
UNIFORM = "uniform"
METHODS = (
    "stratified",
    "stratified:by=metrics",
    "stratified:allocation=optimal",
    "snippets:wrap=true",
    "snippets",
    "documents",
    "snippets:kind=fixed",
)
SETS = (
    Set("wmt20_ende_notext", "WMT20 English–German", "mqm", ()),
    Set("wmt21_ende", "WMT21 English–German", "mqm", ()),
    Set("wmt23_zhen", "WMT23 Chinese–English", "mqm", ()),
)


def error_figures(data: EvalSet, one: Set, text: str, count: int) -> dict[str, float]:
    """Return the mean over models and draws of |weighted mean − mean of all|, and its standard error."""
    values = data.truth(one.human)
    whole = values.mean(axis=0)
    quick = f"{text},context=0".replace("snippets,", "snippets:") if text.startswith("snippets") else text
    missed = [
        float(np.abs(means_of(draw, values, weighted=True) - whole).mean())
        for draw in draws(data, quick, SHARE, seeds_of(count))
    ]
    return {"error": float(np.mean(missed)), "spread": float(np.std(missed, ddof=1) / np.sqrt(count))}


def ratio(found: dict[str, Any], base: dict[str, Any]) -> tuple[float, float]:
    """Return an error as a share of another, and the standard error of that share."""
    share = found["error"] / base["error"]
    parts = (found["spread"] / base["error"], share * base["spread"] / base["error"])
    return share, float(np.hypot(*parts))
