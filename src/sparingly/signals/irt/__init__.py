"""Item response theory: how hard an item is, how well it tells models apart, and how able the models are.

``fit_irt`` fits scores (plain arrays); ``fisher_information`` says what an item teaches about abilities;
``save_irt`` and ``load_irt`` keep a fit together with the ids of its items and models.
"""

from sparingly.signals.irt.fit import fit_irt
from sparingly.signals.irt.information import fisher_information
from sparingly.signals.irt.model import IrtFit, Parameters, log_loss
from sparingly.signals.irt.priors import BINARY, CONTINUOUS, Priors, default_priors
from sparingly.signals.irt.responses import scaled, success
from sparingly.signals.irt.saved import SavedIrt, load_irt, save_irt

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
