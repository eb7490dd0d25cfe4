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


def picture(standings: Standings) -> RankingPicture | None:
    """Return the picture of a ranking; None where no model has a score."""
    scored = [standing for standing in standings.models if standing.score is not None]
    numbers = [
        value
        for standing in scored
        for value in (standing.score, standing.low, standing.high)
        if value is not None
    ]
    if not numbers:
        return None
    low, high = min(numbers), max(numbers)
    room = (high - low) * 0.04 or 1.0
    low, high = low - room, high + room

    def place(value: float) -> float:
        return round(LEFT + (value - low) / (high - low) * (WIDTH - LEFT - RIGHT), 1)

    lines = tuple(
        PictureLine(
            _shorten(standing.model),
            standing.model,
            TOP + STEP * (row + 0.5),
            place(standing.score or 0.0),
            None if standing.low is None else place(standing.low),
            None if standing.high is None else place(standing.high),
        )
        for row, standing in enumerate(scored)
    )
    bottom = TOP + STEP * len(scored)
    ticks = tuple(
        PictureTick(place(value), _axis_text(value, standings.is_rate)) for value in ticks_between(low, high)
    )
    span = f"from {scored[0].model} down to {scored[-1].model}"
    words = f"Scores of {counted(len(scored), 'model')} with their intervals, {span}."
    return RankingPicture(WIDTH, bottom + 30.0, bottom, lines, ticks, words)


def ticks_between(low: float, high: float, count_at_most: int = _TICKS) -> list[float]:
    """Return round numbers between two ends, at most about as many as asked for."""
    rough = (high - low) / count_at_most
    base = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * base for factor in (1.0, 2.0, 5.0, 10.0) if factor * base >= rough)
    first = math.ceil(low / step)
    digits = max(0, -math.floor(math.log10(step)))
    return [round(count * step, digits) for count in range(first, math.floor(high / step) + 1)]


def _axis_text(value: float, is_rate: bool) -> str:
    """Return a number of the axis: a rate in percent."""
    return f"{100 * value:g} %" if is_rate else f"{value:g}"


def _shorten(name: str) -> str:
    return name if len(name) <= _MOST_LETTERS else f"{name[: _MOST_LETTERS - 1]}…"


# --- Tables ---


_HOUR, _MINUTE = 3600, 60


def moment(text: str | datetime) -> str:
    """Return a time as people read it, in UTC: 16 Nov 2026, 02:05."""
    time = text if isinstance(text, datetime) else datetime.fromisoformat(text)
    return f"{time.astimezone(UTC):%-d %b %Y, %H:%M} UTC"


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
    mean_time: str
    last: str
    rounds: tuple[tuple[str, int], ...]


def rater_rows(entries: Sequence[AccessLink], overview: Overview) -> list[RaterRow]:
    """Return everybody who was invited or has answered, by name."""
    progress_of = {progress.rater: progress for progress in overview.raters}
    links: dict[str, list[AccessLink]] = {}
    for entry in entries:
        if entry.role == "rater":
            links.setdefault(entry.rater, []).append(entry)
    several = len({progress.data for progress in overview.rounds}) > 1
    return [
        _rater_row(name, links.get(name, []), progress_of.get(name), several)
        for name in sorted({*progress_of, *links})
    ]


def _rater_row(name: str, links: list[AccessLink], progress: RaterProgress | None, several: bool) -> RaterRow:
    is_open = any(link.retired_at is None for link in links)
    state = "no link" if not links else "invited" if is_open else "retired"
    if progress is None:
        return RaterRow(name, state, is_open, 0, 0, "-", "-", "-", ())
    timed = progress.answers + progress.corrections - progress.without_time
    rounds = tuple(
        (f"{data}, round {count}" if several else f"round {count}", answers)
        for (data, count), answers in sorted(progress.by_round.items())
    )
    mean_time = progress.seconds / timed if timed else None
    return RaterRow(
        name,
        "at work" if is_open else state,
        is_open,
        progress.answers,
        progress.corrections,
        duration(progress.seconds),
        duration(mean_time),
        moment(progress.last),
        rounds,
    )


@dataclass(frozen=True)
class RankingView:
    """The ranking of a data set with its picture."""

    standings: Standings
    rows: list[tuple[str, str, str, str, str]]
    picture: RankingPicture | None


def ranking_views(findings: Findings) -> list[RankingView]:
    """Return the rankings of all data sets: possible ranks, model, score, interval, chance to be the best."""
    return [
        RankingView(standings, _ranked(standings), picture(standings)) for standings in findings.standings
    ]


def _ranked(standings: Standings) -> list[tuple[str, str, str, str, str]]:
    digits = 2 if any(abs(standing.score or 0.0) >= 10 for standing in standings.models) else 3
    return [
        (
            standing.ranks or "-",
            standing.model,
            _score(standing.score, digits, standings.is_rate),
            standing.interval or "-",
            percent(standing.chance_of_best),
        )
        for standing in standings.models
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


def agreement_views(findings: Findings) -> list[AgreementView]:
    """Return the agreement on every aspect of every data set."""
    several = len(findings.standings) > 1
    return [_agreement(agreement, several) for agreement in findings.agreement]


def _agreement(agreement: AspectAgreement, several: bool) -> AgreementView:
    sentence, noun = "", "comparisons" if agreement.compares else "outputs"
    if agreement.alpha is not None:
        low, high = agreement.low, agreement.high
        ends = "" if low is None or high is None else f" (95 %: {low:.2f} to {high:.2f})"
        basis = f"{agreement.common} {noun} that two or more judged"
        sentence = f"Krippendorff's α is {agreement.alpha:.2f}{ends}, on {basis}."
    pairs = [
        (
            pair.first,
            pair.second,
            str(pair.n),
            fixed(pair.kendall),
            f"{100 * pair.exact:.0f} %",
            fixed(pair.difference, "+.2f"),
        )
        for pair in agreement.pairs
    ]
    title = f"{agreement.data}: {agreement.aspect}" if several else agreement.aspect
    return AgreementView(title, sentence, pairs, [flag.sentence for flag in agreement.flags], agreement.notes)


def log_rows(entries: Sequence[AuditEntry]) -> list[tuple[str, str, str, str]]:
    """Return the lines of the log: when, who, what, and the particulars."""
    return [
        (
            moment(entry.at),
            visible(entry.actor),
            visible(entry.action),
            visible(", ".join(f"{name}: {value}" for name, value in entry.detail.items() if value != "")),
        )
        for entry in entries
    ]
