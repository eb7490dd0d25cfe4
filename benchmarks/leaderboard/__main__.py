"""The leaderboard of leaderboard.md: the standard grid on all fully judged sets beside the checkout.

    python -m benchmarks.leaderboard --jobs 2
    python -m benchmarks.leaderboard --demo       few runs on the demo set, printed only
    python -m benchmarks.leaderboard --data FOLDER --grid grid.toml --out pages    pages of your own

The table goes into the page between its markers, the page that can be sorted to leaderboard.html. Cells
that are computed are kept in .bench/leaderboard/, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

from benchmarks.leaderboard import write
from benchmarks.leaderboard.page import MARKER
from benchmarks.pages import replaced, write_whole
from sparingly.bench.grid import ReplayGrid, grid_from_text, grid_of, read_grid, standard_grid
from sparingly.bench.play import play

ROOT = Path(__file__).resolve().parents[2]
TABLE = "table.parquet"
DEMO = ("random", "random|greg", "metric_var:metric={metric}")
# Other people's methods that are baselines and nothing else, behind the standard grid.
PEERS = """
[[entry]]
method = "glide_stratified:metric={metric}"
module = "benchmarks.peers.glide"
name = "glide_stratified"
slow = true
rounds = 1

[[entry]]
method = "glide_active:metric={metric}"
module = "benchmarks.peers.glide"
name = "glide_active"
slow = true
rounds = 1
"""


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--kept", type=Path, default=ROOT / ".bench" / "leaderboard", help="finished cells")
    parser.add_argument("--docs", type=Path, default=ROOT / "docs" / "research", help="where the pages are")
    parser.add_argument("--grid", type=Path, help="a grid of your own, a TOML file")
    parser.add_argument("--out", type=Path, help="a folder for the table and the pages, instead of the docs")
    parser.add_argument("--jobs", type=int, default=1, help="the number of processes")
    parser.add_argument("--demo", action="store_true", help="few runs on the demo set, printed only")
    return parser.parse_args(arguments)


def commit() -> str | None:
    """Return the commit of the checkout, marked where files have changed since; None outside of one."""
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip() or None


def made(grid: ReplayGrid, data: Path | None, folder: Path, jobs: int) -> list[Path]:
    """Play what is missing of a grid, and write the leaderboard into the folder of its table."""
    folder.mkdir(parents=True, exist_ok=True)
    play(grid, data, folder / TABLE, jobs=jobs)
    return write(folder / TABLE, folder, grid_text=grid.text, commit=commit())


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
        with tempfile.TemporaryDirectory() as folder:
            files = made(grid_of(DEMO, sets=["demo"], seeds=8, resamples=3), None, Path(folder), args.jobs)
            print(files[1].read_text(encoding="utf-8"), end="")
        return 0
    if not args.data.is_dir():
        print(f"There is no folder {args.data}: name it with --data, or use --demo.", file=sys.stderr)
        return 2
    grid = grid_from_text(standard_grid().text + PEERS) if args.grid is None else read_grid(args.grid)
    files = made(grid, args.data, args.out or args.kept, args.jobs)
    if args.out is None:
        into_docs(files, args.docs)
    return 0


if __name__ == "__main__":
    sys.exit(main())
