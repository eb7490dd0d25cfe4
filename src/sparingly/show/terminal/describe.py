"""Evaluation sets in the terminal: what is in one, whom a selection over-represents."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.base.syntax import argument, role_argument
from sparingly.show.terminal.console import fixed, line, make_console, notes, number, percent, show_table

if TYPE_CHECKING:
    from sparingly.data.describe import Description, Representation
    from sparingly.data.describe.metrics import Correlation
    from sparingly.data.describe.representation import Leaning
    from sparingly.data.evalset import EvalSet
    from sparingly.data.roles import TableRoles


_MOST_SHOWN, _MOST_NOTES = 4, 3
_LONGEST_TEXT, _SHORT_TEXT = 300, 140


def show_description(
    description: Description,
    data: EvalSet | None = None,
    limit: int = 12,
    *,
    typed: str = "",
    verbose: bool = True,
) -> None:
    """Print what is in a set: roles and one item (of ``data``), what is odd, and what to do next.

    With ``verbose`` also metrics against labels, and what is missing. ``typed`` stands after a command.
    """
    title = f"{counted(description.items, 'item')} x {counted(len(description.models), 'model')}"
    line(f"{description.name}: {title}" if description.name else title, style="bold")
    if data is not None and data.roles is not None:
        _show_roles(data.roles, data.models, verbose)
        _show_item(data, _LONGEST_TEXT if verbose else _SHORT_TEXT)
    if verbose or data is None or data.roles is None:
        show_table(("", ""), _facts(description))
    if verbose:
        _show_correlations(description, limit)
        _show_gaps(description, limit)
    if description.epochs:
        first = description.epochs[0]
        shares = ", ".join(f"{part.score} {percent(part.share, 0)}" for part in description.epochs)
        line(
            f"Repeats: {first.epochs:.3g} epochs of {first.cells:,} outputs. Noise between epochs: {shares}."
        )
    texts = [oddity.text for oddity in description.odd]
    notes(texts if verbose else texts[:_MOST_NOTES])
    if not verbose:
        hidden = len(texts) - _MOST_NOTES
        line(f"… and {counted(hidden, 'more note')}; all of it: add -v" if hidden > 0 else "Details: add -v")
    if typed and (command := _next_command(description)):
        line(" ".join(["Next: sparingly", command, typed, *_needed(description, data)]))


def _next_command(description: Description) -> str:
    """Return the command that answers what the set can tell."""
    several, labelled = len(description.models) > 1, bool(description.aspects)
    if description.preferences is not None and not labelled:
        return "compare"
    if labelled:
        return "rank" if several else "judge" if description.metrics else "estimate"
    if "outputs" in description.absent:
        return ""
    return "plan" if description.metrics else "serve"


def _needed(description: Description, data: EvalSet | None) -> Iterator[str]:
    """Yield what must be said with the next command: an aspect of several, and roles in doubt."""
    if len(description.aspects) > 1:
        yield argument("aspect", description.aspects[0].name)
    columns = () if data is None or data.roles is None else data.roles.columns
    doubtful = {part.name or part.column: part for part in reversed(columns) if part.doubtful}
    for part in reversed(doubtful.values()):
        if part.role in ("human", "metric"):
            yield role_argument(part.column, part.role)


def _show_gaps(description: Description, limit: int) -> None:
    """Print what is missing, and where."""
    gaps = []
    for part in description.coverage:
        if part.present < part.of:
            coverage = f"{percent(part.share)} ({part.of - part.present} missing)"
            models = listing((f"{name} {count}" for name, count in part.models.items()), 4)
            gaps.append((part.field, coverage, models, listing(part.examples, 3)))
    if gaps:
        columns = ("field", "there", "models that lack it", "items, for example")
        show_table(columns, gaps[:limit], title="what is missing")
        if len(gaps) > limit:
            line(f"… and {len(gaps) - limit} more fields with gaps (--json shows all)")


def _show_roles(roles: TableRoles, models: Sequence[str], one_a_line: bool) -> None:
    """Print what every column is, and what to type where that is doubtful."""
    texts = roles.lines()
    if len(models) == 1 and all(part.role != "model" for part in roles.columns):
        texts.append(f"all rows → model {models[0]} (called after the file)")
    line("\n".join(texts) if one_a_line else side_by_side(texts, make_console().width))
    if roles.saved_in:
        line(f"roles that were given are saved in {roles.saved_in}")
    notes((*roles.notes, *roles.advice()))


def side_by_side(texts: Sequence[str], width: int) -> str:
    """Return texts with dots between them, in lines of at most a width."""
    lines: list[str] = []
    for text in texts:
        longer = f"{lines[-1]} · {text}" if lines else text
        if lines and len(longer) <= width:
            lines[-1] = longer
        else:
            lines.append(text)
    return "\n".join(lines)


def _show_item(data: EvalSet, longest: int) -> None:
    """Print one item as raters would see it: the first in the file with the most outputs."""
    if data.outputs is None:
        return
    counts = (data.outputs[data.file_order] != np.empty(1, object)).sum(axis=1)
    row = int(data.file_order[int(counts.argmax())])
    rows = [] if data.sources is None else [("input", _cut(data.sources[row], longest))]
    outputs = [
        (model, _cut(text, longest))
        for model, text in zip(data.models, data.outputs[row], strict=True)
        if text is not None
    ]
    line(f"\none item as raters would see it ({data.items[row]})", style="bold")
    show_table(("", ""), [*rows, *outputs[:_MOST_SHOWN]])
    if (hidden := len(outputs) - _MOST_SHOWN) > 0:
        line(f" … and the outputs of {counted(hidden, 'more model')}")


def _cut(text: str | None, longest: int) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= longest else f"{text[:longest]}…"


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
    texts = description.texts if len(description.models) > 1 else None
    if texts is not None and texts.identical_share is not None:
        shared = f"{percent(texts.identical_share)} of cells share their text with another model"
        yield "identical outputs", shared
    if description.absent:
        yield "not in this file", ", ".join(description.absent)


def _show_correlations(description: Description, limit: int) -> None:
    """Print how metrics agree with aspects, the best by differences first."""

    def order(pair: Correlation) -> tuple[str, float, str]:
        differences = pair.differences
        if differences is None or differences != differences:
            differences = -2.0
        return pair.aspect, -differences, pair.metric

    aspects = {pair.aspect for pair in description.correlations}
    limit_each = max(3, limit // max(1, len(aspects)))
    rows = [
        (pair.aspect, pair.metric, *map(fixed, (pair.pooled, pair.within, pair.differences)))
        for _, pairs in groupby(sorted(description.correlations, key=order), key=lambda pair: pair.aspect)
        for pair in islice(pairs, limit_each)
    ]
    if not rows:
        return
    columns = ("aspect", "metric", "over all cells", "within items", "differences")
    show_table(columns, rows, title="correlation of metrics with aspects", numbers=3)
    if (hidden := len(description.correlations) - len(rows)) > 0:
        line(f"… and {hidden} weaker ones (--json shows all)")
    line("differences: between two models on one item; this is what a ranking depends on")


_MOST_METRICS = 2
_MOST_LEANINGS = 6


def show_representation(representation: Representation, limit: int = 12) -> None:
    """Print shares, coverage, blind spots and metric means of a selection against its set."""
    line(representation.headline, style="bold")
    # Of the metrics, only those whose quarters differ most from the set's.
    metrics = sorted(representation.metrics, key=lambda metric: (-metric.shift, metric.metric))
    kinds = {f"metric {metric.metric}" for metric in metrics[:_MOST_METRICS]}
    kinds |= {"domain", "document of", "source", "metrics"}
    rows = [
        (kind, share.group, percent(share.full_share), percent(share.selected_share), fixed(share.ratio))
        for kind, shares in representation.kinds.items()
        if kind in kinds
        for share in shares
    ]
    if rows:
        show_table(("", "group", "of the set", "of the chosen", "ratio"), rows, numbers=3)
    if (hidden := len(metrics) - _MOST_METRICS) > 0:
        line(f"… and {hidden} metrics that lean less (--json shows all)")
    parts = [
        f"{part.selected} of {part.of} {part.what} ({percent(part.share)})"
        for part in representation.coverage
        if not part.what.startswith("outputs of ")
    ]
    line(f"coverage: {', '.join(parts)}")
    for spots in representation.blind_spots:
        sentence = f"no metric flags {spots.missed} of the {spots.low} items that people find bad"
        chosen_spots = f"among the chosen, {spots.selected_missed} of {spots.selected_low}"
        line(f"blind spots by {spots.aspect}: {sentence}; {chosen_spots}")
    if representation.cost is not None:
        total, chosen = representation.cost
        line(f"mean cost of an item: {number(total)} in the set, {number(chosen)} among the chosen")
    means = [
        (mean.metric, mean.model, number(mean.full), number(mean.selected)) for mean in representation.means
    ]
    if means:
        show_table(("metric", "model", "mean, all", "mean, chosen"), means[:limit], numbers=2)
    if (hidden := len(means) - limit) > 0:
        line(f"… and {hidden} more means (--json shows all)")
    _show_leanings(representation)
    notes(representation.notes)


def _show_leanings(representation: Representation) -> None:
    """Print the worst of every kind that is badly represented, or that nothing is."""
    worst: dict[str, Leaning] = {}
    for leaning in representation.leanings:
        worst.setdefault(leaning.by, leaning)
    # Quarters of metrics last: a selection by metrics leans there on purpose.
    leanings = sorted(worst.values(), key=lambda leaning: leaning.by.startswith("metric "))[:_MOST_LEANINGS]
    for leaning in leanings:
        line(f"warning: {leaning.text}", style="bold yellow")
    if (hidden := len(representation.leanings) - len(leanings)) > 0:
        line(f"… and {hidden} more groups are badly represented (--json shows all)")


def show_conversion(data: EvalSet, target: Path, lost: Sequence[str]) -> None:
    """Print what was written and list what the format cannot carry."""
    line(f"{counted(len(data), 'item')} x {counted(len(data.models), 'model')} written to {target}")
    if lost:
        line(f"not carried by this format: {', '.join(lost)}", style="yellow")
    else:
        line("everything was carried over")
