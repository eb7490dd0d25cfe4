"""What the page says of a set, and what was asked of ours and reached."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks._score_errors_ours import OURS
from benchmarks.papers.saldias.cases import Cases
from benchmarks.papers.saldias.errors import Errors
from benchmarks.papers.saldias.figures import Summary, bound_figures, method_figures, quantile, rounded
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED

STRONG_SETS, STRONG_BAR, SAFE_BAR = ("wmt23_zhen", "wmt23_ende"), 0.75, 1.02


def set_figures(cases: Cases, found: Mapping[str, Errors], shares: Sequence[float]) -> dict[str, Any]:
    """Return all that the tables say about a set."""
    sizes = [len(case.data) for case in cases.cases]
    all_of_them = {name: Summary.of(errors.error) for name, errors in found.items()}
    full = BEST_PUBLISHED in found
    return {
        "name": cases.name,
        "raters": len(cases.cases) if cases.by_rater else 0,
        "systems": cases.cases[0].truth.shape[1],
        "simulations": cases.simulations,
        "items": [min(sizes), max(sizes)],
        "metrics": len(cases.metrics),
        "one": cases.one,
        "two": list(cases.two),
        "best": list(cases.best),
        "shares": list(shares),
        "draws": len(all_of_them[BASE].per_draw),
        "methods": [method_figures(name, one, all_of_them[BASE]) for name, one in all_of_them.items()],
        "bounds": bound_figures(cases, found, shares, (BASE, BEST_PUBLISHED, OURS)) if full else [],
        "beside_published": _beside(all_of_them) if full else None,
    }


def _beside(found: Mapping[str, Summary]) -> dict[str, float]:
    """Return ours minus the best published method, both as ratios to random's error."""
    ours, other, base = (found[name].per_draw for name in (OURS, BEST_PUBLISHED, BASE))
    value = float((ours.mean() - other.mean()) / base.mean())
    error = float(np.std(ours - other - value * base, ddof=1) / np.sqrt(len(ours)) / base.mean())
    return {"difference": rounded(value), "error": rounded(error)}


def line_of(one: Mapping[str, Any], method: str) -> dict[str, Any]:
    """Return the line of a method in the figures of a set."""
    return next(dict(line) for line in one["methods"] if line["method"] == method)


def bars(sets: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return what was asked of ours and what it reached; a bar is missed where the interval lies above it."""
    lines = []
    for one in sets:
        found = line_of(one, OURS)
        bar = STRONG_BAR if one["name"] in STRONG_SETS else SAFE_BAR
        what = f"{one['name']}: error at most {bar:g} of random's"
        lines.append(_bar(what, found["ratio"], found["low"], found["high"], bar))
    beside = [one["beside_published"] for one in sets if one["beside_published"] is not None]
    if beside:
        value = float(np.mean([each["difference"] for each in beside]))
        half = (
            quantile(min(one["draws"] for one in sets))
            * float(np.sqrt(np.sum([each["error"] ** 2 for each in beside])))
            / len(beside)
        )
        what = f"mean over {len(beside)} sets: ratio less that of {BEST_PUBLISHED} below 0"
        lines.append(_bar(what, value, value - half, value + half, 0.0))
    return lines


def _bar(what: str, value: float, low: float, high: float, bar: float) -> dict[str, Any]:
    return {
        "what": what,
        "value": rounded(value),
        "low": rounded(low),
        "high": rounded(high),
        "bar": bar,
        "missed": bool(low > bar),
        "reached": bool(value <= bar),
    }
