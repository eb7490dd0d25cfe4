"""Small multiples: on every set, the accuracy of every entry over the budgets, beside random's band."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

import numpy as np

from benchmarks.leaderboard.results import RANDOM, SPA, Results, SetInfo
from sparingly.base.arrays import Floats

_WIDTH, _HEIGHT = 260.0, 150.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 30.0, 8.0, 6.0, 20.0
_BAND = (0.05, 0.95)
_PAD = 0.004
_TICKS = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.2)
_MOST_TICKS = 5
COLOURS = 7


class _Axes:
    """Where shares and accuracies lie in the picture."""

    def __init__(self, shares: Floats, low: float) -> None:
        self.first, self.last = float(shares.min()), float(shares.max())
        self.low, self.high = max(0.0, low - _PAD), 1.0

    def x(self, share: float) -> float:
        inside = _WIDTH - _LEFT - _RIGHT
        span = self.last - self.first
        return inside * ((share - self.first) / span if span > 0.0 else 0.5)

    def y(self, value: float) -> float:
        return (_HEIGHT - _TOP - _BOTTOM) * (self.high - value) / max(self.high - self.low, 1e-9)

    def points(self, shares: Iterable[float], values: Iterable[float]) -> str:
        places = zip(shares, values, strict=True)
        return " ".join(
            f"{self.x(share):.1f},{self.y(value):.1f}" for share, value in places if value == value
        )

    def ticks(self) -> list[float]:
        """Return round accuracies, at most five."""
        span = self.high - self.low
        step = next((tick for tick in _TICKS if span / tick <= _MOST_TICKS), _TICKS[-1])
        first = int(np.ceil(round(self.low / step, 6)))
        return [count * step for count in range(first, round(self.high / step) + 1)]


def picture(results: Results, name: str, numbers: Mapping[str, int], shown: Sequence[str]) -> str:
    """Return the picture of a set as a figure of HTML.

    Every entry's line carries its number; those that are not ``shown`` are hidden until they are asked for.
    The scale fits random's band and the entries that are shown.
    """
    curves = {entry: found for entry in numbers if (found := _curve(results, name, entry)) is not None}
    visible = [values for entry, (_, values) in curves.items() if entry in (*shown, RANDOM)]
    band = _band_of(results, name)
    lowest = [float(np.nanmin(values)) for values in visible] + ([] if band is None else [float(band.min())])
    shares = np.concatenate([found[0] for found in curves.values()]) if curves else np.array([0.0, 1.0])
    axes = _Axes(shares, min(lowest, default=0.5))
    parts = [] if band is None else [_band(axes, curves[RANDOM][0], band)]
    for entry, (places, values) in curves.items():
        points = axes.points(places, values)
        if entry == RANDOM:
            parts.append(f'<polyline class="random" points="{points}"/>')
        else:
            kind = line_kind(entry, numbers[entry], shown)
            parts.append(f'<polyline {kind} points="{points}"/>')
    inside = (
        f'<svg x="{_LEFT:g}" y="{_TOP:g}" width="{_WIDTH - _LEFT - _RIGHT:g}" '
        f'height="{_HEIGHT - _TOP - _BOTTOM:g}">{"".join(parts)}</svg>'
    )
    spoken = escape(_spoken(name, curves, shown))
    start = f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" aria-label="{spoken}">'
    return f"<figure>{_caption(results.sets[name])}{start}{_frame(axes)}{inside}</svg></figure>"


def _curve(results: Results, name: str, entry: str) -> tuple[Floats, Floats] | None:
    """Return the budgets and the mean accuracies of an entry on a set, None where it has none."""
    runs = results.runs.get((name, entry))
    if runs is None or np.isnan(runs.curve(SPA)).all():
        return None
    return runs.shares, runs.curve(SPA)


def _band_of(results: Results, name: str) -> Floats | None:
    """Return between which accuracies 90 % of random's runs lie, at every budget."""
    runs = results.runs.get((name, RANDOM))
    if runs is None:
        return None
    whole = runs.whole(SPA)
    whole = whole[~np.isnan(whole).any(axis=1)]
    return np.quantile(whole, _BAND, axis=0) if len(whole) else None


def _band(axes: _Axes, shares: Floats, band: Floats) -> str:
    there = axes.points(shares, band[0]).split()
    back = axes.points(shares, band[1]).split()[::-1]
    return f'<polygon class="band" points="{" ".join([*there, *back])}"/>'


def line_kind(entry: str, number: int, shown: Sequence[str]) -> str:
    """Return the attributes of an entry's line: its number, and its colour if it is shown at first."""
    if entry in shown:
        return f'class="line c{shown.index(entry) % COLOURS}" data-entry="{number}"'
    return f'class="line" data-entry="{number}" hidden'


def _frame(axes: _Axes) -> str:
    right = _WIDTH - _RIGHT
    lines = []
    for value in axes.ticks():
        y = _TOP + axes.y(value)
        lines.append(f'<line class="grid" x1="{_LEFT:g}" x2="{right:g}" y1="{y:.1f}" y2="{y:.1f}"/>')
        lines.append(f'<text x="{_LEFT - 4:g}" y="{y + 3:.1f}" text-anchor="end">{_percent(value)}</text>')
    for share, anchor in ((axes.first, "start"), (axes.last, "end")):
        x = _LEFT + axes.x(share)
        lines.append(
            f'<text x="{x:.1f}" y="{_HEIGHT - 6:g}" text-anchor="{anchor}">{100 * share:.0f} %</text>'
        )
    return "".join(lines)


def _percent(value: float) -> str:
    return f"{100 * value:.1f}".removesuffix(".0")


def _caption(info: SetInfo) -> str:
    mark = "strong" if info.strong else "weak"
    metric = "" if info.metric is None else f", {info.metric}"
    about = f"{info.items} × {info.models}, {info.truth}{metric}"
    return (
        f'<figcaption><b>{escape(info.set)}</b> <span class="mark {mark}">{mark}</span>'
        f"<small>{escape(about)}</small></figcaption>"
    )


def _spoken(name: str, curves: Mapping[str, tuple[Floats, Floats]], shown: Sequence[str]) -> str:
    told = [
        f"{entry} {100 * float(np.nanmean(curves[entry][1])):.1f}"
        for entry in (RANDOM, *shown)
        if entry in curves
    ]
    return f"Accuracy on {name}, mean over the budgets: {', '.join(told)}"
