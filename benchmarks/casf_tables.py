"""The tables of docs/casf.md: CASF against random, heuristic, its own baselines, regressors and phases.

    python benchmarks/casf_tables.py                  every table, written into the page
    python benchmarks/casf_tables.py --only newsroom  one set, printed only
    python benchmarks/casf_tables.py --runs 3         fewer runs of random and heuristic, printed only

Finished cells are kept in .bench/casf/, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from _casf_runs import CASES, REPEATED, Case, chosen_rows, mean_of_runs, measured
from _tables_markdown import bold, folded, replaced, table
from _tables_work import write_whole

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "casf.md"
RESULTS = ROOT / "benchmarks" / "results" / "casf.json"
SHARE = "50%"
REGRESSORS = ("boosting", "linear", "adaboost", "bagging", "tree", "extra_trees", "knn", "forest", "svm")
METHODS = {
    "random": "random",
    "heuristic": "heuristic",
    "8M": "by=mean,phases=1",
    "SM": "phases=1",
    "OL": "controller=false",
    "CASF": "",
}
# The published means over 44 aspects of 16 sets: Kendall (Table 1) and top-ranked accuracy (Table 2).
PUBLISHED = {
    "random": (0.68, 0.76),
    "heuristic": (0.72, 0.78),
    "8M": (0.67, 0.84),
    "SM": (0.72, 0.91),
    "OL": (0.68, 0.77),
    "CASF": (0.83, 0.93),
}
# Table 3, column by column: the mean Kendall for 2 to 10 phases.
PUBLISHED_PHASES = {
    "average": (0.75, 0.76, 0.76, 0.83, 0.72, 0.72, 0.70, 0.73, 0.75),
    "0.1": (0.73, 0.75, 0.80, 0.83, 0.75, 0.69, 0.73, 0.72, 0.73),
    "0.05": (0.74, 0.74, 0.77, 0.77, 0.73, 0.69, 0.72, 0.72, 0.75),
    "0.15": (0.73, 0.77, 0.76, 0.76, 0.71, 0.73, 0.79, 0.75, 0.70),
}


def phase_methods() -> dict[str, str]:
    """Return every mode, ratio and number of phases of the paper's Table 3."""
    found = {f"average {phases}": f"phases={phases}" for phases in range(2, 11)}
    for share in ("0.1", "0.05", "0.15"):
        for phases in range(2, 11):
            found[f"{share} {phases}"] = f"phases={phases},mode=preliminary_fixed,preliminary={share}"
    return found


def all_methods() -> dict[str, str]:
    """Return every column and row of the tables with what it changes in CASF."""
    return {**METHODS, **{f"by {name}": f"regressor={name}" for name in REGRESSORS}, **phase_methods()}


def case_figures(case: Case, folder: Path, runs: int, kept: Path | None) -> dict[str, Any]:
    """Return the figures of a set; what was computed before is read."""
    data = case.data(folder)
    found: dict[str, Any] = {}
    for name, changes in all_methods().items():
        cell = None if kept is None else kept / f"{case.file}-{name.replace(' ', '-')}-{runs}.json"
        if cell is not None and cell.is_file():
            found[name] = json.loads(cell.read_text(encoding="utf-8"))
            continue
        method = changes if changes in REPEATED else case.method(changes)
        seeds = range(runs) if name in REPEATED else range(1)
        found[name] = mean_of_runs(
            [measured(data, case, chosen_rows(data, case, method, SHARE, seed)) for seed in seeds]
        )
        if cell is not None:
            write_whole(cell, json.dumps(found[name]))
        print(f"{case.file:<24}{name:<16}tau {np.mean(found[name]['kendall']):.3f}", flush=True)
    return {"file": case.file, "title": case.title, "aspects": list(case.aspects), "methods": found}


def figures(folder: Path, runs: int, kept: Path | None, only: list[str] | None = None) -> dict[str, Any]:
    """Return the figures of all sets, or of some."""
    cases = [case for case in CASES if not only or case.file in only]
    return {
        "version": sparingly.__version__,
        "date": date.today().isoformat(),
        "runs": runs,
        "sets": [case_figures(case, folder, runs, kept) for case in cases],
    }


