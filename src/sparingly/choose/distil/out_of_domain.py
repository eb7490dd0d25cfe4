"""Texts unlike those that a model was trained on: other letters, other lengths, other scripts.

A learned utility is unreliable for texts of a kind that was not in the training data, and its number does not
show it. So a model stores which character 4-grams it has seen, how long its texts were and their scripts.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats
from sparingly.base.rng import keys_of
from sparingly.choose.distil import text_features
from sparingly.choose.distil.text_features import Spans, blocks, character_ngrams, places

SEEN_BITS = 22
UNSEEN, LENGTH, SCRIPT = "unseen letters", "length", "script"
_ORDERS = (4,)
_USUAL_LENGTHS, _USUAL_UNSEEN = 0.99, 0.975
_LEAST_UNSEEN = 0.1
_MOST_TIMES = 2.0
_RARE_SCRIPT = 0.01

Bits = NDArray[np.uint8]


@dataclass(frozen=True)
class Thresholds:
    """When a text, or a whole set, counts as unlike the training data."""

    unseen: float  # share of character 4-grams that no training text has
    shortest: float  # in letters
    longest: float
    script_share: float = _RARE_SCRIPT  # of training texts that a script needs to count as known
    flagged_share: float = 0.1  # of flagged texts, from which on a warning is due
    correlation: float = 0.1  # hold-out rank correlation below which a warning is due


def ngram_bits(texts: Sequence[str]) -> Bits:
    """Return a bit for every place of a 4-gram: whether a text has one there."""
    has_ngram = np.zeros(1 << SEEN_BITS, bool)
    for _, spans in blocks(texts):
        has_ngram[places(character_ngrams(spans, _ORDERS).hashes, SEEN_BITS)] = True
    return np.packbits(has_ngram)


def unseen_shares(spans: Spans, bits: Bits) -> Floats:
    """Return the share of every text's 4-grams that the training texts do not have."""
    hashes, counts = character_ngrams(spans, _ORDERS)
    place = places(hashes, SEEN_BITS)
    is_seen = (bits[place >> 3] >> (7 - (place & 7)).astype(np.uint8)) & 1
    return np.asarray(spans.sums(1.0 - is_seen, counts) / np.maximum(counts, 1))


def text_scripts(spans: Spans) -> list[str]:
    """Return the script that most letters of every text are of."""
    table = text_features.letter_table(spans.codes)
    script = table.script[spans.codes].astype(np.int64)
    width = len(table.scripts)
    text = np.repeat(np.arange(len(spans.texts)), spans.lengths)
    counts = np.bincount(text * width + script, minlength=len(spans.texts) * width).reshape(-1, width)
    counts[:, 0] = 0
    main_script = np.where(counts.any(axis=1), counts.argmax(axis=1), 0)
    return [table.scripts[place] for place in main_script.tolist()]


def script_shares(texts: Sequence[str]) -> dict[str, float]:
    """Return how many of some texts are mainly in each script, the most frequent first."""
    scripts = [name for _, spans in blocks(texts) for name in text_scripts(spans)]
    names, counts = np.unique(np.array(scripts, str), return_counts=True)
    order = np.lexsort((names, -counts))
    return {str(names[place]): float(counts[place] / len(scripts)) for place in order}


def thresholds_of(texts: Sequence[str]) -> Thresholds:
    """Return thresholds that few texts like the training texts exceed.

    Half of the texts, chosen by a hash, are compared with the n-grams of the other half: 39 in 40 pass.
    """
    halves = keys_of(list(texts)) >> np.uint64(63) == 0
    first = [text for text, in_first in zip(texts, halves, strict=True) if in_first]
    second = [text for text, in_first in zip(texts, halves, strict=True) if not in_first]
    lengths = np.concatenate([spans.lengths - 2 for _, spans in blocks(texts)])
    shares = [0.0]
    if first and second:
        bits = ngram_bits(first)
        shares = np.concatenate([unseen_shares(spans, bits) for _, spans in blocks(second)]).tolist()
    low, high = np.quantile(lengths, [1.0 - _USUAL_LENGTHS, _USUAL_LENGTHS])
    return Thresholds(
        unseen=max(_LEAST_UNSEEN, float(np.quantile(shares, _USUAL_UNSEEN))),
        shortest=float(np.floor(low / _MOST_TIMES)),
        longest=float(np.ceil(high * _MOST_TIMES)),
    )


def out_of_domain_reasons(
    spans: Spans, bits: Bits, scripts: dict[str, float], thresholds: Thresholds
) -> list[tuple[str, ...]]:
    """Return, for every text, how it differs from the training texts; empty for most."""
    length = spans.lengths - 2
    odd = {
        UNSEEN: unseen_shares(spans, bits) > thresholds.unseen,
        LENGTH: (length < thresholds.shortest) | (length > thresholds.longest),
        SCRIPT: np.array(
            [scripts.get(name, 0.0) < thresholds.script_share for name in text_scripts(spans)], bool
        ),
    }
    reasons: list[tuple[str, ...]] = [()] * len(spans.texts)
    for place in np.flatnonzero(np.any(list(odd.values()), axis=0)).tolist():
        reasons[place] = tuple(name for name, flags in odd.items() if flags[place])
    return reasons
