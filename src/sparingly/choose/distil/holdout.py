"""How well a utility is told for texts that were not learned from."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import DataError
from sparingly.base.stats.correlation import pearson, spearman
from sparingly.choose.distil.corpus import Corpus
from sparingly.choose.distil.encoder.known import EncoderFit
from sparingly.choose.distil.learner import Fit

# Learns the targets of some texts; the name tells one part of a training from another.
Teach = Callable[[Ints, Floats, str], Fit | EncoderFit]


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


def held_out(
    corpus: Corpus, folds: Ints, teach: Teach, vectors: Floats | None = None, most: int | None = None
) -> tuple[HoldOut, ...]:
    """Learn without each fold (or the first few), predict it, and correlate set by set.

    A text of the fold is not learned from in any other set either: editions of one test set share sources.
    """
    told = np.full(corpus.targets.shape, np.nan)
    for number in np.unique(folds).tolist()[:most]:
        inside = folds == number
        free = ~np.isin(corpus.text, corpus.text[inside])
        rows, targets = corpus.training(free)
        if len(rows) < 2 or not (~np.isnan(targets)).any(axis=0).all():
            raise DataError(
                "Without the texts of one part, too few are left to learn from: hold items out instead "
                "(hold_out=items), or give other data."
            )
        known = teach(rows, targets, f"without-{number}")
        places = corpus.text[inside]
        there = None if vectors is None else vectors[places]
        told[inside] = known.predict([corpus.texts[place] for place in places], there)
    return tuple(_correlations(corpus, column, place) for place, column in enumerate(told.T))


def _correlations(corpus: Corpus, told: Floats, utility: int) -> HoldOut:
    ranks, lines, sizes = {}, [], []
    for place, part in enumerate(corpus.parts):
        rows = corpus.part == place
        true, guess = part.values[corpus.item[rows], utility], told[rows]
        known = ~(np.isnan(true) | np.isnan(guess))
        if known.sum() < 2:
            continue
        ranks[part.name] = spearman(guess[known], true[known])
        lines.append(pearson(guess[known], true[known]))
        sizes.append(int(known.sum()))
    if not sizes:
        return HoldOut(0.0, 0.0, {})
    mean = float(np.average(list(ranks.values()), weights=sizes))
    return HoldOut(mean, float(np.average(lines, weights=sizes)), ranks)
