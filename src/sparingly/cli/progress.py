"""How far long work is: a bar on a terminal, nothing in a pipe."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

Told = Callable[[int, int, str], None]


@contextmanager
def progress(first: str) -> Iterator[Told | None]:
    """Yield what is told how many parts are done, of how many, and what comes next; None in a pipe."""
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeRemainingColumn

    console = Console(stderr=True)
    if not console.is_terminal:
        yield None
        return
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=console) as bar:
        row = bar.add_task(first, total=None)

        def told(done: int, total: int, what: str) -> None:
            bar.update(row, completed=done, total=total, description=what)

        yield told
