"""Features of texts for whole blocks at once: letters, words, hashed n-grams, and a few surface numbers."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from threading import Lock
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.rng import keys_of

FeatureCodes = NDArray[np.uint32]

OTHER_KIND, SPACE, DIGIT, SIGN, CAPITAL, LETTER = range(6)
_KINDS = {"L": LETTER, "M": LETTER, "N": DIGIT, "P": SIGN, "S": SIGN}
_COUNT = 0x110000
_UNKNOWN = 255
# Written without spaces between words: every letter stands for a word.
_UNSPACED = frozenset({"CJK", "HIRAGANA", "KATAKANA", "THAI", "LAO", "KHMER", "MYANMAR"})
_SENTENCE_ENDS = frozenset(".!?:;…。！？：；।॥؟۔")
NO_SCRIPT = "none"


class LetterTable:
    """Properties of the letters met so far; each letter is looked up in Unicode's tables once."""

    def __init__(self) -> None:
        self.kind = np.full(_COUNT, _UNKNOWN, np.uint8)
        self.script = np.zeros(_COUNT, np.uint8)
        self.lower = np.arange(_COUNT, dtype=np.uint32)
        self.alone = np.zeros(_COUNT, bool)
        self.joins = np.zeros(_COUNT, bool)
        self.ends = np.zeros(_COUNT, bool)
        self.scripts = [NO_SCRIPT]

    def add(self, code: int) -> None:
        """Look up a letter."""
        letter = chr(code)
        category = unicodedata.category(letter)
        self.ends[code] = letter in _SENTENCE_ENDS
        # A mark belongs to the letter before it.
        self.joins[code] = category[0] == "M"
        if category[0] == "L":
            name = unicodedata.name(letter, "OTHER_KIND").split()[0].partition("-")[0]
            if name not in self.scripts and len(self.scripts) < _UNKNOWN:
                self.scripts.append(name)
            self.script[code] = self.scripts.index(name) if name in self.scripts else 0
            self.alone[code] = name in _UNSPACED
            # The lower case of a few letters is two letters: the first stands for both.
            self.lower[code] = ord(letter.lower()[0])
        kind = CAPITAL if category in ("Lu", "Lt") else _KINDS.get(category[0], OTHER_KIND)
        # Last, so that another thread sees a letter as known only when all of it is.
        self.kind[code] = SPACE if letter.isspace() else kind


_TABLE, _lock = LetterTable(), Lock()


def letter_table(codes: FeatureCodes) -> LetterTable:
    """Return the table, with these letters in it."""
    new = codes[_TABLE.kind[codes] == _UNKNOWN]
    if new.size:
        with _lock:
            for code in np.unique(new).tolist():
                _TABLE.add(code)
    return _TABLE


Hashes = NDArray[np.uint64]

_BLOCK_LETTERS = 1 << 19
_STEP = np.uint64(0x9E3779B97F4A7C15)


class Ragged(NamedTuple):
    """A hash for each of the parts of every text, text after text, and how many parts each text has."""

    hashes: Hashes
    counts: Ints


def blocks(texts: Sequence[str]) -> Iterator[tuple[slice, Spans]]:
    """Yield texts in blocks of limited size, so that memory does not grow with their number."""
    start = letters_in_block = 0
    for place, text in enumerate(texts):
        if letters_in_block and letters_in_block + len(text) > _BLOCK_LETTERS:
            yield slice(start, place), Spans(texts[start:place])
            start, letters_in_block = place, 0
        letters_in_block += len(text) + 2
    if start < len(texts):
        yield slice(start, len(texts)), Spans(texts[start:])


