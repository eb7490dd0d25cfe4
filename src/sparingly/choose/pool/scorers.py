"""What a source is worth: its length, a column, a distilled model, or any function of batches of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.choose.pool import told
from sparingly.signals.length import SOURCE_LENGTH, text_length

# Takes the texts of a batch and gives one number each; NaN where it has nothing to say.
Scorer = Callable[[list[str]], Floats]


@dataclass(frozen=True)
class Scoring:
    """How sources are scored: its name, the function or column that has the numbers, and what to mind."""

    name: str
    scorer: Scorer | None = None
    column: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def flags(self) -> bool:
        """Whether the scorer also tells which texts it knows little about."""
        return isinstance(self.scorer, told.Told)


def scoring_of(by: str | Scorer) -> Scoring:
    """Return how to score: ``source_length``, a column, ``distilled:model=FILE``, or some function.

    A function is given as it is or as ``package.module:function``.
    """
    if callable(by):
        named = f"{getattr(by, '__module__', '')}:{getattr(by, '__qualname__', type(by).__qualname__)}"
        return Scoring(getattr(by, "name", None) or named, scorer=by)
    if by == SOURCE_LENGTH:
        return Scoring(by, scorer=source_length)
    if by.partition(":")[0] == told.METHOD:
        model = told.told_by(by)
        return Scoring(model.name, scorer=model, notes=model.notes)
    if ":" in by:
        return Scoring(by, scorer=_imported(by))
    return Scoring(by, column=by)


def source_length(texts: list[str]) -> Floats:
    """Return the number of words of every text, or of characters where words have no spaces between them."""
    return np.fromiter(map(text_length, texts), np.float64, len(texts))


def scores_of(scorer: Scorer, name: str, texts: list[str]) -> tuple[Floats, Mask]:
    """Return the scores of a batch, and who is unlike what the scorer knows; other results are an error."""
    if isinstance(scorer, told.Told):
        return scorer.with_flags(texts)
    scores = np.asarray(scorer(texts), np.float64)
    if scores.shape != (len(texts),):
        raise UsageError(
            f"{name} must return one number per text: for {len(texts)} texts it gave the shape {scores.shape}"
        )
    return scores, np.zeros(len(texts), bool)


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
