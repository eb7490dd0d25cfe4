"""A gate for a new model of a label bank, asked at every look: how often it errs just at the margin.

    .venv/bin/python -m benchmarks.gate_looks            # the table; about 5 minutes of processor time
    .venv/bin/python -m benchmarks.gate_looks --docs     # and in docs/research/coverage.md
    .venv/bin/python -m benchmarks.gate_looks --only pass --draws 100

Four earlier models were judged on 600 items. A fifth is judged on up to 200 of them, drawn at random, and
``compare NEW CURRENT --gate`` is asked after 40 of them and at the 19 looks that follow. *Wrong yes* and
*wrong no* are the shares of draws in which any look says so while the new model is worse by just the margin.
*Yes* is that share where it is as good as the current one, and *labels* how many the answer took on average
(200 where there was none). Every draw has items and labels of its own.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import NamedTuple

import numpy as np
from scipy.stats import norm

import sparingly
from benchmarks.pages import replaced, table
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.compare.head_to_head import MarginAnswer
from sparingly.infer.estimate.assemble import EstimateRequest, Target
from sparingly.infer.estimate.bank import EarlierPredictions
from sparingly.run.campaign.own_draws import BatchedModels, answer_over_looks

PAGE = Path(__file__).parents[1] / "docs" / "research" / "coverage.md"
ITEMS, BUDGET, EARLIER = 600, 200, 4


class Cell(NamedTuple):
    """A kind of labels, how far the new model resembles the others, and what is asked.

    ``common`` is the correlation of models on an item; ``judged`` the items of the earlier models.
    """

    name: str
    kind: str
    margin: float
    common: float = 0.5
    earlier: int = EARLIER
    judged: int = ITEMS
    target: Target = "population"


CELLS = (
    Cell("grades", "normal", 3.0),
    Cell("90 % pass", "0.9", 0.05),
    Cell("error points, long tail", "errors", 1.0),
    Cell("grades, of this set", "normal", 3.0, target="set"),
    Cell("95 % pass", "0.95", 0.03),
    Cell("90 % pass, nothing in common", "0.9", 0.05, common=0.0),
    Cell("grades, one earlier model", "normal", 3.0, earlier=1),
    Cell("70 % pass", "0.7", 0.05),
    Cell("grades, others judged on 200", "normal", 3.0, judged=200),
)


def labels_of(cell: Cell, worse: float, generator: np.random.Generator, items: int = ITEMS) -> Floats:
    """Return items × models, the new one last: worse on average than the others by so much."""
    shared = generator.normal(size=(items, 1))
    own = generator.normal(size=(items, cell.earlier + 1))
    quality = math.sqrt(cell.common) * shared + math.sqrt(1.0 - cell.common) * own
    if cell.kind == "normal":
        scores = 70.0 + 10.0 * quality
    elif cell.kind == "errors":
        # No error on half of the outputs, else an exponential number of points, 6 on average.
        scores = np.where(quality > 0, 0.0, 6.0 * (norm.logcdf(quality) - math.log(0.5)))
    else:
        rate = np.full(cell.earlier + 1, float(cell.kind))
        rate[-1] -= worse
        return np.asarray(quality < norm.ppf(rate), np.float64)
    scores[:, -1] -= worse
    return np.asarray(scores)


def answer(cell: Cell, worse: float, seed: int, budget: int = BUDGET, items: int = ITEMS) -> MarginAnswer:
    """Return what the gate says of a new model that is worse by so much, asked at every look."""
    generator = np.random.default_rng([seed, len(cell.name)])
    scores = labels_of(cell, worse, generator, items)
    ids, names = [f"i{row}" for row in range(items)], [f"m{column}" for column in range(cell.earlier + 1)]
    labels = scores.copy()
    labels[generator.permutation(items)[cell.judged :], :-1] = np.nan
    now = EvalSet.from_arrays(ids, names, aspects={"score": labels})
    labels[:, -1] = np.nan
    earlier = EvalSet.from_arrays(ids, names, aspects={"score": labels})
    view = EvalSet.from_arrays(ids, names[-1:])
    batched = BatchedModels(
        now,
        EarlierPredictions.learn(earlier, view, "score", 0),
        sparingly.select(view, method="uniform", budget=budget, seed=seed),
        view,
        np.zeros(view.shape, bool),
        earlier,
        sparingly.estimate(earlier.take(models=names[:-1]), aspect="score", target=cell.target),
    )
    margin = cell.margin
    if cell.target == "set" and worse:
        margin = float(scores[:, 0].mean() - scores[:, -1].mean())
    asked = MarginAnswer(names[-1], names[0], margin, math.nan, math.nan, 0.95, is_share=False)
    return answer_over_looks(batched, asked, "score", EstimateRequest(target=cell.target), 0.05)


def line_of(cell: Cell, draws: int) -> list[str]:
    """Return the line of a cell."""
    at_margin = [answer(cell, cell.margin, seed) for seed in range(draws)]
    equal = [answer(cell, 0.0, seed) for seed in range(draws // 4)]

    def share(answers: list[MarginAnswer], what: str) -> str:
        return f"{100.0 * np.mean([each.answer == what for each in answers]):.1f}"

    items = [
        each.look.items if each.look is not None and each.answer != "not yet" else BUDGET for each in equal
    ]
    errors = share(at_margin, "yes"), share(at_margin, "no")
    return [cell.name, f"{cell.margin:g}", *errors, share(equal, "yes"), f"{np.mean(items):.0f}"]


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--only", default="", help="cells whose names hold this")
    parser.add_argument("--draws", type=int, default=500)
    parser.add_argument("--docs", action="store_true")
    chosen = parser.parse_args()
    lines = []
    for cell in CELLS:
        if chosen.only in cell.name:
            began = time.process_time()
            lines.append(line_of(cell, chosen.draws))
            sys.stderr.write(f"{' | '.join(lines[-1])}: {time.process_time() - began:.0f} s\n")
    head = ["labels", "margin", "wrong yes %", "wrong no %", "yes %, as good", "labels, as good"]
    sys.stdout.write(f"{table(head, lines)}\n")
    if chosen.docs:
        PAGE.write_text(replaced(PAGE.read_text("utf-8"), {"gate": table(head, lines)}), "utf-8")


if __name__ == "__main__":
    main()
