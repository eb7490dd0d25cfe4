"""The training texts: those of all sets, each once, with what was found out about them in every set."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError, MissingDataError, UsageError
from sparingly.base.rng import keys_of, stream
from sparingly.choose.distil.targets import Scale, Target, scaled, values_in
from sparingly.data import fields
from sparingly.data.evalset import EvalSet

FEWEST_TEXTS = 20


@dataclass(frozen=True, eq=False)
class Part:
    """One set: its name, what was read of it, and its items as rows.

    Attributes:
        name: The name of the set.
        data: The set.
        read: The fields that utilities were computed from.
        values: Items × utilities, as they are.
    """

    name: str
    data: EvalSet
    read: frozenset[str]
    values: Floats


@dataclass(frozen=True, eq=False)
class Corpus:
    """All items that have a source, as rows in the order of text, set and id.

    Attributes:
        parts: The sets, in the order of their names.
        texts: The distinct texts, in order.
        text: The text of every row.
        part: The set of every row.
        item: The place of every row in its set.
        group: What must not be torn apart when items are held out: a document, or the text itself.
        targets: Rows × utilities, on the common scale.
    """

    parts: tuple[Part, ...]
    texts: tuple[str, ...]
    text: Ints
    part: Ints
    item: Ints
    group: NDArray[np.object_]
    targets: Floats

    def training(self, rows: NDArray[np.bool_]) -> tuple[Ints, Floats]:
        """Return the texts of some rows (positions in ``texts``) with the mean of their targets."""
        there = np.unique(self.text[rows])
        place = np.searchsorted(there, self.text[rows])
        known = ~np.isnan(self.targets[rows])
        total, count = np.zeros((len(there), known.shape[1])), np.zeros((len(there), known.shape[1]))
        np.add.at(total, place, np.where(known, self.targets[rows], 0.0))
        np.add.at(count, place, known)
        return there, np.where(count > 0, total / np.maximum(count, 1), np.nan)

    @property
    def has_documents(self) -> bool:
        """Whether items are held out by documents."""
        return any(fields.DOCUMENT in part.data.columns for part in self.parts)


def corpus_of(sets: Mapping[str, EvalSet], targets: Sequence[Target], scale: Scale) -> Corpus:
    """Compute the utilities of all sets and put their texts together."""
    parts = tuple(_part(name, sets[name], targets) for name in sorted(sets))
    rows: list[tuple[str, int, int]] = []
    for place, part in enumerate(parts):
        sources = part.data.sources
        if sources is None:
            raise MissingDataError(
                f'The data set "{part.name}" has no sources, and they are what is learned from.'
            )
        rows += [(text, place, row) for row, text in enumerate(sources) if text and not text.isspace()]
    rows.sort()
    if len({text for text, _, _ in rows}) < FEWEST_TEXTS:
        raise DataError(f"At least {FEWEST_TEXTS} different sources are needed to learn from.")
    texts = tuple(sorted({text for text, _, _ in rows}))
    number = {text: place for place, text in enumerate(texts)}
    common = [np.stack([scaled(column, scale) for column in part.values.T], axis=1) for part in parts]
    corpus = Corpus(
        parts=parts,
        texts=texts,
        text=np.array([number[text] for text, _, _ in rows]),
        part=np.array([place for _, place, _ in rows]),
        item=np.array([row for _, _, row in rows]),
        group=np.array([_group(parts[place], row, text) for text, place, row in rows], object),
        targets=np.stack([common[place][row] for _, place, row in rows]),
    )
    _check_targets(corpus, targets)
    return corpus


def folds_of(corpus: Corpus, hold_out: str | None, folds: int, seed: int) -> tuple[str, Ints]:
    """Return by what rows are held out, and the fold of every row: sets, documents, or items."""
    if hold_out == "sets" and len(corpus.parts) < 2:
        raise UsageError("There is one data set, so it cannot be told by others: use hold_out=items.")
    if len(corpus.parts) > 1 and hold_out != "items":
        return "data set", corpus.part
    names = sorted(set(corpus.group))
    if len(names) < 2:
        raise UsageError("All items are in one document, so none can be held out: give a second data set.")
    draws = np.argsort(stream(keys_of(names), seed, "distil"), kind="stable")
    fold = {names[place]: rank % folds for rank, place in enumerate(draws.tolist())}
    by = "documents" if corpus.has_documents else "items"
    return by, np.array([fold[name] for name in corpus.group])


def _part(name: str, data: EvalSet, targets: Sequence[Target]) -> Part:
    found = [values_in(data, target, name) for target in targets]
    read = frozenset({"sources"}).union(*(read for _, read in found))
    return Part(name, data, read, np.stack([values for values, _ in found], axis=1))


def _group(part: Part, row: int, text: str) -> str:
    if fields.DOCUMENT in part.data.columns:
        document = part.data.columns[fields.DOCUMENT][row]
        if document is not None:
            return f"{part.name}\x1f{document}"
    return f"\x1e{text}"


def _check_targets(corpus: Corpus, targets: Sequence[Target]) -> None:
    for column, target in zip(corpus.targets.T, targets, strict=True):
        known = column[~np.isnan(column)]
        if len(known) < FEWEST_TEXTS:
            raise DataError(
                f"Only {len(known)} sources have a {target.name}, and {FEWEST_TEXTS} are needed to learn it."
            )
        if known.min() == known.max():
            raise DataError(f"The utility {target.name} is the same for all items: nothing can be learned.")
