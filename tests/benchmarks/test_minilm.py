"""Vectors that were computed elsewhere: read by their texts, and missed by name."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks import minilm
from benchmarks.minilm import EMBEDDING, texts_in, with_minilm
from sparingly.base.errors import UsageError
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed.evalset import embed_outputs, embed_sources
from sparingly.signals.embed.texts import VectorCache, text_keys


def _set() -> EvalSet:
    return EvalSet.from_arrays(
        ["a", "b", "c"], ["one", "two"], sources=["x", "y", "x"], outputs=[["p", "q"], ["q", "r"], ["s", "p"]]
    )


def test_every_text_gets_its_own_vector(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "FOLDER", tmp_path)
    texts = ["p", "q", "r", "s", "x", "y"]
    VectorCache(tmp_path).add(text_keys(texts), np.eye(6, dtype=np.float16))

    data = with_minilm(_set())

    assert np.array_equal(embed_outputs(data, EMBEDDING).vectors.argmax(axis=2), [[0, 1], [1, 2], [3, 0]])
    assert np.array_equal(embed_sources(data, EMBEDDING).vectors.argmax(axis=1), [4, 5, 4])
    assert len(sparingly.select(data, f"kmeans:embedding={EMBEDDING}", 2).items) == 2


def test_missing_vectors_name_the_command(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(minilm, "FOLDER", tmp_path)
    VectorCache(tmp_path).add(text_keys(["x"]), np.ones((1, 2), np.float16))

    with pytest.raises(UsageError, match=r"1 of 2 texts .* have no vector .* make vectors computes them"):
        with_minilm(_set())


def test_texts_of_a_file_are_its_sources_and_outputs(tmp_path: Path) -> None:
    path = tmp_path / "some.jsonl.gz"
    with gzip.open(path, "wt", encoding="utf-8") as file:
        file.write(json.dumps({"source": "x", "outputs": {"one": "p", "two": None}}) + "\n")
        file.write(json.dumps({"outputs": {"one": "q"}}) + "\n")

    assert list(texts_in(path)) == ["x", "p", "", "", "q"]
