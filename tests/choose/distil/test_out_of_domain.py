"""Texts unlike the training texts are found, and texts like them are not."""

from __future__ import annotations

import numpy as np

from sparingly.choose.distil.text_features import (
    LENGTH,
    SCRIPT,
    UNSEEN,
    Spans,
    ngram_bits,
    out_of_domain_reasons,
    script_shares,
    text_scripts,
    thresholds_of,
    unseen_shares,
)
from tests.choose.distil.made_past import source

TRAINING = [source(place)[0] for place in range(200)]


def why(*texts: str) -> list[tuple[str, ...]]:
    return out_of_domain_reasons(
        Spans(texts), ngram_bits(TRAINING), script_shares(TRAINING), thresholds_of(TRAINING)
    )


def test_unseen_shares_by_hand() -> None:
    bits = ngram_bits(["abcd"])
    # " abc", "abcd", "bcd " are known; of " abce", two are not.
    np.testing.assert_allclose(unseen_shares(Spans(["abcd", "abce", "xyzw"]), bits), [0.0, 2 / 3, 1.0])


def test_like_and_unlike() -> None:
    assert why("We saw Zermatt the cat and the old red cat 7.") == [()]
    assert why("Dlaczego pchnęła żmijówka wóz, łódź i jeża?") == [(UNSEEN,)]
    assert LENGTH in why(" ".join(TRAINING[:30]))[0]
    assert set(why("Съешь ещё этих мягких булок, да выпей чаю.")[0]) == {UNSEEN, SCRIPT}


def test_few_training_like_texts_are_flagged() -> None:
    fresh = [source(place)[0] for place in range(1000, 1400)]
    assert np.mean([bool(found) for found in why(*fresh)]) < 0.1


def test_scripts() -> None:
    texts = ["Hello мир", "мир да", "你好", "123 !", "γειά"]
    assert text_scripts(Spans(texts)) == ["LATIN", "CYRILLIC", "CJK", "none", "GREEK"]
    assert script_shares(["a", "b", "в"]) == {"LATIN": 2 / 3, "CYRILLIC": 1 / 3}


def test_order_of_training_texts_is_nothing() -> None:
    turned = TRAINING[::-1]
    assert thresholds_of(turned) == thresholds_of(TRAINING)
    np.testing.assert_array_equal(ngram_bits(turned), ngram_bits(TRAINING))
