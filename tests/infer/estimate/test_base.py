from __future__ import annotations

import pytest

from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.choose import Random
from sparingly.infer import ControlVariate
from sparingly.infer.estimate.estimators import as_estimator


def test_from_text_and_from_an_object() -> None:
    made = as_estimator("control_variate:metric=COMET,folds=3")
    assert made == ControlVariate(metric="COMET", folds=3)
    assert as_estimator(made) is made


@pytest.mark.parametrize("method", ["random", "metric_var", Random()])
def test_methods_of_other_kinds_are_refused(method: object) -> None:
    with pytest.raises(UsageError, match="does not estimate scores"):
        as_estimator(method)  # type: ignore[arg-type]


def test_what_is_not_there_is_said() -> None:
    with pytest.raises(UnknownNameError, match="There is no method"):
        as_estimator("average_of_averages")
    with pytest.raises(UnknownNameError, match="parameter of greg"):
        as_estimator("greg:fold=3")
