"""The figures of documents and snippets as Markdown, with the published ones beside them."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

import _document_tables_errors as errors
from _document_tables_draws import (
    BANDS,
    BUDGETED,
    DOCUMENTS,
    FIXED,
    HUMAN,
    METHODS,
    RUNS,
    SEGMENTS,
    SETS,
    SHARES,
    Method,
)
from _tables_markdown import folded, table

SHOWN = 0.4
COLUMNS = (HUMAN, "chrF", "BLEU", "consensus chrF")
# Lo and Knowles 2023, Tables 1 to 3, simulations: directions with another ranking in the best, median and
# worst of 13 runs, by sentBLEU (of 9, 43 and 12 directions) and chrF.
PUBLISHED = (
    ("segments, a draw for each model", 9, "54 %", (3, 6, 7), (3, 6, 8), f"{SEGMENTS},matching=false", 0.6),
    ("budgeted snippets, the same directions", 9, "54 %", (4, 6, 7), (4, 7, 9), BUDGETED, 0.6),
    (
        "whole documents, a draw for each model",
        43,
        "82 %",
        (32, 35, 37),
        (31, 33, 37),
        f"{DOCUMENTS},matching=false",
        0.8,
    ),
    ("whole documents, one draw for all", 43, "", None, None, DOCUMENTS, 0.8),
    ("budgeted snippets, the same directions", 43, "82 %", (25, 27, 32), (16, 20, 23), BUDGETED, 0.8),
    ("fixed snippets", 12, "60 %", (8, 9, 10), (5, 8, 10), FIXED, 0.6),
    ("budgeted snippets, the same directions", 12, "60 %", (6, 9, 11), (6, 8, 9), BUDGETED, 0.6),
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
    for title, of, covered, bleu, chrf, text, share in PUBLISHED:
        files = [one.file for one in SETS if one.file in figures["ranks"]]
        if of == 12:
            files = shared_sets(figures, share)
        ours = [
            changed_sets(figures, files, f"{text}|plain", share, truth) for truth in ("BLEU", "chrF", HUMAN)
        ]
        there = [_fraction(bleu, of), _fraction(chrf, of)]
        rows.append([title, covered or "–", there[0], there[1], f"{100 * share:.0f} %", *ours])
    head = ["draw", "there", "sentBLEU", "chrF", "here", "BLEU", "chrF", HUMAN]
    return table(head, rows)


def _fraction(runs: tuple[int, int, int] | None, of: int) -> str:
    return "–" if runs is None else f"{runs[0]} / {runs[1]} / {runs[2]} of {of}"


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
        f"`.venv/bin/python benchmarks/document_tables.py {table_name} --docs`."
    )
