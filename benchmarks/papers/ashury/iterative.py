"""Tables 2 and 3 and Fig. 6: iterative selection, which stops by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.pages import folded, table
from benchmarks.papers.ashury.sets import (
    FILES,
    HUMAN,
    LEAST,
    METRICS,
    MINILM_RULE,
    MOST,
    MOST_PAIRS,
    RISKS,
    RULES,
    Figures,
    pair_figures,
    sources,
)
from benchmarks.papers.catalogue import PaperTable
from benchmarks.papers.work import Work

# --- the published figures of Ashury Tahan et al. 2024; those of their plots are not given as numbers ----


# Tables 2 (p = 0.2) and 3 (p = 0.1): labels, error %, success %, inconclusive %, and the mean distance in all
# runs and in those that ended in an error, a success, or inconclusive (None: no such run).
Row = tuple[float, float, float, float, float, float | None, float, float]
P02: Mapping[tuple[str, str], Row] = {
    ("CNN/DailyMail", "DiffUse"): (15.90, 11.97, 86.50, 1.53, 0.27, 0.06, 0.30, 0.09),
    ("CNN/DailyMail", "random"): (22.47, 16.77, 80.32, 2.91, 0.27, 0.10, 0.31, 0.07),
    ("NarrativeQA", "DiffUse"): (28.77, 4.20, 89.64, 6.16, 0.31, 0.06, 0.34, 0.05),
    ("NarrativeQA", "random"): (118.69, 0.72, 43.03, 56.25, 0.31, 0.11, 0.55, 0.13),
    ("NaturalQuestions, closed book", "DiffUse"): (189.05, 0.20, 6.40, 93.41, 0.15, 0.12, 0.32, 0.13),
    ("NaturalQuestions, closed book", "random"): (191.74, 0.11, 4.37, 95.53, 0.15, 0.10, 0.32, 0.14),
    ("NaturalQuestions, open book", "DiffUse"): (85.25, 0.93, 62.81, 36.26, 0.20, 0.03, 0.28, 0.06),
    ("NaturalQuestions, open book", "random"): (160.97, 0.17, 21.79, 78.05, 0.20, 0.15, 0.44, 0.13),
    ("QuAC", "DiffUse"): (86.91, 7.75, 58.24, 34.01, 0.15, 0.07, 0.20, 0.08),
    ("QuAC", "random"): (128.93, 4.37, 35.93, 59.70, 0.15, 0.09, 0.25, 0.10),
    ("XSum", "DiffUse"): (44.25, 6.86, 79.38, 13.75, 0.30, 0.09, 0.35, 0.08),
    ("XSum", "random"): (59.39, 6.05, 72.45, 21.50, 0.30, 0.10, 0.37, 0.09),
}
P01: Mapping[tuple[str, str], Row] = {
    ("CNN/DailyMail", "DiffUse"): (34.54, 7.13, 86.44, 6.43, 0.27, 0.05, 0.30, 0.07),
    ("CNN/DailyMail", "random"): (51.98, 8.65, 79.32, 12.03, 0.27, 0.07, 0.32, 0.07),
    ("NarrativeQA", "DiffUse"): (47.80, 1.35, 84.53, 14.11, 0.31, 0.05, 0.36, 0.05),
    ("NarrativeQA", "random"): (132.75, 0.05, 37.69, 62.27, 0.31, 0.05, 0.59, 0.14),
    ("NaturalQuestions, closed book", "DiffUse"): (195.37, 0.00, 3.30, 96.70, 0.15, None, 0.37, 0.14),
    ("NaturalQuestions, closed book", "random"): (197.35, 0.00, 1.65, 98.35, 0.15, None, 0.40, 0.14),
    ("NaturalQuestions, open book", "DiffUse"): (111.02, 0.23, 52.87, 46.91, 0.20, 0.02, 0.30, 0.07),
    ("NaturalQuestions, open book", "random"): (172.34, 0.02, 16.71, 83.27, 0.20, 0.05, 0.49, 0.14),
    ("QuAC", "DiffUse"): (129.20, 2.96, 43.26, 53.78, 0.15, 0.06, 0.23, 0.09),
    ("QuAC", "random"): (158.26, 1.14, 25.11, 73.75, 0.15, 0.08, 0.29, 0.11),
    ("XSum", "DiffUse"): (71.18, 2.16, 73.21, 24.62, 0.30, 0.07, 0.37, 0.08),
    ("XSum", "random"): (88.84, 2.09, 63.90, 34.01, 0.30, 0.08, 0.41, 0.10),
}
BY_RISK: Mapping[float, Mapping[tuple[str, str], Row]] = {0.2: P02, 0.1: P01}


# --- tables 2 and 3 and Fig. 6 ---------------------------------------------------------------------------


_NAMES = {RULES[0]: "DiffUse", MINILM_RULE: "DiffUse, MiniLM", RULES[1]: "random"}
_HEADS = ("labels", "error %", "success %", "open %", "apart", "errors", "successes", "open")
_ABOUT = (
    f"At least {LEAST} and at most {MOST} labels; *open* runs were inconclusive. The last four columns say "
    "how far apart the two models are on the full set: in all runs, and in those that ended in an error, a "
    "success, or open."
)
_WHY = (
    "The sets differ: HELM's six scenarios are not in the collection, and their oracles are automatic "
    "metrics with many ties, which the stop counts against a lead, so that more of their runs stay open. "
    "Outputs are embedded by character n-grams, and by MiniLM as there. What carries over: errors are among "
    "models that are close, and by MiniLM fewer labels are needed on most sets. What does not: random with "
    "the same stop errs no more on about half of these "
    "sets, and the risk p is no error rate."
)


def figures(work: Work, most_pairs: int | None = MOST_PAIRS) -> Figures:
    """Compute how iterative runs end, on every set, by the human scores and by every metric."""
    seeds = range(work.effort.seeds)
    sets = [pair_figures(work, source, seeds=seeds, most_pairs=most_pairs) for source in sources(work)]
    return {"seeds": work.effort.seeds, "sets": [_without_curves(data_set) for data_set in sets]}


def _without_curves(figures: Figures) -> Figures:
    return {name: part for name, part in figures.items() if name != "curves"}


def iterative_table(sets: Sequence[Figures], risk: float, truth: str) -> str:
    """Return annotations, error, success, inconclusive and distances at a risk."""
    rows = []
    for data_set in sets:
        for rule, name in _NAMES.items():
            found = data_set["ends"].get(f"{rule} {truth}")
            if found is not None:
                rows.append([data_set["title"], name, *_cells(found, RISKS.index(risk))])
    return table(["set", "method", *_HEADS], rows, texts=2)


def _cells(found: Mapping[str, Any], at: int) -> list[str]:
    ended, distance = np.array(found["ended"][at]), np.array(found["distance"][at])
    shares = [f"{100 * ended[place] / found['runs']:.1f}" for place in (1, 0, 2)]
    apart = [_mean(distance[place], ended[place]) for place in (1, 0, 2)]
    return [
        f"{found['labels'][at] / found['runs']:.1f}",
        *shares,
        f"{distance.sum() / found['runs']:.2f}",
        *apart,
    ]


def _mean(total: float, count: float) -> str:
    return f"{total / count:.2f}" if count else "–"


def _published_table(risk: float) -> str:
    rows = [
        [
            name,
            method,
            f"{row[0]:.1f}",
            *(f"{share:.1f}" for share in row[1:4]),
            *("–" if gap is None else f"{gap:.2f}" for gap in row[4:]),
        ]
        for (name, method), row in BY_RISK[risk].items()
    ]
    return table(["published set", "method", *_HEADS], rows, texts=2)


def runs_text(computed: Figures) -> str:
    """Say how many runs are behind a table."""
    pairs = ", ".join(
        f"{one['pairs']}" + (f" of {one['of_pairs']}" if one["pairs"] < one["of_pairs"] else "")
        for one in computed["sets"]
    )
    return (
        f"{computed['seeds']} seeds, each with 80 % of the items for the full set; pairs of models, set by "
        f"set: {pairs}. Pairs that tie on the full set do not count. Published: 666 pairs, 10 seeds."
    )


def text(risk: float, computed: Figures) -> str:
    """Return Table 2 or 3 next to the published one."""
    sets = computed["sets"]
    parts = [f"By human scores, p = {risk:g}:", iterative_table(sets, risk, HUMAN)]
    if any(f"{RULES[0]} {METRICS}" in data_set["ends"] for data_set in sets):
        parts += ["With every metric as the oracle:", iterative_table(sets, risk, METRICS)]
    return "\n\n".join([*parts, _published_table(risk), _ABOUT, runs_text(computed), _WHY])


def text_of_ends(computed: Figures) -> str:
    """Return Fig. 6: labels set by set, and how runs ended over all sets."""
    at, sets = RISKS.index(0.2), computed["sets"]
    labels = []
    for data_set in sets:
        ends = [data_set["ends"][f"{rule} {HUMAN}"] for rule in _NAMES]
        labels.append([data_set["title"], *(f"{end['labels'][at] / end['runs']:.0f}" for end in ends)])
    rows = [[f"{name}, here", *_shares(sets, rule, at)] for rule, name in _NAMES.items()]
    for method in ("DiffUse", "random"):
        known = np.array([row[1:4] for key, row in P02.items() if key[1] == method])
        rows.append([f"{method}, published", *(f"{share:.1f}" for share in known.mean(axis=0))])
    return "\n\n".join(
        [
            table(["labels until the stop", *_NAMES.values()], labels),
            table(["over all sets", "error %", "success %", "open %"], rows),
            "Both panels of the figure as numbers, p = 0.2, human scores; every set counts alike. Published "
            "shares are the means of Table 2.",
            runs_text(computed),
            _WHY,
        ]
    )


def _shares(sets: Sequence[Figures], rule: str, at: int) -> list[str]:
    found = [one["ends"][f"{rule} {HUMAN}"] for one in sets]
    means = np.mean([np.array(one["ended"][at]) / one["runs"] for one in found], axis=0)
    return [f"{100 * means[place]:.1f}" for place in (1, 0, 2)]


def matched_table(sets: Sequence[Figures], truth: str) -> str:
    """Return, at the error of DiffUse's iterative form with p = 0.2, what the other rules take."""
    rows = []
    for data_set in sets:
        ours = data_set["ends"].get(f"{RULES[0]} {truth}")
        if ours is None:
            continue
        error = ours["ended"][RISKS.index(0.2)][1] / ours["runs"]
        cells = [_at_error(data_set["ends"][f"{rule} {truth}"], error, rule == RULES[0]) for rule in RULES]
        rows.append([data_set["title"], f"{100 * error:.1f}", *cells])
    return table(
        ["set", "error %", "DiffUse", "random, same stop", "random, group-sequential", "random, anytime"],
        rows,
    )


