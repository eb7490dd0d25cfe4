"""Texts as numbers: every token of every text gets a code, and equal tokens get equal codes.

sacrebleu's ``13a`` (mteval-v13a, its default for BLEU) and ``zh`` are applied to many texts at once: their
rules look at a character and its neighbours, so they are evaluated for all characters of all texts together.
In ``13a`` a line gets a space at both ends, so the tokens of a word (a stretch without white space) depend on
that word alone.
"""

from __future__ import annotations

import string
from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count, pairwise
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Ints, Mask
from sparingly.base.errors import UnknownNameError, UsageError

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
    """Cut lines without line ends into tokens.

    Args:
        lines: The lines; white space in them is single spaces.
        separate: The characters that are always tokens of their own.
        padded: Whether a line is read as if it had a space at both ends.
    """
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
