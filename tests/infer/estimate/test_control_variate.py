from __future__ import annotations

from typing import Any, Literal

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.infer.estimate.estimators import ControlVariate
from sparingly.infer.estimate.sample import difference_form
from sparingly.infer.estimate.variance import set_errors
from tests.infer.estimate.sets import judged_set, some_rows, with_judged

DATA = judged_set()
ROWS = some_rows(DATA, 60)
PAPER: dict[str, Any] = {"covariance": "published", "crossfit": False, "guard": False}


def z_of(scores: Floats) -> Floats:
    return np.asarray((scores - scores.mean(axis=0)) / scores.std(axis=0))


def estimated(method: ControlVariate) -> Floats:
    judged, sample = with_judged(DATA, ROWS)
    return method.linear(sample, judged, 0).scores(sample)


def test_equation_3_by_hand() -> None:
    x, z = DATA.aspects["truth"][ROWS], z_of(DATA.metrics["good"])
    expected = x.mean(axis=0) - (x * z[ROWS]).mean(axis=0) * z[ROWS].mean(axis=0)
    assert estimated(ControlVariate(metric="good", **PAPER)) == pytest.approx(expected)


def test_footnote_1_by_hand() -> None:
    x, z = DATA.aspects["truth"][ROWS], z_of(DATA.metrics["good"])
    slope = ((x - x.mean(axis=0)) * (z[ROWS] - z[ROWS].mean(axis=0))).mean(axis=0)
    found = estimated(ControlVariate(metric="good", crossfit=False, guard=False))
    assert found == pytest.approx(x.mean(axis=0) - slope * z[ROWS].mean(axis=0))


def test_the_mean_of_metrics_by_hand() -> None:
    x = DATA.aspects["truth"][ROWS]
    z = z_of((z_of(DATA.metrics["good"]) + z_of(DATA.metrics["weak"])) / 2)
    expected = x.mean(axis=0) - (x * z[ROWS]).mean(axis=0) * z[ROWS].mean(axis=0)
    assert estimated(ControlVariate(variate="mean", **PAPER)) == pytest.approx(expected)


def test_equation_4_by_hand() -> None:
    x = DATA.aspects["truth"][ROWS]
    both = np.stack([z_of(DATA.metrics["good"]), z_of(DATA.metrics["weak"])])
    expected = []
    for model in range(3):
        z = both[:, :, model].T
        slope = np.linalg.solve(z.T @ z / len(z), (x[:, model, None] * z[ROWS]).mean(axis=0))
        expected.append(x[:, model].mean() - slope @ z[ROWS].mean(axis=0))
    assert estimated(ControlVariate(variate="several", **PAPER)) == pytest.approx(expected)


def test_metrics_that_say_the_same_do_no_harm() -> None:
    twice = DATA.with_metric("copy", 3.0 * DATA.metrics["good"])
    judged, sample = with_judged(twice, ROWS)
    once = ControlVariate(variate="several", metrics=("good",), **PAPER).linear(sample, judged, 0)
    both = ControlVariate(variate="several", metrics=("good", "copy"), **PAPER).linear(sample, judged, 0)
    assert both.scores(sample) == pytest.approx(once.scores(sample))


def test_knn_is_equation_3_with_the_prediction() -> None:
    judged, sample = with_judged(DATA, ROWS)
    found = ControlVariate(variate="knn", neighbours=9, **PAPER).linear(sample, judged, 0)
    x = DATA.aspects["truth"][ROWS]
    points = np.stack([z_of(DATA.metrics["good"]), z_of(DATA.metrics["weak"])])[:, :, 0].T
    distance = ((points[:, None] - points[None, ROWS]) ** 2).sum(axis=2)
    told = x[np.argsort(distance, axis=1)[:, :9], 0].mean(axis=1)
    z = (told - told.mean()) / told.std()
    expected = x[:, 0].mean() - (x[:, 0] * z[ROWS]).mean() * z[ROWS].mean()
    assert found.scores(sample)[0] == pytest.approx(expected)
    assert found.parameters == 2.0


@pytest.mark.parametrize("variate", ["one", "mean", "several", "knn"])
@pytest.mark.parametrize("crossfit", [True, False])
def test_a_metric_that_follows_people_makes_errors_smaller(variate: str, crossfit: bool) -> None:
    judged, sample = with_judged(DATA, ROWS)
    metric = "good" if variate == "one" else None
    method = ControlVariate(metric=metric, variate=variate, crossfit=crossfit)  # type: ignore[arg-type]
    linear = method.linear(sample, judged, 0)
    less = set_errors(sample, linear).standard_errors
    plain = set_errors(sample, difference_form(sample)).standard_errors
    assert (less < 0.8 * plain).all()
    assert linear.fallen_back is not None
    assert not linear.fallen_back.any()


def test_cross_fitting_takes_the_slope_of_the_other_folds() -> None:
    judged, sample = with_judged(DATA, ROWS)
    linear = ControlVariate(metric="good", folds=2, guard=False).linear(sample, judged, 5)
    assert linear.predicted is not None
    z = z_of(DATA.metrics["good"])
    slopes = linear.predicted[:, 0] / z[:, 0]
    inside, outside = np.unique(slopes[ROWS].round(9)), np.unique(np.delete(slopes, ROWS).round(9))
    assert len(inside) == 2
    assert outside == pytest.approx([inside.mean()])


def test_with_everything_judged_it_is_the_mean() -> None:
    judged, sample = with_judged(DATA, np.arange(120))
    variates: tuple[Literal["several", "knn"], ...] = ("several", "knn")
    for variate in variates:
        linear = ControlVariate(variate=variate).linear(sample, judged, 0)
        assert linear.scores(sample) == pytest.approx(DATA.aspects["truth"].mean(axis=0))


def test_which_metric_is_meant() -> None:
    with pytest.raises(UsageError, match="There are 2 metrics: good, weak"):
        ControlVariate().resolve(DATA)
    with pytest.raises(UnknownNameError, match="Did you mean good"):
        ControlVariate(metric="god").resolve(DATA)
    assert ControlVariate(variate="mean").resolve(DATA).metrics == ("good", "weak")
    assert ControlVariate(metric="good").reads(DATA) == {"metric:good"}
