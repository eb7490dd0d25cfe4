"""Shingles, MinHash and overlap against brute force."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sparingly.base.errors import InputError
from sparingly.choose.pool.near_duplicates import bands_of, near_duplicates, ngram_hashes, similarity
from sparingly.choose.pool.sources import Layout, read_corpus
from tests.choose.pool.pool_data import write_pool

TEXTS = st.lists(st.text(st.sampled_from("ab cé猫"), max_size=20), min_size=1, max_size=8)


def grams(text: str, n: int) -> list[str]:
    plain = " ".join(text.lower().split()) or " "
    return [plain[place : place + n] for place in range(max(1, len(plain) - n + 1))]


def jaccard(one: str, other: str) -> float:
    first, second = set(grams(one, 5)), set(grams(other, 5))
    return len(first & second) / len(first | second)


@given(texts=TEXTS, n=st.integers(1, 6))
def test_equal_n_grams_have_equal_hashes_and_others_have_not(texts: list[str], n: int) -> None:
    hashes, starts = ngram_hashes(texts, n)
    expected = [gram for text in texts for gram in grams(text, n)]
    assert len(hashes) == len(expected)
    counts = [len(grams(text, n)) for text in texts]
    assert starts.tolist() == (np.cumsum(counts) - counts).tolist()
    seen: dict[str, int] = {}
    for gram, code in zip(expected, hashes.tolist(), strict=True):
        assert seen.setdefault(gram, code) == code
    assert len(set(seen.values())) == len(seen)


def varied(count: int, changes: int, seed: int) -> list[str]:
    """Texts of 200 letters, each with so many letters changed from the one before."""
    generator = np.random.default_rng(seed)
    letters = generator.integers(97, 123, 200)
    texts = []
    for _ in range(count):
        letters[generator.integers(0, 200, changes)] = generator.integers(97, 123, changes)
        texts.append("".join(map(chr, letters)))
    return texts


@pytest.mark.parametrize("changes", [1, 4, 12, 40])
def test_similarity_is_near_the_jaccard_similarity(changes: int) -> None:
    texts = varied(60, changes, seed=changes)
    bands = bands_of(texts)
    estimated = similarity(bands[:, 1:], bands[:, :-1])
    exact = np.array([jaccard(one, other) for one, other in zip(texts[1:], texts, strict=False)])
    # The standard deviation of one estimate is at most 0.045; of the mean of 59 pairs 0.006 and a little.
    assert abs(float((estimated - exact).mean())) < 0.025
    assert float(np.abs(estimated - exact).max()) < 0.2


def test_bands_of_a_text_do_not_depend_on_its_neighbours() -> None:
    texts = [*varied(30, 20, seed=1), "", "x", "A  b\nC" * 50_000]
    together = bands_of(texts)
    assert (together == np.concatenate([bands_of([text]) for text in texts], axis=1)).all()
    assert bands_of([]).shape == (16, 0)


def test_near_duplicates_go_and_the_first_of_them_stays() -> None:
    apart = varied(40, 200, seed=2)
    near = [f"{text[:-1]}!" for text in apart[:10]]
    bands = bands_of([*apart, *near, *apart[:3]])
    gone = near_duplicates(53, lambda band: bands[band], lambda rows: bands[:, rows], 0.8)
    assert gone.tolist() == [False] * 40 + [True] * 13


def test_overlap_is_the_share_of_n_grams_in_the_corpus(tmp_path: Path) -> None:
    known = "The quick brown fox jumps over the lazy dog."
    paths = write_pool(tmp_path, [("jsonl", [{"text": known}, {"text": "short"}])])
    corpus = read_corpus(paths, Layout())
    inside = set(grams(known, 20)) | {"short"}
    asked = [known, "SHORT", "so: the quick brown fox jumps over a wall", "nothing of it is in there at all"]
    expected = [sum(gram in inside for gram in grams(text, 20)) / len(grams(text, 20)) for text in asked]
    assert corpus.overlap(asked).tolist() == pytest.approx(expected)
    assert expected[0] == expected[1] == 1.0
    assert 0.0 < expected[2] < 1.0
    assert expected[3] == 0.0


def test_bad_records_of_a_corpus_are_counted_or_refused(tmp_path: Path) -> None:
    path = tmp_path / "a.jsonl"
    path.write_text('{"text": "good"}\nnot json\n', encoding="utf-8")
    assert read_corpus(path, Layout()).tally.bad == {"broken": 1}
    with pytest.raises(InputError, match="line 2: not JSON"):
        read_corpus(path, Layout(), "refuse")
    path.write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="has no text"):
        read_corpus(path, Layout())
