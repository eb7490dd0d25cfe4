"""One measurement of subset2evaluate, in its own environment: ``_theirs.py WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import copy
import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from _timing import peak_megabytes, report, timed

Items = list[dict[str, Any]]

# Not installed where types are checked, so imported by name.
select_subset = import_module("subset2evaluate.select_subset")
evaluate = import_module("subset2evaluate.evaluate")


def utilities(method: str, items: Items) -> tuple[float, int, Any]:
    """Time ``basic``: the utility of every item, and the list in their order."""
    seconds, runs, ordered = timed(
        lambda: items, lambda data: select_subset.basic(data, method=method, metric="metric")
    )
    by_id = {item["i"]: float(item["subset2evaluate_utility"]) for item in ordered}
    return seconds, runs, [by_id[item["i"]] for item in items]


def by_variance(items: Items) -> Items:
    """Return the list in the order that is evaluated (not timed)."""
    ordered: Items = select_subset.basic(items, method="metric_var", metric="metric")
    return ordered


def agreement(items: Items) -> tuple[float, int, Any]:
    """Time ``eval_spa``: soft pairwise accuracy over ten budgets."""
    ordered = by_variance(items)
    return timed(
        lambda: ordered, lambda data: [float(v) for v in evaluate.eval_spa(data, items, metric="human")]
    )


def parity(items: Items) -> tuple[float, int, Any]:
    """Time ``eval_spa_par``: the items needed to reach each of ten given targets."""
    ordered = by_variance(items)
    targets = json.loads(Path(sys.argv[4]).read_text(encoding="utf-8"))
    return timed(
        lambda: ordered, lambda data: float(evaluate.eval_spa_par(data, items, targets, metric="human"))
    )


def cost_aware(items: Items) -> tuple[float, int, Any]:
    """Time ``costaware`` at a tenth of the total cost; the utilities are there already."""
    ordered = by_variance(items)
    budget = 0.1 * sum(item["cost"] for item in items)
    seconds, runs, chosen = timed(
        lambda: copy.copy(ordered), lambda data: select_subset.costaware(data, budget=budget)
    )
    return seconds, runs, [item["i"] for item in chosen]


WORK: dict[str, Callable[[Items], tuple[float, int, Any]]] = {
    "metric_cons": lambda items: utilities("metric_cons", items),
    "metric_var": lambda items: utilities("metric_var", items),
    "agreement": agreement,
    "cost_aware": cost_aware,
    "parity": parity,
}


def main() -> None:
    """Load, measure, write the outcome."""
    with Path(sys.argv[2]).open(encoding="utf-8") as file:
        items = [json.loads(line) for line in file]
    loaded = peak_megabytes()
    seconds, runs, answer = WORK[sys.argv[1]](items)
    report(Path(sys.argv[3]), seconds, runs, loaded, answer)


if __name__ == "__main__":
    main()
