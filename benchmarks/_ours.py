"""One measurement of sparingly, run in its own process: ``_ours.py WORK DATA OUTCOME [TARGETS]``."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np

import sparingly
from _data import Arrays, item_ids, model_ids
from _timing import peak_megabytes, report, timed
from sparingly import EvalSet
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.curve import SHARES, SPA, curve, random_curve, sizes_of
from sparingly.infer.rank.parity import RandomParity

Outcome = tuple[float, int, Any]


def evalset(made: Arrays) -> EvalSet:
    """Return a fresh evaluation set: nothing that an earlier run computed is kept in it."""
    return EvalSet.from_arrays(
        items=item_ids(len(made["cost"])),
        models=model_ids(),
        metrics={"metric": made["metric"]},
        aspects={"human": made["human"]},
        columns={"cost": made["cost"]},
    )


def by_variance(made: Arrays) -> Any:
    """Return the row numbers in the order that is evaluated (not timed)."""
    return np.argsort(-made["metric"].var(axis=1), kind="stable")


def utilities(method: str, made: Arrays) -> Outcome:
    """Time ``select`` of everything: the utility of every item, and the list in their order."""
    seconds, runs, chosen = timed(
        lambda: evalset(made), lambda data: sparingly.select(data, method, "100%", seed=0)
    )
    by_id = dict(zip(chosen.items, np.asarray(chosen.utility).tolist(), strict=True))
    return seconds, runs, [by_id[name] for name in item_ids(len(by_id))]


def agreement(test: Literal["auto", "analytic"], made: Arrays) -> Outcome:
    """Time soft pairwise accuracy over ten budgets, the full set's tests included."""
    order, sizes = by_variance(made), sizes_of(SHARES, len(made["cost"]))
    return timed(
        lambda: evalset(made),
        lambda data: curve(full_set(data, "human", test=test), order, sizes).values.tolist(),
    )


def parity(made: Arrays) -> Outcome:
    """Time the items needed to reach each of ten targets (written for the peer first; not timed)."""
    order, sizes = by_variance(made), sizes_of(SHARES, len(made["cost"]))
    targets = random_curve(full_set(evalset(made), "human"), sizes, seeds=list(range(10))).values
    Path(sys.argv[4]).write_text(json.dumps(targets.tolist()), encoding="utf-8")

    def needed(data: EvalSet) -> float:
        full = full_set(data, "human")
        dense = np.arange(5, len(full) + 1)
        return RandomParity(full, SPA, "first_crossing", targets, sizes, dense, 1.0, None).of(order).raw

    return timed(lambda: evalset(made), needed)


def cost_aware(made: Arrays) -> Outcome:
    """Time ``select`` under a tenth of the total cost, utilities included."""
    budget = f"cost:{0.1 * sum(made['cost'].tolist())!r}"
    seconds, runs, chosen = timed(
        lambda: evalset(made),
        lambda data: sparingly.select(data, "metric_var:metric=metric", budget, seed=0, cost="cost"),
    )
    return seconds, runs, chosen.items.tolist()


WORK: dict[str, Callable[[Arrays], Outcome]] = {
    "metric_cons": lambda made: utilities("metric_cons:metric=metric,correlation=kendall", made),
    "metric_cons_spearman": lambda made: utilities("metric_cons:metric=metric,correlation=spearman", made),
    "metric_var": lambda made: utilities("metric_var:metric=metric", made),
    "agreement": lambda made: agreement("auto", made),
    "agreement_analytic": lambda made: agreement("analytic", made),
    "cost_aware": cost_aware,
    "parity": parity,
}


def main() -> None:
    """Load, measure, write the outcome."""
    with np.load(sys.argv[2]) as stored:
        made = {name: stored[name] for name in stored.files}
    evalset(made)
    loaded = peak_megabytes()
    seconds, runs, answer = WORK[sys.argv[1]](made)
    report(Path(sys.argv[3]), seconds, runs, loaded, answer)


if __name__ == "__main__":
    main()
