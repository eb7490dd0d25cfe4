"""What ``estimate`` would print after n judged items, tried on parts of a pilot.

No formula of its own: a part of the pilot is made a sample of n items by the default design, and its
intervals are found by the functions that ``estimate`` calls. So a plan sees all that they do about few
judgements, long tails, proportions, predictions and spread draws.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from sparingly.base import rng
from sparingly.choose.auto import automatic
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.guard import LEAST
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.pairs import spread_of
from sparingly.infer.estimate.sample import Floats, Rows, Sample
from sparingly.infer.estimate.scale import proportions_of, values_of
from sparingly.infer.estimate.small_sample import FEWEST
from sparingly.infer.estimate.variance import Errors, set_errors
from sparingly.infer.plan.spread import Documents

# Beyond so many units only the variance changes.
_MOST_UNITS = 20_000
# So many judged items are looked at in all, in so many parts at least and at most.
_ITEMS, _FEWEST_PARTS, _MOST_PARTS = 8000, 24, 500


def default_places(data: EvalSet, unit: str) -> Floats | None:
    """Return where items lie in the space over which the default design spreads; None where it does not."""
    budget = Budget.parse(min(FEWEST, len(data)))
    design = automatic(data, budget, unit=unit).method
    if unit != "item" or not isinstance(design, DrawDesign):
        return None
    settled = design.resolve(data, budget)
    return settled.coordinates(data) if isinstance(settled, DrawDesign) else None


@dataclass(frozen=True, eq=False)
class Printed:
    """What would be printed.

    Attributes:
        half_width: Half the width of a score's interval, the median over models and parts of the pilot; NaN
            where no interval would be printed.
        covariance: models × models, of the scores of this set.
        freedom: Degrees of freedom.
    """

    half_width: float
    covariance: Floats
    freedom: float


@dataclass(frozen=True, eq=False)
class Ahead:
    """A pilot, ready to be cut into samples of any size.

    Attributes:
        sample: The pilot, with the places of its items in the space over which the default design spreads.
        predicted: N × models: what was learned from the metrics; None where that is not worth it.
        lost: The share of the variance that predictions learned from 30 items explain less than these ones,
            of what these explain.
        documents: What drawing whole documents does; None where single items are drawn.
        level: The level of the intervals.
        seed: Of the parts.
    """

    sample: Sample
    predicted: Floats | None = None
    lost: float = 0.0
    documents: Documents | None = None
    level: float = 0.95
    seed: int = 0
    _seen: dict[int, Printed] = field(default_factory=dict)

    def at(self, n: int) -> Printed:
        """Return what n judged items would print."""
        if n not in self._seen:
            self._seen[n] = self._found(n)
        return self._seen[n]

    @cached_property
    def length(self) -> float:
        """The mean number of items in a unit."""
        if self.documents is None or self.sample.document is None:
            return 1.0
        return self.sample.size / len(np.unique(self.sample.document))

    def units(self, n: int) -> int:
        """Return how many units n judged items are: themselves, or as many documents as they fill."""
        return max(1, round(n / self.length))

    def items(self, units: int) -> int:
        """Return how many items so many units are, at most all of them."""
        return min(self.sample.size, math.ceil(units * self.length))

    def uses_predictions(self, n: int) -> bool:
        """Whether an estimate from n judged items uses predictions."""
        return self.predicted is not None and self.units(n) >= FEWEST

    def _found(self, n: int) -> Printed:
        if n >= self.sample.size:
            nothing = np.zeros((self.sample.models, self.sample.models))
            return Printed(0.0, nothing, np.inf)
        if self.units(n) > _MOST_UNITS:
            return self._scaled(n)
        halves, covariances, freedom = [], [], 0.0
        for part in self._parts(n):
            scores, errors = self._judged(part, n)
            if self.units(n) >= LEAST:
                halves.append(self._halves(_repeated(part, self.units(n)), scores, errors))
            covariances.append(errors.covariance)
            freedom = errors.freedom
        typical = float(np.nanmedian(halves)) if np.isfinite(halves).any() else float("nan")
        return Printed(typical, np.mean(covariances, axis=0), freedom)

    def _scaled(self, n: int) -> Printed:
        """Return what very many units would print, from what many do: errors go with √(1/n − 1/N)."""
        near, size = self.items(_MOST_UNITS), self.sample.size
        known, times = self.at(near), (1.0 / n - 1.0 / size) / (1.0 / near - 1.0 / size)
        return Printed(known.half_width * float(np.sqrt(times)), known.covariance * times, known.freedom)

    def _parts(self, n: int) -> Iterator[Sample]:
        """Yield parts of the pilot as samples with probability n/N; all of it for many units or too few."""
        count, units = len(self.sample.rows), self.units(n)
        share = n / self.sample.size
        if not LEAST <= units < count:
            yield _as_drawn(self.sample, np.arange(count), share)
            return
        parts = int(np.clip(_ITEMS / units, _FEWEST_PARTS, _MOST_PARTS))
        generator = rng.generator(self.seed, "ahead")
        raised = 1.0 / self.sample.draw
        for _ in range(parts):
            # The same order for every n, so that a longer part holds the shorter one.
            order = np.argsort(generator.exponential(size=count) / raised, kind="stable")
            yield _as_drawn(self.sample, np.sort(order[:units]), share)

    def _judged(self, part: Sample, n: int) -> tuple[Floats, Errors]:
        """Return the scores and their errors as an estimate from n items would have them."""
        linear = self._linear(part, n)
        errors = set_errors(part, linear)
        if self.documents is not None:
            errors = _by_documents(errors, self.documents, self.units(n) / n)
        return linear.scores(part), _more(errors, self.units(n) / len(part.rows))

    def _linear(self, part: Sample, n: int) -> Linear:
        if not self.uses_predictions(n) or self.predicted is None:
            return difference_form(part)
        return difference_form(part, self.predicted * self._slope(n), parameters=2.0)

    def _slope(self, n: int) -> float:
        """Return the slope that leaves as much of the variance as predictions learned from n items leave.

        What they lose falls with 1/n, from ``lost`` at 30 items to nothing at the pilot's size; a slope λ
        loses (1 − λ)² of what predictions explain.
        """
        count = len(self.sample.rows)
        if n >= count or count <= FEWEST:
            return 1.0
        lost = self.lost * (1.0 / n - 1.0 / count) / (1.0 / FEWEST - 1.0 / count)
        return 1.0 - float(np.sqrt(np.clip(lost, 0.0, 1.0)))

    def _halves(self, part: Sample, scores: Floats, errors: Errors) -> Floats:
        """Return the half-widths of the intervals that would be printed, by model."""
        values = values_of(part, None)
        spread = replace(
            spread_of(
                [str(model) for model in range(part.models)],
                scores,
                errors.standard_errors,
                errors.shape,
                errors,
                False,
            ),
            scale=values.scale,
            proportions=proportions_of(part, errors, scores, values, "set"),
        )
        found = find_intervals(spread, self.level, "auto", self.seed)
        return np.asarray((found.high - found.low) / 2.0)


def _as_drawn(sample: Sample, places: Rows, share: float) -> Sample:
    """Return some of a pilot's items as a uniform or spread sample with one probability, nothing missing."""
    return Sample(
        rows=sample.rows[places],
        scores=sample.scores[places],
        probability=np.full((len(places), sample.models), share),
        size=sample.size,
        draw=np.full(len(places), share),
        unit=np.arange(len(places)),
        stratum=np.zeros(len(places), np.int64),
        weights=sample.weights,
        document=sample.document,
        coordinates=None if sample.coordinates is None else sample.coordinates[places],
    )


def _repeated(part: Sample, units: int) -> Sample:
    """Return a sample of so many units, those of a part over and over."""
    count = len(part.rows)
    return part if units == count else _as_drawn(part, np.arange(units) % count, float(part.draw[0]))


def _more(errors: Errors, times: float) -> Errors:
    """Return the errors of so many times as many units that vary alike."""
    if times == 1.0:
        return errors
    units = round(times * len(errors.shape))
    again = np.arange(units) % len(errors.shape)
    return replace(
        errors,
        covariance=errors.covariance / times,
        freedom=errors.freedom + units - len(errors.shape),
        units=errors.units * times,
        shape=errors.shape[again] / times,
        stratum=errors.stratum[again],
        judged=errors.counts * times,
    )


def _by_documents(errors: Errors, documents: Documents, share: float) -> Errors:
    """Return the errors of whole documents, from those of as many items; ``share`` is documents by items."""
    covariance = documents.raised(errors.covariance) * share
    own = np.sqrt(np.diag(covariance) / np.maximum(np.diag(errors.covariance), 1e-300))
    return replace(errors, covariance=covariance, shape=errors.shape * own)
