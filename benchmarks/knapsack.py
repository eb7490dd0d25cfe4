"""How far selections under a budget of cost fall short of the best ones, next to the solver HiGHS.

Run ``.venv/bin/python -m benchmarks.knapsack`` (a minute; ``--seconds`` is what HiGHS has for each problem).
Costs are seconds of reading; utilities have nothing to do with them, follow them, or fall with them.
"""

from __future__ import annotations

import argparse
import time

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.choose.design import knapsack

SIZES = (100, 240, 1_000)
CORRELATIONS = (0.0, 0.6, 0.95, -0.6)
REPEATS = 5


def problem(size: int, correlation: float, seed: int) -> tuple[Floats, Floats, float]:
    """Return values, costs and a budget: 5 to 50 % of everything."""
    draw = np.random.default_rng([size, seed, round(100 * correlation) + 100])
    words = draw.lognormal(3.0, 0.6, size)
    costs = 33.7 + 0.15 * 6 * words
    standard = (np.log(words) - 3.0) / 0.6
    noise = np.sqrt(1 - correlation**2) * draw.normal(size=size)
    values = knapsack.rescale(correlation * standard + noise)
    return values, costs, float(draw.uniform(0.05, 0.5) * costs.sum())


def solver_value(values: Floats, costs: Floats, budget: float, seconds: float) -> float:
    """Return the value of what HiGHS finds in so many seconds."""
    from scipy.optimize import Bounds, LinearConstraint, milp

    result = milp(
        -values,
        constraints=LinearConstraint(costs[None], -np.inf, budget),
        integrality=np.ones(len(values), np.int64),
        bounds=Bounds(0, 1),
        options={"time_limit": seconds, "mip_rel_gap": 0.0},
    )
    return 0.0 if result.x is None else float(values[result.x > 0.5].sum())


def main() -> None:
    """Print shortfalls against the better of the two answers, and what the own bound leaves open."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seconds", type=float, default=5.0)
    seconds = parser.parse_args().seconds
    print("items  problems  mean short  most short  most by bound  HiGHS most short  ms, mean  ms, most")
    for size in SIZES:
        rows = []
        for correlation in CORRELATIONS:
            for seed in range(REPEATS):
                values, costs, budget = problem(size, correlation, seed)
                start = time.perf_counter()
                result = knapsack.solve(values, costs, budget)
                took = 1_000 * (time.perf_counter() - start)
                other = solver_value(values, costs, budget, seconds)
                best = max(result.value, other)
                rows.append(
                    (1 - result.value / best, result.bound / result.value - 1, 1 - other / best, took)
                )
        short, gaps, other_short, times = np.array(rows).T
        print(
            f"{size:5}  {len(rows):8}  {short.mean():10.1e}  {short.max():10.1e}  {gaps.max():13.1e}  "
            f"{other_short.max():16.1e}  {times.mean():8.1f}  {times.max():8.1f}"
        )
    for correlation in CORRELATIONS:
        values, costs, budget = problem(10_000, correlation, 0)
        start = time.perf_counter()
        result = knapsack.solve(values, costs, budget)
        took = 1_000 * (time.perf_counter() - start)
        gap = result.bound / result.value - 1
        print(f"10,000 items, correlation {correlation:5}: {took:.1f} ms, at most {gap:.1e} short")


if __name__ == "__main__":
    main()
