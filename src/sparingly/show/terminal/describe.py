"""Evaluation sets in the terminal: what is in one, whom a selection over-represents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import groupby, islice
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.errors import listing
from sparingly.base.format import counted
from sparingly.show.terminal.console import fixed, line, number, percent, show_summary, show_table, wrapped

if TYPE_CHECKING:
    from sparingly.data.describe import Description, Representation
    from sparingly.data.describe.metrics import Correlation
    from sparingly.data.evalset import EvalSet


_MOST_SHOWN, _MOST_NOTES = 4, 3
_LONGEST_TEXT, _SHORT_TEXT = 300, 140


def show_description(
    description: Description,
    data: EvalSet | None = None,
    limit: int = 12,
    *,
    typed: str = "DATA",
    verbose: bool = True,
) -> None:
    """Print what is in a set, what to do next, and one item of ``data``.

    With ``verbose`` also metrics against labels, and what is missing. ``typed`` stands after a command.
    """
    summary, roles = description.summary(), description.roles
    hidden = 0 if verbose else max(0, len(summary.notes) - _MOST_NOTES)

    def show_details() -> None:
        if data is not None and roles is not None:
            _show_item(data, _LONGEST_TEXT if verbose else _SHORT_TEXT)
        if not verbose:
            line(f"… and {counted(hidden, 'more note')}; all of it: add -v" if hidden else "Details: add -v")
            return
        if roles is not None:
            show_table(("", ""), description.facts())
        _show_correlations(description, limit)
        _show_gaps(description, limit)

    short = replace(summary, notes=summary.notes[: len(summary.notes) - hidden])
    show_summary(short, typed, verbose=verbose, details=show_details)


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


def show_representation(representation: Representation, limit: int = 12, *, typed: str = "DATA") -> None:
    """Print whether a selection is like its set, group by group; then coverage, blind spots and means."""

    def show_details() -> None:
        parts = [
            f"{part.selected} of {part.of} {part.what} ({percent(part.share)})"
            for part in representation.coverage
            if not part.what.startswith("outputs of ")
        ]
        wrapped(f"coverage: {', '.join(parts)}")
        for spots in representation.blind_spots:
            sentence = f"no metric flags {spots.missed} of the {spots.low} items that people find bad"
            chosen_spots = f"among the chosen, {spots.selected_missed} of {spots.selected_low}"
            wrapped(f"blind spots ({spots.aspect}): {sentence}; {chosen_spots}")
        if representation.cost is not None:
            total, chosen = representation.cost
            line(f"mean cost of an item: {number(total)} in the set, {number(chosen)} among the chosen")
        means = [
            (mean.metric, mean.model, number(mean.full), number(mean.selected))
            for mean in representation.means
        ]
        if means:
            show_table(("metric", "model", "mean, all", "mean, chosen"), means[:limit], numbers=2)
        if (hidden := len(means) - limit) > 0:
            line(f"… and {hidden} more means (--json shows all)")

    show_summary(representation.summary(), typed, details=show_details)


def show_conversion(data: EvalSet, target: Path, lost: Sequence[str]) -> None:
    """Print what was written and list what the format cannot carry."""
    line(f"{counted(len(data), 'item')} x {counted(len(data.models), 'model')} written to {target}")
    if lost:
        line(f"not carried by this format: {', '.join(lost)}", style="yellow")
    else:
        line("everything was carried over")
