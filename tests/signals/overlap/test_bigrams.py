from __future__ import annotations

import numpy as np
import pytest
from hypothesis import assume, given

from sparingly.base.arrays import Objects
from sparingly.signals.overlap.similarity import Dice, count_bigrams, is_unspaced
from tests.signals.overlap.pairs_of_outputs import pair_similarities
from tests.signals.overlap.samples import table, tables

OUTPUTS = table(
    ["a b a b", "x y"],
    ["a b c a b", "x"],
    ["word", None],
    ["word", "x y z"],
    [None, None],
)


def test_overlap_with_one_item_by_hand() -> None:
    nan = np.nan
    expected = np.array([[1, 1], [4 / 7, 0], [0, nan], [0, 2 / 3], [nan, nan]])
    np.testing.assert_allclose(count_bigrams(OUTPUTS).dice(0), expected, rtol=1e-12)
    np.testing.assert_allclose(count_bigrams(OUTPUTS).similarity(0), [1, 2 / 7, 0, 1 / 3, nan], rtol=1e-12)


def test_redundancy_is_the_greatest_similarity_with_a_chosen_item() -> None:
    found = count_bigrams(OUTPUTS)
    np.testing.assert_allclose(found.redundancy([0, 2]), [1, 2 / 7, 1, 1, np.nan], rtol=1e-12)
    assert np.isnan(found.redundancy([])).all()
    assert np.isnan(found.redundancy([4])).all()


def test_models_are_compared_with_themselves_only() -> None:
    found = count_bigrams(table(["a b", "c d"], ["c d", "a b"]))
    assert found.dice(0).tolist() == [[1, 1], [0, 0]]


def test_characters_where_most_items_have_no_spaces() -> None:
    rows = [["我喝茶"], ["他喝茶"], ["tea tea tea"]]
    assert count_bigrams(table(*rows)).dice(0)[1, 0] == pytest.approx(1 / 2)
    spaced = [["one two"], ["two one two"], *rows[:1]]
    assert count_bigrams(table(*spaced)).dice(0)[1, 0] == pytest.approx(2 / 3)


def test_nothing_at_all() -> None:
    assert count_bigrams(table([None], [None])).redundancy([0, 1]).shape == (2,)


@given(tables())
def test_between_items_as_within_an_item(outputs: Objects) -> None:
    """Turned round, the items of a model are the models of an item."""
    flags = [is_unspaced(texts) for row in outputs if (texts := [text for text in row if text is not None])]
    for column in outputs.T:
        texts = [text for text in column if text is not None]
        assume(texts and is_unspaced(texts) == (2 * sum(flags) > len(flags)))
    within = pair_similarities(np.ascontiguousarray(outputs.T), Dice(2))
    found = count_bigrams(outputs)
    for item in range(len(outputs)):
        np.testing.assert_allclose(found.dice(item), within[:, item, :].T, rtol=0, atol=1e-12)
