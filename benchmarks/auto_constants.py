"""The constants of ``auto``, chosen leaving one family of data sets out, and what they give on that family.

    python -m benchmarks.auto_constants --data ../shared/data

Candidates differ in how far metrics are trusted before any label, in the size of the first round and in how
little the most decided model may be judged. For every family the candidate that needs the fewest of random's
labels on all *other* families is taken, and only its figures on the family itself count. Finished cells are
kept in .bench/auto_constants, so that an interrupted run goes on where it stopped.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np

from benchmarks.leaderboard.parity import Parities
from benchmarks.leaderboard.results import Results, read_results
from sparingly.bench.grid import GridEntry, GridRuns, ReplayGrid, entry_from_table
from sparingly.bench.play import play

ROOT = Path(__file__).resolve().parent.parent
CANDIDATES = (
    "auto",
    "auto:trust=0.3",
    "auto:trust=0.6",
    "auto:pilot=0.4",
    "auto:floor=0.25",
)


def entries() -> tuple[GridEntry, ...]:
    """Return random selection and the candidates."""
    tables = [{"method": "random"}, *({"method": one, "p_values": "full_set"} for one in CANDIDATES)]
    return tuple(map(entry_from_table, tables))


def needs_of(results: Results) -> dict[str, dict[str, float]]:
    """Return by candidate and set: the labels needed, as a share of random's."""
    parities = Parities(results)
    return {
        entry: {name: found.ratio.value for name, found in parities.over(entry).items()}
        for entry in results.entries
        if entry != "random"
    }


def left_out(results: Results, needs: dict[str, dict[str, float]]) -> dict[str, tuple[str, float]]:
    """Return by set: the candidate that is best on the other families, and what it needs here."""
    names = results.counting()
    family = {name: results.sets[name].family for name in names}
    found = {}
    for one in sorted(set(family.values())):
        others = [name for name in names if family[name] != one]
        best = min(needs, key=lambda entry: float(np.mean([needs[entry][name] for name in others])))
        found.update({name: (best, needs[best][name]) for name in names if family[name] == one})
    return found


def show(results: Results) -> None:
    """Print the candidates, and the figures on the families that were left out."""
    needs = needs_of(results)
    strong = [name for name in results.counting() if results.sets[name].strong]
    print(f"{'candidate':24s}  mean  strong  worst")
    for entry, values in needs.items():
        print(f"{entry:24s} {_three(values, strong)}")
    chosen = left_out(results, needs)
    print(f"{'left out':24s} {_three({name: value for name, (_, value) in chosen.items()}, strong)}")
    for name, (best, value) in chosen.items():
        print(f"  {name:28s} {results.sets[name].family:10s} {best:18s} {value:5.2f}")


def _three(values: dict[str, float], strong: list[str]) -> str:
    here = [values[name] for name in strong if name in values]
    means = [float(np.mean(some)) if some else float("nan") for some in (list(values.values()), here)]
    return f"{means[0]:5.3f}  {means[1]:5.3f}  {max(values.values()):5.2f}"


def main(arguments: list[str] | None = None) -> int:
    """Play the candidates back, and print what they need."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data")
    parser.add_argument("--out", type=Path, default=ROOT / ".bench" / "auto_constants" / "table.parquet")
    parser.add_argument("--seeds", type=int, default=10)
    parser.add_argument("--sets", default="", help="names with commas; all unless given")
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args(arguments)
    grid = ReplayGrid(
        entries(), sets=tuple(filter(None, args.sets.split(","))), runs=GridRuns(stochastic=args.seeds)
    )
    args.out.parent.mkdir(parents=True, exist_ok=True)
    play(grid, args.data, args.out, jobs=args.jobs)
    show(read_results(args.out))
    return 0


if __name__ == "__main__":
    sys.exit(main())
