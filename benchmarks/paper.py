"""One table or figure of a paper by its name, computed again and printed beside the published numbers.

    make paper NAME=s0-table5                                 with the data sets of ../shared/data
    python -m benchmarks.paper list                           the names
    python -m benchmarks.paper s0-table5 --data FOLDER --effort full --jobs 2 --out numbers.json
    make paper NAME=distances                                 an analysis (python -m benchmarks.analyses)

``--out`` keeps the numbers, and finished cells beside them: an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

from benchmarks.analyses.__main__ import ANALYSES
from benchmarks.analyses.__main__ import main as analyse
from benchmarks.pages import write_whole
from benchmarks.papers.catalogue import names, paper_table
from benchmarks.papers.work import EFFORTS, Work
from sparingly.base.errors import SparinglyError

DATA = Path(__file__).resolve().parents[2] / "shared" / "data"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", help="a table or figure such as s0-table5; list names all")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the data sets")
    parser.add_argument(
        "--effort", choices=list(EFFORTS), default="usual", help="how often runs are repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--out", type=Path, help="a file for the numbers, JSON")
    parser.add_argument("--json", action="store_true", help="print the numbers instead of the table")
    return parser.parse_args(arguments)


def print_names(as_json: bool) -> None:
    """Print the name and the title of every table and figure."""
    titles = {name: paper_table(name).title for name in names()}
    titles |= dict.fromkeys(ANALYSES, "an analysis of a set: python -m benchmarks.analyses -h")
    lines = (f"{name}  {title}" for name, title in titles.items())
    print(json.dumps(titles, ensure_ascii=False, indent=2) if as_json else "\n".join(lines))


def print_table(chosen: argparse.Namespace) -> None:
    """Compute a table and print it, or its numbers."""
    table = paper_table(chosen.name)
    finished = None if chosen.out is None else chosen.out.with_name(f"{chosen.out.name}.kept")
    numbers = table.figures(Work(chosen.data, finished, EFFORTS[chosen.effort], jobs=chosen.jobs))
    text = json.dumps(numbers, ensure_ascii=False, indent=2)
    if chosen.out is not None:
        write_whole(chosen.out, f"{text}\n")
    print(text if chosen.json else f"{table.title}\n\n{table.text(numbers).rstrip()}")


def main(arguments: list[str] | None = None) -> int:
    """Print a table, an analysis, or the names of all."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in ANALYSES:
        return analyse(arguments)
    chosen = options(arguments)
    try:
        print_names(chosen.json) if chosen.name == "list" else print_table(chosen)
    except SparinglyError as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
