from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from sparingly.signals.embed import differences
from sparingly.signals.embed.differences import (
    difference_norms,
    filled_distances,
    mean_difference,
    pair_distances,
    stacked_differences,
)

VECTORS = np.random.default_rng(2).normal(size=(6, 4, 3))
ALL = np.ones((6, 4), bool)
SOME = ALL.copy()
SOME[0, 1] = SOME[3, 0] = SOME[4, :3] = SOME[5] = False


def pairs_of(item: int, there: NDArray[np.bool_]) -> list[NDArray[np.float64]]:
    """The difference vectors of an item, one after the other."""
    known = np.flatnonzero(there[item])
    return [VECTORS[item, one] - VECTORS[item, other] for one, other in combinations(known, 2)]


def test_stacked_differences_lie_as_far_apart_as_all_difference_vectors() -> None:
    stacked = stacked_differences(VECTORS, ALL)
    laid_out = np.array([np.concatenate(pairs_of(item, ALL)) for item in range(6)])
    for one, other in combinations(range(6), 2):
        expected = np.linalg.norm(laid_out[one] - laid_out[other])
        assert np.linalg.norm(stacked[one] - stacked[other]) == pytest.approx(expected)


def test_stacked_differences_of_some_models_have_the_norm_of_their_pairs() -> None:
    stacked = stacked_differences(VECTORS, SOME)
    for item in range(6):
        expected = np.sqrt(sum(vector @ vector for vector in pairs_of(item, SOME)))
        assert np.linalg.norm(stacked[item]) == pytest.approx(expected)


def test_two_models_give_the_difference_vector() -> None:
    two = stacked_differences(VECTORS[:, :2], ALL[:, :2])
    np.testing.assert_allclose(two, VECTORS[:, 0] - VECTORS[:, 1])


@given(st.integers(2, 6), st.integers(0, 10**6))
def test_blocks_of_contrasts_stand_for_deviations_from_the_mean(models: int, seed: int) -> None:
    draw = np.random.default_rng(seed)
    vectors, there = draw.normal(size=(7, models, 3)), draw.random((7, models)) < 0.7
    counts = np.maximum(there.sum(axis=1), 1)[:, None, None]
    known = np.where(there[:, :, None], vectors, 0.0)
    away = np.where(there[:, :, None], known - known.sum(axis=1, keepdims=True) / counts, 0.0)
    plain = (np.sqrt(counts) * away).reshape(7, -1)
    stacked = stacked_differences(vectors, there)
    assert stacked.shape == (7, 3 * (models - 1))
    np.testing.assert_allclose(stacked @ stacked.T, plain @ plain.T, atol=1e-10)


@pytest.mark.parametrize("there", [ALL, SOME])
def test_stacked_differences_of_blocks_are_those_of_all(
    there: NDArray[np.bool_], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = stacked_differences(VECTORS, there)
    monkeypatch.setattr(differences, "_CACHED_CELLS", 25)
    np.testing.assert_array_equal(stacked_differences(VECTORS, there), whole)


@pytest.mark.parametrize("there", [ALL, SOME])
def test_mean_difference_is_the_mean_over_pairs(there: NDArray[np.bool_]) -> None:
    found = mean_difference(VECTORS, there)
    for item in range(6):
        known = pairs_of(item, there)
        np.testing.assert_allclose(found[item], np.mean(known, axis=0) if known else np.zeros(3), atol=1e-12)


@pytest.mark.parametrize("there", [ALL, SOME])
def test_distances_and_norms_are_those_of_the_pairs(
    there: NDArray[np.bool_], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = pair_distances(VECTORS, there)
    monkeypatch.setattr(differences, "_BLOCK_CELLS", 20)
    np.testing.assert_array_equal(pair_distances(VECTORS, there), whole)
    norms, filled = difference_norms(VECTORS, there), filled_distances(VECTORS, there)
    for item in range(6):
        known = [float(np.linalg.norm(vector)) for vector in pairs_of(item, there)]
        np.testing.assert_allclose(whole[item][~np.isnan(whole[item])], known)
        expected = np.sqrt(np.mean(np.square(known))) if known else np.nan
        np.testing.assert_allclose(norms[item], expected)
        gaps = np.isnan(whole[item])
        np.testing.assert_allclose(filled[item][gaps], np.mean(known) if known else 0.0)
        np.testing.assert_array_equal(filled[item][~gaps], whole[item][~gaps])


def test_equal_outputs_are_at_exactly_no_distance() -> None:
    same = np.repeat(VECTORS[:, :1], 3, axis=1) * 1e3 / 7
    unit = same / np.linalg.norm(same, axis=2, keepdims=True)
    assert not pair_distances(unit, ALL[:, :3]).any()
    for there in (ALL[:, :3], SOME[:, :3]):
        assert not stacked_differences(unit, there).any()
