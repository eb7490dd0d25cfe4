"""Parity over a table: random is worth itself whatever its noise, and intervals hold what they should."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.leaderboard.parity import Parities
from benchmarks.leaderboard.results import Runs
from sparingly.base.arrays import Floats
from tests.benchmarks.leaderboard.arrays import results_of, runs_of

pytestmark = pytest.mark.statistics

SHARES = np.linspace(0.05, 0.5, 10)
TABLES = 100
NOISE = 0.02


def drawn(needs: float, seeds: int, generator: np.random.Generator) -> Runs:
    """Runs whose budgets share half of their noise, which ends with the full set."""
    mean = 1.0 - 0.06 * (np.minimum(SHARES / needs, 1.0) ** -0.4 - 1.0)
    common, own = generator.normal(size=(seeds, 1)), generator.normal(size=(seeds, len(SHARES)))
    noise = NOISE * (common + own) / np.sqrt(2.0) * (1.0 - SHARES)
    return runs_of(np.clip(mean + noise, 0.0, 1.0), SHARES)


def parities(needs: float, seeds: int) -> tuple[Floats, Floats]:
    """The parities of many tables, and whether their intervals hold what the entry needs."""
    shares, holds = [], []
    for table in range(TABLES):
        generator = np.random.default_rng([table, seeds])
        runs = {("a", "random"): drawn(1.0, 100, generator), ("a", "made"): drawn(needs, seeds, generator)}
        found = Parities(results_of(runs)).on("a", "made")
        assert found is not None
        around = found.ratio.range()
        shares.append(around.value)
        holds.append(around.low <= needs <= around.high)
    return np.array(shares), np.array(holds, float)


@pytest.mark.parametrize("seeds", [1, 10])
def test_random_runs_need_what_random_needs(seeds: int) -> None:
    shares, _ = parities(1.0, seeds)
    error = float(shares.std(ddof=1) / np.sqrt(TABLES))
    assert shares.mean() == pytest.approx(1.0, abs=3.0 * error + 0.01)


@pytest.mark.parametrize("needs", [0.7, 1.2])
def test_intervals_hold_what_an_entry_needs(needs: float) -> None:
    shares, holds = parities(needs, 10)
    assert shares.mean() == pytest.approx(needs, abs=0.04)
    # Three standard errors of a binomial rate of 95 % below it.
    assert holds.mean() >= 0.95 - 3.0 * np.sqrt(0.95 * 0.05 / TABLES)
