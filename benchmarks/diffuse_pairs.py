"""DiffUse against random samples on all pairs of models, and valid stops: results-diffuse-casf.md.

    python -m benchmarks.diffuse_pairs            every set, written into the page
    python -m benchmarks.diffuse_pairs --print    the same, printed only

They are tables 2 and 3 and figure 11 of the paper, on all pairs (`make paper NAME=s4-table2` takes
some). Every seed takes 80 % of the items for the full set. Finished seeds are kept in .bench/papers/.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from datetime import date
from pathlib import Path
from typing import Any

import sparingly
from benchmarks.pages import replaced, write_whole
from benchmarks.papers.ashury import curves, iterative
from benchmarks.papers.work import FULL, Work

ROOT = Path(__file__).resolve().parent.parent
PAGE, RESULTS = (
    ROOT / "docs" / "research" / "results-diffuse-casf.md",
    ROOT / "benchmarks" / "results" / "diffuse_pairs.json",
)


def blocks(found: dict[str, Any], ends: dict[str, Any], made: str) -> dict[str, str]:
    """Return the tables as Markdown, by the names of their markers."""
    about = f"`python -m benchmarks.diffuse_pairs`, {made}, {found['seeds']} seeds."
    return {"pairs-curves": f"{curves.curve_table(found['sets'])}\n\n{about}", **iterative.blocks(ends)}


def main(arguments: list[str] | None = None) -> int:
    """Compute the tables, and write or print them."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    reader.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="processes")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "papers", help="finished seeds")
    reader.add_argument("--print", action="store_true", help="print the tables and write nothing")
    args = reader.parse_args(arguments)
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data.", file=sys.stderr)
        return 2
    work = Work(args.data, args.kept, FULL, jobs=args.jobs)
    found, ends = (part.figures(work, most_pairs=None) for part in (curves, iterative))
    made = date.today().isoformat()
    tables = blocks(found, ends, made)
    if args.print:
        print("\n\n".join(tables.values()))
        return 0
    computed = {"version": sparingly.__version__, "date": made, "curves": found, "ends": ends}
    write_whole(RESULTS, json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), tables))
    return 0


if __name__ == "__main__":
    sys.exit(main())
