"""Results that were computed lately, found again by what they were computed from."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from threading import Lock
from typing import Any, Generic, TypeVar
from weakref import ref

from numpy.typing import NDArray

Result = TypeVar("Result")


class ResultCache(Generic[Result]):
    """The last few results, each found again by a key and by the very arrays that it was computed from.

    Arrays are compared by identity and are not kept alive: a result counts only while all of its arrays
    exist. So only arrays that nobody writes to may be handed in. Without arrays the key alone decides.

    Examples:
        >>> import numpy as np
        >>> cache = ResultCache[float](size=2)
        >>> scores = np.ones(3)
        >>> cache.get([scores], "total", lambda: float(scores.sum()))
        3.0
        >>> cache.get([scores], "total", lambda: -1.0)  # not computed again
        3.0
    """

    def __init__(self, size: int) -> None:
        self._size = size
        self._lock = Lock()
        self._entries: OrderedDict[Hashable, tuple[tuple[ref[NDArray[Any]], ...], Result]] = OrderedDict()

    def get(self, arrays: Sequence[NDArray[Any]], key: Hashable, compute: Callable[[], Result]) -> Result:
        """Return the result for some arrays and a key; compute it now if it is not cached."""
        full_key = (tuple(map(id, arrays)), key)
        with self._lock:
            entry = self._entries.get(full_key)
            if entry is not None and all(a() is array for a, array in zip(entry[0], arrays, strict=True)):
                self._entries.move_to_end(full_key)
                return entry[1]
        result = compute()
        with self._lock:
            self._entries[full_key] = (tuple(map(ref, arrays)), result)
            self._entries.move_to_end(full_key)
            # Drop results whose arrays no longer exist, then the oldest ones beyond the size.
            for key in [key for key, (refs, _) in self._entries.items() if any(a() is None for a in refs)]:
                del self._entries[key]
            while len(self._entries) > self._size:
                self._entries.popitem(last=False)
        return result
