"""Critical values of several looks: against simulation, one look, and published values."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from sparingly.base.errors import UsageError
from sparingly.run.rounds.stop.sequential import (
    Spending,
    anytime,
    group_sequential,
    spent_by,
    with_freedom,
)


def boundary(clock: list[float], information: list[float], alpha: float, spending: Spending) -> list[float]:
    return [
        group_sequential(tuple(clock[:count]), tuple(information[:count]), alpha, spending)
        for count in range(1, len(clock) + 1)
    ]


@pytest.mark.parametrize("spending", ["obrien_fleming", "even"])
def test_the_error_of_all_looks_is_what_is_spent(spending: Spending) -> None:
    clock = [0.2, 0.35, 0.6, 0.8, 1.0]
    # Information need not grow as the clock does.
    information = [0.1, 0.5, 1.0, 3.0, 9.0]
    critical = boundary(clock, information, 0.05, spending)
    draw = np.random.default_rng(1).standard_normal((400_000, 5))
    steps = np.sqrt(np.diff([0.0, *information]))
    walk = np.cumsum(draw * steps, axis=1) / np.sqrt(information)
    crossed = (np.abs(walk) > critical).cumsum(axis=1) > 0
    expected = [spent_by(share, 0.05, spending) for share in clock]
    np.testing.assert_allclose(crossed.mean(axis=0), expected, atol=0.0015)
    assert expected[-1] == pytest.approx(0.05)


def test_one_look_is_the_usual_test() -> None:
    assert group_sequential((1.0,), (7.0,), 0.05) == pytest.approx(stats.norm.isf(0.025))


def test_evenly_spent_error_gives_the_published_values() -> None:
    # Jennison and Turnbull 2000, table 7.3 (ρ = 1), five equal looks at 5 %.
    shares = [0.2, 0.4, 0.6, 0.8, 1.0]
    found = boundary(shares, shares, 0.05, "even")
    assert found == pytest.approx([2.576, 2.490, 2.411, 2.343, 2.284], abs=0.02)


def test_information_without_growth_and_a_clock_that_stands_still() -> None:
    assert group_sequential((0.5, 0.5), (1.0, 1.0), 0.05) == math.inf
    assert math.isfinite(group_sequential((0.5, 0.8), (1.0, 1.0), 0.05))


@given(st.floats(0.01, 1.0), st.floats(1e-6, 0.2))
def test_a_look_on_the_way_costs_something(share: float, alpha: float) -> None:
    last = group_sequential((share * 0.99, 1.0), (share * 0.99, 1.0), alpha)
    assert last >= stats.norm.isf(alpha / 2) - 1e-6


def test_the_sequence_holds_at_every_look() -> None:
    draw = np.random.default_rng(2).standard_normal((4_000, 400))
    places = np.arange(1, 401)
    walk = np.cumsum(draw, axis=1) / np.sqrt(places)
    limits = np.array([anytime(count / 100, 0.1) for count in places])
    assert (np.abs(walk) > limits).any(axis=1).mean() < 0.1
    assert anytime(1.0, 0.1) < min(anytime(0.05, 0.1), anytime(20.0, 0.1))


def test_few_degrees_of_freedom_ask_for_more() -> None:
    assert with_freedom(1.959964, 10) == pytest.approx(stats.t.isf(0.025, 10), abs=1e-5)
    assert with_freedom(2.0, math.inf) == 2.0
    assert with_freedom(math.inf, 5.0) == math.inf


@pytest.mark.parametrize("alpha", [0.0, 1.0])
def test_rates_that_are_none_are_refused(alpha: float) -> None:
    with pytest.raises(UsageError):
        group_sequential((1.0,), (1.0,), alpha)
    with pytest.raises(UsageError):
        anytime(1.0, alpha)
    with pytest.raises(UsageError):
        group_sequential((), (), 0.05)
