"""A distilled model as the scorer of a pool: the utility it tells, and the texts it knows little about."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from sparingly.base.arrays import Floats, Mask
from sparingly.base.errors import UsageError
from sparingly.base.text import Bare, Call, Quoted, format_call, parse_call, text_value
from sparingly.choose.distil.apply import Distilled, learned_from_notes, weak_notes

METHOD = "distilled"
_GIVEN = ("model", "utility", "digest")


@dataclass(frozen=True)
class Told:
    """A model that tells the utility of texts; it is read from its file wherever it is used."""

    method: Distilled

    @property
    def name(self) -> str:
        """The utility and the model's digest: the same wherever the file lies."""
        values = (("utility", self.method.utility), ("digest", self.method.digest))
        return format_call(Call(METHOD, tuple((name, text_value(str(value))) for name, value in values)))

    @property
    def notes(self) -> tuple[str, ...]:
        """What to mind about the utility."""
        card = self.method.loaded().card
        return (*weak_notes(card, (str(self.method.utility),)), *learned_from_notes(card))

    def __call__(self, texts: list[str]) -> Floats:
        """Return the utility of every text."""
        return self.method.loaded().predict(texts, self.method.utility)

    def with_flags(self, texts: list[str]) -> tuple[Floats, Mask]:
        """Return the utility of every text, and whether it is unlike the training texts."""
        model = self.method.loaded()
        scored = model.score(texts)
        unlike = np.fromiter(map(bool, scored.unlike), bool, len(texts))
        return scored.values[:, model.place_of(self.method.utility)], unlike


def told_by(text: str) -> Told:
    """Return the scorer of ``distilled:model=FILE,utility=NAME``; the only utility need not be named."""
    given: dict[str, str] = {}
    for name, value in parse_call(text).values:
        if name not in _GIVEN or not isinstance(value, Bare | Quoted):
            raise UsageError(
                f"{text} is no way to score a pool: write {METHOD}:model=FILE,utility=NAME, and nothing else."
            )
        given[name] = value.text
    if "model" not in given:
        raise UsageError(f"{METHOD} needs the file of a model: {METHOD}:model=FILE.")
    asked = Distilled(str(Path(given["model"]).resolve()), given.get("utility"), None, given.get("digest"))
    model = asked.loaded()
    place = model.place_of(asked.utility)
    # A model of given vectors knows nothing of texts, and says so before anything is read.
    model.predict(["a"], model.card.names[place])
    return Told(Distilled(asked.model, model.card.names[place], None, model.digest))
