from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

import sparingly
from sparingly.base.errors import DataError, UnknownNameError, UsageError
from sparingly.base.progress import listening
from sparingly.signals.embed import embed_texts
from sparingly.signals.embed.texts import unit_rows

TEXTS = ["the cat sat", "", "the cat sits", "Bonjour", None, "the cat sat", " \n"]


class Letters:
    """Embeds texts by their letters, and remembers what it was given."""

    def __init__(self, digest: str | None = None) -> None:
        self.seen: list[list[str]] = []
        self.digest = digest

    def __call__(self, texts: Sequence[str]) -> NDArray[np.float32]:
        self.seen.append(list(texts))
        rows = [[text.count(letter) for letter in "abcdefghijklmnopqrstuvwxyz"] for text in texts]
        return np.array(rows, np.float32) + np.float32(0.1)


def test_rows_have_length_one_and_empty_texts_are_zero() -> None:
    for model in ("tfidf", Letters()):
        lengths = np.linalg.norm(embed_texts(TEXTS, model), axis=1)
        np.testing.assert_allclose(lengths, [1, 0, 1, 1, 0, 1, 0], atol=1e-12)


def test_near_texts_have_near_vectors() -> None:
    vectors = embed_texts(TEXTS)
    assert vectors[0] @ vectors[2] > 0.3 > vectors[0] @ vectors[3]
    np.testing.assert_array_equal(vectors[0], vectors[5])


@given(st.permutations(list(range(len(TEXTS)))))
def test_order_of_texts_changes_nothing(order: list[int]) -> None:
    vectors = embed_texts(TEXTS, cache=False)
    np.testing.assert_array_equal(embed_texts([TEXTS[place] for place in order], cache=False), vectors[order])


def test_equal_texts_are_embedded_once_and_in_batches() -> None:
    model = Letters()
    texts = [f"text {'a' * (place % 7)}" for place in range(50)]
    embed_texts(texts, model, batch=3)
    assert [len(batch) for batch in model.seen] == [3, 3, 1]
    given_texts = [text for batch in model.seen for text in batch]
    assert given_texts == sorted(set(texts), key=len)


def test_no_text_at_all_gives_zeros() -> None:
    np.testing.assert_array_equal(embed_texts(["", None]), np.zeros((2, 1)))
    assert embed_texts([]).shape == (0, 1)
    assert embed_texts([None], Letters()).shape == (1, 1)


@pytest.mark.parametrize(
    ("model", "error", "sentence"),
    [
        (lambda texts: np.zeros((len(texts) + 1, 2)), DataError, "array of the shape"),
        (lambda texts: np.zeros(len(texts)), DataError, "array of the shape"),
        (lambda texts: [["a"]] * len(texts), DataError, "array of the shape"),
        (lambda texts: np.full((len(texts), 2), np.nan), DataError, 'embedding of "Bonjour" is not finite'),
        (lambda texts: np.ones((len(texts), len(texts[0]))), DataError, "longer vectors than others"),
        ("tf-idf", UnknownNameError, "Did you mean tfidf"),
        ("", UsageError, "a name, a folder or a function"),
        (3, UsageError, "a name, a folder or a function"),
    ],
)
def test_wrong_embeddings_are_named(model: object, error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        embed_texts(TEXTS, model, batch=1)  # type: ignore[arg-type]


def test_what_is_no_text_is_named() -> None:
    with pytest.raises(DataError, match="not 3"):
        embed_texts(["a", 3])  # type: ignore[list-item]
    with pytest.raises(UsageError, match="at least 1"):
        embed_texts(["a"], batch=0)


def test_progress_is_reported_to_who_listens(capsys: pytest.CaptureFixture[str]) -> None:
    steps: list[tuple[int, int]] = []
    with listening(lambda done, total: steps.append((done, total))):
        embed_texts(TEXTS, Letters(), batch=2)
    assert steps == [(0, 3), (2, 3)]
    embed_texts(TEXTS, Letters())
    assert capsys.readouterr() == ("", "")


def test_unit_rows_leaves_zero_as_it_is() -> None:
    rows = np.array([[3.0, 4.0], [0.0, 0.0]])
    np.testing.assert_allclose(unit_rows(rows), np.array([[0.6, 0.8], [0.0, 0.0]]))


@pytest.mark.shared_data
@pytest.mark.parametrize(("name", "least"), [("wmt23_ende", 0.95), ("wmt24_enzh", 0.9), ("wmt24_encs", 0.9)])
def test_the_other_translation_of_a_source_is_the_nearest(shared_data: Path, name: str, least: float) -> None:
    outputs = sparingly.load(shared_data / f"{name}.jsonl.gz").outputs
    assert outputs is not None
    vectors = embed_texts(outputs[:, :2].ravel().tolist()).reshape(len(outputs), 2, -1)
    nearest = (vectors[:, 0] @ vectors[:, 1].T).argmax(axis=1)
    assert np.mean(nearest == np.arange(len(outputs))) >= least
