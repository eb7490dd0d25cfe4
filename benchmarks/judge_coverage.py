"""How often the pass rate that ``judge`` and ``estimate`` print holds the truth, and how wide it is.

Sets of 2,000 outputs with a judge's verdicts on all and 100 random labels, judges from useless to excellent,
pass rates from .5 to .99, and the set in shared/journeys/judge_2000.csv. Beside it: Wilson's interval of the
labels alone, and three peers, each installed by pip in an environment of its own in the temporary folder
(``--peers``, 200 draws a cell). All see the same draws.

    .venv/bin/python -m benchmarks.judge_coverage --peers      # 2,000 draws a cell, half an hour on one core
    .venv/bin/python -m benchmarks.judge_coverage --draws 200  # three minutes
"""

from __future__ import annotations

import argparse
import csv
import json
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
from scipy.stats import norm

import sparingly
from benchmarks.pages import folded, replaced, table
from sparingly.base.arrays import Floats, Ints

SIZE, LABELS, PEER_DRAWS = 2000, 100, 200
PASS_RATES = (0.5, 0.7, 0.85, 0.95, 0.99)
# The share of good outputs that each passes, and of bad ones.
JUDGES = {
    "useless": (0.8, 0.8),
    "weak": (0.85, 0.6),
    "lenient": (0.97, 0.6),
    "good": (0.92, 0.25),
    "excellent": (0.98, 0.05),
}
PEERS = {"ppi_py": "ppi-python==0.2.3", "truescore": "truescore==0.7.4", "cje-eval": "cje-eval==0.9.3"}
ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results" / "judge_coverage.json"
PAGE = ROOT / "docs" / "research" / "judge-results.md"
JOURNEY = "judge_2000"


@dataclass(frozen=True, eq=False)
class JudgeCell:
    """A set: its judge, labels and verdicts of all outputs, and which are labelled in every draw."""

    judge: str
    people: Floats
    verdicts: Floats
    labelled: Ints

    @property
    def truth(self) -> float:
        """The pass rate of the set."""
        return float(self.people.mean())


def cells(draws: int) -> list[JudgeCell]:
    """Return all sets with their draws."""
    found = []
    for name, (if_good, if_bad) in JUDGES.items():
        for rate in PASS_RATES:
            random = np.random.default_rng([round(1000 * if_good), round(1000 * if_bad), round(1000 * rate)])
            people = (np.arange(SIZE) < round(rate * SIZE)).astype(np.float64)
            chance = np.where(people == 1, if_good, if_bad)
            verdicts = (random.random(SIZE) < chance).astype(np.float64)
            found.append(JudgeCell(name, people, verdicts, _labelled(random, draws)))
    folder = ROOT.parent / "shared" / "journeys"
    truth_file = folder / f"{JOURNEY}_truth.csv"
    if truth_file.exists():
        with truth_file.open(encoding="utf-8") as file:
            truth = {row["answer_id"]: float(row["human_pass"]) for row in csv.DictReader(file)}
        with (folder / f"{JOURNEY}.csv").open(encoding="utf-8") as file:
            given = {row["answer_id"]: float(row["judge_pass"]) for row in csv.DictReader(file)}
        people, verdicts = (np.array([part[name] for name in sorted(truth)]) for part in (truth, given))
        found.append(JudgeCell(JOURNEY, people, verdicts, _labelled(np.random.default_rng(0), draws)))
    return found


def _labelled(random: np.random.Generator, draws: int) -> Ints:
    return np.stack([random.permutation(SIZE)[:LABELS] for _ in range(draws)]).astype(np.int64)


def printed(cell: JudgeCell) -> tuple[Floats, float]:
    """Return the ends that are printed for every draw, and the seconds."""
    items = [f"a{row:04d}" for row in range(SIZE)]
    ends, start = np.empty((len(cell.labelled), 2)), time.process_time()
    for draw, rows in enumerate(cell.labelled):
        labels = np.full((SIZE, 1), np.nan)
        labels[rows, 0] = cell.people[rows]
        data = sparingly.EvalSet.from_arrays(
            items, ["m"], aspects={"ok": labels}, metrics={"judge": cell.verdicts[:, None]}
        )
        found = sparingly.estimate(data, seed=draw)
        ends[draw] = found.low[0], found.high[0]
    return ends, time.process_time() - start


def wilson(cell: JudgeCell) -> Floats:
    """Return Wilson's interval of the labels alone."""
    share, z = cell.people[cell.labelled].mean(axis=1), float(norm.isf(0.025))
    centre = (share + z * z / (2 * LABELS)) / (1 + z * z / LABELS)
    half = z / (1 + z * z / LABELS) * np.sqrt(share * (1 - share) / LABELS + (z / (2 * LABELS)) ** 2)
    return np.stack([centre - half, centre + half], axis=1)


