"""The small data sets on which other programs and ours are compared.

python tests/known_answers/make_data.py     writes items.csv, ratings.csv, comparisons.csv and codes.csv again
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

FOLDER = Path(__file__).resolve().parent
SEED = 20261116


def items() -> list[str]:
    """Sixty items of twelve documents and three strata, two models, a metric, and who was drawn how."""
    random = np.random.default_rng(SEED)
    document, stratum = np.repeat(np.arange(12), 5), np.repeat([0, 1, 2], [30, 20, 10])
    x = (random.gamma(2.0, 1.0, 60) + 0.4 * stratum).round(3)
    level = random.normal(0, 0.5, 12)[document]
    first = (1.5 * x + level + random.normal(0, 1.0, 60)).round(2)
    second = (1.2 * x + level + random.normal(0, 1.2, 60) + 0.5).round(2)
    weight = random.integers(1, 5, 60)
    simple = random.permutation(60) < 20
    stratified = np.concatenate([random.permutation(size) < n for size, n in ((30, 9), (20, 6), (10, 5))])
    clustered = (random.permutation(12) < 5)[document]
    # A systematic draw along a shuffled list, its probabilities by x.
    chance = (18 * x / x.sum()).round(6)
    order = random.permutation(60)
    steps = np.floor(np.cumsum(chance[order]) + random.random())
    unequal = np.zeros(60, bool)
    unequal[order] = np.diff(np.r_[0.0, steps]) > 0
    pool = random.permutation(60) < 36
    both = np.zeros(60, bool)
    both[np.flatnonzero(pool)[random.permutation(36) < 18]] = True
    rows = [
        "item,document,stratum,x,first,second,weight,simple,stratified,clustered,chance,unequal,pool,both"
    ]
    columns = (document, stratum, x, first, second, weight, simple, stratified, clustered, chance, unequal)
    for place, values in enumerate(zip(*columns, pool, both, strict=True)):
        rows.append(",".join([str(place), *(f"{float(value):g}" for value in values)]))
    return rows


def ratings() -> list[str]:
    """Four raters of four models' outputs: a search from one place alone puts two of the variances to 0."""
    random = np.random.default_rng(51)
    severity, taste = random.normal(0, 0.6, 4), random.normal(0, 0.35, (4, 4))
    quality = random.normal(0, 1.5, (60, 1)) + random.normal(0, 2.5, (60, 4)) + np.arange(4)
    rows = [
        (item, model, rater)
        for item in range(60)
        for rater in random.choice(4, 2 if random.random() < 0.2 else 1, replace=False)
        for model in range(4)
    ]
    item, model, rater = np.array(rows).T
    score = quality[item, model] + severity[rater] + taste[rater, model] + random.normal(0, 1.0, len(rows))
    return [
        "item,model,rater,score",
        *(f"{i},{m},{r},{s:.2f}" for (i, m, r), s in zip(rows, score, strict=True)),
    ]


def comparisons() -> list[str]:
    """Comparisons of five models on thirty items, four on each; the first won or lost."""
    random = np.random.default_rng(SEED + 1)
    strength = np.array([-0.8, -0.2, 0.0, 0.3, 0.7])
    rows = ["item,first,second,won"]
    for item in range(30):
        for _ in range(4):
            one, other = random.choice(5, 2, replace=False)
            won = random.random() < 1 / (1 + np.exp(strength[other] - strength[one]))
            rows.append(f"{item},{one},{other},{int(won)}")
    return rows


def codes() -> list[str]:
    """Twenty units by four raters on a scale from 1 to 5, a quarter of it missing."""
    random = np.random.default_rng(SEED + 2)
    true = random.integers(1, 6, 20)
    given = np.clip(true[:, None] + random.integers(-1, 2, (20, 4)), 1, 5)
    missing = random.random((20, 4)) < 0.25
    return [
        ",".join("" if gone else str(value) for value, gone in zip(row, lost, strict=True))
        for row, lost in zip(given, missing, strict=True)
    ]


if __name__ == "__main__":
    for name, rows in (
        ("items", items()),
        ("ratings", ratings()),
        ("comparisons", comparisons()),
        ("codes", codes()),
    ):
        (FOLDER / f"{name}.csv").write_text("\n".join(rows) + "\n")
