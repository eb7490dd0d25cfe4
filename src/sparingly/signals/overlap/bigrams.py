"""Bigram overlap between items: how much judging one would repeat another."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints, Objects
from sparingly.base.stats.moments import row_means
from sparingly.signals.overlap.similarity import is_unspaced, tokenise
from sparingly.signals.overlap.tokens import TokenCodes, encode_tokens


@dataclass(frozen=True)
class Bigrams:
    """The bigrams of every output of a set; made by ``count_bigrams``.

    An occurrence of a bigram is a *feature*: which model, which bigram, and whether it is its first, second …
    occurrence in the output. Two outputs of a model share Σ_g min(a_g, b_g) bigrams, which is the number of
    features that they have in common.

    Attributes:
        feature: The features of all outputs, item after item, model after model.
        bounds: Where the features of every output begin, and where those of the last one end.
        item: The item of every output.
        model: The model of every output.
        counts: The number of bigrams of every output, items x models, 0 where there is no output.
    """

    feature: Ints
    bounds: Ints
    item: Ints
    model: Ints
    counts: Ints

    def dice(self, item: int) -> Floats:
        """Return the Dice overlap of every item with one item, model by model (items x models).

        2·Σ_g min(a_g, b_g) / (Σ_g a_g + Σ_g b_g) over bigrams of words, or of characters in scripts without
        spaces; NaN where the model has no output for one of the two items.
        """
        low, high = np.searchsorted(self.item, [item, item + 1])
        in_item = np.zeros(int(self.feature.max(initial=-1)) + 1, bool)
        in_item[self.feature[self.bounds[low] : self.bounds[high]]] = True
        shared = np.zeros(self.counts.shape)
        if len(self.item):
            shared[self.item, self.model] = np.add.reduceat(
                in_item[self.feature], self.bounds[:-1], dtype=int
            )
        present = (self.counts > 0) & (self.counts[item] > 0)
        return np.where(present, 2 * shared / np.maximum(self.counts + self.counts[item], 1), np.nan)

    def similarity(self, item: int) -> Floats:
        """Return the mean over models of the Dice overlap of every item with one item."""
        return row_means(self.dice(item))

    def redundancy(self, chosen: Iterable[int]) -> Floats:
        """Return for every item its similarity with the chosen item that is most like it.

        max over chosen items of the mean over models of bigram Dice (Ruan et al. 2024); NaN where there is
        none to compare with. Judging an item of high redundancy teaches little that is new.
        """
        highest = np.full(len(self.counts), np.nan)
        for item in chosen:
            highest = np.fmax(highest, self.similarity(item))
        return highest


def count_bigrams(outputs: Objects) -> Bigrams:
    """Count the bigrams of every output (items x models, None is missing).

    Tokens are words, or characters where most items are in a script that puts no spaces between words:
    one choice for the whole set, because items are compared with each other.
    """
    rows = outputs.tolist()
    unspaced = [is_unspaced(texts) for row in rows if (texts := [text for text in row if text is not None])]
    by_character = 2 * sum(unspaced) > len(unspaced)
    is_written = np.array([[text is not None for text in row] for row in rows], bool).reshape(outputs.shape)
    item, model = np.nonzero(is_written)
    texts = [text for row in rows for text in row if text is not None]
    tokens = encode_tokens(tokenise(texts, np.full(len(texts), by_character), 2))
    counts = np.zeros(outputs.shape, np.int64)
    counts[item, model] = tokens.lengths - 1
    bounds = np.concatenate([[0], np.cumsum(tokens.lengths - 1)])
    return Bigrams(_features(tokens, model), bounds, item, model, counts)


def _features(tokens: TokenCodes, model: Ints) -> Ints:
    """Return a number per bigram of every text: the same for the same model, bigram and occurrence."""
    owner = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    inside = owner[1:] == owner[:-1]
    owner = owner[1:][inside]
    distinct, bigram = np.unique(
        (tokens.codes[:-1] * tokens.kinds + tokens.codes[1:])[inside], return_inverse=True
    )
    keys = owner * len(distinct) + bigram
    by_key = np.argsort(keys)
    places = np.arange(len(keys))
    new = np.ones(len(keys), bool)
    new[1:] = keys[by_key][1:] != keys[by_key][:-1]
    occurrence = np.empty_like(places)
    occurrence[by_key] = places - np.maximum.accumulate(np.where(new, places, 0))
    repeats = int(occurrence.max(initial=0)) + 1
    _, feature = np.unique(
        (model[owner] * len(distinct) + bigram) * repeats + occurrence, return_inverse=True
    )
    return feature
