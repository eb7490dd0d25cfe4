"""Labels needed to settle the best model, and all pairs, on fully judged data.

    python -m benchmarks.labels_to_settle             every set, written into docs/research/coverage.md
    python -m benchmarks.labels_to_settle --set newsroom --looks 5 --print

``auto`` is played back without metrics. It stops by group-sequential tests at 5 % over all pairs (or of the
best model) and looks, spent evenly, at every tenth of the set. For inputs like these an evaluation ends when
every pair is settled or has a chance below 10 % to be settled by judging everything (``futility``).

Finished runs are saved in .bench/settle, so that it can be stopped and run again.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import sparingly
from benchmarks.pages import replaced, table, write_whole
from benchmarks.resume import FinishedParts
from sparingly.base.arrays import Mask
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.stop.base import Progress, pair_question
from sparingly.run.rounds.stop.rules import AllSettled, BestSettled

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs" / "research" / "coverage.md"
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
QUESTIONS = {"ranking": "all pairs", "best": "the best model"}


class Part(NamedTuple):
    """One run: a set, what is asked, a seed, and the number of looks."""

    name: str
    question: str
    seed: int
    looks: int


def whole_set(name: str, folder: Path) -> tuple[EvalSet, str]:
    """Return the items of a set on which all models were judged, without metrics, and the aspect."""
    data = sparingly.load(folder / f"{name}.jsonl.gz")
    aspect = ASPECTS.get(name, next(iter(data.aspects)))
    judged = data.at(~np.isnan(data.aspects[aspect]).any(axis=1))
    return judged.only([f"aspect:{aspect}"]), aspect


def sets(folder: Path) -> Iterator[str]:
    """Yield the names of the sets with enough models and items."""
    for path in sorted(folder.glob("*.jsonl.gz")):
        name = path.name.removesuffix(".jsonl.gz")
        data, _ = whole_set(name, folder)
        if len(data.models) >= FEWEST_MODELS and len(data) >= FEWEST_ITEMS:
            yield name


def run(part: Part, folder: Path) -> dict[str, Any]:
    """Return how many labels one run needed, and whether what it claims contradicts the whole set."""
    data, aspect = whole_set(part.name, folder)
    size = -(-len(data) // part.looks)
    stop = (BestSettled if part.question == "best" else AllSettled)(spending="even")
    question = pair_question("best" if part.question == "best" else "all", stop.target)
    rules = [stop, f"futility:question={'best' if question == 'best' else 'all'},spending=even"]
    ended = sparingly.replay_until(data, "auto", "100%", rules, truth=aspect, size=size, seed=part.seed)
    pairs = stop.settle(Progress(ended.look.state, ended.look.strategy, True), question)
    above: Mask = np.zeros((len(data.models),) * 2, bool) if pairs is None else pairs.above
    means = data.aspects[aspect].mean(axis=0)
    return {
        "share": ended.spent / data.aspects[aspect].size,
        "wrong": bool((above & (means[:, None] < means)).any()),
        "claimed": int(above.sum()),
    }


def block(rows: dict[Part, dict[str, Any]], runs: int) -> str:
    """Return the table: the share of all labels that each question took."""
    names = list(dict.fromkeys(part.name for part in rows))

    def mean(name: str, question: str, key: str) -> float:
        return float(np.mean([one[key] for part, one in rows.items() if part[:2] == (name, question)]))

    shares = [[100 * mean(name, question, "share") for question in QUESTIONS] for name in names]
    lines = [[name, *(f"{share:.0f}" for share in row)] for name, row in zip(names, shares, strict=True)]
    lines.append(["**median**", *(f"**{share:.0f}**" for share in np.median(shares, axis=0))])
    wrong = [100 * np.mean([mean(name, question, "wrong") for name in names]) for question in QUESTIONS]
    lines.append(["runs with an error", *(f"{share:.1f}" for share in wrong)])
    return (
        f"{table(['set', *QUESTIONS.values()], lines)}\n\nLabels in percent of all. {runs} "
        f"run{'s' if runs > 1 else ''} on each set; `python -m benchmarks.labels_to_settle`, "
        f"{date.today().isoformat()}."
    )


def main(arguments: list[str] | None = None) -> None:
    """Run what is not saved, and write or print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--runs", type=int, default=1, help="runs on every set")
    parser.add_argument("--looks", type=int, default=10, help="looks of a run")
    parser.add_argument("--set", action="append", help="a set; all unless given")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--data", type=Path, default=ROOT.parent / "shared" / "data", help="the data sets")
    parser.add_argument("--kept", type=Path, default=ROOT / ".bench" / "settle")
    parser.add_argument("--print", action="store_true", help="print the table and write nothing")
    args = parser.parse_args(arguments)
    parts = [
        Part(name, question, seed, args.looks)
        for name in (args.set or sets(args.data))
        for seed in range(args.runs)
        for question in QUESTIONS
    ]
    finished = FinishedParts(args.kept, ("run/rounds", "infer/estimate"), (Path(__file__).name,))
    found = finished.rows(parts, Part._asdict, lambda part: run(part, args.data), args.jobs)
    text = block(dict(zip(parts, found, strict=True)), args.runs)
    if args.print:
        print(text)
    else:
        write_whole(PAGE, replaced(PAGE.read_text(encoding="utf-8"), {"settle": text}))


if __name__ == "__main__":
    main()
