from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from sacrebleu.metrics.base import Metric
from sacrebleu.metrics.chrf import CHRF

from sparingly.base.arrays import Objects
from sparingly.signals.overlap.similarity import Chrf
from tests.signals.overlap.pairs_of_outputs import pair_similarities
from tests.signals.overlap.samples import LANGUAGES, by_sacrebleu, long_texts, table, tables


def check(outputs: Objects) -> None:
    found = pair_similarities(outputs, Chrf())
    np.testing.assert_allclose(found, by_sacrebleu(outputs, CHRF()), rtol=0, atol=1e-9)


def test_by_hand() -> None:
    # "abc" and "ab": orders 1 and 2 count; precision (2/3 + 1/2)/2 = 7/12, recall 1.
    found = pair_similarities(table(["abc", "a b"]), Chrf())[0]
    forth, back = 5 * (7 / 12) / (4 * 7 / 12 + 1), 5 * (7 / 12) / (4 + 7 / 12)
    np.testing.assert_allclose(found, [[100, 100 * forth], [100 * back, 100]], rtol=1e-12)


@pytest.mark.parametrize("language", LANGUAGES)
def test_languages(language: str) -> None:
    check(table(LANGUAGES[language]))


def test_all_languages_at_once() -> None:
    check(table(*LANGUAGES.values()))


def test_long_texts() -> None:
    check(long_texts())


@given(tables())
def test_any_texts(outputs: Objects) -> None:
    check(outputs)


def test_sacrebleu_is_not_called(monkeypatch: pytest.MonkeyPatch) -> None:
    def called(*_: object) -> None:
        raise AssertionError

    monkeypatch.setattr(Metric, "sentence_score", called)
    assert pair_similarities(table(["one", "two"]), Chrf()).shape == (1, 2, 2)
