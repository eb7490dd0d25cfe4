"""Near duplicates by embeddings, against a comparison of all with all."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.choose.pool.near_duplicates import WORDS, cosines, near_vectors, sketches_of


def unit(values: Any) -> Any:
    return (values / np.linalg.norm(values, axis=1, keepdims=True)).astype(np.float16)


def pairs_at(cosine: float, count: int, generator: np.random.Generator) -> tuple[Any, Any]:
    """Vectors, and as many others at the given cosine to them."""
    first, second = unit(generator.standard_normal((2 * count, 32))).astype(float).reshape(2, count, 32)
    across = second - (second * first).sum(axis=1, keepdims=True) * first
    across /= np.linalg.norm(across, axis=1, keepdims=True)
    return unit(first), unit(cosine * first + np.sqrt(1 - cosine**2) * across)


def test_bits_differ_by_the_angle() -> None:
    first, second = pairs_at(0.5, 400, np.random.default_rng(1))
    one, other = sketches_of(first), sketches_of(second)
    assert one.shape == (WORDS, 400)
    share = np.bitwise_count(one ^ other).sum() / (64 * WORDS * 400)
    assert share == pytest.approx(np.arccos(0.5) / np.pi, abs=0.006)
    np.testing.assert_array_equal(
        one, np.concatenate([sketches_of(first[:3]), sketches_of(first[3:])], axis=1)
    )


def test_near_ones_go_and_others_stay() -> None:
    first, second = pairs_at(0.97, 300, np.random.default_rng(2))
    vectors = np.concatenate([first, second])[np.random.default_rng(3).permutation(600)]
    gone = near_vectors(sketches_of(vectors), lambda rows: vectors[rows], 0.95)
    full = vectors.astype(float)
    all_with_all = np.tril(full @ full.T, -1).max(axis=1) >= 0.95
    assert not (gone & ~all_with_all).any(), "only what is near one before it goes"
    assert gone.sum() >= 0.99 * all_with_all.sum() == 0.99 * 300
    assert not gone[0]


def test_equal_vectors_leave_the_first() -> None:
    vectors = np.repeat(unit(np.random.default_rng(4).standard_normal((3, 16))), 40, axis=0)
    order = np.random.default_rng(5).permutation(120)
    gone = near_vectors(sketches_of(vectors[order]), lambda rows: vectors[order][rows], 1.0)
    firsts = [int(np.flatnonzero(order // 40 == group)[0]) for group in range(3)]
    assert np.flatnonzero(~gone).tolist() == sorted(firsts)


@pytest.mark.parametrize("count", [0, 1, 2])
def test_few_vectors(count: int) -> None:
    vectors = np.ones((count, 1), np.float16)
    gone = near_vectors(sketches_of(vectors), lambda rows: vectors[rows], 0.9)
    assert gone.tolist() == [False, True][:count]


def test_nothing_is_near_a_vector_of_zeros() -> None:
    assert cosines(np.zeros((1, 2), np.float16), np.ones((1, 2), np.float16)).tolist() == [0.0]
