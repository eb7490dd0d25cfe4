"""Figures made of errors: means, deviations, wins, ratios to random's with their intervals, bounds, bars."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from _score_errors_cases import Cases, Floats
from _score_errors_draws import count_of
from _score_errors_methods import BASE, BEST_PUBLISHED, OURS
from _score_errors_work import Errors
from sparingly.infer.estimate.bounds import empirical_bernstein, hoeffding_serfling

BOUND_SHARES = (0.1, 0.3, 0.5)
# The ranges that the paper chose by looking, for these two directions of translation.
PUBLISHED_RANGES = {"wmt20_ende_notext": 4.0, "wmt23_ende": 4.0, "ted21_ende": 4.0, "wmt23_zhen": 7.0}
STRONG_SETS, STRONG_BAR, SAFE_BAR = ("wmt23_zhen", "wmt23_ende"), 0.75, 1.02


def per_draw(error: Floats) -> Floats:
    """Return the mean over shares and simulations, one number per draw."""
    return np.asarray(error.mean(axis=(0, 2)))


def ratio(error: Floats, baseline: Floats) -> tuple[float, float]:
    """Return the ratio of two mean errors and its standard error, by the delta method over draws.

    r = ā/b̄ with the standard error of (a_d − r·b_d)/b̄ over draws d, which holds for paired and for
    independent draws alike.
    """
    a, b = per_draw(error), per_draw(baseline)
    value = float(a.mean() / b.mean())
    return value, float(np.std(a - value * b, ddof=1) / np.sqrt(len(a)) / b.mean())


def interval(value: float, error: float, draws: int) -> dict[str, float]:
    """Return a figure with its 95 % t interval."""
    half = quantile(draws) * error
    return {"ratio": rounded(value), "low": rounded(value - half), "high": rounded(value + half)}


def quantile(draws: int) -> float:
    """Return how many standard errors a 95 % interval reaches."""
    from scipy.special import stdtrit

    return float(stdtrit(draws - 1, 0.975))


def method_figures(name: str, error: Floats, baseline: Floats) -> dict[str, Any]:
    """Return the line of a method: the columns of the paper's tables, and the ratio to random's error."""
    means, base = error.mean(axis=1), baseline.mean(axis=1)
    return {
        "method": name,
        "error": rounded(error.mean()),
        "sd": rounded(error.std(axis=1, ddof=1).mean()),
        "win": None if name == BASE else rounded((means < base).mean()),
        **interval(*ratio(error, baseline), error.shape[1]),
        "by_share": [rounded(value) for value in means.mean(axis=1) / base.mean(axis=1)],
    }


def set_figures(cases: Cases, found: Mapping[str, Errors], shares: Sequence[float]) -> dict[str, Any]:
    """Return all that the tables say about a set."""
    sizes = [len(case.data) for case in cases.cases]
    baseline = found[BASE].error
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
        "draws": int(baseline.shape[1]),
        "methods": [method_figures(name, errors.error, baseline) for name, errors in found.items()],
        "bounds": bound_figures(cases, found, shares) if BEST_PUBLISHED in found else [],
        "beside_published": _beside(found) if BEST_PUBLISHED in found else None,
    }


def _beside(found: Mapping[str, Errors]) -> dict[str, float]:
    """Return ours minus the best published method, both as ratios to random's error."""
    ours, other, base = (per_draw(found[name].error) for name in (OURS, BEST_PUBLISHED, BASE))
    value = float((ours.mean() - other.mean()) / base.mean())
    error = float(np.std(ours - other - value * base, ddof=1) / np.sqrt(len(ours)) / base.mean())
    return {"difference": rounded(value), "error": rounded(error)}


def bound_figures(cases: Cases, found: Mapping[str, Errors], shares: Sequence[float]) -> list[dict[str, Any]]:
    """Return how often the error kept to a bound, by how much it stayed below, and the bound itself."""
    lines = []
    for share in BOUND_SHARES:
        place = list(shares).index(share)
        for name in (BASE, BEST_PUBLISHED, OURS):
            error, deviation = found[name].error[place], found[name].deviation[place]
            for bound, width in _widths(cases, share, deviation).items():
                lines.append(
                    {
                        "share": share,
                        "method": name,
                        "bound": bound,
                        "calibration": rounded((error <= width).mean()),
                        "slack": rounded((width - error).mean()),
                        "width": rounded(width.mean()),
                    }
                )
    return lines


def _widths(cases: Cases, share: float, deviation: Floats) -> dict[str, Floats]:
    """Return the half widths of the bounds, draws × simulations."""
    hoeffding, bernstein = [], []
    start = 0
    for case in cases.cases:
        n, size, systems = count_of(case, share), len(case.data), case.truth.shape[1]
        spread = np.ptp(case.truth, axis=0)
        own = deviation[:, start : start + systems]
        start += systems
        hoeffding.append(np.broadcast_to(spread * hoeffding_serfling(n, size, 1.0), own.shape))
        bernstein.append(empirical_bernstein(own, n, 0.0) + spread * empirical_bernstein(0.0, n, 1.0))
    found = {"Hoeffding": np.concatenate(hoeffding, axis=1), "Bernstein": np.concatenate(bernstein, axis=1)}
    if cases.name in PUBLISHED_RANGES:
        chosen = PUBLISHED_RANGES[cases.name]
        widths = [
            np.full(case.truth.shape[1], hoeffding_serfling(count_of(case, share), len(case.data), chosen))
            for case in cases.cases
        ]
        found[f"Hoeffding, R = {chosen:g}"] = np.broadcast_to(np.concatenate(widths), deviation.shape)
    return found


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


def rounded(value: float | np.floating[Any]) -> float:
    """Return a number as it is written into results: the last bits differ between machines."""
    return round(float(value), 5)
