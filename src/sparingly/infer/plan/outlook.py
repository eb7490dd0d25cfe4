"""What is ahead: the precision of any number of judged items, as the pilot makes it expect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.levels import check_level
from sparingly.data.combine import truth_scale
from sparingly.infer.estimate.assemble import TARGETS, Target
from sparingly.infer.estimate.guard import LEAST
from sparingly.infer.plan.ahead import Ahead, default_places
from sparingly.infer.plan.pilot import Pilot
from sparingly.infer.plan.power import detectable
from sparingly.infer.plan.precision import Precision, fewest_items, order_chances

Unit = Literal["item", "document"]
UNITS = ("item", "document")
# Below this share of the variance, predictions are not worth their trouble.
WORTH_PREDICTING = 0.05
SURE_OF_WINNER = 0.9


@dataclass(frozen=True)
class Wanted:
    """What is asked of a plan.

    Attributes:
        width: The half-width (±) that intervals of scores are to have; None where it does not matter.
        detect: The difference between two models that is to be found; None likewise.
        unit: What is drawn: items, or whole documents.
        target: Whether differences on this ``set`` or on inputs like these (``population``) are to be found.
        level: The level of intervals and tests.
        power: The chance with which a difference is to be found.
        seed: Of all that is drawn.
    """

    width: float | None = None
    detect: float | None = None
    unit: Unit = "item"
    target: Target = "population"
    level: float = 0.95
    power: float = 0.8
    seed: int = 0

    def __post_init__(self) -> None:
        check_level(self.level)
        if not 0.0 < self.power < 1.0:
            raise UsageError(f"The power is a chance between 0 and 1, such as 0.8, not {self.power:g}.")
        for name, kinds in (("unit", UNITS), ("target", TARGETS)):
            if getattr(self, name) not in kinds:
                raise UnknownNameError(name, getattr(self, name), kinds)
        for what, value in (("width", self.width), ("difference", self.detect)):
            if value is not None and not (np.isfinite(value) and value > 0):
                raise UsageError(f"The {what} that is wanted is a number above zero, not {value:g}.")

    @property
    def for_differences(self) -> bool:
        """Whether differences between models matter, rather than scores."""
        return self.detect is not None and self.width is None


@dataclass(frozen=True, eq=False)
class Outlook:
    """The precision of any number of judged items."""

    pilot: Pilot
    wanted: Wanted
    seconds: float | None = None

    def __post_init__(self) -> None:
        if self.wanted.unit == "document" and self.pilot.documents is None:
            raise MissingDataError(
                "A plan for whole documents needs a pilot with several judged items in the same documents."
            )
        if self.wanted.detect is not None and self.pilot.models < 2:
            raise UsageError("There is one model, so there is no difference to find. Give a width instead.")

    @cached_property
    def predicts(self) -> bool:
        """Whether predictions from the metrics are worth it."""
        saving = self.pilot.saving
        return saving is not None and max(saving.scores, saving.differences) >= WORTH_PREDICTING

    def uses_predictions(self, n: int) -> bool:
        """Whether an estimate from n judged items uses them."""
        return self.ahead.uses_predictions(n)

    @cached_property
    def ahead(self) -> Ahead:
        """The pilot, ready to be cut into samples by the default design."""
        pilot, documents = self.pilot, self.pilot.documents if self.wanted.unit == "document" else None
        # A metric that stands in for people would be spread over itself.
        places = None if pilot.stands_in else default_places(pilot.data, self.wanted.unit)
        return Ahead(
            replace(pilot.sample, coordinates=None if places is None else places[pilot.sample.rows]),
            pilot.predicted if self.predicts else None,
            pilot.lost,
            documents,
            pilot.beyond if self.wanted.target == "population" else None,
            self.wanted.level,
            truth_scale(pilot.data, pilot.truth),
            self.wanted.seed,
        )

    @cached_property
    def unequal(self) -> bool:
        """Whether unequal probabilities are worth it."""
        found = self.pilot.unequal
        return self.predicts and self.wanted.unit == "item" and found is not None and found.earned

    def precision(self, n: int) -> Precision:
        """Return what n judged items tell."""
        if not 1 <= n <= self.pilot.size:
            raise UsageError(f"A plan for {n} of {self.pilot.size} items cannot be made.")
        smallest = self.detectable(n) if self.pilot.models > 1 else float("nan")
        winner, pairs, order = order_chances(self.pilot.scores, self.ahead.at(n).covariance, self.wanted.seed)
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
        return self.ahead.at(n).half_width

    def detectable(self, n: int) -> float:
        """Return the smallest difference that n judged items find; infinite where no difference would do."""
        covariance, beyond = self.ahead.at(n).covariance, self.ahead.beyond
        covariance = covariance if beyond is None else covariance + beyond
        return detectable(covariance, self.ahead.deciding_ratio(n), self.wanted.power)

    def needed(self) -> int | None:
        """Return the fewest items for all that is wanted, or for a sure winner where nothing is.

        None where all items together are not enough, or with one model and nothing wanted.
        """
        size, counts = self.pilot.size, list[int | None]()
        if self.wanted.width is not None:
            counts.append(fewest_items(self.half_width, self.wanted.width, size))
        if self.wanted.detect is not None:
            counts.append(fewest_items(self.detectable, self.wanted.detect, size))
        if not counts and self.pilot.models > 1:
            counts.append(
                fewest_items(lambda n: 1.0 - self.precision(n).right_winner, 1.0 - SURE_OF_WINNER, size)
            )
        enough = [n for n in counts if n is not None]
        # Below 10 units nothing is printed, so nothing is planned there.
        return max(*enough, self.ahead.items(LEAST)) if counts and len(enough) == len(counts) else None
