"""Selectors that look at the set as a whole: what they have in common, and what they remember."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from threading import Lock
from typing import Any, TypeVar
from weakref import WeakKeyDictionary

from sparingly.base.arrays import Ints
from sparingly.base.errors import UsageError
from sparingly.choose.design.base import Selector
from sparingly.choose.design.budget import Budget
from sparingly.data.evalset import EvalSet, Store

Made = TypeVar("Made")
_MOST_KEPT = 4
_kept: WeakKeyDictionary[Store, dict[tuple[Any, ...], Any]] = WeakKeyDictionary()
_lock = Lock()


@dataclass(frozen=True)
class WholeSetSelector(Selector):
    """A selector whose items are chosen together, so many of them."""

    def count(self, budget: Budget, candidates: Ints) -> int:
        """Return how many items to choose; a cost is refused."""
        if budget.kind == "cost":
            raise UsageError(
                f"The method {self.name} chooses a number of items, so its budget is a count or a share, "
                f"not {budget}."
            )
        return budget.count_of(len(candidates))


def remembered(data: EvalSet, key: tuple[Any, ...], make: Callable[[], Made]) -> Made:
    """Return what ``make`` gives for this view of a set, made once for as long as the set is in use.

    Nothing in a set can be written to, so the same items, models and fields of it mean the same answer. Only
    the last few answers are kept: enough for a sweep over budgets.
    """
    whole_key = (data.keys.tobytes(), data.models, frozenset(data.fields), *key)
    with _lock:
        known = _kept.setdefault(data.store, {})
        if whole_key in known:
            known[whole_key] = known.pop(whole_key)
            return known[whole_key]  # type: ignore[no-any-return]
    made = make()
    with _lock:
        known[whole_key] = made
        while len(known) > _MOST_KEPT:
            del known[next(iter(known))]
    return made


def file_stamp(name: str) -> tuple[int, int] | None:
    """Return what changes when a file does, or None where there is no such file."""
    path = Path(name.partition("#")[0])
    if not path.is_file():
        return None
    stat = path.stat()
    return stat.st_mtime_ns, stat.st_size
