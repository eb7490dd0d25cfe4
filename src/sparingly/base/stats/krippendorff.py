"""Krippendorff's α: how far people agree beyond chance, whoever judged what.

α = 1 − D_o/D_e. D_o is the mean squared distance δ² between two values given to the same unit, every unit's
pairs weighted by 1/(m_u − 1) where m_u people judged it; D_e is that of any two values of units that can be
paired (Krippendorff 2019, chapter 12). α is 1 where all agree, 0 where a value says nothing of its unit.

The distance depends on the level of measurement. Nominal: 0 or 1. Interval: v − v'. Ordinal: the difference
of mid-ranks, which is Krippendorff's Σ n_g − (n_c + n_k)/2. Ratio: (v − v')/(v + v').
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)

_BLOCK = 512


class Alpha(NamedTuple):
    """α with an interval, and how many units and values it rests on; NaN where it cannot be told."""

    alpha: float
    low: float
    high: float
    units: int
    values: int


@dataclass(frozen=True, eq=False)
class _Paired:
    """The values of units that two or more people judged: the unit and the value of every judgement."""

    unit: Ints
    value: Floats
    count: Floats  # m_u of every unit


def krippendorff_alpha(values: Floats, level: Level = "interval") -> float:
    """Return Krippendorff's α of units × raters, NaN where a rater did not judge a unit.

    NaN where no unit has two values, or where all values are the same: chance alone would agree as well.
    Below .667 not even tentative conclusions should rest on such judgements (Krippendorff 2019).

    Examples:
        >>> import numpy as np, sparingly
        >>> two = np.array([[1, 1], [2, 2], [3, 3], [3, 3], [2, 2], [1, 2]], float)
        >>> round(krippendorff_alpha(two, "nominal"), 3)
        0.766
    """
    paired = _paired(values, level)
    if not len(paired.unit):
        return float("nan")
    distances = _Distances(paired, level)
    return float(_alphas(distances, np.ones((1, len(paired.count))))[0])


def alpha_interval(
    values: Floats,
    level: Level = "interval",
    *,
    random: np.random.Generator,
    groups: Ints | None = None,
    draws: int = 1000,
    confidence: float = 0.95,
) -> Alpha:
    """Return α with the interval of a bootstrap over units, or over groups of them that hang together.

    Distances are those of the whole sample; the interval is NaN with fewer than two groups.

    Args:
        values: units × raters, NaN where a rater did not judge a unit.
        level: The level of measurement.
        random: Where the draws come from.
        groups: The group of every unit, such as its item; every unit by itself unless given.
        draws: How often groups are drawn.
        confidence: The level of the interval.
    """
    values = np.asarray(values, np.float64)
    paired = _paired(values, level)
    units = len(paired.count)
    if not units:
        return Alpha(float("nan"), float("nan"), float("nan"), 0, 0)
    distances = _Distances(paired, level)
    alpha = float(_alphas(distances, np.ones((1, units)))[0])
    kept = (~np.isnan(values)).sum(axis=1) > 1
    codes = np.unique(np.arange(len(values))[kept] if groups is None else groups[kept], return_inverse=True)[
        1
    ]
    held = int(codes.max()) + 1
    low = high = float("nan")
    if held > 1 and not np.isnan(alpha):
        often = random.multinomial(held, np.full(held, 1.0 / held), size=draws).astype(np.float64)
        found = _alphas(distances, often[:, codes])
        tail = (1.0 - confidence) / 2.0
        low, high = (float(end) for end in np.nanquantile(found, [tail, 1.0 - tail]))
    return Alpha(alpha, low, high, units, len(paired.value))


def _paired(values: Floats, level: str) -> _Paired:
    values = np.asarray(values, np.float64)
    if values.ndim != 2:
        raise UsageError(f"Agreement needs units × raters, not shape {values.shape}.")
    if level not in LEVELS:
        raise UnknownNameError("level of measurement", level, LEVELS)
    there = ~np.isnan(values)
    kept = there.sum(axis=1) > 1
    unit, rater = np.nonzero(there[kept])
    value = values[kept][unit, rater]
    if level == "ratio" and (value < 0).any():
        raise UsageError("Ratios need scores of 0 or more: take the level interval for this scale.")
    return _Paired(unit, value, there[kept].sum(axis=1).astype(np.float64))


class _Distances:
    """Within every unit, the sum of squared distances of its pairs; between units, sums that give D_e."""

    def __init__(self, paired: _Paired, level: str) -> None:
        self.count, self.by_moments = paired.count, level in ("interval", "ordinal")
        known, code, often = np.unique(paired.value, return_inverse=True, return_counts=True)
        if level == "ordinal":
            known = np.cumsum(often) - (often - 1) / 2.0
        if self.by_moments:
            # Distances do not change with the zero point; near the mean they lose no digits.
            known = known - float(often @ known) / often.sum()
            sums = [self._sum(paired.unit, known[code] ** power) for power in (1, 2)]
            self.moments = np.stack([paired.count, *sums], axis=1)
            within = 2.0 * (paired.count * sums[1] - sums[0] ** 2)
        else:
            self.table = _tabled(paired.unit, code, len(paired.count), len(known))
            self.known, self.level = known, level
            within = self._within(paired)
        self.within = np.maximum(within, 0.0) / (paired.count - 1.0)

    def _sum(self, unit: Ints, value: Floats) -> Floats:
        return np.bincount(unit, value, minlength=len(self.count)).astype(np.float64)

    def _within(self, paired: _Paired) -> Floats:
        # The values of every unit side by side; rows of ``paired`` stand in the order of their units.
        place = np.arange(len(paired.unit)) - np.repeat(
            np.cumsum(paired.count) - paired.count, paired.count.astype(np.int64)
        ).astype(np.int64)
        beside = np.full((len(paired.count), int(paired.count.max())), np.nan)
        beside[paired.unit, place] = paired.value
        total = np.zeros(len(paired.count))
        for column in beside.T:
            total += np.nansum(_apart(column[:, None], beside, self.level), axis=1)
        return total

    def _blocks(self) -> list[tuple[slice, Floats]]:
        """Return the squared distances of all values from those of every block."""
        starts = range(0, len(self.known), _BLOCK)
        blocks = [slice(start, start + _BLOCK) for start in starts]
        return [(block, _apart(self.known[block, None], self.known[None, :], self.level)) for block in blocks]

    def between(self, often: Floats) -> Floats:
        """Return Σ_c Σ_k n_c n_k δ²(c, k) for units that count so often (draws × units)."""
        if self.by_moments:
            count, first, second = (often @ self.moments).T
            return np.asarray(2.0 * (count * second - first**2))
        counts = np.asarray((self.table.T @ often.T).T)
        parts = [np.einsum("bc,bc->b", counts[:, block] @ apart, counts) for block, apart in self._blocks()]
        return np.asarray(np.sum(parts, axis=0))


def _apart(one: Floats, other: Floats, level: str) -> Floats:
    """Return δ² of nominal or ratio values; NaN where one is missing."""
    missing = np.where(np.isnan(one) | np.isnan(other), np.nan, 0.0)
    if level == "nominal":
        return np.asarray((one != other) + missing)
    total = one + other
    share = np.divide(
        one - other, total, out=np.zeros(np.broadcast_shapes(one.shape, other.shape)), where=total > 0
    )
    return np.asarray(share**2 + missing)


def _tabled(unit: Ints, code: Ints, units: int, values: int) -> Any:
    """Return how often every value was given to every unit."""
    from scipy.sparse import csr_array

    return csr_array((np.ones(len(unit)), (unit, code)), shape=(units, values))


def _alphas(distances: _Distances, often: Floats) -> Floats:
    """Return α where every unit counts so often (draws × units); NaN where no two values differ."""
    total = often @ distances.count
    between = distances.between(often)
    differ = between > 1e-12 * total
    chance = np.where(differ, between, 1.0) / np.maximum(total - 1.0, 1.0)
    return np.where(differ, 1.0 - (often @ distances.within) / chance, np.nan)
