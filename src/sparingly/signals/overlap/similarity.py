"""BLEU, chrF and Dice between the outputs of an item, and bigram overlap between items."""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count, pairwise
from typing import ClassVar, Literal, Protocol, cast, get_args

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints, Mask, Objects
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.stats.moments import row_means
from sparingly.signals.length import text_length

# --- Tokens ---
# sacrebleu's ``13a`` (mteval-v13a, its default for BLEU) and ``zh`` are applied to many texts at once:
# their rules look at a character and its neighbours, so they are evaluated for all characters of all texts
# together. In ``13a`` a line gets a space at both ends, so the tokens of a word (a stretch without white
# space) depend on that word alone.


CodePoints = NDArray[np.uint32]

_ENTITIES = (("&quot;", '"'), ("&amp;", "&"), ("&lt;", "<"), ("&gt;", ">"))
_BETWEEN, _SPACE = "\n", " "
# The apostrophe stays in its word; a hyphen, a full stop and a comma may.
_SEPARATE = {*string.punctuation, _BETWEEN, _SPACE} - set("'-.,")
Tokeniser = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"]
_INSTALL = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


@dataclass(frozen=True)
class TokenCodes:
    """The codes of all tokens, text after text, each below ``kinds``, and how many every text has."""

    codes: Ints
    lengths: Ints
    kinds: int


def characters(texts: Sequence[str]) -> TokenCodes:
    """Return the characters of texts; white space is left out, as chrF has it."""
    dense = ["".join(text.split()) for text in texts]
    # Half a surrogate pair is a character like any other here, as it is in a Python string.
    points = np.frombuffer("".join(dense).encode("utf-32-le", "surrogatepass"), "<u4")
    is_used = np.zeros(int(points.max(initial=0)) + 1, bool)
    is_used[points] = True
    codes = (np.cumsum(is_used) - 1)[points]
    return TokenCodes(codes, np.fromiter(map(len, dense), np.int64, len(dense)), max(1, int(is_used.sum())))


def encode_tokens(tokenised: Sequence[Sequence[str]]) -> TokenCodes:
    """Return tokens that are already cut apart."""
    lengths = np.fromiter(map(len, tokenised), np.int64, len(tokenised))
    codes, vocabulary = _encode(chain.from_iterable(tokenised), int(lengths.sum()))
    return TokenCodes(codes, lengths, max(1, len(vocabulary)))


def bleu_tokens(texts: Sequence[str], tokeniser: Tokeniser = "13a") -> TokenCodes:
    """Return the tokens that sacrebleu cuts texts into for BLEU."""
    if tokeniser == "13a":
        # Cut each distinct word once, and put its pieces wherever the word stands.
        words = [joined_lines(text).split() for text in texts]
        lengths = np.fromiter(map(len, words), np.int64, len(words))
        numbers, distinct_words = _encode(chain.from_iterable(words), int(lengths.sum()))
        pieces = encode_tokens(cut_words(distinct_words))
        sizes = pieces.lengths[numbers]
        ends = np.cumsum(sizes)
        begins = np.cumsum(pieces.lengths) - pieces.lengths
        codes = pieces.codes[np.arange(int(sizes.sum())) + np.repeat(begins[numbers] - ends + sizes, sizes)]
        upto = np.concatenate([[0], ends])[np.concatenate([[0], np.cumsum(lengths)])]
        return TokenCodes(codes, np.diff(upto), pieces.kinds)
    if tokeniser == "zh":
        return encode_tokens(cut_chinese(texts))
    if tokeniser not in get_args(Tokeniser):
        raise UnknownNameError("tokeniser", tokeniser, get_args(Tokeniser))
    from sacrebleu.metrics.bleu import BLEU

    try:
        tokenise: Callable[[str], str] = BLEU(tokenize=tokeniser, effective_order=True).tokenizer
    except RuntimeError:
        command = f'pip install "{_INSTALL[tokeniser]}"'
        raise UsageError(
            f"The tokeniser {tokeniser} needs a dictionary. Install it with: {command}"
        ) from None
    return encode_tokens([tokenise(text.rstrip()).split() for text in texts])


def _encode(tokens: Iterable[str], total: int) -> tuple[Ints, list[str]]:
    """Return a code per token, and the tokens in the order of their codes."""
    codes: defaultdict[str, int] = defaultdict(count().__next__)
    return np.fromiter(map(codes.__getitem__, tokens), np.int64, total), list(codes)


