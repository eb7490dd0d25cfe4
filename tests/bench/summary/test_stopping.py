"""Labels to stop, at a matched error."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.bench.summary.results import Results
from sparingly.bench.summary.stopping import stopped_on
from tests.bench.summary.arrays import results_of, runs_of

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
    assert found.share == pytest.approx(0.1)
    assert found.accuracy == pytest.approx(0.85)
    # Random reaches 0.85 between 30 and 40 % of 1000 labels.
    assert found.matched == pytest.approx(200.0 / 350.0)


def test_a_rule_that_never_ends_is_not_judged() -> None:
    values = [[0.5, 0.6, 0.7, 0.8]]
    assert stopped_on(table([[NONE] * 4], values), "a", "rule") is None
    assert stopped_on(table([[NONE] * 4], values), "a", "nobody") is None


def test_without_random_nothing_is_matched() -> None:
    alone = results_of({("a", "rule"): runs_of([[0.5, 0.6]], stopped_at=[[50.0, 50.0]])})
    found = stopped_on(alone, "a", "rule")
    assert found is not None
    assert np.isnan(found.matched)
    assert np.isnan(found.labels.error)
