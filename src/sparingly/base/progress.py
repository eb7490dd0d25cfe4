"""How far long work has come, for whoever shows it: work reports its progress, ``listening`` receives it."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Part = TypeVar("Part")
OnStep = Callable[[int, int], None]

_LISTENER: ContextVar[OnStep | None] = ContextVar("listener", default=None)


def report_progress(done: int, total: int) -> None:
    """Report how many parts of long work are done, of how many; nothing happens where nobody listens."""
    on_step = _LISTENER.get()
    if on_step is not None:
        on_step(done, total)


def tracked(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of long work, and report the progress; work inside of a part reports none."""
    for done, part in enumerate(parts):
        report_progress(done, len(parts))
        with listening(None):
            yield part
    report_progress(len(parts), len(parts))


@contextmanager
def listening(on_step: OnStep | None) -> Iterator[None]:
    """Have a function called with the number of parts done, and of all, whenever work reports them."""
    token = _LISTENER.set(on_step)
    try:
        yield
    finally:
        _LISTENER.reset(token)
