"""The utility of sources: their length, a column, a distilled model, or any function of batches of texts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from pathlib import Path

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.base.text import Bare, Call, Quoted, format_call, parse_call, text_value
from sparingly.choose.distil.model import Distilled, learned_from_notes, weak_notes
from sparingly.signals.length import SOURCE_LENGTH, text_length

DISTILLED = "distilled"
_PARAMETERS = ("model", "utility", "digest")
# Takes the texts of a batch and returns one number each; NaN for no score.
Scorer = Callable[[list[str]], Floats]


@dataclass(frozen=True)
class Scoring:
    """How sources are scored: a name, the function or column that has the numbers, and warnings."""

    name: str
    scorer: Scorer | None = None
    column: str | None = None
    notes: tuple[str, ...] = ()

    @property
    def flags(self) -> bool:
        """Whether the scorer also flags texts unlike its training texts."""
        return isinstance(self.scorer, DistilledScorer)


def parse_scoring(by: str | Scorer) -> Scoring:
    """Return how to score: ``source_length``, a column, ``distilled:model=FILE``, or some function.

    A function is given as it is or as ``package.module:function``.
    """
    if callable(by):
        path = f"{getattr(by, '__module__', '')}:{getattr(by, '__qualname__', type(by).__qualname__)}"
        return Scoring(getattr(by, "name", None) or path, scorer=by)
    if by == SOURCE_LENGTH:
        return Scoring(by, scorer=source_length)
    if by.partition(":")[0] == DISTILLED:
        model = parse_distilled(by)
        # The utility and the model's digest, which do not depend on the path.
        values = {"utility": str(model.method.utility), "digest": str(model.method.digest)}
        call = Call(DISTILLED, tuple((name, text_value(value)) for name, value in values.items()))
        card = model.method.load_model().card
        notes = (*weak_notes(card, (values["utility"],)), *learned_from_notes(card))
        return Scoring(format_call(call), scorer=model, notes=notes)
    if ":" not in by:
        return Scoring(by, column=by)
    module, _, function = by.partition(":")
    try:
        scorer: Scorer = getattr(import_module(module), function)
    except (ImportError, AttributeError, ValueError) as error:
        raise UsageError(f"The function {by} cannot be imported: {error}.") from None
    if not callable(scorer):
        raise UsageError(f"{by} is not a function of a list of texts.")
    return Scoring(by, scorer=scorer)


def source_length(texts: list[str]) -> Floats:
    """Return the number of words of every text, or of characters where words have no spaces between them."""
    return np.fromiter(map(text_length, texts), np.float64, len(texts))


def score_batch(scorer: Scorer, name: str, texts: list[str]) -> tuple[Floats, Mask]:
    """Return the scores of a batch, and which texts are flagged; raise UsageError for other results."""
    if isinstance(scorer, DistilledScorer):
        return scorer.with_flags(texts)
    scores = np.asarray(scorer(texts), np.float64)
    if scores.shape != (len(texts),):
        raise UsageError(
            f"{name} must return one number per text: for {len(texts)} texts it gave the shape {scores.shape}"
        )
    return scores, np.zeros(len(texts), bool)


@dataclass(frozen=True)
class DistilledScorer:
    """A distilled model as the scorer of a pool; every worker reads it from its file."""

    method: Distilled

    def __call__(self, texts: list[str]) -> Floats:
        """Return the utility of every text."""
        return self.method.load_model().predict(texts, self.method.utility)

    def with_flags(self, texts: list[str]) -> tuple[Floats, Mask]:
        """Return the utility of every text, and whether it is unlike the training texts."""
        model = self.method.load_model()
        scored = model.score(texts)
        unlike = np.fromiter(map(bool, scored.unlike), bool, len(texts))
        return scored.values[:, model.place_of(self.method.utility)], unlike


def parse_distilled(text: str) -> DistilledScorer:
    """Return the scorer of ``distilled:model=FILE,utility=NAME``; the only utility need not be named."""
    parameters: dict[str, str] = {}
    for name, value in parse_call(text).values:
        if name not in _PARAMETERS or not isinstance(value, Bare | Quoted):
            raise UsageError(
                f"{text} is not a way to score a pool: write {DISTILLED}:model=FILE,utility=NAME, and "
                "nothing else."
            )
        parameters[name] = value.text
    if "model" not in parameters:
        raise UsageError(f"{DISTILLED} needs the file of a model: {DISTILLED}:model=FILE.")
    method = Distilled(
        str(Path(parameters["model"]).resolve()), parameters.get("utility"), None, parameters.get("digest")
    )
    model = method.load_model()
    place = model.place_of(method.utility)
    # A model of precomputed vectors cannot score texts, and says so before anything is read.
    model.predict(["a"], model.card.names[place])
    return DistilledScorer(Distilled(method.model, model.card.names[place], None, model.digest))
