"""How often intervals for proportions hold the truth, and how wide they are.

``exact``: every number of successes with its chance, at 2,000 rates and beside every end, where coverage
jumps; widths beside Wilson's. ``finite``: every number of successes in sets of 50 to 1,000 items.
``judge``: simulated draws of a finite set with a judge's verdicts on all items and the regression
estimate of infer/estimate; judges that are right equally often about passes and fails (on which
LABELS_WITHOUT_GAIN was chosen), and lenient ones (left out of the choice). Run ``.venv/bin/python
benchmarks/proportions.py``: minutes on one core.
"""

from __future__ import annotations

import argparse
from datetime import date

import numpy as np
from scipy.stats import binom, hypergeom, norm

from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.proportion import (
    effective_proportion_interval,
    proportion_interval,
)

LABELS = (10, 12, 14, 16, 20, 30, 50, 100, 200)
RATES = (0.5, 0.7, 0.8, 0.9, 0.95, 0.98, 0.99)


def wilson_width(n: float) -> float:
    """Return the mean width of Wilson's interval over all numbers of successes."""
    p, z = np.arange(round(n) + 1) / round(n), float(norm.isf(0.025))
    return float((2 * z / (1 + z * z / n) * np.sqrt(p * (1 - p) / n + z * z / (4 * n * n))).mean())


def exact(n: int) -> tuple[float, float, float]:
    """Return mean and least coverage of n labels from a population, and the width in Wilson's."""
    low, high = proportion_interval(np.arange(n + 1), n)
    ends = np.concatenate([low[1:], high[:-1]])

    def held(p: Floats) -> Floats:
        chance = binom.pmf(np.arange(n + 1)[:, None], n, p)
        return np.asarray((chance * ((low[:, None] <= p) & (p <= high[:, None]))).sum(0))

    grid = held((np.arange(2000) + 0.5) / 2000)
    beside = held(np.concatenate([ends - 1e-10, ends + 1e-10]))
    return grid.mean(), min(grid.min(), beside.min()), (high - low).mean() / wilson_width(n)


def finite(n: int, size: int) -> tuple[float, float]:
    """Return mean and least coverage of n labels of a set, over every number of successes in it."""
    low, high = proportion_interval(np.arange(n + 1), n, size)
    truth = np.arange(size + 1)
    chance, rate = hypergeom.pmf(np.arange(n + 1)[:, None], size, truth, n), truth / size
    held = (chance * ((low[:, None] <= rate + 1e-12) & (rate <= high[:, None] + 1e-12))).sum(0)
    return held.mean(), held.min()


def drawn(tables: Ints, n: int, draw: np.random.Generator) -> Ints:
    """Return n items drawn without replacement from tables of label and verdict, one draw a table."""
    sample, left, rest = np.zeros_like(tables), np.full(len(tables), n), tables.sum(1)
    for cell in range(3):
        rest = rest - tables[:, cell]
        sample[:, cell] = draw.hypergeometric(tables[:, cell], rest, left)
        left = left - sample[:, cell]
    sample[:, 3] = left
    return sample


def judge(size: int, n: int, p: float, right: tuple[float, float], runs: int) -> tuple[float, float]:
    """Return coverage with a judge, and the width in that of the labels alone."""
    draw = np.random.default_rng([size, n, round(100 * p), round(100 * right[0]), round(100 * right[1])])
    passes = round(p * size)
    both, neither = draw.binomial(passes, right[0], runs), draw.binomial(size - passes, right[1], runs)
    tables = np.stack([both, passes - both, size - passes - neither, neither], 1)
    share = drawn(tables, n, draw) / n
    y, j = share[:, 0] + share[:, 1], share[:, 0] + share[:, 2]
    covariance, spread = share[:, 0] - y * j, j * (1 - j)
    slope = np.divide(covariance, spread, out=np.zeros(runs), where=spread > 0)
    fit = np.divide(slope * covariance, y * (1 - y), out=np.zeros(runs), where=covariance != 0)
    slope *= np.divide(np.maximum(fit - 1 / (n - 2), 0), fit, out=np.zeros(runs), where=fit > 0)
    residual = np.maximum(y * (1 - y) - 2 * slope * covariance + slope**2 * spread, 0)
    error = np.sqrt(residual / (n - 1 - (slope != 0)) * (1 - n / size))
    estimate = y + slope * ((tables[:, 0] + tables[:, 2]) / size - j)
    low, high = effective_proportion_interval(estimate, error, n, size, share=y)
    plain_low, plain_high = proportion_interval(np.round(y * n), n, size)
    held = (low <= passes / size + 1e-12) & (passes / size <= high + 1e-12)
    return held.mean(), (high - low).mean() / (plain_high - plain_low).mean()


def judges(lenient: bool, runs: int) -> None:
    """Print mean and least coverage over sets, labels and rates, and mean widths, by the judge."""
    kind = "lenient" if lenient else "even"
    print(f"\njudge {kind}, {runs} runs a cell: mean and least coverage, widths at n = 30 and 100")
    for right in (0.7, 0.8, 0.9, 0.95):
        pair = (min(right + 0.04, 0.99), right - 0.25) if lenient else (right, right)
        cells = {
            (size, n, p): judge(size, n, p, pair, runs)
            for size in (200, 500, 2000)
            for n in (10, 16, 20, 30, 50, 100, 150)
            for p in RATES
        }
        held = np.array([cell[0] for cell in cells.values()])
        error = np.sqrt(held.min() * (1 - held.min()) / runs)
        width = [np.mean([cells[s, n, p][1] for s in (200, 500, 2000) for p in RATES[:4]]) for n in (30, 100)]
        print(
            f"right {pair[0]:.0%}/{pair[1]:.0%}: {held.mean():.4f} {held.min():.4f} ± {error:.4f} "
            f"{width[0]:.2f} {width[1]:.2f}",
            flush=True,
        )


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--runs", type=int, default=2_000, help="draws a cell with a judge")
    runs = parser.parse_args().runs
    print(f"{date.today()}: nominal 95 %")
    print("population: n, mean coverage, least coverage, width / Wilson's")
    for n in LABELS:
        print(n, *(f"{value:.4f}" for value in exact(n)), flush=True)
    every = np.array([exact(n) for n in range(10, 201)])
    print(f"all n from 10 to 200: {every[:, 0].min():.4f} {every[:, 1].min():.4f} {every[:, 2].max():.4f}")
    print("set: size, n, mean coverage, least coverage")
    for size in (50, 200, 500, 1000):
        for n in (10, 20, 50, 100):
            if n < size:
                print(size, n, *(f"{value:.4f}" for value in finite(n, size)), flush=True)
    for lenient in (False, True):
        judges(lenient, runs)


if __name__ == "__main__":
    main()
