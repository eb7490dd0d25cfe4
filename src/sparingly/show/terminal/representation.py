"""Whom a selection over-represents, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from sparingly.base.format import counted
from sparingly.data.describe import Representation
from sparingly.data.describe.representation import Leaning, Share
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number, percent

_MOST_METRICS = 2
_MOST_LEANINGS = 6


def show_representation(
    representation: Representation, console: Console | None = None, most: int = 12
) -> None:
    """Print shares, coverage, blind spots and metric means of a selection against its set."""
    console = console or make_console()
    line(
        console,
        f"{counted(representation.n, 'chosen item')} against the {representation.of} of the set",
        style="bold",
    )
    rows = [
        (kind, share.group, percent(share.full_share), percent(share.selected_share), fixed(share.ratio))
        for kind, share in _shown(representation)
    ]
    if rows:
        console.print(make_table(("", "group", "of the set", "of the chosen", "ratio"), rows, numbers=3))
    if (left := len(representation.metrics) - _MOST_METRICS) > 0:
        line(console, f"… and {left} metrics that lean less (--json shows all)")
    _show_coverage(console, representation)
    _show_blind_spots(console, representation)
    if representation.cost is not None:
        every, chosen = representation.cost
        line(console, f"mean cost of an item: {number(every)} in the set, {number(chosen)} among the chosen")
    _show_means(console, representation, most)
    _show_leanings(console, representation)


def _shown(representation: Representation) -> Iterator[tuple[str, Share]]:
    """Yield the shares; of the metrics only those whose quarters differ most from the set's."""
    leaning = sorted(representation.metrics, key=lambda one: (-one.shift, one.metric))[:_MOST_METRICS]
    shown = {"domain", "document of", "source", "metrics", *(f"metric {one.metric}" for one in leaning)}
    for kind, shares in representation.kinds.items():
        if kind in shown:
            yield from ((kind, share) for share in shares)


def _show_coverage(console: Console, representation: Representation) -> None:
    parts = [
        f"{part.selected} of {part.of} {part.what} ({percent(part.share)})"
        for part in representation.coverage
        if not part.what.startswith("outputs of ")
    ]
    line(console, f"coverage: {', '.join(parts)}")


def _show_blind_spots(console: Console, representation: Representation) -> None:
    """Print how many bad items no metric would have found."""
    for spots in representation.blind_spots:
        told = f"no metric flags {spots.missed} of the {spots.low} items that people find bad"
        chosen = f"among the chosen, {spots.selected_missed} of {spots.selected_low}"
        line(console, f"blind spots by {spots.aspect}: {told}; {chosen}")


def _show_means(console: Console, representation: Representation, most: int) -> None:
    means = [(one.metric, one.model, number(one.full), number(one.selected)) for one in representation.means]
    if means:
        columns = ("metric", "model", "mean, all", "mean, chosen")
        console.print(make_table(columns, means[:most], numbers=2))
        if len(means) > most:
            line(console, f"… and {len(means) - most} more means (--json shows all)")


def _show_leanings(console: Console, representation: Representation) -> None:
    """Print the worst of every kind that is badly represented, or that nothing is."""
    worst: dict[str, Leaning] = {}
    for one in representation.leanings:
        worst.setdefault(one.by, one)
    # Quarters of metrics last: a selection by metrics leans there on purpose.
    shown = sorted(worst.values(), key=lambda one: one.by.startswith("metric "))[:_MOST_LEANINGS]
    for one in shown:
        line(console, f"warning: {one.text}", style="bold yellow")
    if (left := len(representation.leanings) - len(shown)) > 0:
        line(console, f"… and {left} more groups are badly represented (--json shows all)")
    if not representation.leanings:
        line(console, "nothing is badly over- or under-represented")
    notes(console, representation.notes)