def over_aspects(sets: list[dict[str, Any]], method: str, measure: str) -> np.ndarray[Any, Any]:
    """Return a measure of a method on every aspect of every set."""
    return np.concatenate([one["methods"][method][measure] for one in sets])


def main_table(sets: list[dict[str, Any]]) -> str:
    """Return the means over all aspects, with wins against random and the published figures."""
    chance = over_aspects(sets, "random", "kendall")
    rows = []
    for name in METHODS:
        tau = over_aspects(sets, name, "kendall")
        cells = [f"{np.nanmean(over_aspects(sets, name, part)):.2f}" for part in _PARTS]
        against = (
            "–" if name == "random" else f"{(tau > chance + 1e-12).sum()} / {(tau < chance - 1e-12).sum()}"
        )
        rows.append([name, *cells, against, *(f"{value:.2f}" for value in PUBLISHED[name])])
    head = ["method", "Kendall", "top-1", "retained, p < .05", "p < .001", "above / below random's mean"]
    return table([*head, "published Kendall", "top-1"], rows)


_PARTS = ("kendall", "top1", "retained_05", "retained_001")


def by_set(sets: list[dict[str, Any]]) -> str:
    """Return Kendall's tau of every aspect, the best deterministic method of each in bold."""
    rows = []
    for one in sets:
        for place, aspect in enumerate(one["aspects"]):
            tau = [one["methods"][name]["kendall"][place] for name in METHODS]
            spread = one["methods"]["random"]["kendall_sd"]
            first = f"{tau[0]:.2f} ± {spread[place]:.2f}" if spread else f"{tau[0]:.2f}"
            rest = [bold(f"{value:.2f}", value >= max(tau) - 1e-9) for value in tau[1:]]
            rows.append([one["title"], aspect, first, *rest])
    return table(["set", "aspect", *METHODS], rows, texts=2)


def regressor_table(sets: list[dict[str, Any]]) -> str:
    """Return the mean measures of CASF with each of the nine regressors."""
    rows = [
        [f"`{name}`", *(f"{np.nanmean(over_aspects(sets, f'by {name}', part)):.2f}" for part in _PARTS)]
        for name in REGRESSORS
    ]
    return table(["regressor", "Kendall", "top-1", "retained, p < .05", "p < .001"], rows)


def phases_table(sets: list[dict[str, Any]]) -> str:
    """Return the mean Kendall of every mode, ratio and number of phases, the published one in brackets."""
    rows = []
    for place, phases in enumerate(range(2, 11)):
        found = {mode: over_aspects(sets, f"{mode} {phases}", "kendall").mean() for mode in PUBLISHED_PHASES}
        cells = [f"{tau:.2f} ({PUBLISHED_PHASES[mode][place]:.2f})" for mode, tau in found.items()]
        rows.append([str(phases), *cells])
    return table(["phases", "average", "first 10 %", "first 5 %", "first 15 %"], rows)


def blocks(computed: dict[str, Any]) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    sets = computed["sets"]
    runs = f"{computed['runs']} runs of random and heuristic"
    about = f"`python benchmarks/casf_tables.py`, {computed['date']}, {runs}."
    return {
        "casf": f"{main_table(sets)}\n\n{folded('Kendall, aspect by aspect', by_set(sets))}\n\n{about}",
        "casf-regressors": regressor_table(sets),
        "casf-phases": phases_table(sets),
    }


def main(arguments: list[str] | None = None) -> int:
    """Compute the tables, and write or print them."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    reader.add_argument("--only", action="append", help="one set, printed only")
    reader.add_argument("--runs", type=int, default=100, help="runs of random and heuristic")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "casf", help="finished cells")
    given = reader.parse_args(arguments)
    if not given.data.is_dir():
        print(f"There is no folder {given.data}: name it with --data.", file=sys.stderr)
        return 2
    computed = figures(given.data, given.runs, given.kept, given.only)
    if given.only or given.runs != 100:
        print("\n\n".join(blocks(computed).values()))
        return 0
    write_whole(RESULTS, json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), blocks(computed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