@dataclass(frozen=True, eq=False)
class Spans:
    """A block of texts as letters and words; runs of space are one space, and one stands at either end.

    A word is what stands between spaces; where a script has none, every letter is a word.
    """

    texts: Sequence[str]

    @cached_property
    def _padded(self) -> list[str]:
        return [f" {' '.join(text.split())} " for text in self.texts]

    @cached_property
    def lengths(self) -> Ints:
        """The number of letters of every text, with the two spaces around it."""
        return np.fromiter(map(len, self._padded), np.int64, len(self._padded))

    @cached_property
    def codes(self) -> NDArray[np.uint32]:
        """All letters."""
        encoded = "".join(self._padded).encode("utf-32-le", "surrogatepass")
        # Halves of surrogate pairs and all else below 0x110000 have a place in the table.
        return np.frombuffer(encoded, "<u4").astype(np.uint32)

    @cached_property
    def kinds(self) -> NDArray[np.uint8]:
        """The kind of every letter."""
        return letter_table(self.codes).kind[self.codes]

    @cached_property
    def starts(self) -> Ints:
        """Where every text begins."""
        return np.cumsum(self.lengths) - self.lengths

    @cached_property
    def lower(self) -> NDArray[np.uint32]:
        """All letters in lower case."""
        return letter_table(self.codes).lower[self.codes]

    @cached_property
    def word_starts(self) -> Ints:
        """Where every word begins."""
        table = letter_table(self.codes)
        is_word, joins = table.alone[self.codes], table.joins[self.codes]
        space = self.kinds == SPACE
        begins = ~space
        begins[1:] &= space[:-1] | is_word[1:] | (is_word[:-1] & ~joins[1:])
        return np.flatnonzero(begins)

    @cached_property
    def word_texts(self) -> Ints:
        """The text that every word is in."""
        return np.searchsorted(self.starts, self.word_starts, "right") - 1

    @cached_property
    def word_counts(self) -> Ints:
        """The number of words of every text."""
        return np.bincount(self.word_texts, minlength=len(self.texts)).astype(np.int64)

    @cached_property
    def words(self) -> Hashes:
        """The hash of every word, in lower case."""
        if not len(self.word_starts):
            return np.zeros(0, np.uint64)
        inside = self.kinds != SPACE
        # Letters between two words are spaces only, and these add nothing.
        word_of_letter = np.cumsum(np.bincount(self.word_starts, minlength=len(self.codes))) - 1
        place = np.arange(len(self.codes)) - self.word_starts[np.maximum(word_of_letter, 0)]
        mixed = rng.scramble(self.lower.astype(np.uint64) + (place.astype(np.uint64) + np.uint64(1)) * _STEP)
        return rng.scramble(np.add.reduceat(np.where(inside, mixed, np.uint64(0)), self.word_starts))

    def sums(self, values: Floats, counts: Ints, add: np.ufunc = np.add) -> Floats:
        """Add up values text by text (or take their maximum, say); a text without any has 0."""
        total = np.zeros(len(counts))
        has_values = counts > 0
        if has_values.any():
            total[has_values] = add.reduceat(values, (np.cumsum(counts) - counts)[has_values])
        return total


CHARACTER_ORDERS = (2, 3, 4)
_ROLL, _WORDS, _PAIRS = np.uint64(0x100000001B3), np.uint64(0x51ED27), np.uint64(0xA5B35705)


def character_ngrams(spans: Spans, orders: tuple[int, ...] = CHARACTER_ORDERS) -> Ragged:
    """Return the hashes of the character n-grams of every text, in lower case."""
    mixed = rng.scramble(spans.lower.astype(np.uint64))
    remaining = np.repeat(np.cumsum(spans.lengths), spans.lengths) - np.arange(len(mixed))
    hashed, columns, inside = mixed.copy(), [], []
    for order in range(2, max(orders) + 1):
        following = np.zeros_like(mixed)
        following[: 1 - order] = mixed[order - 1 :]
        hashed = rng.scramble(hashed * _ROLL + following)
        if order in orders:
            columns.append(hashed)
            inside.append(remaining >= order)
    complete = np.stack(inside, axis=1)
    counts = np.add.reduceat(complete.sum(axis=1), spans.starts).astype(np.int64)
    return Ragged(np.stack(columns, axis=1)[complete], counts)


