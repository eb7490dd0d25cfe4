"""One contract suite over every registered estimator."""

from __future__ import annotations

import pytest

from sparingly.base.registry import registered
from tests.contracts.estimators import CHECKS
from tests.contracts.examples import estimator_texts


@pytest.mark.parametrize("text", estimator_texts())
@pytest.mark.parametrize("promise", CHECKS)
def test_promise(promise: str, text: str) -> None:
    CHECKS[promise](text)


def test_the_estimators_that_were_promised_are_there() -> None:
    names = {name for name, method in registered().items() if method.kind == "estimator"}
    assert {"mean", "weighted_mean", "stratified_mean", "control_variate", "greg", "ppi", "bank"} <= names
