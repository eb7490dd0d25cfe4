"""The arrays behind an evaluation set, and the named arrays of a view."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, fields
from functools import cached_property
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.errors import UnknownNameError
from sparingly.data.tables import Preferences, Ratings

Scale = tuple[float, float]


@dataclass(frozen=True, eq=False)
class Store:
    """The arrays behind an evaluation set and all of its views, in the order of the ids.

    ``scales`` holds the lowest and the highest possible score of metrics and aspects, by field, where these
    are known: (0, 1) for scores that were given as words such as pass and fail.
    """

    items: Objects
    models: tuple[str, ...]
    references: tuple[str, ...] = ()
    file_order: Ints = field(default_factory=lambda: np.empty(0, np.int64))
    metrics: Mapping[str, Floats] = field(default_factory=dict)
    aspects: Mapping[str, Floats] = field(default_factory=dict)
    reference_aspects: Mapping[str, Floats] = field(default_factory=dict)
    columns: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    cells: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    sources: Objects | None = None
    outputs: Objects | None = None
    reference_texts: Objects | None = None
    ratings: Ratings = field(default_factory=Ratings)
    preferences: Preferences = field(default_factory=Preferences)
    scales: Mapping[str, Scale] = field(default_factory=dict)
    name: str = ""

    def __post_init__(self) -> None:
        for part in fields(self):
            value = getattr(self, part.name)
            if isinstance(value, dict):
                object.__setattr__(self, part.name, MappingProxyType(dict(value)))

    @cached_property
    def keys(self) -> NDArray[np.uint64]:
        """The random key of every item (see ``base.rng``)."""
        keys = rng.keys_of(list(self.items))
        keys.flags.writeable = False
        return keys


class Fields(Mapping[str, NDArray[Any]]):
    """Named arrays of a view, cut to its items and models when first asked for."""

    def __init__(self, kind: str, names: Sequence[str], cut: Callable[[str], NDArray[Any]]) -> None:
        self._kind = kind
        self._names = dict.fromkeys(names)
        self._cut = cut
        self._cache: dict[str, NDArray[Any]] = {}

    def __getitem__(self, name: str) -> NDArray[Any]:
        if name not in self._names:
            raise UnknownNameError(self._kind, name, self._names)
        if name not in self._cache:
            self._cache[name] = self._cut(name)
        return self._cache[name]

    def get(self, name: str, default: Any = None) -> Any:
        """Return the array of a name, or the default when there is none."""
        if name in self:
            return self[name]
        return default

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def __repr__(self) -> str:
        return f"<{len(self)} {self._kind}s: {', '.join(self._names)}>"
