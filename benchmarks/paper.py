"""One table or figure of a paper by its name, computed again and printed beside the published numbers.

    make paper NAME=s0-table5                                 with the data sets of ../shared/data
    python -m benchmarks.paper list                           the names, and whether they reproduce
    python -m benchmarks.paper s0-table5 --data FOLDER --effort full --jobs 2 --out numbers.json
    make paper NAME=distances                                 an analysis (python -m benchmarks.analyses)
    make paper NAME=all                                       every table; type it again to go on

``--out`` keeps the numbers, and finished cells beside them: an interrupted run goes on where it stopped.
``all`` writes every table with its date and its time into ``.bench/papers``. It begins none after three
quarters of an hour, so that a part ends within the hour.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from benchmarks.analyses.__main__ import ANALYSES
from benchmarks.analyses.__main__ import main as analyse
from benchmarks.pages import write_whole
from benchmarks.papers.catalogue import IMPOSSIBLE, Figures, PaperTable, names, paper_table
from benchmarks.papers.work import DEMO, EFFORTS, Work, file_of, paper_code
from benchmarks.verdicts import reproduces
from sparingly.base.errors import SparinglyError, UnknownNameError, UsageError
from sparingly.show.figures.save import save_figure

ROOT = Path(__file__).resolve().parents[1]
DATA = ROOT.parent / "shared" / "data"
FINISHED = ROOT / ".bench" / "papers"
# A table at the usual effort is to take no longer on two quiet cores, in seconds.
LONGEST = 900


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("name", help="a table or figure such as s0-table5; list names all, all computes all")
    parser.add_argument("--data", type=Path, default=DATA, help="the folder of the data sets")
    parser.add_argument(
        "--effort", choices=list(EFFORTS), default="usual", help="how often runs are repeated"
    )
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--out", type=Path, help="a file for the numbers, JSON; of all: a folder")
    parser.add_argument("--figure", type=Path, help="a picture of the curves: .svg, .png, .html, .pdf")
    parser.add_argument("--json", action="store_true", help="print the numbers instead of the table")
    parser.add_argument(
        "--minutes", type=float, default=45.0, help="all: begin no table after so many minutes"
    )
    parser.add_argument(
        "--only", nargs="*", help="all: these tables alone, by their names or the beginnings of several"
    )
    return parser.parse_args(arguments)


def print_names(as_json: bool) -> None:
    """Print the name and the title of every table and figure, and whether it reproduces."""
    titles = {name: paper_table(name).title for name in names()}
    others = dict.fromkeys(ANALYSES, "an analysis of a set: python -m benchmarks.analyses -h")
    if as_json:
        print(json.dumps(titles | others, ensure_ascii=False, indent=2))
        return
    print(f"{'name':<13}{'reproduces':<12}")
    for name, title in titles.items():
        verdict, because = reproduces(name)
        print(f"{name:<13}{verdict:<12}{title}")
        if because:
            print(f"{'':<25}because {because}")
    print("\n".join(f"{name:<13}{'':<12}{title}" for name, title in others.items()))


def check_data(table: PaperTable, folder: Path) -> None:
    """Raise an error that names every file a table wants, where it looks, and which are missing."""
    files = [file_of(folder, name) for name in dict.fromkeys(table.sets) if name != DEMO]
    if missing := [path.name for path in files if not path.is_file()]:
        raise UsageError(
            f"{table.name} wants {', '.join(path.name for path in files)} in {folder}; missing there: "
            f"{', '.join(missing) if len(missing) < len(files) else 'all'}. Name the folder of the data sets "
            "with --data."
        )


def computed(name: str, chosen: argparse.Namespace, cells: Path | None) -> tuple[PaperTable, Figures, float]:
    """Compute the numbers of a table, and return the seconds that it takes from the beginning.

    Cells that an interrupted run or another table left behind count as if they were made now.
    """
    if name not in (*names(), *IMPOSSIBLE):
        raise UnknownNameError("table of a paper", name, (*names(), *ANALYSES))
    table = paper_table(name)
    check_data(table, chosen.data)
    work, begun = Work(chosen.data, cells, EFFORTS[chosen.effort], jobs=chosen.jobs), time.perf_counter()
    numbers = table.figures(work)
    return table, numbers, time.perf_counter() - begun + work.reused.seconds


def print_table(chosen: argparse.Namespace) -> None:
    """Compute a table and print it, or its numbers."""
    cells = None if chosen.out is None else chosen.out.with_name(f"{chosen.out.name}.kept")
    table, numbers, _ = computed(chosen.name, chosen, cells)
    if chosen.figure is not None:
        if table.picture is None:
            raise UsageError(f"{table.name} has no picture: leave --figure out.")
        save_figure(table.picture(numbers), chosen.figure)
    text = json.dumps(numbers, ensure_ascii=False, indent=2)
    if chosen.out is not None:
        write_whole(chosen.out, f"{text}\n")
    print(text if chosen.json else f"{table.title}\n\n{table.text(numbers).rstrip()}")


def print_all(chosen: argparse.Namespace) -> int:
    """Compute every table that is not there, until the time is up, and print how long each took."""
    folder, start, behind = chosen.out or FINISHED, time.monotonic(), 0
    wanted = _wanted(chosen.only)
    for name in wanted:
        path = folder / f"{name}.{chosen.effort}.md"
        about = _finished(path)
        if about is None and time.monotonic() - start < 60 * chosen.minutes:
            try:
                table, numbers, seconds = computed(name, chosen, folder / "cells")
            except SparinglyError as error:
                print(f"{name:<13}{error}")
                behind += 1
                continue
            about = f"{datetime.now(UTC):%Y-%m-%d}, {seconds:.0f} s, code {paper_code()[:8]}"
            folder.mkdir(parents=True, exist_ok=True)
            write_whole(path, f"{about}\n\n{table.title}\n\n{table.text(numbers).rstrip()}\n")
        behind += about is None
        slow = about is not None and int(about.split()[1]) > LONGEST
        print(f"{name:<13}{about or 'not yet'}{', longer than 15 minutes' if slow else ''}", flush=True)
    print(f"{len(wanted) - behind} of {len(wanted)} tables are in {folder}.")
    if behind:
        print("To go on, type the same command again.")
    return 0


def _wanted(only: Sequence[str] | None) -> list[str]:
    """Return the tables of some names; what is no name is the beginning of several."""
    if not only:
        return list(names())
    exact = set(only) & set(names())
    beginnings = tuple(text for text in only if text not in exact)
    found = [name for name in names() if name in exact or name.startswith(beginnings)]
    for text in beginnings:
        if not any(name.startswith(text) for name in found):
            paper_table(text)
    return found


def _finished(path: Path) -> str | None:
    """Return the date, the time and the code of a table that was computed by the code of today."""
    if not path.exists():
        return None
    about = path.read_text(encoding="utf-8").partition("\n")[0]
    return about if about.endswith(f"code {paper_code()[:8]}") else None


def main(arguments: list[str] | None = None) -> int:
    """Print a table, an analysis, or the names of all."""
    arguments = sys.argv[1:] if arguments is None else arguments
    if arguments and arguments[0] in ANALYSES:
        return analyse(arguments)
    chosen = options(arguments)
    try:
        if chosen.name == "all":
            return print_all(chosen)
        print_names(chosen.json) if chosen.name == "list" else print_table(chosen)
    except SparinglyError as error:
        print(f"paper: {error}", file=sys.stderr)
        return 2
    return 0


if __name__ == "__main__":
    sys.exit(main())
