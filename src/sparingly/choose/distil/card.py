"""What a model says of itself: from what it was learned, how well, and where it should not be used."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field, fields
from typing import Any

from sparingly.base.errors import InputError, UsageError
from sparingly.choose.distil.out_of_domain import Thresholds
from sparingly.data.values import as_list, as_mapping, as_number, as_text, as_whole, check_version

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
        values = asdict(self)
        del values["unknown"]
        if self.encoder is None:
            del values["encoder"]
        listed = {name: list(values[name]) for name in ("utilities", "data", "models", "languages")}
        return {"format": FORMAT, "version": VERSION, **values, **listed, **self.unknown}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Card:
        """Read a card from the values of its file."""
        check_version(dict(values), FORMAT, VERSION)
        known = {part.name for part in fields(cls)} | {"format", "version"}
        texts = ("learner", "features", "scale", "held_out_by", "signature", "made_by")
        return cls(
            **{name: _text(values, name) for name in texts},
            embedding_digest=as_text(values.get("embedding_digest"), "embedding_digest"),
            seed=as_whole(values.get("seed"), "seed"),
            texts=as_whole(values.get("texts"), "texts"),
            utilities=tuple(_learned(as_mapping(one, "utilities")) for one in _several(values, "utilities")),
            data=tuple(_training_set(as_mapping(one, "data")) for one in _several(values, "data")),
            models=_texts(values, "models"),
            families={
                name: str(family) for name, family in as_mapping(values.get("families"), "families").items()
            },
            languages=_texts(values, "languages"),
            scripts=_numbers(values, "scripts"),
            thresholds=Thresholds(**_thresholds(as_mapping(values.get("thresholds"), "thresholds"))),
            encoder=as_mapping(values["encoder"], "encoder") if "encoder" in values else None,
            unknown={name: value for name, value in values.items() if name not in known},
        )


def _several(values: Mapping[str, Any], name: str) -> list[Any]:
    return as_list(values.get(name), name)


def _text(values: Mapping[str, Any], name: str) -> str:
    found = as_text(values.get(name), name)
    if found is None:
        raise InputError("a text is missing", field=name)
    return found


def _texts(values: Mapping[str, Any], name: str) -> tuple[str, ...]:
    found = [as_text(one, name) for one in _several(values, name)]
    return tuple(one for one in found if one is not None)


def _numbers(values: Mapping[str, Any], name: str) -> dict[str, float]:
    return {key: as_number(value, name) for key, value in as_mapping(values.get(name), name).items()}


def _learned(values: Mapping[str, Any]) -> LearnedUtility:
    told = as_mapping(values.get("hold_out"), "hold_out")
    return LearnedUtility(
        name=_text(values, "name"),
        method=_text(values, "method"),
        texts=as_whole(values.get("texts"), "texts"),
        hold_out=HoldOut(
            spearman=as_number(told.get("spearman"), "spearman"),
            pearson=as_number(told.get("pearson"), "pearson"),
            by_set=_numbers(told, "by_set"),
        ),
    )


def _training_set(values: Mapping[str, Any]) -> TrainingSet:
    return TrainingSet(
        name=_text(values, "name"),
        items=as_whole(values.get("items"), "items"),
        inputs=_text(values, "inputs"),
        labels=as_text(values.get("labels"), "labels"),
    )


def _thresholds(values: Mapping[str, Any]) -> dict[str, float]:
    return {
        part.name: as_number(values.get(part.name), f"thresholds.{part.name}") for part in fields(Thresholds)
    }


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
