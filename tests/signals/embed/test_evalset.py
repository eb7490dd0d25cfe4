from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError
from sparingly.data.evalset import EvalSet
from sparingly.signals.embed import embed_outputs, embed_sources, embed_texts, embedding_fields

DATA = EvalSet.from_arrays(
    ["b", "a"],
    ["x", "y", "z"],
    sources=["eine Katze", None],
    outputs=[["a cat", "the cat", "a cat"], ["", None, "a dog"]],
)


def test_texts_are_embedded_where_they_stand() -> None:
    vectors, there = embed_outputs(DATA)
    assert there.tolist() == [[True, False, True], [True, True, True]]
    expected = embed_texts(["", None, "a dog", "a cat", "the cat", "a cat"])
    np.testing.assert_array_equal(vectors.reshape(6, -1), expected)
    assert not vectors[0, :2].any()


def test_sources_have_a_vector_each() -> None:
    vectors, there = embed_sources(DATA)
    assert there.tolist() == [False, True]
    np.testing.assert_allclose(np.abs(vectors), [[0.0], [1.0]])


def test_missing_texts_are_named() -> None:
    for what, embed in (("outputs", embed_outputs), ("sources", embed_sources)):
        with pytest.raises(MissingDataError, match=f"need {what}, and the evaluation set has none"):
            embed(DATA.only(()))
        assert embedding_fields("tfidf", outputs=what == "outputs") == {what}