def joined_lines(text: str) -> str:
    """Join words that ``13a`` finds broken at the end of a line; nothing is broken at the end of a text."""
    if "<skipped>" not in text and "-\n" not in text:
        return text
    return text.rstrip().replace("<skipped>", "").replace("-\n", "")


def cut_words(words: Sequence[str]) -> list[Sequence[str]]:
    """Cut every word into tokens as ``13a`` does."""
    pieces: list[Sequence[str]] = [(word,) for word in words]
    # Letters and digits alone are never cut.
    special = {place: word for place, word in enumerate(words) if not word.isalnum()}
    if special:
        for place, word in special.items():
            for entity, character in _ENTITIES if "&" in word else ():
                special[place] = special[place].replace(entity, character)
        token_lists = _split_lines(list(special.values()), _SEPARATE, padded=True)
        for place, tokens in zip(special, token_lists, strict=True):
            pieces[place] = tokens
    return pieces


def cut_chinese(texts: Sequence[str]) -> list[list[str]]:
    """Cut every text into tokens as ``zh`` does: Chinese characters one by one, the rest as ``13a``."""
    from sacrebleu.metrics.bleu import BLEU

    tokenise: Callable[[str], str] = BLEU(tokenize="zh", effective_order=True).tokenizer
    lines = [" ".join(text.split()) for text in texts]
    foreign = {character for character in set().union(*lines) if not character.isascii()}
    chinese = {character for character in foreign if " " in tokenise(f"a{character}a")}
    return _split_lines(lines, _SEPARATE | chinese, padded=False) if lines else []


def _split_lines(lines: Sequence[str], separate: set[str], *, padded: bool) -> list[list[str]]:
    """Cut lines without line ends into tokens."""
    text = _BETWEEN + _BETWEEN.join(lines) + _BETWEEN
    points = np.frombuffer(text.encode("utf-32-le", "surrogatepass"), "<u4")
    is_separate = np.zeros(max(int(points.max()), *map(ord, separate)) + 1, bool)
    is_separate[[ord(character) for character in separate]] = True
    bounds = [*np.flatnonzero(_token_starts(points, is_separate[points], padded)).tolist(), len(text)]
    tokens = [token for low, high in pairwise(bounds) if (token := text[low:high]) != _SPACE]
    # The tokens between two line ends are those of a line.
    ends = [place for place, token in enumerate(tokens) if token == _BETWEEN]
    return [tokens[low + 1 : high] for low, high in pairwise(ends)]


def _token_starts(points: CodePoints, separate: Mask, padded: bool) -> Mask:
    """Whether a token begins at a character; the first and the last character are line ends."""
    digit = (points >= ord("0")) & (points <= ord("9"))
    mark = (points == ord(".")) | (points == ord(","))
    # A mark is parted from a neighbour that is no digit; where a line just ends there is no neighbour.
    holds = digit if padded else digit | (points == ord(_BETWEEN))
    after_digit, after, digit_after = np.zeros((3, len(points)), bool)
    after_digit[1:], after[1:], digit_after[:-1] = digit[:-1], holds[:-1], holds[1:]
    # Whether the rule "part a full stop or comma from the non-digit before it" passes a mark by. The rule
    # takes two characters at a time, so of several marks in a row it parts every second one: the first, the
    # third … or, where a digit stands before them, the second, the fourth …
    places = np.arange(len(mark))
    first = mark.copy()
    first[1:] &= ~mark[:-1]
    begin = np.maximum.accumulate(np.where(first, places, 0))
    passed: Mask = (places - begin) % 2 == np.where(after[begin], 0, 1)
    attached = digit_after & passed
    separate = separate | (mark & ~attached) | ((points == ord("-")) & after_digit)
    begins = separate.copy()
    begins[0] = True
    begins[1:] |= separate[:-1]
    return begins


# --- BLEU, chrF and Dice between the outputs of an item, and bigram overlap between items ---

_MISSING = -1


@dataclass(frozen=True)
class TextBlock:
    """The distinct texts of some items that follow each other."""

    begin: int  # the first item
    # The texts, item after item; a text that several models wrote for an item stands there once.
    texts: list[str]
    places: TextPlaces  # which item and slot every text has
    slot: Ints  # the slot of every model's text, items x models, -1 where there is none
    copies: Ints  # how many models wrote the text of a slot, items x slots

    @property
    def end(self) -> int:
        """The item after the last."""
        return self.begin + self.places.items


