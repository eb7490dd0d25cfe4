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
from pathlib import Path
from typing import Any

import sparingly
from benchmarks import _document_tables_errors as errors
from benchmarks import _document_tables_pages as pages
from benchmarks._document_tables_methods import METHODS, SHARES
from benchmarks.papers.knowles.bands import band_figures
from benchmarks.papers.knowles.rankings import ranking_figures
from benchmarks.papers.knowles.sets import LONG as SETS
from benchmarks.papers.knowles.sets import Set
from benchmarks.papers.markdown import replaced
from benchmarks.papers.work import write_whole

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "documents.json"
PAGES = {"ranks": ROOT / "docs" / "results-documents.md", "errors": ROOT / "docs" / "documents.md"}
DRAWS = {"ranks": 130, "errors": 500}


class Kept:
    """Finished cells of one set in a file, and the set itself, loaded where a cell is missing."""

    def __init__(self, data: Path, one: Set, file: Path | None) -> None:
        self._path, self._file = data / f"{one.file}.jsonl.gz", file
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


def ranks(kept: Kept, one: Set, count: int) -> dict[str, Any]:
    """Return the figures of one set by every method and budget, and the shares by length of document."""
    found: dict[str, Any] = {method.name: {} for method in METHODS}
    for method in METHODS:
        for share in SHARES:

            def make(data: sparingly.EvalSet, method: Any = method, share: float = share) -> Any:
                return ranking_figures(data, one, method, share, count)

            found[method.name][f"{share:g}"] = kept.cell(f"{method.name}|{share:g}|{count}", make)
    bands = kept.cell(f"bands|{count}", lambda data: band_figures(data, pages.SHOWN, count))
    return {"ranks": found, "bands": bands}


def score_errors(kept: Kept, one: Set, count: int) -> dict[str, Any]:
    """Return the errors of scores of one set by every method."""
    found = {}
    for text in (errors.UNIFORM, *errors.METHODS):

        def make(data: sparingly.EvalSet, text: str = text) -> Any:
            return errors.error_figures(data, one, text, count)

        found[text] = kept.cell(f"{text}|{count}", make)
    return {"errors": found}


def computed(name: str, given: argparse.Namespace, figures: dict[str, Any]) -> dict[str, Any]:
    """Return the figures with those of one table computed anew."""
    make, sets = (ranks, SETS) if name == "ranks" else (score_errors, errors.SETS)
    count = given.draws or DRAWS[name]
    figures = {**figures, "version": sparingly.__version__}
    for part in ("ranks", "bands") if name == "ranks" else ("errors",):
        figures[part] = {}
    for one in sets:
        if given.only and one.file not in given.only:
            continue
        file = None if given.keep is None else given.keep / f"{name}-{one.file}.json"
        for part, found in make(Kept(given.data, one, file), one, count).items():
            figures[part][one.file] = found
        print(f"{name}: {one.file}", file=sys.stderr, flush=True)
    today = f"{datetime.now(UTC):%Y-%m-%d}"
    figures["date"] = {**figures.get("date", {}), name: today}
    figures["draws"] = {**figures.get("draws", {}), name: count}
    return figures


def blocks_of(name: str, figures: dict[str, Any]) -> dict[str, str]:
    """Return the tables by their markers, and how they were made."""
    made = {f"documents-{name}-made": pages.made_block(figures, name)}
    return {**(pages.blocks if name == "ranks" else pages.error_blocks)(figures), **made}


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
    given = options(arguments)
    if not given.data.is_dir():
        print(f"There is no folder {given.data}: name it with --data.", file=sys.stderr)
        return 2
    there = json.loads(given.results.read_text(encoding="utf-8")) if given.results.exists() else {}
    figures = computed(given.table, given, there)
    blocks = blocks_of(given.table, figures)
    if given.only:
        print("\n\n".join(blocks.values()))
        return 0
    given.results.parent.mkdir(parents=True, exist_ok=True)
    write_whole(given.results, json.dumps(figures, indent=None, ensure_ascii=False) + "\n")
    if given.docs:
        page = given.page or PAGES[given.table]
        write_whole(page, replaced(page.read_text(encoding="utf-8"), blocks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
