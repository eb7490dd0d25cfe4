"""When two scores count as equal: the one rule behind preferences, winners and winning distances.

Ashury Tahan et al. 2024 (Label-Efficient Model Selection for Text Generation, section 5) call two outputs
tied when their scores are close. Everything that turns scores into wins asks here, so that a set's
preferences and the winners of a comparison never disagree about a pair.
"""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats
from sparingly.base.errors import UsageError

# Scores such as 0.4 and 0.3 differ by a little more or less than 0.1 in binary.
_SLACK = 1e-9


def preferred(differences: Floats, tie: float = 0.0) -> Floats:
    """Return who wins by each difference of two scores: 1 the first, -1 the second, 0 a tie, NaN unknown.

    A tie is |difference| <= tie, where the width is taken a billionth larger than it is written.
    """
    check_tie(tie)
    return np.where(np.abs(differences) <= tie * (1.0 + _SLACK), 0.0, np.sign(differences))


def check_tie(tie: float) -> None:
    """Complain about a tie width that is negative or not a number."""
    if not tie >= 0.0:
        raise UsageError(f"The tie width is zero or more, not {tie}.")
