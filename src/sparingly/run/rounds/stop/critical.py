"""The error that each of several comparisons may make so that all of them together keep theirs."""

from __future__ import annotations

from typing import Literal

import numpy as np

from sparingly.base.arrays import Mask

Question = Literal["all", "order", "best"]


def pair_level(pairs: Mask, alpha: float, question: Question = "all") -> float:
    """Return the two-sided level of each comparison, so that together they err with probability α or less.

    ``all``: α over the number of pairs that are compared (Bonferroni; Holm 1979 where the pairs are those
    still open). ``order``: no two models are equal, so that a pair can err on one side only: twice that.
    ``best``: a best model is wrongly left out when any of its k comparisons errs on one side, with
    probability α/2 at α/k each. To name one of m equally good best models, m − 1 of them must be left out, so
    that happens with probability m/(m − 1)·α/2 ≤ α; with two models this is the two-sided test.

    It holds however few items there are. The largest t statistic under N(0, Σ̂) would ask for about 3 % less
    with many items, but with few items for many models Σ̂ is nearly singular, and it errs twice too often.

    Args:
        pairs: models × models: what is compared; a pair in either direction is one pair.
        alpha: The error of all comparisons together.
        question: Whether all pairs are to be told apart or put in order, or the best model found.
    """
    both = np.asarray(pairs | pairs.T)
    np.fill_diagonal(both, False)
    if question == "best":
        return alpha / max(int(both.sum(axis=1).max(initial=0)), 1)
    level = alpha / max(int(both.sum()) // 2, 1)
    return min(2.0 * level, 0.99) if question == "order" else level
