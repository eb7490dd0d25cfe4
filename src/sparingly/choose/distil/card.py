"""What a model says of itself: from what it was learned, how well, and where it should not be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import UsageError
from sparingly.choose.distil.out_of_domain import Thresholds
from sparingly.data import schema
from sparingly.data.values import check_version

# --- What a model says of itself: from what it was learned, how well, and where it should not be used


FORMAT, VERSION = "sparingly/distilled", 1
NGRAMS, ENCODER = "ngrams", "encoder"


@dataclass(frozen=True)
class HoldOut:
    """The correlation of predicted and true utilities of items that were held out.

    Attributes:
        spearman: The rank correlation within a set, averaged over the sets by their items.
        pearson: The linear correlation, in the same way.
        by_set: The rank correlation in every set.
    """

    spearman: float
    pearson: float
    by_set: dict[str, float]


@dataclass(frozen=True)
class LearnedUtility:
    """A utility that was learned.

    Attributes:
        name: Its name in the model.
        method: The utility as text.
        texts: The number of texts that it was learned from.
        hold_out: How well it is told for texts that were held out.
    """

    name: str
    method: str
    texts: int
    hold_out: HoldOut


@dataclass(frozen=True)
class TrainingSet:
    """A set that was learned from: its size, and the digests of the inputs and labels that were read."""

    name: str
    items: int
    inputs: str
    labels: str | None


@dataclass(frozen=True)
class Card:
    """All that is known about a model beside its numbers.

    Attributes:
        learner: ``ridge``, ``boosting`` or ``encoder``.
        features: ``ngrams``, the embedding, or the transformer that an encoder started from.
        embedding_digest: What tells the embedding's model, or that transformer, from others, if it is known.
        scale: How utilities of several sets were made comparable.
        seed: Settles folds and what boosting draws.
        texts: The number of distinct training texts.
        held_out_by: What was held out: a data set at a time, documents, or items.
        utilities: What was learned.
        data: What it was learned from.
        models: The models whose outputs or scores were used.
        families: The family of a model, as said or by its name.
        languages: The languages, where somebody said so.
        scripts: The share of training texts in every script.
        thresholds: When to warn.
        signature: How the model came about, in one line.
        made_by: The version of the package.
        encoder: How an encoder was trained; None for others.
        unknown: What the file says beyond that; it is kept when the model is saved again.
    """

    learner: str
    features: str
    embedding_digest: str | None
    scale: str
    seed: int
    texts: int
    held_out_by: str
    utilities: tuple[LearnedUtility, ...]
    data: tuple[TrainingSet, ...]
    models: tuple[str, ...]
    families: dict[str, str]
    languages: tuple[str, ...]
    scripts: dict[str, float]
    thresholds: Thresholds
    signature: str
    made_by: str
    encoder: Mapping[str, Any] | None = None
    unknown: Mapping[str, Any] = field(default_factory=dict)

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the utilities."""
        return tuple(one.name for one in self.utilities)

    def to_dict(self) -> dict[str, Any]:
        """Return the card as plain values."""
        values = schema.write(self)
        del values["unknown"]
        if self.encoder is None:
            del values["encoder"]
        return {"format": FORMAT, "version": VERSION, **values, **self.unknown}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Card:
        """Read a card from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        unknown = schema.unknown_keys(values, cls, "format", "version")
        return schema.read(cls, values, unknown=unknown)


# --- Which models belong together by their names, where nobody says so


_LETTERS = re.compile(r"[^\W\d_]+")
_FEWEST_LETTERS = 3
# Words that say nothing about where a model comes from.
_NO_FAMILY = frozenset(
    ("online", "model", "system", "sys", "baseline", "base", "ref", "reference", "human", "output", "team")
)


def family_of(model: str) -> str | None:
    """Return the family of a model by its name: its first word, in small letters.

    ``Llama3-70B`` and ``llama-3.1-8b`` are of the family ``llama``; a word of fewer than three letters, or
    one such as ``online``, tells nothing.
    """
    words = _LETTERS.findall(model)
    first = words[0].lower() if words else ""
    return first if len(first) >= _FEWEST_LETTERS and first not in _NO_FAMILY else None


def families_of(models: Iterable[str], said: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return the families of models, as said or by their names; those without one are left out."""
    known, given = list(models), dict(said or {})
    for name in sorted(set(given) - set(known)):
        raise UsageError(f'A family is given for "{name}", and no training set has that model.')
    found = {name: given.get(name, family_of(name)) for name in known}
    return {name: family for name, family in found.items() if family}
