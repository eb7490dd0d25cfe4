"""``irt``: prefer items that item response theory finds hard, telling, feasible or informative."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError
from sparingly.base.registry import parameter, register
from sparingly.choose.utility.base import MetricUtility
from sparingly.data.evalset import EvalSet
from sparingly.published.irt import IrtFit, fisher_information, fit_irt


@register("irt")
@dataclass(frozen=True)
class Irt(MetricUtility):
    """Prefers items that item response theory finds both difficult and discriminating.

    r̂_ij = c_i σ(a_i (θ_j − b_i)) is fitted to the metric's scores, scaled to 0–1 with normal noise, or cut
    into success and failure; u_i = a_i b_i (diffdisc), b_i, a_i, c_i, or the Fisher information
    Σ_j a_i² σ (1 − σ) (published; exact: Σ_j (∂r̂_ij/∂θ_j)²/s²).

    Choose it when the metric is reliable. An item on which better models do worse has a negative
    discrimination, and so a low utility however hard it is.
    """

    reference: ClassVar[str] = "Zouhar et al. 2025, eq. 7–9 and 14–16"
    compares_models: ClassVar[bool] = True

    utility: Literal["diffdisc", "difficulty", "discrimination", "feasibility", "information"] = parameter(
        "diffdisc", "what is preferred: discrimination x difficulty, one of the parameters, or information"
    )
    response: Literal["continuous", "binary"] = parameter(
        "continuous", "whether scores are fitted as they are or as success and failure"
    )
    threshold: float | None = parameter(None, "binary: a score above it is a success; default: the median")
    fit: Literal["variational", "map"] = parameter(
        "variational", "the evidence lower bound is maximised, or (faster) the posterior density"
    )
    information: Literal["published", "exact"] = parameter(
        "published", "the information of eq. 15, or that of the fitted response with feasibility and noise"
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.threshold is not None and self.response != "binary":
            raise UsageError("A threshold cuts scores into success and failure: use it with response=binary.")
        if self.information != "published" and self.utility != "information":
            raise UsageError("The form of information= is for utility=information.")

    def values(self, data: EvalSet) -> Floats:
        """Return the chosen number of every item."""
        scores = self.scores(data)
        if np.isnan(scores).all():
            return np.full(len(scores), np.nan)
        return self.of_fit(self.fit_scores(scores))

    def fit_scores(self, scores: Floats) -> IrtFit:
        """Return the model that the utility is computed from, for scores that are items x models."""
        return fit_irt(scores, method=self.fit, response=self.response, threshold=self.threshold)

    def of_fit(self, fit: IrtFit) -> Floats:
        """Return the utility of every item of a fitted model."""
        if self.utility == "information":
            return fisher_information(fit, self.information)
        if self.utility == "diffdisc":
            return np.asarray(fit.discrimination * fit.difficulty)
        values: Floats = getattr(fit, self.utility)
        return values
