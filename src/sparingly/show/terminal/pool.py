"""Pools of sources and distilled models in the terminal."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from sparingly.base.errors import listing
from sparingly.choose.distil.model import AppliedModel, weak_notes
from sparingly.choose.pool.candidates import REASONS
from sparingly.choose.pool.records import PROBLEM_KINDS
from sparingly.show.terminal.console import fixed, line, notes, percent, show_path, show_table
from sparingly.show.terminal.results import show_selection

if TYPE_CHECKING:
    from sparingly.choose.distil.model import DistilledModel
    from sparingly.choose.pool.scored_pool import ScoredPool
    from sparingly.choose.pool.select import PoolSelection

_QUANTILES = (0.0, 0.5, 1.0)


def show_scored(pool: ScoredPool) -> None:
    """Print how many records are sources, and what is wrong with the others."""
    tally = pool.tally
    line(f"{tally.good:,} of {tally.read:,} records are sources, scored by {pool.by}", style="bold")
    if tally.bad:
        rows = [(kind, PROBLEM_KINDS[kind], f"{count:,}") for kind, count in sorted(tally.bad.items())]
        show_table(("bad", "meaning", "records"), rows, numbers=1)
    for kind in sorted(tally.bad):
        for example in tally.examples.get(kind, ()):
            line(f"{kind}: {example}")
    if pool.duplicate_ids:
        examples = ", ".join(pool.duplicate_examples)
        line(f"{pool.duplicate_ids:,} sources have the id of another with a different text: {examples}")
    if pool.unlike:
        line(f"{pool.unlike:,} sources are unlike the texts that the model was trained on")
    if pool.other_files:
        examples = listing(pool.other_examples)
        line(f"{pool.other_files:,} other files in the folders were passed over: {examples}")
    if pool.passed_over:
        line(f"{pool.passed_over:,} bad records of the corpus were passed over")
    for note in pool.notes:
        line(f"note: {note}")
    if pool.embedding is not None:
        line(f"embedded by {pool.embedding}")
    line(f"written to {pool.folder}")


def show_pool_selection(chosen: PoolSelection, out: Sequence[Path] = ()) -> None:
    """Print who could not be chosen and why, then the selection."""
    rows = [(reason, REASONS[reason], f"{count:,}") for reason, count in chosen.removed.items() if count]
    remaining = chosen.scored - sum(chosen.removed.values())
    if rows:
        rows.append(("left", "can be chosen", f"{remaining:,}"))
        show_table((f"{chosen.scored:,} sources", "meaning", "count"), rows, numbers=1)
    show_selection(chosen.selection)
    for note in chosen.pool_notes:
        line(f"note: {note}")
    for path in out:
        line(f"written to {path}")


def show_model(model: DistilledModel, out: Path | None = None) -> None:
    """Print what a model has learned, from what, and when to mind."""
    card = model.card
    line(f"{card.learner} on {card.features}, learned from {card.texts} sources", style="bold")
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
    show_table(columns, rows, title=title, numbers=3)
    sets = [
        (
            training_set.name,
            str(training_set.items),
            training_set.inputs,
            training_set.labels or "none",
            *(fixed(utility.hold_out.by_set.get(training_set.name)) for utility in card.utilities),
        )
        for training_set in card.data
    ]
    show_table(("data set", "items", "inputs", "labels", *card.names), sets, numbers=len(card.names))
    scripts = ", ".join(f"{name} {percent(share, 0)}" for name, share in card.scripts.items())
    line(f"scripts: {scripts}")
    if card.languages:
        line(f"languages: {', '.join(card.languages)}")
    if card.models:
        line(f"models learned on: {listing(card.models)}")
    limits = card.thresholds
    line(
        f"a text is unlike these with fewer than {limits.shortest:.0f} or more than {limits.longest:.0f} "
        f"letters, {percent(limits.unseen, 0)} of 4-grams unseen, or in another script"
    )
    notes(weak_notes(card))
    line(f"digest: {model.digest}")
    line(f"signature: {card.signature}")
    show_path(out)


def show_applied(applied: AppliedModel, columns: Sequence[str], out: Path) -> None:
    """Print what was said of sources, and where it was written."""
    values = applied.scored.values
    scored = int((~np.isnan(values)).any(axis=1).sum())
    line(f"{scored} of {len(values)} sources scored", style="bold")
    rows = []
    for name, column, of_utility in zip(applied.names, columns, values.T, strict=True):
        finite = of_utility[~np.isnan(of_utility)]
        quantiles = np.quantile(finite, _QUANTILES) if finite.size else [np.nan] * len(_QUANTILES)
        rows.append((name, column, *(fixed(float(value), 3) for value in quantiles)))
    show_table(("utility", "written as", "lowest", "median", "highest"), rows, numbers=3)
    line(f"unlike the training texts: {sum(map(bool, applied.scored.unlike))}")
    notes(applied.notes)
    line(f"written to {out}")
