"""What unequal probabilities that a pilot has earned leave of the variance, on fully judged sets.

    .venv/bin/python -m benchmarks.pilot_tau ../shared/data              # for scores
    .venv/bin/python -m benchmarks.pilot_tau ../shared/data ranking 40   # for a ranking, pilots of 40

Uniform pilots are drawn, and ``pivotal:utility=(residual_size),tau=pilot`` is settled on their ratings. On
the items outside the pilot, whose ratings it has not seen, Σ e²/π(τ) is compared with the same for τ = 0.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import NamedTuple, cast

import numpy as np

import sparingly
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.probability import remaining_variance, sizes_of
from sparingly.choose.design.probability_design import Pivotal
from sparingly.choose.utility.residual_size import ResidualSize
from sparingly.data.evalset import EvalSet
from sparingly.signals.predict.features import Features
from sparingly.signals.predict.predict import Goal, centre_on_items, predict_scores

SETS = {
    "wmt23_zhen": "mqm",
    "wmt23_ende": "mqm",
    "wmt20_ende_notext": "mqm",
    "biomqm_ende": "mqm",
    "thumb_mscoco": "human_score",
    "ted21_ende": "mqm",
    "wmt24_enzh": "esa",
}
RUNS = 20


class SettledPairs(NamedTuple):
    """What came of one pilot: the correlation within items, τ, and what it leaves of the variance."""

    within: float
    tau: float
    left: float


def settled(data: EvalSet, aspect: str, goal: Goal, size: int, seed: int) -> SettledPairs:
    """Draw a pilot, settle the design on it, and look at the other items."""
    human = data.aspects[aspect]
    drawn = np.random.default_rng(seed).permutation(len(human)) < size
    labels = np.where(drawn[:, None], human, np.nan)
    view = EvalSet.from_arrays(list(data.items), data.models, metrics=data.metrics, aspects={aspect: labels})
    design = Pivotal(utility=ResidualSize(goal=goal), tau="pilot").resolve(view, Budget.parse(50))
    residual = human - predict_scores(view, labels, features=Features(lengths=False)).everywhere
    if goal == "ranking":
        residual = centre_on_items(residual)
    assert design.utility is not None
    sizes = sizes_of(design.utility.values(view))
    tau = cast(float, design.tau)
    left, _ = remaining_variance(np.nansum(residual**2, axis=1)[~drawn], (sizes / sizes.mean())[~drawn], tau)
    return SettledPairs(design.pilot_evidence(view).correlation, tau, left)


def main() -> None:
    """Print a line for every set."""
    folder = Path(sys.argv[1])
    goal: Goal = "ranking" if "ranking" in sys.argv else "scores"
    size = next((int(word) for word in sys.argv[2:] if word.isdigit()), 80)
    print("| set | correlation within items | pilots that earn τ | variance left then | on average | worst |")
    print("|---|---|---|---|---|---|")
    for name, aspect in SETS.items():
        data = sparingly.load(folder / f"{name}.jsonl.gz")
        within, tau, left = np.array([settled(data, aspect, goal, size, seed) for seed in range(RUNS)]).T
        then = f"{left[tau > 0].mean():.2f}" if tau.any() else "–"
        print(
            f"| {name} | {within.mean():.2f} | {np.mean(tau > 0):.0%} | {then} | {left.mean():.2f} "
            f"| {left.max():.2f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
