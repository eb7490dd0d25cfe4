"""CASF against random, heuristic, its baselines, regressors and phases: results-diffuse-casf.md.

    python -m benchmarks.casf_tables            every table, written into the page
    python -m benchmarks.casf_tables --print    the same, printed only

They are the tables 1, 3 and 7 of the paper, as `make paper NAME=s3-table1` shows them. Finished cells
are kept in .bench/papers/, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from datetime import date
from pathlib import Path

import sparingly
from benchmarks.pages import replaced, write_whole
from benchmarks.papers.ruan import methods, phases, regressors
from benchmarks.papers.work import FULL, Work

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "results-diffuse-casf.md"
RESULTS = ROOT / "benchmarks" / "results" / "casf.json"
PARTS = {"methods": methods, "phases": phases, "regressors": regressors}


def main(arguments: list[str] | None = None) -> int:
    """Compute the tables, and write or print them."""
    reader = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    reader.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    reader.add_argument("--kept", type=Path, default=ROOT / ".bench" / "papers", help="finished cells")
    reader.add_argument("--jobs", type=int, default=1, help="processes")
    reader.add_argument("--print", action="store_true", help="print the tables and write nothing")
    args = reader.parse_args(arguments)
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data.", file=sys.stderr)
        return 2
    work = Work(args.data, args.kept, FULL, jobs=args.jobs)
    computed = {name: part.figures(work) for name, part in PARTS.items()}
    blocks = {
        name: text for part, found in computed.items() for name, text in PARTS[part].blocks(found).items()
    }
    if args.print:
        print("\n\n".join(blocks.values()))
        return 0
    today = date.today().isoformat()
    blocks["casf"] += f" `python -m benchmarks.casf_tables`, {today}."
    about = {"version": sparingly.__version__, "date": today}
    write_whole(RESULTS, json.dumps({**about, **computed}, indent=1, ensure_ascii=False) + "\n")
    write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), blocks))
    return 0


if __name__ == "__main__":
    sys.exit(main())