class Similarity(Protocol):
    """A similarity of texts."""

    @property
    def block_size(self) -> int:
        """About how many characters of text are worked on at once."""

    def between(self, block: TextBlock) -> Floats:
        """Return the similarity of every text of an item (the hypothesis) with every text (the reference).

        The shape is items x slots x slots; slots without a text hold any number.
        """


def mean_similarities(outputs: Objects, measure: Similarity) -> Floats:
    """Return the mean similarity over ordered pairs of different models, for every item.

    (1/(k(k−1))) Σ_{j≠j'} sim(y_j, y_j') over the k models that have an output; NaN where k < 2. Both
    directions count, so a similarity that is not symmetric is averaged over them.
    """
    means_per_item = np.full(len(outputs), np.nan)
    for block in blocks(outputs, measure.block_size):
        copies = block.copies.astype(np.float64)
        models = copies.sum(axis=1)
        # Slots without a text may hold NaN, so they are set to 0 rather than multiplied by 0.
        is_used = (block.copies[:, :, None] > 0) & (block.copies[:, None, :] > 0)
        values = np.where(is_used, measure.between(block), 0.0)
        everyone = np.einsum("ia,iab,ib->i", copies, values, copies)
        themselves = np.einsum("ia,iaa->i", copies, values)
        pairs = models * (models - 1)
        means = (everyone - themselves) / np.maximum(pairs, 1)
        means_per_item[block.begin : block.end] = np.where(pairs > 0, means, np.nan)
    return means_per_item


def mean_cosines(vectors: Floats, is_present: Mask) -> Floats:
    """Return the mean cosine of an item's vectors over pairs of different models, NaN with fewer than two.

    With s the sum of an item's k vectors of length 1, (|s|² − k) / (k(k−1)): no pair is visited. A vector of
    length 0 is like nothing. ``vectors`` are items x models x dimensions, each of length 1 or 0.
    """
    present = is_present.astype(np.float64)
    total = np.einsum("ijd,ij->id", vectors, present)
    themselves = np.einsum("ijd,ijd,ij->i", vectors, vectors, present)
    models = present.sum(axis=1)
    pairs = models * (models - 1)
    alike = np.einsum("id,id->i", total, total) - themselves
    return np.where(pairs > 0, alike / np.maximum(pairs, 1), np.nan)


def blocks(outputs: Objects, size: int) -> Iterator[TextBlock]:
    """Cut items into blocks of about a number of characters, and find the distinct texts of each item."""
    items, models = outputs.shape
    lengths = np.fromiter((0 if text is None else len(text) for text in _flat_texts(outputs)), np.int64)
    # The table of pairs takes room too, however short the texts are.
    upto = np.cumsum(lengths.reshape(items, models).sum(axis=1) + models**2)
    begin = 0
    while begin < items:
        previous = upto[begin - 1] if begin else 0
        end = max(begin + 1, int(np.searchsorted(upto, previous + size, side="right")))
        yield _make_block(outputs[begin:end], begin)
        begin = end


def _make_block(outputs: Objects, begin: int) -> TextBlock:
    numbers: defaultdict[str | None, int] = defaultdict(count().__next__, {None: _MISSING})
    text = np.fromiter(map(numbers.__getitem__, _flat_texts(outputs)), np.int64).reshape(outputs.shape)
    by_text = np.argsort(text, axis=1, kind="stable")
    ordered = np.take_along_axis(text, by_text, axis=1)
    new = ordered != _MISSING
    new[:, 1:] &= ordered[:, 1:] != ordered[:, :-1]
    place = np.cumsum(new, axis=1) - 1
    slot = np.empty_like(place)
    np.put_along_axis(slot, by_text, place, axis=1)
    item, column = np.nonzero(new)
    places = TextPlaces(item, place[item, column], len(outputs), int(place.max(initial=0)) + 1)
    present_item, present_model = np.nonzero(slot != _MISSING)
    cells = present_item * places.slots + slot[present_item, present_model]
    copies = np.bincount(cells, minlength=places.items * places.slots)
    distinct_texts = [text_value for text_value in numbers if text_value is not None]
    texts = [distinct_texts[number] for number in ordered[item, column].tolist()]
    return TextBlock(begin, texts, places, slot, copies.reshape(places.items, places.slots))