def word_ngrams(spans: Spans) -> Ragged:
    """Return the hashes of the words and of the pairs of words of every text."""
    words, text = spans.words, spans.word_texts
    paired = np.zeros(len(words), bool)
    paired[:-1] = text[1:] == text[:-1]
    following = np.zeros_like(words)
    following[:-1] = words[1:]
    pairs = rng.scramble(words * _ROLL + following + _PAIRS)
    complete = np.stack([np.ones(len(words), bool), paired], axis=1)
    counts = spans.word_counts + np.maximum(spans.word_counts - 1, 0)
    return Ragged(np.stack([rng.scramble(words ^ _WORDS), pairs], axis=1)[complete], counts)


def places(hashes: Hashes, bits: int) -> Ints:
    """Return the place of every hash among 2^bits."""
    return (hashes >> np.uint64(64 - bits)).astype(np.int64)


SURFACE_NAMES = (
    "log words",
    "log letters",
    "letters per word",
    "rarity",
    "rarest word",
    "type–token ratio",
    "digits",
    "punctuation",
    "name-like words",
)
WORD_BITS = 16


def surface(spans: Spans, rarity: NDArray[np.float32]) -> Floats:
    """Return the numbers in ``NAMES`` for every text, texts × numbers.

    Rarity is the mean over words of ln((1 + N)/(1 + f)), where f of the N training texts have the word; the
    type–token ratio is distinct words by words; digits and punctuation are shares of the letters; a word is
    like a name where it has a capital although it does not begin a sentence.
    """
    words = np.maximum(spans.word_counts, 1)
    letters = np.maximum(spans.lengths - 2, 1)
    rare = rarity[places(spans.words, WORD_BITS)].astype(np.float64)
    # The different words of every text.
    order = np.lexsort((spans.words, spans.word_texts))
    word, text = spans.words[order], spans.word_texts[order]
    is_first = np.ones(len(word), bool)
    is_first[1:] = (word[1:] != word[:-1]) | (text[1:] != text[:-1])
    distinct = np.bincount(text[is_first], minlength=len(spans.texts))
    digits = np.add.reduceat((spans.kinds == DIGIT).astype(np.int64), spans.starts)
    signs = np.add.reduceat((spans.kinds == SIGN).astype(np.int64), spans.starts)
    return np.stack(
        [
            np.log1p(spans.word_counts),
            np.log1p(letters),
            letters / words,
            spans.sums(rare, spans.word_counts) / words,
            spans.sums(rare, spans.word_counts, np.maximum),
            distinct / words,
            digits / letters,
            signs / letters,
            _names(spans) / words,
        ],
        axis=1,
    )


def word_rarity(counts: Ints, texts: int) -> NDArray[np.float32]:
    """Return how rare a word of every place is, from the number of texts that have one."""
    return np.asarray(np.log((1.0 + texts) / (1.0 + counts)), np.float32)


def _names(spans: Spans) -> Ints:
    """Count the words with a first capital that follow a word which ends no sentence."""
    starts = spans.word_starts
    if not len(starts):
        return np.zeros(len(spans.texts), np.int64)
    ends = letter_table(spans.codes).ends[spans.codes]
    # The last letter before a word is that of the word before, with at most one space between them.
    last_letter = np.where(spans.kinds[starts - 1] == SPACE, starts - 2, starts - 1)
    inside = np.zeros(len(starts), bool)
    inside[1:] = spans.word_texts[1:] == spans.word_texts[:-1]
    is_name = inside & (spans.kinds[starts] == CAPITAL) & ~ends[np.maximum(last_letter, 0)]
    return np.bincount(spans.word_texts[is_name], minlength=len(spans.texts))


# --- texts unlike those that a model was trained on: other letters, other lengths, other scripts ---
# A learned utility is unreliable for texts of a kind that was not in the training data, and its number does
# not show it. So a model stores which character 4-grams it has seen, how long its texts were and their
# scripts.


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
    table = letter_table(spans.codes)
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
