"""The replays that the demo speaks of: the first of them come out again, and the means are of all."""

from __future__ import annotations

import pytest

import sparingly
from benchmarks.demo_replays import COMMAND, RUNS, WAYS, replay
from sparingly.data.demo import replays


@pytest.mark.parametrize("way", WAYS)
def test_the_first_replays_come_out_again(way: str) -> None:
    first = replays()["first"][way]
    assert len(first) == 3
    for seed, measured in enumerate(first):
        assert replay(way, seed) == pytest.approx(measured, abs=1e-6)


def test_they_are_many_and_of_this_data() -> None:
    said = replays()
    assert said["command"] == COMMAND
    assert said["data"] == sparingly.load_demo().digest()
    assert said["runs"] == RUNS >= 200