def _flat_texts(outputs: Objects) -> Iterator[str | None]:
    return iter(cast("Iterable[str | None]", outputs.flat))


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

    def between(self, block: TextBlock) -> Floats:
        """Return the BLEU of every text of an item, given every other as the reference."""
        tokens, places = bleu_tokens(block.texts, self.tokeniser), block.places
        shape = (places.items, places.slots, places.slots)
        logs, misses, matches = np.zeros(shape), np.zeros(shape), np.zeros(shape, np.int64)
        for n, shared in enumerate(shared_ngrams(tokens, places, self.order), start=1):
            totals = ngram_totals(tokens, places, n)[:, :, None]
            present = totals > 0
            misses += present & (shared == 0)
            matched = np.where(shared > 0, shared, 0.5**misses)
            logs += np.where(present, np.log(matched / np.maximum(totals, 1)), 0.0)
            matches += shared
        lengths = places.spread(tokens.lengths)
        orders = np.clip(lengths, 1, self.order)[:, :, None]
        log_brevity = np.minimum(0.0, 1 - lengths[:, None, :] / np.maximum(lengths[:, :, None], 1))
        scores = 100 * np.exp(logs / orders + log_brevity)
        return np.where(matches > 0, scores, 0.0)


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

    def between(self, block: TextBlock) -> Floats:
        """Return the chrF of every text of an item, given every other as the reference."""
        tokens, places = characters(block.texts), block.places
        precision = np.zeros((places.items, places.slots, places.slots))
        orders = np.zeros_like(precision)
        for n, shared in enumerate(shared_ngrams(tokens, places, self.order), start=1):
            totals = ngram_totals(tokens, places, n)
            both_present = (totals[:, :, None] > 0) & (totals[:, None, :] > 0)
            # Without n-grams in the other text nothing is shared, and the order adds 0.
            precision += shared / np.maximum(totals, 1)[:, :, None]
            orders += both_present
        precision /= np.maximum(orders, 1)
        # What is precision one way is recall the other way.
        recall = precision.transpose(0, 2, 1)
        weight = self.beta**2
        divisor = weight * precision + recall
        return 100 * (1 + weight) * precision * recall / np.where(divisor > 0, divisor, 1.0)


@dataclass(frozen=True)
class Dice:
    """Dice's coefficient of the n-grams of two texts, 0 to 1: 2·Σ_g min(a_g, b_g) / (Σ_g a_g + Σ_g b_g).

    Tokens are words as white space parts them, or characters where the outputs of an item are in a script
    that puts no spaces between words. A text of fewer than n tokens is one n-gram: equal to such a text with
    the same tokens, and to nothing else.
    """

    order: int = 1  # the n of the n-grams: 1 for single words, 2 for bigrams
    block_size: ClassVar[int] = 2**18

    def between(self, block: TextBlock) -> Floats:
        """Return the overlap of every two texts of an item."""
        places = block.places
        bounds = np.searchsorted(places.item, np.arange(places.items + 1))
        of_items = [is_unspaced(block.texts[low:high]) for low, high in pairwise(bounds.tolist())]
        unspaced = np.repeat(of_items, np.diff(bounds))
        tokens = encode_tokens(tokenise(block.texts, unspaced, self.order))
        *_, shared = shared_ngrams(tokens, places, self.order)
        totals = ngram_totals(tokens, places, self.order)
        # Two slots without a text have no n-grams, and their number does not matter.
        return np.asarray(2 * shared / np.maximum(totals[:, :, None] + totals[:, None, :], 1))


def is_unspaced(texts: Sequence[str]) -> bool:
    """Whether texts, taken together, are in a script that puts no spaces between words."""
    if all(map(str.isascii, texts)):
        return False
    together = " ".join(texts)
    return text_length(together) != len(together.split())


def tokenise(texts: Sequence[str], unspaced: NDArray[np.bool_], minimum: int) -> list[list[str]]:
    """Cut texts into words or characters; short texts are filled up with empty tokens."""
    token_lists = [
        list("".join(text.split())) if by_character else text.split()
        for text, by_character in zip(texts, unspaced.tolist(), strict=True)
    ]
    return [tokens + [""] * (minimum - len(tokens)) for tokens in token_lists]


