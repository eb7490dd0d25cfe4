"""One measurement of subset2evaluate, in its own environment: ``_theirs.py WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from _timing import Timing, peak_megabytes, report, timed

Items = list[dict[str, Any]]
Outcome = tuple[Timing, Any]

# Not installed where types are checked, so imported by name.
select_subset = import_module("subset2evaluate.select_subset")
evaluate = import_module("subset2evaluate.evaluate")


def utilities(method: str, items: Items) -> Outcome:
    """Time ``basic``: the utility of every item, and the list in their order."""
    timing, ordered = timed(lambda: select_subset.basic(items, method=method, metric="metric"))
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


WORK: dict[str, Callable[[Items], Outcome]] = {
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
    timing, answer = WORK[sys.argv[1]](items)
    report(Path(sys.argv[3]), timing, loaded, answer)


if __name__ == "__main__":
    main()
