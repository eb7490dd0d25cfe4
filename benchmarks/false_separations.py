"""How often any of many model pairs is called different although the two are equal, and what is found.

    .venv/bin/python -m benchmarks.false_separations --jobs 8            # 416 cells of 2,000 runs
    .venv/bin/python -m benchmarks.false_separations --jobs 8 --docs     # and its table in decisions.md
    .venv/bin/python -m benchmarks.false_separations --runs 100          # few: does it still run?
    .venv/bin/python -m benchmarks.false_separations --only binary --models 8 --n 10 --n 12

Every run makes scores of so many models on n items, whose difficulty all models share, and decides all
pairs as ``rank`` does: p-values of ``estimate`` for inputs like these, ``t_tests``, then ``decide``. Either
all models are equal, or one half is clearly better than the other. A false separation is a decided pair of
equal models, or one decided the wrong way round. Beside it stands how many pairs are decided, and how many
Holm's correction of the same p-values decides.

Finished cells are kept in .bench/false_separations/ for as long as their first runs come out the same, so
that an interrupted run goes on where it stopped. The exit code is 1 when a cell is above 5 %, after Holm's
correction over all cells.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Sequence
from datetime import date
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np

import sparingly
from benchmarks.pages import folded, replaced, table, write_whole
from benchmarks.resume import FinishedParts, Row
from sparingly.base import rng
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import holm, pair_indices
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.rank import joint_of

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "decisions.md"
RESULTS = ROOT / "benchmarks" / "results" / "false_separations.json"
KEPT = ROOT / ".bench" / "false_separations"
MODELS = (2, 4, 8, 15, 25, 40, 60)
SIZES = (10, 12, 16, 20, 30, 50, 100, 200)
SITUATIONS = ("equal", "half")
RUNS, ALPHA, BLOCK, CHUNK = 2000, 0.05, 40, 500
# Runs that say whether a finished cell would still come out the same.
FIRST = 20


class Cell(NamedTuple):
    """One cell of the grid."""

    family: str
    situation: str
    models: int
    n: int


def gaussian(generator: np.random.Generator, runs: int, n: int, better: Floats) -> Floats:
    """Return difficulty plus noise, both of variance 1; the better half is 1 higher."""
    hard = generator.standard_normal((runs, n, 1))
    return hard + generator.standard_normal((runs, n, len(better))) + better


def binary(
    generator: np.random.Generator, runs: int, n: int, better: Floats, *, rate: float, other: float
) -> Floats:
    """Return pass or fail at a rate (the other half at another), difficulty half of the latent variance."""
    from scipy.special import ndtri

    latent = gaussian(generator, runs, n, np.zeros(len(better))) / np.sqrt(2.0)
    return np.asarray(latent < ndtri(np.where(better > 0, other, rate)), np.float64)


def mqm(generator: np.random.Generator, runs: int, n: int, better: Floats) -> Floats:
    """Return penalties like those of MQM: 80 % are 0 (95 % in the better half), the rest has a long tail."""
    share = np.where(better > 0, 0.25, 1.0) * generator.beta(0.5, 2.0, (runs, n, 1))
    wrong = generator.random((runs, n, len(better))) < share
    return np.where(wrong, -1.0, 0.0) * np.exp(generator.normal(0.7, 1.0, (runs, n, len(better))))


FAMILIES: dict[str, Callable[..., Floats]] = {
    "gaussian": gaussian,
    "binary .5": partial(binary, rate=0.5, other=0.8),
    "binary .9": partial(binary, rate=0.9, other=0.6),
    "mqm": mqm,
}


def run_cell(cell: Cell, runs: int = RUNS, chunk: int = 0) -> Row:
    """Return the share of runs with a false separation, and pairs decided by us and by Holm, in means."""
    better = np.zeros(cell.models)
    if cell.situation == "half":
        better[: cell.models // 2] = 1.0
    # The 90 % half of the pass rates is the better one.
    sign = -1.0 if cell.family == "binary .9" else 1.0
    first, second = pair_indices(cell.models)
    generator = rng.generator(chunk, "false separations", *map(str, cell))
    false, ours, theirs, p_values = [], [], [], 0.0
    for start in range(0, runs, BLOCK):
        scores = FAMILIES[cell.family](generator, BLOCK, cell.n, better)
        for judged in scores[: runs - start]:
            joint = joint_of(estimate_scores(judged, target="population", interval="none"))
            tests = joint.tests()
            decisions = decide(tests.two_sided, joint.scores, alpha=ALPHA)
            true = np.sign(sign * (better[:, None] - better[None, :]))
            false.append(bool((decisions.better & (true <= 0)).any()))
            ours.append(decisions.decided)
            theirs.append(int((holm(tests.two_sided[first, second]) <= ALPHA).sum()))
            p_values += float(tests.two_sided[first, second].sum())
    counts = {"false": sum(false), "decided": sum(ours), "holm": sum(theirs), "p": p_values}
    return _row(cell, runs, counts)


def _row(cell: Cell, runs: int, counts: dict[str, float]) -> Row:
    share = counts["false"] / runs
    return {
        **cell._asdict(),
        "runs": runs,
        "false": int(counts["false"]),
        "error": round(float(np.sqrt(max(share * (1 - share), 0.0) / runs)), 5),
        **{name: round(counts[name] / runs, 4) for name in ("decided", "holm")},
        "p": counts["p"] / runs,
    }


def above(rows: Sequence[Row]) -> list[Row]:
    """Return the cells whose share is above 5 %, by a binomial test with Holm's correction over all cells."""
    from scipy.stats import binom

    tails = np.array([binom.sf(row["false"] - 1, row["runs"], ALPHA) for row in rows])
    return [row for row, p in zip(rows, holm(tails), strict=True) if p < ALPHA]


