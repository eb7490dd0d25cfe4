"""One measurement of sparingly, run in its own process: ``_ours.py WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

import sparingly
from _data import Arrays, item_ids, model_ids
from _timing import Timing, peak_megabytes, report, timed
from sparingly import EvalSet
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.curve import SHARES, SPA, curve, random_curve, sizes_of
from sparingly.infer.rank.parity import RandomParity

Outcome = tuple[Timing, Any]


def evalset(made: Arrays) -> EvalSet:
    """Return the evaluation set, as loading a file gives it."""
    return EvalSet.from_arrays(
        items=item_ids(len(made["cost"])),
        models=model_ids(),
        metrics={"metric": made["metric"]},
        aspects={"human": made["human"]},
        columns={"cost": made["cost"]},
    )


def by_variance(data: EvalSet) -> NDArray[np.int64]:
    """Return the row numbers in the order that is evaluated (not timed)."""
    return np.argsort(-data.metrics["metric"].var(axis=1), kind="stable")


def utilities(method: str, data: EvalSet) -> Outcome:
    """Time ``select`` of everything: the utility of every item, and the list in their order."""
    timing, chosen = timed(lambda: sparingly.select(data, method, "100%", seed=0))
    by_id = dict(zip(chosen.items, np.asarray(chosen.utility).tolist(), strict=True))
    return timing, [by_id[name] for name in data.items]


def agreement(test: Literal["auto", "analytic"], data: EvalSet) -> Outcome:
    """Time soft pairwise accuracy over ten budgets, the full set's tests included."""
    order, sizes = by_variance(data), sizes_of(SHARES, len(data))
    timing, found = timed(lambda: curve(full_set(data, "human", test=test), order, sizes))
    return timing, found.values.tolist()


def parity(data: EvalSet) -> Outcome:
    """Time the items needed to reach each of ten targets (written for the peer first; not timed)."""
    order, sizes = by_variance(data), sizes_of(SHARES, len(data))
    targets = random_curve(full_set(data, "human"), sizes, seeds=list(range(10))).values
    Path(sys.argv[4]).write_text(json.dumps(targets.tolist()), encoding="utf-8")

    def share() -> float:
        full = full_set(data, "human")
        dense = np.arange(5, len(full) + 1)
        return RandomParity(full, SPA, "first_crossing", targets, sizes, dense, 1.0, None).of(order).raw

    return timed(share)


def cost_aware(data: EvalSet) -> Outcome:
    """Time ``select`` under a tenth of the total cost, utilities included."""
    budget = f"cost:{0.1 * sum(data.columns['cost'].tolist())!r}"
    method = "metric_var:metric=metric"
    timing, chosen = timed(lambda: sparingly.select(data, method, budget, seed=0, cost="cost"))
    return timing, chosen.items.tolist()


WORK: dict[str, Callable[[EvalSet], Outcome]] = {
    "metric_cons": lambda data: utilities("metric_cons:metric=metric,correlation=kendall", data),
    "metric_cons_spearman": lambda data: utilities("metric_cons:metric=metric,correlation=spearman", data),
    "metric_var": lambda data: utilities("metric_var:metric=metric", data),
    "agreement": lambda data: agreement("auto", data),
    "agreement_analytic": lambda data: agreement("analytic", data),
    "cost_aware": cost_aware,
    "parity": parity,
}


def main() -> None:
    """Load, measure, write the outcome."""
    with np.load(sys.argv[2]) as stored:
        made = {name: stored[name] for name in stored.files}
    data = evalset(made)
    del made
    loaded = peak_megabytes()
    timing, answer = WORK[sys.argv[1]](data)
    report(Path(sys.argv[3]), timing, loaded, answer)


if __name__ == "__main__":
    main()
