"""Plans from a metric that stands in for people, on fully judged data.

How many items people would need in place of those that it expects, and what metrics explain of each other's
variance and of people's. Run ``.venv/bin/python -m benchmarks.plan_metrics ../shared/data``. Plans from
pilots: ``plan_holds.py``.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np

import sparingly
from sparingly.infer.plan.pilot import Pilot, pilot_of
from sparingly.infer.plan.power import pair_total

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


def load(folder: Path, name: str) -> sparingly.EvalSet:
    """Return the items of a set on which every model was judged."""
    data = sparingly.load(folder / f"{name}.jsonl.gz")
    return data.at(~np.isnan(data.aspects[SETS[name]]).any(axis=1))


def noise_over_signal(pilot: Pilot) -> float:
    """Return the variance of a difference over items by the squared difference of two models."""
    count = len(pilot.spread)
    noise = pair_total(pilot.spread) / (count * (count - 1) / 2)
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
    parser.add_argument("folder", type=Path, help="where the fully judged sets lie")
    metrics(parser.parse_args().folder)


if __name__ == "__main__":
    main()
