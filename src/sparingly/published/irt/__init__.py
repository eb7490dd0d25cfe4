"""Item response theory: how hard an item is, how well it tells models apart, and how able the models are.

``fit_irt`` fits scores (plain arrays); ``fisher_information`` says what an item teaches about abilities.
"""

from sparingly.published.irt.fit import fit_irt
from sparingly.published.irt.model import (
    BINARY,
    CONTINUOUS,
    IrtFit,
    Parameters,
    Priors,
    fisher_information,
    scaled,
    success,
)

__all__ = [
    "BINARY",
    "CONTINUOUS",
    "IrtFit",
    "Parameters",
    "Priors",
    "fisher_information",
    "fit_irt",
    "scaled",
    "success",
]
