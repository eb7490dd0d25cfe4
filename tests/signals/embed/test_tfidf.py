from __future__ import annotations

import math
from collections import Counter

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy.sparse import csr_array

from sparingly.signals.embed import tfidf
from sparingly.signals.embed.tfidf import ngram_counts, singular_axes, tfidf_vectors

TEXTS = ["The cat sat on the mat.", "the cat sits on a mat", "Le chat est là", "猫坐在垫子上", "5", "😀😀 ok"]


def ngrams(text: str) -> list[str]:
    padded = f" {' '.join(text.lower().split())} "
    return [padded[start : start + n] for n in (2, 3, 4) for start in range(len(padded) - n + 1)]


@pytest.mark.parametrize("text", [*TEXTS, "a", "aaaa aaaa"])
def test_counts_are_those_of_the_ngrams(text: str) -> None:
    counted = ngram_counts([text])
    known = [ngrams(text).count(one) for one in set(ngrams(text))]
    assert sorted(counted.data.tolist()) == sorted(known)


def test_counts_of_blocks_are_those_of_all(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = ngram_counts(TEXTS).toarray()
    monkeypatch.setattr(tfidf, "_BLOCK_LETTERS", 10)
    np.testing.assert_array_equal(ngram_counts(TEXTS).toarray(), whole)


def test_case_and_runs_of_space_do_not_count() -> None:
    counted = ngram_counts(["A  Cat\n", "a cat"]).toarray()
    np.testing.assert_array_equal(counted[0], counted[1])


def test_products_are_the_cosines_of_plain_weights() -> None:
    counted = [Counter(ngrams(text)) for text in TEXTS]
    known = sorted(set().union(*counted))
    rarity = [1 + math.log((1 + len(TEXTS)) / (1 + sum(one in text for text in counted))) for one in known]
    weights = [
        [
            (1 + math.log(text[one])) * rare if text[one] else 0.0
            for one, rare in zip(known, rarity, strict=True)
        ]
        for text in counted
    ]
    plain = np.array(weights) / np.linalg.norm(weights, axis=1, keepdims=True)
    vectors = tfidf_vectors(TEXTS)
    np.testing.assert_allclose(vectors @ vectors.T, plain @ plain.T, rtol=0, atol=1e-12)


def test_axes_are_those_of_a_full_decomposition() -> None:
    drawn = np.random.default_rng(0)
    matrix = drawn.normal(size=(60, 20)) * 0.5 ** np.arange(20)
    axes = singular_axes(csr_array(matrix), 4)
    _, _, rows = np.linalg.svd(matrix, full_matrices=False)
    np.testing.assert_allclose(np.abs(rows[:4] @ axes), np.eye(4), atol=1e-6)
    assert (axes.sum(axis=0) > 0).all()


def test_axes_of_many_rows_keep_nearly_all_that_can_be_kept() -> None:
    drawn = np.random.default_rng(1)
    matrix = drawn.normal(size=(400, 300)) / (1 + np.arange(300)) ** 0.7
    values = np.linalg.svd(matrix, compute_uv=False)
    kept = np.linalg.norm(matrix @ singular_axes(csr_array(matrix), 30)) ** 2
    assert kept >= 0.97 * (values[:30] ** 2).sum()


def test_a_text_that_shares_nothing_with_the_fitted_ones_has_a_direction(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tfidf, "_FIT_TEXTS", 1)
    vectors = tfidf_vectors(["abcd efgh", "猫坐在垫子上", "犬"])
    assert (np.linalg.norm(vectors, axis=1) > 0).all()


def test_fitted_part_does_not_hang_on_the_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tfidf, "_FIT_TEXTS", 4)
    forth, back = tfidf_vectors(TEXTS), tfidf_vectors(TEXTS[::-1])
    np.testing.assert_allclose(forth @ forth.T, (back @ back.T)[::-1, ::-1], atol=1e-12)


@given(st.lists(st.text(st.characters(), min_size=1, max_size=20), min_size=1, max_size=8, unique=True))
def test_any_texts_have_finite_vectors(texts: list[str]) -> None:
    vectors = tfidf_vectors(texts)
    assert len(vectors) == len(texts)
    assert np.isfinite(vectors).all()
    assert (np.linalg.norm(vectors, axis=1) <= 1 + 1e-9).all()


def test_no_texts_have_no_vectors() -> None:
    assert tfidf_vectors([]).shape == (0, 1)
