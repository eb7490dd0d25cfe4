"""What is learned: utilities by text, by name, from what people said; and on which scale."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import norm

from sparingly.base.errors import UsageError
from sparingly.choose.distil.corpus import Target, parse_targets, rescale, values_in
from sparingly.choose.utility.metric import MetricVar
from tests.choose.distil.made_past import made_past

DATA = made_past()


def values(text: str) -> np.ndarray:
    return Target.parse(text).values(DATA)[0]


def test_names() -> None:
    given: list[str | MetricVar] = ["metric_var:metric=score", "hard=metric_avg", "aspect:overall"]
    given.append(MetricVar(metric="score"))
    assert [Target.parse(one).name for one in given] == ["metric_var", "hard", "aspect:overall", "metric_var"]


def test_scores_are_minus_the_mean_over_models() -> None:
    np.testing.assert_allclose(values("aspect:overall"), -DATA.aspects["overall"].mean(axis=1))
    np.testing.assert_allclose(values("metric:score"), -DATA.metrics["score"].mean(axis=1))
    np.testing.assert_allclose(
        values("metric_var:metric=aspect:overall"), DATA.aspects["overall"].var(axis=1)
    )


def test_what_is_read_is_named_as_it_is() -> None:
    assert Target.parse("aspect:overall").values(DATA)[1] == {"aspect:overall"}
    assert Target.parse("metric_var").values(DATA)[1] == {"metric:score"}


def test_wrong_ones_are_said() -> None:
    with pytest.raises(UsageError, match='Two utilities are called "metric_var"'):
        parse_targets(["metric_var:metric=a", "metric_var:metric=b"])
    with pytest.raises(UsageError, match="Name at least one utility"):
        parse_targets([])
    with pytest.raises(UsageError, match="random is not a utility"):
        parse_targets("random")
    with pytest.raises(UsageError, match=r'In the data set "x", metric_var cannot be computed: .*COMET'):
        values_in(DATA, Target.parse("metric_var:metric=COMET"), "x")


def test_scales() -> None:
    given = np.array([1.0, np.nan, 3.0, 8.0])
    np.testing.assert_allclose(rescale(given, "zscore"), (given - 4.0) / np.nanstd(given))
    np.testing.assert_allclose(rescale(given, "rank"), norm.ppf([1 / 6, np.nan, 0.5, 5 / 6]), atol=1e-12)
    np.testing.assert_array_equal(rescale(given, "none"), given)
    np.testing.assert_array_equal(rescale(np.ones(3), "zscore"), np.zeros(3))
