from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import text_directions

TEXTS = ["the cat sat", "a dog ran", "the cat ran", "dogs and cats", "a bird", "birds of a feather"]


def test_directions_of_sources_and_outputs() -> None:
    outputs = [[text, None if place == 2 else text.upper() + "!"] for place, text in enumerate(TEXTS)]
    data = EvalSet.from_arrays(list("abcdef"), ["x", "y"], sources=TEXTS, outputs=outputs)
    topics = text_directions(data, "tfidf", 2)
    assert topics.names == (
        "source direction 1",
        "source direction 2",
        "output direction 1",
        "output direction 2",
    )
    found = topics.at(np.arange(6))
    assert found.shape == (6, 2, 4)
    assert (found[:, 0, :2] == found[:, 1, :2]).all()
    assert found[:, 0, 0].std() == pytest.approx(1.0)
    assert not found[2, 1, 2:].any()
    assert (topics.at(np.array([4, 1])) == found[[4, 1]]).all()


def test_texts_are_needed() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], metrics={"chrF": [[1.0]]})
    with pytest.raises(MissingDataError, match="Embeddings need sources or outputs"):
        text_directions(data, "tfidf", 2)