def of_peer(peer: str, sets: list[JudgeCell], folder: Path) -> tuple[Floats, float]:
    """Return a peer's ends (cells × draws × 2) and its seconds, from a process in its own environment."""
    venv = Path(tempfile.gettempdir()) / "sparingly-peers" / peer
    python = venv / "bin" / "python"
    if not (venv / PEERS[peer]).exists():
        subprocess.run([sys.executable, "-m", "venv", "--clear", str(venv)], check=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", PEERS[peer]], check=True)
        (venv / PEERS[peer]).touch()
    source, target = folder / "draws.npz", folder / f"{peer}.npz"
    np.savez(
        source,
        people=np.stack([cell.people for cell in sets]),
        judge=np.stack([cell.verdicts for cell in sets]),
        labelled=np.stack([cell.labelled[:PEER_DRAWS] for cell in sets]),
    )
    script = Path(__file__).parent / "peers" / "judge_intervals.py"
    subprocess.run([str(python), str(script), peer, str(source), str(target)], check=True)
    found = np.load(target)
    return found["ends"], float(found["seconds"])


def summary(ends: Floats, cell: JudgeCell) -> dict[str, float]:
    """Return coverage, mean width, and the share of draws with an interval."""
    known = np.isfinite(ends).all(axis=1)
    held = (ends[:, 0] <= cell.truth + 1e-12) & (cell.truth <= ends[:, 1] + 1e-12)
    return {
        "coverage": float(held[known].mean()) if known.any() else float("nan"),
        "width": float((ends[known, 1] - ends[known, 0]).mean()) if known.any() else float("nan"),
        "known": float(known.mean()),
    }


def run(draws: int, peers: bool) -> dict[str, Any]:
    """Return the results by cell and method, and the seconds of a call."""
    sets = cells(draws)
    rows: list[dict[str, Any]] = []
    seconds = {"sparingly": 0.0}
    for cell in sets:
        ends, spent = printed(cell)
        seconds["sparingly"] += spent / draws / len(sets)
        methods = {"sparingly": summary(ends, cell), "Wilson": summary(wilson(cell), cell)}
        # The first draws alone, beside those of the peers.
        methods["sparingly, same draws"] = summary(ends[:PEER_DRAWS], cell)
        rows.append({"judge": cell.judge, "truth": cell.truth, "methods": methods})
        print(f"{cell.judge} {cell.truth:.3f} {methods['sparingly']}", file=sys.stderr, flush=True)
    if peers:
        with tempfile.TemporaryDirectory() as folder:
            for peer in PEERS:
                ends, spent = of_peer(peer, sets, Path(folder))
                seconds[peer] = spent / ends.shape[0] / ends.shape[1]
                for row, cell, part in zip(rows, sets, ends, strict=True):
                    row["methods"][peer] = summary(part, cell)
    return {"date": f"{date.today()}", "draws": draws, "labels": LABELS, "cells": rows, "seconds": seconds}


def tables(results: dict[str, Any]) -> str:
    """Return one line for each method, and coverage by judge and pass rate."""
    rows = results["cells"]
    names = [name for name in rows[0]["methods"] if name != "sparingly, same draws"]
    lines = []
    for name in names:
        parts = [row["methods"][name] for row in rows]
        coverage, width = (np.array([part[key] for part in parts]) for key in ("coverage", "width"))
        base = np.array([row["methods"]["Wilson"]["width"] for row in rows])
        draws = results["draws"] if name in ("sparingly", "Wilson") else PEER_DRAWS
        spent = results["seconds"].get(name)
        lines.append(
            (
                name,
                f"{draws:,}",
                f"{100 * coverage.mean():.1f}",
                f"{100 * coverage.min():.1f}",
                f"{100 * width.mean():.1f}",
                f"{(width / base).mean():.2f}",
                "–" if spent is None else f"{1000 * spent:.1f}",
            )
        )
    head = (
        "interval",
        "draws a cell",
        "coverage, mean",
        "least",
        "mean width",
        "width / Wilson",
        "ms a call",
    )
    cells_table = [
        (
            row["judge"],
            f"{100 * row['truth']:.0f} %",
            *(f"{100 * row['methods'][name]['coverage']:.1f}" for name in names),
            *(f"{100 * row['methods'][name]['width']:.1f}" for name in names),
        )
        for row in rows
    ]
    cell_head = ("judge", "passes", *names, *(f"width, {name}" for name in names))
    return f"{table(head, lines)}\n\n{folded('Each cell', table(cell_head, cells_table, texts=2))}"


def main() -> None:
    """Run, save the numbers, and print the tables."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--draws", type=int, default=2000)
    parser.add_argument("--peers", action="store_true", help="install and run the peers, too")
    parser.add_argument("--save", action="store_true", help=f"write {RESULTS.name}")
    parser.add_argument("--docs", action="store_true", help=f"write the saved tables into {PAGE.name}")
    options = parser.parse_args()
    if options.docs:
        blocks = {"coverage": tables(json.loads(RESULTS.read_text(encoding="utf-8")))}
        PAGE.write_text(replaced(PAGE.read_text(encoding="utf-8"), blocks), encoding="utf-8")
        return
    results = run(options.draws, options.peers)
    if options.save:
        RESULTS.write_text(json.dumps(results, indent=1) + "\n", encoding="utf-8")
    print(tables(results))


if __name__ == "__main__":
    main()
