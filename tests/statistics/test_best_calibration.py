"""Chances that are said come true: to be the best, and that judging everything shows a difference.

The whole figures, on judged data, are benchmarks/best_calibration.py's. Here made-up models of several kinds:
how far they lie apart differs from set to set, and so do the number of models, of items, and the scores.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pytest

from benchmarks.best_calibration import chance_of_better
from sparingly.base.arrays import Floats
from sparingly.infer.estimate.estimate import estimate_scores
from sparingly.infer.estimate.full_set_p import USUAL_EFFECTS, EffectPrior, chance_full_set_shows
from sparingly.infer.rank.decisions import decide
from sparingly.infer.rank.pair_tests import pair_errors
from sparingly.infer.rank.rank import chance_of_best, joint_of

SIZE, SETS, BANDS = 400, 4000, 10
FLAT = EffectPrior(centre=1e3, spread=0.01, prior_units=1e-6)


class Cases(NamedTuple):
    """What was said, and what was so."""

    said: Floats
    was_so: Floats

    def off(self) -> Floats:
        """Return how often it was so less what was said, in bands of ten points with 300 cases."""
        band = np.minimum((self.said * BANDS).astype(int), BANDS - 1)
        return np.array(
            [
                (self.was_so - self.said)[band == place].mean()
                for place in range(BANDS)
                if (band == place).sum() >= 300
            ]
        )


def made_set(draw: np.random.Generator) -> Floats:
    """Return the scores of a whole set with easy and hard items: normal, pass or fail, or penalties."""
    models = int(draw.choice([2, 3, 5, 8, 12]))
    quality = draw.normal(size=models) * 0.4 * np.exp(0.8 * draw.normal())
    latent = quality + draw.normal(size=(SIZE, 1)) + draw.normal(size=(SIZE, models))
    kind = draw.integers(3)
    kinds = latent, latent > 0, -np.round(3 * np.maximum(-latent - 0.5, 0))
    return np.asarray(kinds[kind], np.float64)


def samples(sets: int) -> Iterator[tuple[Floats, Floats, Floats]]:
    """Yield the scores of a whole set, those of a sample, and the covariance of these."""
    for seed in range(sets):
        draw = np.random.default_rng([14, seed])
        scores = made_set(draw)
        sample = scores[draw.choice(SIZE, int(draw.choice([10, 20, 50, 100])), replace=False)]
        spread = np.atleast_2d(np.cov(sample.T))
        if (pair_errors(spread)[np.triu_indices(len(spread), 1)] > 0).all():
            yield scores, sample, spread


def to_be_best(prior: EffectPrior, sets: int) -> Cases:
    """Return the chances to be the best."""
    best = []
    for scores, sample, spread in samples(sets):
        n, truth = len(sample), scores.mean(axis=0)
        left = (1 / n - 1 / SIZE) * spread
        chance = chance_of_best(sample.mean(axis=0), left, degrees=n - 1.0, prior=prior, draws=500)
        best.append((chance, (truth == truth.max()) / (truth == truth.max()).sum()))
    return Cases(*map(np.concatenate, zip(*best, strict=True)))


def of_neighbours(prior: EffectPrior, sets: int) -> tuple[Cases, Cases]:
    """Return the chances of neighbours to be better, and that all items show it."""
    better, shows = [], []
    for scores, sample, spread in samples(sets):
        n, means, truth = len(sample), sample.mean(axis=0), scores.mean(axis=0)
        left = 1 / n - 1 / SIZE
        first, second = np.triu_indices(len(means), 1)
        deviations = pair_errors(spread)[first, second]
        pairs = estimate_scores(sample, size=SIZE, target="population", interval="none").pairs
        assert pairs is not None
        said = chance_full_set_shows(
            means[first] - means[second],
            np.sqrt(left) * deviations,
            deviations,
            SIZE,
            models=len(means),
            degrees=n - 1.0,
            prior=prior,
            unseen=pairs.tails.unseen,
        )
        full = joint_of(estimate_scores(scores, target="population", interval="none"))
        decided = decide(full.tests().agreeing(full.scores), full.scores).better
        is_ahead = means[first] >= means[second]
        was_so = np.where(is_ahead, decided[first, second], decided[second, first])
        place = np.argsort(np.argsort(-means))
        neighbours = np.abs(place[first] - place[second]) == 1
        shows.append((said[neighbours], was_so[neighbours]))
        ahead = chance_of_better(means, left * spread, degrees=n - 1.0, prior=prior)[first, second]
        ahead = np.maximum(ahead, 1 - ahead)
        sign = np.where(is_ahead, 1.0, -1.0) * np.sign(truth[first] - truth[second])
        better.append((ahead[neighbours], (0.5 + 0.5 * sign)[neighbours]))
    return tuple(Cases(*map(np.concatenate, zip(*part, strict=True))) for part in (better, shows))  # type: ignore[return-value]


@pytest.mark.statistics
def test_chances_come_true_within_five_points() -> None:
    best, (better, shows) = to_be_best(USUAL_EFFECTS, SETS), of_neighbours(USUAL_EFFECTS, SETS)
    assert len(best.off()) >= 8
    assert np.abs(best.off()).max() < 0.05
    assert len(better.off()) == 5
    assert np.abs(better.off()).max() < 0.05
    assert len(shows.off()) >= 8
    assert np.abs(shows.off()).max() < 0.05


@pytest.mark.statistics
def test_a_flat_prior_is_too_sure() -> None:
    best = to_be_best(FLAT, SETS // 3)
    sure = (best.said > 0.5) & (best.said < 0.95)
    assert (best.said - best.was_so)[sure].mean() > 0.05
