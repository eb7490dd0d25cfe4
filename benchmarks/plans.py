"""How true plans come, on fully judged data.

``pilots``: plans from uniform pilots of 100 items, and what repeated draws by the recommended method then
did: the predicted width of intervals over the realised one, and the chance of the right winner and of right
pairs.
``metrics``: plans from a metric that stands in for people: how many items people would need in place of those
that it expects, and what metrics explain of each other's variance and of people's. Run
``.venv/bin/python benchmarks/plans.py pilots ../shared/data``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.stats import norm

import sparingly
from sparingly.infer.plan.pilot import Pilot, pilot_of
from sparingly.infer.plan.spread import pair_total

Floats = NDArray[np.float64]
# A set, and what people judged there.
SETS = {
    "wmt23_zhen": "mqm",
    "wmt23_ende": "mqm",
    "wmt23_ende_esa": "esa1",
    "wmt23_zhen_mqm3": "mqm3",
    "wmt24_encs": "esa",
    "wmt24_enhi": "esa",
    "wmt21_ende": "mqm",
    "ted21_ende": "mqm",
    "wmt20_ende_notext": "mqm",
    "biomqm_ende": "mqm",
    "casf_newstest2021_zhen": "mqm",
    "summeval": "sum",
    "summeval_llm12": "sum",
    "realsumm": "litepyramid_recall",
    "opinsummeval": "sum",
    "newsroom": "sum",
    "topicalchat_usr": "overall",
    "thumb_mscoco": "human_score",
    "simpeval_past": "rating",
    "frank_cnndm_notext": "Factuality",
}
PILOT, PILOTS = 100, 8
# A plan is looked at where the set has so many times the pilot.
_LARGE = 2.5


def load(folder: Path, name: str) -> sparingly.EvalSet:
    """Return the items of a set on which every model was judged."""
    data = sparingly.load(folder / f"{name}.jsonl.gz")
    return data.at(~np.isnan(data.aspects[SETS[name]]).any(axis=1))


# --- pilots -------------------------------------------------------------------------------------------


def realised(data: sparingly.EvalSet, aspect: str, method: str, estimator: str, draws: int) -> Floats:
    """Return the realised half-width and the shares of right winners and of right pairs."""
    truth = data.aspects[aspect].mean(axis=0)
    first, second = np.triu_indices(len(truth), 1)
    missed, right = [], []
    for seed in range(draws):
        chosen = sparingly.select(data, method, PILOT, seed=1000 + seed)
        scores = sparingly.estimate(
            data, chosen, aspect, estimator=estimator, interval="none", seed=seed
        ).scores
        missed.append((scores - truth) ** 2)
        pairs = np.sign(scores[first] - scores[second]) == np.sign(truth[first] - truth[second])
        right.append((scores.argmax() == truth.argmax(), pairs.mean()))
    width = norm.ppf(0.975) * np.sqrt(np.mean(missed, axis=0)).mean()
    return np.array([width, *np.mean(right, axis=0)])


def pilots(folder: Path, draws: int) -> None:
    """Print the table of predicted and realised figures."""
    print("| set | items | draws by utility | predicted / realised width | right winner | right pairs |")
    print("|---|--:|--:|--:|--:|--:|")
    for name, aspect in SETS.items():
        data = load(folder, name)
        if len(data) < _LARGE * PILOT:
            continue
        known: dict[tuple[str, str], Floats] = {}
        rows, by_utility = [], 0
        for seed in range(PILOTS):
            pilot = sparingly.select(data, "uniform", PILOT, seed=seed)
            # So wide an interval that choosing is worth it, whatever the set.
            width = 0.5 * float(data.aspects[aspect].std())
            told = sparingly.plan(data, pilot, aspect, budgets=[PILOT], width=width, seed=seed)
            way = (str(told.advice.method), told.advice.estimator)
            by_utility += "utility" in way[0]
            if way not in known:
                known[way] = realised(data, aspect, *way, draws)
            row = next(row for row in told.table if row.n == PILOT)
            predicted = np.array([row.half_width, row.right_winner, row.right_pairs])
            rows.append(np.stack([predicted, known[way]]))
        expected, came = np.mean(rows, axis=0)
        chances = [f"{expected[place]:.2f} / {came[place]:.2f}" for place in (1, 2)]
        cells = [name, str(len(data)), f"{by_utility} of {PILOTS}", f"{expected[0] / came[0]:.2f}", *chances]
        print(f"| {' | '.join(cells)} |", flush=True)


# --- metrics ------------------------------------------------------------------------------------------


def noise_over_signal(pilot: Pilot) -> float:
    """Return the variance of a difference over items by the squared difference of two models."""
    count = len(pilot.plain)
    noise = pair_total(pilot.plain) / (count * (count - 1) / 2)
    signal = 2 * float(np.var(pilot.scores[0], ddof=1)) - noise / pilot.n
    return noise / signal if signal > 0 else np.inf


def metrics(folder: Path) -> None:
    """Print the table of plans from a metric against those from people."""
    print("| set | stands in | items needed over planned | metrics explain of it | of people's |")
    print("|---|---|--:|--:|--:|")
    for name, aspect in SETS.items():
        data = load(folder, name)
        people = pilot_of(data, None, aspect, for_differences=False, seed=0)
        metric = pilot_of(data.without_labels(), None, None, for_differences=False, seed=0)
        others = data.only(field for field in data.fields if field != f"metric:{metric.truth}")
        stand_in = others.with_aspect("stands in", data.metrics[metric.truth])
        told = pilot_of(stand_in, None, "stands in", for_differences=False, seed=0).saving
        assert told is not None
        assert people.saving is not None
        ratio = noise_over_signal(people) / noise_over_signal(metric)
        cells = [name, metric.truth, f"{ratio:.1f}", f"{told.scores:.0%}", f"{people.saving.scores:.0%}"]
        print(f"| {' | '.join(cells)} |", flush=True)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("what", choices=("pilots", "metrics"))
    parser.add_argument("folder", type=Path, help="where the fully judged sets lie")
    parser.add_argument("--draws", type=int, default=100)
    chosen = parser.parse_args()
    pilots(chosen.folder, chosen.draws) if chosen.what == "pilots" else metrics(chosen.folder)


if __name__ == "__main__":
    main()
