from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.choose.design.variables import (
    column_labels,
    column_numbers,
    field_of,
    importance,
    indicators,
    resolve_names,
    scores_of,
    with_means,
)
from sparingly.data.evalset import EvalSet
from tests.choose.design.draws_data import made


def test_names_stand_for_fields() -> None:
    data = made()
    assert [field_of(data, name) for name in ("m", "metric:m", "domain", "column:domain")] == [
        "metric:m",
        "metric:m",
        "column:domain",
        "column:domain",
    ]
    assert field_of(data, "source_length") == "sources"
    assert field_of(data, "output_length") == "outputs"
    with pytest.raises(UnknownNameError, match='no metric or column "column:gone"'):
        field_of(data, "column:gone")


def test_settled_names_are_explicit_and_each_is_there_once() -> None:
    data = made()
    found = resolve_names(data, ["m", "metrics", "domain", "source_length"])
    assert set(found) == {"metric:m", "metric:gappy", "column:domain", "source_length"}
    assert resolve_names(data, found) == found
    with pytest.raises(MissingDataError, match="means all metrics"):
        resolve_names(data.only(["sources"]), ["metrics"])


def test_a_metric_that_is_called_as_a_length_is_the_metric() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], metrics={"source_length": [[7.0]]}, sources=["one"])
    assert field_of(data, "source_length") == "metric:source_length"
    assert scores_of(data, "source_length").tolist() == [[7.0]]


def test_scores_have_no_gaps() -> None:
    data = made()
    found = scores_of(data, "gappy")
    np.testing.assert_allclose(found[5], np.nanmean(data.metrics["gappy"], axis=0))
    assert scores_of(data, "source_length").shape == (60, 1)
    assert scores_of(data, "output_length").tolist() == [[6.0] * 3] * 60


def test_columns_of_numbers_and_of_texts() -> None:
    data = made()
    numbers = column_numbers(data, "mixed")
    assert numbers is not None
    assert np.isnan(numbers[4])
    assert column_numbers(data, "cost") is not None
    assert column_numbers(data, "word") is None
    labels = column_labels(data, "word")
    assert labels[7] == "(none)"
    groups = indicators(labels)
    assert groups.shape == (60, 5)
    assert (groups.sum(axis=1) == 1).all()


def test_means_fill_gaps() -> None:
    given = np.array([[1.0, np.nan], [3.0, np.nan], [np.nan, np.nan]])
    assert with_means(given).tolist() == [[1.0, 0.0], [3.0, 0.0], [2.0, 0.0]]


def test_importance_is_a_number_for_every_item() -> None:
    assert importance(made(), "weight").tolist() == [1.0, 2.0, 3.0] * 20
