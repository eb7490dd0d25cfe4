"""Scores after rounds: bias, errors against random's, the ranking and the intervals.

    python -m benchmarks.rounds_scores --jobs 8            every cell, written into docs/research/coverage.md
    python -m benchmarks.rounds_scores --strategy auto     the cells of one strategy; others stay as they are
    python -m benchmarks.rounds_scores --runs 100 --print  the same with fewer runs, printed only

Every strategy is replayed on fully judged sets, of real and of made scores, with a quarter of the items as
the budget (25 to 100). *Bias*: the mean error of a model's score over the runs, in its mean standard errors;
the worst model counts, and the root mean square over models with the noise of the runs taken out. Runs of
``auto`` follow an order whose first n items are a sample without bias: the part of the mean error that their
plain mean shares, noise of the runs, is taken out by regression (a control variate).
*Error*: the root mean square error over that of a plain mean of as many random labels, the mean over models.
*Accuracy*: soft pairwise accuracy of the expected p-values. *Held*, *printed*: 95 % intervals.

Finished parts are saved in .bench/rounds/, so that an interrupted run goes on where it stopped. It exits with
1 when the bias of a model of ``auto`` is above 0.1 standard errors by more than noise explains (Holm).
"""

from __future__ import annotations

import argparse
import json
import sys
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from functools import lru_cache
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.pages import replaced, table, write_whole
from benchmarks.resume import code_digest
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.auto import Auto, spread_order
from sparingly.run.rounds.replay import replay

Figures = dict[tuple[str, str], dict[str, Any]]
ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = (
    ROOT / "docs" / "research" / "coverage.md",
    ROOT / "benchmarks" / "results" / "rounds_scores.json",
)
SAVED = ROOT / ".bench" / "rounds"
STRATEGIES = ("auto", "waves")
CASES = (
    "made", "summeval:coherence", "topicalchat_usr:overall", "biomqm_enfr:mqm", "made:skewed",
    "thumb_mscoco:human_score", "frank_cnndm_notext:Factuality", "newsroom:relevance",
)  # fmt: skip
MOST_BIAS, PART = 0.1, 25


@lru_cache(maxsize=2)
def loaded(case: str, folder: Path) -> tuple[EvalSet, str]:
    """Return a set and the aspect that people judged."""
    name, _, aspect = case.partition(":")
    if name != "made":
        return sparingly.load(folder / f"{name}.jsonl.gz"), aspect
    draw = np.random.default_rng(len(case))
    own = draw.standard_normal((300, 8))
    own = -(draw.exponential(size=own.shape) ** 1.5) if aspect == "skewed" else own
    scores = np.linspace(0.0, 0.6, 8) + 0.7 * draw.standard_normal((300, 1)) + own
    items, models = [f"i{row:03d}" for row in range(300)], [f"m{place}" for place in range(8)]
    return EvalSet.from_arrays(items, models, aspects={"y": scores}), "y"


