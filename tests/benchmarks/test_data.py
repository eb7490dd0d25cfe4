"""The data of the benchmark are the same for both sides, and as real ones are."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.peers.data import (
    DIMENSIONS,
    MODELS,
    USUAL,
    Kind,
    arrays,
    item_ids,
    model_ids,
    outputs,
    prepared,
    vectors,
)
from benchmarks.peers.ours import Given
from benchmarks.peers.timing import timed_anew


def test_outputs_are_as_long_as_sentences_of_the_news() -> None:
    words = [len(text.split()) for texts in outputs(1000) for text in texts]
    assert 23 < np.mean(words) < 28
    assert len(outputs(3)[0]) == MODELS


@pytest.mark.parametrize(("kind", "rows"), [("output vectors", 20 * MODELS), ("source vectors", 20)])
def test_vectors_have_the_length_1(kind: Kind, rows: int) -> None:
    made = vectors(20, kind)
    assert made.shape == (rows, DIMENSIONS)
    np.testing.assert_allclose(np.linalg.norm(made, axis=1), 1.0, rtol=1e-5)


def test_both_sides_read_the_same_numbers(tmp_path: Path) -> None:
    ours, theirs = (prepared(tmp_path, "numbers", 8, USUAL, for_peer=side) for side in (False, True))
    lines = [json.loads(line) for line in theirs.read_text(encoding="utf-8").splitlines()]
    data = Given(ours).data
    assert [line["i"] for line in lines] == data.items.tolist() == item_ids(8)
    for row, line in enumerate(lines):
        for column, model in enumerate(model_ids()):
            assert line["scores"][model]["metric"] == data.metrics["metric"][row, column]
    np.testing.assert_array_equal(data.metrics["metric"], arrays(8)["metric"])


def test_both_sides_read_the_same_texts(tmp_path: Path) -> None:
    ours, theirs = (prepared(tmp_path, "texts", 4, USUAL, for_peer=side) for side in (False, True))
    assert ours == theirs
    data = Given(ours).data
    assert data.outputs is not None
    assert data.outputs.tolist() == outputs(4)


def test_vectors_are_found_by_their_ids(tmp_path: Path) -> None:
    path = prepared(tmp_path, "output vectors", 30, USUAL, for_peer=False)
    given = Given(path)
    chosen = sparingly.select(given.data, f"diffuse:embedding={path}", 3)
    assert set(chosen.items) <= set(item_ids(30))
    assert given.anew() is not given.data


def test_what_a_call_is_given_is_made_anew() -> None:
    made: list[list[int]] = []

    def make() -> list[int]:
        made.append([])
        return made[-1]

    def call(given: list[int]) -> int:
        given.append(1)
        return len(given)

    timing, answer = timed_anew(make, call)
    assert answer == 1
    assert timing.calls == len(made) == 5
