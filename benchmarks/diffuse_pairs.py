"""The tables of docs/pairs.md: DiffUse against random samples on all pairs of models, and valid stops.

    python benchmarks/diffuse_pairs.py                         every set, written into the page
    python benchmarks/diffuse_pairs.py --only summeval_llm12   one set, printed only
    python benchmarks/diffuse_pairs.py --seeds 1               fewer seeds, printed only

Every seed takes 80 % of the items for the full set. Finished seeds are kept in .bench/diffuse/.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from _diffuse_runs import BUDGETS, HUMAN, METRIC, RISKS, RULES, run_seed
from _tables_markdown import folded, replaced, table
from _tables_work import write_whole

ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = ROOT / "docs" / "pairs.md", ROOT / "benchmarks" / "results" / "diffuse_pairs.json"
SETS = {
    "alpacaeval2_llmjudge": ("pref_vs_gpt4turbo_JUDGE_gpt4turbo", "AlpacaEval 2 (LLM judge)"),
    "wmt23_zhen": ("mqm", "WMT23 zh–en"),
    "wmt23_ende": ("mqm", "WMT23 en–de"),
    "wmt23_ende_esa": ("esa1", "WMT23 en–de, ESA"),
    "wmt23_zhen_mqm3": ("mqm3", "WMT23 zh–en, three raters"),
    "wmt23_ende_mqm3": ("mqm3", "WMT23 en–de, three raters"),
    "summeval_llm12": ("sum", "SummEval"),
}
SEEDS = 10


def cell(task: tuple[Path, str, int, Path | None]) -> tuple[str, dict[str, Any]]:
    """Return the figures of one seed of a set; what was computed before is read."""
    folder, file, seed, kept = task
    place = None if kept is None else kept / f"{file}-{seed}.json"
    if place is not None and place.is_file():
        return file, json.loads(place.read_text(encoding="utf-8"))
    start, cpu = time.time(), time.process_time()
    found = run_seed(folder, file, SETS[file][0], seed)
    found["seconds"], found["cpu"] = time.time() - start, time.process_time() - cpu
    if place is not None:
        write_whole(place, json.dumps(found))
    print(f"{file:<24} seed {seed}  {found['cpu']:.0f} s of CPU", flush=True)
    return file, found


def figures(folder: Path, files: list[str], seeds: int, kept: Path | None, jobs: int) -> dict[str, Any]:
    """Return the sums over seeds of every set."""
    tasks = [(folder, file, seed, kept) for file in files for seed in range(seeds)]
    with ProcessPoolExecutor(jobs) as pool:
        done = list(pool.map(cell, tasks))
    sets = {file: _summed([found for name, found in done if name == file]) for file in files}
    return {"version": sparingly.__version__, "date": date.today().isoformat(), "seeds": seeds, "sets": sets}


def _summed(parts: list[dict[str, Any]]) -> dict[str, Any]:
    ends = {
        kind: {
            name: np.sum([part["ends"][kind][name] for part in parts], axis=0).tolist()
            for name in ("runs", "labels", "ended", "distance")
        }
        for kind in parts[0]["ends"]
    }
    return {
        "hits": {
            kind: np.sum([part["hits"][kind] for part in parts], axis=0).tolist() for kind in parts[0]["hits"]
        },
        "runs": {kind: sum(part["runs"][kind] for part in parts) for kind in parts[0]["runs"]},
        "ends": ends,
        "tied": sum(part["tied"] for part in parts),
        "cpu": sum(part["cpu"] for part in parts),
    }


def curve_table(sets: dict[str, Any]) -> str:
    """Return the mean success rate over budgets, and at four of them."""
    marks = (10, 30, 100, 200)
    rows = []
    for file, one in sets.items():
        for truth in (HUMAN, METRIC):
            if f"diffuse {truth}" not in one["runs"]:
                continue
            rates = [
                np.array(one["hits"][f"{kind} {truth}"]) / one["runs"][f"{kind} {truth}"]
                for kind in ("random", "diffuse")
            ]
            cells = [
                f"{100 * rates[0][BUDGETS.index(at)]:.1f} / {100 * rates[1][BUDGETS.index(at)]:.1f}"
                for at in marks
            ]
            runs = f"{one['runs'][f'diffuse {truth}']:,}".replace(",", " ")
            rows.append([SETS[file][1], truth, runs, *cells, *(f"{100 * rate.mean():.1f}" for rate in rates)])
    heads = [f"at {mark}" for mark in marks]
    return table(["set", "truth", "runs", *heads, "mean, random", "DiffUse"], rows, texts=2)


def iterative_table(sets: dict[str, Any], risk: float, truth: str) -> str:
    """Return annotations, error, success, inconclusive and distances at a risk."""
    at = RISKS.index(risk)
    rows = []
    for file, one in sets.items():
        for rule in RULES[:2]:
            found = one["ends"].get(f"{rule} {truth}")
            if found is None:
                continue
            ended, distance = np.array(found["ended"][at]), np.array(found["distance"][at])
            shares = [f"{100 * ended[place] / found['runs']:.1f}" for place in (1, 0, 2)]
            gaps = [
                f"{distance.sum() / found['runs']:.2f}",
                *(_mean(distance[p], ended[p]) for p in (1, 0, 2)),
            ]
            name = "DiffUse" if rule == RULES[0] else "random"
            rows.append([SETS[file][1], name, f"{found['labels'][at] / found['runs']:.1f}", *shares, *gaps])
    head = ["set", "method", "labels", "error %", "success %", "open %"]
    return table([*head, "apart", "errors", "successes", "open"], rows, texts=2)


def _mean(total: float, count: float) -> str:
    return f"{total / count:.2f}" if count else "–"


def matched_table(sets: dict[str, Any], truth: str) -> str:
    """Return, at the error of DiffUse's iterative form with p = 0.2, what the other rules take."""
    rows = []
    for file, one in sets.items():
        ours = one["ends"].get(f"{RULES[0]} {truth}")
        if ours is None:
            continue
        error = ours["ended"][RISKS.index(0.2)][1] / ours["runs"]
        cells = [_at_error(one["ends"][f"{rule} {truth}"], error, rule == RULES[0]) for rule in RULES]
        rows.append([SETS[file][1], f"{100 * error:.1f}", *cells])
    return table(
        ["set", "error %", "DiffUse", "random, same stop", "random, group-sequential", "random, anytime"],
        rows,
    )


