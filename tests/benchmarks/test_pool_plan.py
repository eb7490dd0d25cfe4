"""What a large pool takes: worked out by hand, and the page says what the kept rates give."""

from __future__ import annotations

import json
from typing import Any

import pytest

from benchmarks.pages import block
from benchmarks.pool_plan import PAGE, PLANS, RESULTS, Assumed, plan_of, plans_block, rates_block

RATES: dict[str, Any] = {
    "sources": 1024,
    "seconds": {
        "score": 3e-5,
        "near": 1e-5,
        "embed": 1e-5,
        "sketch": 1e-5,
        "leaf": 2e-5,
        "select": 1e-6,
        "minhash": 1e-6,
        "cosine": 8e-6,
    },
    "bytes": {"pool": 200.0, "scored": 100.0, "memory": 250.0},
}


def test_a_plan_is_worked_out() -> None:
    plan = plan_of(RATES, 2.0**30, 8, Assumed(price=0.1, memory_price=0.01, gpu_rate=1000.0, busy=0.5))
    million_hours = 2.0**30 / 1e6 / 3600
    assert plan.score_hours == pytest.approx(million_hours * 80 / 8 / 0.5)
    # Sorting 2³⁰ takes three times as long for each as sorting 2¹⁰; 8 workers make the sorted lists.
    assert plan.head_hours == pytest.approx(million_hours * (1 + 1 + 8 / 8) * 3)
    memory = 2.0**30 * 250 / 1e9
    assert plan.memory == pytest.approx(memory * 1e9)
    assert plan.cost == pytest.approx(8 * plan.score_hours * 0.1 + plan.head_hours * (0.1 + 0.01 * memory))
    assert plan.disk == pytest.approx(2.0**30 * (200 + 100 + 288 + 128))
    assert plan.network == pytest.approx(2.0**30 * (200 + 516 + 100 + 288))
    assert plan.gpu_hours == pytest.approx(2.0**30 / 1000 / 3600)


def test_the_page_has_the_tables_of_the_kept_rates() -> None:
    rates, assumed, page = json.loads(RESULTS.read_text()), Assumed(), PAGE.read_text(encoding="utf-8")
    plans = [plan_of(rates, sources, workers, assumed) for sources, workers in PLANS]
    assert block(page, "pool-rates") == rates_block(rates)
    assert block(page, "pool-plans") == plans_block(plans, assumed)
