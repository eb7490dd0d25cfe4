"""Krippendorff's α: how far raters agree beyond chance, whoever judged what.

α = 1 − D_o/D_e. D_o is the mean squared distance δ² between two values given to the same unit, every unit's
pairs weighted by 1/(m_u − 1) where m_u people judged it; D_e is that of any two values of units that can be
paired (Krippendorff 2019, chapter 12). α is 1 where all agree, 0 where a value says nothing of its unit.

The distance depends on the level of measurement. Nominal: 0 or 1. Interval: v − v'. Ordinal: the difference
of mid-ranks, which is Krippendorff's Σ n_g − (n_c + n_k)/2. Ratio: (v − v')/(v + v').

Our own code, because the package ``krippendorff`` (0.9) has no interval and builds units × values × values:
two raters with 11,000 distinct scores of 5,500 units need 5 TB. Here interval and ordinal distances are
moments, and a bootstrap of 1,000 draws is one matrix product.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal, NamedTuple, get_args

import numpy as np

from sparingly.base.arrays import Floats, Ints
from sparingly.base.errors import UnknownNameError, UsageError
from sparingly.base.lazy import sparse

Level = Literal["nominal", "ordinal", "interval", "ratio"]
LEVELS: tuple[str, ...] = get_args(Level)

_BLOCK = 512


class Alpha(NamedTuple):
    """α with an interval, and how many units and values it rests on; NaN where it is undefined."""

    alpha: float
    low: float
    high: float
    units: int
    values: int


@dataclass(frozen=True, eq=False)
class PairedValues:
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
    paired = _pair_values(values, level)
    if not len(paired.unit):
        return float("nan")
    distances = PairDistances(paired, level)
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
    """Return α with the interval of a bootstrap over units, or over groups of dependent units.

    ``groups`` is the group of every unit, such as its item; every unit by itself unless given. Distances are
    those of the whole sample; the interval is NaN with fewer than two groups.
    """
    values = np.asarray(values, np.float64)
    paired = _pair_values(values, level)
    units = len(paired.count)
    if not units:
        return Alpha(float("nan"), float("nan"), float("nan"), 0, 0)
    distances = PairDistances(paired, level)
    alpha = float(_alphas(distances, np.ones((1, units)))[0])
    several = (~np.isnan(values)).sum(axis=1) > 1
    labels = np.arange(len(values)) if groups is None else groups
    codes = np.unique(labels[several], return_inverse=True)[1]
    group_count = int(codes.max()) + 1
    low = high = float("nan")
    if group_count > 1 and not np.isnan(alpha):
        equal = np.full(group_count, 1.0 / group_count)
        multiplicity = random.multinomial(group_count, equal, size=draws).astype(np.float64)
        alphas = _alphas(distances, multiplicity[:, codes])
        tail = (1.0 - confidence) / 2.0
        low, high = (float(end) for end in np.nanquantile(alphas, [tail, 1.0 - tail]))
    return Alpha(alpha, low, high, units, len(paired.value))


def _pair_values(values: Floats, level: str) -> PairedValues:
    values = np.asarray(values, np.float64)
    if values.ndim != 2:
        raise UsageError(f"Agreement needs units × raters, not shape {values.shape}.")
    if level not in LEVELS:
        raise UnknownNameError("level of measurement", level, LEVELS)
    present = ~np.isnan(values)
    several = present.sum(axis=1) > 1
    unit, rater = np.nonzero(present[several])
    value = values[several][unit, rater]
    if level == "ratio" and (value < 0).any():
        raise UsageError('Ratios need scores of 0 or more, and these go below: use level="interval".')
    return PairedValues(unit, value, present[several].sum(axis=1).astype(np.float64))


class PairDistances:
    """Within every unit, the sum of squared distances of its pairs; between units, sums that give D_e."""

    def __init__(self, paired: PairedValues, level: str) -> None:
        self.count, self.by_moments = paired.count, level in ("interval", "ordinal")
        units = len(paired.count)
        distinct, code, counts = np.unique(paired.value, return_inverse=True, return_counts=True)
        if level == "ordinal":
            distinct = np.cumsum(counts) - (counts - 1) / 2.0
        if self.by_moments:
            # Distances do not change with the zero point; near the mean they lose no digits.
            distinct = distinct - float(counts @ distinct) / counts.sum()
            sums = [np.bincount(paired.unit, distinct[code] ** power, minlength=units) for power in (1, 2)]
            self.moments = np.stack([paired.count, *sums], axis=1)
            within_sums = 2.0 * (paired.count * sums[1] - sums[0] ** 2)
        else:
            # How often every unit got every value.
            cells = (np.ones(len(code)), (paired.unit, code))
            self.table: Any = sparse.csr_array(cells, shape=(units, len(distinct)))
            self.distinct, self.level = distinct, level
            # The values of every unit side by side; rows of ``paired`` stand in the order of their units.
            starts = (np.cumsum(paired.count) - paired.count).astype(np.int64)
            place = np.arange(len(paired.unit)) - starts[paired.unit]
            side_by_side = np.full((units, int(paired.count.max())), np.nan)
            side_by_side[paired.unit, place] = paired.value
            within_sums = np.zeros(units)
            for column in side_by_side.T:
                within_sums += np.nansum(_squared_distances(column[:, None], side_by_side, level), axis=1)
        self.within = np.maximum(within_sums, 0.0) / (paired.count - 1.0)

    def between(self, multiplicity: Floats) -> Floats:
        """Return Σ_c Σ_k n_c n_k δ²(c, k) for units with these multiplicities (draws × units)."""
        if self.by_moments:
            count, first, second = (multiplicity @ self.moments).T
            return np.asarray(2.0 * (count * second - first**2))
        counts = np.asarray((self.table.T @ multiplicity.T).T)
        total = np.zeros(len(counts))
        for start in range(0, len(self.distinct), _BLOCK):
            block = slice(start, start + _BLOCK)
            distances = _squared_distances(self.distinct[block, None], self.distinct[None, :], self.level)
            total += np.einsum("bc,bc->b", counts[:, block] @ distances, counts)
        return total


def _squared_distances(first: Floats, second: Floats, level: str) -> Floats:
    """Return δ² of nominal or ratio values; NaN where one is missing."""
    missing = np.where(np.isnan(first) | np.isnan(second), np.nan, 0.0)
    if level == "nominal":
        return np.asarray((first != second) + missing)
    total = first + second
    share = np.divide(
        first - second, total, out=np.zeros(np.broadcast_shapes(first.shape, second.shape)), where=total > 0
    )
    return np.asarray(share**2 + missing)


def _alphas(distances: PairDistances, multiplicity: Floats) -> Floats:
    """Return α for units with these multiplicities (draws × units); NaN where no two values differ."""
    total = multiplicity @ distances.count
    between = distances.between(multiplicity)
    differ = between > 1e-12 * total
    chance = np.where(differ, between, 1.0) / np.maximum(total - 1.0, 1.0)
    return np.where(differ, 1.0 - (multiplicity @ distances.within) / chance, np.nan)
