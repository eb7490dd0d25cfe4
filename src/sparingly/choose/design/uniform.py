"""``uniform``: every unit is as likely as any other, whatever is drawn and whatever it costs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Mask
from sparingly.base.registry import register
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.probability_design import DrawDesign, Frame


@register("uniform")
@dataclass(frozen=True)
class Uniform(DrawDesign):
    """Draws items (or documents) with equal probabilities, also under a cost.

    π_i = n / N, and a simple random sample of n units. Where units differ in what the budget counts of them
    (costs, or documents of different sizes), n is as large as the budget surely affords, and the units meet
    in the order of their costs, so that each draw gets its share of dear and of cheap ones.

    Choose it when nothing is known, or nothing that has earned trust: scores are unbiased and intervals
    exact. ``random`` is the baseline that takes until the budget is spent, and then knows no probabilities.
    """

    reference: ClassVar[str] = "Cochran 1977, chapter 2; Deville and Tillé 1998 where costs differ"
    how: ClassVar[str] = "drawn uniformly"

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw a simple random sample, or along the charges where these differ."""
        if frame.charges is not None:
            return draw_pivotal(frame.chances, generator, frame.dearest_first(generator))
        taken = np.zeros(len(frame.chances), bool)
        taken[generator.permutation(len(taken))[: frame.count]] = True
        return taken
