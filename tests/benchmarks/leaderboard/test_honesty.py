"""Coverage, widths, wrong signs and bias."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from benchmarks.leaderboard.scores import clustered_rate, honesty, plain_means
from tests.benchmarks.leaderboard.arrays import entry_info, results_of, runs_of


def test_runs_of_one_trial_have_wilsons_interval() -> None:
    won = np.array([1.0] * 37 + [0.0] * 3)
    found = clustered_rate(won, np.ones(40))
    assert found is not None
    expected = stats.binomtest(37, 40).proportion_ci(method="wilson")
    assert found.rate.value == pytest.approx(37 / 40)
    # G/(G−1) makes the variance of 40 single trials a 39th larger.
    assert found.rate.low == pytest.approx(expected.low, abs=3e-3)
    assert found.rate.high == pytest.approx(expected.high, abs=3e-3)


def test_trials_of_one_run_that_agree_count_once() -> None:
    won, alike = np.array([1.0] * 18 + [0.0] * 2), np.full(20, 10.0)
    single, clustered = clustered_rate(won, np.ones(20)), clustered_rate(10.0 * won, alike)
    assert single is not None
    assert clustered is not None
    assert clustered.rate.low == pytest.approx(single.rate.low)
    assert (clustered.trials, clustered.runs) == (200, 20)


def test_independent_trials_narrow_the_interval() -> None:
    generator = np.random.default_rng(0)
    won = generator.binomial(50, 0.95, 40).astype(float)
    found = clustered_rate(won, np.full(40, 50.0))
    assert found is not None
    binomial = np.sqrt(0.95 * 0.05 / 2000)
    assert found.rate.high - found.rate.low == pytest.approx(2 * 1.96 * binomial, rel=0.35)


def test_a_rate_of_one_stands_on_its_runs() -> None:
    found = clustered_rate(np.full(10, 30.0), np.full(10, 30.0))
    assert found is not None
    assert found.rate.high == 1.0
    assert found.rate.low == pytest.approx(stats.binomtest(10, 10).proportion_ci(method="wilson").low)
    assert clustered_rate(np.zeros(3), np.zeros(3)) is None


def made(covered: float, width: float) -> dict[str, Any]:
    return {"intervals": 10.0, "covered": covered, "width": width, "significant": 20.0, "wrong_sign": 1.0}


def test_what_can_be_trusted_of_an_entry() -> None:
    accuracies = np.full((3, 2), 0.8)
    plain = entry_info("random|mean", "random", "mean")
    runs = {
        ("a", "random|mean"): runs_of(accuracies, **made(9.5, 0.4), bias=0.0),
        ("b", "random|mean"): runs_of(accuracies, **made(9.5, 0.2), bias=0.0),
        ("a", "made"): runs_of(accuracies, **made(9.0, 0.3), bias=[[0.1], [0.2], [0.3]]),
        ("b", "made"): runs_of(accuracies, **made(10.0, 0.2), bias=-0.1),
        ("c", "made"): runs_of(accuracies, **made(0.0, 9.0)),
    }
    results = results_of(runs, infos=(plain,), apart=("c",))
    found = honesty(results, "made")
    assert plain_means(results) == "random|mean"
    assert found.coverage is not None
    assert found.coverage.rate.value == pytest.approx(0.95)
    assert found.coverage.trials == 120
    assert found.lowest is not None
    assert found.lowest[0] == "a"
    assert found.lowest[1].rate.value == pytest.approx(0.9)
    assert found.width.value == pytest.approx((0.75 + 1.0) / 2)
    assert found.wrong_sign is not None
    assert found.wrong_sign.rate.value == pytest.approx(0.05)
    assert found.bias.value == pytest.approx((0.2 - 0.1) / 2)
    assert found.bias.low < found.bias.value < found.bias.high


def test_an_entry_that_prints_nothing_is_not_judged() -> None:
    found = honesty(results_of({("a", "list"): runs_of(np.full((2, 2), 0.8))}), "list")
    assert found.coverage is None
    assert found.lowest is None
    assert found.wrong_sign is None
    assert np.isnan(found.width.value)
    assert np.isnan(found.bias.value)
    assert honesty(results_of({("a", "list"): runs_of([0.8, 0.9])}), "nobody").coverage is None


def test_relative_widths_have_the_interval_of_their_seeds() -> None:
    generator = np.random.default_rng(0)
    accuracies = np.full((40, 2), 0.8)
    plain, own = generator.normal(0.4, 0.04, (40, 1)), generator.normal(0.3, 0.03, (40, 1))
    plain_info = entry_info("random|mean", "random", "mean")
    runs = {
        ("a", "random|mean"): runs_of(accuracies, **{**made(9.5, 0.4), "width": plain}),
        ("a", "made"): runs_of(accuracies, **{**made(9.5, 0.4), "width": own}),
    }
    results = results_of(runs, infos=(plain_info,))
    found = honesty(results, "made").width
    assert found.value == pytest.approx(own.mean() / plain.mean())
    # Both means have an error of 10 % / √40.
    assert np.log(found.high / found.value) == pytest.approx(2.02 * 0.1 * np.sqrt(2 / 40), rel=0.3)
    assert honesty(results, "random|mean").width.value == 1.0
