"""What is believed of items and models before any score is seen.

All four are normal: discrimination a, difficulty b, the logit of feasibility c, and ability θ (Zouhar et al.
2025, appendix C, name the normal for a, b and θ and give no numbers). Difficulty and ability have mean 0 and
standard deviation 1, which fixes the origin and the unit of the scale: the response does not change when both
are shifted, or stretched while a shrinks. The positive mean of a fixes its sign.

Scores that were cut into yes and no follow ability much more steeply than scores do, and say little about
where a curve levels off; so the binary form believes in steeper curves and hardly anything about c.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from sparingly.base.arrays import Floats

Response = Literal["continuous", "binary"]
Normal = tuple[float, float]


@dataclass(frozen=True)
class Priors:
    """The mean and standard deviation of every parameter.

    Attributes:
        discrimination: Of a.
        difficulty: Of b.
        logit_feasibility: Of log c/(1 − c).
        ability: Of θ.
        noise: The standard deviation of the noise, believed as firmly as if it had been seen in
            ``noise_weight`` scores; it keeps the noise of a tiny set above 0.
        noise_weight: How many scores that belief is worth.
    """

    discrimination: Normal = (1.0, 0.75)
    difficulty: Normal = (0.0, 1.0)
    logit_feasibility: Normal = (2.5, 1.0)
    ability: Normal = (0.0, 1.0)
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
