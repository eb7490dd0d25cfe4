"""Every draw and every probability design takes each unit as often as its inclusion probability says."""

from __future__ import annotations

from collections.abc import Callable
from statistics import NormalDist

import numpy as np
import pytest
from numpy.typing import NDArray

import sparingly
from sparingly.base.arrays import Floats, Mask
from sparingly.choose.design.draws import draw_cube, draw_local_pivotal, draw_pivotal, draw_systematic
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.data.evalset import EvalSet

pytestmark = pytest.mark.statistics
ERROR = 1e-3  # of a whole test, whatever the number of its units
UNITS, TAKEN = 40, 10
Draw = Callable[[np.random.Generator], Mask]

_SET = np.random.default_rng(12)
CHANCES = inclusion_probabilities(_SET.gamma(1.0, size=UNITS), TAKEN, tau=0.8)
POINTS, COSTS = _SET.normal(size=(UNITS, 3)), _SET.gamma(2.0, size=UNITS)
ORDER = np.argsort(POINTS[:, 0])

DRAWS: dict[str, tuple[int, Draw]] = {
    "systematic, shuffled": (6000, lambda g: draw_systematic(CHANCES, g)),
    "systematic, sorted": (6000, lambda g: draw_systematic(CHANCES, g, ORDER)),
    "pivotal, shuffled": (6000, lambda g: draw_pivotal(CHANCES, g)),
    "pivotal, sorted": (6000, lambda g: draw_pivotal(CHANCES, g, ORDER)),
    "local pivotal": (600, lambda g: draw_local_pivotal(CHANCES, POINTS, g)),
    "local pivotal on a grid": (600, lambda g: draw_local_pivotal(CHANCES, np.round(POINTS), g)),
    "local pivotal with costs": (500, lambda g: draw_local_pivotal(CHANCES, POINTS, g, COSTS)),
    "cube": (600, lambda g: draw_cube(CHANCES, POINTS, g)),
    "cube with costs": (500, lambda g: draw_cube(CHANCES, POINTS, g, COSTS)),
}


def assert_frequencies(counts: Floats, chances: Floats, runs: int) -> None:
    """Compare how often units were taken with their probabilities: a z-test each, with Bonferroni's level."""
    open_units = chances < 1 - 1e-9
    assert (counts[~open_units] == runs).all()
    error = np.sqrt(runs * chances * (1 - chances))[open_units]
    worst = NormalDist().inv_cdf(1 - ERROR / 2 / len(chances))
    assert np.abs((counts - runs * chances)[open_units] / error).max() < worst


@pytest.mark.parametrize("name", DRAWS)
def test_draws_take_each_unit_as_often_as_they_should(name: str) -> None:
    runs, draw = DRAWS[name]
    generator, counts = np.random.default_rng(7), np.zeros(UNITS)
    for _ in range(runs):
        taken = draw(generator)
        assert taken.sum() == TAKEN
        counts += taken
    assert_frequencies(counts, CHANCES, runs)


def test_a_wrong_draw_is_noticed() -> None:
    # One that is a little too fond of its first unit.
    generator, runs = np.random.default_rng(7), 6000
    counts = sum(draw_pivotal(CHANCES, generator) for _ in range(runs)) + np.zeros(UNITS)
    counts[0] += 0.03 * runs
    with pytest.raises(AssertionError):
        assert_frequencies(counts, CHANCES, runs)


# --- designs ------------------------------------------------------------------------------------------

ITEMS = 48


