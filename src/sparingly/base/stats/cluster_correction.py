"""The bias of a sum of squares over documents of unequal length, and its degrees of freedom."""

from __future__ import annotations

import numpy as np

from sparingly.base.arrays import Floats

# The assumed correlation of two items of a document. With 10 to 60 documents whose lengths differ as those of
# texts do, a true .1 to .6 leaves the factor right within 4 % and the degrees of freedom within 20 %.
INTRACLASS = 0.3


def cluster_correction(heft: Floats, squares: Floats, alike: float = INTRACLASS) -> tuple[Floats, Floats]:
    """Return κ and the degrees of freedom of κ Σ_d ψ_d², by column, for sums ψ_d of residuals from a mean.

    Document d stands for h_d (Σ 1/π of its judged items), a part p_d of all, and its sum varies by v_d =
    (1 − ρ) q_d + ρ h_d² with q_d = Σ 1/π². Taking off the mean leaves ψ_d = t_d − p_d Σt, so that E Σψ² =
    Σ v_d (1 − 2p_d + P) with P = Σp²; κ puts Σv in its place. The degrees of freedom are tr(A)²/tr(A²),
    A = √v (I − p1ᵀ − 1pᵀ + P·11ᵀ) √v (Bell and McCaffrey 2002; Imbens and Kolesár 2016). Equal documents give
    G/(G − 1) and G − 1; less than two documents give 1 and 0. Supports: how wide an interval must be that is
    learned from few documents of which some are long.

    ``heft`` is h and ``squares`` is q, documents × columns; ``alike`` is ρ.

    Examples:
        >>> import numpy as np
        >>> from sparingly.base.stats.cluster_correction import cluster_correction
        >>> lengths = np.array([[20.0], [5.0], [5.0], [5.0], [5.0]])
        >>> factor, freedom = cluster_correction(lengths, lengths)
        >>> float(factor[0].round(2)), float(freedom[0].round(2))
        (2.01, 2.27)
    """
    factor, freedom = np.ones(heft.shape[1]), np.zeros(heft.shape[1])
    several = (heft > 0).sum(axis=0) > 1
    heft = heft[:, several]
    v = (1.0 - alike) * squares[:, several] + alike * heft**2
    p = heft / heft.sum(axis=0)
    sum_v, sum_vp, sum_vpp = v.sum(axis=0), (v * p).sum(axis=0), (v * p**2).sum(axis=0)
    sum_pp = (p**2).sum(axis=0)
    trace = (v * (1.0 - 2.0 * p + sum_pp)).sum(axis=0)
    square_trace = (
        sum_pp**2 * sum_v**2 + 2.0 * sum_v * sum_vpp - 4.0 * sum_pp * sum_v * sum_vp + 2.0 * sum_vp**2
    )
    square_trace += (v**2 * (1.0 + 2.0 * (sum_pp - 2.0 * p))).sum(axis=0)
    factor[several], freedom[several] = sum_v / trace, trace**2 / square_trace
    return factor, freedom
