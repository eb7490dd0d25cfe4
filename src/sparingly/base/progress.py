"""How far long work has come, for whoever wants to show it: ``tracked`` counts, ``listening`` is told."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TypeVar

Part = TypeVar("Part")
OnStep = Callable[[int, int], None]

_LISTENER: ContextVar[OnStep | None] = ContextVar("listener", default=None)


def tracked(parts: Sequence[Part]) -> Iterator[Part]:
    """Yield the parts of long work, and tell who listens how many are done, of how many."""
    on_step = _LISTENER.get()
    for done, part in enumerate(parts):
        if on_step is not None:
            on_step(done, len(parts))
        # Work inside of a part is not counted on its own.
        with listening(None):
            yield part
    if on_step is not None:
        on_step(len(parts), len(parts))


@contextmanager
def listening(on_step: OnStep | None) -> Iterator[None]:
    """Have a function called with the number of parts done, and of all, whatever is tracked meanwhile."""
    token = _LISTENER.set(on_step)
    try:
        yield
    finally:
        _LISTENER.reset(token)
