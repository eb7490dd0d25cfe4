"""Evaluation sets in the terminal: what is in one, whom a selection over-represents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, number, percent

if TYPE_CHECKING:
    from sparingly.data.describe import Description, Representation
    from sparingly.data.describe.representation import Leaning, Share
    from sparingly.data.evalset import EvalSet

# --- an evaluation set ----------------------------------------------------------------------------


def show_description(description: Description, console: Console | None = None, limit: int = 12) -> None:
    """Print what is in a set, what is missing and what is odd."""
    console = console or make_console()
    title = f"{counted(description.items, 'item')} x {counted(len(description.models), 'model')}"
    line(console, f"{description.name}: {title}" if description.name else title, style="bold")
    console.print(make_table(("", ""), list(_facts(description))))
    _show_correlations(console, description, limit)
    _show_missing(console, description, limit)
    notes(console, (oddity.text for oddity in description.odd))


def _facts(description: Description) -> Iterator[tuple[str, str]]:
    yield "models", listing(description.models)
    rows = {
        "metrics": [column.name for column in description.metrics],
        "aspects": [column.name for column in description.aspects],
        "references": description.references,
        "columns": description.columns,
        "cell columns": description.cells,
    }
    yield from ((f"{kind} ({len(names)})", listing(names)) for kind, names in rows.items() if names)
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
        repeated = f"{percent(ratings.repeated_share)} of judged cells more than once"
        remarks = f", {ratings.comments} comments" if ratings.comments else ""
        yield "ratings", f"{ratings.count} by {counted(len(ratings.raters), 'rater')}, {repeated}{remarks}"
        if ratings.seconds is not None:
            hours = f"{ratings.seconds.total / 3600:.1f} hours in all"
            yield "seconds", f"median {ratings.seconds.median:.0f} a rating, {hours}"
    if (pairs := description.preferences) is not None:
        compared = f"{pairs.count} over {pairs.pairs} of {pairs.possible_pairs} pairs"
        yield "preferences", f"{compared}, {percent(pairs.ties_share)} ties"


def _show_correlations(console: Console, description: Description, limit: int) -> None:
    """Print how metrics agree with aspects, the best by differences first."""
    pairs = sorted(
        description.correlations, key=lambda pair: (pair.aspect, -_or_least(pair.differences), pair.metric)
    )
    counts: dict[str, int] = {}
    rows = []
    per_aspect = max(3, limit // max(1, len({pair.aspect for pair in pairs})))
    for pair in pairs:
        counts[pair.aspect] = counts.get(pair.aspect, 0) + 1
        if counts[pair.aspect] <= per_aspect:
            rows.append((pair.aspect, pair.metric, *map(fixed, (pair.pooled, pair.within, pair.differences))))
    if not rows:
        return
    columns = ("aspect", "metric", "over all cells", "within items", "differences")
    console.print(make_table(columns, rows, title="correlation of metrics with aspects", numbers=3))
    if (hidden := len(pairs) - len(rows)) > 0:
        line(console, f"… and {hidden} weaker ones (--json shows all)")
    line(console, "differences: between two models on one item; this is what a ranking depends on")


def _or_least(correlation: float | None) -> float:
    """Return a correlation to sort by; one that is not there comes after all others."""
    return -2.0 if correlation is None or correlation != correlation else correlation


def _show_missing(console: Console, description: Description, limit: int) -> None:
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
        console.print(make_table(columns, rows[:limit], title="what is missing"))
        if len(rows) > limit:
            line(console, f"… and {len(rows) - limit} more fields with gaps (--json shows all)")


# --- representation -------------------------------------------------------------------------------


_MOST_METRICS = 2
_MOST_LEANINGS = 6


def show_representation(
    representation: Representation, console: Console | None = None, limit: int = 12
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
        for kind, share in _shares_to_show(representation)
    ]
    if rows:
        console.print(make_table(("", "group", "of the set", "of the chosen", "ratio"), rows, numbers=3))
    if (hidden := len(representation.metrics) - _MOST_METRICS) > 0:
        line(console, f"… and {hidden} metrics that lean less (--json shows all)")
    _show_coverage(console, representation)
    _show_blind_spots(console, representation)
    if representation.cost is not None:
        total, chosen = representation.cost
        line(console, f"mean cost of an item: {number(total)} in the set, {number(chosen)} among the chosen")
    _show_means(console, representation, limit)
    _show_leanings(console, representation)


def _shares_to_show(representation: Representation) -> Iterator[tuple[str, Share]]:
    """Yield the shares; of the metrics only those whose quarters differ most from the set's."""
    leaning = sorted(representation.metrics, key=lambda metric: (-metric.shift, metric.metric))[
        :_MOST_METRICS
    ]
    kinds = {"domain", "document of", "source", "metrics", *(f"metric {metric.metric}" for metric in leaning)}
    for kind, shares in representation.kinds.items():
        if kind in kinds:
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
        sentence = f"no metric flags {spots.missed} of the {spots.low} items that people find bad"
        chosen = f"among the chosen, {spots.selected_missed} of {spots.selected_low}"
        line(console, f"blind spots by {spots.aspect}: {sentence}; {chosen}")


def _show_means(console: Console, representation: Representation, limit: int) -> None:
    means = [
        (mean.metric, mean.model, number(mean.full), number(mean.selected)) for mean in representation.means
    ]
    if means:
        columns = ("metric", "model", "mean, all", "mean, chosen")
        console.print(make_table(columns, means[:limit], numbers=2))
        if len(means) > limit:
            line(console, f"… and {len(means) - limit} more means (--json shows all)")


def _show_leanings(console: Console, representation: Representation) -> None:
    """Print the worst of every kind that is badly represented, or that nothing is."""
    worst: dict[str, Leaning] = {}
    for leaning in representation.leanings:
        worst.setdefault(leaning.by, leaning)
    # Quarters of metrics last: a selection by metrics leans there on purpose.
    leanings = sorted(worst.values(), key=lambda leaning: leaning.by.startswith("metric "))[:_MOST_LEANINGS]
    for leaning in leanings:
        line(console, f"warning: {leaning.text}", style="bold yellow")
    if (hidden := len(representation.leanings) - len(leanings)) > 0:
        line(console, f"… and {hidden} more groups are badly represented (--json shows all)")
    if not representation.leanings:
        line(console, "nothing is badly over- or under-represented")
    notes(console, representation.notes)


# --- conversion -----------------------------------------------------------------------------------


def show_conversion(data: EvalSet, target: Path, lost: Sequence[str], console: Console | None = None) -> None:
    """Print what was written and list what the format cannot carry."""
    console = console or make_console()
    line(console, f"{counted(len(data), 'item')} x {counted(len(data.models), 'model')} written to {target}")
    if lost:
        line(console, f"not carried by this format: {', '.join(lost)}", style="yellow")
    else:
        line(console, "everything was carried over")
