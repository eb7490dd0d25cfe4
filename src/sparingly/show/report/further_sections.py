"""The sections on precision against labels, raters, costs, and how to check it all."""

from __future__ import annotations

import shlex
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from sparingly.base.format import share_text
from sparingly.data.describe.judgements import RatingsSummary
from sparingly.data.describe.judgements import ratings as summarised
from sparingly.infer.estimate.result import CHOSEN
from sparingly.infer.rank.compare import CurveComparison
from sparingly.run.raters.report import RaterReport
from sparingly.show.figures.curve import draw_curves
from sparingly.show.figures.growth import draw_growth
from sparingly.show.report.document import Commands, Facts, Notes, Part, Section, Table, Words
from sparingly.show.report.evidence import Evidence
from sparingly.show.report.pictures import picture
from sparingly.show.report.words import aligned, ended, time_text
from sparingly.show.report.writeup import is_from_pool
from sparingly.show.terminal.console import fixed

_MOST_PAIRS, _MOST_RATERS, _MOST_ROUNDS = 15, 40, 3
_AHEAD = "More judgements drawn alike would shrink the intervals as the dashed line does; see sparingly plan."


@dataclass(frozen=True)
class Effort:
    """What the judging cost.

    Attributes:
        labels: Judgements of what the report is about.
        further: Judgements of other aspects.
        items: Items that somebody judged.
        size: Items of the set, or that were drawn from.
        seconds: The time that is known, in all; None where none is.
        timed: The judgements whose time is known.
    """

    labels: int
    further: int
    items: int
    size: int
    seconds: float | None
    timed: int


def effort_of(held: Evidence) -> Effort:
    """Count the judgements that were asked for and came in, and their time."""
    data = held.data
    if held.strengths is not None:
        table = data.preferences
        known = table.seconds[~np.isnan(table.seconds)]
        items, labels = len(np.unique(table.item)), len(table)
        size = len(data) + held.outside
        return Effort(labels, 0, items, size, float(known.sum()) if len(known) else None, len(known))
    judged = ~np.isnan(data.truth(held.aspect))
    found = summarised(data)
    own = 0 if found is None else found.aspects.get(held.aspect, 0)
    time = None if found is None else found.seconds
    return Effort(
        labels=own or int(judged.sum()),
        further=0 if found is None else found.count - own,
        items=int(judged.any(axis=1).sum()),
        size=len(data) + held.outside,
        seconds=None if time is None else time.total,
        timed=0 if time is None else time.known,
    )


def curve_section(held: Evidence, *, figures: bool) -> Section | None:
    """Show how precise the scores became with the labels, and agreement with judging everything."""
    parts: list[Part] = []
    if held.growth is not None:
        words = ", ".join(f"{one.half_width:.3g} with {one.n} items" for one in held.growth.seen)
        parts.append(Words(f"The mean half-width of the intervals is {words}. {_AHEAD}"))
        if figures:
            parts.append(picture("growth", draw_growth(held.growth), f"Half-widths of intervals: {words}."))
    if held.curve is not None:
        parts += _agreement(held.curve, figures=figures)
    elif held.no_curve:
        parts.append(Words(ended(held.no_curve)))
    return Section("curves", "Precision and agreement against labels", tuple(parts)) if parts else None


def _agreement(found: CurveComparison, *, figures: bool) -> list[Part]:
    text = (
        f"Everything is judged, so the method can be held against judging everything: on average over "
        f"{len(found.curve.sizes)} budgets it reaches {found.curve.average:.3f}, random selection "
        f"{found.random.average:.3f}. This says how the method would have done, not what was found above."
    )
    rows = tuple(
        (str(size), share_text(share), fixed(value, 3), fixed(random, 3))
        for size, share, value, random in zip(
            found.curve.sizes, found.curve.shares, found.curve.values, found.random.values, strict=True
        )
    )
    measure = found.curve.measure.replace("_", " ")
    table = Table(f"{measure.capitalize()}", ("items", "share", "the method", "random, mean"), rows)
    words = f"{measure} over budgets; the table below has all numbers."
    drawn = [picture("agreement", draw_curves([found]), words)] if figures else []
    return [Words(text), *drawn, table]


def rater_section(held: Evidence) -> Section | None:
    """Show how well raters agree, how severe they are, and who is far from the rest."""
    report = held.raters
    if report is None:
        return Section("raters", "Raters", (Words(ended(held.unrated)),)) if held.unrated else None
    alpha = report.agreement.alpha
    parts: list[Part] = []
    if alpha.units:
        parts.append(
            Words(
                f"Krippendorff's α is {alpha.alpha:.3f} (95 % interval {alpha.low:.3f} to {alpha.high:.3f}), "
                f"over {alpha.units} outputs that two or more raters judged."
            )
        )
    parts.append(_flags(report))
    parts += [_severity(report), *_pairs(report)]
    notes = dict.fromkeys(map(ended, (*report.notes, *report.agreement.notes)))
    parts += [Notes(tuple(notes))] if notes else []
    return Section("raters", "Raters", tuple(parts))


def _flags(report: RaterReport) -> Part:
    if not report.flags:
        return Words("No rater is far from the rest.")
    return Notes(tuple(f"Flagged ({one.check}): {ended(one.sentence)}" for one in report.flags))


