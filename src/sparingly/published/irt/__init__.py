"""Item response theory: how hard an item is, how well it tells models apart, and how able the models are.

``fit_irt`` fits scores (plain arrays); ``fisher_information`` says what an item teaches about abilities;
``save_irt`` and ``load_irt`` keep a fit together with the ids of its items and models.
"""

from sparingly.published.irt.fit import fit_irt
from sparingly.published.irt.model import (
    BINARY,
    CONTINUOUS,
    IrtFit,
    Parameters,
    Priors,
    default_priors,
    fisher_information,
    log_loss,
    scaled,
    success,
)
from sparingly.published.irt.saved import SavedIrt, load_irt, save_irt

__all__ = [
    "BINARY",
    "CONTINUOUS",
    "IrtFit",
    "Parameters",
    "Priors",
    "SavedIrt",
    "default_priors",
    "fisher_information",
    "fit_irt",
    "load_irt",
    "log_loss",
    "save_irt",
    "scaled",
    "success",
]
