from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from sparingly.base.stats.moments import row_means, row_variances

CELLS = st.floats(-1e6, 1e6) | st.just(float("nan"))


@given(arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 5)), elements=CELLS))
@pytest.mark.filterwarnings("ignore:Mean of empty slice", "ignore:Degrees of freedom")
def test_equal_numpys_nan_aware_forms(scores: np.ndarray) -> None:
    np.testing.assert_allclose(row_means(scores), np.nanmean(scores, axis=1), rtol=1e-9, atol=1e-9)
    np.testing.assert_allclose(row_variances(scores), np.nanvar(scores, axis=1), rtol=1e-6, atol=1e-3)


def test_by_hand() -> None:
    scores = np.array([[1.0, 2.0, 3.0], [4.0, np.nan, 6.0], [np.nan, np.nan, np.nan]])
    np.testing.assert_allclose(row_means(scores), [2.0, 5.0, np.nan])
    np.testing.assert_allclose(row_variances(scores), [2 / 3, 1.0, np.nan])


def test_the_input_is_left_alone() -> None:
    scores = np.array([[1.0, np.nan]])
    scores.flags.writeable = False
    row_variances(scores)
    assert np.isnan(scores[0, 1])
