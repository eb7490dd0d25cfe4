"""``pivotal``: a fixed number of units with any inclusion probabilities."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from sparingly.base.arrays import Mask
from sparingly.base.registry import register
from sparingly.choose.design.draw.pivotal import draw_pivotal
from sparingly.choose.design.probability_design import Frame, ProbabilityDesign


@register("pivotal")
@dataclass(frozen=True)
class Pivotal(ProbabilityDesign):
    """Draws so many units, likelier those with a higher utility, each with a known probability.

    π_i = min(1, (1 − τ)·n/N + τ·κ·u_i), κ such that Σ_i π_i = n; with costs u_i/√c_i and a budget that no
    draw exceeds. Units meet in random order; in each meeting one of the two is taken or left for good, and
    the other goes on with what remains.

    Choose it for informative items *and* unbiased scores. τ must be earned by the utility: with one that does
    not know where the models' scores vary, a uniform draw is better.
    """

    reference: ClassVar[str] = "Deville and Tillé 1998; Chauvet 2012"
    how: ClassVar[str] = "drawn by the pivotal method"

    def draw(self, frame: Frame, generator: np.random.Generator) -> Mask:
        """Draw in random order, or along the charges where these differ."""
        return draw_pivotal(frame.chances, generator, frame.dearest_first(generator))
