from __future__ import annotations

import tracemalloc

import numpy as np
import pytest

from sparingly.base import rng
from sparingly.base.stats import sign_flip
from sparingly.base.stats.sign_flip import sampled_p_values


@pytest.mark.parametrize("length", [8, 2040, 2048, 4088])
def test_counting_in_lanes_counts(length: int) -> None:
    gaps = np.where(np.random.default_rng(0).random((3, 2, length)) < 0.7, -2.0, 2.0)
    gaps[0, 0] = -2.0
    assert sign_flip._below(gaps).tolist() == (2 * (gaps < 0).sum(axis=-1)).tolist()


def test_blocks_and_batches_do_not_change_the_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    scores = np.random.default_rng(0).normal(size=(90, 4))
    keys = rng.keys_of([f"{number}" for number in range(90)])
    sizes = np.arange(5, 91)
    whole = sampled_p_values(scores, sizes, keys, seed=0, flips=100, weights=None)
    monkeypatch.setattr(sign_flip, "_FLIP_CELLS", 1)
    monkeypatch.setattr(sign_flip, "_SUM_CELLS", 1)
    assert np.array_equal(sampled_p_values(scores, sizes, keys, seed=0, flips=100, weights=None), whole)


@pytest.mark.parametrize("missing", [False, True])
def test_memory_does_not_grow_with_the_items(missing: bool) -> None:
    scores = np.random.default_rng(0).normal(size=(60_000, 14))
    if missing:
        scores[0, 0] = np.nan
    keys = np.arange(60_000, dtype=np.uint64)
    tracemalloc.start()
    sampled_p_values(scores, np.array([30_000, 60_000]), keys, seed=0, flips=64, weights=None)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 40e6
