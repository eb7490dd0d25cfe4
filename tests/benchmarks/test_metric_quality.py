from __future__ import annotations

import numpy as np
import pytest

from benchmarks.method_studies import metric_quality
from sparingly.base.errors import DataError, MissingDataError, UnknownNameError, UsageError
from sparingly.data.describe.metrics import correlation
from sparingly.data.evalset import EvalSet
from sparingly.data.synthetic import make_evalset
from sparingly.infer.rank.compare import curve

DATA = make_evalset(
    items=150, models=6, texts=False, raters=0, metrics={"weak": 0.1, "good (0.9)": 0.9, "fair": 0.5}
)


def test_rows_are_what_the_parts_say_and_sorted_by_correlation() -> None:
    found = metric_quality(DATA, "overall", runs=4, flips=200)
    assert [one.metric for one in found.metrics] == ["good (0.9)", "fair", "weak"]
    for one in found.metrics:
        expected = correlation(DATA.metrics[one.metric], DATA.aspects["overall"])
        assert (one.pooled, one.differences) == (expected.pooled, expected.differences)
        drawn = curve(DATA, f'metric_var:metric="{one.metric}"', "overall", runs=4, flips=200)
        assert one.average == drawn.curve.average
        assert one.random == drawn.random.average
        assert one.gain == one.average - one.random
    assert len(found) == 3


@pytest.mark.statistics
def test_better_metrics_select_better_on_average() -> None:
    """Over twelve made sets: the mean gain of a strong metric is above that of a weak one."""
    gains = []
    for seed in range(12):
        data = make_evalset(
            items=120, models=6, texts=False, raters=0, seed=seed, metrics={"weak": 0.05, "strong": 0.95}
        )
        rows = {one.metric: one for one in metric_quality(data, "overall", runs=2, test="analytic").metrics}
        gains.append(rows["strong"].average - rows["weak"].average)
    assert np.mean(gains) > 2 * np.std(gains, ddof=1) / np.sqrt(len(gains))


def test_a_metric_as_the_truth_is_left_out_and_others_can_be_chosen() -> None:
    found = metric_quality(DATA, "fair", runs=1, flips=50)
    assert {one.metric for one in found.metrics} == {"good (0.9)", "weak"}
    chosen = metric_quality(
        DATA, "metric:fair", "metric_avg:metric={metric}", metrics=["weak"], shares=[0.5], runs=1, flips=50
    )
    assert [one.metric for one in chosen.metrics] == ["weak"]


def test_other_measures_and_plain_values() -> None:
    found = metric_quality(DATA, "overall", measure="kendall_b", metrics=["fair"], runs=1)
    drawn = curve(DATA, "metric_var:metric=fair", "overall", measure="kendall_b", runs=1)
    assert found.metrics[0].average == drawn.curve.average
    row = found.to_dict()["metrics"][0]
    assert (row["metric"], row["gain"]) == ("fair", found.metrics[0].gain)
    assert "1 metrics are better" in repr(found)
    assert "<td>fair</td>" in found._repr_html_()


def test_a_metric_that_does_not_vary_comes_last() -> None:
    flat = DATA.with_metric("flat", np.ones(DATA.shape))
    found = metric_quality(flat, "overall", runs=1, flips=50)
    assert (found.metrics[-1].metric, found.metrics[-1].pooled) == ("flat", None)


def test_wrong_calls_get_one_sentence() -> None:
    with pytest.raises(UsageError, match="where the metric's name goes"):
        metric_quality(DATA, "overall", "metric_var")
    with pytest.raises(UnknownNameError, match="bad"):
        metric_quality(DATA, "overall", metrics=["bad"])
    with pytest.raises(DataError, match="but the truth itself"):
        metric_quality(DATA, "fair", metrics=["fair"])
    bare = EvalSet.from_arrays(["x"], ["a", "b"], aspects={"quality": np.array([[1.0, 2.0]])})
    with pytest.raises(MissingDataError, match="no metrics"):
        metric_quality(bare, "quality")
