"""What a budget is expected to buy: errors, intervals and decisions ahead of judging."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Literal, NamedTuple

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.checks import check_level
from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.progress import report_progress
from sparingly.base.stats.moments import cluster_correction
from sparingly.base.syntax import argument, arguments, either
from sparingly.choose.auto import automatic
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.data.scale import Ends
from sparingly.infer.estimate.assemble import TARGETS, Target
from sparingly.infer.estimate.estimators import FEWEST
from sparingly.infer.estimate.intervals import FEWEST_UNITS, find_intervals, student_quantile
from sparingly.infer.estimate.pairs import PairErrors, interval_basis
from sparingly.infer.estimate.result import CHOSEN_ITEMS, Estimate
from sparingly.infer.estimate.sample import JudgedSample, LinearForm, difference_form, single_items
from sparingly.infer.estimate.scale import proportions_of, values_of
from sparingly.infer.estimate.variance import ScoreErrors, joined_freedom, population_errors, set_errors
from sparingly.infer.estimate.widen import EpochNoise, epoch_noise
from sparingly.infer.plan.pilot import Pilot
from sparingly.infer.plan.power import DocumentEffects, deciding_ratios, detectable, pair_level

# --- precision ---


@dataclass(frozen=True)
class Precision:
    """What a number of judged items is expected to tell."""

    n: int  # judged items
    share: float  # the same as a share of the set
    # Half the width of the interval of a score of this set, of a middle model; NaN where no interval would be
    # printed.
    half_width: float
    # The smallest difference of two models that is significant with the power, corrected for all pairs, of a
    # middle pair; NaN where none can be, and with one model.
    detectable: float
    right_winner: float  # the probability that the model that is best on the whole set comes out as the best
    right_pairs: float  # the expected share of pairs of models in the right order
    right_order: float  # the probability that all models come out in the right order
    hours: float | None = None  # hours of judging; None where no time is known


def fewest_items(error_at: Callable[[int], float], goal: float, size: int) -> int | None:
    """Return the fewest items for which a decreasing error is at most the goal, or None."""
    if error_at(size) > goal:
        return None
    low, high = 0, size
    while high - low > 1:
        steps = size.bit_length()
        report_progress(steps - (high - low).bit_length(), steps)
        middle = (low + high) // 2
        low, high = (low, middle) if error_at(middle) <= goal else (middle, high)
    return high


def order_chances(true: Floats, covariance: Floats, seed: int) -> tuple[float, float, float]:
    """Return the probabilities of the right winner, of a right pair and of the right order.

    Estimates are drawn from N(μ, Σ) around the true scores (draws × models); one is right when it orders
    models as they do. Models that are equal in truth have no right order: such pairs count as right.
    """
    values, vectors = np.linalg.eigh(covariance)
    root = vectors * np.sqrt(np.maximum(values, 0.0))
    estimates = true + rng.generator(seed, "plan").standard_normal(true.shape) @ root.T
    first, second = np.triu_indices(true.shape[1], 1)
    right = (
        np.sign(estimates[:, first] - estimates[:, second]) * np.sign(true[:, first] - true[:, second]) >= 0
    )
    best = np.take_along_axis(true, estimates.argmax(axis=1)[:, None], axis=1)[:, 0] == true.max(axis=1)
    return float(best.mean()), float(right.mean()) if right.size else 1.0, float(right.all(axis=1).mean())


# --- goals ---

PlanUnit = Literal["item", "document"]
UNITS = ("item", "document")
# Below this share of the variance, predictions are not worth their trouble.
WORTH_PREDICTING = 0.05
SURE_OF_WINNER = 0.9


@dataclass(frozen=True)
class PlanGoals:
    """The goals of a plan, checked."""

    # The half-width (±) that intervals of scores should have; None where it does not matter.
    width: float | None = None
    detect: float | None = None  # the difference between two models that is to be found; None likewise
    unit: PlanUnit = "item"  # what is drawn: items, or whole documents
    # Whether differences on this ``set`` or on inputs like these (``population``) are to be found.
    target: Target = "population"
    level: float = 0.95  # the level of intervals and tests
    power: float = 0.8  # the probability of finding the difference
    seed: int = 0  # of all that is drawn

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0.0 < self.power < 1.0:
            raise UsageError(f"The power is a probability between 0 and 1, such as 0.8, not {self.power:g}.")
        for name, kinds in (("unit", UNITS), ("target", TARGETS)):
            if getattr(self, name) not in kinds:
                raise UnknownNameError(name, getattr(self, name), kinds)
        for noun, value in (("width", self.width), ("difference", self.detect)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise UsageError(f"The {noun} must be a number above zero, not {value:g}.")

    @property
    def for_differences(self) -> bool:
        """Whether differences between models matter, rather than scores."""
        return self.detect is not None and self.width is None


# --- what estimate would print after n judged items, tried on parts of a pilot ---
# No formula of its own: a part of the pilot is made a sample of n items by the default design, and its
# intervals are found by the functions that ``estimate`` calls. So a plan sees all that they do about few
# judgements, long tails, proportions, predictions and spread draws.

# Beyond so many units only the variance changes.
_MOST_UNITS = 20_000
# So many judged items are looked at in all, in so many parts at least and at most.
_ITEMS, _FEWEST_PARTS, _MOST_PARTS = 2400, 24, 200
# In so many parts it is tried from which difference on models are decided.
_PARTS_RANKED = 12


class PrintedPrecision(NamedTuple):
    """What would be printed: half the width of a score's interval, and the covariance of the scores.

    The half-width is the median over models and parts of the pilot; NaN where no interval would be printed.
    """

    half_width: float
    covariance: Floats


@dataclass(frozen=True, eq=False)
class PlanOutlook:
    """The precision of any number of judged items: samples of any size, resampled from a pilot."""

    pilot: Pilot
    goals: PlanGoals
    seconds: float | None = None
    _printed: dict[int, PrintedPrecision] = field(default_factory=dict, init=False)
    _ratios: dict[int, float] = field(default_factory=dict, init=False)

    def __post_init__(self) -> None:
        if self.goals.unit == "document" and self.pilot.documents is None:
            raise MissingDataError(
                "A plan for whole documents needs a pilot with several judged items in the same documents."
            )
        if self.goals.detect is not None and self.pilot.models < 2:
            goals = arguments({"pass_rate": "90%", "detect": "5%"})
            command = either(f"sparingly plan {goals}", f"sparingly.sample_size({goals})")
            raise UsageError(
                f"There is one model, so there is no difference to find: give {argument('width')}, or plan "
                f"for a second version without data: {command}."
            )

    @cached_property
    def predicts(self) -> bool:
        """Whether predictions from the metrics are worth it."""
        saving = self.pilot.saving
        return saving is not None and max(saving.scores, saving.differences) >= WORTH_PREDICTING

    @cached_property
    def _sample(self) -> JudgedSample:
        """The pilot, with the places of its items in the space over which the default design spreads."""
        pilot, places = self.pilot, None
        # A metric that stands in for people would be spread over itself.
        if not pilot.stands_in and self.goals.unit == "item":
            budget = Budget.parse(min(FEWEST, len(pilot.data)))
            design = automatic(pilot.data, budget, unit="item").method
            resolved = design.resolve(pilot.data, budget) if isinstance(design, DrawDesign) else None
            places = resolved.coordinates(pilot.data) if isinstance(resolved, DrawDesign) else None
        return replace(pilot.sample, coordinates=None if places is None else places[pilot.sample.rows])

    @property
    def _predicted(self) -> Floats | None:
        return self.pilot.predicted if self.predicts else None

    @property
    def _documents(self) -> DocumentEffects | None:
        return self.pilot.documents if self.goals.unit == "document" else None

    @property
    def _population_covariance(self) -> Floats | None:
        return self.pilot.population_covariance if self.goals.target == "population" else None

    @cached_property
    def _scale(self) -> Ends | None:
        return self.pilot.data.truth_scale(self.pilot.truth)

    def precision(self, n: int) -> Precision:
        """Return what n judged items tell."""
        if not 1 <= n <= self.pilot.size:
            raise UsageError(f"A plan is for 1 to {self.pilot.size} items, not for {n}.")
        smallest = self.detectable(n) if self.pilot.models > 1 else float("nan")
        winner, pairs, order = order_chances(
            self.pilot.scores, self.printed_at(n).covariance, self.goals.seed
        )
        return Precision(
            n=n,
            share=n / self.pilot.size,
            half_width=self.half_width(n),
            detectable=smallest if np.isfinite(smallest) else float("nan"),
            right_winner=winner,
            right_pairs=pairs,
            right_order=order,
            hours=None if self.seconds is None else n * self.seconds / 3600,
        )

    def half_width(self, n: int) -> float:
        """Return the half-width of a score's interval after n judged items, of a middle model."""
        half = self.printed_at(n).half_width
        if self._epochs is None:
            return half
        quantiles = student_quantile(self._epochs.freedom, 0.5 + self.goals.level / 2.0)
        return math.hypot(half, float(np.median(quantiles * np.sqrt(self._epochs.variance))))

    @cached_property
    def _epochs(self) -> EpochNoise | None:
        """What noise between epochs adds to scores of this set, however many of its items are judged."""
        return epoch_noise(self.pilot.data, self.pilot.truth, self._sample, self._scale)

    def detectable(self, n: int) -> float:
        """Return the smallest difference that n judged items find; infinite where no difference would do."""
        covariance, beyond = self.printed_at(n).covariance, self._population_covariance
        if beyond is not None:
            covariance = covariance + beyond
        elif self._epochs is not None:
            covariance = covariance + self._epochs.covariance
        return detectable(covariance, self.deciding_ratio(n), self.goals.power)

    def items_needed(self) -> int | None:
        """Return the fewest items for all that is wanted, or for a sure winner where nothing is.

        None where all items together are not enough, or with one model and nothing wanted.
        """
        size, counts = self.pilot.size, list[int | None]()
        if self.goals.width is not None:
            counts.append(fewest_items(self.half_width, self.goals.width, size))
        if self.goals.detect is not None:
            counts.append(fewest_items(self.detectable, self.goals.detect, size))
        if not counts and self.pilot.models > 1:
            counts.append(
                fewest_items(lambda n: 1.0 - self.precision(n).right_winner, 1.0 - SURE_OF_WINNER, size)
            )
        enough = [n for n in counts if n is not None]
        if not counts or len(enough) < len(counts):
            return None
        # Below 10 units nothing is printed, so nothing is planned there.
        return max(*enough, self.items(FEWEST_UNITS))

    # What estimate would print.

    def printed_at(self, n: int) -> PrintedPrecision:
        """Return what n judged items would print."""
        if n not in self._printed:
            self._printed[n] = self._resample(n)
        return self._printed[n]

    def deciding_ratio(self, n: int) -> float:
        """Return from how many standard errors on ``rank`` decides a difference after n judged items.

        The median over pairs, both directions and some parts of the pilot; 0 where nothing is left to chance.
        """
        if n >= self._sample.size and self._population_covariance is None:
            if self._epochs is None:
                return 0.0
            n = self._sample.size - 1
        if n not in self._ratios:
            near = min(n, self.items(_MOST_UNITS))
            level, ratios = pair_level(self._sample.models, self.goals.level), []
            for part in islice(self._parts(near), _PARTS_RANKED):
                errors = self._pair_errors(part, near)
                values = values_of(part.scores[part.judged], self._scale)
                goals, scale, two_valued = self.goals, values.scale, values.two_valued
                pairs = PairErrors(
                    part, errors, errors, goals.level, "auto", goals.seed, False, None, scale, two_valued
                )
                ratios.append(deciding_ratios(pairs, level))
            self._ratios[n] = float(np.median(ratios))
        return self._ratios[n]

    def _pair_errors(self, part: JudgedSample, n: int) -> ScoreErrors:
        """Return the errors after n judged items, for what differences describe.

        Of inputs like these: V̂_set + V̂_inputs, with the contributions of a part of the pilot, repeated, and
        the degrees of freedom of a random draw from the set's own documents.
        """
        over_set, count = self._judged(part, n)[1], len(part.rows)
        if self._population_covariance is None:
            return over_set
        drawn_part = part if count == n else _as_drawn(part, np.arange(count), count / part.size)
        linear = self._linear(drawn_part, n)
        errors = population_errors(drawn_part, linear)
        if count == n and self._documents is None:
            return errors
        covariance = self.printed_at(n).covariance + self._population_covariance
        document = self._sample.document
        if document is None:
            return _grown(errors, covariance, max(n - linear.parameters, 0.0), float(n), n / count)
        # The documents that n random items are from or, where whole documents are drawn, that n items fill.
        generator = rng.generator(self.goals.seed, "documents")
        items = np.bincount(document[generator.permutation(self._sample.size)[:n]])
        if self._documents is not None:
            items = generator.permutation(np.bincount(document))[: self.units(n)]
        lengths = items[items > 0].astype(np.float64)[:, None]
        freedom, units = float(cluster_correction(lengths, lengths)[1][0]), float(len(lengths))
        times = units / len(np.unique(document[part.rows]))
        if self._documents is None:
            share = float(np.trace(over_set.covariance) / max(np.trace(covariance), 1e-300))
            freedom, units = joined_freedom(share, over_set, freedom, units, len(np.unique(document)))
        return _grown(errors, covariance, freedom, units, times)

    @cached_property
    def length(self) -> float:
        """The mean number of items in a unit."""
        if self._documents is None or self._sample.document is None:
            return 1.0
        return self._sample.size / len(np.unique(self._sample.document))

    def units(self, n: int) -> int:
        """Return how many units n judged items are: themselves, or as many documents as they fill."""
        return max(1, round(n / self.length))

    def items(self, units: int) -> int:
        """Return how many items so many units are, at most all of them."""
        return min(self._sample.size, math.ceil(units * self.length))

    def uses_predictions(self, n: int) -> bool:
        """Whether an estimate from n judged items uses predictions."""
        return self._predicted is not None and self.units(n) >= FEWEST

    def _resample(self, n: int) -> PrintedPrecision:
        size, units = self._sample.size, self.units(n)
        if n >= size:
            return PrintedPrecision(0.0, np.zeros((self._sample.models, self._sample.models)))
        if units > _MOST_UNITS:
            # From what many units print: errors go with √(1/n − 1/N).
            near = self.items(_MOST_UNITS)
            printed, times = self.printed_at(near), (1.0 / n - 1.0 / size) / (1.0 / near - 1.0 / size)
            return PrintedPrecision(printed.half_width * float(np.sqrt(times)), printed.covariance * times)
        halves, covariances = [], []
        for part in self._parts(n):
            scores, errors = self._judged(part, n)
            covariances.append(errors.covariance)
            if units >= FEWEST_UNITS:
                count, share = len(part.rows), float(part.draw[0])
                repeated = part if units == count else _as_drawn(part, np.arange(units) % count, share)
                values = values_of(repeated.scores[repeated.judged], self._scale)
                basis = replace(
                    interval_basis([str(model) for model in range(repeated.models)], scores, errors, False),
                    scale=values.scale,
                    proportions=proportions_of(repeated, errors, scores, values, "set"),
                )
                intervals = find_intervals(basis, self.goals.level, "auto", self.goals.seed)
                halves.append(np.asarray((intervals.high - intervals.low) / 2.0))
        typical = float(np.nanmedian(halves)) if np.isfinite(halves).any() else float("nan")
        return PrintedPrecision(typical, np.mean(covariances, axis=0))

    def _parts(self, n: int) -> Iterator[JudgedSample]:
        """Yield parts of the pilot as samples with probability n/N; all of it for many units or too few."""
        count, units = len(self._sample.rows), self.units(n)
        share = n / self._sample.size
        if not FEWEST_UNITS <= units < count:
            yield _as_drawn(self._sample, np.arange(count), share)
            return
        parts = int(np.clip(_ITEMS / units, _FEWEST_PARTS, _MOST_PARTS))
        generator = rng.generator(self.goals.seed, "ahead")
        raised = 1.0 / self._sample.draw
        for _ in range(parts):
            # The same order for every n, so that a longer part holds the shorter one.
            order = np.argsort(generator.exponential(size=count) / raised, kind="stable")
            yield _as_drawn(self._sample, np.sort(order[:units]), share)

    def _judged(self, part: JudgedSample, n: int) -> tuple[Floats, ScoreErrors]:
        """Return the scores and their errors as an estimate from n items would have them."""
        linear = self._linear(part, n)
        errors = set_errors(part, linear)
        if self._documents is not None:
            # Of whole documents, from the errors of as many items.
            covariance = self._documents.raised(errors.covariance) * (self.units(n) / n)
            factor = np.sqrt(np.diag(covariance) / np.maximum(np.diag(errors.covariance), 1e-300))
            errors = replace(errors, covariance=covariance, shape=errors.shape * factor)
        times = self.units(n) / len(part.rows)
        if times != 1.0:
            # Of so many times as many units that vary alike.
            units = round(times * len(errors.shape))
            rows = np.arange(units) % len(errors.shape)
            errors = replace(
                errors,
                covariance=errors.covariance / times,
                freedom=errors.freedom + units - len(errors.shape),
                units=errors.units * times,
                shape=errors.shape[rows] / times,
                stratum=errors.stratum[rows],
                units_judged=errors.counts * times,
            )
        return linear.scores(part), errors

    def _linear(self, part: JudgedSample, n: int) -> LinearForm:
        if not self.uses_predictions(n) or self._predicted is None:
            return difference_form(part)
        return difference_form(part, self._predicted * self._slope(n), parameters=2.0)

    def _slope(self, n: int) -> float:
        """Return the slope that leaves as much of the variance as predictions learned from n items leave.

        What they lose falls with 1/n, from ``learning_loss`` at 30 items to nothing at the pilot's size; a
        slope λ loses (1 − λ)² of what predictions explain.
        """
        count = len(self._sample.rows)
        if n >= count or count <= FEWEST:
            return 1.0
        lost = self.pilot.learning_loss * (1.0 / n - 1.0 / count) / (1.0 / FEWEST - 1.0 / count)
        return 1.0 - float(np.sqrt(np.clip(lost, 0.0, 1.0)))


