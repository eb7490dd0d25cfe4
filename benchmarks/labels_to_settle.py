"""Labels needed to settle the best model, and all pairs, on fully judged data.

Uniform draws of whole items against ``waves`` (chances and predictions learned), ``allocate`` (only models
that are not settled) and both. All sides have the same stop: group-sequential tests at 5 % over all pairs and
looks, one look every twentieth of the set. *Set*: every pair (or the best model) is settled for this very
set; judging everything settles all. *Population*: every pair is settled for inputs like these, or has a
chance below 10 % to be settled by judging everything.

Rows are added to a file as they are found, so that it can be stopped and run again. Run
``.venv/bin/python -m benchmarks.labels_to_settle run ../shared/data --seeds 20`` and then ``table``.
"""

from __future__ import annotations

import argparse
import json
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np

import sparingly
from benchmarks._settle_learn import features_of
from benchmarks._settle_runs import STRATEGIES, Judge, Question
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.stop.sequential import Look, settle_pairs

HERE = Path(__file__).parent
KEPT = HERE.parent / ".cache" / "labels_to_settle.jsonl"
# What people judged, where it is not the first aspect.
ASPECTS = {
    "summeval": "sum",
    "summeval_llm12": "sum",
    "opinsummeval": "sum",
    "newsroom": "sum",
    "topicalchat_usr": "overall",
    "webnlg20_en": "mean",
}
FEWEST_ITEMS, FEWEST_MODELS = 20, 5
ASKED = tuple((target, goal) for target in ("set", "population") for goal in ("best", "all"))
OTHERS = tuple(name for name in STRATEGIES if name != "uniform")
QUESTIONS = (
    Question("best", "set"),
    Question("all", "set"),
    Question("best", "population"),
    Question("all", "population"),
)


def sets(folder: Path) -> Iterator[tuple[str, EvalSet, str]]:
    """Yield the sets with enough models, with the items on which all of them were judged."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        data = sparingly.load(path)
        aspect = ASPECTS.get(name, next(iter(data.aspects)))
        whole = data.at(~np.isnan(data.aspects[aspect]).any(axis=1))
        if len(data.models) >= FEWEST_MODELS and len(whole) >= FEWEST_ITEMS:
            yield name, whole, aspect


def answers(name: str, labels: Floats, x: Floats | None, seed: int, strategy: str) -> list[dict[str, Any]]:
    """Return a row for every question, as one strategy answers it."""
    judges = [Judge(question, labels.mean(axis=0), len(labels)) for question in QUESTIONS]
    found = STRATEGIES[strategy](labels, x, seed, judges)
    return [
        {
            "set": name,
            "seed": seed,
            "strategy": strategy,
            "goal": judge.question.goal,
            "target": judge.question.target,
            "of": int(labels.size),
            **vars(answer),
        }
        for judge, answer in found
    ]


def run(folder: Path, seeds: int, kept: Path, only: str | None) -> None:
    """Simulate what is not in the file yet."""
    kept.parent.mkdir(parents=True, exist_ok=True)
    lines = kept.read_text(encoding="utf-8").splitlines() if kept.exists() else []
    rows = [json.loads(line) for line in lines]
    done = {(row["set"], row["seed"], row["strategy"]) for row in rows}
    known = [
        (name, data.aspects[aspect], features_of(data))
        for name, data, aspect in sets(folder)
        if only is None or name in only.split(",")
    ]
    for seed in range(seeds):
        for name, labels, x in known:
            for strategy in STRATEGIES:
                if (name, seed, strategy) in done:
                    continue
                start = time.perf_counter()
                found = answers(name, np.asarray(labels), x, seed, strategy)
                with kept.open("a", encoding="utf-8") as file:
                    file.writelines(json.dumps(row) + "\n" for row in found)
                print(seed, name, strategy, f"{time.perf_counter() - start:.1f} s", flush=True)


# --- tables -------------------------------------------------------------------------------------------


def settled_by_everything(labels: Floats) -> int:
    """Return how many pairs one look at all items settles for inputs like these."""
    size, models = labels.shape
    nothing = np.zeros(models, bool)
    spread = np.cov(labels.T) / size
    look = Look(labels.mean(axis=0), spread, size - 1.0, 1.0, float(size), float(size), nothing)
    return int(settle_pairs([look], 0.05, "fixed", final=True).above.sum())


def table(kept: Path, folder: Path | None) -> None:
    """Print a table for each target: labels as a share of everything, and over uniform's."""
    rows = [json.loads(line) for line in kept.read_text(encoding="utf-8").splitlines()]
    # Seeds that every set has finished with every strategy.
    done = Counter((row["seed"], row["target"], row["goal"]) for row in rows)
    whole = {seed for seed, _, _ in done if all(done[seed, t, g] == max(done.values()) for t, g in ASKED)}
    rows = [row for row in rows if row["seed"] in whole]
    for target in ("population", "set"):
        print(f"\nTarget {target}, {len(whole)} runs on each set\n")
        _one_table([row for row in rows if row["target"] == target])
    if folder is None:
        return
    known = {name: settled_by_everything(data.aspects[aspect]) for name, data, aspect in sets(folder)}
    print("\nPairs claimed, as a share of those that one look at everything settles (all pairs, population):")
    for strategy in STRATEGIES:
        part = [
            row["claimed"] / known[row["set"]]
            for row in rows
            if (row["strategy"], row["goal"], row["target"]) == (strategy, "all", "population")
            and known[row["set"]]
        ]
        print(f"{strategy}: {np.mean(part):.1%}")


