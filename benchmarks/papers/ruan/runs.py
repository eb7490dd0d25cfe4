"""Runs of constrained active sampling and of what it is compared with, and how close they come."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.papers.ruan.sets import Case
from benchmarks.papers.work import Work, rounded
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.measures import kendall_b, significance_retained, top1_match
from sparingly.run.rounds.replay import replay

Figures = dict[str, Any]
Budget = str | int

HALF = "50%"
DRAWN = ("random", "heuristic")
MEASURES = ("kendall", "top1", "retained_05", "retained_001")


@dataclass(frozen=True)
class Run:
    """A cell: a method on a set, under a budget, with so many seeds.

    Attributes:
        case: The data set.
        name: The row or column of the table.
        method: The method as text.
        budget: A share such as ``50%``, or a number of items.
        seeds: How often it is repeated.
    """

    case: Case
    name: str
    method: str
    budget: Budget
    seeds: int


def chosen_rows(data: EvalSet, case: Case, method: str, budget: Budget, seed: int = 0) -> Ints:
    """Return the items that a method judges under a budget."""
    if not method.startswith("casf"):
        return data.positions(select(data, method, budget, seed=seed).items)
    state = list(replay(data, method, budget, truth=case.aspects[0], seed=seed))[-1].state
    return np.flatnonzero(state.asked.any(axis=1))


def measured(data: EvalSet, case: Case, rows: Ints) -> dict[str, list[float]]:
    """Return how close a subset's ranking comes to that of all items, aspect by aspect.

    Kendall's tau-b of the models' means, whether the best model is the same, and the share of the pairs
    significant on all items that stay so (Ruan et al. 2024, Tables 1 and 2 and their appendix).
    """
    found: dict[str, list[float]] = {name: [] for name in MEASURES}
    for aspect in case.aspects:
        scores = data.aspects[aspect]
        means, full = scores[rows].mean(axis=0), scores.mean(axis=0)
        part, whole = pair_signed_rank(scores[rows]), pair_signed_rank(scores)
        found["kendall"].append(float(kendall_b(means, full)))
        found["top1"].append(float(top1_match(means, full)))
        found["retained_05"].append(float(significance_retained(part, whole, 0.05)))
        found["retained_001"].append(float(significance_retained(part, whole, 0.001)))
    return found


def summed_up(runs: list[dict[str, list[float]]]) -> Figures:
    """Return the mean over runs of every measure, aspect by aspect, and the spread of Kendall's tau."""
    means: Figures = {name: _rounded(np.mean([run[name] for run in runs], axis=0)) for name in MEASURES}
    taus = np.array([run["kendall"] for run in runs])
    means["kendall_sd"] = _rounded(taus.std(axis=0, ddof=1)) if len(runs) > 1 else None
    means["first_runs"] = [rounded(tau) for tau in taus[:3].mean(axis=1)]
    means["runs"] = len(runs)
    return means


def runs_of(work: Work, case: Case, methods: Mapping[str, str], budget: Budget = HALF) -> list[Run]:
    """Return the cells of methods on a set; ``methods`` say what they change in CASF, or are drawn ones."""
    return [
        Run(
            case,
            name,
            changes if changes in DRAWN else case.method(changes),
            budget,
            work.effort.random_runs if changes in DRAWN else 1,
        )
        for name, changes in methods.items()
    ]


def set_figures(work: Work, cases: Iterable[Case], runs: Callable[[Case], list[Run]]) -> list[dict[str, Any]]:
    """Return the figures of every set, cell by cell, each computed once."""
    asked = [(case, runs(case)) for case in cases]
    done = iter(work.each(partial(_cell, work), [one for _, some in asked for one in some]))
    return [
        {
            "file": case.file,
            "title": case.title,
            "task": case.task,
            "aspects": list(case.aspects),
            "is_published": case.is_published,
            "items": len(work.load(case.file)),
            "methods": {one.name: next(done) for one in some},
        }
        for case, some in asked
    ]


def over_aspects(sets: Iterable[Mapping[str, Any]], method: str, measure: str = "kendall") -> Floats:
    """Return a measure of a method on every aspect of every set that has the method."""
    parts = [one["methods"][method][measure] for one in sets if method in one["methods"]]
    return np.concatenate(parts) if parts else np.empty(0)


def mean_text(values: Floats, digits: int = 2) -> str:
    """Return a mean as text; a dash where there is nothing to average."""
    known = values[~np.isnan(values)]
    return f"{known.mean():.{digits}f}" if len(known) else "–"


def beside(ours: str, published: float | None, digits: int = 2) -> str:
    """Return our figure with the published one in brackets."""
    return ours if published is None else f"{ours} ({published:.{digits}f})"


def _cell(work: Work, run: Run) -> Figures:
    key = {
        "what": "casf",
        "method": run.method,
        "aspects": run.case.aspects,
        "budget": run.budget,
        "runs": run.seeds,
    }

    def make() -> Figures:
        data = run.case.data(work)
        found = (chosen_rows(data, run.case, run.method, run.budget, seed=seed) for seed in range(run.seeds))
        return summed_up([measured(data, run.case, rows) for rows in found])

    found: Figures = work.cell(run.case.file, key, make)
    return found


def _rounded(values: Any) -> list[float | None]:
    return [rounded(value) for value in np.asarray(values).tolist()]