def _as_drawn(sample: JudgedSample, places: Ints, share: float) -> JudgedSample:
    """Return some of a pilot's items as a uniform or spread sample with one probability, nothing missing."""
    return single_items(
        *(sample.rows[places], sample.scores[places], np.full((1, 1), share), sample.size),
        weights=sample.weights,
        document=sample.document,
        coordinates=None if sample.coordinates is None else sample.coordinates[places],
    )


def _grown(
    errors: ScoreErrors, covariance: Floats, freedom: float, units: float, times: float
) -> ScoreErrors:
    """Return errors with another covariance, to which so many times as many inputs contribute alike."""
    rows = np.arange(max(round(times * len(errors.shape)), 1)) % len(errors.shape)
    old_squares, new_squares = (float((part**2).sum()) for part in (errors.shape, errors.shape[rows]))
    wider = np.trace(covariance) / max(float(np.trace(errors.covariance)), 1e-300)
    return replace(
        errors,
        covariance=covariance,
        freedom=freedom,
        units=units,
        shape=errors.shape[rows] * np.sqrt(wider * old_squares / max(new_squares, 1e-300)),
        stratum=errors.stratum[rows],
        units_judged=None,
    )


# --- how precise scores became with the judged items, and how precise more of them would make them ---

_POINTS = 60


