"""The figures of documents and snippets as Markdown, with the published ones beside them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from benchmarks import _document_tables_errors as errors
from benchmarks._document_tables_methods import METHODS, SHARES
from benchmarks.papers.knowles import published
from benchmarks.papers.knowles.bands import BANDS
from benchmarks.papers.knowles.draws import BUDGETED, DOCUMENTS, FIXED, RUNS, SEGMENTS, Method
from benchmarks.papers.knowles.published import Row, Runs
from benchmarks.papers.knowles.sets import HUMAN
from benchmarks.papers.knowles.sets import LONG as SETS
from benchmarks.papers.markdown import folded, table

SHOWN = 0.4
COLUMNS = (HUMAN, "chrF", "BLEU", "consensus chrF")
_SAME = "budgeted snippets, the same directions"
# Tables 1 to 3 of the paper: the title, the table, its row, our draw, and the share here that lies nearest.
PUBLISHED: tuple[tuple[str, int, Row | None, str, float], ...] = (
    ("segments, a draw for each model", 1, published.AS_AT_WMT[1], f"{SEGMENTS},matching=false", 0.6),
    (_SAME, 1, published.BUDGETED[1], BUDGETED, 0.6),
    ("whole documents, a draw for each model", 2, published.AS_AT_WMT[2], f"{DOCUMENTS},matching=false", 0.8),
    ("whole documents, one draw for all", 2, None, DOCUMENTS, 0.8),
    (_SAME, 2, published.BUDGETED[2], BUDGETED, 0.8),
    ("fixed snippets", 3, published.AS_AT_WMT[3], FIXED, 0.6),
    (_SAME, 3, published.BUDGETED[3], BUDGETED, 0.6),
)


def blocks(figures: dict[str, Any]) -> dict[str, str]:
    """Return every table of the page, by its marker."""
    return {
        "documents-changes": "\n\n".join(changes_block(figures, share) for share in SHARES),
        "documents-kendall": kendall_block(figures, HUMAN),
        "documents-kendall-chrf": folded("By chrF", kendall_block(figures, "chrF")),
        "documents-kendall-truths": folded(f"{SETS[0].title}, by each of its metrics", truths_block(figures)),
        "documents-bands": bands_block(figures),
        "documents-published": published_block(figures),
    }


def cell(figures: dict[str, Any], file: str, method: str, share: float) -> dict[str, Any] | None:
    """Return the figures of a set, a method and a budget; None where it cannot be drawn."""
    found: dict[str, Any] | None = figures["ranks"][file][method][f"{share:g}"]
    return found


def shared_sets(figures: dict[str, Any], share: float) -> list[str]:
    """Return the sets on which every method can spend a budget."""
    return [
        one.file
        for one in SETS
        if one.file in figures["ranks"]
        and all(cell(figures, one.file, method.name, share) is not None for method in METHODS)
    ]


def changed_sets(figures: dict[str, Any], files: list[str], method: str, share: float, truth: str) -> str:
    """Return in how many sets the ranking changed, in the best, median and worst run."""
    held = [cell(figures, file, method, share) for file in files]
    changes = np.array([one[truth]["changes"] for one in held if one is not None and truth in one])
    if not changes.size:
        return "–"
    runs = (changes > 0).sum(axis=0)
    return f"{runs.min()} / {np.median(runs):g} / {runs.max()} of {len(changes)}"


def changes_block(figures: dict[str, Any], share: float) -> str:
    """Return the table of sets with another ranking under one budget."""
    files = shared_sets(figures, share)
    rows = [
        [
            method.title,
            *(changed_sets(figures, files, method.name, share, truth) for truth in COLUMNS),
        ]
        for method in METHODS
    ]
    text = table(["draw", *COLUMNS], rows)
    out = [one.title for one in SETS if one.file in figures["ranks"] and one.file not in files]
    left = f" Without {', '.join(out)}: fixed snippets there cannot be of so many items." if out else ""
    title = f"{100 * share:.0f} % of the items"
    return (
        f"**{title}.**{left}\n\n{text}"
        if share == SHOWN
        else folded(f"{title}{'.' + left if left else ''}", text)
    )


def kendall_block(figures: dict[str, Any], truth: str) -> str:
    """Return the table of mean Kendall's tau by set."""
    files = [one.file for one in SETS if one.file in figures["ranks"]]
    common = shared_sets(figures, SHOWN)
    rows = []
    for method in METHODS:
        by_set = {file: _of(figures, file, method, truth, "kendall") for file in files}
        mean = float(np.mean([by_set[file] for file in common])) if common else float("nan")
        rows.append([method.title, f"{mean:.3f}", *(_number(by_set[file], 2) for file in files)])
    titles = {one.file: one.title for one in SETS}
    return table(["draw", f"mean of {len(common)}", *(titles[file] for file in files)], rows)


