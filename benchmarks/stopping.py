"""How often stops make a wrong claim, on simulated scores whose truth is known.

    python -m benchmarks.stopping --jobs 8           every cell, written into docs/rounds.md
    python -m benchmarks.stopping --runs 200 --print the same with fewer runs, printed only

An evaluation of 100 items is looked at 5 or 10 times. ``best_settled``: two models (or all) are equally good
and best, and naming one the best is an error. ``all_settled``: all models are equal, and telling any two
apart is an error. ``margin_settled``: the truth lies on the margin (or, for "not equivalent", there is no
difference, and for all pairs all models are equal), and the wrong claim is an error. Scores are normal,
two-valued (80 % pass) or like MQM's (four of five outputs without an error, few with a large one); what makes
items hard is shared by all models. Beside the valid rules stands what looking every time with the critical
value of one look does, and the heuristic ``hypergeometric``.

Finished parts are saved in .bench/stopping.json, so that an interrupted run goes on where it stopped. It
exits with 1 when a valid rule is above 5 % in any cell by more than noise explains (exact binomial tests,
corrected for all cells by Holm's method).
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict
from datetime import date
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from benchmarks._stopping_runs import (
    ALPHA,
    ITEMS,
    RULES,
    VALID,
    Cell,
    Rule,
    Stop,
    cells,
    heuristic_errs,
    wrong_claims,
)
from benchmarks.papers.markdown import replaced, table
from benchmarks.papers.work import write_whole

PART = 250
ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = ROOT / "docs" / "rounds.md", ROOT / "benchmarks" / "results" / "stopping.json"
SAVED = ROOT / ".bench" / "stopping.json"


@cache
def code() -> str:
    """Return a digest of the code that decides about the figures."""
    own = Path(__file__).with_name("_stopping_runs.py")
    total = blake2b(digest_size=8)
    for path in (own, *sorted((ROOT / "src" / "sparingly" / "run" / "rounds" / "stop").glob("*.py"))):
        total.update(path.read_bytes())
    return total.hexdigest()


def count_part(task: tuple[Cell, Rule, int, int]) -> int:
    """Return how many of some runs of a cell make a wrong claim."""
    cell, rule, start, end = task
    return int(wrong_claims(cell, rule, range(start, end)).sum())


def counted(runs: int, jobs: int) -> dict[tuple[Cell, Rule], int]:
    """Return in how many of the runs every cell and rule makes a wrong claim; finished parts are read."""
    saved: dict[str, int] = json.loads(SAVED.read_text()) if SAVED.exists() else {}
    tasks = [
        (cell, rule, start, min(start + PART, runs))
        for cell in cells()
        for rule in RULES
        for start in range(0, runs, PART)
    ]
    missing = [task for task in tasks if _key(task) not in saved]
    for task, number in _each(missing, jobs):
        saved[_key(task)] = number
        write_whole(SAVED, json.dumps(saved))
    found: dict[tuple[Cell, Rule], int] = {}
    for task in tasks:
        found[task[:2]] = found.get(task[:2], 0) + saved[_key(task)]
    return found


def _key(task: tuple[Cell, Rule, int, int]) -> str:
    cell, rule, start, end = task
    return f"{code()} {cell.stop} {cell.models} {cell.looks} {cell.scores} {rule} {start}-{end}"


def _each(
    tasks: list[tuple[Cell, Rule, int, int]], jobs: int
) -> Iterator[tuple[tuple[Cell, Rule, int, int], int]]:
    if jobs == 1:
        for task in tasks:
            yield task, count_part(task)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from zip(tasks, pool.map(count_part, tasks), strict=True)


def too_often(found: dict[tuple[Cell, Rule], int], runs: int) -> list[tuple[Cell, Rule]]:
    """Return the cells in which a valid rule errs more often than asked for, after Holm's correction."""
    from scipy.stats import binom

    tested = [one for one in found if one[1] in VALID]
    p_values = np.array([binom.sf(found[one] - 1, runs, ALPHA) for one in tested])
    order = np.argsort(p_values)
    limits = 0.05 / (len(order) - np.arange(len(order)))
    passed = p_values[order] > limits
    first = int(np.argmax(passed)) if passed.any() else len(order)
    return [tested[place] for place in order[:first]]


def share(number: int, runs: int) -> str:
    """Return a share in per cent with its standard error."""
    found = number / runs
    return f"{100 * found:.1f} ± {100 * np.sqrt(found * (1 - found) / runs):.1f}"


_NAMES: dict[Stop, str] = {
    "best": "`best_settled`: one of two equal best models named",
    "best of equals": "`best_settled`: one of all equal models named",
    "all": "`all_settled`: equal models told apart",
    "non-inferior": "`margin_settled`: non-inferior though worse by the margin",
    "equivalent": "`margin_settled`: equivalent though apart by the margin",
    "not equivalent": "`margin_settled`: not equivalent though equal",
    "all pairs": "`margin_settled`, all pairs: equal models told apart",
}


def block(found: dict[tuple[Cell, Rule], int], runs: int, heuristic: dict[float, int]) -> str:
    """Return the table with a line about it."""
    rows = [
        [
            _NAMES[cell.stop],
            cell.scores,
            str(cell.models),
            str(cell.looks),
            *(share(found[cell, rule], runs) for rule in RULES),
        ]
        for cell in cells()
    ]
    head = ["wrong claim", "scores", "models", "looks", *RULES]
    tested = [found[one] / runs for one in found if one[1] in VALID]
    said = (
        f"Wrong claims in per cent (± standard error) where at most 5 % are allowed; {runs} simulated "
        f"evaluations of {ITEMS} items in every cell. Of the {len(tested)} cells of the valid rules the "
        f"highest is {100 * max(tested):.1f} %, the mean {100 * np.mean(tested):.1f} %; "
        f"{len(too_often(found, runs))} are above 5 % by more than noise explains (Holm). "
        "The heuristic `hypergeometric`, looked at 10 times, names one of two equal models in "
        + ", ".join(f"{share(number, runs)} % at p = {p:g}" for p, number in heuristic.items())
        + f". `python -m benchmarks.stopping`, {date.today().isoformat()}."
    )
    return f"{table(head, rows, texts=2)}\n\n{said}"


def main(arguments: list[str] | None = None) -> int:
    """Compute the table, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=2_000, help="simulated evaluations of every cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--print", action="store_true", help="print the table and write nothing")
    given = parser.parse_args(arguments)
    found = counted(given.runs, given.jobs)
    heuristic = {p: sum(heuristic_errs(p, seed) for seed in range(given.runs)) for p in (0.2, 0.1, 0.05)}
    text = block(found, given.runs, heuristic)
    above = too_often(found, given.runs)
    if given.print:
        print(text)
    else:
        rows = [{**asdict(cell), "rule": rule, "wrong": number} for (cell, rule), number in found.items()]
        about = {"date": date.today().isoformat(), "runs": given.runs, "items": ITEMS, "alpha": ALPHA}
        write_whole(RESULTS, json.dumps({**about, "cells": rows}, indent=1, ensure_ascii=False) + "\n")
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"stopping": text}))
    for cell, rule in above:
        print(f"above 5 %: {cell} {rule} {share(found[cell, rule], given.runs)}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
