"""Errors of mean scores by the methods of Saldías et al. 2022 and by ours, for docs/results-scores.md.

    python -m benchmarks.score_errors                        all sets, 200 draws
    python -m benchmarks.score_errors --only wmt23_ende      one set (may be given several times)
    python -m benchmarks.score_errors --docs                 also writes the tables into the page
    python -m benchmarks.score_errors --demo                 few draws on the demo set, printed only

On nine sets every method is run at ten shares of the items; on all others random draws and ours at four.
Figures go to benchmarks/results/score_errors.json. Finished errors are kept in .bench/score_errors/, so that
an interrupted run goes on where it stopped; empty that folder after a change of the package.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from datetime import date
from pathlib import Path
from typing import Any

import sparingly
from benchmarks._score_errors_bars import bars, set_figures
from benchmarks._score_errors_page import blocks
from benchmarks._score_errors_work import MAIN, Work, names_of
from benchmarks.papers.markdown import replaced
from benchmarks.papers.work import write_whole

ROOT = Path(__file__).resolve().parent.parent
RESULTS = ROOT / "benchmarks" / "results" / "score_errors.json"
PAGE = ROOT / "docs" / "results-scores.md"
DEMO = "demo"


def options(arguments: list[str] | None) -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--draws", type=int, default=200, help="draws of each share (200)")
    parser.add_argument("--only", action="append", default=[], help="a set; may be repeated")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--keep", type=Path, default=ROOT / ".bench" / "score_errors", help="finished errors")
    parser.add_argument("--results", type=Path, default=RESULTS, help="where figures are written")
    parser.add_argument("--page", type=Path, default=PAGE, help="the page that holds the tables")
    parser.add_argument("--docs", action="store_true", help="write the tables into the page")
    parser.add_argument("--demo", action="store_true", help="few draws on the demo set, printed only")
    return parser.parse_args(arguments)


def figures(work: Work, names: list[str], before: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the figures of some sets beside those of others that were computed before."""
    found = {one["name"]: one for one in before}
    for name in names:
        found[name] = set_figures(*work.errors(name), work.shares(name))
    order = [*work.main, *sorted(set(found) - set(work.main))]
    sets = [found[name] for name in order if name in found]
    return {
        "version": sparingly.__version__,
        "table": "score_errors",
        "date": date.today().isoformat(),
        "draws": work.draws,
        "sets": sets,
        "bars": bars(sets),
    }


def _demo() -> int:
    with tempfile.TemporaryDirectory() as folder:
        sparingly.save(sparingly.load_demo(), Path(folder) / f"{DEMO}.jsonl.gz")
        work = Work(Path(folder), draws=4, main=(DEMO,))
        print("\n\n".join(blocks(figures(work, [DEMO], [])).values()))
    return 0


def _earlier(results: Path) -> list[dict[str, Any]]:
    """Return the figures of the sets that were computed before."""
    if not results.exists():
        return []
    return list(json.loads(results.read_text(encoding="utf-8"))["sets"])


def main(arguments: list[str] | None = None) -> int:
    """Measure errors, write the figures and, where asked to, the tables."""
    given = options(arguments)
    if given.demo:
        return _demo()
    if not given.data.is_dir():
        print(f"There is no folder {given.data}: name it with --data, or use --demo.", file=sys.stderr)
        return 2
    there = names_of(given.data)
    unknown = sorted(set(given.only) - set(there))
    if unknown:
        print(f"There is no set {', '.join(unknown)} in {given.data}.", file=sys.stderr)
        return 2
    work = Work(given.data, given.draws, given.keep, tuple(name for name in MAIN if name in there))
    old = _earlier(given.results) if given.only else []
    computed = figures(work, given.only or there, old)
    write_whole(given.results, json.dumps(computed, indent=1, ensure_ascii=False) + "\n")
    if given.docs:
        write_whole(given.page, replaced(given.page.read_text(encoding="utf-8"), blocks(computed)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
