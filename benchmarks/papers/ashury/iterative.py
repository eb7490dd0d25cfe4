"""Tables 2 and 3 and Fig. 6: iterative selection, which stops by itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np

from benchmarks.papers.ashury import published
from benchmarks.papers.ashury.sets import FILES, MOST_PAIRS, sources
from benchmarks.papers.ashury.stops import LEAST, MOST, RISKS
from benchmarks.papers.ashury.tally import HUMAN, METRICS, RULES, Figures, pair_figures
from benchmarks.papers.base import PaperTable
from benchmarks.papers.markdown import folded, table
from benchmarks.papers.work import Work

_NAMES = {RULES[0]: "DiffUse", RULES[1]: "random"}
_HEADS = ("labels", "error %", "success %", "open %", "apart", "errors", "successes", "open")
_ABOUT = (
    f"At least {LEAST} and at most {MOST} labels; *open* runs were inconclusive. The last four columns say "
    "how far apart the two models are on the full set: in all runs, and in those that ended in an error, a "
    "success, or open."
)
_WHY = (
    "The sets differ: HELM's six scenarios are not in the collection, and their oracles are automatic "
    "metrics with many ties, which the stop counts against a lead, so that more of their runs stay open. "
    "Our outputs are embedded by character n-grams instead of MiniLM. What carries over: errors are among "
    "models that are close. What does not: random with the same stop errs no more on about half of these "
    "sets, and the risk p is no error rate."
)


def figures(work: Work, most_pairs: int | None = MOST_PAIRS) -> Figures:
    """Compute how iterative runs end, on every set, by the human scores and by every metric."""
    seeds = range(work.effort.seeds)
    sets = [pair_figures(work, source, seeds=seeds, most_pairs=most_pairs) for source in sources(work)]
    return {"seeds": work.effort.seeds, "sets": [_without_curves(one) for one in sets]}


def _without_curves(found: Figures) -> Figures:
    return {name: part for name, part in found.items() if name != "curves"}


def iterative_table(sets: Sequence[Figures], risk: float, truth: str) -> str:
    """Return annotations, error, success, inconclusive and distances at a risk."""
    rows = []
    for one in sets:
        for rule, name in _NAMES.items():
            found = one["ends"].get(f"{rule} {truth}")
            if found is not None:
                rows.append([one["title"], name, *_cells(found, RISKS.index(risk))])
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
        for (name, method), row in published.BY_RISK[risk].items()
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
    if any(f"{RULES[0]} {METRICS}" in one["ends"] for one in sets):
        parts += ["With every metric as the oracle:", iterative_table(sets, risk, METRICS)]
    return "\n\n".join([*parts, _published_table(risk), _ABOUT, runs_text(computed), _WHY])


def text_of_ends(computed: Figures) -> str:
    """Return Fig. 6: labels set by set, and how runs ended over all sets."""
    at, sets = RISKS.index(0.2), computed["sets"]
    labels = [
        [
            one["title"],
            *(
                f"{one['ends'][f'{rule} {HUMAN}']['labels'][at] / one['ends'][f'{rule} {HUMAN}']['runs']:.0f}"
                for rule in _NAMES
            ),
        ]
        for one in sets
    ]
    rows = [[f"{name}, here", *_shares(sets, rule, at)] for rule, name in _NAMES.items()]
    for method in _NAMES.values():
        known = np.array([row[1:4] for key, row in published.P02.items() if key[1] == method])
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
    for one in sets:
        ours = one["ends"].get(f"{RULES[0]} {truth}")
        if ours is None:
            continue
        error = ours["ended"][RISKS.index(0.2)][1] / ours["runs"]
        cells = [_at_error(one["ends"][f"{rule} {truth}"], error, rule == RULES[0]) for rule in RULES]
        rows.append([one["title"], f"{100 * error:.1f}", *cells])
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
