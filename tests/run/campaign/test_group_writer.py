from __future__ import annotations

import threading
from collections.abc import Sequence

import pytest

from sparingly.run.campaign.group_commit import GroupWriter


def test_one_thread_writes_its_own() -> None:
    together: GroupWriter[int, str] = GroupWriter(lambda given: [str(one) for one in given])
    assert together.write([1, 2]) == ["1", "2"]
    assert together.write([]) == []


def test_those_that_come_while_one_writes_are_written_at_once() -> None:
    calls: list[list[int]] = []
    first_is_in, go_on = threading.Event(), threading.Event()

    def write(given: Sequence[int]) -> list[int]:
        calls.append(list(given))
        if len(calls) == 1:
            first_is_in.set()
            go_on.wait(30)
        return [10 * one for one in given]

    together: GroupWriter[int, int] = GroupWriter(write)
    got: dict[int, list[int]] = {}
    threads = [
        threading.Thread(target=lambda n=number: got.update({n: together.write([n, n + 100])}))
        for number in range(5)
    ]
    threads[0].start()
    first_is_in.wait(30)
    for thread in threads[1:]:
        thread.start()
    while len(together._waiting) < 4:
        first_is_in.wait(0.001)
    go_on.set()
    for thread in threads:
        thread.join(30)
    assert got == {number: [10 * number, 10 * number + 1000] for number in range(5)}
    assert calls[0] == [0, 100]
    assert sorted(calls[1]) == [1, 2, 3, 4, 101, 102, 103, 104]
    assert len(calls) == 2


def test_an_error_is_told_and_the_next_one_writes() -> None:
    answers = iter([ValueError("full"), None])

    def write(given: Sequence[int]) -> list[int]:
        if (error := next(answers)) is not None:
            raise error
        return list(given)

    together: GroupWriter[int, int] = GroupWriter(write)
    with pytest.raises(ValueError, match="full"):
        together.write([1])
    assert together.write([2]) == [2]
