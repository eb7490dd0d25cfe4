"""How often intervals hold the truth: designs, estimators, shapes of scores, sample sizes, both targets.

    .venv/bin/python -m benchmarks.coverage_grid               # the whole grid
    .venv/bin/python -m benchmarks.coverage_grid --docs        # and its table in docs/estimate.md
    .venv/bin/python -m benchmarks.coverage_grid --intervals 80    # few: does it still run?
    .venv/bin/python -m benchmarks.coverage_grid --only uniform --only greg
    .venv/bin/python -m benchmarks.coverage_grid --only uniform --interval t --n 10 --n 15 --n 30 --n 100

Every replicate draws a set from a population and a sample from the set, and asks whether the 95 % interval
holds the mean of the set (target ``set``) or of the population. Populations are made, or the human scores of
public sets beside the checkout, drawn with replacement. Replicates are models with scores of their own in
arrays of 40 (of 20 or fewer where an estimator learns from all models together). With ``--interval`` one sees
what the guard's limits rest on.

Finished cells are kept in .bench/coverage/ until the code that decides about them changes, so
that an interrupted run goes on where it stopped.

The exit code is 1 when a bar is missed: with 100 units or more and a skewness up to 2, coverage of at least
93 % (tails are learned from all models, so that those with short ones get more), a bias of at most 0.1
standard errors, nothing withheld, and at most 1 % of all pairs significant in the wrong direction; each by
more than two standard errors of the simulation, in which arrays are the replicates.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from datetime import date
from pathlib import Path
from typing import Any

import sparingly
from benchmarks._coverage_cells import DESIGNS, TARGETS, run_cell
from benchmarks._coverage_real import FOLDER, SOURCES, real_families
from benchmarks._coverage_scores import FAMILIES, Family
from benchmarks._coverage_table import blocks, compact
from benchmarks._coverage_tally import Cell, Tally
from benchmarks._resume import FinishedParts
from benchmarks.papers.markdown import replaced
from benchmarks.papers.work import write_whole
from sparingly.infer.estimate.intervals import Interval

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "estimate.md"
RESULTS = ROOT / "benchmarks" / "results" / "coverage.json"
SIZES = (30, 100, 300)
ENOUGH, LEAST = 100, 0.93
BIAS, WRONG = 0.1, 0.01
KINDS = ("auto", "t", "bootstrap")
# What decides about the figures, within the package and beside this file.
_CODE = (
    "base/rng.py",
    "choose/design/draw",
    "choose/design/probability.py",
    "infer/estimate",
    "signals/predict",
)
_GRID = (
    "_coverage_cells.py",
    "_coverage_real.py",
    "_coverage_scores.py",
    "_coverage_tally.py",
    "coverage_grid.py",
)


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--intervals", type=int, default=2000, help="intervals in each cell, or a few more")
    reader.add_argument("--only", action="append", choices=DESIGNS, help="one design or estimator")
    reader.add_argument("--family", action="append", help="one shape of scores")
    reader.add_argument("--n", action="append", type=int, help="one sample size")
    reader.add_argument("--interval", choices=KINDS, default="auto", help="one kind of interval for all")
    reader.add_argument("--data", type=Path, default=FOLDER, help="the public sets")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "coverage", help="finished cells")
    reader.add_argument("--docs", action="store_true", help="write figures and table of the whole grid")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the grid and say which bars are missed."""
    asked = options(arguments)
    found, absent = real_families(asked.data)
    families = {**FAMILIES, **found}
    for reason in absent:
        print(f"left out: {reason}")
    named = [families[name] for name in asked.family or families]
    finished, rows = FinishedParts(asked.kept, _CODE, _GRID), []
    print(
        f"{'design':<26}{'scores':<18}{'n':>4} {'target':<11}{'of':<12}cover   bias  se/sd  withheld  wrong"
    )
    for design in asked.only or DESIGNS:
        for family in named:
            for n in asked.n or SIZES:
                rows.append(_cell(finished, design, family, n, asked.intervals, asked.interval))
    if asked.docs:
        _write(rows, absent, asked)
    return 1 if any([_said(row) for row in rows]) else 0


