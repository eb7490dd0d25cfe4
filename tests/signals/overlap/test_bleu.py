from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.bleu import BLEU

from sparingly.base.arrays import Objects
from sparingly.signals.overlap.similarity import Bleu, Tokeniser
from tests.signals.overlap.pairs_of_outputs import pair_similarities
from tests.signals.overlap.samples import LANGUAGES, by_sacrebleu, long_texts, table, tables

OFFLINE: tuple[Tokeniser, ...] = ("13a", "intl", "zh", "char", "none")


def check(outputs: Objects, tokeniser: Tokeniser = "13a") -> None:
    metric = BLEU(effective_order=True, tokenize=tokeniser)
    found = pair_similarities(outputs, Bleu(tokeniser))
    np.testing.assert_allclose(found, by_sacrebleu(outputs, metric), rtol=0, atol=1e-9)


def test_by_hand() -> None:
    found = pair_similarities(table(["a b c", "a b d e"]), Bleu())[0]
    # Precisions 2/3, 1/2, 1/(2·1) and a text shorter by one of four; 2/4, 1/3, 1/(2·2), 1/(4·1).
    forth = (2 / 3 / 2 / 2) ** (1 / 3) * math.exp(1 - 4 / 3)
    back = (2 / 4 / 3 / 4 / 4) ** (1 / 4)
    np.testing.assert_allclose(found, [[100, 100 * forth], [100 * back, 100]], rtol=1e-12)


@pytest.mark.parametrize("tokeniser", OFFLINE)
@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(language: str, tokeniser: Tokeniser) -> None:
    check(table(LANGUAGES[language]), tokeniser)


def test_all_languages_at_once() -> None:
    check(table(*LANGUAGES.values()))


@pytest.mark.parametrize("tokeniser", ["13a", "zh"])
def test_long_texts(tokeniser: Tokeniser) -> None:
    check(long_texts(), tokeniser)


@given(tables())
def test_any_texts(outputs: Objects) -> None:
    check(outputs)


@given(tables())
def test_any_texts_cut_as_chinese(outputs: Objects) -> None:
    check(outputs, "zh")


def test_sacrebleu_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Metric, "sentence_score", called)
    assert pair_similarities(table(["one", "two"]), Bleu()).shape == (1, 2, 2)
