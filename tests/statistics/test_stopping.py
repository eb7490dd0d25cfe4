"""Stops make no more wrong claims than they say; looking often without care, and the heuristic, make more."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.stopping import (
    ALPHA,
    CASES,
    VALID,
    Cell,
    Rule,
    Stop,
    cells,
    errs,
    heuristic_errs,
    looks_of,
    made,
    wrong_claims,
)
from sparingly.base.arrays import Floats
from sparingly.run.rounds.stop.base import information
from sparingly.run.rounds.stop.sequential import Look, Valid, critical_value, no_settled_pairs, settle_next

RUNS = 600


@pytest.mark.statistics
@pytest.mark.parametrize(("stop", "models"), CASES)
@pytest.mark.parametrize("rule", VALID[:3])
def test_error_rates_hold(stop: Stop, models: int, rule: Rule) -> None:
    for cell in cells():
        if (cell.stop, cell.models, cell.looks) == (stop, models, 5):
            # 5 % and 3 standard errors of 600 runs.
            limit = ALPHA + 3.0 * np.sqrt(ALPHA * (1 - ALPHA) / RUNS)
            assert wrong_claims(cell, rule, range(RUNS)).mean() <= limit, cell


@pytest.mark.statistics
@pytest.mark.parametrize("cell", cells()[::5], ids=str)
@pytest.mark.parametrize("rule", ["group_sequential", "fixed"])
def test_the_simulation_follows_the_stops(cell: Cell, rule: Rule) -> None:
    seeds = range(40)
    assert wrong_claims(cell, rule, seeds).tolist() == [errs(cell, rule, seed) for seed in seeds]


@pytest.mark.statistics
def test_looking_often_without_care_errs() -> None:
    assert wrong_claims(Cell("all", 2, 10, "normal"), "every look", range(RUNS)).mean() > 0.15


@pytest.mark.statistics
def test_the_heuristic_errs_more_than_it_says() -> None:
    assert np.mean([heuristic_errs(0.1, seed) for seed in range(200)]) > 0.3


def looks_at_a_set(scores: Floats, looks: int) -> list[Look]:
    """Return the looks at a uniform sample that grows to the whole set, over this very set."""
    size = len(scores)
    found = []
    for count in np.linspace(size // looks, size, looks).astype(int):
        covariance = np.cov(scores[:count].T) * (1.0 / count - 1.0 / size)
        known = np.full(scores.shape[1], count == size)
        told = information(int(count), size, "set")
        found.append(
            Look(scores[:count].mean(axis=0), covariance, count - 1.0, count / size, told, float(size), known)
        )
    return found


@pytest.mark.statistics
@pytest.mark.parametrize("rule", ["group_sequential", "anytime"])
def test_pairs_of_a_set_are_seldom_put_in_the_wrong_order(rule: Valid) -> None:
    """Five models that differ a little: a pair in the wrong order of the whole set is an error."""
    wrong = []
    for seed in range(150):
        draw = np.random.default_rng([seed, 5])
        hard, own = draw.exponential(size=(200, 1)), draw.exponential(size=(200, 5))
        scores = np.linspace(0.0, 0.2, 5) - hard - own
        found, looks = no_settled_pairs(5, ALPHA), looks_at_a_set(scores, 10)
        for count in range(1, len(looks) + 1):
            found = settle_next(found, looks[:count], ALPHA, rule, "order")
        whole = scores.mean(axis=0)
        wrong.append((found.above & (whole[:, None] < whole)).any())
        assert not found.open.any()
    # 5 % and 3.5 standard errors of 150 runs.
    assert np.mean(wrong) <= ALPHA + 3.5 * np.sqrt(ALPHA * (1 - ALPHA) / 150)


@pytest.mark.statistics
@pytest.mark.parametrize("rule", ["group_sequential", "anytime"])
def test_an_interval_that_is_narrow_enough_holds(rule: Valid) -> None:
    missed = []
    for seed in range(300):
        cell = Cell("all", 2, 10, "normal")
        looks = looks_of(made(cell, np.random.default_rng([seed, 7]))[0], 10)
        for count in range(1, 11):
            half = critical_value(looks[:count], ALPHA, rule) * np.sqrt(looks[count - 1].covariance[0, 0])
            if 2.0 * half <= 0.7 or count == 10:
                missed.append(abs(looks[count - 1].scores[0]) > half)
                break
    # 5 % and 3.5 standard errors of 300 runs.
    assert np.mean(missed) <= ALPHA + 3.5 * np.sqrt(ALPHA * (1 - ALPHA) / 300)