def made() -> EvalSet:
    drawn = np.random.default_rng(4)
    sizes = [1, 2, 3, 4, 5, 6, 7, 8, 4, 8]
    return EvalSet.from_arrays(
        [f"i{place:02d}" for place in range(ITEMS)],
        ["x", "y", "z"],
        metrics={"m": drawn.gamma(1.0, size=(ITEMS, 3))},
        columns={
            "document": [f"d{number}" for number, size in enumerate(sizes) for _ in range(size)],
            "domain": ["news", "social", "speech"] * (ITEMS // 3),
            "cost": np.ceil(drawn.gamma(2.0, size=ITEMS) * 3).tolist(),
        },
    )


DESIGNS: dict[str, tuple[int, int | str]] = {
    "uniform": (600, 12),
    "uniform:unit=document": (600, 24),
    "uniform:cost=cost": (600, "cost:80"),
    "systematic:order=m": (600, 12),
    "pivotal:utility=(metric_var)": (600, 12),
    "pivotal:utility=(metric_var),unit=document,tau=0.8": (600, 24),
    "pivotal:utility=(metric_avg),cost=cost": (600, "cost:80"),
    "local_pivotal:utility=(metric_var)": (300, 12),
    "cube:utility=(metric_var)": (300, 12),
    "cube:unit=document,cost=cost": (300, "cost:150"),
}


@pytest.mark.parametrize("text", DESIGNS)
def test_designs_take_each_item_as_often_as_they_say(text: str) -> None:
    (runs, budget), data = DESIGNS[text], made()
    counts, claimed = np.zeros(ITEMS), np.full(ITEMS, np.nan)
    spent: list[float] = []
    for seed in range(runs):
        chosen = sparingly.select(data, text, budget, seed=seed)
        rows = data.positions(chosen.items)
        assert chosen.probability is not None
        known = ~np.isnan(claimed[rows])
        np.testing.assert_array_equal(claimed[rows][known], chosen.probability[known])
        counts[rows] += 1
        claimed[rows] = chosen.probability
        spent.append(chosen.total_cost or float(len(chosen)))
    assert not np.isnan(claimed).any(), "every item has a chance"
    assert_frequencies(counts, claimed, runs)
    limit = float(str(budget).removeprefix("cost:"))
    assert max(spent) <= limit
    assert np.mean(spent) > 0.6 * limit


# --- what balanced and spread draws are for -----------------------------------------------------------


def test_balanced_totals_are_those_of_the_set() -> None:
    generator = np.random.default_rng(3)
    chances = inclusion_probabilities(generator.gamma(3.0, size=3000), 300, tau=0.5)
    variables = generator.gamma(2.0, size=(3000, 6))

    def miss(taken: Mask) -> Floats:
        return np.asarray((variables[taken] / chances[taken, None]).sum(axis=0) / variables.sum(axis=0) - 1)

    balanced = np.array([miss(draw_cube(chances, variables, generator)) for _ in range(20)])
    plain = np.array([miss(draw_pivotal(chances, generator)) for _ in range(20)])
    assert np.sqrt((balanced**2).mean()) < 0.01
    assert np.sqrt((balanced**2).mean()) < 0.2 * np.sqrt((plain**2).mean())


def voronoi(points: Floats, chances: Floats, taken: Mask) -> float:
    """Return how unevenly the taken units divide the others among them (Stevens and Olsen 2004)."""
    gaps: NDArray[np.float64] = np.linalg.norm(points[:, None] - points[taken][None], axis=2)
    return float(np.var(np.bincount(gaps.argmin(axis=1), chances, minlength=int(taken.sum()))))


def test_local_draws_are_spread_better() -> None:
    generator = np.random.default_rng(5)
    points = generator.normal(size=(400, 2))
    chances = inclusion_probabilities(generator.gamma(3.0, size=400), 40, tau=0.5)
    local = [voronoi(points, chances, draw_local_pivotal(chances, points, generator)) for _ in range(30)]
    plain = [voronoi(points, chances, draw_pivotal(chances, generator)) for _ in range(30)]
    assert np.mean(local) < 0.5 * np.mean(plain)


def test_spread_and_balanced_draws_estimate_a_smooth_score_better() -> None:
    generator = np.random.default_rng(8)
    points = generator.normal(size=(400, 2))
    score = points[:, 0] + np.sin(2 * points[:, 1]) + 0.2 * generator.normal(size=400)
    chances = np.full(400, 0.1)
    draws: dict[str, Callable[[], Mask]] = {
        "pivotal": lambda: draw_pivotal(chances, generator),
        "local": lambda: draw_local_pivotal(chances, points, generator),
        "cube": lambda: draw_cube(chances, points, generator),
    }
    errors = {
        name: np.array([score[draw()].mean() - score.mean() for _ in range(80)])
        for name, draw in draws.items()
    }
    for found in errors.values():
        assert abs(found.mean()) < 4 * found.std() / np.sqrt(len(found)), "unbiased"
    assert errors["local"].std() < 0.6 * errors["pivotal"].std()
    assert errors["cube"].std() < 0.75 * errors["pivotal"].std()
