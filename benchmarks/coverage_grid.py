"""How often intervals hold the truth: designs, estimators, shapes of scores, sample sizes, both targets.

    .venv/bin/python benchmarks/coverage_grid.py               # the whole grid
    .venv/bin/python benchmarks/coverage_grid.py --arrays 5    # fewer replicates: does it still run?
    .venv/bin/python benchmarks/coverage_grid.py --only uniform --only greg
    .venv/bin/python benchmarks/coverage_grid.py --only uniform --interval t --n 10 --n 15 --n 30 --n 100
    .venv/bin/python benchmarks/coverage_grid.py --json grid.json

Every replicate draws a set from a population and a sample from the set, and asks whether the 95 % interval
holds the mean of the set (target ``set``) or of the population. Replicates are models with scores of their
own in arrays of 40. With ``--interval`` one sees what the guard's limits rest on.

The exit code is 1 when a bar is missed: with 100 units or more and a skewness up to 2, coverage of at least
93 % (and at most 97 % for uniform and pivotal draws), a bias of at most 0.1 standard errors, nothing
withheld, and at most 1 % of all pairs significant in the wrong direction.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from _coverage_cells import DESIGNS, WITH_METRICS, Target, run_cell
from _coverage_scores import FAMILIES, Tally
from sparingly.infer.estimate.intervals import Interval

SIZES = (30, 100, 300)
TARGETS: tuple[Target, ...] = ("set", "population")
ENOUGH, MOST_SKEW = 100, 2.0
LEAST, MOST = 0.93, 0.97
KINDS = ("auto", "t", "bootstrap")


def main() -> int:
    """Run the grid and say which bars are missed."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--arrays", type=int, default=50, help="arrays of 40 models in each cell")
    reader.add_argument("--only", action="append", choices=DESIGNS, help="one design or estimator")
    reader.add_argument("--family", action="append", choices=FAMILIES, help="one shape of scores")
    reader.add_argument("--n", action="append", type=int, help="one sample size")
    reader.add_argument("--interval", choices=KINDS, default="auto", help="one kind of interval for all")
    reader.add_argument("--json", type=Path, help="write the figures to a file")
    asked = reader.parse_args()
    rows: list[dict[str, Any]] = []
    print(f"{'design':<26}{'scores':<11}{'n':>4} {'target':<11}{'of':<12}cover  bias  se/sd  withheld  wrong")
    for design in asked.only or DESIGNS:
        for family in asked.family or FAMILIES:
            for n in asked.n or SIZES:
                for target in TARGETS:
                    rows += _cell(design, family, n, target, asked.arrays, asked.interval)
    if asked.json:
        asked.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    missed = [row for row in rows if row["missed"]]
    for row in missed:
        print(f"missed: {row['design']}, {row['family']}, n = {row['n']}, {row['target']}: {row['missed']}")
    return 1 if missed else 0


def _cell(
    design: str, family: str, n: int, target: Target, arrays: int, interval: Interval
) -> list[dict[str, Any]]:
    count = 4 * arrays if design in WITH_METRICS else arrays
    cell = run_cell(DESIGNS[design], FAMILIES[family], n, target, count, interval)
    rows = []
    for what, tally in (("scores", cell.scores), ("differences", cell.differences)):
        missed = missed_bars(design, FAMILIES[family].skew, n, tally) if _speaks(what, family) else []
        print(
            f"{design:<26}{family:<11}{n:>4} {target:<11}{what:<12}{tally.coverage:.3f} {tally.bias:+.2f}  "
            f"{tally.ratio:.2f}   {tally.withheld:.2f}      {tally.wrong:.3f}{'  ← ' if missed else ''}"
            f"{', '.join(missed)}",
            flush=True,
        )
        numbers = {name: getattr(tally, name) for name in ("coverage", "bias", "ratio", "withheld", "wrong")}
        place = {"design": design, "family": family, "n": n, "target": target, "of": what}
        rows.append({**place, **numbers, "replicates": tally.asked, "missed": ", ".join(missed)})
    return rows


def _speaks(what: str, family: str) -> bool:
    """Differences of equal shapes have no skewness, but those of heavy tails are no easier."""
    return what == "scores" or family != "mqm_heavy"


def missed_bars(design: str, skew: float, n: int, tally: Tally) -> list[str]:
    """Return the bars that a cell misses beyond what chance explains (two standard errors)."""
    if n < ENOUGH or abs(skew) > MOST_SKEW:
        return []
    chance = 2.0 * tally.slack
    said = []
    if tally.coverage < LEAST - chance:
        said.append(f"covers {tally.coverage:.3f}")
    if design.split(",")[0] in ("uniform", "pivotal") and tally.coverage > MOST + chance:
        said.append(f"covers {tally.coverage:.3f}")
    if abs(tally.bias) > 0.1 + 2.0 / tally.asked**0.5:
        said.append(f"bias {tally.bias:+.2f}")
    if tally.withheld:
        said.append(f"withheld {tally.withheld:.2f}")
    if tally.wrong > 0.01:
        said.append(f"wrong sign {tally.wrong:.3f}")
    return said


if __name__ == "__main__":
    sys.exit(main())
