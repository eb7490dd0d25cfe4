"""Pairs of models: order, differences, ties, growing subsets, soft pairwise accuracy, the lead of one.

Everything over pairs of models is a vector in the order of ``numpy.triu_indices(models, 1)``:
(0, 1), (0, 2), …, (1, 2), …
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UsageError
from sparingly.base.lazy import special, stats

# Scores such as 0.4 and 0.3 differ by a little more or less than 0.1 in binary.
_SLACK = 1e-9


def pair_count(models: int) -> int:
    """Return the number of pairs of models."""
    return models * (models - 1) // 2


def pair_indices(models: int) -> tuple[Ints, Ints]:
    """Return the first and the second model of every pair."""
    first, second = np.triu_indices(models, 1)
    return first.astype(np.int64), second.astype(np.int64)


def pair_differences(
    scores: Floats,
    weights: Floats | None = None,
    pairs: Ints | slice = slice(None),
    missing: float = 0.0,
) -> Floats:
    """Return (items × pairs) differences, first minus second, for all pairs or for some of them.

    An item counts for a pair only when both models were judged on it: otherwise its difference is
    ``missing``.
    """
    first, second = pair_indices(scores.shape[1])
    differences: Floats = scores[:, first[pairs]] - scores[:, second[pairs]]
    if weights is not None:
        differences *= weights[:, None]
    differences[np.isnan(differences)] = missing
    return differences


class Stretch(NamedTuple):
    """Rows ``start:stop`` of a block; ``closes`` is the size that is complete after them, if one is."""

    start: int
    stop: int
    closes: int | None


def checked_sizes(sizes: Sequence[int] | Ints, items: int) -> tuple[Ints, Ints]:
    """Return the distinct sizes in ascending order and the place of every given size among them."""
    requested = np.asarray(sizes, np.int64)
    if requested.ndim != 1 or requested.size == 0:
        raise UsageError("Give at least one subset size.")
    if requested.min() < 1 or requested.max() > items:
        raise UsageError(
            f"Subset sizes must lie between 1 and {items}, not {requested.min()} to {requested.max()}."
        )
    distinct, places = np.unique(requested, return_inverse=True)
    return distinct, places.astype(np.int64)


def stretches(sizes: Ints, block: int) -> Iterator[tuple[slice, list[Stretch]]]:
    """Cut rows 0 … max(sizes) into blocks, and every block at the sizes that end inside it.

    One pass over these stretches, adding up as it goes, visits every nested subset: nothing that belongs to
    a smaller size is ever computed again for a larger one.
    """
    next_size = 0
    for start in range(0, int(sizes[-1]), block):
        stop = min(start + block, int(sizes[-1]))
        inside: list[Stretch] = []
        begin = start
        while next_size < len(sizes) and sizes[next_size] <= stop:
            inside.append(Stretch(begin - start, int(sizes[next_size]) - start, next_size))
            begin = int(sizes[next_size])
            next_size += 1
        if begin < stop:
            inside.append(Stretch(begin - start, stop - start, None))
        yield slice(start, stop), inside


def preferred(differences: Floats, tie: float = 0.0) -> Floats:
    """Return the winner for each difference of two scores: 1 the first, -1 the second, 0 a tie, NaN unknown.

    A tie is |difference| <= tie (Ashury Tahan et al. 2024, section 5), with the width taken a billionth
    larger than written. Everything that turns scores into wins calls this, so that a set's preferences and
    the winners of a comparison never disagree about a pair.
    """
    check_tie(tie)
    return np.where(np.abs(differences) <= tie * (1.0 + _SLACK), 0.0, np.sign(differences))


def check_tie(tie: float) -> None:
    """Raise UsageError unless tie >= 0."""
    if not tie >= 0.0:
        raise UsageError(f"The tie width is zero or more, not {tie}.")


def soft_pairwise_accuracy(p_subset: Floats, p_full: Floats) -> Floats:
    """Return SPA = 1 − mean over pairs of |p_subset − p_full| (Zouhar et al. 2025, eq. 17).

    Due to Thompson et al. 2024. Takes one-sided p-values (… × pairs). It asks whether the subset is as sure
    of every comparison as the full set is, so being too sure costs as well. Use it to compare selections.
    """
    return np.asarray(1.0 - np.abs(p_subset - p_full).mean(axis=-1))


def limit_p_values(sums: Floats, squares: Floats) -> Floats:
    """Return the normal limit of the sign-flip test, Φ(−Σd / √Σd²), from sums over items (… × pairs).

    Sums of a set and of what extends it add up, so that an extension costs no more than its own items. Two
    models that never differ get 0.5.
    """
    spread = np.sqrt(squares)
    return np.asarray(special.ndtr(-np.divide(sums, spread, out=np.zeros(sums.shape), where=spread > 0)))


def chance_of_lead(items: int, judged: NDArray[np.int64], votes: NDArray[np.int64]) -> Floats:
    """Return P(X ≥ k) for X hypergeometric: k of n votes by chance if the models were equal.

    sf(k − 1; N, K = N/2, n), with N items, of which half are won by each model, n judged ones (ties count)
    and k votes for the model that leads (Ashury Tahan et al. 2024, appendix A.3). K is rounded up for an odd
    N. A heuristic: it assumes a random sample that is looked at once, and iterative selection is neither.

    Examples:
        >>> import numpy as np, sparingly
        >>> float(chance_of_lead(500, np.array(10), np.array(8)).round(4))
        0.0529
    """
    return np.asarray(stats.hypergeom.sf(np.asarray(votes) - 1, items, -(-items // 2), judged), np.float64)


# --- Corrections for several tests ---


def holm(p_values: Floats) -> Floats:
    """Return adjusted p-values: below α only where Holm's step-down test at level α rejects.

    Of m p-values in ascending order, adjusted p₍ₖ₎ = max over l ≤ k of min(1, (m − l + 1) p₍ₗ₎) (Holm 1979).
    The probability of rejecting any true null hypothesis stays below α, whatever the dependence between the
    tests. NaN marks a test that was not made: it stays NaN and does not count.

    Examples:
        >>> import numpy as np, sparingly
        >>> holm(np.array([0.01, 0.04, 0.03, np.nan]))
        array([0.03, 0.06, 0.06,  nan])
    """
    flat = np.asarray(p_values, np.float64)
    return _step_down(flat, np.arange(flat.size, 0, -1))


def benjamini_yekutieli(p_values: Floats) -> Floats:
    """Return adjusted p-values: rejecting those below q keeps the false discovery rate below q.

    Of m p-values in ascending order, adjusted p₍ₖ₎ = min over l ≥ k of min(1, m·(1 + 1/2 + … + 1/m)/l · p₍ₗ₎)
    (Benjamini and Yekutieli 2001), whatever the dependence between the tests.

    Examples:
        >>> import numpy as np, sparingly
        >>> benjamini_yekutieli(np.array([0.01, 0.04, 0.03])).round(3)
        array([0.055, 0.073, 0.073])
    """
    flat = np.asarray(p_values, np.float64)
    order = np.argsort(flat, kind="stable")
    places = np.arange(1, len(flat) + 1)
    raised = flat[order] * len(flat) * (1.0 / places).sum() / places
    adjusted = np.empty_like(flat)
    adjusted[order] = np.minimum(1.0, np.minimum.accumulate(raised[::-1])[::-1])
    return adjusted


def shaffer(p_values: Floats) -> Floats:
    """Return adjusted p-values of all pairs of M models: at most α only where the step-down test rejects.

    Of m = M(M − 1)/2 p-values in ascending order, adjusted p₍ₖ₎ = max over l ≤ k of min(1, tₗ p₍ₗ₎); tₗ is
    the greatest number of pairs that can be equal together when l − 1 are not (Shaffer 1986, the static
    step-down). Equal pairs come in blocks, Σ x(x − 1)/2 over a partition of M into sizes x, so that tₗ is
    never above Holm's m − l + 1: of three models with one difference one pair can be equal, not two. The
    probability of calling any equal pair different stays below α, whatever the dependence between tests.

    NaN marks a test that was not made: it stays NaN and is no rejection.

    Examples:
        >>> import numpy as np
        >>> from sparingly.base.stats.pairs import shaffer
        >>> shaffer(np.array([0.01, 0.04, 0.03]))  # Holm's are .03, .06, .06
        array([0.03, 0.04, 0.03])
    """
    flat = np.asarray(p_values, np.float64)
    models = (1 + math.isqrt(1 + 8 * flat.size)) // 2
    if flat.ndim != 1 or models * (models - 1) // 2 != flat.size:
        raise UsageError(f"The correction needs one p-value for every pair of models, not {flat.shape}.")
    return _step_down(flat, most_equal(models))


def _step_down(flat: Floats, multipliers: Floats | Ints) -> Floats:
    """Multiply ascending p-values, never above Holm's number: what was not tested cannot be rejected."""
    adjusted = np.full(flat.shape, np.nan)
    tested = np.flatnonzero(~np.isnan(flat))
    order = tested[np.argsort(flat[tested], kind="stable")]
    factors = np.minimum(multipliers[: len(order)], np.arange(len(order), 0, -1))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(factors * flat[order]))
    return adjusted


@lru_cache(maxsize=64)
def most_equal(models: int) -> Floats:
    """Return for k = 0, 1, … how many pairs at most are equal together when k pairs are not (m numbers)."""
    # Bit s of reachable[M]: a partition of M models has s equal pairs.
    reachable = [1]
    for count in range(1, models + 1):
        sums = 0
        for block in range(1, count + 1):
            sums |= reachable[count - block] << (block * (block - 1) // 2)
        reachable.append(sums)
    pairs = models * (models - 1) // 2
    possible = np.array([reachable[models] >> equal & 1 for equal in range(pairs + 1)], bool)
    largest = np.maximum.accumulate(np.where(possible, np.arange(pairs + 1), 0))
    bounds = largest[:0:-1].astype(np.float64)
    bounds.flags.writeable = False
    return bounds
