"""How rankings by a draw differ from those of the full set, by every truth of a set."""

from __future__ import annotations

from typing import Any

import numpy as np

from benchmarks.papers.knowles.draws import (
    RUNS,
    Method,
    can_be_drawn,
    draws,
    means_of,
    seeds_of,
    without_context,
)
from benchmarks.papers.knowles.sets import Set
from sparingly.base.arrays import Floats
from sparingly.data.evalset import EvalSet
from sparingly.infer.rank.measures import kendall_b, rank_changes


def ranking_figures(data: EvalSet, one: Set, method: Method, share: float, count: int) -> Any:
    """Return, by truth, models of another rank in the first runs, the share of changed rankings, and tau."""
    text = without_context(method.text)
    if not can_be_drawn(data, text, share):
        return None
    truths = {name: data.truth(truth) for name, truth in one.columns.items()}
    means: dict[str, list[Floats]] = {name: [] for name in truths}
    for draw in draws(data, text, share, seeds_of(count)):
        for name, values in truths.items():
            means[name].append(means_of(draw, values, weighted=method.weighted))
    found = {}
    for name, values in truths.items():
        drawn, whole = np.array(means[name]), values.mean(axis=0)
        changes = rank_changes(drawn, whole)
        found[name] = {
            "changes": changes[:RUNS].astype(int).tolist(),
            "changed": round(float((changes > 0).mean()), 4),
            "kendall": round(float(kendall_b(drawn, whole).mean()), 4),
        }
    return found
