"""Made scores of several shapes, and what intervals did on them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from sparingly.infer.estimate.intervals import Interval
from sparingly.infer.estimate.result import Estimate

Floats = NDArray[np.float64]
Draw = Callable[[np.random.Generator, tuple[int, int]], Floats]
# What one array holds: so many pairs of models, whose true means differ by this much.
PAIRS, SHIFT = 20, 0.2


@dataclass(frozen=True)
class Family:
    """Scores of one shape, with mean 0 and variance 1.

    Attributes:
        name: What it is called.
        skew: The skewness of the scores.
        draw: Draws items × models.
        is_sum: Whether the sum of two has the same shape.
    """

    name: str
    skew: float
    draw: Draw
    is_sum: bool = False


def _gaussian(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    return drawn.normal(size=shape)


def _bounded(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Scores between two ends, most of them near one: the arcsine distribution."""
    return np.asarray((drawn.beta(0.5, 0.5, shape) - 0.5) * np.sqrt(8.0))


def _ties(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
    """Five grades, most of them good: mean 3.85 and variance 1.4275 before scaling."""
    grades = drawn.choice(5, shape, p=[0.05, 0.1, 0.2, 0.25, 0.4]) + 1.0
    return np.asarray((grades - 3.85) / np.sqrt(1.4275))


def _penalties(name: str, share: float, power: float) -> Family:
    """Minus a gamma penalty on a share of the outputs, none on the others: scores as those of MQM."""
    first, second = share * power, share * power * (power + 1.0)
    third = second * (power + 2.0)
    variance = second - first**2
    skew = -(third - 3.0 * first * second + 2.0 * first**3) / variance**1.5

    def draw(drawn: np.random.Generator, shape: tuple[int, int]) -> Floats:
        penalty = drawn.gamma(power, size=shape) * (drawn.random(shape) < share)
        return np.asarray((first - penalty) / np.sqrt(variance))

    return Family(name, skew, draw)


FAMILIES = {
    family.name: family
    for family in (
        Family("gaussian", 0.0, _gaussian, is_sum=True),
        Family("bounded", 0.0, _bounded),
        Family("ties", -0.73, _ties),
        _penalties("mqm", 0.45, 2.0),
        _penalties("mqm_heavy", 0.2, 1.0),
    )
}


def made_scores(family: Family, size: int, drawn: np.random.Generator) -> tuple[Floats, Floats]:
    """Return items × models and their true means; models 2k and 2k + 1 correlate by a half."""
    models = 2 * PAIRS
    means = SHIFT * drawn.normal(size=models)
    shared = np.repeat(family.draw(drawn, (size, PAIRS)), 2, axis=1)
    own = family.draw(drawn, (size, models))
    if family.is_sum:
        return np.asarray((shared + own) * np.sqrt(0.5) + means), means
    # A sum would have another shape: some scores of a pair are the same instead.
    return np.where(drawn.random((size, models)) < np.sqrt(0.5), shared, own) + means, means


@dataclass
class Tally:
    """What intervals did over the replicates, of scores or of differences."""

    held: int = 0
    told: int = 0
    asked: int = 0
    wrong_sign: int = 0
    missed: list[float] = field(default_factory=list)
    errors: list[float] = field(default_factory=list)

    def add(self, centre: Floats, errors: Floats, low: Floats, high: Floats, truth: Floats) -> None:
        """Count intervals."""
        known = np.isfinite(low) & np.isfinite(high)
        slack = 1e-9 * np.maximum(np.abs(truth), 1.0)
        self.asked += len(centre)
        self.told += int(known.sum())
        self.held += int((known & (low <= truth + slack) & (truth - slack <= high)).sum())
        self.wrong_sign += int((known & (low * high > 0) & (np.sign(low) * np.sign(truth) < 0)).sum())
        self.missed += (centre - truth).tolist()
        self.errors += errors.tolist()

    @property
    def coverage(self) -> float:
        """The share of the printed intervals that hold the truth."""
        return self.held / max(self.told, 1)

    @property
    def slack(self) -> float:
        """The standard error of the coverage, were the replicates independent."""
        return float(np.sqrt(max(self.coverage * (1 - self.coverage), 1e-4) / max(self.told, 1)))

    @property
    def bias(self) -> float:
        """The mean error, as a share of the standard deviation of the error."""
        return float(np.mean(self.missed) / np.std(self.missed))

    @property
    def ratio(self) -> float:
        """The root mean squared standard error over the standard deviation of the error."""
        return float(np.sqrt(np.mean(np.square(self.errors))) / np.std(self.missed))

    @property
    def withheld(self) -> float:
        """The share without an interval."""
        return 1.0 - self.told / max(self.asked, 1)

    @property
    def wrong(self) -> float:
        """The share of all that is significant in the wrong direction."""
        return self.wrong_sign / max(self.asked, 1)


@dataclass
class Cell:
    """One cell of the grid: what intervals of scores and of differences did.

    Attributes:
        interval: The kind of interval that is asked for.
        scores: What those of scores did.
        differences: What those of differences did.
    """

    interval: Interval = "auto"
    scores: Tally = field(default_factory=Tally)
    differences: Tally = field(default_factory=Tally)

    def count(self, found: Estimate, truth: Floats) -> None:
        """Add the models of one estimate."""
        self.scores.add(found.scores, found.standard_errors, found.low, found.high, truth)
        first, second = np.arange(0, len(truth) - 1, 2), np.arange(1, len(truth), 2)
        centre = found.scores[first] - found.scores[second]
        assert found.pairs is not None
        errors, ends = found.pairs.intervals(first, second, centre, [""] * len(first))
        self.differences.add(centre, errors, ends.low, ends.high, truth[first] - truth[second])
