"""How often the intervals of a judge's error rates hold, and how wide they are beside those of labels alone.

Both rates in 80 settings: sets of 300 and 2,000 outputs, 40 to 300 labels, five judges, four pass rates;
4,000 sets each. The intervals are those of ``infer/judge/error_rates``; beside them stands that of the
proportion among the labelled outputs that people failed (or passed).

    .venv/bin/python -m benchmarks.judge_rates  # ten seconds
"""

from __future__ import annotations

from itertools import product

import numpy as np

from benchmarks.pages import table
from sparingly.base.stats.proportion import proportion_interval
from sparingly.infer.judge.error_rates import RateArrays, rates_from_classes

SETS = 4000
SAMPLES = ((2000, 100), (2000, 40), (300, 100), (300, 300))
PASS_RATES = (0.5, 0.8, 0.9, 0.97)
JUDGES = ((0.95, 0.9), (0.9, 0.5), (0.8, 0.8), (0.99, 0.2), (0.6, 0.6))


def setting(
    size: int, labels: int, rate: float, sensitivity: float, specificity: float
) -> list[tuple[float, float]]:
    """Return coverage, and width over that of labels alone, of what it passes of bad and fails of good."""
    random = np.random.default_rng(1)
    cells = [rate * sensitivity, rate * (1 - sensitivity)]
    cells += [(1 - rate) * (1 - specificity), (1 - rate) * specificity]
    counts = random.multinomial(size, cells, size=SETS)
    sample = np.array([random.multivariate_hypergeometric(row, labels) for row in counts])
    classes = []
    for good, bad in ((0, 2), (1, 3)):
        total = sample[:, good] + sample[:, bad]
        low, high = proportion_interval(sample[:, good], np.maximum(total, 1))
        known = total > 0
        share = np.where(known, sample[:, good] / np.maximum(total, 1), 0.5)
        classes.append(RateArrays(share, np.where(known, low, 0.0), np.where(known, high, 1.0)))
    passed, failed = counts[:, 0] + counts[:, 2], counts[:, 1] + counts[:, 3]
    found = rates_from_classes(passed, failed, *classes, level=0.95)
    truths = (1 - specificity, 1 - sensitivity)
    alone = (sample[:, 2], sample[:, 2] + sample[:, 3]), (sample[:, 1], sample[:, 0] + sample[:, 1])
    results = []
    for rates, truth, (errors, total) in zip(found, truths, alone, strict=True):
        held = (rates.low <= truth + 1e-12) & (truth - 1e-12 <= rates.high)
        low, high = proportion_interval(errors, total)
        results.append((float(held.mean()), float((rates.high - rates.low).mean() / (high - low).mean())))
    return results


def main() -> None:
    """Print mean and least coverage, and the mean and the range of widths, for each sample."""
    rows = []
    for size, labels in SAMPLES:
        cells = [setting(size, labels, rate, *judge) for rate, judge in product(PASS_RATES, JUDGES)]
        for which, name in enumerate(("bad passed", "good failed")):
            held, width = np.array([cell[which] for cell in cells]).T
            ends = f"{width.min():.2f} to {width.max():.2f}"
            least = f"{100 * held.min():.1f}"
            rows.append(
                (f"{labels} of {size}", name, f"{100 * held.mean():.1f}", least, f"{width.mean():.2f}", ends)
            )
    head = ("labels", "rate", "coverage, mean", "least", "width / labels alone", "range")
    print(table(head, rows, texts=2))


if __name__ == "__main__":
    main()
