"""Similarities of all pairs of outputs, from which tests compute means by hand."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats, Objects
from sparingly.signals.overlap.similarity import Similarity, blocks


def pair_similarities(outputs: Objects, measure: Similarity) -> Floats:
    """Return the similarity of outputs (items x models, None is missing) with each other.

    The shape is items x models (the hypothesis) x models (the reference), NaN where one has no output.
    """
    items, models = outputs.shape
    similarities = np.full((items, models, models), np.nan)
    for block in blocks(outputs, measure.block_size):
        rows = np.arange(block.places.items)[:, None, None]
        first, second = block.slot[:, :, None], block.slot[:, None, :]
        values = measure.between(block)[rows, first, second]
        present = (first != -1) & (second != -1)
        similarities[block.begin : block.end] = np.where(present, values, np.nan)
    return similarities
