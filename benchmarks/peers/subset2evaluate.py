"""One measurement of subset2evaluate, in its environment: ``subset2evaluate WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import json
import multiprocessing.pool
import sys
from collections.abc import Callable
from functools import partial
from importlib import import_module
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.peers.timing import Timing, peak_megabytes, report, timed, timed_command

Items = list[dict[str, Any]]
Outcome = tuple[Timing, Any]


# Not installed where types are checked, so imported by name.
select_subset = import_module("subset2evaluate.select_subset")
evaluate = import_module("subset2evaluate.evaluate")


def utilities(method: str, metric: str, items: Items) -> Outcome:
    """Time ``basic``: the utility of every item, and the list in their order."""
    timing, ordered = timed(lambda: select_subset.basic(items, method=method, metric=metric))
    by_id = {item["i"]: float(item["subset2evaluate_utility"]) for item in ordered}
    return timing, [by_id[item["i"]] for item in items]


def by_variance(items: Items) -> Items:
    """Return the list in the order that is evaluated (not timed)."""
    ordered: Items = select_subset.basic(items, method="metric_var", metric="metric")
    return ordered


def agreement(items: Items) -> Outcome:
    """Time ``eval_spa``: soft pairwise accuracy over ten budgets."""
    ordered = by_variance(items)
    timing, values = timed(lambda: evaluate.eval_spa(ordered, items, metric="human"))
    return timing, [float(value) for value in values]


def parity(items: Items) -> Outcome:
    """Time ``eval_spa_par``: the items needed to reach each of ten given targets."""
    ordered = by_variance(items)
    targets = json.loads(Path(sys.argv[4]).read_text(encoding="utf-8"))
    timing, share = timed(lambda: evaluate.eval_spa_par(ordered, items, targets, metric="human", workers=1))
    return timing, float(share)


def cost_aware(items: Items) -> Outcome:
    """Time ``costaware`` at a tenth of the total cost; the utilities are there already."""
    ordered = by_variance(items)
    budget = 0.1 * sum(item["cost"] for item in items)
    timing, chosen = timed(lambda: select_subset.costaware(ordered, budget=budget))
    return timing, [item["i"] for item in chosen]


def search(items: Items) -> Outcome:
    """Time ``bruteforce_greedy``: a tenth of the items, in steps of ten, the best of 1000 draws each.

    It takes an item's id for its place in the list. Its 20 threads only get in each other's way, so it is
    given one.
    """
    names = [item["i"] for item in items]
    for place, item in enumerate(items):
        item["i"] = place
    pool = multiprocessing.pool.ThreadPool
    multiprocessing.pool.ThreadPool = lambda _: pool(1)  # type: ignore[assignment,misc]
    timing, ordered = timed(
        partial(
            select_subset.basic,
            items,
            method="bruteforce_greedy",
            metric="metric",
            budget=len(items) // 10,
            stepsize=10,
            simulations=1000,
        )
    )
    return timing, [names[item["i"]] for item in ordered if item["subset2evaluate_utility"]]


class Encoder:
    """Stands for the sentence-transformers model: gives the vectors that there are, and takes no time."""

    def __init__(self, vectors: Any) -> None:
        self._vectors = vectors

    def encode(self, texts: list[str]) -> Any:
        """Return the vectors of all texts."""
        assert len(texts) == len(self._vectors)
        return self._vectors


def clustered(method: str, items: Items) -> Outcome:
    """Time ``basic`` with a budget of a tenth; the vectors come from the encoder's stand-in."""
    encoder = Encoder(np.load(sys.argv[2]))
    timing, ordered = timed(
        partial(select_subset.basic, items, method=method, budget=len(items) // 10, load_model=encoder)
    )
    return timing, [item["i"] for item in ordered if item["subset2evaluate_utility"]]


def command(method: str, items: Items) -> Outcome:
    """Time the command ``subset2evaluate``, which prints all items in order; a tenth of them is taken."""
    words = [str(Path(sys.executable).with_name("subset2evaluate")), sys.argv[2], "--method", method]
    out = Path(sys.argv[3]).with_suffix(".printed")
    timing = timed_command([*words, "--args", '{"metric": "metric"}'], out)
    with out.open(encoding="utf-8") as file:
        ordered = [json.loads(line)["i"] for line in file]
    out.unlink()
    return timing, ordered[: len(items) // 10]


WORK: dict[str, Callable[[Items], Outcome]] = {
    "command_cons": lambda items: command("metric_cons", items),
    "command_var": lambda items: command("metric_var", items),
    "metric_cons": lambda items: utilities("metric_cons", "metric", items),
    "metric_var": lambda items: utilities("metric_var", "metric", items),
    "agreement": agreement,
    "cost_aware": cost_aware,
    "parity": parity,
    "diversity_chrf": lambda items: utilities("diversity", "chrF", items),
    "diversity_bleu": lambda items: utilities("diversity", "BLEU", items),
    "diffuse": lambda items: clustered("diffuse", items),
    "search": search,
    "kmeans": lambda items: clustered("kmeans", items),
}


def loaded_items(path: Path) -> Items:
    """Return the items of a file; beside vectors, there are ids only."""
    if path.suffix == ".jsonl":
        with path.open(encoding="utf-8") as file:
            return [json.loads(line) for line in file]
    items: dict[str, dict[str, Any]] = {}
    for name in path.with_suffix(".ids.tsv").read_text(encoding="utf-8").splitlines():
        item, _, model = name.partition("\t")
        items.setdefault(item, {"i": item, "src": "", "tgt": {}, "scores": {}})["tgt"][model] = ""
    return list(items.values())


def main() -> None:
    """Load, measure, write the outcome."""
    items = loaded_items(Path(sys.argv[2]))
    loaded = peak_megabytes()
    timing, answer = WORK[sys.argv[1]](items)
    report(Path(sys.argv[3]), timing, loaded, answer)


if __name__ == "__main__":
    main()
