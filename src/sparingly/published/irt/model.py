"""A fitted model: responses, priors, parameters of items and models, curves, and Fisher information."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats

# --- what is believed of items and models before any score is seen ---
# All four are normal: discrimination a, difficulty b, the logit of feasibility c, and ability θ (Zouhar et
# al. 2025, appendix C, name the normal for a, b and θ and give no numbers). Difficulty and ability have
# mean 0 and standard deviation 1, which fixes the origin and the unit of the scale: the response does not
# change when both are shifted, or stretched while a shrinks. The positive mean of a fixes its sign.
#
# Scores that were cut into yes and no follow ability much more steeply than scores do, and say little about
# where a curve levels off; so the binary form believes in steeper curves and hardly anything about c.


Response = Literal["continuous", "binary"]
Normal = tuple[float, float]


@dataclass(frozen=True)
class Priors:
    """The mean and standard deviation of every parameter.

    The standard deviation of the noise is believed as firmly as if it had been seen in ``noise_weight``
    scores, which keeps the noise of a tiny set above 0.
    """

    discrimination: Normal = (1.0, 0.75)  # a
    difficulty: Normal = (0.0, 1.0)  # b
    logit_feasibility: Normal = (2.5, 1.0)  # log c/(1 − c)
    ability: Normal = (0.0, 1.0)  # θ
    noise: float = 0.1
    noise_weight: float = 2.0

    @property
    def item_means(self) -> Floats:
        """The means of (logit c, a, b), the order in which an item's parameters are kept, as a column."""
        return np.array([[self.logit_feasibility[0]], [self.discrimination[0]], [self.difficulty[0]]])

    @property
    def item_sds(self) -> Floats:
        """The standard deviations of (logit c, a, b), as a column."""
        return np.array([[self.logit_feasibility[1]], [self.discrimination[1]], [self.difficulty[1]]])


CONTINUOUS = Priors()
BINARY = Priors(discrimination=(4.0, 4.0), logit_feasibility=(2.0, 5.0))


def default_priors(response: Response) -> Priors:
    """Return the priors of a form of response."""
    return CONTINUOUS if response == "continuous" else BINARY


# --- scores as responses ---


@dataclass(frozen=True, eq=False)
class Responses:
    """What every model answered on every item, models x items, so that sums over models run along memory."""

    values: Floats  # between 0 and 1 (continuous), or 0 and 1 only (binary); 0 where missing
    present: Floats | None  # 1 where there is a response and 0 where not; None when nothing is missing
    response: Response

    @property
    def shape(self) -> tuple[int, int]:
        """The number of models and of items."""
        models, items = self.values.shape
        return models, items

    @property
    def count(self) -> float:
        """How many responses there are."""
        return float(self.values.size if self.present is None else self.present.sum())

    def per_item(self) -> Floats:
        """Return how many models answered each item."""
        return self._counts(axis=0)

    def per_model(self) -> Floats:
        """Return how many items each model answered."""
        return self._counts(axis=1)

    def take(self, items: NDArray[np.intp] | slice) -> Responses:
        """Return the responses to some items."""
        present = None if self.present is None else np.ascontiguousarray(self.present[:, items])
        return Responses(np.ascontiguousarray(self.values[:, items]), present, self.response)

    def blocks(self, items: int) -> Iterator[Responses]:
        """Cut the responses into blocks of items, small enough for the processor's cache."""
        for start in range(0, self.shape[1], items):
            yield self.take(slice(start, start + items))

    def _counts(self, axis: int) -> Floats:
        if self.present is not None:
            return np.asarray(self.present.sum(axis=axis))
        return np.full(self.values.shape[1 - axis], float(self.values.shape[axis]))


def as_responses(
    scores: Floats, response: Response, threshold: float | None = None, *, scale: bool = True
) -> Responses:
    """Make responses from scores, items x models with NaN where missing, of which at least one is there."""
    as_it_is = scaled(scores) if scale else scores.copy()
    values = success(scores, threshold) if response == "binary" else as_it_is
    missing = np.isnan(scores)
    present = np.ascontiguousarray(~missing.T, np.float64) if missing.any() else None
    values[missing] = 0.0
    return Responses(np.ascontiguousarray(values.T), present, response)


def scaled(scores: Floats) -> Floats:
    """Scale scores so that the lowest of the metric is 0 and the highest 1; where all are equal, 0.5."""
    low, high = np.nanmin(scores), np.nanmax(scores)
    return scores * 0.0 + 0.5 if high == low else np.asarray((scores - low) / (high - low))