def _at_error(found: dict[str, Any], error: float, is_reference: bool) -> str:
    """Return labels and success of a rule at the largest risk whose measured error is no larger."""
    errors = np.array([ended[1] for ended in found["ended"]]) / found["runs"]
    within = np.flatnonzero(errors <= error + 1e-12)
    at = RISKS.index(0.2) if is_reference else int(within[0]) if len(within) else len(RISKS) - 1
    labels, wins = found["labels"][at] / found["runs"], found["ended"][at][0] / found["runs"]
    return f"{labels:.0f}, {100 * wins:.0f} % ({RISKS[at]:g}: {100 * errors[at]:.1f})"


def blocks(computed: dict[str, Any]) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    sets = computed["sets"]
    largest = sets.get("alpacaeval2_llmjudge")
    spent = f" AlpacaEval took {largest['cpu'] / 60:.1f} minutes of CPU." if largest else ""
    about = f"`python benchmarks/diffuse_pairs.py`, {computed['date']}, {computed['seeds']} seeds.{spent}"
    tables = {
        f"iterative-{str(risk)[2:]}": "\n\n".join(
            [
                iterative_table(sets, risk, HUMAN),
                folded("The same with every metric as the truth", iterative_table(sets, risk, METRIC)),
            ]
        )
        for risk in (0.2, 0.1)
    }
    return {
        "pairs-curves": f"{curve_table(sets)}\n\n{about}",
        **tables,
        "pairs-matched": "\n\n".join(
            [
                matched_table(sets, HUMAN),
                folded("With every metric as the truth", matched_table(sets, METRIC)),
            ]
        ),
    }


def main(arguments: list[str] | None = None) -> int:
    """Compute the tables, and write or print them."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    reader.add_argument("--only", action="append", choices=SETS, help="one set, printed only")
    reader.add_argument("--seeds", type=int, default=SEEDS, help="seeds of every set")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "diffuse", help="finished seeds")
    given = reader.parse_args(arguments)
    if not given.data.is_dir():
        print(f"There is no folder {given.data}: name it with --data.", file=sys.stderr)
        return 2
    start = time.time()
    computed = figures(given.data, given.only or list(SETS), given.seeds, given.kept, given.jobs)
    print(f"{time.time() - start:.0f} s in all")
    if given.only or given.seeds != SEEDS:
        print("\n\n".join(blocks(computed).values()))
        return 0
    write_whole(RESULTS, json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), blocks(computed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
