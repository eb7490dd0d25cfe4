"""The leaderboard of leaderboard.md: the standard grid on all fully judged sets beside the checkout.

    python -m benchmarks.leaderboard --jobs 2
    python -m benchmarks.leaderboard --demo       few runs on the demo set, printed only
    python -m benchmarks.leaderboard --data FOLDER --grid grid.toml --out pages    pages of your own
    python -m benchmarks.leaderboard --jobs 16 --minutes 8    a part: the same command goes on with the rest
    python -m benchmarks.leaderboard --add a.parquet b.parquet    tables of other machines, and what they lack

The table goes into the page between its markers, the page that can be sorted to leaderboard.html. Results
are saved in .bench/leaderboard/ as they come, so that an interrupted run goes on where it stopped. Pages are
written once nothing of the grid is missing.
"""

from __future__ import annotations

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import replace
from math import inf
from pathlib import Path

from benchmarks.leaderboard import write
from benchmarks.leaderboard.page import MARKER
from benchmarks.pages import replaced, write_whole
from sparingly.bench.grid import ReplayGrid, grid_from_text, grid_of, read_grid, standard_grid
from sparingly.bench.play import PlayReport, play
from sparingly.bench.sets import set_files
from sparingly.bench.table import merge_tables, read_table, write_table

ROOT = Path(__file__).resolve().parents[2]
TABLE = "table.parquet"
TUNED = (
    "`auto` was developed on these sets. Its figures with every family of sets left out in turn stand under "
    "“What saves labels” in the documentation."
)
DEMO = ("random", "random|greg", "metric_var:metric={metric}")
# Other people's methods that are baselines and nothing else, behind the standard grid: the same labels and
# budgets, the set's one metric where they take one, and all metrics where they take several.
PEERS = """
# --- other people's packages, restated (benchmarks/peers) ---------------------------------------------

[[entry]]
method = "anchor_points:features=irt,metrics=[{metric}]"
name = "tinyBenchmarks: anchors by item response theory"
""" + "".join(
    f"""
[[entry]]
method = "{name}{options}"
module = "benchmarks.peers.{module}"
name = "{name}"
slow = true
rounds = {rounds}
"""
    for module, name, options, rounds in (
        ("glide", "glide_stratified", ":metric={metric}", 1),
        ("glide", "glide_active", ":metric={metric}", 1),
        ("estimates", "glide_multi_ppi", "", 1),
        ("estimates", "truescore", ":metric={metric}", 1),
        ("estimates", "cje_eval", ":metric={metric}", 1),
        ("faq", "faq_style", "", 5),
    )
)


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--saved", type=Path, default=ROOT / ".bench" / "leaderboard", help="results")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "research", help="where the pages are")
    parser.add_argument("--grid", type=Path, help="a grid of your own, a TOML file")
    parser.add_argument("--out", type=Path, help="a folder for the table and the pages, instead of the docs")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--only", metavar="SETS", help="only these data sets, a,b,c; no pages are written")
    parser.add_argument("--minutes", type=float, default=inf, help="begin nothing new after so many minutes")
    parser.add_argument("--add", type=Path, nargs="+", default=[], help="tables whose results are taken over")
    parser.add_argument(
        "--commit", default=os.environ.get("SPARINGLY_COMMIT"), help="what the page names; default: git's"
    )
    parser.add_argument("--demo", action="store_true", help="few runs on the demo set, printed only")
    return parser.parse_args(arguments)


def commit() -> str | None:
    """Return the commit of the checkout, marked where files have changed since; None outside of one."""
    try:
        done = subprocess.run(
            ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
        )
    except FileNotFoundError:
        return None
    return done.stdout.strip() or None


def largest_first(data: Path, only: str | None) -> tuple[str, ...]:
    """Return the names of the sets, those that take longest first, so that all processes end together."""
    files = set_files(data, only.split(",") if only else ())
    size = {file.name: file.path.stat().st_size if file.path else 0 for file in files}
    return tuple(sorted(size, key=lambda name: -size[name]))


def add_tables(table: Path, others: Sequence[Path]) -> None:
    """Take over the rows of other tables of the same grid; a result that several have is that of the last."""
    for other in others:
        write_table(table, merge_tables(read_table(table), read_table(other)))


def play_grid(grid: ReplayGrid, data: Path | None, folder: Path, jobs: int, until: float = inf) -> PlayReport:
    """Play what the table of a folder lacks."""

    def progress(count: int, total: int, task: str) -> None:
        print(f"{count} of {total}  {task}", file=sys.stderr, flush=True)

    folder.mkdir(parents=True, exist_ok=True)
    return play(grid, data, folder / TABLE, jobs=jobs, progress=progress, until=until)


def into_docs(files: list[Path], docs: Path) -> None:
    """Put the block into its page, and the page that can be sorted beside it."""
    html, markdown, _ = files
    page = docs / "leaderboard.md"
    block = markdown.read_text(encoding="utf-8").strip()
    write_whole(page, replaced(page.read_text(encoding="utf-8"), {MARKER: block}))
    shutil.copyfile(html, docs / html.name)


def main(arguments: list[str] | None = None) -> int:
    """Make the leaderboard, and write or print it."""
    args = options(arguments)
    if args.demo:
        grid = grid_of(DEMO, sets=["demo"], seeds=8, resamples=3)
        with tempfile.TemporaryDirectory() as folder:
            play_grid(grid, None, Path(folder), args.jobs)
            files = write(Path(folder) / TABLE, Path(folder), grid_text=grid.text, commit=commit())
            print(files[1].read_text(encoding="utf-8"), end="")
        return 0
    until = time.monotonic() + 60.0 * args.minutes
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data, or use --demo.", file=sys.stderr)
        return 2
    grid = grid_from_text(standard_grid().text + PEERS) if args.grid is None else read_grid(args.grid)
    grid = replace(grid, sets=largest_first(args.data, args.only or ",".join(grid.sets)))
    folder = args.out or args.saved
    folder.mkdir(parents=True, exist_ok=True)
    add_tables(folder / TABLE, args.add)
    report = play_grid(grid, args.data, folder, args.jobs, until)
    if report.tasks_left:
        print(f"Saved in {folder / TABLE}; {report.tasks_left} tasks are left: give the same command again.")
        return 3
    for name, reason in report.left_out.items():
        print(f"{name} is left out: {reason}", file=sys.stderr)
    for failure in report.failures:
        print(f"Failed: {failure}", file=sys.stderr)
    if args.only:
        print(f"Saved in {folder / TABLE}; nothing of {args.only} is missing.")
        return 0
    whole = folder / "whole.parquet"
    write_table(whole, report.table)
    note = TUNED if args.out is None else ""
    files = write(whole, folder, grid_text=grid.text, commit=args.commit or commit(), note=note)
    if args.out is None:
        into_docs(files, args.docs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