@dataclass(frozen=True)
class Bigrams:
    """The bigrams of every output of a set; made by ``count_bigrams``.

    An occurrence of a bigram is a *feature*: which model, which bigram, and whether it is its first, second …
    occurrence in the output. Two outputs of a model share Σ_g min(a_g, b_g) bigrams, which is the number of
    features that they have in common.
    """

    feature: Ints  # the features of all outputs, item after item, model after model
    bounds: Ints  # where the features of every output begin, and where those of the last one end
    item: Ints  # the item of every output
    model: Ints  # the model of every output
    counts: Ints  # the number of bigrams of every output, items x models, 0 where there is no output

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
            counts = np.add.reduceat(in_item[self.feature], self.bounds[:-1], dtype=int)
            shared[self.item, self.model] = counts
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
    # A number per bigram of every text: the same for the same model, bigram and occurrence.
    owner = np.repeat(np.arange(len(tokens.lengths)), tokens.lengths)
    inside = owner[1:] == owner[:-1]
    owner = owner[1:][inside]
    bigrams = (tokens.codes[:-1] * tokens.kinds + tokens.codes[1:])[inside]
    distinct, bigram = np.unique(bigrams, return_inverse=True)
    keys = owner * len(distinct) + bigram
    by_key = np.argsort(keys)
    places = np.arange(len(keys))
    new = np.ones(len(keys), bool)
    new[1:] = keys[by_key][1:] != keys[by_key][:-1]
    occurrence = np.empty_like(places)
    occurrence[by_key] = places - np.maximum.accumulate(np.where(new, places, 0))
    repeats = int(occurrence.max(initial=0)) + 1
    numbers = (model[owner] * len(distinct) + bigram) * repeats + occurrence
    return Bigrams(np.unique(numbers, return_inverse=True)[1], bounds, item, model, counts)


# --- how many n-grams every two texts of an item share, for many items at once ---
# The positions of all texts are sorted once by item and by the ``order`` tokens that follow: in that order
# the occurrences of an n-gram stand together for every n up to ``order``, so one sort serves all of them,
# and what only one place has at n is left out at n + 1.
#
# Σ_g min(count_a(g), count_b(g)) is the number of pairs (n-gram g, level t) with count_a(g) ≥ t and
# count_b(g) ≥ t. So a text is a row of bits, one per pair, and two texts share as many n-grams as their rows
# have bits in common: 64 pairs at a time, whole numbers throughout.


_WORD = 64
_KEY_LIMIT = 2**63
_TABLE_CELLS = 2**23
_END = 0


@dataclass(frozen=True)
class TextPlaces:
    """Where texts stand, which are listed item after item."""

    item: Ints  # the item of every text, rising from 0
    slot: Ints  # the place of every text among the texts of its item, from 0
    items: int  # the number of items
    slots: int  # the most texts that an item has

    def spread(self, values: Ints) -> Ints:
        """Return a value per text as items x slots, 0 where there is no text."""
        table = np.zeros((self.items, self.slots), np.int64)
        table[self.item, self.slot] = values
        return table


def ngram_totals(tokens: TokenCodes, places: TextPlaces, n: int) -> Ints:
    """Return the number of n-grams of every text, items x slots."""
    return places.spread(np.maximum(tokens.lengths - n + 1, 0))


def shared_ngrams(tokens: TokenCodes, places: TextPlaces, order: int) -> Iterator[Ints]:
    """Yield Σ_g min(count_a(g), count_b(g)) over the n-grams g, items x slots x slots, for n = 1 … order."""
    texts, total = len(tokens.lengths), len(tokens.codes)
    owner = np.repeat(np.arange(texts), tokens.lengths)
    at = np.arange(total) + owner
    codes = np.full(total + texts + order, _END, np.int64)
    codes[at] = tokens.codes + 1
    keys = np.repeat(places.item, tokens.lengths + 1)
    size = places.items
    for step in range(order):
        if size * (tokens.kinds + 1) >= _KEY_LIMIT:
            distinct, keys = np.unique(keys, return_inverse=True)
            size = len(distinct)
        keys = keys * (tokens.kinds + 1) + codes[step : step + len(keys)]
        size *= tokens.kinds + 1
    by_key = np.argsort(keys[at])
    owner = owner[by_key]
    item = places.item[owner]
    run = SortedNgrams(codes, at[by_key], item, places.slot[owner], _starts(item))
    for n in range(1, order + 1):
        # From n − 1 to n tokens: n-grams that occur once, or that run over the end of a text, are dropped.
        token = run.codes[run.at + (n - 1)]
        first = run.first | _starts(token)
        unique = first.copy()
        unique[:-1] &= first[1:]
        run = replace(run, first=first).take(~unique & (token != _END))
        shared = np.zeros((places.items, places.slots, places.slots), np.int64)
        for part in _cut_run(run, places.slots):
            shared += _shared(part, places)
        shared[:, range(places.slots), range(places.slots)] = ngram_totals(tokens, places, n)
        yield shared


