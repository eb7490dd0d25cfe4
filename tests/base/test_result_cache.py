"""Answers are kept while their arrays live, and never given for others."""

from __future__ import annotations

import gc

import numpy as np

from sparingly.base.cache import ResultCache


def test_an_answer_is_made_once_for_the_same_arrays_and_key() -> None:
    kept = ResultCache[int](most=4)
    made = []

    def make() -> int:
        made.append(1)
        return len(made)

    one, other = np.zeros(2), np.zeros(2)
    assert [kept.of([one], "a", make), kept.of([one], "a", make)] == [1, 1]
    assert kept.of([one], "b", make) == 2
    assert kept.of([other], "a", make) == 3  # equal, but not the same array
    assert kept.of([one, other], "a", make) == 4


def test_an_array_that_is_gone_takes_its_answer_with_it() -> None:
    kept = ResultCache[str](most=100)
    for place in range(50):
        # New arrays often lie where old ones were: an old answer must not come back.
        assert kept.of([np.full(3, place)], "sum", lambda place=place: str(place)) == str(place)  # type: ignore[misc]
    gc.collect()
    kept.of([np.zeros(1)], "last", lambda: "x")
    assert len(kept._held) <= 2


def test_the_oldest_answers_are_forgotten_first() -> None:
    kept = ResultCache[int](most=2)
    arrays = [np.zeros(1) for _ in range(3)]
    for place, array in enumerate(arrays):
        kept.of([array], "k", lambda place=place: place)  # type: ignore[misc]
    assert kept.of([arrays[2]], "k", lambda: -1) == 2
    assert kept.of([arrays[0]], "k", lambda: -1) == -1
