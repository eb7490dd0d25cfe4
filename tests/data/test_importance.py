from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from sparingly.base.errors import DataError, UsageError
from sparingly.data.evalset import EvalSet
from sparingly.data.store import checked_weights


def made(**columns: Any) -> EvalSet:
    return EvalSet.from_arrays(["a", "b", "c"], ["x"], columns=columns)


def test_weights_have_mean_one() -> None:
    assert made(weight=[1.0, 2.0, 3.0]).importance == pytest.approx([0.5, 1.0, 1.5])


def test_equal_or_no_weights_are_none() -> None:
    assert made().importance is None
    assert made(weight=[2.0, 2.0, 2.0]).importance is None


def test_items_without_a_weight_are_counted() -> None:
    with pytest.raises(DataError, match=r"1 of 3 items have no weight\."):
        assert made(weight=[1.0, None, 3.0]).importance is None


@pytest.mark.parametrize("wrong", [[0.0, 0.0], [-1.0, 2.0]])
def test_what_is_no_weight_is_refused(wrong: list[float]) -> None:
    with pytest.raises(DataError, match="0 or more"):
        checked_weights(np.array(wrong), 2)


def test_as_many_weights_as_items() -> None:
    with pytest.raises(UsageError, match="There are 3 items"):
        checked_weights(np.ones(2), 3)
