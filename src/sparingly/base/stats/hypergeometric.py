"""How likely a lead in votes is by chance: the reliability threshold of iterative selection."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats


def chance_of_lead(items: int, judged: NDArray[np.int64], votes: NDArray[np.int64]) -> Floats:
    """Return P(X ≥ k) for X hypergeometric: k of n votes by chance, were the models equal.

    sf(k − 1; N, K = N/2, n), with N items, of which half are won by each model, n judged ones (ties count)
    and k votes for the model that leads (Ashury Tahan et al. 2024, appendix A.3). K is rounded up for an odd
    N. A heuristic: it assumes a random sample that is looked at once, and iterative selection is neither.

    Examples:
        >>> import numpy as np, sparingly
        >>> float(sparingly.chance_of_lead(500, np.array(10), np.array(8)).round(4))
        0.0529
    """
    from scipy.stats import hypergeom

    return np.asarray(hypergeom.sf(np.asarray(votes) - 1, items, -(-items // 2), judged), np.float64)
