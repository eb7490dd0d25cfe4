from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Objects
from sparingly.signals.overlap.similarity import (
    Bleu,
    Chrf,
    Dice,
    Similarity,
    TextBlock,
    blocks,
    mean_cosines,
    mean_similarities,
)
from tests.signals.overlap.pairs_of_outputs import pair_similarities
from tests.signals.overlap.samples import table, tables

MEASURES: dict[str, Similarity] = {"chrf": Chrf(), "bleu": Bleu(), "unigram": Dice(1), "bigram": Dice(2)}


@dataclass(frozen=True)
class Lengths:
    """Says 10·|first| + |second|, and remembers the texts that it was shown."""

    block_size: int = 10**6
    shown: list[str] = field(default_factory=list)

    def between(self, block: TextBlock) -> Floats:
        self.shown.extend(block.texts)
        lengths = block.places.spread(np.array([len(text) for text in block.texts], np.int64))
        return np.asarray(10.0 * lengths[:, :, None] + lengths[:, None, :])


OUTPUTS = table(
    ["a", "bb", "a", None],
    [None, None, "ccc", None],
    ["bb", "bb", "bb", "bb"],
    [None] * 4,
    ["", "a", "bb", "ccc"],
)


def test_every_ordered_pair_has_its_similarity() -> None:
    found = pair_similarities(OUTPUTS, Lengths())
    assert found.shape == (5, 4, 4)
    nan = np.nan
    np.testing.assert_array_equal(
        found[0], [[11, 12, 11, nan], [21, 22, 21, nan], [11, 12, 11, nan], [nan] * 4]
    )
    assert np.flatnonzero(~np.isnan(found[1].ravel())).tolist() == [10]
    assert found[1, 2, 2] == 33
    assert np.isnan(found[3]).all()
    assert found[4].tolist() == [[0, 1, 2, 3], [10, 11, 12, 13], [20, 21, 22, 23], [30, 31, 32, 33]]


def test_means_are_over_ordered_pairs_of_different_models() -> None:
    # Item 0: pairs (a, bb) 12 and 21, twice each, and (a, a) 11 twice: 88/6. Item 4: 11 · (0+1+2+3)/4.
    np.testing.assert_allclose(
        mean_similarities(OUTPUTS, Lengths()), [88 / 6, np.nan, 22, np.nan, 16.5], rtol=1e-12
    )


def test_equal_outputs_of_an_item_are_looked_at_once() -> None:
    seen = Lengths()
    mean_similarities(OUTPUTS, seen)
    assert sorted(seen.shown) == sorted(["a", "bb", "ccc", "bb", "", "a", "bb", "ccc"])


@pytest.mark.parametrize("size", [1, 20, 40, 1000])
def test_blocks_hold_every_item_once(size: int) -> None:
    found = list(blocks(OUTPUTS, size))
    assert found[0].begin == 0
    assert [block.end for block in found] == [*(block.begin for block in found[1:]), 5]
    for block in found:
        room = (
            sum(len(text or "") for text in OUTPUTS[block.begin : block.end].ravel())
            + 16 * block.places.items
        )
        assert block.places.items == 1 or room <= size
    cut = mean_similarities(OUTPUTS, Lengths(block_size=size))
    np.testing.assert_array_equal(cut, mean_similarities(OUTPUTS, Lengths()))


def test_blocks_of_nothing() -> None:
    assert mean_similarities(table(), Lengths()).shape == (0,)
    assert pair_similarities(np.empty((2, 0), object), Lengths()).shape == (2, 0, 0)
    assert np.isnan(mean_similarities(np.empty((2, 0), object), Lengths())).all()


@pytest.mark.parametrize("name", MEASURES)
@given(outputs=tables())
def test_means_are_the_means_of_the_pairs(name: str, outputs: Objects) -> None:
    measure = MEASURES[name]
    pairs = pair_similarities(outputs, measure)
    pairs[:, range(outputs.shape[1]), range(outputs.shape[1])] = np.nan
    known = [values[~np.isnan(values)] for values in pairs]
    means = [values.mean() if len(values) else np.nan for values in known]
    np.testing.assert_allclose(mean_similarities(outputs, measure), means, rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
@given(outputs=tables(), seed=st.integers(0, 99))
def test_order_of_items_and_models_does_not_matter(name: str, outputs: Objects, seed: int) -> None:
    measure, drawn = MEASURES[name], np.random.default_rng(seed)
    rows, columns = drawn.permutation(outputs.shape[0]), drawn.permutation(outputs.shape[1])
    plain, moved = (mean_similarities(texts, measure) for texts in (outputs, outputs[np.ix_(rows, columns)]))
    np.testing.assert_allclose(moved, plain[rows], rtol=0, atol=1e-9)


@pytest.mark.parametrize("name", MEASURES)
def test_sizes_of_blocks_do_not_matter(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    measure, drawn = MEASURES[name], np.random.default_rng(7)
    words = ["the", "cat", "sat", "on", "a", "mat.", "它", "😀"]
    outputs = table(
        *([" ".join(drawn.choice(words, drawn.integers(0, 9))) for _ in "abcd"] for _ in range(40))
    )
    whole = pair_similarities(outputs, measure)
    for size in (1, 300):
        monkeypatch.setattr(type(measure), "block_size", size)
        np.testing.assert_array_equal(pair_similarities(outputs, measure), whole)


@given(arrays(np.float64, (4, 5, 3), elements=st.integers(-3, 3).map(float)), arrays(bool, (4, 5)))
def test_cosines_are_those_of_the_pairs(vectors: Floats, there: NDArray[np.bool_]) -> None:
    norms = np.linalg.norm(vectors, axis=-1, keepdims=True)
    units = np.divide(vectors, norms, out=np.zeros_like(vectors), where=norms > 0)
    expected = []
    for item, present in zip(units, there, strict=True):
        rows = item[present]
        products = [one @ other for place, one in enumerate(rows) for other in rows[place + 1 :]]
        expected.append(np.mean(products) if products else np.nan)
    np.testing.assert_allclose(mean_cosines(units, there), expected, rtol=0, atol=1e-12)
