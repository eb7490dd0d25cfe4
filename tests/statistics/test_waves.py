"""Waves and allocation are unbiased, and their intervals hold, whatever was learned on the way."""

from __future__ import annotations

import numpy as np
import pytest

from sparingly.base.arrays import Floats
from sparingly.choose.design.draws import draw_pivotal
from sparingly.choose.design.probability import inclusion_probabilities
from sparingly.data.evalset import EvalSet
from sparingly.run.rounds.replay import replay
from sparingly.run.rounds.wave_estimate import Wave, combine


def made(items: int, gaps: list[float], seed: int) -> tuple[EvalSet, Floats]:
    """A metric that follows the scores, which are noisier and skewed where it is high."""
    draw = np.random.default_rng(seed)
    metric = draw.normal(size=(items, 1)) + 0.5 * draw.normal(size=(items, len(gaps)))
    noise = draw.exponential(size=metric.shape) - 1.0
    scores = np.array(gaps) + 0.8 * metric + noise * np.where(metric > 0.5, 2.0, 0.5)
    data = EvalSet.from_arrays(
        [f"i{row:03d}" for row in range(items)],
        [f"m{place}" for place in range(len(gaps))],
        metrics={"metric": metric},
        aspects={"y": scores},
    )
    return data, scores


def adaptive_waves(labels: Floats, draw: np.random.Generator) -> list[Wave]:
    """Three waves; chances and predictions of the later ones follow what the earlier ones found."""
    waves, before = [], np.zeros(labels.shape, bool)
    for count in (30, 30, 40):
        rows = np.flatnonzero(~before[:, 0])
        known = labels[before[:, 0]]
        sizes, told = np.ones(len(labels)), np.zeros(labels.shape)
        if len(known):
            centre = known.mean(axis=0)
            sizes = 0.2 + np.abs(labels.mean(axis=1) - known.mean()) + draw.exponential(size=len(labels)) / 3
            told = np.broadcast_to(centre, labels.shape)
        chances = inclusion_probabilities(sizes[rows], float(count), tau=0.6 if len(known) else 0.0)
        drawn = np.zeros(labels.shape, bool)
        drawn[rows[draw_pivotal(chances, draw)]] = True
        of_item = np.ones(len(labels))
        of_item[rows] = chances
        waves.append(Wave(before, drawn, np.where(drawn, of_item[:, None], 1.0), told))
        before = before | drawn
    return waves


@pytest.mark.statistics
def test_adaptive_waves_are_unbiased_and_their_intervals_hold() -> None:
    _, labels = made(250, [0.0, 0.2, 0.4], 1)
    truth = labels.mean(axis=0)
    found = []
    for seed in range(1500):
        one = combine(adaptive_waves(labels, np.random.default_rng(seed)), labels)
        pair = one.covariance[0, 0] + one.covariance[1, 1] - 2 * one.covariance[0, 1]
        errors = np.sqrt([*np.diag(one.covariance), pair])
        away = [*(one.scores - truth), one.scores[0] - one.scores[1] - truth[0] + truth[1]]
        found.append(np.stack([away, errors]))
    away, errors = np.stack(found, axis=1)
    spread = away.std(axis=0)
    assert (np.abs(away.mean(axis=0)) < 4 * spread / np.sqrt(len(away))).all()
    # Estimated variances are the true ones, up to 4 standard errors of 1500 runs and a small bias.
    np.testing.assert_allclose((errors**2).mean(axis=0) / spread**2, 1.0, atol=0.17)
    covered = (np.abs(away) < 1.985 * errors).mean(axis=0)
    assert ((covered > 0.92) & (covered < 0.975)).all()


@pytest.mark.statistics
@pytest.mark.parametrize(
    ("text", "low"),
    [
        ("waves:waves=3,pilot=0.4,tau=0.6,goal=scores", 0.90),
    ],
)
def test_intervals_of_strategies_hold(text: str, low: float) -> None:
    data, labels = made(200, [0.0, 0.1, -0.3, -1.0], 2)
    truth = labels.mean(axis=0)
    covered, away = [], []
    for seed in range(80):
        last = list(replay(data, text, 90, truth="y", seed=seed))[-1]
        found = last.strategy.estimate(last.state, interval="t")
        covered.append((found.low <= truth) & (truth <= found.high))
        away.append(found.scores - truth)
    # 80 runs of 4 models: 4 standard errors of 320 dependent intervals are about 7 points.
    assert low < np.mean(covered) <= 1.0
    spread = np.std(away, axis=0)
    # What falls behind by chance is left out, so a small pull is allowed there.
    assert (np.abs(np.mean(away, axis=0)) < (4 / np.sqrt(80) + 0.15) * spread).all()
