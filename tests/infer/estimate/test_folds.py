from __future__ import annotations

from dataclasses import replace

import numpy as np

from sparingly.base import rng
from sparingly.infer.estimate.estimators import splits_of
from sparingly.infer.estimate.sample import sample_from_arrays

KEYS = rng.keys_of([f"item {place}" for place in range(50)])


def test_folds_are_even_and_cover_everything_once() -> None:
    splits = splits_of(sample_from_arrays(np.arange(23.0), size=50), KEYS, 5, 0)
    used = np.array([split.use for split in splits])
    assert used.sum(axis=0).tolist() == [1] * 23
    assert sorted(used.sum(axis=1)) == [4, 4, 5, 5, 5]
    assert all((split.learn == ~split.use).all() for split in splits)


def test_documents_stay_together() -> None:
    sample = sample_from_arrays(np.arange(24.0), size=50, units=np.arange(24) // 4)
    for split in splits_of(sample, KEYS, 3, 0):
        assert split.use.reshape(6, 4).all(axis=1).sum() == 2
        assert (split.use.reshape(6, 4).any(axis=1) == split.use.reshape(6, 4).all(axis=1)).all()


def test_one_fold_learns_from_what_it_is_used_on() -> None:
    (split,) = splits_of(sample_from_arrays(np.arange(5.0), size=50), KEYS, 1, 0)
    assert split.learn.all()
    assert split.use.all()


def test_the_seed_decides() -> None:
    sample = sample_from_arrays(np.arange(40.0), size=50)
    first, again, other = (splits_of(sample, KEYS, 4, seed)[0].use for seed in (1, 1, 2))
    assert (first == again).all()
    assert (first != other).any()


def test_items_of_one_document_of_a_pool_stay_together() -> None:
    documents = np.repeat(np.arange(6), 5)
    drawn = replace(sample_from_arrays(np.arange(30.0)), pool=np.full(30, 0.5), pool_unit=documents)
    for split in splits_of(drawn, KEYS, 3, 0):
        assert not set(documents[split.use]) & set(documents[split.learn])
