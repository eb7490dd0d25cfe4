"""Intervals that speak of other raters hold the truth as often as they say: of scores and of differences.

``docs/research/raters-public.md`` shows 300 runs of each case. With the few runs of this file,
coverage tells whether intervals are too short, and the mean of (error / standard error)² whether they are too
long.
"""

from __future__ import annotations

from functools import cache
from typing import Literal, NamedTuple

import numpy as np
import pytest

import sparingly
from sparingly.base.arrays import Floats
from sparingly.base.stats.pairs import pair_indices
from sparingly.infer.estimate.rater_effects import Severity, rater_covariance, severity

pytestmark = pytest.mark.statistics

Hands = Literal["all models", "one model"]
MODELS, ITEMS, RATERS, CHOSEN = 3, 300, 12, 150
SEVERITY, TASTE, ITEM, OUTPUT, NOISE = 1.0, 0.4, 1.0, 0.5, 0.5
RUNS = 80


class JudgedSet(NamedTuple):
    """A set of which all items are judged, what a mean rater would give, and how raters vary in it."""

    data: sparingly.EvalSet
    quality: Floats
    severity: Severity


class Run(NamedTuple):
    """Which intervals held the truth, squared errors in units of the estimated; then without raters."""

    scores: Floats
    differences: Floats
    scores_squared: Floats
    differences_squared: Floats
    scores_without: Floats
    differences_without: Floats


def judged(random: np.random.Generator, hands: Hands, seed: int) -> tuple[sparingly.EvalSet, Floats]:
    """Return a set of which all items are judged, and what a mean rater would give to every output.

    Raters see all models of an item, or each model is judged by raters of its own.
    """
    quality = random.normal(0, ITEM, (ITEMS, 1)) + random.normal(0, OUTPUT, (ITEMS, MODELS))
    severity, taste = random.normal(0, SEVERITY, RATERS), random.normal(0, TASTE, (RATERS, MODELS))
    items, models, raters = [f"i{row:03d}" for row in range(ITEMS)], ["a", "b", "c"], range(RATERS)
    names = [f"r{rater:02d}" for rater in raters]
    blank = sparingly.EvalSet.from_arrays(items, models)
    everything = sparingly.select(blank, "random", ITEMS)
    rows: list[tuple[int, int, int]] = []
    for turn in range(1 if hands == "all models" else MODELS):
        handed = sparingly.assign(everything, names, data=blank, overlap=0.15, seed=seed * MODELS + turn)
        seen = range(MODELS) if hands == "all models" else (turn,)
        rows += [(int(t.item[1:]), model, int(t.rater[1:])) for t in handed for model in seen]
    item, model, rater = np.array(rows).T
    noise = random.normal(0, NOISE, len(rows))
    score = quality[item, model] + severity[rater] + taste[rater, model] + noise
    table = sparingly.Ratings(
        item=item.astype(np.int32),
        model=model.astype(np.int32),
        rater=rater.astype(np.int32),
        aspect=np.zeros(len(rows), np.int32),
        score=score,
        seconds=np.full(len(rows), np.nan),
        raters=tuple(names),
        aspects=("overall",),
    )
    return sparingly.EvalSet.from_arrays(items, models, ratings=table), quality


@cache
def judged_sets(hands: Hands) -> list[JudgedSet]:
    """Return the set of every run: those of one target are those of the other, and so are their raters."""
    random = np.random.default_rng(5)
    sets = (judged(random, hands, seed) for seed in range(RUNS))
    return [JudgedSet(data, quality, severity(data)) for data, quality in sets]


def held(found: sparingly.Estimate, truth: Floats) -> tuple[Floats, Floats]:
    first, second = pair_indices(MODELS)
    apart = truth[first] - truth[second]
    differences = found.differences()
    inside = [one.low <= gap <= one.high for one, gap in zip(differences, apart, strict=True)]
    return ((found.low <= truth) & (truth <= found.high)).astype(float), np.array(inside, float)


def squared(found: sparingly.Estimate, truth: Floats) -> tuple[Floats, Floats]:
    first, second = pair_indices(MODELS)
    wrong = found.scores - truth
    errors = np.array([one.standard_error for one in found.differences()])
    return (wrong / found.standard_errors) ** 2, ((wrong[first] - wrong[second]) / errors) ** 2


def run(hands: Hands, target: Literal["set", "population"]) -> Run:
    parts = []
    for seed, (data, quality, raters) in enumerate(judged_sets(hands)):
        chosen = sparingly.select(data, "random", CHOSEN, seed=seed)
        found = sparingly.estimate(data, chosen, target=target, estimator="weighted_mean")
        truth = quality.mean(axis=0) if target == "set" else np.zeros(MODELS)
        wider = sparingly.with_rater_errors(found, data, raters)
        parts.append((*held(wider, truth), *squared(wider, truth), *held(found, truth)))
    return Run(*(np.array(part, float) for part in zip(*parts, strict=True)))


def slack(inside: Floats) -> float:
    """Two standard errors of the coverage; the models of one run share their raters."""
    return float(2 * inside.mean(axis=1).std(ddof=1) / np.sqrt(len(inside)))


@pytest.mark.parametrize(
    ("hands", "target"), [("all models", "set"), ("all models", "population"), ("one model", "set")]
)
def test_intervals_hold_for_other_raters(hands: Hands, target: Literal["set", "population"]) -> None:
    found = run(hands, target)
    # The models of one run share their raters: a run counts once.
    slack = 2 * np.sqrt(0.95 * 0.05 / RUNS)
    for inside in (found.scores, found.differences):
        assert inside.mean() >= 0.93 - slack
    for ratio in (found.scores_squared, found.differences_squared):
        assert 0.6 < ratio.mean() < 1.7, "standard errors are neither far too small nor far too large"
    assert found.scores_without.mean() < 0.7, "without raters, scores are far too sure of themselves"
    if hands == "one model":
        assert found.differences_without.mean() < 0.8


def test_severity_cancels_where_one_rater_sees_all_models_and_taste_does_not() -> None:
    data, _ = judged(np.random.default_rng(3), "all models", 3)
    found = sparingly.estimate(data, target="set", estimator="weighted_mean")
    known = severity(data)
    added = rater_covariance(found, data, known)
    apart = added[0, 0] + added[1, 1] - 2 * added[0, 1]
    assert added[0, 0] > 0.5 * known.variances["rater"] / RATERS
    # What is left are tastes and noise: σ_δ² Σ w² and σ_ε²/n of two models, shared items counted in halves.
    shared = 0.15
    tastes = 2 * known.variances["rater × model"] / RATERS
    noise = 2 * known.variances["noise"] * (1 - shared / 2) / ITEMS
    assert apart == pytest.approx(tastes + noise, rel=0.05)