def _one_table(rows: list[dict[str, Any]]) -> None:
    kept: dict[tuple[str, str, str], list[dict[str, Any]]] = defaultdict(list)
    for row in rows:
        kept[row["goal"], row["strategy"], row["set"]].append(row)
    names = sorted({row["set"] for row in rows})
    goals = (("all", "all pairs"), ("best", "best model"))
    heads = [f"{said}: {name}" for _, said in goals for name in STRATEGIES]
    print("| set | " + " | ".join(heads) + " |")
    print("|---|" + "--:|" * len(heads))
    ratios: dict[tuple[str, str], list[float]] = defaultdict(list)
    for name in names:
        cells = []
        for goal, _ in goals:
            shares = {one: _mean_share(kept[goal, one, name]) for one in STRATEGIES}
            for one, share in shares.items():
                ratios[goal, one].append(share / shares["uniform"])
            cells += [f"{shares['uniform']:.0%}", *(f"{ratios[goal, one][-1]:.0%}" for one in OTHERS)]
        print(f"| {name} | " + " | ".join(cells) + " |")
    for said, what in (("median", np.median), ("largest", np.max)):
        shown = [
            "" if one == "uniform" else f"**{what(ratios[goal, one]):.0%}**"
            for goal, _ in goals
            for one in STRATEGIES
        ]
        print(f"| **{said}** | " + " | ".join(shown) + " |")
    for said, key in (("runs with an error", "wrong"), ("runs in which all was settled", "settled")):
        shown = [
            f"{np.mean([row[key] for name in names for row in kept[goal, one, name]]):.1%}"
            for goal, _ in goals
            for one in STRATEGIES
        ]
        print(f"| {said} | " + " | ".join(shown) + " |")


def _mean_share(rows: list[dict[str, Any]]) -> float:
    return float(np.mean([row["cells"] / row["of"] for row in rows]))


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("run", "table"))
    parser.add_argument("folder", type=Path, nargs="?", help="where the fully judged sets lie")
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--kept", type=Path, default=KEPT)
    parser.add_argument("--only", help="names of sets, with commas between them")
    chosen = parser.parse_args()
    if chosen.what == "table":
        table(chosen.kept, chosen.folder)
    elif chosen.folder is None:
        parser.error("run needs the folder of the sets")
    else:
        run(chosen.folder, chosen.seeds, chosen.kept, chosen.only)


if __name__ == "__main__":
    main()
