"""Answers kept for as long as the arrays they were made from are in use."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import ref

from numpy.typing import NDArray

Result = TypeVar("Result")


class ResultCache(Generic[Result]):
    """The last few answers, each found again by the very arrays that it was made from, and a key.

    Arrays are told apart by where they lie in memory, and are not kept alive: an answer counts only while all
    of its arrays are still there. So nothing that can be written to may be handed in.

    Examples:
        >>> import numpy as np
        >>> cache = ResultCache[float](most=2)
        >>> scores = np.ones(3)
        >>> cache.of([scores], "total", lambda: float(scores.sum()))
        3.0
        >>> cache.of([scores], "total", lambda: -1.0)  # not made again
        3.0
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._lock = Lock()
        self._held: OrderedDict[Hashable, tuple[tuple[ref[NDArray[Any]], ...], Result]] = OrderedDict()

    def of(self, arrays: Sequence[NDArray[Any]], key: Hashable, make: Callable[[], Result]) -> Result:
        """Return the answer for some arrays and a key, made now where it is not kept."""
        whole = (tuple(map(id, arrays)), key)
        with self._lock:
            known = self._held.get(whole)
            if known is not None and all(one() is array for one, array in zip(known[0], arrays, strict=True)):
                self._held.move_to_end(whole)
                return known[1]
        made = make()
        with self._lock:
            self._held[whole] = (tuple(map(ref, arrays)), made)
            self._held.move_to_end(whole)
            self._drop()
        return made

    def _drop(self) -> None:
        """Forget what no array stands behind any more, then the oldest ones over the limit."""
        for key in [key for key, (refs, _) in self._held.items() if any(one() is None for one in refs)]:
            del self._held[key]
        while len(self._held) > self._most:
            self._held.popitem(last=False)
