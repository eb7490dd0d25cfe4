"""A distilled model and what it says of sources, in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
from rich.console import Console

from sparingly.base.errors import listing
from sparingly.choose.distil.apply import Applied, weak_notes
from sparingly.choose.distil.model import DistilledModel
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, percent

_QUANTILES = (0.0, 0.5, 1.0)


def show_model(model: DistilledModel, out: Path | None = None, console: Console | None = None) -> None:
    """Print what a model has learned, from what, and when to mind."""
    console, card = console or make_console(), model.card
    heading = f"{card.learner} on {card.features}, learned from {card.texts} sources"
    line(console, heading, style="bold")
    rows = [
        (one.name, one.method, str(one.texts), fixed(one.hold_out.spearman), fixed(one.hold_out.pearson))
        for one in card.utilities
    ]
    columns = ("utility", "as", "texts", "Spearman", "Pearson")
    title = f"correlation with the truth, held out by {card.held_out_by}"
    console.print(make_table(columns, rows, title=title, numbers=3))
    _show_sets(model, console)
    scripts = ", ".join(f"{name} {percent(share, 0)}" for name, share in card.scripts.items())
    line(console, f"scripts: {scripts}")
    if card.languages:
        line(console, f"languages: {', '.join(card.languages)}")
    if card.models:
        line(console, f"models learned on: {listing(card.models)}")
    limits = card.thresholds
    line(
        console,
        f"a text is unlike these with fewer than {limits.shortest:.0f} or more than {limits.longest:.0f} "
        f"letters, {percent(limits.unseen, 0)} of 4-grams unseen, or in another script",
    )
    notes(console, weak_notes(card))
    line(console, f"digest: {model.digest}")
    line(console, f"signature: {card.signature}")
    if out is not None:
        line(console, f"written to {out}")


def _show_sets(model: DistilledModel, console: Console) -> None:
    """Print the sets, with the hold-out correlation of every utility in each."""
    card = model.card
    rows = [
        (
            one.name,
            str(one.items),
            one.inputs,
            one.labels or "none",
            *(fixed(told.hold_out.by_set.get(one.name)) for told in card.utilities),
        )
        for one in card.data
    ]
    columns = ("data set", "items", "inputs", "labels", *card.names)
    console.print(make_table(columns, rows, numbers=len(card.names)))


def show_applied(applied: Applied, written: Sequence[str], out: Path, console: Console | None = None) -> None:
    """Print what was said of sources, and where it was written."""
    console = console or make_console()
    values = applied.scored.values
    there = int((~np.isnan(values)).any(axis=1).sum())
    line(console, f"{there} of {len(values)} sources scored", style="bold")
    rows = [
        (name, told, *(fixed(number, 3) for number in _spread(values[:, place])))
        for place, (name, told) in enumerate(zip(applied.names, written, strict=True))
    ]
    console.print(make_table(("utility", "written as", "lowest", "median", "highest"), rows, numbers=3))
    line(console, f"unlike the training texts: {sum(map(bool, applied.scored.unlike))}")
    notes(console, applied.notes)
    line(console, f"written to {out}")


def _spread(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    known = values[~np.isnan(values)]
    return np.quantile(known, _QUANTILES).tolist() if known.size else [np.nan] * len(_QUANTILES)
