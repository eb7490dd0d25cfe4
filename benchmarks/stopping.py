"""How often stops make a wrong claim, on simulated scores whose truth is known.

    python -m benchmarks.stopping --jobs 8           every cell, written into docs/research/coverage.md
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
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass
from datetime import date
from functools import cache
from pathlib import Path
from typing import Literal

import numpy as np

from benchmarks.pages import replaced, table, write_whole
from benchmarks.resume import code_digest
from sparingly.base.arrays import Floats, Mask
from sparingly.base.stats.pairs import chance_of_lead
from sparingly.run.rounds.stop.base import information, two_valued_step
from sparingly.run.rounds.stop.rules import MarginSettled
from sparingly.run.rounds.stop.sequential import (
    Look,
    Spending,
    Valid,
    critical_value,
    no_settled_pairs,
    settle_next,
)

# --- simulated evaluations -------------------------------------------------------------------------------


Stop = Literal["best", "best of equals", "all", "non-inferior", "equivalent", "not equivalent", "all pairs"]
Scores = Literal["normal", "two-valued", "MQM-like"]
Rule = Literal["group_sequential", "even spending", "anytime", "fixed", "every look"]
SCORES: tuple[Scores, ...] = ("normal", "two-valued", "MQM-like")
VALID: tuple[Rule, ...] = ("group_sequential", "even spending", "anytime", "fixed")
RULES: tuple[Rule, ...] = (*VALID, "every look")
CASES: tuple[tuple[Stop, int], ...] = (
    ("best", 2), ("best", 3), ("best", 8), ("best of equals", 3), ("best of equals", 8),
    ("all", 2), ("all", 3), ("all", 8),
    ("non-inferior", 2), ("equivalent", 2), ("not equivalent", 2), ("all pairs", 3), ("all pairs", 8),
)  # fmt: skip
MARGINS = ("non-inferior", "equivalent", "not equivalent", "all pairs")
LOOKS = (5, 10)
ITEMS, ALPHA = 100, 0.05
# In standard deviations of a score: how far the others lie below the best, and the margins.
BELOW, MARGIN, SMALL, WIDE = 0.4, 0.4, 0.02, 0.6


@dataclass(frozen=True)
class Cell:
    """What is simulated: a claim, how many models, how many looks, and what scores look like."""

    stop: Stop
    models: int
    looks: int
    scores: Scores


def cells() -> list[Cell]:
    """Return every cell of the table."""
    return [Cell(stop, models, looks, kind) for stop, models in CASES for looks in LOOKS for kind in SCORES]


def shifts(cell: Cell) -> Floats:
    """Return how far the models' means lie from the first one's, in standard deviations of a score."""
    found = np.zeros(cell.models)
    if cell.stop == "best":
        found[2:] = -BELOW
    if cell.stop in ("non-inferior", "equivalent"):
        found[1] = MARGIN
    return found


def made(cell: Cell, draw: np.random.Generator) -> tuple[Floats, float]:
    """Return scores of items × models, and their standard deviation."""
    shape = (ITEMS, cell.models)
    apart = shifts(cell)
    if cell.scores == "normal":
        values = 0.6 * draw.standard_normal((ITEMS, 1)) + 0.8 * draw.standard_normal(shape)
        return values + apart, 1.0
    # What makes an item hard for all models: with probability .4 it fails them together.
    own, shared = draw.random(shape), draw.random((ITEMS, 1))
    place = np.where(draw.random((ITEMS, 1)) < 0.4, shared, own)
    if cell.scores == "two-valued":
        spread = 0.4
        return (place < 0.8 + spread * apart).astype(np.float64), spread
    large = np.where(draw.random(shape) < 0.1, 25.0, np.where(draw.random(shape) < 0.4, 5.0, 1.0))
    spread = float(np.sqrt(0.2 * (0.1 * 625 + 0.9 * (0.4 * 25 + 0.6)) - (0.2 * (2.5 + 0.9 * 2.6)) ** 2))
    return np.where(place < 0.8, 0.0, -large) + spread * apart, spread


def looks_of(scores: Floats, count: int) -> list[Look]:
    """Return the looks at a uniform sample that grows to all of the budget, for inputs like these."""
    found = []
    for size in np.linspace(ITEMS // count, ITEMS, count).astype(int):
        seen = scores[:size]
        found.append(
            Look(
                scores=seen.mean(axis=0),
                covariance=np.cov(seen.T) / size,
                freedom=size - 1.0,
                clock=size / ITEMS,
                information=information(int(size), ITEMS, "population"),
                planned=float(ITEMS),
                exact=np.zeros(scores.shape[1], bool),
                step=two_valued_step(seen),
                judged=np.full(scores.shape[1], float(size)),
            )
        )
    return found


def tests(rule: Rule) -> Valid:
    """Return by which critical values a rule tests."""
    if rule == "even spending":
        return "group_sequential"
    return "fixed" if rule == "every look" else rule


def spends(rule: Rule) -> Spending:
    """Return how a rule spreads the error over the looks."""
    return "even" if rule == "even spending" else "obrien_fleming"


def errs(cell: Cell, rule: Rule, seed: int) -> bool:
    """Say whether one evaluation makes a wrong claim at any of its looks."""
    scores, spread = _scores_of(cell, seed)
    looks = looks_of(scores, cell.looks)
    if cell.stop in ("best", "best of equals", "all"):
        return _settles(cell, rule, looks)
    stop = _margin_stop(cell, rule, spread)
    return any(_claims(cell, stop, looks[:count]) for count in _looked(rule, len(looks)))


def _scores_of(cell: Cell, seed: int) -> tuple[Floats, float]:
    return made(cell, np.random.default_rng([seed, cells().index(cell)]))


def _looked(rule: Rule, count: int) -> range:
    """Return after which looks a rule tests."""
    return range(count, count + 1) if rule == "fixed" else range(1, count + 1)


def _settles(cell: Cell, rule: Rule, looks: list[Look]) -> bool:
    """Say whether a pair is told apart (``all``), or one model named the best."""
    found = no_settled_pairs(cell.models, ALPHA)
    for count in _looked(rule, len(looks)):
        found = settle_next(
            found,
            looks[:count],
            ALPHA,
            tests(rule),
            "all" if cell.stop == "all" else "best",
            spending=spends(rule),
        )
        if found.above.any() if cell.stop == "all" else found.candidates.sum() == 1:
            return True
    return False


def _margin_stop(cell: Cell, rule: Rule, spread: float) -> MarginSettled:
    first, second = (None, None) if cell.stop == "all pairs" else ("first", "second")
    return MarginSettled(
        margin=margin_of(cell) * spread,
        question="non-inferior" if cell.stop == "non-inferior" else "equivalent",
        model=first,
        against=second,
        alpha=ALPHA,
        valid=tests(rule),
        spending=spends(rule),
    )


def _claims(cell: Cell, stop: MarginSettled, looks: list[Look]) -> bool:
    """Say whether the stop makes the claim that is wrong here."""
    if cell.stop != "all pairs":
        return stop.answer(looks, 0, 1) == cell.stop
    apart, same = stop.differ_or_equivalent(looks)
    return bool((apart | same)[np.triu_indices(cell.models, 1)].all() and apart.any())


def heuristic_errs(p: float, seed: int) -> bool:
    """Say whether the hypergeometric rule names one of two equal models the better one."""
    draw = np.random.default_rng([seed, 99])
    scores, _ = made(Cell("all", 2, 5, "normal"), draw)
    apart = np.sign(scores[:, 0] - scores[:, 1])
    counts = np.arange(1, ITEMS + 1)
    wins = np.cumsum(apart > 0)
    lead = np.maximum(wins, counts - wins)
    looked = counts[counts % 10 == 0]
    return bool((chance_of_lead(ITEMS, looked, lead[looked - 1]) <= p).any())


def wrong_claims(cell: Cell, rule: Rule, seeds: range) -> Mask:
    """Return for every seed what ``errs`` says, computed for all of them at once."""
    given = [_scores_of(cell, seed) for seed in seeds]
    scores, spread = np.stack([values for values, _ in given]), given[0][1]
    path = looks_of(scores[0], cell.looks)
    wrong = np.zeros(len(scores), bool)
    above = np.zeros((len(scores), cell.models, cell.models), bool)
    margin = margin_of(cell) * spread
    for count in _looked(rule, cell.looks):
        now, size = path[:count], int(path[count - 1].freedom) + 1
        apart, errors = _pairs_at(scores[:, :size])
        if cell.scores == "two-valued" and cell.stop in MARGINS:
            there = np.ptp(scores[:, :size], axis=(1, 2))[:, None, None]
            more = np.maximum(margin - np.abs(apart), 0.0) * np.maximum(there - margin - np.abs(apart), 0.0)
            errors = np.where(errors > 0, np.sqrt(errors**2 + more / size), 0.0)

        def half(level: float, now: list[Look] = now, errors: Floats = errors) -> Floats:
            wide = critical_value(now, level, tests(rule), spends(rule)) * errors
            return np.where(errors > 0, wide, np.inf)

        if cell.stop in ("best", "best of equals"):
            above |= (apart > half(ALPHA / (cell.models - 1))) & ~above.transpose(0, 2, 1)
            wrong |= (~above.any(axis=1)).sum(axis=1) == 1
        elif cell.stop == "all":
            wrong |= (apart > half(2 * ALPHA / cell.models / (cell.models - 1))).any(axis=(1, 2))
        else:
            wrong |= _margin_claims(cell, apart, half, margin)
    return wrong


def margin_of(cell: Cell) -> float:
    """Return the margin in standard deviations of a score."""
    return {"not equivalent": SMALL, "all pairs": WIDE}.get(cell.stop, MARGIN)


def _margin_claims(cell: Cell, apart: Floats, half: Callable[[float], Floats], margin: float) -> Mask:
    """Return in which runs ``margin_settled`` makes the claim that is wrong."""
    if cell.stop == "all pairs":
        wide = half(2 * ALPHA / cell.models / (cell.models - 1))
        differs = np.abs(apart) > wide
        shown = differs | (np.abs(apart) + wide < margin) | np.eye(cell.models, dtype=bool)
        return np.asarray(shown.all(axis=(1, 2)) & differs.any(axis=(1, 2)))
    first = apart[:, 0, 1]
    if cell.stop == "non-inferior":
        return np.asarray(first - half(2 * ALPHA)[:, 0, 1] > -margin)
    if cell.stop == "equivalent":
        return np.asarray(np.abs(first) + half(2 * ALPHA)[:, 0, 1] < margin)
    return np.asarray(np.abs(first) - half(ALPHA)[:, 0, 1] > margin)


def _pairs_at(seen: Floats) -> tuple[Floats, Floats]:
    """Return differences of means and their standard errors, runs × models × models."""
    size = seen.shape[1]
    means = seen.mean(axis=1)
    away = seen - means[:, None]
    covariance = np.einsum("rij,rik->rjk", away, away) / (size - 1.0) / size
    variance = np.einsum("rjj->rj", covariance)
    squared = np.maximum(variance[:, :, None] + variance[:, None] - 2 * covariance, 0.0)
    least = 1e-7 * np.sqrt(variance.max(axis=1))[:, None, None]
    errors = np.sqrt(squared)
    return means[:, :, None] - means[:, None], np.where(errors > least, errors, 0.0)


# --- the table and the command ---------------------------------------------------------------------------


PART = 250
ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = ROOT / "docs" / "research" / "coverage.md", ROOT / "benchmarks" / "results" / "stopping.json"
SAVED = ROOT / ".bench" / "stopping.json"


@cache
def code() -> str:
    """Return a digest of the code that decides about the figures."""
    return code_digest(("run/rounds/stop",), ("stopping.py",))


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
    args = parser.parse_args(arguments)
    found = counted(args.runs, args.jobs)
    heuristic = {p: sum(heuristic_errs(p, seed) for seed in range(args.runs)) for p in (0.2, 0.1, 0.05)}
    text = block(found, args.runs, heuristic)
    above = too_often(found, args.runs)
    if args.print:
        print(text)
    else:
        rows = [{**asdict(cell), "rule": rule, "wrong": number} for (cell, rule), number in found.items()]
        about = {"date": date.today().isoformat(), "runs": args.runs, "items": ITEMS, "alpha": ALPHA}
        write_whole(RESULTS, json.dumps({**about, "cells": rows}, indent=1, ensure_ascii=False) + "\n")
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"stopping": text}))
    for cell, rule in above:
        print(f"above 5 %: {cell} {rule} {share(found[cell, rule], args.runs)}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
