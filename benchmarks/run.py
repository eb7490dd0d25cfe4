"""Speed and memory beside subset2evaluate 1.0.27, in one run, on the same data, on one thread.

Run ``.venv/bin/python benchmarks/run.py`` (``--help`` for options). The peer's environment is made when it
is missing. See ``benchmarks/README.md`` for what is compared.
"""

from __future__ import annotations

import argparse
import json
import math
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

from _data import STRONG, USUAL, arrays, item_ids, prepared
from _peer_env import FOLDER, peer_python

HERE = Path(__file__).resolve().parent
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


@dataclass(frozen=True)
class Row:
    """A line of the comparison: what is measured, on how many items, and the least ratio wanted."""

    name: str
    label: str
    items: int
    quick_items: int
    wanted: float | None = None
    has_peer: bool = True
    work: str = ""
    noise: float = USUAL


ROWS = (
    Row("metric_cons", "metric_cons, Kendall", 100_000, 2_000, 150),
    Row("metric_cons_spearman", "metric_cons, Spearman (ours only)", 100_000, 2_000, has_peer=False),
    Row("metric_var", "metric_var", 100_000, 2_000, 50),
    Row("agreement", "soft pairwise accuracy, ten budgets, 1000 flips", 100_000, 2_000, 40),
    Row("agreement_analytic", "the same, analytic limit (ours only)", 100_000, 2_000, has_peer=False),
    Row("cost_aware", "cost-aware selection", 10_000, 1_000, 20),
    Row("parity", "parity curve", 300, 100, 40),
    # The peer stops at the first crossing, so a better method makes it quicker: shown, without a verdict.
    Row("parity_strong", "parity curve, stronger metric", 300, 100, work="parity", noise=STRONG),
)


def measure(side: str, work: str, items: int, folder: Path, noise: float = USUAL) -> dict[str, Any]:
    """Run one measurement in its own process and return its outcome."""
    ours, theirs = prepared(FOLDER / "data", items, noise, for_peer=side == "theirs")
    python = peer_python() if side == "theirs" else Path(sys.executable)
    outcome = folder / f"{side}-{work}-{items}.json"
    data = theirs if side == "theirs" else ours
    command = [python, HERE / f"_{side}.py", work, data, outcome, folder / f"targets-{items}.json"]
    environment = {**os.environ, **ONE_THREAD, "HF_HUB_OFFLINE": "1", "PYTHONHASHSEED": "0"}
    done = subprocess.run(
        [str(part) for part in command], env=environment, capture_output=True, text=True, check=False
    )
    if done.returncode:
        raise SystemExit(f"{side} failed on {work} with {items} items:\n{done.stderr[-2000:]}")
    read: dict[str, Any] = json.loads(outcome.read_text(encoding="utf-8"))
    return read


def compare(row: Row, items: int, folder: Path, *, is_quick: bool) -> dict[str, Any]:
    """Measure both sides of a row (ours first: it sets the targets of parity)."""
    work = row.work or row.name
    ours = measure("ours", work, items, folder, row.noise)
    theirs = measure("theirs", work, items, folder, row.noise) if row.has_peer else None
    ratio = theirs["seconds"] / ours["seconds"] if theirs else None
    answers = answers_side_by_side(work, items, ours["answer"], theirs["answer"] if theirs else None)
    # Ratios are wanted at the full sizes only: small data favour whoever starts faster.
    wanted = None if is_quick else row.wanted
    is_ok = None if wanted is None or ratio is None else ratio >= wanted and answers.get("is_better", True)
    return {
        "work": row.label,
        "name": row.name,
        "items": items,
        "theirs": without_answer(theirs),
        "ours": without_answer(ours),
        "ratio": ratio,
        "first_ratio": theirs["first_seconds"] / ours["first_seconds"] if theirs else None,
        "wanted": wanted,
        "ok": is_ok,
        "answers": answers,
    }


def without_answer(outcome: dict[str, Any] | None) -> dict[str, Any] | None:
    """Return the numbers of an outcome alone; answers can be long."""
    return None if outcome is None else {name: value for name, value in outcome.items() if name != "answer"}


def answers_side_by_side(name: str, items: int, ours: Any, theirs: Any) -> dict[str, Any]:
    """Say how far the two answers are from each other, so that equal work is seen to be equal."""
    if theirs is None:
        return {"text": ""}
    if name == "cost_aware":
        return objectives(items, ours, theirs)
    difference = float(np.max(np.abs(np.asarray(ours) - np.asarray(theirs))))
    if name == "parity":
        return {"text": f"share of random's data {ours:.3f} (theirs {theirs:.3f})", "difference": difference}
    if name == "agreement":
        mean, peer = float(np.mean(ours)), float(np.mean(theirs))
        return {
            "text": f"average {mean:.4f} (theirs {peer:.4f}; other random signs)",
            "difference": difference,
        }
    return {"text": f"utilities differ by at most {difference:.1e}", "difference": difference}


def objectives(items: int, ours: list[str], theirs: list[str]) -> dict[str, Any]:
    """Value both sets alike: utilities scaled to [0.1, 0.6], summed, with what the set costs."""
    made = arrays(items)
    utility = made["metric"].var(axis=1)
    value = 0.1 + 0.5 * (utility - utility.min()) / (utility.max() - utility.min())
    row_of = {name: row for row, name in enumerate(item_ids(items))}
    budget = 0.1 * sum(made["cost"].tolist())
    found: dict[str, Any] = {}
    for side, names in (("ours", ours), ("theirs", theirs)):
        rows = [row_of[name] for name in names]
        spent = math.fsum(made["cost"][rows].tolist())
        found[side] = {"objective": math.fsum(value[rows].tolist()), "cost": spent, "fits": spent <= budget}
    mine, peer = found["ours"], found["theirs"]
    found["is_better"] = mine["fits"] and (mine["objective"] >= peer["objective"] or not peer["fits"])
    fit = {True: "fits", False: "does not fit"}
    found["text"] = (
        f"objective {mine['objective']:.4f}, {fit[mine['fits']]} "
        f"(theirs {peer['objective']:.4f}, {fit[peer['fits']]})"
    )
    return found


def grow(sizes: Iterable[int], works: Sequence[str], folder: Path) -> list[dict[str, Any]]:
    """Measure ours alone at growing sizes."""
    rows = []
    for work in works:
        for items in sizes:
            found = measure("ours", work, items, folder)
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
    parser.add_argument("--quick", action="store_true", help="small sizes: a minute instead of about ten")
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
        folder = Path(name)
        for row in ROWS:
            if chosen.only is None or row.name in chosen.only:
                print(f"measuring {row.label} …", file=sys.stderr, flush=True)
                items = row.quick_items if chosen.quick else row.items
                rows.append(compare(row, items, folder, is_quick=chosen.quick))
        if chosen.only is None or "growth" in chosen.only:
            growth = grow(sizes, GROWTH_WORK, folder)
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
