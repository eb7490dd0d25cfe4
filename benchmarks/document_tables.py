"""Segments, documents and snippets on public data: rankings, who is drawn, and errors of scores.

    python -m benchmarks.document_tables ranks          rank changes, Kendall's tau, shares by document length
    python -m benchmarks.document_tables errors         errors of scores against a uniform draw
    python -m benchmarks.document_tables ranks --only wmt21_ende --draws 13
    python -m benchmarks.document_tables errors --docs  also write the tables into docs/

Figures go to benchmarks/results/documents.json. Finished cells are kept in a folder (.bench/documents unless
--keep names another), so that an interrupted run goes on where it stopped. With --only nothing but the tables
of these sets is printed.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from functools import cached_property
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks.pages import folded, replaced, table, write_whole
from benchmarks.papers import lo_knowles
from benchmarks.papers.lo_knowles import (
    BANDS,
    BUDGETED,
    DOCUMENTS,
    FIXED,
    HUMAN,
    RUNS,
    SEGMENTS,
    Method,
    Row,
    Runs,
    Set,
    band_figures,
    draws,
    means_of,
    ranking_figures,
    seeds_of,
)
from benchmarks.papers.lo_knowles import LONG as SETS
from sparingly import EvalSet

# --- the ways to draw that results-documents.md compares, and the shares that are drawn -------------


SHARES = (0.2, 0.4, 0.6, 0.8)
METHODS = (
    *(
        Method(f"{title}, {'one draw for all' if same else 'a draw for each model'}", text + how)
        for title, text in (
            ("segments", SEGMENTS),
            ("whole documents", DOCUMENTS),
            ("fixed snippets", FIXED),
            ("budgeted snippets", BUDGETED),
        )
        for same, how in ((True, ""), (False, ",matching=false"))
    ),
    Method("fixed snippets, weighted", FIXED, weighted=True),
    Method("budgeted snippets, weighted", BUDGETED, weighted=True),
    Method("budgeted snippets, wrapped", f"{BUDGETED},wrap=true"),
)


# --- errors of scores by designs that draw within documents ----------------------------------------------


SHARE = 0.2
UNIFORM = "uniform"
ERROR_METHODS = (
    "stratified",
    "stratified:by=metrics",
    "stratified:allocation=optimal",
    "snippets:wrap=true",
    "snippets",
    "documents",
    "snippets:kind=fixed",
)
ERROR_SETS = (
    Set("wmt20_ende_notext", "WMT20 English–German", "mqm", ()),
    Set("wmt21_ende", "WMT21 English–German", "mqm", ()),
    Set("wmt23_zhen", "WMT23 Chinese–English", "mqm", ()),
)


def error_figures(data: EvalSet, data_set: Set, text: str, count: int) -> dict[str, float]:
    """Return the mean over models and draws of |weighted mean − mean of all|, and its standard error."""
    values = data.truth(data_set.human)
    whole = values.mean(axis=0)
    quick = f"{text},context=0".replace("snippets,", "snippets:") if text.startswith("snippets") else text
    missed = [
        float(np.abs(means_of(draw, values, weighted=True) - whole).mean())
        for draw in draws(data, quick, SHARE, seeds_of(count))
    ]
    return {"error": float(np.mean(missed)), "spread": float(np.std(missed, ddof=1) / np.sqrt(count))}


def ratio(found: dict[str, Any], base: dict[str, Any]) -> tuple[float, float]:
    """Return an error as a share of another, and the standard error of that share."""
    share = found["error"] / base["error"]
    parts = (found["spread"] / base["error"], share * base["spread"] / base["error"])
    return share, float(np.hypot(*parts))


# --- the figures of documents and snippets as Markdown, with the published ones beside them --------------


SHOWN = 0.4
COLUMNS = (HUMAN, "chrF", "BLEU", "consensus chrF")
_SAME = "budgeted snippets, the same directions"
# Tables 1 to 3 of the paper: the title, the table, its row, our draw, and the share here that lies nearest.
PUBLISHED: tuple[tuple[str, int, Row | None, str, float], ...] = (
    ("segments, a draw for each model", 1, lo_knowles.AS_AT_WMT[1], f"{SEGMENTS},matching=false", 0.6),
    (_SAME, 1, lo_knowles.PUBLISHED_BUDGETED[1], BUDGETED, 0.6),
    (
        "whole documents, a draw for each model",
        2,
        lo_knowles.AS_AT_WMT[2],
        f"{DOCUMENTS},matching=false",
        0.8,
    ),
    ("whole documents, one draw for all", 2, None, DOCUMENTS, 0.8),
    (_SAME, 2, lo_knowles.PUBLISHED_BUDGETED[2], BUDGETED, 0.8),
    ("fixed snippets", 3, lo_knowles.AS_AT_WMT[3], FIXED, 0.6),
    (_SAME, 3, lo_knowles.PUBLISHED_BUDGETED[3], BUDGETED, 0.6),
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
        data_set.file
        for data_set in SETS
        if data_set.file in figures["ranks"]
        and all(cell(figures, data_set.file, method.name, share) is not None for method in METHODS)
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
    out = [
        data_set.title
        for data_set in SETS
        if data_set.file in figures["ranks"] and data_set.file not in files
    ]
    left = f" Without {', '.join(out)}: fixed snippets there cannot be of so many items." if out else ""
    title = f"{100 * share:.0f} % of the items"
    return (
        f"**{title}.**{left}\n\n{text}"
        if share == SHOWN
        else folded(f"{title}{'.' + left if left else ''}", text)
    )


def kendall_block(figures: dict[str, Any], truth: str) -> str:
    """Return the table of mean Kendall's tau by set."""
    files = [data_set.file for data_set in SETS if data_set.file in figures["ranks"]]
    common = shared_sets(figures, SHOWN)
    rows = []
    for method in METHODS:
        by_set = {file: _of(figures, file, method, truth, "kendall") for file in files}
        mean = float(np.mean([by_set[file] for file in common])) if common else float("nan")
        rows.append([method.title, f"{mean:.3f}", *(_number(by_set[file], 2) for file in files)])
    titles = {data_set.file: data_set.title for data_set in SETS}
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
    for data_set in SETS:
        if data_set.file not in figures["bands"]:
            continue
        held = figures["bands"][data_set.file]
        for title, name in (("full set", "full"), ("fixed", FIXED), ("budgeted", BUDGETED)):
            what = "" if name == "full" else f", {held['items']:.0f} items"
            shares = ["–" if not whole else f"{100 * part:.0f} %" for part, whole in _pairs(held, name)]
            rows.append([data_set.title if name == "full" else "", f"{title}{what}", *shares])
    return table(["set", "sample", *ends], rows, texts=2)


