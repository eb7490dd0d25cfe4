"""The card of a model: what it was learned from, how well it predicts, and where not to use it."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from sparingly.base.errors import UsageError
from sparingly.choose.distil.out_of_domain import Thresholds
from sparingly.data import schema
from sparingly.data.values import check_version

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
        hold_out: How well it is predicted for held-out texts.
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
class ModelCard:
    """All that is known about a model beside its numbers.

    Attributes:
        learner: ``ridge``, ``boosting`` or ``encoder``.
        features: ``ngrams``, the embedding, or the transformer that an encoder started from.
        embedding_digest: The digest of the embedding's model, or of that transformer, if known.
        scale: How utilities of several sets were made comparable.
        seed: The seed of folds and boosting.
        texts: The number of distinct training texts.
        held_out_by: What was held out: a data set at a time, documents, or items.
        utilities: What was learned.
        data: What it was learned from.
        models: The models whose outputs or scores were used.
        families: The family of a model, as stated or by its name.
        languages: The languages, if stated.
        scripts: The share of training texts in every script.
        thresholds: When to warn.
        signature: How the model came about, in one line.
        made_by: The version of the package.
        encoder: How an encoder was trained; None for others.
        unknown: Further keys of the file; they are written again when the model is saved.
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


# Families of models by their names


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
