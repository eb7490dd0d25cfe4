"""Non-inferiority and equivalence: is a model no worse than another by more than a margin?"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Literal

from sparingly.base.errors import UsageError

Question = Literal["non-inferior", "equivalent", "superior"]


@dataclass(frozen=True)
class MarginTest:
    """The answer to a question with a margin about one model against another.

    Attributes:
        question: ``non-inferior``: not worse by the margin or more; ``equivalent``: within the margin on both
            sides; ``superior``: better by more than the margin.
        model: The model that the question is about.
        against: The model that it is compared with.
        margin: The margin, in the unit of the scores.
        difference: Score of ``model`` minus score of ``against``.
        error: Standard error of the difference.
        p_value: The p-value of the test; the larger of two for equivalence.
        alpha: The error rate.
    """

    question: Question
    model: str
    against: str
    margin: float
    difference: float
    error: float
    p_value: float
    alpha: float

    @property
    def shown(self) -> bool:
        """Whether the judgements show it; what is not shown is not disproved."""
        return self.p_value < self.alpha

    def __str__(self) -> str:
        verb = "is" if self.shown else "was not shown to be"
        by = "by more than" if self.question == "superior" else "within"
        return (
            f"{self.model} {verb} {self.question} to {self.against} {by} {self.margin:g} "
            f"(difference {self.difference:.4g}, standard error {self.error:.3g}, p = {self.p_value:.3g})"
        )


def margin_test(
    question: Question,
    difference: float,
    error: float,
    margin: float,
    *,
    degrees: float = math.inf,
    alpha: float = 0.05,
    model: str = "model",
    against: str = "other",
    certain: bool = True,
) -> MarginTest:
    """Test a question with a margin from an estimated difference and its standard error.

    Non-inferiority: H₀ d ≤ −m, t = (d̂ + m)/se. Superiority: H₀ d ≤ m, t = (d̂ − m)/se. Equivalence: two
    one-sided tests (Schuirmann 1987), both must reject; their larger p-value is given. A release gate asks
    for non-inferiority with the margin that users would not notice. An error of 0 decides only where nothing
    is left to chance (``certain``); else it shows nothing.

    Examples:
        >>> import sparingly
        >>> sparingly.margin_test("non-inferior", difference=-0.5, error=0.4, margin=2.0).shown
        True
    """
    if not math.isfinite(margin) or margin < 0 or (margin == 0 and question == "equivalent"):
        raise UsageError(f"The margin is a number above zero in the unit of the scores, not {margin:g}.")
    if not math.isfinite(difference) or not error >= 0:
        raise UsageError(f"{model} and {against} have no known difference, so no margin can be tested.")
    above, below, beyond = (
        _upper_tail(distance, error, degrees) if certain or error > 0 else 1.0
        for distance in (difference + margin, margin - difference, difference - margin)
    )
    p_value = {"non-inferior": above, "equivalent": max(above, below), "superior": beyond}[question]
    return MarginTest(question, model, against, margin, difference, error, p_value, alpha)


def _upper_tail(distance: float, error: float, degrees: float) -> float:
    """Return P(T > distance / error); without any error the sign of the distance decides."""
    from scipy.stats import norm, t

    if error == 0:
        return 0.0 if distance > 0 else 1.0
    ratio = distance / error
    return float(norm.sf(ratio) if math.isinf(degrees) else t.sf(ratio, degrees))