def budget_of(items: int) -> int:
    """Return a quarter of the items, 25 to 100 of them."""
    return int(min(max(25, items // 4), 100))


def part(task: tuple[str, str, int, int, Path]) -> dict[str, Any]:
    """Return what some runs of a strategy on a set gave: errors, standard errors, intervals, accuracy."""
    case, strategy, start, end, folder = task
    data, aspect = loaded(case, folder)
    truth = data.truth(aspect)
    means, full = truth.mean(axis=0), _full_p_values(truth)
    rows: dict[str, list[Any]] = {
        name: [] for name in ("error", "se", "held", "printed", "spent", "accuracy")
    }
    for seed in range(start, end):
        last = list(replay(data, strategy, budget_of(len(data)), truth=aspect, seed=seed))[-1]
        found = last.strategy.estimate(last.state)
        expected = last.strategy.expected(last.state)
        # A bound leaves the other side open.
        low, high = np.nan_to_num(found.low, nan=-np.inf), np.nan_to_num(found.high, nan=np.inf)
        printed = np.isfinite(found.low) | np.isfinite(found.high)
        rows["error"].append((found.scores - means).tolist())
        rows["se"].append(found.standard_errors.tolist())
        rows["held"].append(((low <= means + 1e-9) & (means <= high + 1e-9) & printed).tolist())
        rows["printed"].append(printed.tolist())
        rows["spent"].append(last.state.spent / truth.shape[1])
        rows["accuracy"].append(
            None if expected is None else float(1 - np.abs(expected.p_values - full).mean())
        )
    return rows


def _full_p_values(truth: Floats) -> Floats:
    from scipy.special import ndtr

    first, second = pair_indices(truth.shape[1])
    apart = truth[:, first] - truth[:, second]
    errors = apart.std(axis=0, ddof=1) / np.sqrt(len(truth))
    z = np.divide(apart.mean(axis=0), errors, out=np.zeros(len(errors)), where=errors > 0)
    return np.asarray(ndtr(-z))


@lru_cache(maxsize=2)
def controls(case: str, runs: int, folder: Path) -> Floats:
    """Return runs × models: by how much the mean of the first items of auto's order is off; 0 on average."""
    data, aspect = loaded(case, folder)
    truth, shown = data.truth(aspect), data.without_labels()
    shown = shown.only(Auto().reads(shown))
    first = [spread_order(shown, seed)[: budget_of(len(data))] for seed in range(runs)]
    return np.asarray(np.stack([truth[rows].mean(axis=0) for rows in first]) - truth.mean(axis=0))


def without_shared_noise(error: Floats, control: Floats) -> Floats:
    """Return errors less what a control of mean 0 explains of each model's, by least squares."""
    centred = control - control.mean(axis=0)
    slope = (centred * error).sum(axis=0) / np.maximum((centred**2).sum(axis=0), 1e-300)
    return np.asarray(error - slope * control)


def summary(case: str, strategy: str, rows: dict[str, Any], folder: Path) -> dict[str, Any]:
    """Return the figures of a strategy on a set."""
    data, aspect = loaded(case, folder)
    truth = data.truth(aspect)
    error, se = np.array(rows["error"]), np.array(rows["se"], float)
    runs = len(error)
    own = without_shared_noise(error, controls(case, runs, folder)) if strategy == "auto" else error
    bias = own.mean(axis=0) / np.nanmean(se, axis=0)
    noise = own.std(axis=0, ddof=1) / np.nanmean(se, axis=0) / np.sqrt(runs)
    random = truth.std(axis=0, ddof=1) * np.sqrt(1.0 / np.mean(rows["spent"]) - 1.0 / len(truth))
    ratio = np.sqrt((error**2).mean(axis=0)) / random
    printed, held = np.array(rows["printed"]), np.array(rows["held"])
    # Of single runs, for the standard error of the mean ratio over models.
    squares = ((error / random) ** 2).mean(axis=1)
    told = [one for one in rows["accuracy"] if one is not None]
    return {
        "runs": runs,
        "bias": bias.tolist(),
        "bias_error": noise.tolist(),
        "bias_with_shared_noise": (error.mean(axis=0) / np.nanmean(se, axis=0)).tolist(),
        "typical_bias": float(np.sqrt(max(float((bias**2 - noise**2).mean()), 0.0))),
        "error": float(ratio.mean()),
        "error_error": float(squares.std(ddof=1) / np.sqrt(runs) / (2.0 * np.sqrt(squares.mean()))),
        "held": float(held[printed].mean()),
        "held_error": float((held & printed).mean(axis=1).std(ddof=1) / np.sqrt(runs)),
        "printed": float(printed.mean()),
        "accuracy": float(np.mean(told)) if told else None,
        "accuracy_error": float(np.std(told, ddof=1) / np.sqrt(len(told))) if told else None,
    }


def biased(figures: Figures) -> list[tuple[str, str, int]]:
    """Return the models of ``auto`` with a bias above 0.1 standard errors, after Holm."""
    from scipy.special import ndtr

    every = [
        (float(ndtr((MOST_BIAS - abs(bias)) / noise)), (case, strategy, place))
        for (case, strategy), one in figures.items()
        if strategy == "auto"
        for place, (bias, noise) in enumerate(zip(one["bias"], one["bias_error"], strict=True))
    ]
    above = []
    for rank, (p_value, where) in enumerate(sorted(every)):
        if p_value > 0.05 / (len(every) - rank):
            break
        above.append(where)
    return above


def code() -> str:
    """Return a digest of the code that decides about the figures."""
    return code_digest(("infer", "run/rounds"), ("rounds_scores.py",))


def computed(
    runs: int, jobs: int, cases: tuple[str, ...], strategies: tuple[str, ...], folder: Path
) -> Figures:
    """Return the figures of some strategies on some sets; finished parts are read."""
    version = code()
    tasks = [
        (case, strategy, start, min(start + PART, runs), folder)
        for case in cases
        for strategy in strategies
        for start in range(0, runs, PART)
    ]

    def place(task: tuple[str, str, int, int, Path]) -> Path:
        name = "-".join(map(str, task[:4])).replace(":", "_")
        return SAVED / version / f"{name}.json"

    SAVED.joinpath(version).mkdir(parents=True, exist_ok=True)
    missing = [task for task in tasks if not place(task).exists()]
    if jobs == 1:
        for task in missing:
            write_whole(place(task), json.dumps(part(task)))
    else:
        with ProcessPoolExecutor(jobs) as pool:
            for task, rows in zip(missing, pool.map(part, missing), strict=True):
                write_whole(place(task), json.dumps(rows))
    found: Figures = {}
    for case in cases:
        for strategy in strategies:
            parts = [json.loads(place(task).read_text()) for task in tasks if task[:2] == (case, strategy)]
            rows = {name: [row for one in parts for row in one[name]] for name in parts[0]}
            found[case, strategy] = summary(case, strategy, rows, folder)
    return found


def merged(figures: Figures) -> Figures:
    """Return the figures with those of earlier runs for all other cells, in the table's order."""
    earlier = json.loads(RESULTS.read_text(encoding="utf-8"))["cells"] if RESULTS.exists() else []
    every = {(one["set"], one["strategy"]): one for one in earlier} | figures
    return {
        (case, strategy): every[case, strategy]
        for case in CASES
        for strategy in STRATEGIES
        if (case, strategy) in every
    }


def block(figures: Figures) -> str:
    """Return the table with a line about it."""
    rows = []
    for (case, strategy), one in figures.items():
        worst = int(np.argmax(np.abs(one["bias"])))
        accuracy = "–"
        if one["accuracy"] is not None:
            accuracy = f"{100 * one['accuracy']:.1f} ± {100 * one['accuracy_error']:.1f}"
        rows.append(
            [
                case,
                f"`{strategy}`",
                f"{one['runs']:,}",
                f"{one['bias'][worst]:+.2f} ± {one['bias_error'][worst]:.2f}",
                f"{one['typical_bias']:.2f}",
                f"{one['error']:.2f} ± {one['error_error']:.2f}",
                accuracy,
                f"{100 * one['held']:.1f} ± {100 * one['held_error']:.1f}",
                f"{100 * one['printed']:.1f}",
            ]
        )
    head = ["set", "strategy", "runs", "worst bias", "typical bias", "error / random's", "accuracy"]
    head += ["held, %", "printed, %"]
    return (
        f"{table(head, rows, texts=2)}\n\nBias in standard errors (the worst of a set's models, and the root "
        "mean square over models less noise). Error over that of as many random labels, mean over sets: "
        f"{_means(figures)}. {len(biased(figures))} models of `auto` have a bias above 0.1 standard errors "
        "by more than noise explains (Holm). "
        f"`python -m benchmarks.rounds_scores`, {date.today().isoformat()}."
    )


def _means(figures: Figures) -> str:
    """Return the mean error of every strategy over its sets."""
    parts = []
    for strategy in STRATEGIES:
        of_sets = [one for (_, name), one in figures.items() if name == strategy]
        if of_sets:
            mean = np.mean([one["error"] for one in of_sets])
            noise = np.sqrt(sum(one["error_error"] ** 2 for one in of_sets)) / len(of_sets)
            parts.append(f"`{strategy}` {mean:.3f} ± {noise:.3f} ({len(of_sets)} sets)")
    return "; ".join(parts)


def main(arguments: list[str] | None = None) -> int:
    """Compute the table, and write or print it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=1_000, help="replays of every cell")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--case", action="append", help="a set of the table; all unless given")
    parser.add_argument("--strategy", action="append", help="a strategy of the table; all unless given")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--print", action="store_true", help="print the table and write nothing")
    args = parser.parse_args(arguments)
    cases, strategies = tuple(args.case or CASES), tuple(args.strategy or STRATEGIES)
    found = computed(args.runs, args.jobs, cases, strategies, args.data)
    if args.print:
        print(block(found))
    else:
        found = merged(found)
        rows = [{**one, "set": case, "strategy": strategy} for (case, strategy), one in found.items()]
        about = {"date": date.today().isoformat(), "version": sparingly.__version__}
        write_whole(RESULTS, json.dumps({**about, "cells": rows}, indent=1, ensure_ascii=False) + "\n")
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"rounds": block(found)}))
    above = biased(found)
    for where in above:
        print(f"biased: {where}", file=sys.stderr)
    return 1 if above else 0


if __name__ == "__main__":
    sys.exit(main())
