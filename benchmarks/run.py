"""Speed and memory beside subset2evaluate 1.0.27 and py-irt 0.7.1: one run, the same data, one thread.

Run ``.venv/bin/python -m benchmarks.run`` (``--help`` for options). The environments of the peers are made
when they are missing. See ``benchmarks/README.md`` for what is compared.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.data import USUAL, Kind, prepared
from benchmarks.peers.environment import FOLDER, peer_python
from benchmarks.peers.rows import PY_IRT, ROWS, SUBSET2EVALUATE, Row, compare_answers

ROOT = Path(__file__).resolve().parent.parent
ONE_THREAD = dict.fromkeys(
    (
        "OMP_NUM_THREADS",
        "OPENBLAS_NUM_THREADS",
        "MKL_NUM_THREADS",
        "NUMEXPR_NUM_THREADS",
        "POLARS_MAX_THREADS",
        "RAYON_NUM_THREADS",
    ),
    "1",
)
GROWTH_WORK = ("metric_cons", "metric_cons_spearman", "metric_var", "agreement", "cost_aware")
GROWTH_SIZES = (1_000, 10_000, 100_000, 1_000_000)
# What the first call, with nothing computed before, is to reach where as much is asked of all calls.
FIRST = 40
# Of py-irt; so many that a quick run ends soon.
EPOCHS, QUICK_EPOCHS = 1000, 100
SCRIPTS = {SUBSET2EVALUATE: "subset2evaluate", PY_IRT: "py_irt"}


@dataclass(frozen=True)
class Session:
    """One run: where outcomes are put, and whether sizes are small."""

    folder: Path
    is_quick: bool

    def ours(self, work: str, kind: Kind, items: int, noise: float = USUAL) -> dict[str, Any]:
        """Measure us."""
        data = prepared(FOLDER / "data", kind, items, noise, for_peer=False)
        return self._measured(Path(sys.executable), "ours", work, data)

    def theirs(self, peer: str, work: str, kind: Kind, items: int, noise: float) -> dict[str, Any]:
        """Measure a peer."""
        # Only one of them has a form of its own for numbers.
        data = prepared(FOLDER / "data", kind, items, noise, for_peer=peer == SUBSET2EVALUATE)
        return self._measured(peer_python(peer), SCRIPTS[peer], work, data)

    def _measured(self, python: Path, script: str, work: str, data: Path) -> dict[str, Any]:
        """Run one measurement in its own process and return its outcome; for several rows only once."""
        outcome = self.folder / f"{script}-{work}-{data.stem}.json"
        epochs = QUICK_EPOCHS if self.is_quick else EPOCHS
        targets = self.folder / f"{data.stem}.targets"
        command = [python, "-m", f"benchmarks.peers.{script}", work, data, outcome, targets, epochs]
        environment = {**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
        # As installed: pip compiles modules, those of a checkout are compiled when they are first imported.
        environment.pop("PYTHONDONTWRITEBYTECODE", None)
        if not outcome.exists():
            done = subprocess.run(
                [str(part) for part in command],
                cwd=ROOT,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            if done.returncode:
                raise SystemExit(f"{script} failed on {work} with {data.name}:\n{done.stderr[-2000:]}")
        read: dict[str, Any] = json.loads(outcome.read_text(encoding="utf-8"))
        return read


def compare(row: Row, session: Session) -> dict[str, Any]:
    """Measure both sides of a row (ours first: it sets the targets of parity)."""
    items = row.quick_items if session.is_quick else row.items
    ours, theirs = session.ours(row.our_work, row.data, items, row.noise), None
    if row.peer:
        theirs = session.theirs(row.peer, row.their_work, row.data, items, row.noise)
    ratio = theirs["seconds"] / ours["seconds"] if theirs else None
    answers = compare_answers(row, items, ours["answer"], theirs["answer"] if theirs else None)
    # Ratios are wanted at the full sizes only: small data favour whoever starts faster.
    wanted = None if session.is_quick else row.wanted
    first_ratio = theirs["first_seconds"] / ours["first_seconds"] if theirs else None
    is_ok = None if wanted is None or ratio is None else ratio >= wanted and answers.get("is_better", True)
    if is_ok and first_ratio is not None and wanted is not None and wanted >= FIRST:
        is_ok = first_ratio >= FIRST
    return {
        "work": row.label,
        "name": row.name,
        "peer": row.peer,
        "items": items,
        "theirs": without_answer(theirs),
        "ours": without_answer(ours),
        "ratio": ratio,
        "first_ratio": first_ratio,
        "wanted": wanted,
        "ok": is_ok,
        "answers": answers,
    }


def without_answer(outcome: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the numbers of an outcome alone; answers can be long."""
    return None if outcome is None else {name: value for name, value in outcome.items() if name != "answer"}