class PrecisionPoint(NamedTuple):
    """So many judged items, and the mean half-width of the models' intervals."""

    n: int
    half_width: float


@dataclass(frozen=True)
class Growth:
    """Precision against labels: what was found with so many judged items, in order, and what lies ahead.

    ``ahead`` is what more (or fewer) items drawn alike would give.
    """

    seen: tuple[PrecisionPoint, ...]
    ahead: tuple[PrecisionPoint, ...]
    level: float
    unit: str = "items"

    def to_dict(self) -> dict[str, Any]:
        """Return plain values."""
        points = {name: [point._asdict() for point in getattr(self, name)] for name in ("seen", "ahead")}
        return {**asdict(self), **points}


def growth(estimates: Sequence[Estimate]) -> Growth | None:
    """Return how precise a series of estimates became, and how the last one's errors would go on.

    The error of n judged items is taken for √(1/n − 1/N) of the set's N items, or √(1/n) for inputs like
    these, of what it is now: right where more is drawn as before. None where no interval can be told. It
    helps to decide whether another round is worth its price; ``plan`` says more, from a pilot.
    """
    seen = []
    for estimate in estimates:
        widths = (estimate.high - estimate.low) / 2
        widths = widths[np.isfinite(widths)]
        if estimate.target != CHOSEN_ITEMS and len(widths) and widths.max() > 0:
            seen.append(PrecisionPoint(estimate.n, float(widths.mean())))
            last = estimate
    if not seen:
        return None

    def spread(n: float) -> float:
        return 1.0 / n - (1.0 / last.size if last.target == "set" else 0.0)

    smallest, largest = max(10, last.n // 4), max(last.size, last.n)
    ahead: tuple[PrecisionPoint, ...] = ()
    if smallest < largest and spread(last.n) > 0:
        width = seen[-1].half_width
        numbers = np.unique(np.geomspace(smallest, largest, _POINTS).round().astype(int))
        ahead = tuple(
            PrecisionPoint(int(n), width * float(np.sqrt(max(spread(n), 0.0) / spread(last.n))))
            for n in numbers
        )
    return Growth(tuple(dict.fromkeys(seen)), ahead, last.level)