def _cell(
    finished: FinishedParts, design: str, family: Family, n: int, count: int, interval: Interval
) -> dict[str, Any]:
    """Return the figures of a cell, computed or saved, and print them."""
    place: dict[str, Any] = {"design": design, "family": family.name, "n": n}

    def compute() -> dict[str, Any]:
        start = time.process_time()
        row = dict(place)
        for target, cell in run_cell(design, family, n, count, interval).items():
            row[target] = figures(design, family, n, cell)
        return {**row, "seconds": round(time.process_time() - start, 1)}

    row = finished.row({**place, "intervals": count, "interval": interval}, compute)
    for target in TARGETS:
        for what in ("scores", "differences"):
            one = row[target][what]
            missed = f"  ← {', '.join(one['missed'])}" if one["missed"] else ""
            told = f"{one['coverage']:.3f} {one['bias']:+6.2f}  {one['ratio']:.2f}   {one['withheld']:.2f}"
            where = f"{design:<26}{family.name:<18}{n:>4} {target:<11}{what:<12}"
            print(f"{where}{told}      {one['wrong']:.3f}{missed}", flush=True)
    return row


def figures(design: str, family: Family, n: int, cell: Cell) -> dict[str, Any]:
    """Return what is written of a cell for one target."""
    parts: dict[str, Any] = {"fallen_back": round(cell.fell_back, 4)}
    for what, tally, mild in (
        ("scores", cell.scores, cell.mild_scores),
        ("differences", cell.differences, cell.mild_differences),
    ):
        # Differences of equal shapes have no skewness, but those of heavy tails are no easier.
        barred = mild if mild.asked and not (what == "differences" and family.heavy) else None
        missed = [] if barred is None else missed_bars(n, barred, of_pairs=what == "differences")
        told = {name: round(value, 4) for name, value in tally.figures().items()}
        parts[what] = {**told, "intervals": tally.asked, "missed": missed, "barred": None}
        if barred is not None:
            parts[what]["barred"] = {name: round(value, 4) for name, value in barred.figures().items()}
    return parts


def missed_bars(n: int, tally: Tally, *, of_pairs: bool) -> list[str]:
    """Return the bars that intervals of scores or of pairs miss beyond chance (two standard errors)."""
    if n < ENOUGH:
        return []
    chance = 2.0 * tally.slack
    said = []
    if tally.coverage < LEAST - chance:
        said.append(f"covers {tally.coverage:.3f}")
    if abs(tally.bias) > BIAS + 2.0 * tally.bias_slack:
        said.append(f"bias {tally.bias:+.2f}")
    if tally.withheld:
        said.append(f"withheld {tally.withheld:.2f}")
    if of_pairs and tally.wrong > WRONG + 2.0 * (WRONG / max(tally.asked, 1)) ** 0.5:
        said.append(f"wrong sign {tally.wrong:.3f}")
    return said


def _said(row: dict[str, Any]) -> bool:
    """Say which bars a cell misses; return whether there are any."""
    said = [
        f"{target}, {what}: {', '.join(row[target][what]['missed'])}"
        for target in TARGETS
        for what in ("scores", "differences")
        if row[target][what]["missed"]
    ]
    for one in said:
        print(f"missed: {row['design']}, {row['family']}, n = {row['n']}, {one}")
    return bool(said)


def _write(rows: list[dict[str, Any]], absent: tuple[str, ...], asked: argparse.Namespace) -> None:
    """Write the figures, and the table into its page."""
    computed = {
        "version": sparingly.__version__,
        "date": date.today().isoformat(),
        "cells": len(DESIGNS) * (len(FAMILIES) + len(SOURCES)) * len(SIZES),
        "left_out": list(absent),
        "rows": [compact(row) for row in rows],
    }
    write_whole(asked.results, json.dumps(computed, ensure_ascii=False, separators=(",", ":")) + "\n")
    write_whole(asked.page, replaced(asked.page.read_text(encoding="utf-8"), blocks(computed)))


if __name__ == "__main__":
    sys.exit(main())
