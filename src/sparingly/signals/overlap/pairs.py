"""Similarities between the outputs of an item, block of items by block of items."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import count
from typing import Protocol, cast

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.signals.overlap.ngrams import Places

_MISSING = -1


@dataclass(frozen=True)
class Block:
    """The distinct texts of some items that follow each other.

    Attributes:
        begin: The first item.
        texts: The texts, item after item; a text that several models wrote for an item stands there once.
        places: Which item and slot every text has.
        slot: The slot of every model's text, items x models, -1 where there is none.
        copies: How many models wrote the text of a slot, items x slots.
    """

    begin: int
    texts: list[str]
    places: Places
    slot: Ints
    copies: Ints

    @property
    def end(self) -> int:
        """The item after the last."""
        return self.begin + self.places.items


class Measure(Protocol):
    """A similarity of texts."""

    @property
    def block_size(self) -> int:
        """About how many characters of text are worked on at once."""

    def between(self, block: Block) -> Floats:
        """Return the similarity of every text of an item (the hypothesis) with every text (the reference).

        The shape is items x slots x slots; slots without a text hold any number.
        """


def pair_similarities(outputs: Objects, measure: Measure) -> Floats:
    """Return the similarity of every model's output with every model's output.

    Args:
        outputs: The texts, items x models; None is missing.
        measure: The similarity.

    Returns:
        Items x models (the hypothesis) x models (the reference), NaN where one of the two has no output.
    """
    items, models = outputs.shape
    found = np.full((items, models, models), np.nan)
    for block in blocks(outputs, measure.block_size):
        rows = np.arange(block.places.items)[:, None, None]
        first, second = block.slot[:, :, None], block.slot[:, None, :]
        values = measure.between(block)[rows, first, second]
        there = (first != _MISSING) & (second != _MISSING)
        found[block.begin : block.end] = np.where(there, values, np.nan)
    return found


def mean_similarities(outputs: Objects, measure: Measure) -> Floats:
    """Return the mean similarity over ordered pairs of different models, per item.

    (1/(k(k−1))) Σ_{j≠j'} sim(y_j, y_j') over the k models that have an output; NaN where k < 2. Both
    directions count, so a similarity that is not symmetric is averaged over them.
    """
    found = np.full(len(outputs), np.nan)
    for block in blocks(outputs, measure.block_size):
        copies = block.copies.astype(np.float64)
        models = copies.sum(axis=1)
        # Slots without a text hold any number, so they are taken out and not multiplied by 0.
        used = (block.copies[:, :, None] > 0) & (block.copies[:, None, :] > 0)
        values = np.where(used, measure.between(block), 0.0)
        everyone = np.einsum("ia,iab,ib->i", copies, values, copies)
        themselves = np.einsum("ia,iaa->i", copies, values)
        pairs = models * (models - 1)
        means = (everyone - themselves) / np.maximum(pairs, 1)
        found[block.begin : block.end] = np.where(pairs > 0, means, np.nan)
    return found


def mean_cosines(vectors: Floats, there: Mask) -> Floats:
    """Return the mean cosine of an item's vectors over pairs of different models, NaN with fewer than two.

    With s the sum of an item's k vectors of length 1, (|s|² − k) / (k(k−1)): no pair is visited. A vector of
    length 0 is like nothing.

    Args:
        vectors: Items x models x dimensions, each of length 1 or 0.
        there: Items x models, whether there is a vector.
    """
    present = there.astype(np.float64)
    total = np.einsum("ijd,ij->id", vectors, present)
    themselves = np.einsum("ijd,ijd,ij->i", vectors, vectors, present)
    models = present.sum(axis=1)
    pairs = models * (models - 1)
    alike = np.einsum("id,id->i", total, total) - themselves
    return np.where(pairs > 0, alike / np.maximum(pairs, 1), np.nan)


def blocks(outputs: Objects, size: int) -> Iterator[Block]:
    """Cut items into blocks of about a number of characters, and find the distinct texts of each item."""
    items, models = outputs.shape
    lengths = np.fromiter((0 if text is None else len(text) for text in _listed(outputs)), np.int64)
    # The table of pairs takes room too, however short the texts are.
    upto = np.cumsum(lengths.reshape(items, models).sum(axis=1) + models**2)
    begin = 0
    while begin < items:
        done = upto[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(upto, done + size, side="right")))
        yield _block(outputs[begin:end], begin)
        begin = end


def _block(outputs: Objects, begin: int) -> Block:
    numbers: defaultdict[str | None, int] = defaultdict(count().__next__, {None: _MISSING})
    text = np.fromiter(map(numbers.__getitem__, _listed(outputs)), np.int64).reshape(outputs.shape)
    by_text = np.argsort(text, axis=1, kind="stable")
    ordered = np.take_along_axis(text, by_text, axis=1)
    new = ordered != _MISSING
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    place = np.cumsum(new, axis=1) - 1
    slot = np.empty_like(place)
    np.put_along_axis(slot, by_text, place, axis=1)
    item, column = np.nonzero(new)
    places = Places(item, place[item, column], len(outputs), int(place.max(initial=0)) + 1)
    present_item, present_model = np.nonzero(slot != _MISSING)
    cells = present_item * places.slots + slot[present_item, present_model]
    copies = np.bincount(cells, minlength=places.items * places.slots)
    known = [written for written in numbers if written is not None]
    texts = [known[number] for number in ordered[item, column].tolist()]
    return Block(begin, texts, places, slot, copies.reshape(places.items, places.slots))


def _listed(outputs: Objects) -> Iterator[str | None]:
    return iter(cast("Iterable[str | None]", outputs.flat))
