"""What is ahead: the precision of any number of judged items, as the pilot makes it expect."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Literal

import numpy as np

from sparingly.base.errors import MissingDataError, UnknownNameError, UsageError
from sparingly.base.levels import check_level
from sparingly.infer.estimate.assemble import TARGETS, Target
from sparingly.infer.estimate.sample import Floats
from sparingly.infer.estimate.small_sample import FEWEST
from sparingly.infer.plan.pilot import Pilot
from sparingly.infer.plan.precision import Precision, detectable, fewest_items, half_width, precision

Unit = Literal["item", "document"]
UNITS = ("item", "document")
# Below this share of the variance, predictions are not worth their trouble.
WORTH_PREDICTING = 0.05
SURE_OF_WINNER = 0.9


@dataclass(frozen=True)
class Wanted:
    """What is asked of a plan.

    Attributes:
        width: The half-width that intervals of scores are to have; None where it does not matter.
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
        """Whether n judged items are enough to use them."""
        return self.predicts and self._units(n) >= FEWEST

    @cached_property
    def unequal(self) -> bool:
        """Whether unequal probabilities are worth it."""
        told = self.pilot.unequal
        return self.predicts and self.wanted.unit == "item" and told is not None and told.earned

    def precision(self, n: int) -> Precision:
        """Return what n judged items tell."""
        found = precision(
            self.pilot.scores,
            self._spread(n),
            self.pilot.size,
            n,
            design_effect=self._effect(n),
            beyond=self._beyond,
            level=self.wanted.level,
            power=self.wanted.power,
            seed=self.wanted.seed,
        )
        return found if self.seconds is None else replace(found, hours=n * self.seconds / 3600)

    def half_width(self, n: int) -> float:
        """Return the half-width of a score's interval after n judged items."""
        return half_width(self._covariance(n), self.wanted.level)

    def detectable(self, n: int) -> float:
        """Return the smallest difference that n judged items find."""
        beyond = 0.0 if self._beyond is None else self._beyond
        return detectable(self._covariance(n) + beyond, self.wanted.level, self.wanted.power)

    def needed(self) -> int | None:
        """Return the fewest items for all that is wanted, or for a sure winner where nothing is.

        None where all items together are not enough, or with one model and nothing wanted.
        """
        found: list[int | None] = []
        if self.wanted.width is not None:
            found.append(fewest_items(self.half_width, self.wanted.width, self.pilot.size))
        if self.wanted.detect is not None:
            found.append(fewest_items(self.detectable, self.wanted.detect, self.pilot.size))
        if not found and self.pilot.models > 1:
            found.append(
                fewest_items(
                    lambda n: 1.0 - self.precision(n).right_winner, 1.0 - SURE_OF_WINNER, self.pilot.size
                )
            )
        known = [n for n in found if n is not None]
        return max(known) if found and len(known) == len(found) else None

    @property
    def _beyond(self) -> Floats | None:
        return self.pilot.beyond if self.wanted.target == "population" else None

    def _covariance(self, n: int) -> Floats:
        return self._effect(n) * (1 - n / self.pilot.size) * self._spread(n) / n

    def _spread(self, n: int) -> Floats:
        """Return the spread that is left to chance: with few units, no prediction is used."""
        spread = self.pilot.left if self.uses_predictions(n) else self.pilot.plain
        drawn_whole = self.wanted.unit == "document" and self.pilot.documents is not None
        return self.pilot.documents.raised(spread) if drawn_whole and self.pilot.documents else spread

    def _effect(self, n: int) -> float:
        if not self.unequal or self.pilot.unequal is None or not self.uses_predictions(n):
            return 1.0
        return self.pilot.unequal.effect(n)

    def _units(self, n: int) -> float:
        """Return how many units so many items are."""
        if self.wanted.unit == "item" or self.pilot.sample.document is None:
            return float(n)
        return n * len(np.unique(self.pilot.sample.document)) / self.pilot.size
