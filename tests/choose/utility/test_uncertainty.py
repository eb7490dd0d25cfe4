from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.choose import Uncertainty
from sparingly.data.evalset import EvalSet

NAN = np.nan


@pytest.fixture
def data() -> EvalSet:
    return EvalSet.from_arrays(
        ["a", "b", "c", "d"],
        ["x", "y"],
        metrics={"error": [[0.1, 0.3], [0.9, 0.7], [NAN, 0.5], [NAN, NAN]]},
    )


def test_high_is_the_mean_of_the_column(data: EvalSet) -> None:
    found = Uncertainty().resolve(data).values(data)
    np.testing.assert_allclose(found, [0.2, 0.8, 0.5, NAN])
    assert list(sparingly.select(data, "uncertainty", 4).items) == ["b", "c", "a", "d"]


def test_low_is_its_negative(data: EvalSet) -> None:
    found = Uncertainty(direction="low").resolve(data).values(data)
    np.testing.assert_allclose(found, [-0.2, -0.8, -0.5, NAN])
    assert list(sparingly.select(data, "uncertainty:direction=low", 4).items) == ["a", "c", "b", "d"]
