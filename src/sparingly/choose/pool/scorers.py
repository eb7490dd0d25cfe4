"""What a source is worth: its length, a column of its record, or any function of batches of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np
from numpy.typing import NDArray

from sparingly.base.errors import UsageError
from sparingly.signals.length import SOURCE_LENGTH, text_length

Floats = NDArray[np.float64]
# Takes the texts of a batch and gives one number each; NaN where it has nothing to say.
Scorer = Callable[[list[str]], Floats]


@dataclass(frozen=True)
class Scoring:
    """How sources are scored: its name, and the function or the column that has the numbers."""

    name: str
    scorer: Scorer | None = None
    column: str | None = None


def scoring_of(by: str | Scorer) -> Scoring:
    """Return how to score: ``source_length``, ``package.module:function``, a function, or a column's name."""
    if callable(by):
        named = f"{getattr(by, '__module__', '')}:{getattr(by, '__qualname__', type(by).__qualname__)}"
        return Scoring(getattr(by, "name", None) or named, scorer=by)
    if by == SOURCE_LENGTH:
        return Scoring(by, scorer=source_length)
    if ":" in by:
        return Scoring(by, scorer=_imported(by))
    return Scoring(by, column=by)


def source_length(texts: list[str]) -> Floats:
    """Return the number of words of every text, or of characters where words have no spaces between them."""
    return np.fromiter(map(text_length, texts), np.float64, len(texts))


def scores_of(scorer: Scorer, name: str, texts: list[str]) -> Floats:
    """Return the scores of a batch; a function that returns something else is an error."""
    scores = np.asarray(scorer(texts), np.float64)
    if scores.shape != (len(texts),):
        raise UsageError(
            f"{name} must return one number per text: for {len(texts)} texts it gave the shape {scores.shape}"
        )
    return scores


def _imported(by: str) -> Scorer:
    module, _, function = by.partition(":")
    try:
        found = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"The function {by} cannot be imported: {error}.") from None
    if not callable(found):
        raise UsageError(f"{by} is no function of a list of texts.")
    scorer: Scorer = found
    return scorer
