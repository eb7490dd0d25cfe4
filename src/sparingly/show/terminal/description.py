"""A description of an evaluation set in the terminal."""

from __future__ import annotations

from collections.abc import Iterator

from rich.console import Console

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.data.describe import Description
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, percent


def show_description(description: Description, console: Console | None = None, most: int = 12) -> None:
    """Print what is in a set, what is missing and what is odd."""
    console = console or make_console()
    title = f"{counted(description.items, 'item')} x {counted(len(description.models), 'model')}"
    line(console, f"{description.name}: {title}" if description.name else title, style="bold")
    console.print(make_table(("", ""), list(_facts(description))))
    _show_correlations(console, description, most)
    _show_missing(console, description, most)
    notes(console, (oddity.text for oddity in description.odd))


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    yield "models", listing(description.models)
    named = {
        "metrics": [one.name for one in description.metrics],
        "aspects": [one.name for one in description.aspects],
        "references": description.references,
        "columns": description.columns,
        "cell columns": description.cells,
    }
    yield from ((f"{kind} ({len(names)})", listing(names)) for kind, names in named.items() if names)
    if (documents := description.documents) is not None:
        order = "in order" if documents.in_order else "NOT in order"
        length = f"{documents.shortest} to {documents.longest} items, median {documents.median:g}"
        yield "documents", f"{documents.count} ({length}; {order} in the file)"
    if description.domains:
        yield "domains", listing(f"{name} {count}" for name, count in description.domains.items())
    yield from _judgements(description)
    if (texts := description.texts) is not None and texts.identical_share is not None:
        shared = f"{percent(texts.identical_share)} of cells share their text with another model"
        yield "identical outputs", shared
    if description.absent:
        yield "there are no", ", ".join(description.absent)


def _judgements(description: Description) -> Iterator[tuple[str, str]]:
    if (ratings := description.ratings) is not None:
        again = f"{percent(ratings.repeated_share)} of judged cells more than once"
        remarks = f", {ratings.comments} comments" if ratings.comments else ""
        yield "ratings", f"{ratings.count} by {counted(len(ratings.raters), 'rater')}, {again}{remarks}"
        if ratings.seconds is not None:
            hours = f"{ratings.seconds.total / 3600:.1f} hours in all"
            yield "seconds", f"median {ratings.seconds.median:.0f} a rating, {hours}"
    if (pairs := description.preferences) is not None:
        compared = f"{pairs.count} over {pairs.pairs} of {pairs.possible_pairs} pairs"
        yield "preferences", f"{compared}, {percent(pairs.ties_share)} ties"


def _show_correlations(console: Console, description: Description, most: int) -> None:
    """Print how metrics agree with aspects, the best by differences first."""
    pairs = sorted(
        description.correlations, key=lambda pair: (pair.aspect, -_or_least(pair.differences), pair.metric)
    )
    shown: dict[str, int] = {}
    rows = []
    each = max(3, most // max(1, len({pair.aspect for pair in pairs})))
    for pair in pairs:
        shown[pair.aspect] = shown.get(pair.aspect, 0) + 1
        if shown[pair.aspect] <= each:
            rows.append((pair.aspect, pair.metric, *map(fixed, (pair.pooled, pair.within, pair.differences))))
    if not rows:
        return
    columns = ("aspect", "metric", "over all cells", "within items", "differences")
    console.print(make_table(columns, rows, title="correlation of metrics with aspects", numbers=3))
    if (left := len(pairs) - len(rows)) > 0:
        line(console, f"… and {left} weaker ones (--json shows all)")
    line(console, "differences: between two models on one item; this is what a ranking depends on")


def _or_least(correlation: float | None) -> float:
    """Return a correlation to sort by; one that is not there comes after all others."""
    return -2.0 if correlation is None or correlation != correlation else correlation


def _show_missing(console: Console, description: Description, most: int) -> None:
    rows = []
    for part in description.coverage:
        if part.present < part.of:
            models = listing((f"{name} {count}" for name, count in part.models.items()), 4)
            items = listing(part.examples, 3)
            rows.append(
                (part.field, f"{percent(part.share)} ({part.of - part.present} missing)", models, items)
            )
    if rows:
        columns = ("field", "there", "models that lack it", "items, for example")
        console.print(make_table(columns, rows[:most], title="what is missing"))
        if len(rows) > most:
            line(console, f"… and {len(rows) - most} more fields with gaps (--json shows all)")
