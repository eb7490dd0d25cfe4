"""Pairs of models: order, differences, ties, growing subsets, soft pairwise accuracy, the lead of one.

Everything over pairs of models is a vector in the order of ``numpy.triu_indices(models, 1)``:
(0, 1), (0, 2), …, (1, 2), …
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
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
