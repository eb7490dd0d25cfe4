"""The tables of docs/research/results.md, from the fully judged data sets beside the checkout.

    python -m benchmarks.results_page spa        soft pairwise accuracy of every selector
    python -m benchmarks.results_page parity     labels needed for random's accuracy
    python -m benchmarks.results_page appendix   the other published methods, beside their published figures
    python -m benchmarks.results_page diffuse    which form of diffuse is best on sets not looked at before
    python -m benchmarks.results_page crowd      methods that see four models, judged on the rest
    python -m benchmarks.results_page all

Figures go to benchmarks/results/, tables into the page between their markers. Finished cells are kept in
.bench/tables/, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import sparingly
from benchmarks.pages import replaced, write_whole
from benchmarks.papers.work import FULL, QUICK, Work
from benchmarks.papers.zouhar import appendix, crowd, diffuse, parity, spa

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results"
PAGE = ROOT / "docs" / "research" / "results.md"


@dataclass(frozen=True)
class Table:
    """How the figures of a table are computed, and how they are written."""

    figures: Callable[[Work], dict[str, Any]]
    blocks: Callable[[dict[str, Any]], dict[str, str]]


TABLES = {
    "spa": Table(spa.figures, spa.blocks),
    "parity": Table(parity.figures, parity.blocks),
    "appendix": Table(appendix.figures, appendix.blocks),
    "diffuse": Table(diffuse.figures, diffuse.blocks),
    "crowd": Table(crowd.figures, crowd.blocks),
}


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("table", choices=[*TABLES, "all"])
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that holds the tables")
    parser.add_argument("--kept", type=Path, default=ROOT / ".bench" / "tables", help="finished cells")
    parser.add_argument(
        "--demo", action="store_true", help="few runs on the demo set, printed only: does it still run?"
    )
    return parser.parse_args(arguments)


def main(arguments: list[str] | None = None) -> int:
    """Compute tables, and write or print them."""
    args = options(arguments)
    names = list(TABLES) if args.table == "all" else [args.table]
    if args.demo:
        work = Work(args.data, effort=QUICK, is_demo=True)
        for name in names:
            sys.stdout.write("\n\n".join(TABLES[name].blocks(TABLES[name].figures(work)).values()) + "\n")
        return 0
    if not args.data.is_dir():
        sys.stderr.write(f"There is no folder {args.data}: name it with --data, or use --demo.\n")
        return 2
    # Vectors are large, and of no use to anything but these tables.
    os.environ.setdefault("SPARINGLY_CACHE", str(args.kept / "vectors"))
    work = Work(args.data, args.kept, FULL)
    for name in names:
        computed = {"version": sparingly.__version__, "table": name, **TABLES[name].figures(work)}
        write_whole(args.results / f"{name}.json", json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
        page = replaced(args.page.read_text(encoding="utf-8"), TABLES[name].blocks(computed))
        write_whole(args.page, page)
    return 0


if __name__ == "__main__":
    sys.exit(main())
