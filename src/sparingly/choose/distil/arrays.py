"""A model's numbers by name, and a model put together from numbers that were checked."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import InputError
from sparingly.choose.distil.boosting import Trees
from sparingly.choose.distil.card import Card
from sparingly.choose.distil.learner import BITS, Fit, Linear
from sparingly.choose.distil.model import DistilledModel
from sparingly.choose.distil.surface import NAMES, WORD_BITS
from sparingly.choose.distil.unlike import SEEN_BITS

_LINEAR = ("rarity", "centre", "spread", "surface", "characters", "words", "vectors", "intercepts")
_NODES = ("feature", "threshold", "left", "right", "value")


def numbers_of(model: DistilledModel) -> dict[str, NDArray[Any]]:
    """Return all that a model holds beside its card, as numbers by name."""
    if isinstance(model.fit, Fit):
        return arrays_of(model.fit, model.seen)
    forms = {name: np.frombuffer(text.encode(), np.uint8) for name, text in model.fit.forms().items()}
    return {**model.fit.numbers(), **forms, "seen": model.seen}


def arrays_of(fit: Fit, seen: NDArray[np.uint8]) -> dict[str, NDArray[Any]]:
    """Return all numbers of a light model by name."""
    found = {name: getattr(fit.linear, name) for name in _LINEAR}
    held = {name: array for name, array in found.items() if array is not None} | {"seen": seen}
    for place, trees in enumerate(fit.trees):
        held |= {f"trees.{place}.{name}": getattr(trees, name) for name in (*_NODES, "roots")}
        held[f"trees.{place}.start"] = np.array([trees.start])
    return held


def from_arrays(card: Card, arrays: Mapping[str, NDArray[Any]]) -> DistilledModel:
    """Put a model together; numbers that do not fit the card are an error."""
    held, count = _Held(arrays), len(card.utilities)
    if not count or len(set(card.names)) < count:
        raise InputError("the card names no utility, or one twice", field="utilities")
    given = "vectors" in arrays
    width = (len(NAMES),)
    linear = Linear(
        rarity=held.take("rarity", "f4", (1 << WORD_BITS,)),
        centre=held.take("centre", "f8", width),
        spread=held.take("spread", "f8", width),
        surface=held.take("surface", "f8", (count, *width)),
        characters=None if given else held.take("characters", "f4", (count, 1 << BITS)),
        words=None if given else held.take("words", "f4", (count, 1 << BITS)),
        vectors=held.take("vectors", "f8", (count, None)) if given else None,
        intercepts=held.take("intercepts", "f8", (count,)),
    )
    if (linear.spread <= 0).any():
        raise InputError("a standard deviation is not above 0", field="spread")
    boosted = card.learner == "boosting"
    trees = tuple(_trees(held, f"trees.{place}.") for place in range(count)) if boosted else ()
    return DistilledModel(card, Fit(linear, trees), held.take("seen", "u1", ((1 << SEEN_BITS) // 8,)))


def _trees(held: _Held, start: str) -> Trees:
    size = held.take(f"{start}feature", "i4", (None,)).shape
    numbers = {
        name: held.take(f"{start}{name}", "f8" if name in ("threshold", "value") else "i4", size)
        for name in _NODES
    }
    roots = held.take(f"{start}roots", "i4", (None,))
    features, nodes = len(NAMES) + 1, size[0]
    for name, array, most in (
        ("feature", numbers["feature"], features),
        ("left", numbers["left"], nodes),
        ("right", numbers["right"], nodes),
        ("roots", roots, nodes),
    ):
        if array.size and not 0 <= array.min() <= array.max() < most:
            raise InputError("a tree points at something that is not there", field=f"{start}{name}")
    return Trees(**numbers, roots=roots, start=float(held.take(f"{start}start", "f8", (1,))[0]))


class _Held:
    """The arrays of a file, each checked when it is taken."""

    def __init__(self, arrays: Mapping[str, NDArray[Any]]) -> None:
        self._arrays = arrays

    def take(self, name: str, kind: str, shape: tuple[int | None, ...]) -> NDArray[Any]:
        """Return an array; a wrong kind or shape, or a number that is not finite, is an error."""
        array = self._arrays.get(name)
        if array is None:
            raise InputError("the model lacks these numbers", field=name)
        fits = array.ndim == len(shape) and all(
            wanted in (None, found) for wanted, found in zip(shape, array.shape, strict=True)
        )
        if array.dtype != np.dtype(f"<{kind}") or not fits:
            raise InputError(f"the numbers are {array.dtype} of the shape {array.shape}", field=name)
        if array.dtype.kind == "f" and not np.isfinite(array).all():
            raise InputError("a number is not finite", field=name)
        return array
