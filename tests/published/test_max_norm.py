from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.published.diffuse import MaxNorm
from sparingly.signals.embed import embed_texts

TEXTS: list[list[str | None]] = [
    ["same", "same", "same"],
    ["a cat", "a cat", "un chien"],
    ["one", None, None],
    ["x y", None, "z w v"],
]
DATA = EvalSet.from_arrays(["a", "b", "c", "d"], ["x", "y", "z"], outputs=TEXTS)


def test_values_are_norms_of_differences() -> None:
    flat = [text for row in TEXTS for text in row]
    vectors = dict(zip(flat, embed_texts(flat), strict=True))
    expected = []
    for row in TEXTS:
        pairs = list(combinations([vectors[text] for text in row if text is not None], 2))
        squares = [float((one - other) @ (one - other)) for one, other in pairs]
        expected.append(np.sqrt(np.mean(squares)) if squares else np.nan)
    np.testing.assert_allclose(MaxNorm().values(DATA), expected, atol=1e-9)
    assert MaxNorm().values(DATA)[0] == 0.0


def test_items_that_differ_most_come_first() -> None:
    assert select(DATA, "max_norm", 3).items.tolist() == ["d", "b", "a"]
    assert select(DATA, "max_norm", "100%").items.tolist() == ["d", "b", "a", "c"]


def test_outputs_are_needed() -> None:
    with pytest.raises(MissingDataError, match="need outputs"):
        select(DATA.only([]), "max_norm", 1)