def _at_error(found: Mapping[str, Any], error: float, is_reference: bool) -> str:
    """Return labels and success of a rule at the largest risk whose measured error is no larger."""
    errors = np.array([ended[1] for ended in found["ended"]]) / found["runs"]
    within = np.flatnonzero(errors <= error + 1e-12)
    at = RISKS.index(0.2) if is_reference else int(within[0]) if len(within) else len(RISKS) - 1
    labels, wins = found["labels"][at] / found["runs"], found["ended"][at][0] / found["runs"]
    return f"{labels:.0f}, {100 * wins:.0f} % ({RISKS[at]:g}: {100 * errors[at]:.1f})"


def blocks(computed: Figures) -> dict[str, str]:
    """Return the parts of the page about pairs, by the names of their markers."""
    sets = computed["sets"]
    tables = {
        f"iterative-{str(risk)[2:]}": "\n\n".join(
            [
                iterative_table(sets, risk, HUMAN),
                folded("The same with every metric as the truth", iterative_table(sets, risk, METRICS)),
            ]
        )
        for risk in (0.2, 0.1)
    }
    matched = [
        matched_table(sets, HUMAN),
        folded("With every metric as the truth", matched_table(sets, METRICS)),
    ]
    return {**tables, "pairs-matched": "\n\n".join(matched)}


_TITLE = "Ashury Tahan et al. 2024, {}: iterative selection {}"
TABLE2 = PaperTable("s4-table2", _TITLE.format("Table 2", "with p = 0.2"), FILES, figures, partial(text, 0.2))
TABLE3 = PaperTable("s4-table3", _TITLE.format("Table 3", "with p = 0.1"), FILES, figures, partial(text, 0.1))
FIG6 = PaperTable("s4-fig6", _TITLE.format("Fig. 6", "in two panels, p = 0.2"), FILES, figures, text_of_ends)
