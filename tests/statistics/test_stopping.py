"""Stops err as often as they say and no more; looking often without care, and the heuristic, err far more."""

from __future__ import annotations

import numpy as np
import pytest

from stopping import Kind, Rule, errs, heuristic_errs

RUNS = 150


def rate(kind: Kind, models: int, rule: Rule) -> float:
    return float(np.mean([errs(kind, models, rule, seed) for seed in range(RUNS)]))


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("kind", "models"), [("apart", 2), ("apart", 5), ("best", 5), ("order", 5), ("margin", 2), ("width", 2)]
)
@pytest.mark.parametrize("rule", ["group_sequential", "anytime"])
def test_error_rates_hold(kind: Kind, models: int, rule: Rule) -> None:
    # 5 % and 3.5 standard errors of 150 runs.
    assert rate(kind, models, rule) <= 0.05 + 3.5 * np.sqrt(0.05 * 0.95 / RUNS)


@pytest.mark.statistics
def test_looking_often_without_care_errs() -> None:
    assert rate("apart", 2, "every look") > 0.15


@pytest.mark.statistics
def test_the_heuristic_errs_more_than_it_says() -> None:
    assert np.mean([heuristic_errs(0.1, seed) for seed in range(RUNS)]) > 0.3
