"""What the organiser's pages show, as texts and rows that a template only has to place."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from sparingly.base.format import counted, percent, share_text
from sparingly.run.campaign.access import AccessLink, AuditEntry
from sparingly.run.campaign.progress import Overview, RaterProgress
from sparingly.run.campaign.results import AspectAgreement, Findings, Standings
from sparingly.show.web.texts import visible

# --- The ranking as a picture, in coordinates for an SVG ---


WIDTH, LEFT, RIGHT, TOP, STEP = 640.0, 190.0, 24.0, 10.0, 30.0
_MOST_LETTERS = 24
_TICKS = 5


@dataclass(frozen=True)
class PictureLine:
    """One model: its name (cut where it is long), its height, and where score and interval lie."""

    name: str
    title: str
    y: float
    score: float
    low: float | None
    high: float | None


@dataclass(frozen=True)
class PictureTick:
    """A number below the picture."""

    x: float
    label: str


@dataclass(frozen=True)
class RankingPicture:
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
    lines: tuple[PictureLine, ...]
    ticks: tuple[PictureTick, ...]
    words: str


def picture(found: Standings) -> RankingPicture | None:
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
        PictureLine(
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
    ticks = tuple(
        PictureTick(place(value), _axis_text(value, found.is_rate)) for value in ticks_between(low, high)
    )
    span = f"from {known[0].model} down to {known[-1].model}"
    words = f"Scores of {counted(len(known), 'model')} with their intervals, {span}."
    return RankingPicture(WIDTH, bottom + 30.0, bottom, lines, ticks, words)


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


# --- Tables ---


_HOUR, _MINUTE = 3600, 60


def moment(text: str | datetime) -> str:
    """Return a time as people read it, in UTC: 16 Nov 2026, 02:05."""
    given = text if isinstance(text, datetime) else datetime.fromisoformat(text)
    return f"{given.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


def duration(seconds: float | None) -> str:
    """Return a duration as people read it: 40 s, 12 min, 3.5 h."""
    if seconds is None:
        return "-"
    if seconds < 2 * _MINUTE:
        return f"{seconds:.0f} s"
    return f"{seconds / _MINUTE:.0f} min" if seconds < 2 * _HOUR else f"{seconds / _HOUR:.1f} h"


def fixed(value: float, form: str = ".2f") -> str:
    """Return a number with two digits after the point, or a dash where it is not known."""
    return "-" if value != value else format(value, form)


@dataclass(frozen=True)
class RaterRow:
    """One rater: whether a link opens, and what was done."""

    rater: str
    state: str
    can_retire: bool
    answers: int
    corrections: int
    hours: str
    each: str
    last: str
    rounds: tuple[tuple[str, int], ...]


def rater_rows(entries: Sequence[AccessLink], found: Overview) -> list[RaterRow]:
    """Return everybody who was invited or has answered, by name."""
    done = {one.rater: one for one in found.raters}
    links: dict[str, list[AccessLink]] = {}
    for entry in entries:
        if entry.role == "rater":
            links.setdefault(entry.rater, []).append(entry)
    several = len({one.data for one in found.rounds}) > 1
    return [
        _rater_row(name, links.get(name, []), done.get(name), several) for name in sorted({*done, *links})
    ]


def _rater_row(name: str, links: list[AccessLink], done: RaterProgress | None, several: bool) -> RaterRow:
    is_open = any(link.retired_at is None for link in links)
    state = "no link" if not links else "invited" if is_open else "retired"
    if done is None:
        return RaterRow(name, state, is_open, 0, 0, "-", "-", "-", ())
    timed = done.answers + done.corrections - done.without_time
    rounds = tuple(
        (f"{data}, round {count}" if several else f"round {count}", answers)
        for (data, count), answers in sorted(done.by_round.items())
    )
    each = done.seconds / timed if timed else None
    return RaterRow(
        name,
        "at work" if is_open else state,
        is_open,
        done.answers,
        done.corrections,
        duration(done.seconds),
        duration(each),
        moment(done.last),
        rounds,
    )


@dataclass(frozen=True)
class RankingView:
    """The ranking of a data set with its picture."""

    found: Standings
    rows: list[tuple[str, str, str, str, str]]
    picture: RankingPicture | None


def ranking_views(found: Findings) -> list[RankingView]:
    """Return the rankings of all data sets: possible ranks, model, score, interval, chance to be the best."""
    return [RankingView(one, _ranked(one), picture(one)) for one in found.standings]


def _ranked(found: Standings) -> list[tuple[str, str, str, str, str]]:
    digits = 2 if any(abs(one.score or 0.0) >= 10 for one in found.models) else 3
    return [
        (
            one.ranks or "-",
            one.model,
            _score(one.score, digits, found.is_rate),
            one.interval or "-",
            percent(one.chance_of_best),
        )
        for one in found.models
    ]


def _score(score: float | None, digits: int, is_rate: bool) -> str:
    """Return a score with so many decimals; a rate in percent."""
    if score is None or is_rate:
        return share_text(score)
    return f"{round(score, digits) + 0.0:.{digits}f}"


@dataclass(frozen=True)
class AgreementView:
    """How well the raters of an aspect agree, in words and rows."""

    title: str
    sentence: str
    pairs: list[tuple[str, str, str, str, str, str]]
    flags: list[str]
    notes: tuple[str, ...]


def agreement_views(found: Findings) -> list[AgreementView]:
    """Return the agreement on every aspect of every data set."""
    several = len(found.standings) > 1
    return [_agreement(one, several) for one in found.agreement]


def _agreement(one: AspectAgreement, several: bool) -> AgreementView:
    sentence, what = "", "comparisons" if one.compares else "outputs"
    if one.alpha is not None:
        ends = "" if one.low is None or one.high is None else f" (95 %: {one.low:.2f} to {one.high:.2f})"
        sentence = (
            f"Krippendorff's α is {one.alpha:.2f}{ends}, on {one.common} {what} that two or more judged."
        )
    pairs = [
        (
            pair.first,
            pair.second,
            str(pair.n),
            fixed(pair.kendall),
            f"{100 * pair.exact:.0f} %",
            fixed(pair.difference, "+.2f"),
        )
        for pair in one.pairs
    ]
    title = f"{one.data}: {one.aspect}" if several else one.aspect
    return AgreementView(title, sentence, pairs, [flag.sentence for flag in one.flags], one.notes)


def log_rows(deeds: Sequence[AuditEntry]) -> list[tuple[str, str, str, str]]:
    """Return the lines of the log: when, who, what, and the particulars."""
    return [
        (
            moment(deed.at),
            visible(deed.who),
            visible(deed.what),
            visible(", ".join(f"{name}: {value}" for name, value in deed.detail.items() if value != "")),
        )
        for deed in deeds
    ]