def success(scores: Floats, threshold: float | None = None) -> Floats:
    """Return 1 where a score is above the threshold, 0 where it is not, NaN where it is missing.

    Without a threshold the scores are cut at their median. Scores that are equal to the median then count as
    successes, unless counting them as failures gives a more even cut (a metric of zeros and ones has most of
    its scores at the median).
    """
    if threshold is None:
        finite = scores[~np.isnan(scores)]
        median = np.median(finite)
        share_at_least, share_above = np.mean(finite >= median), np.mean(finite > median)
        succeeded = (
            scores >= median if abs(share_at_least - 0.5) <= abs(share_above - 0.5) else scores > median
        )
    else:
        succeeded = scores > threshold
    return np.where(np.isnan(scores), np.nan, succeeded.astype(np.float64))


# --- a fitted model ---


FitMethod = Literal["map", "variational"]


@dataclass(frozen=True, eq=False)
class Parameters:
    """One number per item (discrimination a, difficulty b, logit of feasibility c) and model (ability θ)."""

    discrimination: Floats
    difficulty: Floats
    logit_feasibility: Floats
    ability: Floats


@dataclass(frozen=True, eq=False)
class IrtFit:
    """What a fit found; NaN for items and models without a score.

    The variational distributions are too sure of themselves to make intervals; ``benchmarks.irt_intervals``
    finds ones that hold.
    """

    response: Response  # whether scores were scaled to 0–1 or cut into success and failure
    method: FitMethod
    estimates: Parameters  # the most probable values (map), or the means of the variational distribution
    noise: float | None  # the standard deviation of the noise about the curves; None for binary responses
    objective: float  # what was maximised: the log posterior density, or the evidence lower bound
    priors: Priors
    sds: Parameters | None = None  # of the variational distribution; with its means they maximise the bound

    @property
    def discrimination(self) -> Floats:
        """How well every item tells models apart (a)."""
        return self.estimates.discrimination

    @property
    def difficulty(self) -> Floats:
        """The ability at which every item's curve is half way up (b)."""
        return self.estimates.difficulty

    @property
    def feasibility(self) -> Floats:
        """What the best conceivable model would reach on every item (c)."""
        return expit(self.estimates.logit_feasibility)

    @property
    def ability(self) -> Floats:
        """How able every model is (θ)."""
        return self.estimates.ability

    def curves(self, ability: Floats) -> Floats:
        """Return r̂ = c σ(a (θ − b)) of every item at some abilities, items x abilities (eq. 8)."""
        steepness = self.discrimination[:, None] * (np.asarray(ability) - self.difficulty[:, None])
        return np.asarray(self.feasibility[:, None] * expit(steepness))

    def predicted(self) -> Floats:
        """Return the response that is predicted for every item and model."""
        return self.curves(self.ability)


def expit(value: Floats) -> Floats:
    """Return 1/(1 + exp(−value)), whatever the size of the value."""
    with np.errstate(over="ignore"):
        return np.asarray(1.0 / (1.0 + np.exp(-value)))


# --- how much an item says about abilities ---


Form = Literal["published", "exact"]


def fisher_information(fit: IrtFit, form: Form = "published") -> Floats:
    """Return Σ over models of an item's information about ability, per item (eq. 16).

    With σ = σ(a (θ − b)), ``published`` is a² σ (1 − σ) (eq. 15, which leaves feasibility out). ``exact`` is
    what the responses of the model really say: (∂r̂/∂θ)²/s² = (c a σ (1 − σ))²/s² under normal noise, and
    c a² σ (1 − σ)²/(1 − c σ) for success and failure. Models without an ability are left out.
    """
    total = np.zeros(len(fit.discrimination))
    for ability in fit.ability[~np.isnan(fit.ability)]:
        total += item_information(fit, float(ability), form)
    return total


def item_information(fit: IrtFit, ability: float, form: Form = "published") -> Floats:
    """Return the information of every item about one ability (eq. 14)."""
    slope, top = fit.discrimination, fit.feasibility
    below = expit(-fit.estimates.logit_feasibility)
    steepness = slope * (ability - fit.difficulty)
    hit, missed = expit(steepness), expit(-steepness)
    if form == "published":
        return np.asarray(slope * slope * hit * missed)
    if fit.noise is not None:
        return np.asarray((top * slope * hit * missed / fit.noise) ** 2)
    # 1 − cσ is the sum of 1 − σ and (1 − c) σ; where both vanish, so does the information.
    denominator = missed + below * hit
    share = np.divide(missed, denominator, out=np.ones_like(denominator), where=denominator > 0.0)
    return np.asarray(top * slope * slope * hit * missed * share)