@dataclass(frozen=True)
class SortedNgrams:
    """Positions sorted by item and by the tokens that follow."""

    codes: Ints  # the codes of all tokens, from 1, with an end after every text
    at: Ints  # the positions in ``codes``
    item: Ints  # the item of every position
    slot: Ints  # the slot of every position
    first: Mask  # whether a position is the first of its n-gram

    def take(self, part: slice | Mask) -> SortedNgrams:
        """Return some of the positions."""
        return SortedNgrams(self.codes, self.at[part], self.item[part], self.slot[part], self.first[part])


def _starts(values: Ints) -> Mask:
    """Whether a value differs from the one before it."""
    starts = np.ones(len(values), bool)
    np.not_equal(values[1:], values[:-1], out=starts[1:])
    return starts


def _cut_run(run: SortedNgrams, slots: int) -> Iterator[SortedNgrams]:
    """Cut a run between n-grams, so that a table of n-grams x slots fits in memory."""
    step = max(1, _TABLE_CELLS // slots)
    begins = np.flatnonzero(run.first)
    low = 0
    while low < len(run.at):
        later = np.searchsorted(begins, low + step)
        high = int(begins[later]) if later < len(begins) else len(run.at)
        yield run.take(slice(low, high))
        low = high


def _shared(run: SortedNgrams, places: TextPlaces) -> Ints:
    begins = np.flatnonzero(run.first)
    group = np.cumsum(run.first) - 1
    row, words = _aligned(run.item[begins], places.items)
    bits = np.zeros((places.slots, _WORD * _count(words)), bool)
    bits.reshape(-1)[run.slot * bits.shape[1] + row[group]] = True
    shared = _common_bits(bits, words)
    # An n-gram that occurs more often than there are texts with it occurs several times in one of them.
    occurrences = np.diff(np.append(begins, len(group)))
    repeated = occurrences > bits.sum(axis=0)[row]
    if repeated.any():
        shared += _shared_repeats(run, group, repeated, places)
    return shared


def _shared_repeats(run: SortedNgrams, group: Ints, repeated: Mask, places: TextPlaces) -> Ints:
    """Count the levels from 2 up, of the n-grams that a text has several times."""
    inside = repeated[group]
    groups = int(repeated.sum())
    number = (np.cumsum(repeated) - 1)[group[inside]]
    cells = np.bincount(run.slot[inside] * groups + number, minlength=places.slots * groups)
    counts = cells.astype(np.int32).reshape(places.slots, groups)
    # A level is shared only where two texts reach it.
    levels = np.where((counts > 1).sum(axis=0) > 1, counts.max(axis=0) - 1, 0)
    column = np.repeat(np.arange(groups), levels)
    level = (np.arange(len(column)) - np.repeat(np.cumsum(levels) - levels, levels) + 2).astype(np.int32)
    row, words = _aligned(run.item[run.first][repeated][column], places.items)
    bits = np.zeros((places.slots, _WORD * _count(words)), bool)
    bits[:, row] = counts[:, column] >= level
    return _common_bits(bits, words)


def _aligned(item: Ints, items: int) -> tuple[Ints, Ints]:
    """Return a row for every one of some sorted items' n-grams, and the words of each item.

    Each item begins with a word of 64 bits of its own, and has at least one.
    """
    rows = np.bincount(item, minlength=items)
    words = np.maximum(-(-rows // _WORD), 1)
    gap = _WORD * (np.cumsum(words) - words) - (np.cumsum(rows) - rows)
    return np.arange(len(item)) + gap[item], words


def _count(words: Ints) -> int:
    return int(words.sum())


def _common_bits(bits: Mask, words: Ints) -> Ints:
    """Return how many bits every two slots have in common in each item, items x slots x slots."""
    packed = np.packbits(bits, axis=1).view(np.uint64)
    slots, begins = len(bits), np.cumsum(words) - words
    common = np.zeros((slots, slots, len(words)), np.int64)
    for slot in range(slots - 1):
        common_words = np.bitwise_count(packed[slot] & packed[slot + 1 :])
        common[slot, slot + 1 :] = np.add.reduceat(common_words, begins, axis=1, dtype=np.int64)
    return np.ascontiguousarray(np.moveaxis(common + common.transpose(1, 0, 2), 2, 0))
