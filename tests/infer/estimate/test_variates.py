from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import load_invented
from sparingly.infer.estimate.estimators import (
    check_metrics,
    known_metrics,
    metric_fields,
    metric_scores,
    standardise,
    variates_of,
)


def test_standardised_on_all_items_with_missing_ones_in_the_middle() -> None:
    scores = np.array([[1.0, 3.0], [np.nan, 3.0], [3.0, 3.0]])
    assert standardise(scores) == pytest.approx(np.array([[-1.0, 0.0], [0.0, 0.0], [1.0, 0.0]]))


def test_lengths_are_always_there_as_metrics() -> None:
    data = load_invented()
    assert known_metrics(data)[-2:] == ("source_length", "output_length")
    assert check_metrics(data, ()) == known_metrics(data)
    assert metric_fields(data, ("learned", "output_length")) == {"metric:learned", "outputs"}
    assert metric_scores(data, "output_length").shape == data.shape
    assert variates_of(data, ("learned", "judge")).shape == (2, *data.shape)


def test_an_unknown_metric_and_no_metric_at_all() -> None:
    with pytest.raises(UnknownNameError, match="Did you mean learned"):
        check_metrics(load_invented(), ("learnt",))
    bare = EvalSet.from_arrays(["a"], ["m"], aspects={"x": [[1.0]]})
    with pytest.raises(MissingDataError, match="no metrics"):
        check_metrics(bare, ())