def _pairs(held: dict[str, Any], name: str) -> list[tuple[float, float]]:
    return list(zip(held[name], held["full"], strict=True))


def published_block(figures: dict[str, Any]) -> str:
    """Return the published counts beside ours, at the budget that lies nearest."""
    rows = []
    for title, number, row, text, share in PUBLISHED:
        files = [data_set.file for data_set in SETS if data_set.file in figures["ranks"]]
        if number == 3:
            files = shared_sets(figures, share)
        ours = [
            changed_sets(figures, files, f"{text}|plain", share, truth) for truth in ("BLEU", "chrF", HUMAN)
        ]
        covered = "–" if row is None else f"{100 * np.mean(lo_knowles.COVERAGES[number]):.0f} %"
        there = ["–", "–"] if row is None else [_fraction(runs) for runs in row[2:]]
        rows.append([title, covered, *there, f"{100 * share:.0f} %", *ours])
    head = ["draw", "there", "sentBLEU", "chrF", "here", "BLEU", "chrF", HUMAN]
    return table(head, rows)


def _fraction(runs: Runs) -> str:
    return f"{runs.best} / {runs.median} / {runs.worst} of {runs.of}"


def error_blocks(figures: dict[str, Any]) -> dict[str, str]:
    """Return the table of errors of scores relative to a uniform draw."""
    sets = [data_set for data_set in ERROR_SETS if data_set.file in figures["errors"]]
    rows = []
    for text in ERROR_METHODS:
        cells = []
        for data_set in sets:
            held = figures["errors"][data_set.file]
            share, error = ratio(held[text], held[UNIFORM])
            cells.append(f"{share:.2f} ± {error:.2f}")
        rows.append([f"`{text}`{' (documents)' if text == 'stratified' else ''}", *cells])
    return {"documents-errors": table(["method", *(data_set.title for data_set in sets)], rows)}


def made_block(figures: dict[str, Any], table_name: str) -> str:
    """Return when, with how many draws and by which command figures were computed."""
    return (
        f"Computed on {figures['date'][table_name]} with {figures['draws'][table_name]} draws"
        f"{f', of which the counts of sets take the first {RUNS}' if table_name == 'ranks' else ''}, by "
        f"`.venv/bin/python -m benchmarks.document_tables {table_name} --docs`."
    )


