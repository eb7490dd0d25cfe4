"""Scored pools, and what was chosen from them, in the terminal."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from rich.console import Console

from sparingly.base.errors import listing
from sparingly.choose.pool.bad import KINDS
from sparingly.choose.pool.frame import REMOVED
from sparingly.choose.pool.result import PoolSelection
from sparingly.choose.pool.scored import ScoredPool
from sparingly.show.terminal.console import line, make_console, make_table
from sparingly.show.terminal.selection import show_selection


def show_scored(pool: ScoredPool, console: Console | None = None) -> None:
    """Print how many records are sources, and what is wrong with the others."""
    console = console or make_console()
    tally = pool.tally
    line(console, f"{tally.good:,} of {tally.read:,} records are sources, scored by {pool.by}", style="bold")
    if tally.bad:
        rows = [(kind, KINDS[kind], f"{count:,}") for kind, count in sorted(tally.bad.items())]
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
        named = ", ".join(pool.duplicate_examples)
        yield f"{pool.duplicate_ids:,} sources have the id of another with a different text: {named}"
    if pool.unlike:
        yield f"{pool.unlike:,} sources are unlike the texts that the model was trained on"
    if pool.other_files:
        some = listing(pool.other_examples)
        yield f"{pool.other_files:,} other files in the folders were passed over: {some}"
    if pool.passed_over:
        yield f"{pool.passed_over:,} bad records of the corpus were passed over"
    yield from (f"note: {note}" for note in pool.notes)


def show_pool_selection(
    chosen: PoolSelection, out: Sequence[Path] = (), console: Console | None = None
) -> None:
    """Print who could not be chosen and why, then the selection."""
    console = console or make_console()
    rows = [(reason, REMOVED[reason], f"{count:,}") for reason, count in chosen.removed.items() if count]
    left = chosen.scored - sum(chosen.removed.values())
    if rows:
        rows.append(("left", "can be chosen", f"{left:,}"))
        console.print(make_table((f"{chosen.scored:,} sources", "meaning", "count"), rows, numbers=1))
    show_selection(chosen.selection, console=console)
    for note in chosen.pool_notes:
        line(console, f"note: {note}")
    for path in out:
        line(console, f"written to {path}")
