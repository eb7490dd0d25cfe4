"""Draws from pools take each source as often as its inclusion probability says."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.rng import keys_of
from sparingly.choose.pool.candidates import SourceFrame
from sparingly.choose.pool.select import PoolDesign, draw_sources
from tests.statistics.test_inclusion import assert_frequencies

pytestmark = pytest.mark.statistics
SOURCES, TAKEN, RUNS = 40, 10, 5000
_SET = np.random.default_rng(3)
UTILITY, COSTS = _SET.gamma(1.0, size=SOURCES), _SET.integers(1, 6, SOURCES).astype(float)


def frame() -> SourceFrame:
    keys, nobody = keys_of([f"s{place}" for place in range(SOURCES)]), np.zeros(SOURCES, bool)
    return SourceFrame(
        np.arange(SOURCES), keys, keys, UTILITY, 10 - UTILITY, np.zeros(SOURCES), nobody, nobody
    )


@pytest.mark.parametrize(
    ("name", "order", "costs"),
    [
        ("uniform", "random", None),
        ("pivotal", "random", None),
        ("pivotal", "random", COSTS),
        ("systematic", "random", None),
        ("systematic", "random", COSTS),
        ("systematic", "utility", None),
        ("systematic", "length", None),
    ],
)
def test_sources_are_taken_as_often_as_they_should(
    name: Literal["uniform", "pivotal", "systematic"],
    order: Literal["random", "utility", "length"],
    costs: Floats | None,
) -> None:
    pool, counts, chances = frame(), np.zeros(SOURCES), np.full(SOURCES, np.nan)
    for seed in range(RUNS):
        taken, known = draw_sources(
            pool, PoolDesign(name, 0.8, order, seed), 25.0 if costs is not None else TAKEN, costs, ""
        )
        assert known is not None
        counts[taken] += 1
        chances[taken] = known
        assert len(taken) == TAKEN if costs is None else costs[taken].sum() <= 25.0
    assert_frequencies(counts, chances, RUNS)
