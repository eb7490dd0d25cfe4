"""Labels to stop, at a matched error."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from benchmarks.leaderboard.results import Results
from benchmarks.leaderboard.scores import stopped_on, stops_over
from tests.benchmarks.leaderboard.arrays import entry_info, results_of, runs_of

SHARES = [0.1, 0.2, 0.3, 0.4]
RANDOM = runs_of(np.tile([0.6, 0.7, 0.8, 0.9], (3, 1)), SHARES)
NONE = np.nan


def table(ends: list[list[float]], values: list[list[float]]) -> Results:
    return results_of({("a", "random"): RANDOM, ("a", "rule"): runs_of(values, SHARES, stopped_at=ends)})


def test_a_rule_is_judged_where_it_first_ended() -> None:
    values = [[0.6, 0.8, 0.8, 0.8], [0.5, 0.7, 0.9, 0.9], [0.5, 0.6, 0.7, 0.8]]
    found = stopped_on(
        table([[NONE, 150, 150, 150], [NONE, NONE, 250, 250], [NONE] * 4], values), "a", "rule"
    )
    assert found is not None
    assert found.ended == pytest.approx(2 / 3)
    assert found.labels.value == 200.0
    assert found.labels.error == pytest.approx(50.0)
    assert found.share.value == pytest.approx(0.1)
    assert found.accuracy.value == pytest.approx(0.85)
    # Random reaches 0.85 between 30 and 40 % of 2000 labels.
    assert found.matched.value == pytest.approx(200.0 / 700.0)


def test_a_rule_that_never_ends_is_not_judged() -> None:
    values = [[0.5, 0.6, 0.7, 0.8]]
    assert stopped_on(table([[NONE] * 4], values), "a", "rule") is None
    assert stopped_on(table([[NONE] * 4], values), "a", "nobody") is None


def test_without_random_nothing_is_matched() -> None:
    alone = results_of({("a", "rule"): runs_of([[0.5, 0.6]], stopped_at=[[50.0, 50.0]])})
    found = stopped_on(alone, "a", "rule")
    assert found is not None
    assert np.isnan(found.matched.value)
    assert np.isnan(found.labels.error)


@pytest.mark.parametrize("place", range(4))
def test_a_rule_that_ends_where_random_is_as_accurate_saves_nothing(place: int) -> None:
    """Random has budgets below those that means are taken over: they belong to its curve, too."""
    shares = [0.02, 0.035, *SHARES]
    curve = [0.3, 0.4, 0.6, 0.7, 0.8, 0.9]
    labels = 2000 * SHARES[place]
    rule = runs_of(
        np.tile(curve[2:], (3, 1)), SHARES, stopped_at=[[NONE] * place + [labels] * (4 - place)] * 3
    )
    runs = {("a", "random"): runs_of(np.tile(curve, (3, 1)), shares), ("a", "rule"): rule}
    found = stopped_on(results_of(runs), "a", "rule")
    assert found is not None
    assert found.matched.value == pytest.approx(1.0)


def test_labels_at_a_matched_error_have_an_interval() -> None:
    generator = np.random.default_rng(1)
    random = runs_of(np.array([0.6, 0.7, 0.8, 0.9]) + generator.normal(0.0, 0.02, (40, 1)), SHARES)
    ends = generator.normal(200.0, 20.0, (10, 1)) + np.zeros(4)
    rule = runs_of(0.8 + generator.normal(0.0, 0.02, (10, 1)) + np.zeros(4), SHARES, stopped_at=ends)
    found = stopped_on(results_of({("a", "random"): random, ("a", "rule"): rule}), "a", "rule")
    assert found is not None
    around = found.matched.range()
    assert around.low < 200.0 / 600.0 < around.high
    # The errors of labels, of the accuracy at the end and of random's curve, as shares of 600 labels.
    error = np.sqrt((20.0 / 200.0) ** 2 / 10 + (0.02 * 2000.0 / 600.0) ** 2 * (1 / 10 + 1 / 40))
    assert np.log(around.high / around.value) == pytest.approx(2.26 * error, rel=0.35)


def test_over_sets_the_rule_is_judged_where_it_ended() -> None:
    ended, never = [[NONE, 200, 200, 200]] * 2, [[NONE] * 4] * 2
    values = [[0.6, 0.8, 0.8, 0.8]] * 2
    runs = {(name, "random"): RANDOM for name in "abc"}
    for name, ends in (("a", ended), ("b", never), ("c", ended)):
        runs[name, "rule"] = runs_of(values, SHARES, stopped_at=ends)
    stop = replace(entry_info("rule"), stop="best_settled")
    results = results_of(runs, infos=(stop,), apart=("c",))
    found = stops_over(results, "rule")
    assert found is not None
    assert (found.ended.rate.value, found.ended.runs) == (0.5, 4)
    assert found.share.value == pytest.approx(0.1)
    assert found.accuracy.value == pytest.approx(0.8)
    assert found.matched.value == pytest.approx(200.0 / 600.0)
    assert stops_over(results, "random") is None


def test_a_rule_that_never_ended_is_told_of() -> None:
    runs = {("a", "random"): RANDOM, ("a", "rule"): runs_of([[0.5] * 4] * 2, SHARES)}
    stop = replace(entry_info("rule"), stop="best_settled")
    found = stops_over(results_of(runs, infos=(stop,)), "rule")
    assert found is not None
    assert found.ended.rate.value == 0.0
    assert np.isnan(found.share.value)
    assert np.isnan(found.matched.value)
