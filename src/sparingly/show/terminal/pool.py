"""Pools of sources and distilled models in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
from rich.console import Console

from sparingly.base.errors import listing
from sparingly.choose.distil.apply import AppliedModel, weak_notes
from sparingly.choose.pool.candidates import REASONS
from sparingly.choose.pool.records import PROBLEM_KINDS
from sparingly.show.terminal.console import fixed, line, make_console, make_table, notes, percent
from sparingly.show.terminal.selection import show_selection

if TYPE_CHECKING:
    from sparingly.choose.distil.model import DistilledModel
    from sparingly.choose.pool.scored_pool import ScoredPool
    from sparingly.choose.pool.select import PoolSelection

# --- pools ----------------------------------------------------------------------------------------


def show_scored(pool: ScoredPool, console: Console | None = None) -> None:
    """Print how many records are sources, and what is wrong with the others."""
    console = console or make_console()
    tally = pool.tally
    line(console, f"{tally.good:,} of {tally.read:,} records are sources, scored by {pool.by}", style="bold")
    if tally.bad:
        rows = [(kind, PROBLEM_KINDS[kind], f"{count:,}") for kind, count in sorted(tally.bad.items())]
        console.print(make_table(("bad", "meaning", "records"), rows, numbers=1))
    for kind in sorted(tally.bad):
        for example in tally.examples.get(kind, ()):
            line(console, f"{kind}: {example}")
    for words in _to_mind(pool):
        line(console, words)
    if pool.embedding is not None:
        line(console, f"embedded by {pool.embedding}")
    line(console, f"written to {pool.folder}")


def _to_mind(pool: ScoredPool) -> Iterator[str]:
    if pool.duplicate_ids:
        examples = ", ".join(pool.duplicate_examples)
        yield f"{pool.duplicate_ids:,} sources have the id of another with a different text: {examples}"
    if pool.unlike:
        yield f"{pool.unlike:,} sources are unlike the texts that the model was trained on"
    if pool.other_files:
        examples_of_others = listing(pool.other_examples)
        yield f"{pool.other_files:,} other files in the folders were passed over: {examples_of_others}"
    if pool.passed_over:
        yield f"{pool.passed_over:,} bad records of the corpus were passed over"
    yield from (f"note: {note}" for note in pool.notes)


def show_pool_selection(
    chosen: PoolSelection, out: Sequence[Path] = (), console: Console | None = None
) -> None:
    """Print who could not be chosen and why, then the selection."""
    console = console or make_console()
    rows = [(reason, REASONS[reason], f"{count:,}") for reason, count in chosen.removed.items() if count]
    remaining = chosen.scored - sum(chosen.removed.values())
    if rows:
        rows.append(("left", "can be chosen", f"{remaining:,}"))
        console.print(make_table((f"{chosen.scored:,} sources", "meaning", "count"), rows, numbers=1))
    show_selection(chosen.selection, console=console)
    for note in chosen.pool_notes:
        line(console, f"note: {note}")
    for path in out:
        line(console, f"written to {path}")


# --- distilled models -----------------------------------------------------------------------------


_QUANTILES = (0.0, 0.5, 1.0)


def show_model(model: DistilledModel, out: Path | None = None, console: Console | None = None) -> None:
    """Print what a model has learned, from what, and when to mind."""
    console, card = console or make_console(), model.card
    heading = f"{card.learner} on {card.features}, learned from {card.texts} sources"
    line(console, heading, style="bold")
    rows = [
        (
            utility.name,
            utility.method,
            str(utility.texts),
            fixed(utility.hold_out.spearman),
            fixed(utility.hold_out.pearson),
        )
        for utility in card.utilities
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
            training_set.name,
            str(training_set.items),
            training_set.inputs,
            training_set.labels or "none",
            *(fixed(utility.hold_out.by_set.get(training_set.name)) for utility in card.utilities),
        )
        for training_set in card.data
    ]
    columns = ("data set", "items", "inputs", "labels", *card.names)
    console.print(make_table(columns, rows, numbers=len(card.names)))


def show_applied(
    applied: AppliedModel, columns: Sequence[str], out: Path, console: Console | None = None
) -> None:
    """Print what was said of sources, and where it was written."""
    console = console or make_console()
    values = applied.scored.values
    scored = int((~np.isnan(values)).any(axis=1).sum())
    line(console, f"{scored} of {len(values)} sources scored", style="bold")
    rows = [
        (name, column, *(fixed(number, 3) for number in _spread(values[:, place])))
        for place, (name, column) in enumerate(zip(applied.names, columns, strict=True))
    ]
    console.print(make_table(("utility", "written as", "lowest", "median", "highest"), rows, numbers=3))
    line(console, f"unlike the training texts: {sum(map(bool, applied.scored.unlike))}")
    notes(console, applied.notes)
    line(console, f"written to {out}")


def _spread(values: np.ndarray[tuple[int], np.dtype[np.float64]]) -> list[float]:
    finite = values[~np.isnan(values)]
    return np.quantile(finite, _QUANTILES).tolist() if finite.size else [np.nan] * len(_QUANTILES)
