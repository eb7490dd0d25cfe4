"""The data sets on which constrained active sampling is compared: those of its paper, and three others."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from benchmarks.papers.work import DEMO, Work, rounded
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.signed_rank import pair_signed_rank
from sparingly.choose.select import select
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.measures import kendall_b, significance_retained, top1_match
from sparingly.run.rounds.replay import replay

EIGHT = (
    "bert_score_f",
    "mover_score",
    "rouge1_f",
    "rouge2_f",
    "rougel_f",
    "bart_score_avg_f",
    "BLEU_4",
    "METEOR",
)
# As the paper names and orders them.
ORDERINGS = (
    "BERT-SCORE",
    "MOVER-SCORE",
    "ROUGE-1",
    "ROUGE-2",
    "ROUGE-L",
    "BART-SCORE",
    "BLEU",
    "METEOR",
)
TASKS = {"SUM": "summaries", "MT": "translation", "DGen": "dialogue", "MMGen": "captions"}


@dataclass(frozen=True)
class Case:
    """A data set: its aspects, the metrics of the learner, and the one that orders the first phase.

    The paper's eight metrics and MoverScore where the set has them; else all metrics, and chrF or ROUGE-L,
    which nobody chose by looking at the human scores.

    Attributes:
        file: The data set, without its ending.
        title: How it is called in the tables.
        task: The paper's short name of the task.
        aspects: What people judged.
        first: The metric that orders the first phase.
        metrics: The learner's features; all metrics where there are none.
        orderings: Which of the paper's eight metrics the set has, by the paper's name and its own.
        is_published: Whether the paper has this set.
    """

    file: str
    title: str
    task: str
    aspects: tuple[str, ...]
    first: str = "mover_score"
    metrics: tuple[str, ...] = EIGHT
    orderings: tuple[tuple[str, str], ...] = tuple(zip(ORDERINGS, EIGHT, strict=True))
    is_published: bool = True

    def data(self, work: Work) -> EvalSet:
        """Return the set with its outputs, metrics and aspects."""
        whole = work.load(self.file)
        return whole.only(name for name in whole.fields if name not in ("ratings", "preferences"))

    def method(self, changes: str = "") -> str:
        """Return CASF as text, with some parameters changed."""
        names = ",".join(f'"{name}"' for name in self.metrics)
        parts = [f"metric={self.first}", *([f"metrics=[{names}]"] if names else [])]
        if len(self.aspects) > 1:
            parts.append(f"aspects=[{','.join(self.aspects)}]")
        given = {part.split("=")[0] for part in changes.split(",")}
        kept = [part for part in parts if part.split("=")[0] not in given]
        return f"casf:{','.join([*kept, *([changes] if changes else [])])}"


CASES = (
    Case("newsroom", "Newsroom", "SUM", ("coherence", "fluency", "informativeness", "relevance")),
    Case("thumb_mscoco", "THUMB-MSCOCO", "MMGen", ("human_score",)),
    Case(
        "personachat_usr",
        "PersonaChat",
        "DGen",
        ("Understandable", "Natural", "Maintains Context", "Engaging", "Uses Knowledge", "Overall"),
    ),
    Case("casf_newstest2021_zhen", "newstest2021 zh–en", "MT", ("mqm",)),
    Case(
        "summeval",
        "SummEval",
        "SUM",
        ("coherence", "consistency", "fluency", "relevance"),
        "chrF",
        (),
        (("ROUGE-1", "ROUGE-1"), ("ROUGE-2", "ROUGE-2"), ("ROUGE-L", "ROUGE-L")),
    ),
    Case(
        "realsumm",
        "REALSumm",
        "SUM",
        ("litepyramid_recall",),
        "rouge_l_recall",
        (),
        (
            ("BERT-SCORE", "bert_f_score"),
            ("MOVER-SCORE", "mover_score"),
            ("ROUGE-1", "rouge_1_f_score"),
            ("ROUGE-2", "rouge_2_f_score"),
            ("ROUGE-L", "rouge_l_f_score"),
        ),
    ),
    Case(
        "opinsummeval",
        "OpinSummEval",
        "SUM",
        ("asp_rel", "self_coh", "sent_con", "readblty"),
        "chrF",
        (),
        (),
        is_published=False,
    ),
)
# Of the published sets that are here only one has more than 147 items: these show larger samples.
LARGER = (
    Case("wmt21_zhen", "WMT21 zh–en", "MT", ("mqm",), "chrF", (), (), is_published=False),
    Case("wmt21_ende", "WMT21 en–de", "MT", ("mqm",), "chrF", (), (), is_published=False),
)
DEMO_CASE = Case(
    DEMO, "demo", "SUM", ("overall",), "learned", (), (("MOVER-SCORE", "learned"), ("ROUGE-1", "surface"))
)


def cases(work: Work, usual: tuple[Case, ...] = CASES) -> tuple[Case, ...]:
    """Return the sets to compute on: the usual ones, or the demo set in their place."""
    return (DEMO_CASE,) if work.is_demo else usual


def files(usual: tuple[Case, ...] = CASES) -> tuple[str, ...]:
    """Return the names of the data sets."""
    return tuple(case.file for case in usual)


# --- runs of constrained active sampling and of what it is compared with, and how close they come --------


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
    parts = [data_set["methods"][method][measure] for data_set in sets if method in data_set["methods"]]
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
