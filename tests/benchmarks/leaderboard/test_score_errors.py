"""Errors of scores relative to random's."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leaderboard.results import Runs
from benchmarks.leaderboard.scores import ErrorRatios
from tests.benchmarks.leaderboard.arrays import results_of, runs_of

ERROR = "mean_absolute_error"


def errors(level: float, seeds: int, key: int) -> Runs:
    values = level * np.random.default_rng(key).normal([0.2, 0.1], 0.02, (seeds, 2))
    return runs_of(values, measure=ERROR)


def test_the_ratio_is_that_of_the_means_over_budgets() -> None:
    random, made = np.array([[0.3, 0.1], [0.5, 0.1]]), np.array([[0.2, 0.2], [0.2, 0.0]])
    results = results_of(
        {("a", "random"): runs_of(random, measure=ERROR), ("a", "made"): runs_of(made, measure=ERROR)}
    )
    found = ErrorRatios(results).on("a", "made")
    assert found is not None
    assert found.value == pytest.approx(made.mean() / random.mean())


def test_the_draws_spread_as_the_delta_method_says() -> None:
    random, made = errors(1.0, 100, 0), errors(0.8, 20, 1)
    found = ErrorRatios(results_of({("a", "random"): random, ("a", "made"): made})).on("a", "made")
    assert found is not None
    a, b = made.whole(ERROR).mean(axis=1), random.whole(ERROR).mean(axis=1)
    relative = np.sqrt(a.var(ddof=1) / len(a) / a.mean() ** 2 + b.var(ddof=1) / len(b) / b.mean() ** 2)
    assert float(np.std(found.draws)) == pytest.approx(found.value * relative, rel=0.2)
    around = found.range()
    assert around.low < 0.8 < around.high


def test_budgets_are_those_of_both() -> None:
    random = runs_of([[0.4, 0.2], [0.4, 0.2]], measure=ERROR)
    late = runs_of([[0.1], [0.1]], shares=[0.2], measure=ERROR)
    found = ErrorRatios(results_of({("a", "random"): random, ("a", "late"): late})).on("a", "late")
    assert found is not None
    assert found.value == pytest.approx(0.5)


def test_random_against_itself_is_one_and_what_is_missing_is_left_out() -> None:
    blank = runs_of(np.full((2, 2), np.nan), measure=ERROR)
    runs = {("a", "random"): errors(1.0, 5, 0), ("b", "random"): errors(1.0, 5, 0), ("a", "blank"): blank}
    ratios = ErrorRatios(results_of(runs))
    assert {name: one.value for name, one in ratios.over("random").items()} == {"a": 1.0, "b": 1.0}
    assert ratios.over("blank") == {}
    exact = {("a", "random"): runs_of([[0.0, 0.0]], measure=ERROR), ("a", "made"): errors(1.0, 5, 0)}
    assert ErrorRatios(results_of(exact)).on("a", "made") is None
