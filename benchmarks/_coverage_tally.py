"""What intervals did over the replicates of a cell of the coverage grid."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from sparingly.base.arrays import Floats, Ints, Mask
from sparingly.infer.estimate.result import Estimate

MOST_SKEW = 2.0
# What is written of a tally.
FIGURES = ("coverage", "slack", "bias", "bias_slack", "ratio", "withheld", "widened", "wrong")


@dataclass
class Tally:
    """What intervals did, of scores or of differences.

    Attributes:
        asked: How many there might have been.
        told: How many there were.
        held: How many of those hold the truth.
        wider: How many of those were widened.
        wrong_sign: How many lie on the wrong side of 0.
        by_array: (held, told) of every array: intervals of one array share items.
        missed: How far each centre lies from the truth, array by array.
        errors: The standard errors.
    """

    asked: int = 0
    told: int = 0
    held: int = 0
    wider: int = 0
    wrong_sign: int = 0
    by_array: list[tuple[int, int]] = field(default_factory=list)
    missed: list[Floats] = field(default_factory=list)
    errors: list[Floats] = field(default_factory=list)

    def add(
        self, centre: Floats, errors: Floats, low: Floats, high: Floats, truth: Floats, *, widened: int = 0
    ) -> None:
        """Count the intervals of an array."""
        known = np.isfinite(low) & np.isfinite(high)
        slack = 1e-9 * np.maximum(np.abs(truth), 1.0)
        held = int((known & (low <= truth + slack) & (truth - slack <= high)).sum())
        self.asked += len(centre)
        self.told += int(known.sum())
        self.held += held
        self.wider += widened
        self.wrong_sign += int((known & (low * high > 0) & (np.sign(low) * np.sign(truth) < 0)).sum())
        self.by_array.append((held, int(known.sum())))
        self.missed.append(centre - truth)
        self.errors.append(errors)

    @property
    def coverage(self) -> float:
        """The share of the printed intervals that hold the truth."""
        return self.held / max(self.told, 1)

    @property
    def slack(self) -> float:
        """The standard error of the coverage, arrays being the replicates."""
        held, told = np.array(self.by_array, float).T
        squared = float(((held - self.coverage * told) ** 2).sum()) / max(self.told, 1) ** 2
        return float(np.sqrt(max(squared, 1e-4 / max(self.told, 1))))

    @property
    def _strayed(self) -> float:
        return float(np.std(np.concatenate(self.missed))) if self.asked else float("nan")

    @property
    def bias(self) -> float:
        """The mean error, as a share of the standard deviation of the error."""
        return float(np.mean(np.concatenate(self.missed))) / self._strayed

    @property
    def bias_slack(self) -> float:
        """The standard error of the bias, arrays being the replicates."""
        sums = np.array([part.sum() - self.bias * self._strayed * len(part) for part in self.missed])
        return float(np.sqrt((sums**2).sum())) / max(self.asked, 1) / self._strayed

    @property
    def ratio(self) -> float:
        """The root mean squared standard error over the standard deviation of the error."""
        squared = np.square(np.concatenate(self.errors))
        return (
            float(np.sqrt(np.nanmean(squared))) / self._strayed
            if np.isfinite(squared).any()
            else float("nan")
        )

    @property
    def withheld(self) -> float:
        """The share without an interval."""
        return 1.0 - self.told / max(self.asked, 1)

    @property
    def widened(self) -> float:
        """The share of intervals that were widened."""
        return self.wider / max(self.asked, 1)

    @property
    def wrong(self) -> float:
        """The share of all that is significant in the wrong direction."""
        return self.wrong_sign / max(self.asked, 1)

    def figures(self) -> dict[str, float]:
        """Return the figures."""
        return {name: getattr(self, name) for name in FIGURES}


@dataclass
class Cell:
    """One cell of the grid, for one target.

    Attributes:
        scores: What intervals of scores did.
        differences: What intervals of differences did.
        mild_scores: Those of models whose scores have a skewness of at most 2.
        mild_differences: Those of two such models.
        fallen_back: How many scores fell back to the weighted mean.
    """

    scores: Tally = field(default_factory=Tally)
    differences: Tally = field(default_factory=Tally)
    mild_scores: Tally = field(default_factory=Tally)
    mild_differences: Tally = field(default_factory=Tally)
    fallen_back: int = 0

    def count(self, found: Estimate, truth: Floats, skew: Floats) -> None:
        """Add the models of one estimate, and the differences of every model and the next."""
        mild = np.abs(skew) <= MOST_SKEW
        self.fallen_back += found.outcome.fallen_back
        ends = (found.scores, found.standard_errors, found.low, found.high, truth)
        self.scores.add(*ends, widened=found.outcome.bounds)
        self._add_mild(self.mild_scores, mild, ends)
        first, second = ring(truth)
        centre = found.scores[first] - found.scores[second]
        assert found.pairs is not None
        errors, made = found.pairs.intervals(first, second, centre, [""] * len(first))
        ends = (centre, errors, made.low, made.high, truth[first] - truth[second])
        self.differences.add(*ends, widened=made.outcome.bounds)
        self._add_mild(self.mild_differences, mild[first] & mild[second], ends)

    @staticmethod
    def _add_mild(tally: Tally, mild: Mask, ends: tuple[Floats, ...]) -> None:
        if mild.any():
            tally.add(*(part[mild] for part in ends))

    @property
    def fell_back(self) -> float:
        """The share of scores that fell back to the weighted mean."""
        return self.fallen_back / max(self.scores.asked, 1)


def ring(truth: Floats) -> tuple[Ints, Ints]:
    """Return every model and the next (the last and the first), the truly better one in front.

    So a bias of differences says whether they are exaggerated.
    """
    one = np.arange(len(truth) if len(truth) > 2 else 1)
    other = (one + 1) % len(truth)
    better = truth[one] >= truth[other]
    return np.where(better, one, other), np.where(better, other, one)
