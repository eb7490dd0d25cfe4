"""The card of a model: what it was learned from, how well it predicts, and where not to use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import UsageError
from sparingly.choose.distil.text_features import Thresholds
from sparingly.data import schema
from sparingly.data.values import check_version

FORMAT, VERSION = "sparingly/distilled", 1
NGRAMS, ENCODER = "ngrams", "encoder"


@dataclass(frozen=True)
class HoldOut:
    """The correlation of predicted and true utilities of held-out items; means over sets, by their items."""

    spearman: float
    pearson: float
    by_set: dict[str, float]  # the rank correlation in every set


@dataclass(frozen=True)
class LearnedUtility:
    """A utility that was learned."""

    name: str
    method: str  # the utility as text
    texts: int  # that it was learned from
    hold_out: HoldOut


@dataclass(frozen=True)
class TrainingSet:
    """A set that was learned from: its size, and the digests of the inputs and labels that were read."""

    name: str
    items: int
    inputs: str
    labels: str | None


@dataclass(frozen=True)
class ModelCard:
    """All that is known about a model beside its numbers."""

    learner: str  # ridge, boosting or encoder
    features: str  # ngrams, the embedding, or the transformer that an encoder started from
    embedding_digest: str | None  # of the embedding's model, or of that transformer
    scale: str  # how utilities of several sets were made comparable
    seed: int
    texts: int  # distinct ones
    held_out_by: str  # a data set at a time, documents, or items
    utilities: tuple[LearnedUtility, ...]
    data: tuple[TrainingSet, ...]
    models: tuple[str, ...]  # whose outputs or scores were used
    families: dict[str, str]  # of models, as stated or by their names
    languages: tuple[str, ...]
    scripts: dict[str, float]  # shares of the training texts
    thresholds: Thresholds
    signature: str  # how the model came about, in one line
    made_by: str  # the version of the package
    encoder: Mapping[str, Any] | None = None  # how it was trained
    unknown: Mapping[str, Any] = field(default_factory=dict)  # further keys of the file, which are kept

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the utilities."""
        return tuple(utility.name for utility in self.utilities)

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain values."""
        values = schema.write(self)
        del values["unknown"]
        if self.encoder is None:
            del values["encoder"]
        return {"format": FORMAT, "version": VERSION, **values, **self.unknown}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> ModelCard:
        """Read a card from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        unknown = schema.unknown_keys(values, cls, "format", "version")
        return schema.read(cls, values, unknown=unknown)


_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 3
# Words that say nothing about where a model comes from.
_NO_FAMILY = frozenset(
    ("online", "model", "system", "sys", "baseline", "base", "ref", "reference", "human", "output", "team")
)


def family_of(model: str) -> str | None:
    """Return the family of a model by its name: its first word, in lower case.

    ``Llama3-70B`` and ``llama-3.1-8b`` are of the family ``llama``; a word of fewer than three letters, or
    one such as ``online``, names no family.
    """
    words = _LETTERS.findall(model)
    first = words[0].lower() if words else ""
    return first if len(first) >= _FEWEST_LETTERS and first not in _NO_FAMILY else None


def families_of(models: Iterable[str], stated: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the families of models, as stated or by their names; models without one are left out."""
    names, families = list(models), dict(stated or {})
    for name in sorted(set(families) - set(names)):
        raise UsageError(f'A family is given for "{name}", and no training set has that model.')
    by_model = {name: families.get(name, family_of(name)) for name in names}
    return {name: family for name, family in by_model.items() if family}