def _severity(report: RaterReport) -> Table:
    held = report.severity
    own, errors = aligned(held.severity.tolist(), 3), aligned(held.standard_errors.tolist(), 3)
    rows = tuple(
        (held.raters[place], str(int(held.judgements[place])), own[place], errors[place])
        for place in range(min(len(held.raters), _MOST_RATERS))
    )
    more = f" (the first {_MOST_RATERS} of {len(held.raters)})" if len(held.raters) > _MOST_RATERS else ""
    columns = ("rater", "outputs judged", "severity", "standard error")
    return Table(f"Raters; a negative severity scores lower than the others would{more}", columns, rows)


def _pairs(report: RaterReport) -> Iterator[Table]:
    found = sorted(report.agreement.pairs, key=lambda pair: (-pair.n, pair.first, pair.second))
    if not found:
        return
    differences = aligned((one.difference for one in found[:_MOST_PAIRS]), 3)
    rows = tuple(
        (
            f"{one.first} and {one.second}",
            str(one.n),
            fixed(one.pearson),
            fixed(one.kendall),
            share_text(one.exact),
            difference,
        )
        for one, difference in zip(found, differences, strict=False)
    )
    more = f" (the {_MOST_PAIRS} with most in common, of {len(found)})" if len(found) > _MOST_PAIRS else ""
    columns = ("raters", "in common", "Pearson", "Kendall", "same answer", "difference")
    yield Table(f"Agreement of pairs of raters{more}", columns, rows)


def cost_section(held: Evidence, spent: Effort) -> Section:
    """Show what the judging cost in labels and time."""
    rows = [
        ("labels", str(spent.labels)),
        *([("labels of other aspects", str(spent.further))] if spent.further else []),
        ("items judged", f"{spent.items} of {spent.size} ({share_text(spent.items / max(spent.size, 1))})"),
    ]
    if spent.seconds is not None and spent.timed:
        each = f"{spent.seconds / spent.timed:.3g} seconds each over {spent.timed} judgements"
        rows.append(("time", f"{time_text(spent.seconds)}, {each}"))
    else:
        rows.append(("time", "not recorded"))
    planned = [one.total_cost for one in held.rounds if one.total_cost is not None]
    if planned and held.rounds[0].cost_unit:
        rows.append(("cost as planned", f"{sum(planned):.6g} {held.rounds[0].cost_unit}"))
    parts: list[Part] = [Facts("What it cost", tuple(rows))]
    if (found := summarised(held.data)) is not None and found.raters:
        parts.append(_by_rater(found))
    return Section("costs", "Costs", tuple(parts))


def _by_rater(found: RatingsSummary) -> Table:
    ordered = sorted(found.raters.items(), key=lambda pair: (-pair[1], pair[0]))[:_MOST_RATERS]
    rows = tuple((name or "not named", str(count)) for name, count in ordered)
    more = f" (the first {_MOST_RATERS} of {len(found.raters)})" if len(found.raters) > _MOST_RATERS else ""
    return Table(f"Labels by rater, of all aspects{more}", ("rater", "labels"), rows)


def check_section(held: Evidence) -> Section:
    """Give the signatures, and say how anybody can derive it all again."""
    parts: list[Part] = [
        Words(
            "Every answer follows from its signature: the method with all parameters, the seed, the version, "
            "and digests of the data and the labels. Whoever has the data can derive it again and compare."
        )
    ]
    parts += _signatures(held)
    parts.append(Commands("How to check", _commands(held)))
    return Section("check", "Signature, and how to verify", tuple(parts))


def _signatures(held: Evidence) -> Iterator[Commands]:
    if held.rounds:
        last = held.rounds[-_MOST_ROUNDS:]
        more = (
            f"s of the last {len(last)} of {len(held.rounds)} rounds" if len(held.rounds) > len(last) else ""
        )
        several = "s of the rounds" if len(last) > 1 else " of the selection"
        yield Commands(f"Signature{more or several}", tuple(str(one.signature) for one in last))
    if held.estimate.signature is not None:
        yield Commands("Signature of the scores", (str(held.estimate.signature),))
    if held.ranking is not None and held.ranking.signature is not None:
        yield Commands("Signature of the ranking", (str(held.ranking.signature),))


def _commands(held: Evidence) -> tuple[str, ...]:
    if held.status is not None:
        return ("sparingly verify CAMPAIGN",)
    given = " SELECTION.json" if held.rounds else ""
    same = held.ranking is not None and held.ranking.target == held.ranking.scores_of
    target = f"--target {held.estimate.target} " if same and held.estimate.target != CHOSEN else ""
    lines = _of_selection(held)
    if held.strengths is not None:
        return lines
    return (
        *lines,
        f"sparingly rank DATA{given} --aspect {shlex.quote(held.aspect)} {target}--out ranking.json",
        "sparingly verify ranking.json DATA",
    )


def _of_selection(held: Evidence) -> tuple[str, ...]:
    """Return how the selection is derived again; one from a pool of sources needs that pool."""
    if not held.rounds:
        return ()
    last = held.rounds[0].signature
    first = last if last.pool is None else last.pool
    of_pool = ("sparingly pool verify SCORED_POOL {}",) if is_from_pool(first) else ()
    if last.pool is None and of_pool:
        return (of_pool[0].format("SELECTION.json"),)
    return (*(line.format("FIRST.json") for line in of_pool), "sparingly verify SELECTION.json DATA")
