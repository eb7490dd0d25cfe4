from __future__ import annotations

import numpy as np
import pytest

import sparingly
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.choose import MetricAvg
from sparingly.data.evalset import EvalSet

NAN = np.nan


def one_metric(scores: list[list[float]], name: str = "m") -> EvalSet:
    items, models = (
        [f"i{row}" for row in range(len(scores))],
        [f"m{place}" for place in range(len(scores[0]))],
    )
    return EvalSet.from_arrays(items, models, metrics={name: scores})


def test_value_is_minus_the_mean() -> None:
    data = one_metric([[1.0, 2.0, 6.0], [0.5, 0.5, 0.5], [-3.0, NAN, 1.0], [NAN, NAN, NAN]])
    found = MetricAvg().resolve(data).values(data)
    np.testing.assert_allclose(found, [-3.0, -0.5, 1.0, NAN])


def test_hard_items_come_first() -> None:
    data = one_metric([[3.0, 3.0], [1.0, 1.0], [2.0, 2.0]])
    assert list(sparingly.select(data, "metric_avg", 3).items) == ["i1", "i2", "i0"]


# --- which metric is meant (the same for every utility of one metric) --------------------------------


def test_only_metric_is_taken_and_spelled_in_the_signature() -> None:
    data = one_metric([[1.0, 2.0], [3.0, 4.0]], name="MetricX-23-QE[QE]")
    assert "metric_avg:metric=MetricX-23-QE[QE])" in sparingly.select(data, "metric_avg", 1).signature.method


def test_several_metrics_must_be_named() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], metrics={"chrF": [[1.0]], "COMET": [[2.0]]})
    with pytest.raises(UsageError, match=r"There are 2 metrics: chrF, COMET\. Name one: metric_avg:metric=…"):
        sparingly.select(data, "metric_avg", 1)


def test_unknown_metric_is_an_error_that_names_the_nearest() -> None:
    with pytest.raises(UnknownNameError, match=r'no metric "comet"\. Did you mean COMET\?'):
        sparingly.select(one_metric([[1.0]], name="COMET"), "metric_avg:metric=comet", 1)


def test_no_metric_at_all_is_said() -> None:
    data = EvalSet.from_arrays(["a"], ["x"])
    with pytest.raises(MissingDataError, match=r"has no metric\. The method metric_avg needs one\."):
        sparingly.select(data, "metric_avg", 1)


def test_lengths_are_metrics() -> None:
    data = EvalSet.from_arrays(
        ["a", "b"], ["x", "y"], sources=["one two three", "one"], outputs=[["a b", "a"], ["a b c d", "a b"]]
    )
    source = MetricAvg(metric="source_length")
    output = MetricAvg(metric="output_length")
    assert source.reads(data) == {"sources"}
    assert output.reads(data) == {"outputs"}
    assert source.values(data).tolist() == [-3.0, -1.0]
    assert output.values(data).tolist() == [-1.5, -3.0]


def test_a_metric_that_is_called_like_a_length_is_itself() -> None:
    data = EvalSet.from_arrays(["a"], ["x"], metrics={"source_length": [[7.0]]}, sources=["one"])
    utility = MetricAvg(metric="source_length").resolve(data)
    assert utility.reads(data) == {"metric:source_length"}
    assert utility.values(data).tolist() == [-7.0]


@pytest.mark.parametrize(("metric", "missing"), [("source_length", "sources"), ("output_length", "outputs")])
def test_lengths_of_texts_that_are_not_there(metric: str, missing: str) -> None:
    with pytest.raises(MissingDataError, match=rf"lengths need {missing}, and the evaluation set has none\."):
        sparingly.select(one_metric([[1.0]]), f"metric_avg:metric={metric}", 1)
