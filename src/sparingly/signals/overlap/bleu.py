"""Sentence BLEU between all outputs of an item, as sacrebleu computes it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.signals.overlap.ngrams import ngram_totals, shared_ngrams
from sparingly.signals.overlap.pairs import Block
from sparingly.signals.overlap.tokens import Tokeniser, bleu_tokens


@dataclass(frozen=True)
class Bleu:
    """Sentence BLEU with effective order and exponential smoothing, 0 to 100 (Papineni et al. 2002).

    BP·exp((1/N) Σ_n log p_n) over the orders n = 1 … N that the hypothesis has any n-grams of, N ≤ 4, with
    BP = min(1, exp(1 − |reference|/|hypothesis|)); the k-th precision without a match counts as
    1/(2^k · number of n-grams) (Chen and Cherry 2014, method 3). Without any match the score is 0.
    """

    tokeniser: Tokeniser = "13a"
    block_size: ClassVar[int] = 2**18
    order: ClassVar[int] = 4

    def between(self, block: Block) -> Floats:
        """Return the BLEU of every text of an item, given every other as the reference."""
        tokens, places = bleu_tokens(block.texts, self.tokeniser), block.places
        shape = (places.items, places.slots, places.slots)
        logs, misses, matches = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
        for n, shared in enumerate(shared_ngrams(tokens, places, self.order), start=1):
            totals = ngram_totals(tokens, places, n)[:, :, None]
            there = totals > 0
            misses += there & (shared == 0)
            matched = np.where(shared > 0, shared, 0.5**misses)
            logs += np.where(there, np.log(matched / np.maximum(totals, 1)), 0.0)
            matches += shared
        lengths = places.spread(tokens.lengths)
        orders = np.clip(lengths, 1, self.order)[:, :, None]
        scores = 100 * np.exp(logs / orders + _log_brevity(lengths))
        return np.where(matches > 0, scores, 0.0)


def _log_brevity(lengths: Ints) -> Floats:
    """Return the logarithm of the brevity penalty, items x hypotheses x references."""
    hypothesis, reference = lengths[:, :, None], lengths[:, None, :]
    return np.minimum(0.0, 1 - reference / np.maximum(hypothesis, 1))
