"""What probability designs do to the error of weighted mean scores, on fully judged data.

A tenth of the items is drawn again and again; the weighted means of the models' human scores are compared
with the means over all items. Printed is the mean absolute error as a share of ``uniform``'s, with the
standard error of that share. Run ``.venv/bin/python -m benchmarks.designs ../shared/data`` (``--draws 100``
for less).
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sparingly
from sparingly.base.arrays import Floats

# A set, what people judged there, and the best metric that it has.
SETS = (
    ("wmt23_zhen", "mqm", "XCOMET-Ensemble"),
    ("wmt23_ende", "mqm", "XCOMET-Ensemble"),
    ("wmt20_ende_notext", "mqm", "bleurt-combi"),
    ("thumb_mscoco", "human_score", "mover_score"),
    ("biomqm_ende", "mqm", "BLEU"),
    ("wmt24_enzh", "esa", "chrF"),
    ("ted21_ende", "mqm", "chrF"),
)
DESIGNS = {
    "`pivotal`, `metric_var`": "pivotal:utility=(metric_var:metric={0})",
    "`pivotal`, `metric_avg`": "pivotal:utility=(metric_avg:metric={0})",
    "`local_pivotal`": "local_pivotal:metrics=[{0}]",
    "`cube`": "cube:balance=[metric:{0}]",
}


def errors(data: sparingly.EvalSet, aspect: str, method: str, draws: int) -> Floats:
    """Return the mean absolute error of the models' weighted means in every draw."""
    scores = data.aspects[aspect]
    found = []
    for seed in range(draws):
        chosen = sparingly.select(data, method, "10%", seed=seed)
        weight, rows = np.asarray(chosen.weight), data.positions(chosen.items)
        means = weight @ scores[rows] / weight.sum()
        found.append(np.abs(means - scores.mean(axis=0)).mean())
    return np.array(found)


def compare(folder: Path, draws: int) -> None:
    """Print the table."""
    print(f"| set | metric | items | {' | '.join(DESIGNS)} |")
    print("|---|---|---|" + "---|" * len(DESIGNS))
    for name, aspect, metric in SETS:
        data = sparingly.load(folder / f"{name}.jsonl.gz")
        data = data.at(~np.isnan(data.aspects[aspect]).any(axis=1))
        base = errors(data, aspect, "uniform", draws)
        cells = []
        for method in DESIGNS.values():
            own = errors(data, aspect, method.format(metric), draws)
            share = own.mean() / base.mean()
            spread = [part.std() / part.mean() / np.sqrt(draws) for part in (own, base)]
            cells.append(f"{share:.2f} ± {share * np.hypot(*spread):.2f}")
        print(f"| {name} | {metric} | {len(data)} | {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("folder", type=Path, help="where the fully judged sets lie")
    parser.add_argument("--draws", type=int, default=500)
    chosen = parser.parse_args()
    compare(chosen.folder, chosen.draws)


if __name__ == "__main__":
    main()
