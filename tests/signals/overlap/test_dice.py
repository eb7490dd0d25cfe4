from __future__ import annotations

from collections import Counter
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given

from sparingly.base.arrays import Objects
from sparingly.signals.overlap.similarity import Dice, is_unspaced
from tests.signals.overlap.pairs_of_outputs import pair_similarities
from tests.signals.overlap.samples import LANGUAGES, table, tables


@pytest.mark.parametrize(
    ("order", "first", "second", "overlap"),
    [
        (1, "a b a", "a a c d", 4 / 7),
        (1, "A b", "a b", 1 / 2),
        (1, "same words", "words  same\n", 1.0),
        (2, "a b a b", "a b c a b", 4 / 7),
        (2, "same words", "words same", 0.0),
        # Characters where there are no spaces between words.
        (1, "我喝茶", "他喝茶", 2 / 3),
        (2, "我喝茶", "他喝茶", 1 / 2),
        # A text of fewer than n tokens is one n-gram of its own.
        (1, "", " ", 1.0),
        (1, "", "word", 0.0),
        (2, "word", "word ", 1.0),
        (2, "word", "other", 0.0),
        (2, "word", "word word", 0.0),
        (2, "", "word", 0.0),
        (2, "", "\n", 1.0),
    ],
)
def test_by_hand(order: int, first: str, second: str, overlap: float) -> None:
    found = pair_similarities(table([first, second]), Dice(order))[0]
    np.testing.assert_allclose(found, [[1, overlap], [overlap, 1]], rtol=1e-12)


@pytest.mark.parametrize("order", [1, 2])
@given(outputs=tables())
def test_overlap_is_that_of_counted_words(order: int, outputs: Objects) -> None:
    found = pair_similarities(outputs, Dice(order))
    rows: list[list[str | None]] = outputs.tolist()
    for item, first, second in np.ndindex(found.shape):
        texts = [text for text in rows[item] if text is not None]
        one, other = rows[item][first], rows[item][second]
        if one is None or other is None:
            assert np.isnan(found[item, first, second])
            continue
        cut = [list("".join(text.split())) if is_unspaced(texts) else text.split() for text in (one, other)]
        filled = [tokens + [""] * (order - len(tokens)) for tokens in cut]
        ngrams = [Counter(tokens if order == 1 else pairwise(tokens)) for tokens in filled]
        dice = 2 * (ngrams[0] & ngrams[1]).total() / (ngrams[0] + ngrams[1]).total()
        assert found[item, first, second] == pytest.approx(dice, abs=1e-12)


@pytest.mark.parametrize("language", LANGUAGES)
def test_scripts_without_spaces(language: str) -> None:
    assert is_unspaced(LANGUAGES[language]) is (language in {"chinese", "japanese", "thai"})


def test_one_unit_for_all_outputs_of_an_item() -> None:
    """An output that is left in English is compared by characters with the Chinese ones."""
    found = pair_similarities(table(["我喜欢喝茶和咖啡", "tea 茶", "我喜欢喝绿茶"]), Dice(1))[0]
    assert found[0, 1] == pytest.approx(2 * 1 / (8 + 4))
