"""The tables of docs/results-scores.md, as Markdown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from benchmarks._score_errors_bars import SAFE_BAR, line_of
from benchmarks._score_errors_ours import OURS, VOUCHED
from benchmarks.papers.markdown import CLEARLY_WORSE, WORSE, bold, folded, table
from benchmarks.papers.saldias.methods import BASE, BEST_PUBLISHED
from benchmarks.papers.saldias.published import EN_DE, TABLE_1, TABLE_3, TABLE_4, ZH_EN, ratio

Figures = Mapping[str, Any]

TITLES = {
    "wmt23_zhen": "WMT23 zh–en",
    "wmt23_ende": "WMT23 en–de",
    "wmt20_ende_notext": "WMT20 en–de",
    "ted21_ende": "TED21 en–de",
    "biomqm_deen": "Bio de–en",
    "biomqm_ende": "Bio en–de",
    "biomqm_enes": "Bio en–es",
    "biomqm_enfr": "Bio en–fr",
    "biomqm_enru": "Bio en–ru",
}
# Tables 1, 3 and 4 of the paper, by the row here that stands for theirs.
PAPER = {
    "docs-prop": (TABLE_1, "docs-prop"),
    "docs-opt": (TABLE_1, "docs-opt"),
    "metrics-prop": (TABLE_1, "metrics-prop"),
    "cv-one": (TABLE_3, "cv-bleurt"),
    "cv-mean": (TABLE_3, "cv-mean"),
    "cv-multi": (TABLE_3, "cv-multi"),
    "cv-knn": (TABLE_3, "cv-knn"),
    BEST_PUBLISHED: (TABLE_4, BEST_PUBLISHED),
    "metrics-prop+cv-knn": (TABLE_4, "metrics-prop+cv-knn"),
}
# Where the paper's figures have their nearest kin.
PAPER_SETS = {EN_DE: "wmt20_ende_notext", ZH_EN: "wmt23_zhen"}
# A vouched metric is a choice of the user's, not what the defaults give.
_CONDITIONAL = VOUCHED


def blocks(computed: Figures) -> dict[str, str]:
    """Return the tables by their names."""
    full = [one for one in computed["sets"] if one["bounds"]]
    return {
        "score-errors-run": _run(computed),
        "score-errors-bars": _bars(computed["bars"]),
        "score-errors": _overview(full),
        "score-errors-paper": _paper(full),
        "score-errors-details": "\n\n".join(_details(one) for one in full),
        "score-errors-all": _everywhere(computed["sets"]),
        "score-errors-bounds": _bounds(full),
        "score-errors-sets": _sets(full),
    }


def _run(computed: Figures) -> str:
    draws, count = computed["draws"], len(computed["sets"])
    return (
        f"{computed['date']}, version {computed['version']}, {count} sets, {draws} draws of each share "
        "(shared out over the raters of a set, but at least 50 for each): "
        f"`.venv/bin/python -m benchmarks.score_errors --draws {draws} --docs`."
    )


def _bars(lines: Iterable[Figures]) -> str:
    rows = []
    for line in lines:
        # Only an interval that lies above the bar shows that it is missed.
        short = "**missed**" if line["missed"] else "not reached, but within the interval"
        rows.append([line["what"], *_of(line, "value"), "reached" if line["reached"] else short])
    return table(["asked of ours", "ratio", "95 % interval", ""], rows)


def _of(line: Figures, key: str = "ratio") -> list[str]:
    """Return a ratio and its interval."""
    return [_number(line[key]), f"{_number(line['low'])}–{_number(line['high'])}"]


def _number(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _mark(line: Figures) -> str:
    if line["ratio"] <= 1.0:
        return ""
    return f" {CLEARLY_WORSE}" if line["low"] > 1.0 else f" {WORSE}"


def title_of(one: Figures) -> str:
    """Return what a set is called."""
    return TITLES.get(one["name"], str(one["name"]))


def _names(sets: Sequence[Figures]) -> list[str]:
    """Return all methods, in the order of the longest list."""
    longest = max(sets, key=lambda one: len(one["methods"]))
    return [line["method"] for line in longest["methods"] if line["method"] != BASE]


def _overview(sets: Sequence[Figures]) -> str:
    lines = [{line["method"]: line for line in one["methods"]} for one in sets]
    best = [min(line["ratio"] for name, line in one.items() if name != _CONDITIONAL) for one in lines]
    rows = []
    for name in _names(sets):
        cells = [_cell(one.get(name), least) for one, least in zip(lines, best, strict=True)]
        there = [one[name]["ratio"] for one in lines if name in one]
        mean = f"{np.mean(there):.2f}" if len(there) == len(sets) else "–"
        rows.append([f"**{name}**" if name == OURS else name, *cells, mean])
    return table(["method", *map(title_of, sets), "mean"], rows)


def _cell(line: Figures | None, best: float) -> str:
    return "–" if line is None else bold(f"{line['ratio']:.2f}", line["ratio"] == best) + _mark(line)


def _paper(sets: Sequence[Figures]) -> str:
    by_name = {one["name"]: one for one in sets}
    rows = []
    for name, (lines, theirs) in PAPER.items():
        row = [name]
        for direction, where in PAPER_SETS.items():
            here = f"{line_of(by_name[where], name)['ratio']:.2f}" if where in by_name else "–"
            row += [f"{ratio(lines, theirs, direction):.2f}", here]
        rows.append(row)
    return table(["method", "paper, en–de", "here, WMT20 en–de", "paper, zh–en", "here, WMT23 zh–en"], rows)


def _details(one: Figures) -> str:
    shown = [place for place, share in enumerate(one["shares"]) if share in (0.05, 0.1, 0.25, 0.5)]
    head = ["method", "error", "sd", "win %", "ratio", "95 % interval"]
    head += [f"at {one['shares'][place]:.0%}" for place in shown]
    rows = []
    for line in one["methods"]:
        win = "–" if line["win"] is None else f"{100 * line['win']:.1f}"
        shares = [f"{line['by_share'][place]:.2f}" for place in shown]
        own = [f"{line['error']:.4g}", f"{line['sd']:.4g}", win, *_of(line)]
        rows.append([line["method"], *own, *shares])
    return folded(f"{title_of(one)}: error, sd and win %", table(head, rows))


def _everywhere(sets: Sequence[Figures]) -> str:
    rows = []
    for one in sorted(sets, key=lambda one: float(line_of(one, OURS)["ratio"])):
        line = line_of(one, OURS)
        ends = [f"{line['by_share'][place]:.2f} ({one['shares'][place]:.0%})" for place in (0, -1)]
        above = "**above**" if line["low"] > SAFE_BAR else ""
        who = f"{one['raters']} raters × {one['systems']}" if one["raters"] else str(one["systems"])
        items = "–".join(str(size) for size in dict.fromkeys(one["items"]))
        rows.append([f"`{one['name']}`", items, who, *_of(line), *ends, above])
    head = [
        "set",
        "items",
        "systems",
        "ratio",
        "95 % interval",
        "smallest share",
        "largest",
        f"over {SAFE_BAR:g}?",
    ]
    return table(head, rows)


def _bounds(sets: Sequence[Figures]) -> str:
    parts = []
    for one in sets:
        rows = [
            [
                f"{line['share']:.0%}",
                line["method"],
                line["bound"],
                f"{100 * line['calibration']:.0f}",
                f"{line['slack']:.2f}",
                f"{line['width']:.2f}",
            ]
            for line in one["bounds"]
        ]
        head = ["share", "method", "bound", "cal %", "slack", "t"]
        parts.append(folded(f"{title_of(one)}: bounds", table(head, rows, texts=3)))
    return "\n\n".join(parts)


def _sets(sets: Sequence[Figures]) -> str:
    rows = []
    for one in sets:
        who = f"{one['raters']} raters" if one["raters"] else "mean judgement"
        items = "–".join(str(size) for size in dict.fromkeys(one["items"]))
        best = ", ".join(one["best"])
        rows.append([title_of(one), who, items, str(one["systems"]), one["one"], ", ".join(one["two"]), best])
    head = ["set", "whose", "items", "systems", "one metric", "two metrics", "up to ten"]
    return table(head, rows, texts=len(head))
