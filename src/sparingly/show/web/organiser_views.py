"""What the organiser's pages show, as texts and rows that a template only has to place."""

from __future__ import annotations

import random
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from statistics import median
from types import MappingProxyType
from typing import Any

from sparingly.run.campaign.access import AccessLink, AuditEntry
from sparingly.run.campaign.progress import Overview
from sparingly.run.campaign.results import Findings
from sparingly.run.forms.question import Question, QuestionTexts
from sparingly.show.web.panel import PREFIX, Panel
from sparingly.show.web.texts import visible

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
    controls: str = "-"
    repeats: str = "-"
    withdrawn: bool = False


def rater_rows(
    entries: Sequence[AccessLink],
    overview: Overview,
    known: Mapping[tuple[str, str], tuple[int, int]] = MappingProxyType({}),
) -> list[RaterRow]:
    """Return everybody who was invited or has answered, by name."""
    progress_of = {progress.rater: progress for progress in overview.raters}
    links: dict[str, list[AccessLink]] = {}
    for entry in entries:
        if entry.role == "rater":
            links.setdefault(entry.rater, []).append(entry)
    several = len({progress.data for progress in overview.rounds}) > 1
    rows = []
    for name in sorted({*progress_of, *links}):
        is_open = any(link.retired_at is None for link in links.get(name, ()))
        progress = progress_of.get(name)
        if progress is None:
            state = "invited" if is_open else "retired"
            rows.append(RaterRow(name, state, is_open, 0, 0, "-", "-", "-", ()))
            continue
        timed = progress.answers + progress.corrections - progress.without_time
        rounds = tuple(
            (f"{data}, round {count}" if several else f"round {count}", answers)
            for (data, count), answers in sorted(progress.by_round.items())
        )
        rows.append(
            RaterRow(
                name,
                ("at work" if is_open else "retired" if name in links else "no link")
                + (", answers withdrawn" if progress.withdrawn else ""),
                is_open,
                progress.answers,
                progress.corrections,
                duration(progress.seconds),
                duration(progress.seconds / timed if timed else None),
                moment(progress.last),
                rounds,
                withdrawn=progress.withdrawn,
            )
        )
    right = {key: "{} of {}".format(*counts) for key, counts in known.items()}
    return [
        replace(
            row,
            controls=right.get((row.rater, "control"), "-"),
            repeats=right.get((row.rater, "repeat"), "-"),
        )
        for row in rows
    ]


def money_rows(
    overview: Overview, rate: float | None, panel: Panel | None, has_judged_enough: Callable[[str], bool]
) -> list[tuple[str, str]]:
    """Return what is paid so far and still to come, and the pay of an hour of people who are done."""
    rows = []
    if rate is not None:
        mean = overview.cost.seconds_per_answer or 0.0
        rows.append(("cost so far", f"{rate * overview.cost.hours:,.2f}"))
        rows.append(("cost still to come", f"{rate * mean * overview.left / _HOUR:,.2f}"))
    if panel is None:
        return rows
    came = [one for one in overview.raters if one.rater.startswith(PREFIX)]
    people = [one for one in came if has_judged_enough(one.rater)]
    rows.append(("people of the panel", f"{len(people)} done, {len(came)} came"))
    times = sorted(one.seconds for one in people if one.seconds > 0)
    if times:
        middle = median(times)
        rows.append(("time of one of them", duration(middle)))
        if panel.pay is not None:
            rows.append(("pay per hour", f"{panel.pay * _HOUR / middle:,.2f}"))
            rows.append(("cost of the panel", f"{panel.pay * len(people):,.2f}"))
    return rows


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
    views = []
    for agreement in findings.agreement:
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
        flags = [flag.sentence for flag in agreement.flags]
        views.append(AgreementView(title, sentence, pairs, flags, agreement.notes))
    return views


@dataclass(frozen=True)
class AnswerView:
    """What was said of an output, or of two, on an aspect."""

    item: str
    aspect: str
    source: str
    outputs: tuple[tuple[str, str], ...]  # the models with the texts that were judged
    # Rater, score, seconds and comment, of each rater the last.
    answers: tuple[tuple[str, str, str, str], ...]
    gap: float | None  # by how much the raters differ; None where fewer than two judged


def answer_views(
    ratings: Sequence[Mapping[str, Any]],
    texts: Callable[[str], QuestionTexts],
    *,
    rater: str = "",
    model: str = "",
    item: str = "",
    items: Collection[tuple[str, str]] | None = None,
    order: str = "",
    withdrawn: Collection[str] = (),
    limit: int,
) -> tuple[list[AnswerView], int]:
    """Return the first answers that fit, by what they are about, and how many fit.

    In the order ``gap`` those on which raters differ most come first; ``sample`` draws them. Who is
    ``withdrawn`` is shown and makes no difference.
    """
    last: dict[tuple[str, ...], dict[str, Mapping[str, Any]]] = {}
    for row in ratings:
        models = (row["model"],) if row["first"] is None else (row["first"], row["second"])
        fits = model in ("", *models) and item in ("", row["item"])
        fits = fits and (items is None or (row["data"], row["item"]) in items)
        if fits:
            last.setdefault((row["data"], row["item"], row["aspect"], *models), {})[row["rater"]] = row
    found = [(key, rows) for key, rows in last.items() if not rater or rater in rows]
    gaps = {
        key: _gap([row["score"] for who, row in rows.items() if who not in withdrawn]) for key, rows in found
    }
    shown_first = found[:limit]
    if order == "sample":
        # What is looked at decides nothing, so that each look is another sample.
        shown_first = random.sample(found, min(limit, len(found)))
    elif order == "gap":
        # Where one rater judged there is no gap, and it comes last.
        size = {key: -1.0 if gap is None else gap for key, gap in gaps.items()}
        shown_first = sorted(found, key=lambda pair: size[pair[0]], reverse=True)[:limit]
    views = []
    for key, rows in shown_first:
        data, name, aspect, *judged = key
        shown, present = texts(data), set(texts(data).data.models)
        source = shown.fill(Question(name)).source
        views.append(
            AnswerView(
                name,
                aspect,
                visible(source or ""),
                tuple(
                    (one, visible((shown.output(name, one) if one in present else None) or ""))
                    for one in judged
                ),
                tuple(
                    (
                        f"{who} (withdrawn)" if who in withdrawn else who,
                        f"{row['score']:g}",
                        duration(row["seconds"]),
                        visible(row["comment"] or ""),
                    )
                    for who, row in sorted(rows.items())
                ),
                gaps[key],
            )
        )
    return views, len(found)


def domains_of(texts: Callable[[str], QuestionTexts], names: Iterable[str]) -> dict[tuple[str, str], str]:
    """Return the domain of every item that has one, by data set and item."""
    found: dict[tuple[str, str], str] = {}
    for name in names:
        data = texts(name).data
        if (domains := data.columns.get("domain")) is not None:
            found |= {
                (name, item): str(domain)
                for item, domain in zip(data.items, domains, strict=True)
                if domain is not None
            }
    return found


def _gap(scores: Sequence[float]) -> float | None:
    return max(scores) - min(scores) if len(scores) > 1 else None


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
