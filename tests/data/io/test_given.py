"""Functions take files and frames where they take data."""

from __future__ import annotations

from pathlib import Path

import pytest

import sparingly
from sparingly.data.io import as_evalset
from sparingly.data.synthetic import load_invented


def test_a_file_and_a_frame_give_what_the_set_gives(tmp_path: Path) -> None:
    data = load_invented()
    path = tmp_path / "data.jsonl"
    sparingly.save(data, path)
    frame = sparingly.to_frame(data)
    ours = sparingly.estimate(data, None, "overall", estimator="mean")
    for given in (path, str(path), frame):
        scores = sparingly.estimate(given, None, "overall", estimator="mean")
        assert scores.models == ours.models
        assert scores.scores == pytest.approx(ours.scores)
    chosen = sparingly.select(path, "random", 20, seed=3)
    assert list(chosen.items) == list(sparingly.select(data, "random", 20, seed=3).items)
    assert sparingly.rank(path, chosen, "overall").models == sparingly.rank(data, chosen, "overall").models
    assert sparingly.describe(frame).items == 240
    assert "8 models" in repr(sparingly.report(path, chosen, "overall", figures=False, curve=False))


def test_an_evaluation_set_is_taken_as_it_is() -> None:
    data = load_invented()
    assert as_evalset(data) is data
