"""What a list's top does to scores, and what a draw with an estimate does instead (results-honesty.md).

    python -m benchmarks.honesty errors      error of scores and soft pairwise accuracy of every selector
    python -m benchmarks.honesty coverage    do intervals hold, do significant pairs point the right way?
    python -m benchmarks.honesty all --docs  both; figures, tables and the picture are written

With ``--only`` one set (or several) is computed and printed. Finished runs are kept in .bench/honesty/, so
that an interrupted command goes on where it stopped, and more draws add to those that are there; delete the
folder after a change of the code that decides about figures.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from datetime import date
from pathlib import Path
from typing import Any

import sparingly
from benchmarks.honesty_page import coverage_blocks, draw, error_blocks
from benchmarks.honesty_runs import (
    COVERAGE,
    MAIN,
    OTHERS,
    Case,
    Kept,
    coverage_figures,
    error_figures,
    rows_of,
)
from benchmarks.pages import replaced, write_whole

# --- the command -----------------------------------------------------------------------------------------


ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "results-honesty.md"
RESULTS = ROOT / "benchmarks" / "results" / "honesty.json"
PICTURE = ROOT / "docs" / "images" / "honesty.svg"
COMMAND = "python -m benchmarks.honesty"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("part", choices=["errors", "coverage", "all"])
    reader.add_argument("--draws", type=int, default=40, help="draws of each design on the main sets")
    reader.add_argument(
        "--draws-others", type=int, default=20, help="draws of each design on the further sets"
    )
    reader.add_argument("--parts", type=int, default=40, help="parts of each set, for coverage")
    reader.add_argument("--only", action="append", help="one set, such as wmt23_zhen/mqm")
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    reader.add_argument("--keep", type=Path, default=ROOT / ".bench" / "honesty", help="finished runs")
    reader.add_argument("--docs", action="store_true", help="write figures, tables and the picture")
    reader.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    reader.add_argument("--page", type=Path, default=PAGE, help="the page that holds the tables")
    reader.add_argument("--picture", type=Path, default=PICTURE, help="where the picture is written")
    return reader.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Compute figures, and write or print them."""
    args = options(arguments)
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data.", file=sys.stderr)
        return 2
    if args.docs and args.only:
        print("Tables are of all sets: leave out --only, or --docs.", file=sys.stderr)
        return 2
    found: dict[str, Any] = {}
    if args.part in ("errors", "all"):
        found["errors"] = {name: errors(cases, args) for name, cases in _groups().items()}
    if args.part in ("coverage", "all"):
        found["coverage"] = coverage(args)
    parts = blocks(found)
    if not args.docs:
        print("\n\n".join(parts.values()))
        return 0
    _write(found, args)
    return 0


def _groups() -> dict[str, Sequence[Case]]:
    return {"main": MAIN, "others": OTHERS}


def errors(cases: Sequence[Case], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return errors and accuracies: all designs on the main sets, a few on the others."""
    is_main = cases is MAIN
    draws = args.draws if is_main else args.draws_others
    return [
        error_figures(case, args.data, Kept(args.keep), draws, *rows_of(is_main))
        for case in _named(cases, args)
    ]


def coverage(args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return what claims hold on every set."""
    return [coverage_figures(case, args.data, Kept(args.keep), args.parts) for case in _named(COVERAGE, args)]


def _named(cases: Sequence[Case], args: argparse.Namespace) -> list[Case]:
    return [case for case in cases if not args.only or case.name in args.only]


def blocks(found: dict[str, Any]) -> dict[str, str]:
    """Return the tables of what was computed, by the names of their markers."""
    parts: dict[str, str] = {}
    if "errors" in found:
        parts |= error_blocks(found["errors"]["main"], found["errors"]["others"])
    if found.get("coverage"):
        parts |= coverage_blocks(found["coverage"])
    return parts


def _write(found: dict[str, Any], args: argparse.Namespace) -> None:
    """Write figures, tables and the picture; a part that was not computed stays as it was."""
    old = json.loads(args.results.read_text(encoding="utf-8")) if args.results.exists() else {}
    figures = {
        **old,
        "version": sparingly.__version__,
        "date": date.today().isoformat(),
        "command": f"{COMMAND} all --docs {_numbers(args)}",
        **found,
    }
    write_whole(args.results, json.dumps(figures, indent=1, ensure_ascii=False) + "\n")
    page = replaced(
        args.page.read_text(encoding="utf-8"), {**blocks(figures), "honesty-runs": runs_of(figures)}
    )
    write_whole(args.page, page)
    if "coverage" in figures:
        sparingly.save_figure(draw(figures["coverage"]), args.picture)


def runs_of(figures: dict[str, Any]) -> str:
    """Return the sentence that says when and from how many draws the tables were computed."""
    said = [f"Computed on {figures['date']} with version {figures['version']}"]
    if "errors" in figures:
        drawn = {
            name: sorted({row["draws"] for one in sets for row in one["rows"] if row["ours"]})
            for name, sets in figures["errors"].items()
        }
        random = sorted({one["random"]["draws"] for sets in figures["errors"].values() for one in sets})
        said.append(
            f"errors from {_counts(drawn['main'])} draws a design and budget on the two main sets and "
            f"{_counts(drawn['others'])} on the others, random selection from {_counts(random)}"
        )
    if "coverage" in figures:
        parts = sorted({one["replicates"] for one in figures["coverage"]})
        said.append(f"coverage from {_counts(parts)} parts of every set")
    return f"{'; '.join(said)}. Command: `{figures['command']}`."


def _numbers(args: argparse.Namespace) -> str:
    return f"--draws {args.draws} --draws-others {args.draws_others} --parts {args.parts}"


def _counts(counts: Sequence[int]) -> str:
    return " to ".join(dict.fromkeys(str(count) for count in (counts[0], counts[-1])))


if __name__ == "__main__":
    sys.exit(main())
