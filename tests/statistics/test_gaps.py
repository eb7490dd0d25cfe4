"""Standard errors are what scores and differences vary by, also where judgements or strata are missing."""

from __future__ import annotations

from typing import Literal

import numpy as np
import pytest
from numpy.typing import NDArray

import sparingly
from sparingly.data.evalset import EvalSet

pytestmark = pytest.mark.statistics

MODELS, ITEMS, RUNS = 4, 240, 200
Pattern = Literal["cells", "pairs", "items", "none"]


def made() -> EvalSet:
    """Documents of six items that are alike, two metrics, and models that find the same items hard."""
    drawn = np.random.default_rng(0)
    document = np.repeat(np.arange(ITEMS // 6), 6)
    hard = drawn.normal(size=ITEMS // 6)[document][:, None] + drawn.normal(size=(ITEMS, 1))
    truth = hard + 0.7 * drawn.normal(size=(ITEMS, MODELS)) + np.arange(MODELS) / 5
    return EvalSet.from_arrays(
        [f"item {place:03d}" for place in range(ITEMS)],
        [f"model {place}" for place in range(MODELS)],
        metrics={
            "good": truth + drawn.normal(size=truth.shape),
            "weak": hard + drawn.normal(size=truth.shape),
        },
        aspects={"truth": truth},
        columns={"document": [f"d{code:02d}" for code in document]},
    )


def kept(pattern: Pattern, seed: int) -> NDArray[np.bool_]:
    """Half of the judgements: cell by cell, of two models together, or of whole items."""
    chance = np.random.default_rng(10_000 + seed).random((ITEMS, MODELS))
    if pattern == "cells":
        return chance < 0.5
    there = np.repeat(chance[:, :1] < 0.5, MODELS, axis=1) | (pattern == "none")
    if pattern == "pairs":
        there[:, 2:] = True
    return np.asarray(there)


def ratios(
    design: str, count: int, pattern: Pattern, estimator: str, pool: str | None = None
) -> tuple[float, float]:
    """The root mean variance that is told over that of the runs, for scores and for differences."""
    data = made()
    first, second = np.triu_indices(MODELS, 1)
    scores, told, apart = [], [], []
    for seed in range(RUNS):
        judged = data.with_aspect("truth", np.where(kept(pattern, seed), data.aspects["truth"], np.nan))
        whole = None if pool is None else sparingly.select(data, pool, 160, seed=seed + 5000)
        chosen = sparingly.select(data, design, count, seed=seed, pool=whole)
        found = sparingly.estimate(judged, chosen, "truth", estimator=estimator, interval="none", seed=seed)
        own = np.diag(found.covariance)
        scores.append(found.scores)
        told.append(own)
        apart.append(own[first] + own[second] - 2 * found.covariance[first, second])
    values = np.array(scores)
    differences = values[:, first] - values[:, second]
    return (
        float(np.sqrt(np.mean(told) / values.var(axis=0, ddof=1).mean())),
        float(np.sqrt(np.mean(apart) / differences.var(axis=0, ddof=1).mean())),
    )


@pytest.mark.parametrize(
    ("design", "count", "pattern"),
    [
        ("uniform", 200, "pairs"),
        ("stratified:by=document", 80, "cells"),
        ("local_pivotal:metrics=[good,weak]", 200, "items"),
        ("cube:balance=[good,weak]", 80, "cells"),
        ("documents", 200, "pairs"),
    ],
)
def test_judgements_that_did_not_come(design: str, count: int, pattern: Pattern) -> None:
    for ratio in ratios(design, count, pattern, "weighted_mean"):
        assert 0.9 <= ratio <= 1.15


@pytest.mark.parametrize("pool", ["uniform", "documents"])
def test_judgements_that_did_not_come_of_a_second_phase(pool: str) -> None:
    for ratio in ratios("uniform", 120, "cells", "weighted_mean", pool):
        assert 0.9 <= ratio <= 1.15


@pytest.mark.parametrize("count", [15, 30])
def test_strata_that_gave_nothing(count: int) -> None:
    for ratio in ratios("stratified:by=document", count, "none", "stratified_mean"):
        assert 0.9 <= ratio <= 1.15
