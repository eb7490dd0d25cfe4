"""Embeddings of a pool: a text's vector is its own, and near texts have near vectors."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import ExtraMissingError, InputError, UsageError
from sparingly.choose.pool.embeddings import (
    DIMENSIONS,
    hashed_ngrams,
    parse_embedding,
    sketches_at,
    vectors_at,
)
from sparingly.choose.pool.near_duplicates import cosines, ngram_hashes
from sparingly.choose.pool.score import score_pool
from sparingly.choose.pool.scored_pool import ScoredPool
from tests.choose.pool.pool_data import some_records, write_pool

TEXTS = ["The cat sat on the mat.", "the  cat SAT on the mat.", "The cat sits on the mat.", "Ein Haus am See"]


def lengths(texts: Sequence[str]) -> Any:
    return [[len(text), 1.0] for text in texts]


def by_hand(text: str) -> Any:
    """Every n-gram moves one coordinate for each byte of its hash."""
    found = np.zeros(DIMENSIONS)
    for value, count in Counter(ngram_hashes([text], 3)[0].tolist()).items():
        for byte in int(value).to_bytes(8, "little"):
            found[byte % DIMENSIONS] += count if byte < DIMENSIONS else -count
    return found


def test_n_grams_are_projected_by_their_hashes() -> None:
    np.testing.assert_array_equal(hashed_ngrams(TEXTS), [by_hand(text) for text in TEXTS])


def test_near_texts_have_near_vectors() -> None:
    vectors = parse_embedding("hashed").vectors(TEXTS)
    assert vectors.dtype == np.float16
    assert (vectors[0] == vectors[1]).all()
    near, far = cosines(vectors[[0, 0]], vectors[[2, 3]])
    assert near > 0.6 > 0.3 > abs(far)


@given(texts=st.lists(st.text(min_size=1, max_size=30), max_size=12), cut=st.integers(0, 12))
def test_other_texts_have_no_part_in_a_vector(texts: list[str], cut: int) -> None:
    embedding = parse_embedding("hashed")
    both = [embedding.vectors(texts[:cut]), embedding.vectors(texts[cut:])]
    np.testing.assert_array_equal(embedding.vectors(texts), np.concatenate(both))


def test_long_texts_are_cut_into_blocks() -> None:
    texts = ["ab cd " * 30_000, "x", "yz " * 50_000, "w"]
    np.testing.assert_array_equal(hashed_ngrams(texts)[[0, 3]], [by_hand(texts[0]), by_hand("w")])


def test_a_pool_is_embedded_once_and_read_by_places(tmp_path: Path) -> None:
    records = some_records(50)
    paths = write_pool(tmp_path, [("jsonl", records[:30]), ("csv", records[30:]), ("jsonl", [])])
    told: list[str] = []
    pool = score_pool(
        paths, tmp_path / "scored", rows=7, embed=lengths, progress=lambda *said: told.append(said[2])
    )
    assert told[-1] == "50 sources embedded"
    assert ScoredPool.load(tmp_path / "scored").embedding == pool.embedding == f"{__name__}:lengths"
    texts = pool.column("source").to_series().to_list()
    places = np.array([49, 0, 3, 3, 31])
    expected = [np.array([len(texts[place]), 1.0]) for place in places]
    expected = [(vector / np.linalg.norm(vector)).astype(np.float16) for vector in expected]
    np.testing.assert_array_equal(vectors_at(pool, places), expected)
    assert vectors_at(pool, places[:0]).shape[0] == 0
    assert sketches_at(pool, places).shape == (4, 5)

    def never(texts: Sequence[str]) -> Any:
        raise AssertionError("embedded twice")

    never.name = pool.embedding  # type: ignore[attr-defined]
    assert score_pool(paths, tmp_path / "scored", rows=7, embed=never).to_dict() == pool.to_dict()
    pool.folder.joinpath(next(path.name for path in pool.folder.glob("*.sketch.npy"))).unlink()
    with pytest.raises(
        InputError, match=r"sketch\.npy: the file is gone\. Score the pool again with the same options"
    ):
        sketches_at(pool, places)
    # Without it the pool is as good as before, and what was embedded stays for the next time.
    assert score_pool(paths, tmp_path / "scored", rows=7).embedding is None


def test_what_cannot_embed_a_pool_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="needs all texts at once, and a pool is read in parts: use hashed"):
        parse_embedding("tfidf")
    monkeypatch.setitem(sys.modules, "sentence_transformers", None)
    with pytest.raises(ExtraMissingError, match=r"sparingly\[embed\]"):
        parse_embedding("some/model")


def test_a_model_is_loaded_once_and_told_by_what_is_in_its_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    loaded: list[str] = []

    class Model:
        def __init__(self, name: str) -> None:
            loaded.append(name)

        def encode(self, texts: list[str], **options: Any) -> Any:
            return np.array([[len(text), 2.0, 0.0] for text in texts], np.float32)

    package: Any = type(sys)("sentence_transformers")
    package.SentenceTransformer = Model
    monkeypatch.setitem(sys.modules, "sentence_transformers", package)
    (tmp_path / "model").mkdir()
    (tmp_path / "model" / "weights").write_bytes(b"1")
    monkeypatch.chdir(tmp_path)
    embedding = parse_embedding("model")
    assert embedding.name.startswith("model@")
    for _ in range(2):
        np.testing.assert_allclose(embedding.vectors(["ab"])[0], np.array([2, 2, 0]) / 8**0.5, atol=1e-3)
    assert loaded == [str(tmp_path / "model")]
    (tmp_path / "model" / "weights").write_bytes(b"2")
    assert parse_embedding("model").name != embedding.name
