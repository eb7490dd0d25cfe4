from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

import sparingly
from sparingly.base.arrays import Floats
from sparingly.choose import MetricVar
from sparingly.data.evalset import EvalSet

NAN = np.nan


def variances(scores: Floats) -> Floats:
    items, models = (
        [f"i{row:03d}" for row in range(len(scores))],
        [f"m{place}" for place in range(scores.shape[1])],
    )
    data = EvalSet.from_arrays(items, models, metrics={"m": scores})
    return MetricVar().resolve(data).values(data)


def test_value_is_the_population_variance() -> None:
    found = variances(
        np.array([[1.0, 2.0, 6.0], [0.1, 0.1, 0.1], [-3.0, NAN, 1.0], [5.0, NAN, NAN], [NAN] * 3])
    )
    # ((1-3)² + (2-3)² + (6-3)²) / 3 = 14/3; ((-3+1)² + (1+1)²) / 2 = 4.
    np.testing.assert_allclose(found, [14 / 3, 0.0, 4.0, 0.0, NAN], rtol=0, atol=1e-15)


@given(
    arrays(np.float64, st.tuples(st.integers(1, 6), st.integers(1, 6)), elements=st.floats(-1e6, 1e6)),
)
def test_value_is_numpys_variance(scores: Floats) -> None:
    np.testing.assert_allclose(variances(scores), scores.var(axis=1), rtol=1e-9, atol=1e-6)


def test_items_on_which_models_differ_come_first() -> None:
    data = EvalSet.from_arrays(["a", "b", "c"], ["x", "y"], metrics={"m": [[1, 2], [1, 9], [5, 5]]})
    assert list(sparingly.select(data, "metric_var", 3).items) == ["b", "a", "c"]