def truths_block(figures: dict[str, Any]) -> str:
    """Return the table of mean Kendall's tau by every truth of the set that has most metrics."""
    first = SETS[0]
    if first.file not in figures["ranks"]:
        return "–"
    rows = [
        [
            method.title,
            *(_number(_of(figures, first.file, method, truth, "kendall"), 2) for truth in first.columns),
        ]
        for method in METHODS
    ]
    names = [f"{name} (`{truth}`)" if name != truth else name for name, truth in first.columns.items()]
    return table(["draw", *names], rows)


def _of(figures: dict[str, Any], file: str, method: Method, truth: str, what: str) -> float | None:
    held = cell(figures, file, method.name, SHOWN)
    return None if held is None else float(held[truth][what])


def _number(value: float | None, digits: int) -> str:
    return "–" if value is None else f"{value:.{digits}f}"


def bands_block(figures: dict[str, Any]) -> str:
    """Return the table of shares by length of document."""
    ends = [*(f"{low}–{high - 1}" for low, high in pairwise(BANDS)), f"{BANDS[-1]}+"]
    rows = []
    for one in SETS:
        if one.file not in figures["bands"]:
            continue
        held = figures["bands"][one.file]
        for title, name in (("full set", "full"), ("fixed", FIXED), ("budgeted", BUDGETED)):
            what = "" if name == "full" else f", {held['items']:.0f} items"
            shares = ["–" if not whole else f"{100 * part:.0f} %" for part, whole in _pairs(held, name)]
            rows.append([one.title if name == "full" else "", f"{title}{what}", *shares])
    return table(["set", "sample", *ends], rows, texts=2)


def _pairs(held: dict[str, Any], name: str) -> list[tuple[float, float]]:
    return list(zip(held[name], held["full"], strict=True))


def published_block(figures: dict[str, Any]) -> str:
    """Return the published counts beside ours, at the budget that lies nearest."""
    rows = []
    for title, number, row, text, share in PUBLISHED:
        files = [one.file for one in SETS if one.file in figures["ranks"]]
        if number == 3:
            files = shared_sets(figures, share)
        ours = [
            changed_sets(figures, files, f"{text}|plain", share, truth) for truth in ("BLEU", "chrF", HUMAN)
        ]
        covered = "–" if row is None else f"{100 * published.COVERAGE[number]:.0f} %"
        there = ["–", "–"] if row is None else [_fraction(runs) for runs in row[2:]]
        rows.append([title, covered, *there, f"{100 * share:.0f} %", *ours])
    head = ["draw", "there", "sentBLEU", "chrF", "here", "BLEU", "chrF", HUMAN]
    return table(head, rows)


def _fraction(runs: Runs) -> str:
    return f"{runs.best} / {runs.median} / {runs.worst} of {runs.of}"


def error_blocks(figures: dict[str, Any]) -> dict[str, str]:
    """Return the table of errors of scores relative to a uniform draw."""
    sets = [one for one in errors.SETS if one.file in figures["errors"]]
    rows = []
    for text in errors.METHODS:
        cells = []
        for one in sets:
            held = figures["errors"][one.file]
            share, error = errors.ratio(held[text], held[errors.UNIFORM])
            cells.append(f"{share:.2f} ± {error:.2f}")
        rows.append([f"`{text}`{' (documents)' if text == 'stratified' else ''}", *cells])
    return {"documents-errors": table(["method", *(one.title for one in sets)], rows)}


def made_block(figures: dict[str, Any], table_name: str) -> str:
    """Return when, with how many draws and by which command figures were computed."""
    return (
        f"Computed on {figures['date'][table_name]} with {figures['draws'][table_name]} draws"
        f"{f', of which the counts of sets take the first {RUNS}' if table_name == 'ranks' else ''}, by "
        f"`.venv/bin/python -m benchmarks.document_tables {table_name} --docs`."
    )