# --- the command -----------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "documents.json"
PAGES = {
    "ranks": ROOT / "docs" / "research" / "results-documents.md",
    "errors": ROOT / "docs" / "research" / "results-documents.md",
}
DRAWS = {"ranks": 130, "errors": 500}


class Kept:
    """Finished cells of one set in a file, and the set itself, loaded where a cell is missing."""

    def __init__(self, data: Path, data_set: Set, file: Path | None) -> None:
        self._path, self._file = data / f"{data_set.file}.jsonl.gz", file
        there = file is not None and file.exists()
        self._cells: dict[str, Any] = json.loads(file.read_text(encoding="utf-8")) if file and there else {}

    @cached_property
    def data(self) -> sparingly.EvalSet:
        """The evaluation set."""
        return sparingly.load(self._path)

    def cell(self, key: str, make: Callable[[sparingly.EvalSet], Any]) -> Any:
        """Return what is kept under a key, or make and keep it."""
        if key not in self._cells:
            self._cells[key] = make(self.data)
            if self._file is not None:
                self._file.parent.mkdir(parents=True, exist_ok=True)
                write_whole(self._file, json.dumps(self._cells))
        return self._cells[key]


def ranks(kept: Kept, data_set: Set, count: int) -> dict[str, Any]:
    """Return the figures of one set by every method and budget, and the shares by length of document."""
    found: dict[str, Any] = {method.name: {} for method in METHODS}
    for method in METHODS:
        for share in SHARES:

            def make(data: sparingly.EvalSet, method: Any = method, share: float = share) -> Any:
                return ranking_figures(data, data_set, method, share, count)

            found[method.name][f"{share:g}"] = kept.cell(f"{method.name}|{share:g}|{count}", make)
    bands = kept.cell(f"bands|{count}", lambda data: band_figures(data, SHOWN, count))
    return {"ranks": found, "bands": bands}


def score_errors(kept: Kept, data_set: Set, count: int) -> dict[str, Any]:
    """Return the errors of scores of one set by every method."""
    found = {}
    for text in (UNIFORM, *ERROR_METHODS):

        def make(data: sparingly.EvalSet, text: str = text) -> Any:
            return error_figures(data, data_set, text, count)

        found[text] = kept.cell(f"{text}|{count}", make)
    return {"errors": found}


def computed(name: str, args: argparse.Namespace, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with those of one table computed anew."""
    make, sets = (ranks, SETS) if name == "ranks" else (score_errors, ERROR_SETS)
    count = args.draws or DRAWS[name]
    figures = {**figures, "version": sparingly.__version__}
    for part in ("ranks", "bands") if name == "ranks" else ("errors",):
        figures[part] = {}
    for data_set in sets:
        if args.only and data_set.file not in args.only:
            continue
        file = None if args.keep is None else args.keep / f"{name}-{data_set.file}.json"
        for part, found in make(Kept(args.data, data_set, file), data_set, count).items():
            figures[part][data_set.file] = found
        print(f"{name}: {data_set.file}", file=sys.stderr, flush=True)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    figures["date"] = {**figures.get("date", {}), name: today}
    figures["draws"] = {**figures.get("draws", {}), name: count}
    return figures


def blocks_of(name: str, figures: dict[str, Any]) -> dict[str, str]:
    """Return the tables by their markers, and how they were made."""
    made = {f"documents-{name}-made": made_block(figures, name)}
    return {**(blocks if name == "ranks" else error_blocks)(figures), **made}


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", choices=[*PAGES])
    parser.add_argument("--draws", type=int, help=f"draws of every cell ({DRAWS} unless given)")
    parser.add_argument("--only", action="append", metavar="SET", help="one set, printed only")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--keep", type=Path, default=ROOT / ".bench" / "documents", help="finished cells")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    parser.add_argument("--page", type=Path, help="the page that holds the tables")
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Compute a table, and write or print it."""
    args = options(arguments)
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data.", file=sys.stderr)
        return 2
    there = json.loads(args.results.read_text(encoding="utf-8")) if args.results.exists() else {}
    figures = computed(args.table, args, there)
    blocks = blocks_of(args.table, figures)
    if args.only:
        print("\n\n".join(blocks.values()))
        return 0
    args.results.parent.mkdir(parents=True, exist_ok=True)
    write_whole(args.results, json.dumps(figures, indent=None, ensure_ascii=False) + "\n")
    if args.docs:
        page = args.page or PAGES[args.table]
        write_whole(page, replaced(page.read_text(encoding="utf-8"), blocks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
