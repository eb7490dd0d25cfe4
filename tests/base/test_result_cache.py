"""Answers are cached while their arrays live, and never given for others."""

from __future__ import annotations

import gc

import numpy as np

from sparingly.base.cache import ResultCache


def test_an_answer_is_made_once_for_the_same_arrays_and_key() -> None:
    cache = ResultCache[int](size=4)
    made = []

    def make() -> int:
        made.append(1)
        return len(made)

    one, other = np.zeros(2), np.zeros(2)
    assert [cache.get([one], "a", make), cache.get([one], "a", make)] == [1, 1]
    assert cache.get([one], "b", make) == 2
    assert cache.get([other], "a", make) == 3  # equal, but not the same array
    assert cache.get([one, other], "a", make) == 4


def test_an_array_that_is_gone_takes_its_answer_with_it() -> None:
    cache = ResultCache[str](size=100)
    for place in range(50):
        # New arrays often lie where old ones were: an old answer must not come back.
        assert cache.get([np.full(3, place)], "sum", lambda place=place: str(place)) == str(place)  # type: ignore[misc]
    gc.collect()
    cache.get([np.zeros(1)], "last", lambda: "x")
    assert len(cache._entries) <= 2


def test_the_oldest_answers_are_forgotten_first() -> None:
    cache = ResultCache[int](size=2)
    arrays = [np.zeros(1) for _ in range(3)]
    for place, array in enumerate(arrays):
        cache.get([array], "k", lambda place=place: place)  # type: ignore[misc]
    assert cache.get([arrays[2]], "k", lambda: -1) == 2
    assert cache.get([arrays[0]], "k", lambda: -1) == -1
