"""Sentence chrF between all outputs of an item, as sacrebleu computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.signals.overlap.ngrams import ngram_totals, shared_ngrams
from sparingly.signals.overlap.pairs import Block
from sparingly.signals.overlap.tokens import characters


@dataclass(frozen=True)
class Chrf:
    """chrF: the F-score of character n-grams, 0 to 100 (Popović 2015).

    (1 + β²)·P·R / (β²·P + R) with P and R the precision and recall of character n-grams without white space,
    averaged over the orders n = 1 … 6 of which both texts have any; β = 2. These are sacrebleu's defaults.
    A text without characters scores 0 with every text.
    """

    block_size: ClassVar[int] = 2**17
    order: ClassVar[int] = 6
    beta: ClassVar[float] = 2.0

    def between(self, block: Block) -> Floats:
        """Return the chrF of every text of an item, given every other as the reference."""
        tokens, places = characters(block.texts), block.places
        precision = np.zeros((places.items, places.slots, places.slots))
        orders = np.zeros_like(precision)
        for n, shared in enumerate(shared_ngrams(tokens, places, self.order), start=1):
            totals = ngram_totals(tokens, places, n)
            both = (totals[:, :, None] > 0) & (totals[:, None, :] > 0)
            # Where the other text has no n-grams nothing is shared, so the order adds 0 of its own accord.
            precision += shared / np.maximum(totals, 1)[:, :, None]
            orders += both
        precision /= np.maximum(orders, 1)
        # What is precision one way is recall the other way.
        recall = precision.transpose(0, 2, 1)
        weight = self.beta**2
        divisor = weight * precision + recall
        return 100 * (1 + weight) * precision * recall / np.where(divisor > 0, divisor, 1.0)
