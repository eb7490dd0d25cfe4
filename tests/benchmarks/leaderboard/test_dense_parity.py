"""Parity from ten budgets is near the parity of curves that are known at every size."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.leaderboard.parity import Parities
from benchmarks.leaderboard.results import LABELS, Results, Runs, SetInfo
from sparingly.infer.rank.agreement import FullSet
from sparingly.infer.rank.compare import full_set
from sparingly.infer.rank.curve import SMALL_SET_SHARES, curve, random_order, random_parity, sizes_of
from tests.benchmarks.leaderboard.arrays import entry_info, runs_of

METHODS = ("metric_avg", "metric_var", "metric_cons")


def runs_along(full: FullSet, orders: list[np.ndarray], sizes: np.ndarray) -> Runs:
    values = [curve(full, order, sizes).values for order in orders]
    runs = runs_of(values, sizes / len(full))
    return Runs(runs.shares, runs.resamples, {**runs.values, LABELS: np.tile(sizes, (len(orders), 1))})


@pytest.mark.shared_data
def test_ten_budgets_come_near_all_sizes(shared_data: Path) -> None:
    data = sparingly.load(shared_data / "summeval_llm12.jsonl.gz")
    full = full_set(data, "sum")
    sizes = sizes_of(SMALL_SET_SHARES, len(data))
    orders = {
        method: data.positions(sparingly.select(data, f"{method}:metric=gpt4_rts_sum", "100%").items)
        for method in METHODS
    }
    runs = {("a", method): runs_along(full, [order], sizes) for method, order in orders.items()}
    runs["a", "random"] = runs_along(full, [random_order(full, seed) for seed in range(100)], sizes)
    # Labels are counted in items here: one model stands for all.
    info = SetInfo("a", "made", "sum", None, True, True, len(data), 1)
    entries = {entry: entry_info(entry) for _, entry in runs}
    parities = Parities(Results({"a": info}, entries, runs, []))
    dense = random_parity(full, shares=SMALL_SET_SHARES, runs=50)
    for method, order in orders.items():
        found = parities.on("a", method)
        assert found is not None
        assert found.ratio.value == pytest.approx(dense.of(order).share, abs=0.08)
