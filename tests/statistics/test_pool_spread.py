"""Draws along a path through clusters take each source as often as its inclusion probability says."""

from __future__ import annotations

from dataclasses import replace
from typing import Literal

import numpy as np
import pytest

from sparingly.choose.pool.candidates import build_tree, nearest_leaves
from sparingly.choose.pool.select import PoolDesign, draw_sources
from tests.statistics.test_inclusion import assert_frequencies
from tests.statistics.test_pool import SOURCES, TAKEN, frame

pytestmark = pytest.mark.statistics
RUNS = 3000
_PLACES = np.random.default_rng(8).standard_normal((SOURCES, 3))
POINTS = (_PLACES / np.linalg.norm(_PLACES, axis=1, keepdims=True)).astype(np.float16)
LEAVES = nearest_leaves(POINTS, build_tree(POINTS.astype(float), 9)).astype(np.int64)
LAST = int(LEAVES.max())


@pytest.mark.parametrize("name", ["uniform", "pivotal", "systematic"])
def test_spread_draws_keep_the_probabilities(name: Literal["uniform", "pivotal", "systematic"]) -> None:
    assert len(np.unique(LEAVES)) >= 6
    pool, counts, chances = replace(frame(), leaf=LEAVES), np.zeros(SOURCES), np.full(SOURCES, np.nan)
    along = np.zeros((RUNS, LAST + 1))
    for seed in range(RUNS):
        taken, known = draw_sources(pool, PoolDesign(name, 0.8, seed=seed, spread=True), TAKEN, None, "")
        assert known is not None
        assert len(taken) == TAKEN
        counts[taken] += 1
        chances[taken] = known
        along[seed] = np.bincount(LEAVES[taken], minlength=LAST + 1)
    assert_frequencies(counts, chances, RUNS)
    # Of the first leaves of the path as many are taken as their probabilities add up to, up to one.
    expected = np.cumsum(np.bincount(LEAVES, chances, minlength=LAST + 1))
    assert np.abs(np.cumsum(along, axis=1) - expected).max() < 1.0 + 1e-9
