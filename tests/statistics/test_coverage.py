"""Intervals hold the truth as often as they say: the diagonal of ``benchmarks/coverage_grid.py``.

Every cell is so many models, 40 an array or fewer. The bars are those of the grid: from 100 units on and
with a skewness up to 2, coverage of 93 %, a bias of at most a
tenth of a standard error, nothing withheld, and at most 1 % of all pairs significant in the wrong direction.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import sparingly
from benchmarks.coverage_grid import WITH_METRICS, Cell, Target, missed_bars, run_cell
from benchmarks.coverage_sets import FAMILIES, SOURCES, real_families
from sparingly.infer.estimate.estimate import estimate
from sparingly.infer.estimate.scale import bernstein_sequence, betting_interval, betting_sequence

pytestmark = pytest.mark.statistics

DIAGONAL: list[tuple[str, str, int, Target]] = [
    ("uniform", "gaussian", 30, "set"),
    ("uniform", "mqm", 100, "population"),
    ("uniform", "bounded", 100, "set"),
    ("uniform", "ties", 300, "population"),
    ("uniform", "mqm", 300, "set"),
    ("pivotal", "mqm", 100, "set"),
    ("pivotal", "gaussian", 300, "population"),
    ("documents", "ties", 100, "set"),
    ("documents", "mqm", 100, "population"),
    ("stratified", "mqm", 100, "set"),
    ("stratified", "gaussian", 100, "population"),
    ("local_pivotal", "mqm", 100, "set"),
    ("cube", "ties", 100, "population"),
    ("control_variate", "mqm", 100, "set"),
    ("control_variate, several", "gaussian", 100, "population"),
    ("ppi", "ties", 100, "population"),
    ("greg", "mqm", 100, "set"),
    ("greg", "gaussian", 100, "population"),
    ("greg, pivotal", "mqm", 100, "set"),
]
MODELS = 1000


def run(design: str, family: str, n: int, target: Target) -> Cell:
    count = MODELS // 2 if design in WITH_METRICS else MODELS
    return run_cell(design, FAMILIES[family], n, count, targets=(target,))[target]


@pytest.mark.parametrize(("design", "family", "n", "target"), DIAGONAL)
def test_cell(design: str, family: str, n: int, target: Target) -> None:
    cell = run(design, family, n, target)
    assert missed_bars(n, cell.mild_scores, of_pairs=False) == []
    assert missed_bars(n, cell.mild_differences, of_pairs=True) == []


@pytest.mark.shared_data
@pytest.mark.parametrize("design", ["uniform", "greg"])
@pytest.mark.parametrize("name", [source.name for source in SOURCES])
def test_resampled_real_scores(name: str, design: str, shared_data: Path) -> None:
    families, absent = real_families(shared_data)
    assert absent == ()
    cell = run_cell(design, families[name], 100, MODELS // 2, targets=("set",))["set"]
    if cell.mild_scores.asked:
        assert missed_bars(100, cell.mild_scores, of_pairs=False) == []
        assert missed_bars(100, cell.mild_differences, of_pairs=True) == []
    assert cell.scores.coverage > 0.93 - 2 * cell.scores.slack


@pytest.mark.parametrize("family", ["gaussian", "ties", "mqm"])
def test_thirty_items_are_enough_for_what_is_printed(family: str) -> None:
    cell = run("uniform", family, 30, "set")
    for tally in (cell.scores, cell.differences):
        assert tally.coverage > 0.93 - 2 * tally.slack


def test_a_long_tail_and_few_items_are_printed_and_hold() -> None:
    cell = run("uniform", "mqm_heavy", 30, "set")
    assert cell.scores.withheld == 0.0
    assert cell.scores.coverage > 0.93


def test_student_alone_would_not_hold_there() -> None:
    drawn = np.random.default_rng(0)
    held = []
    for _ in range(20):
        scores, means, _ = FAMILIES["mqm_heavy"].scores(30, drawn)
        found = sparingly.estimate_scores(scores, size=10**6, interval="t")
        held += ((found.low <= means) & (found.high >= means)).tolist()
    assert np.mean(held) < 0.9


@pytest.mark.parametrize(
    ("design", "estimator"),
    [
        ("pivotal:utility=(metric_avg:metric=good)", "weighted_mean:form=horvitz_thompson"),
        ("uniform", "control_variate:metric=good,guard=false"),
        ("uniform", "greg:guard=false"),
        ("stratified:by=metrics,size=20", "weighted_mean"),
    ],
)
def test_estimators_without_bias_have_none(design: str, estimator: str) -> None:
    drawn = np.random.default_rng(3)
    truth = drawn.exponential(size=(60, 3)) + 2.0
    data = sparingly.EvalSet.from_arrays(
        [f"item {place:02d}" for place in range(60)],
        ["a", "b", "c"],
        metrics={"good": truth + drawn.normal(size=truth.shape)},
        aspects={"truth": truth},
    )
    missed = []
    for seed in range(250):
        chosen = sparingly.select(data, design, 24, seed=seed)
        found = estimate(data, chosen, "truth", estimator=estimator, interval="none", seed=seed)
        missed.append(found.scores - truth.mean(axis=0))
    error = np.std(missed, axis=0) / np.sqrt(len(missed))
    assert (np.abs(np.mean(missed, axis=0)) < 4 * error).all()


def test_sequences_hold_at_every_look() -> None:
    drawn = np.random.default_rng(1)
    whole = np.concatenate([np.zeros(120), drawn.beta(2, 4, 80)])
    looks = {betting_sequence: 0, bernstein_sequence: 0}
    for _ in range(200):
        scores = drawn.permutation(whole)
        for make in looks:
            low, high = make(scores, 200, 0.0, 1.0, 0.9)
            looks[make] += bool((low > whole.mean() + 1e-9).any() or (high < whole.mean() - 1e-9).any())
    # 200 runs at 90 %: four standard errors above 20.
    assert max(looks.values()) <= 20 + 4 * np.sqrt(200 * 0.1 * 0.9)


@pytest.mark.parametrize("n", [5, 20, 80])
def test_betting_intervals_hold_at_any_size(n: int) -> None:
    drawn = np.random.default_rng(2)
    whole = (drawn.random(300) < 0.1).astype(float)
    scores = np.stack([drawn.permutation(whole)[:n] for _ in range(400)], axis=1)
    found = betting_interval(scores, 300, 0.0, 1.0)
    held = (found.low <= whole.mean()) & (whole.mean() <= found.high)
    assert held.mean() >= 0.95 - 2 * np.sqrt(0.95 * 0.05 / 400)


@pytest.mark.shared_data
@pytest.mark.parametrize("name", ["wmt23_ende", "wmt23_zhen"])
def test_real_scores_are_held_too(name: str, shared_data: Path) -> None:
    data = sparingly.load(shared_data / f"{name}.jsonl.gz")
    truth = np.nanmean(data.aspects["mqm"], axis=0)
    held, missed, errors = [], [], []
    for seed in range(60):
        chosen = sparingly.select(data, "uniform", 100, seed=seed)
        found = estimate(data, chosen, "mqm", seed=seed)
        held.append((found.low <= truth) & (truth <= found.high))
        missed.append(found.scores - truth)
        errors.append(found.standard_errors)
        assert found.outcome.withheld == 0
    assert np.mean(held) > 0.92
    bias = np.mean(missed, axis=0) / np.mean(errors, axis=0)
    # 60 draws: the mean of each has an error of 0.13.
    assert np.abs(bias).mean() < 0.1 + 2 / np.sqrt(60)