def grow(sizes: Iterable[int], works: Sequence[str], session: Session) -> list[dict[str, Any]]:
    """Measure ours alone at growing sizes."""
    rows = []
    for work in works:
        for items in sizes:
            found = session.ours(work, "numbers", items)
            rows.append({"name": work, "items": items, **(without_answer(found) or {})})
            print(f"  {work}, {items} items: {found['seconds']:.3g} s", file=sys.stderr, flush=True)
    return rows


def print_comparison(rows: list[dict[str, Any]]) -> None:
    """Print the comparison as a table that is also Markdown."""
    cells = [
        (
            row["work"],
            f"{row['items']:,}".replace(",", " "),
            number(row["theirs"] and row["theirs"]["seconds"]),
            number(row["ours"]["seconds"]),
            number(row["ratio"], "{:.0f} ×"),
            number(row["wanted"], "{:.0f} ×"),
            {True: "yes", False: "no", None: "–"}[row["ok"]],
            number(row["first_ratio"], "{:.0f} ×"),
            number(row["theirs"] and row["theirs"]["peak_mb"], "{:.0f}"),
            number(row["ours"]["peak_mb"], "{:.0f}"),
            row["answers"]["text"],
        )
        for row in rows
    ]
    head = ("work", "items", "theirs s", "ours s", "ratio", "wanted", "ok", "first call")
    print_table((*head, "theirs MB", "ours MB", "answers"), cells)


def print_growth(rows: list[dict[str, Any]], sizes: Sequence[int]) -> None:
    """Print time and peak memory of ours, one line per work, one column per size."""
    found = {(row["name"], row["items"]): row for row in rows}
    labels = {row.name: row.label.removesuffix(" (ours only)") for row in ROWS}
    columns = [f"{size:,}".replace(",", " ") for size in sizes]
    cells = []
    for name in dict.fromkeys(row["name"] for row in rows):
        line = [found[name, size] for size in sizes]
        cells.append((labels[name], *(f"{one['seconds']:.3g} s, {one['peak_mb']:.0f} MB" for one in line)))
    print_table(("ours, by number of items", *columns), cells)


def print_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> None:
    """Print a Markdown table with columns in line."""
    widths = [max(len(line[column]) for line in (head, *rows)) for column in range(len(head))]
    for line in (head, ["-" * width for width in widths], *rows):
        print("| " + " | ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)) + " |")
    print(flush=True)


def number(value: float | None, form: str = "{:.3g}") -> str:
    """Format a number that may not be there."""
    return "–" if value is None else form.format(value)


def options() -> argparse.Namespace:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--quick", action="store_true", help="small sizes: a minute or two instead of about half an hour"
    )
    parser.add_argument(
        "--only", metavar="NAME", action="append", choices=[row.name for row in ROWS] + ["growth"]
    )
    parser.add_argument("--json", metavar="FILE", type=Path, help="also write every number to a file")
    return parser.parse_args()


def main() -> int:
    """Measure, print, and return 1 when a wanted ratio is missed."""
    chosen = options()
    sizes = GROWTH_SIZES[:2] if chosen.quick else GROWTH_SIZES
    rows: list[dict[str, Any]] = []
    growth: list[dict[str, Any]] = []
    with tempfile.TemporaryDirectory() as name:
        session = Session(Path(name), chosen.quick)
        for row in ROWS:
            if chosen.only is None or row.name in chosen.only:
                print(f"measuring {row.label} …", file=sys.stderr, flush=True)
                rows.append(compare(row, session))
        if chosen.only is None or "growth" in chosen.only:
            growth = grow(sizes, GROWTH_WORK, session)
    machine = (
        f"Python {platform.python_version()}, numpy {np.__version__}, one thread, {os.cpu_count()} cores"
    )
    print(f"CPU seconds of the call alone; {machine}.\n")
    if rows:
        print_comparison(rows)
    if growth:
        print_growth(growth, sizes)
    if chosen.json:
        text = json.dumps({"machine": machine, "comparison": rows, "growth": growth}, indent=1)
        chosen.json.write_text(text + "\n", encoding="utf-8")
    return 1 if any(row["ok"] is False for row in rows) else 0


if __name__ == "__main__":
    sys.exit(main())
