"""The current ranking as a picture: every model's score with its interval, in coordinates for an SVG."""

from __future__ import annotations

import math
from dataclasses import dataclass

from sparingly.base.format import counted
from sparingly.run.campaign.standings import Standings

WIDTH, LEFT, RIGHT, TOP, STEP = 640.0, 190.0, 24.0, 10.0, 30.0
_MOST_LETTERS = 24
_TICKS = 5


@dataclass(frozen=True)
class Line:
    """One model: its name (cut where it is long), its height, and where score and interval lie."""

    name: str
    title: str
    y: float
    score: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class Tick:
    """A number below the picture."""

    x: float
    label: str


@dataclass(frozen=True)
class Picture:
    """A picture of intervals, best model on top.

    Attributes:
        width: The width in units of the picture.
        height: Its height.
        bottom: The height of the axis.
        lines: The models.
        ticks: The numbers of the axis.
        words: What it shows, for those who cannot see it.
    """

    width: float
    height: float
    bottom: float
    lines: tuple[Line, ...]
    ticks: tuple[Tick, ...]
    words: str


def picture(found: Standings) -> Picture | None:
    """Return the picture of a ranking; None where no model has a score."""
    known = [one for one in found.models if one.score is not None]
    numbers = [value for one in known for value in (one.score, one.low, one.high) if value is not None]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    room = (high - low) * 0.04 or 1.0
    low, high = low - room, high + room

    def place(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    lines = tuple(
        Line(
            _cut(one.model),
            one.model,
            TOP + STEP * (row + 0.5),
            place(one.score or 0.0),
            None if one.low is None else place(one.low),
            None if one.high is None else place(one.high),
        )
        for row, one in enumerate(known)
    )
    bottom = TOP + STEP * len(known)
    ticks = tuple(Tick(place(value), _axis_text(value, found.is_rate)) for value in ticks_between(low, high))
    span = f"from {known[0].model} down to {known[-1].model}"
    words = f"Scores of {counted(len(known), 'model')} with their intervals, {span}."
    return Picture(WIDTH, bottom + 30.0, bottom, lines, ticks, words)


def ticks_between(low: float, high: float, most: int = _TICKS) -> list[float]:
    """Return round numbers between two ends, at most about as many as asked for."""
    rough = (high - low) / most
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * base for factor in (1.0, 2.0, 5.0, 10.0) if factor * base >= rough)
    first = math.ceil(low / step)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(count * step, digits) for count in range(first, math.floor(high / step) + 1)]


def _axis_text(value: float, is_rate: bool) -> str:
    """Return a number of the axis: a rate in percent."""
    return f"{100 * value:g} %" if is_rate else f"{value:g}"


def _cut(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"
