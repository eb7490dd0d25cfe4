from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from sacrebleu.metrics.bleu import BLEU

from sparingly.signals.overlap.similarity import cut_chinese, cut_words, joined_lines
from tests.signals.overlap.samples import LANGUAGES, texts

WESTERN, CHINESE = (BLEU(tokenize=name, effective_order=True) for name in ("13a", "zh"))


def cut_13a(text: str) -> list[str]:
    return [token for word in cut_words(joined_lines(text).split()) for token in word]


def sacrebleu_13a(text: str) -> list[str]:
    return WESTERN._preprocess_segment(text).split()


def sacrebleu_zh(text: str) -> list[str]:
    return CHINESE._preprocess_segment(text).split()


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("Don't stop, now.", ["Don't", "stop", ",", "now", "."]),
        ("3.14 or 1,000.", ["3.14", "or", "1,000", "."]),
        ("a.5 5.a", ["a", ".", "5", "5", ".", "a"]),
        # The rules take two characters at a time, so the second of two marks stays with the digit after it.
        ("x..5 x...5", ["x", ".", ".5", "x", ".", ".", ".", "5"]),
        ("5..6 5...6", ["5", ".", ".", "6", "5", ".", ".", ".6"]),
        ("1-2 a-b 1--2", ["1", "-", "2", "a-b", "1", "-", "-2"]),
        ("(so) [it] {is}", ["(", "so", ")", "[", "it", "]", "{", "is", "}"]),
        ("&quot;x&quot; &amp;lt;", ['"', "x", '"', "<"]),
        ("break-\ning <skipped>news-\n", ["breaking", "news-"]),
    ],
)
def test_words_by_hand(text: str, tokens: list[str]) -> None:
    assert cut_13a(text) == tokens == sacrebleu_13a(text)


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("我在2023年。", ["我", "在", "2023", "年", "。"]),
        # A line is not given spaces at its ends, so a mark there has no neighbour to be parted from.
        (".5 x 5.", [".5", "x", "5."]),
        (" .5 中 .5 ", [".5", "中", ".", "5"]),
        (".", ["."]),
        ("5..", ["5", ".", "."]),
        ("...5", [".", ".", ".5"]),
        ("&quot;", ["&", "quot", ";"]),
    ],
)
def test_chinese_by_hand(text: str, tokens: list[str]) -> None:
    assert cut_chinese([text]) == [tokens] == [sacrebleu_zh(text)]


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages_are_cut_as_sacrebleu_does(language: str) -> None:
    for text in LANGUAGES[language]:
        assert cut_13a(text) == sacrebleu_13a(text)
    assert cut_chinese(LANGUAGES[language]) == [sacrebleu_zh(text) for text in LANGUAGES[language]]


@given(texts)
def test_any_text_is_cut_as_13a_does(text: str) -> None:
    assert cut_13a(text) == sacrebleu_13a(text)


@given(st.lists(texts, max_size=4))
def test_any_texts_are_cut_as_zh_does(several: list[str]) -> None:
    assert cut_chinese(several) == [sacrebleu_zh(text) for text in several]


@given(st.text(alphabet=".,5a-", max_size=12))
def test_runs_of_marks_and_digits(text: str) -> None:
    assert cut_13a(text) == sacrebleu_13a(text)
    assert cut_chinese([text]) == [sacrebleu_zh(text)]
