from __future__ import annotations

import re

import numpy as np
import pytest

from sparingly.base.errors import MissingDataError, UnknownNameError
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import standard_columns

NAN = float("nan")


def with_metrics(**metrics: list[list[float]]) -> EvalSet:
    items = len(next(iter(metrics.values())))
    models = len(next(iter(metrics.values()))[0])
    names = [f"i{place:02d}" for place in range(items)]
    return EvalSet.from_arrays(names, [f"m{place}" for place in range(models)], metrics=metrics)


def test_column_is_standardised_over_the_whole_set() -> None:
    (column,) = standard_columns(with_metrics(chrF=[[1, 2], [3, 6]]), None, lengths=True)
    values = column.at(slice(None))
    assert values == pytest.approx((np.array([[1, 2], [3, 6]]) - 3.0) / np.sqrt(3.5))
    assert column.at(np.array([1])) == pytest.approx(values[1:])


def test_missing_value_becomes_the_mean_of_the_item_and_else_of_the_set() -> None:
    scores = [[0.0, 2.0, NAN], [NAN, NAN, NAN], [4.0, NAN, 0.0], *([[0.0, 2.0, 4.0]] * 30)]
    column = standard_columns(with_metrics(chrF=scores), None, lengths=True)[0]
    values = column.at(slice(None))
    assert values[0, 2] == pytest.approx((values[0, 0] + values[0, 1]) / 2)
    assert values[2, 1] == pytest.approx((values[2, 0] + values[2, 2]) / 2)
    assert values[1].tolist() == [0.0, 0.0, 0.0]


@pytest.mark.parametrize(("missing", "names"), [(1, ["chrF"]), (6, ["chrF", "no chrF"])])
def test_many_missing_values_get_a_column_that_says_where(missing: int, names: list[str]) -> None:
    scores = np.arange(40.0).reshape(20, 2)
    scores[:missing, 0] = NAN
    columns = standard_columns(with_metrics(chrF=scores.tolist()), None, lengths=True)
    assert [column.name for column in columns] == names
    if len(names) == 2:
        absent = columns[1].at(slice(None))
        assert (absent[:missing, 0] > 0).all()
        assert (absent.mean(), absent.std()) == pytest.approx((0.0, 1.0))
        assert len(np.unique(absent)) == 2


def test_constant_and_absent_metrics_are_left_out() -> None:
    data = with_metrics(flat=[[1, 1], [1, NAN]], gone=[[NAN, NAN], [NAN, NAN]], chrF=[[1, 2], [3, 4]])
    assert [column.name for column in standard_columns(data, None, lengths=True)] == ["chrF"]


def test_metrics_come_in_the_order_of_their_names_or_as_named() -> None:
    data = with_metrics(b=[[1, 2]], a=[[2, 1]], c=[[5, 7]])
    assert [column.name for column in standard_columns(data, None, lengths=True)] == ["a", "b", "c"]
    assert [column.name for column in standard_columns(data, ("c", "a"), lengths=True)] == ["c", "a"]
    with pytest.raises(UnknownNameError, match='There is no metric "x"'):
        standard_columns(data, ("x",), lengths=True)


def test_lengths_are_plain_and_logarithmic() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"], ["x", "y"], sources=["w", "w w w"], outputs=[["w", "w w"], ["w w w", None]]
    )
    columns = {column.name: column.at(slice(None)) for column in standard_columns(data, None, lengths=True)}
    assert sorted(columns) == [
        "log output_length",
        "log source_length",
        "no output_length",
        "output_length",
        "source_length",
    ]
    logs = np.log1p([1.0, 3.0])
    assert columns["log source_length"][:, 0] == pytest.approx((logs - logs.mean()) / logs.std())
    assert columns["output_length"][1, 1] == columns["output_length"][1, 0]
    sentence = (
        "Predictions need metrics that differ between outputs, or texts, and the evaluation set has neither."
    )
    with pytest.raises(MissingDataError, match=re.escape(sentence)):
        standard_columns(data, None, lengths=False)
