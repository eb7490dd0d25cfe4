"""Texts as numbers: every token of every text gets a code, and equal tokens get equal codes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, count
from typing import Literal, cast, get_args

import numpy as np

from sparingly.base.arrays import Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.signals.overlap.mteval import cut_chinese, cut_words, joined_lines

Tokeniser = Literal["13a", "intl", "zh", "ja-mecab", "ko-mecab", "char", "none"]
_INSTALL = {"ja-mecab": "sacrebleu[ja]", "ko-mecab": "sacrebleu[ko]"}


@dataclass(frozen=True)
class Tokens:
    """The tokens of several texts.

    Attributes:
        codes: The codes of all tokens, text after text.
        lengths: The number of tokens of every text.
        kinds: Every code is below this.
    """

    codes: Ints
    lengths: Ints
    kinds: int


def characters(texts: Sequence[str]) -> Tokens:
    """Return the characters of texts; white space is left out, as chrF has it."""
    dense = ["".join(text.split()) for text in texts]
    # Half a surrogate pair is a character like any other here, as it is in a Python string.
    points = np.frombuffer("".join(dense).encode("utf-32-le", "surrogatepass"), "<u4")
    used = np.zeros(int(points.max(initial=0)) + 1, bool)
    used[points] = True
    codes = (np.cumsum(used) - 1)[points]
    return Tokens(codes, np.fromiter(map(len, dense), np.int64, len(dense)), max(1, int(used.sum())))


def listed(tokenised: Sequence[Sequence[str]]) -> Tokens:
    """Return tokens that are already cut apart."""
    lengths = np.fromiter(map(len, tokenised), np.int64, len(tokenised))
    codes, known = _coded(chain.from_iterable(tokenised), int(lengths.sum()))
    return Tokens(codes, lengths, max(1, len(known)))


def bleu_tokens(texts: Sequence[str], tokeniser: Tokeniser = "13a") -> Tokens:
    """Return the tokens that sacrebleu cuts texts into for BLEU."""
    if tokeniser == "13a":
        return _tokens_13a(texts)
    if tokeniser == "zh":
        return listed(cut_chinese(texts))
    cut = _sacrebleu_tokeniser(tokeniser)
    return listed([cut(text.rstrip()).split() for text in texts])


def _tokens_13a(texts: Sequence[str]) -> Tokens:
    """Cut each distinct word once, and put its pieces wherever the word stands."""
    words = [joined_lines(text).split() for text in texts]
    lengths = np.fromiter(map(len, words), np.int64, len(words))
    numbers, known = _coded(chain.from_iterable(words), int(lengths.sum()))
    pieces = listed(cut_words(known))
    sizes = pieces.lengths[numbers]
    ends = np.cumsum(sizes)
    begins = np.cumsum(pieces.lengths) - pieces.lengths
    codes = pieces.codes[np.arange(int(sizes.sum())) + np.repeat(begins[numbers] - ends + sizes, sizes)]
    upto = np.concatenate([[0], ends])[np.concatenate([[0], np.cumsum(lengths)])]
    return Tokens(codes, np.diff(upto), pieces.kinds)


def _sacrebleu_tokeniser(name: Tokeniser) -> Callable[[str], str]:
    if name not in get_args(Tokeniser):
        raise UnknownNameError("tokeniser", name, get_args(Tokeniser))
    from sacrebleu.metrics.bleu import BLEU

    try:
        return cast("Callable[[str], str]", BLEU(tokenize=name, effective_order=True).tokenizer)
    except RuntimeError:
        raise UsageError(
            f'The tokeniser {name} needs a dictionary. Install it with: pip install "{_INSTALL[name]}"'
        ) from None


def _coded(tokens: Iterable[str], total: int) -> tuple[Ints, list[str]]:
    """Return a code per token, and the tokens in the order of their codes."""
    codes: defaultdict[str, int] = defaultdict(count().__next__)
    return np.fromiter(map(codes.__getitem__, tokens), np.int64, total), list(codes)