def run_cells(cells: Sequence[Cell], args: argparse.Namespace) -> list[Row]:
    """Return the cells in order: the first runs of all are computed before further ones of any."""
    size = min(CHUNK, args.runs)
    parts = [(cell, chunk) for chunk in range(-(-args.runs // size)) for cell in cells]
    finished = FinishedParts(args.kept)

    def key(part: tuple[Cell, int]) -> Row:
        return {**part[0]._asdict(), "chunk": part[1], "runs": size}

    if args.finished:
        rows = [finished.saved(key(part)) for part in parts]
    else:
        work = finished.rows(
            parts,
            key,
            lambda part: run_cell(part[0], size, part[1]),
            args.jobs,
            lambda part: run_cell(part[0], min(FIRST, size), part[1]),
        )
        rows = list(work)
    return [
        _together(cell, [row for (place, _), row in zip(parts, rows, strict=True) if row and place == cell])
        for cell in cells
        if any(row and place == cell for (place, _), row in zip(parts, rows, strict=True))
    ]


def _together(cell: Cell, rows: Sequence[Row]) -> Row:
    counts = {name: sum(row[name] * row["runs"] for row in rows) for name in ("decided", "holm", "p")}
    return _row(
        cell, sum(row["runs"] for row in rows), {"false": sum(row["false"] for row in rows), **counts}
    )


def blocks(computed: Row) -> dict[str, str]:
    """Return the part of the page by the name of its marker."""
    rows = computed["rows"]
    said = (
        f"Computed on {computed['date']} with version {computed['version']}: {len(rows)} cells of "
        f"{min(row['runs'] for row in rows):,} runs or more."
    )
    if len(rows) < computed["cells"]:
        said += f" {computed['cells'] - len(rows)} of the {computed['cells']} cells are not computed."
    parts = [
        [row for row in rows if (row["family"], row["situation"]) == (family, situation)]
        for family in FAMILIES
        for situation in SITUATIONS
    ]
    parts = [part for part in parts if part]
    head = ("scores", "models", "false, mean", "false, largest", "above 5 %", "pairs decided", "by Holm")
    summary = table(head, [_summary(part) for part in parts], texts=2)
    details = [folded(f"{part[0]['family']}, {_WORDS[part[0]['situation']]}", _grid(part)) for part in parts]
    return {"false separations": "\n\n".join([said, summary, _LEGEND, *details])}


_WORDS = {"equal": "all equal", "half": "half better"}
_LEGEND = (
    "Share of runs with any false separation, in percent: the mean over all cells, and the largest cell "
    "with its standard error; how many cells are above 5 % after Holm's correction over the cells of the "
    "line; and the pairs decided per run, beside Holm's correction of the same p-values. Below, every cell: "
    "the share ± its standard error."
)


def _summary(part: Sequence[Row]) -> tuple[str, ...]:
    shares = [row["false"] / row["runs"] for row in part]
    most = int(np.argmax(shares))
    ours, theirs = (float(np.mean([row[name] for row in part])) for name in ("decided", "holm"))
    return (
        part[0]["family"],
        _WORDS[part[0]["situation"]],
        f"{100 * float(np.mean(shares)):.1f}",
        f"{100 * shares[most]:.1f} ± {100 * part[most]['error']:.1f}",
        str(len(above(part))),
        f"{ours:.2f}",
        f"{theirs:.2f}",
    )


def _grid(part: Sequence[Row]) -> str:
    by_place = {(row["models"], row["n"]): row for row in part}
    sizes = sorted({row["n"] for row in part})
    lines = []
    for models in sorted({row["models"] for row in part}):
        found = [by_place.get((models, n)) for n in sizes]
        lines.append((str(models), *("–" if row is None else _share(row) for row in found)))
    return table(("models", *(f"n = {n}" for n in sizes)), lines)


def _share(row: Row) -> str:
    return f"{100 * row['false'] / row['runs']:.1f} ± {100 * row['error']:.1f}"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--runs", type=int, default=RUNS, help="runs in each cell")
    reader.add_argument("--jobs", type=int, default=1, help="processes")
    reader.add_argument("--only", action="append", help="families that begin so, such as binary")
    reader.add_argument("--models", action="append", type=int, help="one number of models")
    reader.add_argument("--n", action="append", type=int, help="one number of items")
    reader.add_argument("--kept", type=Path, default=KEPT, help="finished cells")
    reader.add_argument("--docs", action="store_true", help="write figures and table")
    reader.add_argument("--finished", action="store_true", help="compute and check nothing: what is saved")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the table")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Run the grid, and say which cells are above 5 %."""
    args = options(arguments)
    cells = [
        Cell(family, situation, models, n)
        for family in FAMILIES
        if any(family.startswith(start) for start in args.only or ("",))
        for situation in SITUATIONS
        for models in args.models or MODELS
        for n in args.n or SIZES
        if situation == "equal" or models > 2
    ]
    print(f"{'scores':<10} {'situation':<9} {'models':>6} {'n':>4}   false %        decided    Holm's")
    rows = []
    for row in run_cells(cells, args):
        rows.append(row)
        where = f"{row['family']:<10} {row['situation']:<9} {row['models']:>6} {row['n']:>4}"
        print(f"{where}   {_share(row):<12} {row['decided']:>9.2f} {row['holm']:>9.2f}", flush=True)
    if args.docs:
        whole = len(FAMILIES) * (2 * len(MODELS) - 1) * len(SIZES)
        computed = {"version": sparingly.__version__, "date": date.today().isoformat(), "cells": whole}
        computed |= {"rows": rows}
        write_whole(args.results, json.dumps(computed, separators=(",", ":")) + "\n")
        write_whole(args.page, replaced(args.page.read_text(encoding="utf-8"), blocks(computed)))
    wrong = above(rows)
    for row in wrong:
        print(f"above 5 %: {row['family']}, {row['situation']}, {row['models']} models, n = {row['n']}")
    return 1 if wrong else 0


if __name__ == "__main__":
    # Workers find functions by the name of their module, which is not __main__ there.
    from benchmarks.false_separations import main as run

    sys.exit(run())
