from __future__ import annotations

import numpy as np
import pytest

from benchmarks.method_studies import item_keys
from sparingly.base import rng
from sparingly.base.errors import UsageError


def test_ids_keys_or_row_numbers() -> None:
    assert item_keys(2, ["a", "b"]).tolist() == rng.keys_of(["a", "b"]).tolist()
    assert item_keys(2, keys=np.array([7, 9], np.uint64)).tolist() == [7, 9]
    assert item_keys(3).tolist() == [0, 1, 2]
    assert item_keys(2, np.array(["a", "b"], object)).tolist() == rng.keys_of(["a", "b"]).tolist()


@pytest.mark.parametrize(
    ("ids", "keys", "words"),
    [
        (["a"], None, "one id for each of the 2 items"),
        ("ab", None, "one id for each"),
        (["a", "a"], None, "must differ"),
        (["a", "b"], np.arange(2, dtype=np.uint64), "not both"),
    ],
)
def test_wrong_ids_get_one_sentence(ids: list[str], keys: np.ndarray | None, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        item_keys(2, ids, keys)
