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
from itertools import islice

import numpy as np

from sparingly.base import rng
from sparingly.base.arrays import Floats, Ints
from sparingly.base.stats.cluster_correction import cluster_correction
from sparingly.choose.auto import automatic
from sparingly.choose.design.budget import Budget
from sparingly.choose.design.probability_design import DrawDesign
from sparingly.data.evalset import EvalSet
from sparingly.infer.estimate.guard import LEAST
from sparingly.infer.estimate.intervals import find_intervals
from sparingly.infer.estimate.linear import Linear, difference_form
from sparingly.infer.estimate.pairs import PairErrors, spread_of
from sparingly.infer.estimate.population import joined_freedom, population_errors
from sparingly.infer.estimate.sample import Sample
from sparingly.infer.estimate.scale import Scale, proportions_of, values_of
from sparingly.infer.estimate.small_sample import FEWEST
from sparingly.infer.estimate.variance import Errors, set_errors
from sparingly.infer.plan.power import deciding_ratios, pair_level
from sparingly.infer.plan.spread import Documents

# Beyond so many units only the variance changes.
_MOST_UNITS = 20_000
# So many judged items are looked at in all, in so many parts at least and at most.
_ITEMS, _FEWEST_PARTS, _MOST_PARTS = 2400, 24, 200
# In so many parts it is tried from which difference on models are decided.
_PARTS_RANKED = 12


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
        beyond: models × models: what scores of inputs like these vary beyond those of this set; None where
            differences speak of this set.
        level: The level of the intervals.
        scale: The lowest and the highest score that there can be; None where it is not known.
        seed: Of the parts.
    """

    sample: Sample
    predicted: Floats | None = None
    lost: float = 0.0
    documents: Documents | None = None
    beyond: Floats | None = None
    level: float = 0.95
    scale: Scale | None = None
    seed: int = 0
    _seen: dict[int, Printed] = field(default_factory=dict)
    _ratios: dict[int, float] = field(default_factory=dict)

    def at(self, n: int) -> Printed:
        """Return what n judged items would print."""
        if n not in self._seen:
            self._seen[n] = self._found(n)
        return self._seen[n]

    def deciding_ratio(self, n: int) -> float:
        """Return from how many standard errors on ``rank`` decides a difference after n judged items.

        The median over pairs, both directions and some parts of the pilot; 0 where nothing is left to chance.
        """
        if n >= self.sample.size and self.beyond is None:
            return 0.0
        if n not in self._ratios:
            near = min(n, self.items(_MOST_UNITS))
            some = islice(self._parts(near), _PARTS_RANKED)
            self._ratios[n] = float(np.median([self._ratios_of(part, near) for part in some]))
        return self._ratios[n]

    def _ratios_of(self, part: Sample, n: int) -> Floats:
        """Return the ratios of a part that stands for n judged items: directions × pairs."""
        errors, values = self._pair_errors(part, n), values_of(part.scores[part.judged], self.scale)
        pairs = PairErrors(
            part,
            errors,
            errors,
            self.level,
            "auto",
            self.seed,
            whole=False,
            bounded=None,
            scale=values.scale,
            two_valued=values.two_valued,
        )
        return deciding_ratios(pairs, pair_level(self.sample.models, self.level))

    def _pair_errors(self, part: Sample, n: int) -> Errors:
        """Return the errors after n judged items, for what differences speak of.

        Of inputs like these: V̂_set + V̂_inputs, with the contributions of a part of the pilot, repeated, and
        the degrees of freedom of a random draw from the set's own documents.
        """
        over_set, count = self._judged(part, n)[1], len(part.rows)
        if self.beyond is None:
            return over_set
        own = part if count == n else _as_drawn(part, np.arange(count), count / part.size)
        linear = self._linear(own, n)
        errors = population_errors(own, linear)
        if count == n and self.documents is None:
            return errors
        covariance = self.at(n).covariance + self.beyond
        document, freedom, units = self.sample.document, max(n - linear.parameters, 0.0), float(n)
        if document is None:
            return _grown(errors, covariance, freedom, units, n / count)
        freedom, seen = self._documents_seen(document, n)
        times, units = seen / len(np.unique(document[part.rows])), seen
        if self.documents is None:
            share = float(np.trace(over_set.covariance) / max(np.trace(covariance), 1e-300))
            freedom, units = joined_freedom(share, over_set, freedom, seen, len(np.unique(document)))
        return _grown(errors, covariance, freedom, units, times)

    def _documents_seen(self, document: Ints, n: int) -> tuple[float, float]:
        """Return the degrees of freedom and the number of the documents that n random items are from.

        Where whole documents are drawn, of as many as n items fill.
        """
        generator = rng.generator(self.seed, "documents")
        items = np.bincount(document[generator.permutation(self.sample.size)[:n]])
        if self.documents is not None:
            items = generator.permutation(np.bincount(document))[: self.units(n)]
        seen = items[items > 0].astype(np.float64)[:, None]
        return float(cluster_correction(seen, seen)[1][0]), float(len(seen))

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
        values = values_of(part.scores[part.judged], self.scale)
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


def _as_drawn(sample: Sample, places: Ints, share: float) -> Sample:
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


def _grown(errors: Errors, covariance: Floats, freedom: float, units: float, times: float) -> Errors:
    """Return errors with another covariance, to which so many times as many inputs contribute alike."""
    rows = np.arange(max(round(times * len(errors.shape)), 1)) % len(errors.shape)
    before, after = (float((part**2).sum()) for part in (errors.shape, errors.shape[rows]))
    wider = np.trace(covariance) / max(float(np.trace(errors.covariance)), 1e-300)
    return replace(
        errors,
        covariance=covariance,
        freedom=freedom,
        units=units,
        shape=errors.shape[rows] * np.sqrt(wider * before / max(after, 1e-300)),
        stratum=errors.stratum[rows],
        judged=None,
    )


def _by_documents(errors: Errors, documents: Documents, share: float) -> Errors:
    """Return the errors of whole documents, from those of as many items; ``share`` is documents by items."""
    covariance = documents.raised(errors.covariance) * share
    own = np.sqrt(np.diag(covariance) / np.maximum(np.diag(errors.covariance), 1e-300))
    return replace(errors, covariance=covariance, shape=errors.shape * own)
